package inject

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever the templates hold: what is written is found again by the next run,
// and taken out to the byte.
func FuzzFind(f *testing.F) {
	f.Add(baseof, "<title>x</title>")
	f.Add("<head>\r\n{{ partial \"x\" . }}\r\n</head>", "<meta charset=utf-8>\r\n")
	f.Add("{{ if .X }}<head>{{ end }}<title></title>", "{{/*")
	f.Add("\xef\xbb\xbf<!doctype html><title>x</title>", "")
	f.Add("<html>{{ partial \"x.html\" }}", "<head></head>")
	f.Fuzz(func(t *testing.T, page, partial string) {
		if strings.Contains(page+partial, "sitelink:") {
			return // the input already has marks
		}
		dir := t.TempDir()
		for name, text := range map[string]string{"hugo.toml": "", "layouts/baseof.html": page, "layouts/partials/x.html": partial} {
			name = filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		before := hashOf(t, root)
		plan := mustFind(t, root, blog)
		if len(plan.Refusals) > 0 {
			return
		}
		mustApply(t, plan)
		if again := mustFind(t, root, blog); !again.Clean() {
			t.Fatalf("%q\n%s\n%v", page, again.Diff(), again.Refusals)
		}
		mustUndo(t, root)
		if hashOf(t, root) != before {
			t.Fatalf("%q %q: not what it was", page, partial)
		}
	})
}
