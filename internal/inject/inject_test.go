package inject

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/docroot/docroottest"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/templates"
)

func TestMain(m *testing.M) {
	docroottest.InMemory()
	m.Run()
}

var blog = Options{Generator: generator.Hugo, Endpoints: templates.Endpoints{Pingback: "https://blog.example/x?a=1&b=2", Webmention: "https://blog.example/wm"}}

const (
	config = "baseURL = 'https://blog.example/'\n"
	baseof = "<!doctype html>\n<html>\n<head>\n\t<meta charset=\"utf-8\">\n\t<title>{{ .Title }}</title>\n</head>\n<body>{{ block \"main\" . }}{{ end }}</body>\n</html>\n"
	call   = `{{/* sitelink:begin */}}{{ partial "sitelink/head.html" . }}{{/* sitelink:end */}}`
)

// newProject creates a project of these files. A text "-> x" creates a symbolic
// link.
func newProject(t *testing.T, files map[string]string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if target, ok := strings.CutPrefix(text, "-> "); err == nil && ok {
			err = os.Symlink(target, name)
		} else if err == nil {
			err = os.WriteFile(name, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// hashOf returns a checksum of the names, modes and contents of all files.
func hashOf(t *testing.T, root *os.Root) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(root.Name(), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root.Name(), name)
		fmt.Fprintln(h, rel, info.Mode())
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			h.Write(text)
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(name)
			fmt.Fprintln(h, target)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func read(t *testing.T, root *os.Root, name string) string {
	t.Helper()
	text, err := root.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func put(t *testing.T, root *os.Root, name, text string) {
	t.Helper()
	if err := root.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mustFind(t *testing.T, root *os.Root, opt Options) *Plan {
	t.Helper()
	plan, err := Find(root, opt)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func mustApply(t *testing.T, plan *Plan) {
	t.Helper()
	if err := plan.Apply(); err != nil {
		t.Fatal(err)
	}
}

func mustUndo(t *testing.T, root *os.Root) {
	t.Helper()
	plan, err := Undo(root)
	if err == nil {
		err = plan.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// theme returns the files of a theme with stub in its head.
func theme(dir, stub string) map[string]string {
	return map[string]string{
		dir + "/layouts/_default/baseof.html": "<!doctype html><html>{{ partial \"head.html\" . }}<body></body></html>",
		dir + "/layouts/partials/head.html":   "<head>\n<meta charset=\"utf-8\">\n" + stub + "\n</head>",
	}
}

func with(files map[string]string, more ...string) map[string]string {
	for i := 0; i+1 < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return files
}

// TestHugoPlaces tests where the elements go, for typical projects.
func TestHugoPlaces(t *testing.T) {
	const head = "layouts/partials/sitelink/head.html"
	for _, c := range []struct {
		name  string
		files map[string]string
		opt   func(*Options)
		want  []string // path:line
	}{
		{"own_baseof", map[string]string{"hugo.toml": config, "layouts/_default/baseof.html": baseof}, nil,
			[]string{"layouts/_default/baseof.html:5", head + ":1"}},
		{"own_baseof_since_0.146", map[string]string{"hugo.toml": config, "layouts/baseof.html": "<html>{{ partial \"head.html\" . }}", "layouts/_partials/head.html": "<head>\n<meta charset=utf-8>\n</head>"}, nil,
			[]string{"layouts/_partials/head.html:3", "layouts/_partials/sitelink/head.html:1"}},
		{"partial_of_a_partial", map[string]string{"config.yaml": "title: x\n", "layouts/index.html": "<html>{{ partial \"a\" . }}", "layouts/_default/single.html": "<html>{{ partial \"a.html\" . }}", "layouts/partials/a.html": "<head>{{ partial \"b/c.html\" . }}</head>", "layouts/partials/b/c.html": "<meta charset=utf-8>\r\n<title></title>\r\n"}, nil,
			[]string{"layouts/partials/b/c.html:2", head + ":1"}},
		{"page_not_at_hand", map[string]string{"hugo.toml": config, "layouts/index.html": `<html>{{ partial "h" }}`, "layouts/baseof.html": `<html>{{ partial "h" . }}`, "layouts/partials/h.html": "<head>\n<meta charset=utf-8>\n</head>"}, nil,
			[]string{"layouts/partials/h.html:3", head + ":1"}},
		{"several_heads_of_their_own", map[string]string{"hugo.toml": config, "layouts/_default/baseof.html": baseof, "layouts/post/baseof.html": baseof, "layouts/404.html": baseof, "layouts/_default/single.html": "{{ define \"main\" }}x{{ end }}"}, nil,
			[]string{"layouts/_default/baseof.html:5", head + ":1", "layouts/post/baseof.html:5"}},
		{"another_layout_directory", map[string]string{"hugo.toml": "layoutDir = 'src/l'\n", "src/l/_default/baseof.html": baseof}, nil,
			[]string{"src/l/_default/baseof.html:5", "src/l/partials/sitelink/head.html:1"}},
		{"mounted_layouts", map[string]string{"hugo.toml": "[[module.mounts]]\nsource = 'mine'\ntarget = 'layouts'\n", "mine/_default/baseof.html": baseof}, nil,
			[]string{"mine/_default/baseof.html:5", "mine/partials/sitelink/head.html:1"}},
		{"stub", with(theme("themes/hugo-PaperMod", `{{ partial "extend_head.html" . }}`), "hugo.toml", "theme = 'hugo-PaperMod'\n", "themes/hugo-PaperMod/layouts/partials/extend_head.html", "{{/* yours */}}"), nil,
			[]string{"layouts/partials/extend_head.html:1", head + ":1"}},
		{"stub_overridden_already", with(theme("themes/PaperMod", `{{ partial "extend_head.html" . }}`), "hugo.yaml", "theme: [PaperMod]\n", "layouts/partials/extend_head.html", "<link rel=x>\n"), nil,
			[]string{"layouts/partials/extend_head.html:2", head + ":1"}},
		{"stub_without_ending", with(theme("themes/hugo-book", `{{ partial "docs/inject/head" . }}`), "hugo.json", `{"theme": "hugo-book"}`), nil,
			[]string{"layouts/partials/docs/inject/head.html:1", head + ":1"}},
		{"stub_in_a_block", with(theme("themes/ananke", `{{ block "head" . }}{{ partials.Include "head-additions.html" . }}{{ end }}`), "hugo.toml", "theme = 'ananke'\n"), nil,
			[]string{"layouts/partials/head-additions.html:1", head + ":1"}},
		{"stub_only_if_it_is_there", with(theme("themes/congo", `{{ if templates.Exists "partials/extend-head.html" }}{{ partial "extend-head.html" . }}{{ end }}`), "hugo.toml", "theme = 'congo'\n"), nil,
			[]string{"layouts/partials/extend-head.html:1", head + ":1"}},
		{"stub_of_the_users_table", with(theme("themes/mine", `{{ partial "my/stub.html" . }}{{ partial "other.html" . }}`), "hugo.toml", "theme = 'mine'\n", "themes/mine/layouts/partials/other.html", "", "themes/mine/layouts/partials/my/stub.html", "<link rel=x>"),
			func(o *Options) { o.Themes = []Theme{{"mine", "my/stub.html"}} },
			[]string{"layouts/partials/my/stub.html:1", head + ":1"}},
		{"empty_partial_of_an_unknown_theme", with(theme("themes/mine", `{{ partial "other.html" . }}<link rel=x>{{ partial "x.html" . }}`), "hugo.toml", "theme = 'mine'\n", "themes/mine/layouts/partials/other.html", "<!-- put\n yours here -->\n", "themes/mine/layouts/partials/x.html", "<link rel=y>"), nil,
			[]string{"layouts/partials/other.html:1", head + ":1"}},
		{"guarded_partial_of_an_unknown_theme", with(theme("themes/mine", `{{ if templates.Exists "partials/own.html" }}{{ partial "own.html" . }}{{ end }}`), "hugo.toml", "theme = 'mine'\n"), nil,
			[]string{"layouts/partials/own.html:1", head + ":1"}},
		{"theme_that_leaves_nothing", with(theme("themes/mine", `{{ partial "x.html" . }}`), "hugo.toml", "theme = 'mine'\n", "themes/mine/layouts/partials/x.html", "<link rel=y>"), nil,
			[]string{"config/_default/module.toml:1", head + ":1", "layouts/partials/x.html:1"}},
		{"theme_with_an_odd_template", with(theme("themes/PaperMod", `{{ partial "extend_head.html" . }}`), "hugo.toml", "theme = 'PaperMod'\n", "themes/PaperMod/layouts/odd.html", "<html><head><meta charset=utf-8></head>"), nil,
			[]string{"layouts/partials/extend_head.html:1", head + ":1"}},
		{"own_baseof_above_the_theme", with(theme("themes/PaperMod", `{{ partial "extend_head.html" . }}`), "hugo.toml", "theme = 'PaperMod'\n", "layouts/baseof.html", baseof), nil,
			[]string{"layouts/baseof.html:5", head + ":1"}},
		{"vendored_module", with(theme("_vendor/github.com/x/hugo-coder", `{{ partial "head/extensions.html" . }}`), "hugo.toml", "[[module.imports]]\npath = 'github.com/x/hugo-coder'\n"), nil,
			[]string{"layouts/partials/head/extensions.html:1", head + ":1"}},
		{"theme_of_a_theme", with(theme("themes/docsy", `{{ partial "hooks/head-end.html" . }}`), "hugo.toml", "theme = 'wrapper'\n", "themes/wrapper/hugo.toml", "theme = 'docsy'\n"), nil,
			[]string{"layouts/partials/hooks/head-end.html:1", head + ":1"}},
		{"theme_that_is_not_here", map[string]string{"hugo.toml": "[[module.imports]]\npath = 'github.com/CaiJimmy/hugo-theme-stack/v3'\n", "go.mod": "module x\n"}, nil,
			[]string{"layouts/partials/head/custom.html:1", head + ":1"}},
		{"theme_by_flag", with(theme("themes/terminal", `{{ partial "extended_head.html" . }}`), "hugo.toml", config), nil,
			[]string{"layouts/partials/extended_head.html:1", head + ":1"}},
		{"symbolic_link_inside", map[string]string{"hugo.toml": config, "layouts": "-> shared/layouts", "shared/layouts/_default/baseof.html": baseof}, nil,
			[]string{"shared/layouts/_default/baseof.html:5", "shared/" + head + ":1"}},
		{"PB-35/line_that_every_page_has", map[string]string{"hugo.toml": config, "layouts/baseof.html": "<html><head>{{ if .Params.x }}<meta charset=x>{{ end }}\n<title>x</title>\n</head>"}, nil,
			[]string{"layouts/baseof.html:3", head + ":1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := newProject(t, c.files)
			before := hashOf(t, root)
			opt := blog
			if c.opt != nil {
				c.opt(&opt)
			}
			plan := mustFind(t, root, opt)
			var got []string
			for _, p := range plan.Places {
				got = append(got, fmt.Sprintf("%s:%d", p.Path, p.Line))
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Fatalf("places\n%q\nwant\n%q\n%v", got, c.want, plan.Refusals)
			}
			if hashOf(t, root) != before {
				t.Fatal("making the plan changed the project")
			}
			mustApply(t, plan)
			if again := mustFind(t, root, opt); !again.Clean() {
				t.Errorf("a second run would change:\n%s%v", again.Diff(), again.Refusals)
			}
			if err := root.RemoveAll(".sitelink"); err != nil { // as in a fresh clone
				t.Fatal(err)
			}
			if again := mustFind(t, root, opt); !again.Clean() {
				t.Errorf("without the record, a second run would change:\n%s%v", again.Diff(), again.Refusals)
			}
			mustUndo(t, root)
			for name, text := range c.files {
				if !strings.HasPrefix(text, "-> ") && read(t, root, name) != text {
					t.Errorf("without the record, %s is not restored", name)
				}
			}
			mustApply(t, mustFind(t, root, opt))
			mustUndo(t, root)
			for _, p := range plan.Places {
				if _, had := c.files[p.Path]; !had && p.Path != "layouts/_default/baseof.html" {
					if _, err := root.Stat(p.Path); err == nil {
						t.Errorf("%s is still there", p.Path)
					}
				}
			}
		})
	}
}

// TestUndo: with the record, the undo restores the project to the byte, with its
// modes and directories.
func TestUndo(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"own":        {"hugo.toml": config, "layouts/_default/baseof.html": baseof},
		"crlf":       {"hugo.toml": config, "layouts/_default/baseof.html": strings.ReplaceAll(baseof, "\n", "\r\n")},
		"bom":        {"hugo.toml": config, "layouts/_default/baseof.html": "\xef\xbb\xbf" + baseof},
		"no_newline": {"hugo.toml": config, "layouts/_default/baseof.html": "<head><title>x</title></head>"},
		"stub":       with(theme("themes/coder", `{{ partial "head/extensions.html" . }}`), "hugo.toml", "theme = 'coder'\n"),
		"own_stub":   with(theme("themes/coder", `{{ partial "head/extensions.html" . }}`), "hugo.toml", "theme = 'coder'\n", "layouts/partials/head/extensions.html", "<link rel=x>"),
		"empty_stub": with(theme("themes/coder", `{{ partial "head/extensions.html" . }}`), "hugo.toml", "theme = 'coder'\n", "layouts/partials/head/extensions.html", ""),
		"nothing":    with(theme("themes/x", `{{ partial "a.html" . }}`), "hugo.toml", "theme = 'x'\n", "themes/x/layouts/partials/a.html", "<link>"),
		"own_dir":    {"hugo.toml": config, "layouts/_default/baseof.html": baseof, ".sitelink/other": "x"},
	} {
		t.Run(name, func(t *testing.T) {
			root := newProject(t, files)
			for file := range files {
				if strings.Contains(file, "layouts") {
					if err := root.Chmod(file, 0o640); err != nil {
						t.Fatal(err)
					}
				}
			}
			before := hashOf(t, root)
			plan := mustFind(t, root, blog)
			mustApply(t, plan)
			if len(plan.Changes) < 2 || hashOf(t, root) == before {
				t.Fatalf("nothing was written: %v", plan.Refusals)
			}
			mustUndo(t, root)
			if hashOf(t, root) != before {
				t.Errorf("the project differs from what it was")
			}
			mustUndo(t, root) // a second undo does nothing
			if hashOf(t, root) != before {
				t.Errorf("a second undo changed something")
			}
		})
	}
}

// docs/guide/link-elements.md has the same table of themes.
func TestManualListsTheThemes(t *testing.T) {
	text, err := os.ReadFile("../../docs/guide/link-elements.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "The table of themes:")
	section, _, _ = strings.Cut(section, "A theme has the name")
	var want strings.Builder
	for _, row := range Themes() {
		fmt.Fprintf(&want, "%-16s%s\n", row.Name, row.Stub)
	}
	if !strings.Contains(section, "```text\n"+want.String()+"```") {
		t.Errorf("documented\n%s\nwant\n%s", section, want.String())
	}
	for _, mark := range []string{"{{/* sitelink:begin */}}" + callOf(".") + "{{/* sitelink:end */}}"} {
		if !strings.Contains(string(text), mark) {
			t.Errorf("the manual does not contain %s", mark)
		}
	}
}

// With any templates, the next run finds what was written, and the undo restores
// every byte.
func FuzzFind(f *testing.F) {
	f.Add(baseof, "<title>x</title>")
	f.Add("<head>\r\n{{ partial \"x\" . }}\r\n</head>", "<meta charset=utf-8>\r\n")
	f.Add("{{ if .X }}<head>{{ end }}<title></title>", "{{/*")
	f.Add("\xef\xbb\xbf<!doctype html><title>x</title>", "")
	f.Add("<html>{{ partial \"x.html\" }}", "<head></head>")
	f.Fuzz(func(t *testing.T, page, partial string) {
		if strings.Contains(page+partial, "sitelink:") {
			return // has marks that sitelink did not write
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
			t.Fatalf("%q %q: not restored", page, partial)
		}
	})
}
