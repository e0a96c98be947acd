package house

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sitelink/sitelink/docs"
)

// elsewhere are the codes whose findings need another system, another site or
// a large file; the tests of package check and check/remote have them.
var elsewhere = []string{"broken-symlink", "unreadable", "special-file", "read-error", "changed", "redirect-limit",
	"sitemap-limit", "dead-link", "doubtful", "moved", "endpoint-late"}

// TestCodeFindings checks the sites of testdata/codes.txtar, one for each code,
// and compares each finding with docs/reference/codes.md.
func TestCodeFindings(t *testing.T) {
	const document = "docs/reference/codes.md"
	archive, err := txtar.ParseFile(filepath.Join("testdata", "codes.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir, flags := t.TempDir(), map[string][]string{}
	for _, f := range archive.Files {
		code, name, _ := strings.Cut(f.Name, "/")
		switch {
		case name == "flags":
			flags[code] = strings.Fields(string(f.Data))
			continue
		case name != "sitelink.toml" && name != "hugo.toml" && !strings.HasPrefix(name, "old/"):
			name = "public/" + name
		}
		write(t, filepath.Join(dir, code, filepath.FromSlash(name)), string(f.Data))
		write(t, filepath.Join(dir, code, ".git", "HEAD"), "ref: refs/heads/main\n")
	}
	binary, text := build(t, "./cmd/sitelink"), readFile(t, document)
	t.Setenv("PATH", t.TempDir()) // without the generators of the developer's machine
	entry := regexp.MustCompile(`(?m)^\S.*\n(?:    .*\n)*`)
	for _, c := range docs.Codes() {
		if c.Level == "" || slices.Contains(elsewhere, c.Name) {
			continue
		}
		stdout, _, stderr := runSitelink(t, binary, filepath.Join(dir, c.Name), append([]string{"check", "public"}, flags[c.Name]...)...)
		entries := entry.FindAllString(stdout, -1)
		i := slices.IndexFunc(entries, func(e string) bool { return strings.Contains(e, " ["+c.Name+"]\n") })
		if i < 0 {
			t.Errorf("%s: no such finding\n%s%s", c.Name, stdout, stderr)
		} else if entries[i] != c.Finding && *update {
			text = strings.Replace(text, "\n```text\n"+c.Finding, "\n```text\n"+entries[i], 1)
		} else if entries[i] != c.Finding {
			t.Errorf("%s: %s does not show what is printed; run go test ./internal/house -update\ngot:\n%s\nwant:\n%s", c.Name, document, entries[i], c.Finding)
		}
	}
	if *update {
		write(t, filepath.Join(root, filepath.FromSlash(document)), text)
	}
}

// write writes a file and makes its directories.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
