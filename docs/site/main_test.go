package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManual builds the manual twice: no finding, the same bytes, and every
// document has its page, its entry in the navigation and in the search.
func TestManual(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	var builds [2]map[string]string
	for i := range builds {
		dir := t.TempDir()
		var out bytes.Buffer
		code, err := run(t.Context(), []string{dir}, &out)
		if code != 0 || err != nil {
			t.Fatalf("exit code %d, %v\n%s", code, err, &out)
		}
		builds[i] = map[string]string{}
		err = filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(name)
			rel, _ := filepath.Rel(dir, name)
			builds[i][filepath.ToSlash(rel)] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	first, second := builds[0], builds[1]
	if len(first) != len(second) || len(first) < 30 {
		t.Errorf("%d files, then %d", len(first), len(second))
	}
	for name, text := range first {
		if second[name] != text {
			t.Errorf("%s differs between two builds", name)
		}
	}
	for _, dir := range []string{"guide", "reference", "design"} {
		names, err := filepath.Glob(filepath.Join("docs", dir, "*.md"))
		if err != nil || len(names) == 0 {
			t.Fatalf("docs/%s: %v", dir, err)
		}
		for _, name := range names {
			address := dir + "/" + strings.TrimSuffix(filepath.Base(name), ".md") + ".html"
			if first[address] == "" || !strings.Contains(first["index.html"], `<li><a href="`+address+`">`) || !strings.Contains(first["search.js"], `"u":"`+address+`"`) {
				t.Errorf("%s is not in the site, its navigation and its search", address)
			}
		}
	}
	if page := first["reference/commands.html"]; !strings.Contains(page, `<h2 id="sitelink-baseline-write">`) || !strings.Contains(page, "\n      --fail-on LEVEL") || !strings.Contains(first["index.html"], `<li><a href="reference/commands.html">`) {
		t.Errorf("the page of the commands: %.2000s", page)
	}
	watch := first["guide/watch.html"]
	for _, want := range []string{`<a href="../guide/watch.html" aria-current="page">`, `<pre tabindex="0">`, `rel="next"`} {
		if !strings.Contains(watch, want) {
			t.Errorf("guide/watch.html has no %s", want)
		}
	}
}
