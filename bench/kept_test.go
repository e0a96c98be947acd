package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAddLine: the line is in the body, so that it moves links and no front matter.
func TestAddLine(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"---\ntitle: x\n---\n[a](/b/)\n", "---\ntitle: x\n---\n\nOne more line.\n\n[a](/b/)\n"},
		{"+++\nx = 1\n+++\n[a](/b/)\n", "+++\nx = 1\n+++\n\nOne more line.\n\n[a](/b/)\n"},
		{"[a](/b/)\n", "\nOne more line.\n\n[a](/b/)\n"},
	} {
		name := filepath.Join(t.TempDir(), "a.md")
		if err := os.WriteFile(name, []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := addLine(name); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); string(got) != tt.want || err != nil {
			t.Errorf("%q becomes %q, %v", tt.text, got, err)
		}
	}
}

// TestContentOf: the file is Markdown of the project itself, and has the most
// findings.
func TestContentOf(t *testing.T) {
	site := t.TempDir()
	for _, name := range []string{"a.md", "b.md"} {
		if err := os.WriteFile(filepath.Join(site, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	row := func(source string) string { return `{"page":"x","source":` + source + "}\n" }
	report := row(`{"file":"a.md"}`) + row(`{"file":"b.md"}`) + row(`{"file":"b.md"}`) + row(`null`)
	for range 3 {
		report += row(`{"file":"a.html","kind":"template"}`) + row(`{"file":"gone.md"}`)
	}
	if got, err := contentOf(site, []byte(report)); got != "b.md" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := contentOf(site, []byte(row("null"))); err == nil {
		t.Error("no error without findings in Markdown")
	}
}
