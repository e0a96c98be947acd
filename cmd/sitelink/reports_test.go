package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
)

// TestFormatKey: the words of the key format are the formats there are, in
// their order, and those of group-by the groupings.
func TestFormatKey(t *testing.T) {
	format, _ := config.Lookup("format")
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	if !slices.Equal(format.Values, names) {
		t.Errorf("the key knows %q, there are %q", format.Values, names)
	}
	groupBy, _ := config.Lookup("group-by")
	for i, word := range groupBy.Values {
		if g := report.GroupNamed(word); int(g) != i || g.String() != word {
			t.Errorf("group-by %s is read as %v", word, g)
		}
	}
}

// TestReportsTogether: a file that fails when it is brought to the disk leaves
// all old files whole, and nothing beside them.
func TestReportsTogether(t *testing.T) {
	dir := t.TempDir()
	cfg := &config.Config{Check: config.Check{Color: "auto"}}
	for i, format := range []string{"text", "sarif", "junit"} {
		name := filepath.Join(dir, format)
		if err := os.WriteFile(name, []byte("old\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			os.Remove(name) // one that is new
		}
		cfg.Formats = append(cfg.Formats, config.Format{Name: format, File: name})
	}
	files := func() map[string]string {
		t.Helper()
		all := map[string]string{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			all[e.Name()] = string(text)
		}
		return all
	}
	for failing := range cfg.Formats {
		all, err := openReports(testApp(io.Discard, io.Discard), &project.Project{Config: cfg})
		if err != nil {
			t.Fatal(err)
		}
		if err := all.write(longResult()); err != nil {
			t.Fatal(err)
		}
		all[failing].out.(*replacement).File.Close() // it can no longer be synced
		if err := all.commit(); err == nil {
			t.Error("no error")
		}
		all.discard()
		if got := files(); len(got) != 2 || got["text"] != "old\n" || got["sarif"] != "old\n" {
			t.Errorf("report %d fails: the files are %q", failing, got)
		}
	}
	all, err := openReports(testApp(io.Discard, io.Discard), &project.Project{Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	if err := all.write(longResult()); err != nil {
		t.Fatal(err)
	}
	if err := all.commit(); err != nil {
		t.Fatal(err)
	}
	all.discard()
	got := files()
	if len(got) != 3 {
		t.Errorf("%d files, want 3", len(got))
	}
	for name, text := range got {
		if len(text) < 1000 {
			t.Errorf("%s holds %d bytes", name, len(text))
		}
	}
}
