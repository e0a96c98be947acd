//go:build integration

package source

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestHugoHeadingIDs: Hugo gives headings the ids of the table.
func TestHugoHeadingIDs(t *testing.T) {
	hugo := os.Getenv("SITELINK_HUGO")
	if hugo == "" {
		t.Skip("no SITELINK_HUGO: .ci/run installs one")
	}
	root := t.TempDir()
	for name, text := range map[string]string{
		"hugo.toml":         "baseURL = '/'\n[markup.goldmark.renderer]\nunsafe = true\n",
		"layouts/all.html":  "{{ .Content }}\n",
		"content/_index.md": headingPage(),
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(file), 0o777)
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(hugo, "build", "--quiet")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("hugo: %v\n%s", err, out)
	}
	page, err := os.ReadFile(filepath.Join(root, "public", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`<h2(?: id="([^"]*)")?>`).FindAllSubmatch(page, -1)
	if len(got) != len(headingIDs)+1 {
		t.Fatalf("Hugo wrote %d headings, want %d:\n%s", len(got), len(headingIDs)+1, page)
	}
	for i, h := range headingIDs {
		if id := string(got[i][1]); id != h.id {
			t.Errorf("Hugo gives %q the id %q, the table has %q", h.text, id, h.id)
		}
	}
	if id := string(got[len(headingIDs)][1]); id != "and-the-last" {
		t.Errorf("Hugo gives a heading of two lines the id %q", id)
	}
}
