package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestFormatKey: the words of the key format are the formats there are, in
// their order, and those of group-by the groupings.
func TestFormatKey(t *testing.T) {
	format, _ := config.Lookup("format")
	var names []string
	for _, f := range report.Formats {
		names = append(names, f.Name)
	}
	if !slices.Equal(format.Values, names) {
		t.Errorf("the key knows %q, there are %q", format.Values, names)
	}
	groupBy, _ := config.Lookup("group-by")
	for i, word := range groupBy.Values {
		if g := report.GroupNamed(word); int(g) != i {
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
		testkit.Check(t, os.WriteFile(name, []byte("old\n"), 0o644))
		if i == 2 {
			os.Remove(name) // one that is new
		}
		cfg.Formats = append(cfg.Formats, config.Format{Name: format, File: name})
	}
	files := func() map[string]string {
		t.Helper()
		all := map[string]string{}
		entries := testkit.Must(os.ReadDir(dir))(t)
		for _, e := range entries {
			text := testkit.Read(t, filepath.Join(dir, e.Name()))
			all[e.Name()] = string(text)
		}
		return all
	}
	for failing := range cfg.Formats {
		all := testkit.Must(openReports(testApp(io.Discard, io.Discard), &project.Project{Config: cfg}))(t)
		testkit.Check(t, all.write(longResult()))
		all[failing].out.(*replacement).File.Close() // it can no longer be synced
		if err := all.commit(); err == nil {
			t.Error("no error")
		}
		all.discard()
		if got := files(); len(got) != 2 || got["text"] != "old\n" || got["sarif"] != "old\n" {
			t.Errorf("report %d fails: the files are %q", failing, got)
		}
	}
	all := testkit.Must(openReports(testApp(io.Discard, io.Discard), &project.Project{Config: cfg}))(t)
	testkit.Check(t, all.write(longResult()))
	testkit.Check(t, all.commit())
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

// TestManyFindings: reports list 50,000 findings and count all. JSON Lines and a
// baseline have every one.
func TestManyFindings(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	const pages, links = 3, 35_000
	dir := t.TempDir()
	for p := range pages {
		var b strings.Builder
		b.WriteString("<!doctype html><title>x</title>\n")
		for i := range links {
			fmt.Fprintf(&b, "<a href=gone%d>\n", i)
		}
		testkit.Check(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("p%d.html", p)), []byte(b.String()), 0o644))
	}
	file := filepath.Join(t.TempDir(), "report.json")
	text, _ := sitelink(t, dir, exitFindings, "check", ".", "--format", "text", "--format", "json="+file)
	if !strings.Contains(text, "105,000 errors") || !strings.Contains(text, "reports list 50,000 findings of 105,000") || strings.Count(text, "\n") > 210 ||
		strings.Contains(text, "; 35,000 causes") || !strings.Contains(text, "and 55,000 findings whose causes are not known") {
		t.Errorf("%d bytes of text end in\n%s", len(text), text[max(0, len(text)-500):])
	}
	var doc struct {
		Findings []struct{ Page, Raw string }
		Summary  struct{ Errors, Unlisted int }
	}
	if data, err := os.ReadFile(file); err != nil || json.Unmarshal(data, &doc) != nil {
		t.Fatal(err)
	}
	if len(doc.Findings) != 50_000 || doc.Summary.Errors != pages*links || doc.Summary.Unlisted != 55_000 || doc.Findings[49_999].Page != "p1.html" || doc.Findings[49_999].Raw != "gone14999" {
		t.Errorf("JSON lists %d findings and counts %d", len(doc.Findings), doc.Summary.Errors)
	}
	rows, previous := 0, ""
	lines, _ := sitelink(t, dir, exitFindings, "check", ".", "--format", "jsonl")
	for line := range strings.Lines(lines) {
		place, _, _ := strings.Cut(line, `,"element"`)
		if rows++; place == previous || strings.Contains(line, `"cause"`) != (rows <= 50_000) {
			t.Fatalf("row %d of JSON Lines is %s", rows, line)
		}
		previous = place
	}
	if rows != pages*links || !strings.Contains(previous, `"p2.html","line":35001,`) {
		t.Errorf("JSON Lines has %d rows, the last of %s", rows, previous)
	}
	sitelink(t, dir, 0, "baseline", "write", ".")
	if text, _ := sitelink(t, dir, 0, "check", ".", "--baseline", "sitelink-baseline.jsonl"); !strings.Contains(text, "105,000") {
		t.Errorf("with a baseline:\n%s", text)
	}
}
