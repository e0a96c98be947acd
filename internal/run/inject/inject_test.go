package inject

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.InMemory()
	m.Run()
}

const (
	toml   = "baseURL = 'https://blog.example/'\n"
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
		testkit.Check(t, err)
	}
	root := testkit.Must(os.OpenRoot(dir))(t)
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
	testkit.Check(t, err)
	return fmt.Sprintf("%x", h.Sum(nil))
}

func read(t *testing.T, root *os.Root, name string) string {
	t.Helper()
	text := testkit.Must(root.ReadFile(name))(t)
	return string(text)
}

func put(t *testing.T, root *os.Root, name, text string) {
	t.Helper()
	testkit.Check(t, root.WriteFile(name, []byte(text), 0o644))
}

// blog are the settings of a project that advertises both endpoints.
func blog(t config.Templates) *config.Config {
	t.Pingback, t.Webmention = "https://blog.example/x?a=1&b=2", "https://blog.example/wm"
	return &config.Config{Templates: t}
}

// openProject finds the project in a directory, without a program of the generator.
func openProject(t *testing.T, root *os.Root, cfg *config.Config) *project.Project {
	t.Helper()
	t.Setenv("PATH", "")
	p := testkit.Must(project.Find(t.Context(), root.Name(), project.Options{Config: cfg, Env: []string{}}))(t)
	return p
}

// find is [Find], with [buildSmall] in place of a copy that Hugo builds.
func find(t *testing.T, root *os.Root, cfg *config.Config) (*Plan, error) {
	t.Helper()
	p := openProject(t, root, cfg)
	set, err := open(p)
	if err == nil {
		err = set.refused()
	}
	if err != nil {
		return nil, err
	}
	set.readHugo(p.Generator)
	if name := layoutsIn(p.Generator.Dir); name != "" {
		set.layouts = name
	}
	return set.find(t.Context(), tryIn(p.Generator.Dir, func(ctx context.Context) (*audit.Audit, error) {
		out := t.TempDir()
		if err := buildSmall(p.Generator.Dir, out); err != nil {
			return nil, err
		}
		return audit.Open(ctx, p, audit.Options{Docroot: out})
	}))
}

// layoutsIn returns what Hugo would say about the directory of layouts.
func layoutsIn(dir string) string {
	if _, err := os.Stat(filepath.Join(dir, "src/l")); err == nil {
		return "src/l"
	}
	return ""
}

func mustFind(t *testing.T, root *os.Root, cfg *config.Config) *Plan {
	t.Helper()
	plan := testkit.Must(find(t, root, cfg))(t)
	return plan
}

func mustApply(t *testing.T, plan *Plan) {
	t.Helper()
	testkit.Check(t, plan.Apply())
}

// mustRefresh returns what a run that builds nothing would change.
func mustRefresh(t *testing.T, root *os.Root, cfg *config.Config) *Plan {
	t.Helper()
	plan := testkit.Must(Refresh(openProject(t, root, cfg)))(t)
	return plan
}

func mustUndo(t *testing.T, root *os.Root) {
	t.Helper()
	plan, err := Undo(openProject(t, root, nil))
	if err == nil {
		err = plan.Apply()
	}
	testkit.Check(t, err)
}

// theme returns the files of a theme with stub in its head.
func theme(dir, stub string) map[string]string {
	return map[string]string{
		dir + "/layouts/_default/baseof.html": "<!doctype html><html>{{ partial \"head.html\" . }}<body>{{ block \"main\" . }}{{ end }}</body></html>",
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
		want  []string // path:line
	}{
		{"own_baseof", map[string]string{"hugo.toml": toml, "layouts/_default/baseof.html": baseof},
			[]string{"layouts/_default/baseof.html:5", head + ":1"}},
		{"own_baseof_since_0.146", map[string]string{"hugo.toml": toml, "layouts/baseof.html": "<html>{{ partial \"head.html\" . }}", "layouts/_partials/head.html": "<head>\n<meta charset=utf-8>\n</head>"},
			[]string{"layouts/_partials/head.html:3", "layouts/_partials/sitelink/head.html:1"}},
		{"partial_of_a_partial", map[string]string{"hugo.yaml": "title: x\n", "layouts/index.html": "<html>{{ partial \"a\" . }}", "layouts/_default/single.html": "<html>{{ partial \"a.html\" . }}", "layouts/partials/a.html": "<head>{{ partial \"b/c.html\" . }}</head>", "layouts/partials/b/c.html": "<meta charset=utf-8>\r\n<title></title>\r\n"},
			[]string{"layouts/partials/b/c.html:2", head + ":1"}},
		{"page_not_at_hand", map[string]string{"hugo.toml": toml, "layouts/index.html": `<html>{{ partial "h" }}`, "layouts/baseof.html": `<html>{{ partial "h" . }}`, "layouts/partials/h.html": "<head>\n<meta charset=utf-8>\n</head>"},
			[]string{"layouts/partials/h.html:3", head + ":1"}},
		{"several_heads_of_their_own", map[string]string{"hugo.toml": toml, "layouts/_default/baseof.html": baseof, "layouts/post/baseof.html": baseof, "layouts/404.html": baseof, "layouts/_default/single.html": "{{ define \"main\" }}x{{ end }}"},
			[]string{"layouts/_default/baseof.html:5", head + ":1", "layouts/post/baseof.html:5"}},
		{"head_tag_and_charset_in_two_files", map[string]string{"hugo.toml": toml, "layouts/baseof.html": "<html>\n<head>\n{{ partial \"meta\" . }}\n</head>", "layouts/partials/meta.html": "<meta charset=utf-8>\n<title></title>\n"},
			[]string{"layouts/partials/meta.html:2", head + ":1"}},
		{"another_layout_directory", map[string]string{"hugo.toml": "layoutDir = 'src/l'\n", "src/l/_default/baseof.html": baseof},
			[]string{"src/l/_default/baseof.html:5", "src/l/partials/sitelink/head.html:1"}},
		{"stub", with(theme("themes/hugo-PaperMod", `{{ partial "extend_head.html" . }}`), "hugo.toml", "theme = 'hugo-PaperMod'\n", "themes/hugo-PaperMod/layouts/partials/extend_head.html", "{{/* yours */}}"),
			[]string{"layouts/partials/extend_head.html:1", head + ":1"}},
		{"stub_overridden_already", with(theme("themes/PaperMod", `{{ partial "extend_head.html" . }}`), "hugo.yaml", "theme: PaperMod\n", "layouts/partials/extend_head.html", "<link rel=x>\n"),
			[]string{"layouts/partials/extend_head.html:2", head + ":1"}},
		{"stub_without_ending", with(theme("themes/hugo-book", `{{ partial "docs/inject/head" . }}`), "hugo.json", "{\n\"theme\": \"hugo-book\"}", "themes/hugo-book/layouts/partials/docs/inject/head.html", ""),
			[]string{"layouts/partials/docs/inject/head.html:1", head + ":1"}},
		{"stub_in_a_block", with(theme("themes/ananke", `{{ block "head" . }}{{ partials.Include "head-additions.html" . }}{{ end }}`), "hugo.toml", "theme = 'ananke'\n", "themes/ananke/layouts/partials/head-additions.html", ""),
			[]string{"layouts/partials/head-additions.html:1", head + ":1"}},
		{"stub_only_if_it_is_there", with(theme("themes/congo", `{{ if templates.Exists "partials/extend-head.html" }}{{ partial "extend-head.html" . }}{{ end }}`), "hugo.toml", "theme = 'congo'\n"),
			[]string{"layouts/partials/extend-head.html:1", head + ":1"}},
		{"empty_partial_of_the_body", with(theme("themes/mine", `{{ partial "x.html" . }}<link rel=x></head><p>{{ partial "foot-of-head.html" . }}`), "hugo.toml", "theme = 'mine'\n", "themes/mine/layouts/partials/foot-of-head.html", "", "themes/mine/layouts/partials/x.html", "<!-- put\n yours here -->\n"),
			[]string{head + ":1", "layouts/partials/x.html:1"}},
		{"theme_that_leaves_nothing", with(theme("themes/mine", `{{ partial "x.html" . }}`), "hugo.toml", "theme = 'mine'\n", "themes/mine/layouts/partials/x.html", "<link rel=y>"),
			[]string{"config/_default/module.toml:1", head + ":1", "layouts/partials/x.html:1"}},
		{"own_baseof_above_the_theme", with(theme("themes/PaperMod", `{{ partial "extend_head.html" . }}`), "hugo.toml", "theme = 'PaperMod'\n", "layouts/baseof.html", baseof, "themes/PaperMod/layouts/partials/extend_head.html", ""),
			[]string{"layouts/baseof.html:5", head + ":1"}},
		{"own_head_of_a_section_beside_the_theme", with(theme("themes/PaperMod", `{{ partial "extend_head.html" . }}`), "hugo.toml", "theme = 'PaperMod'\n", "layouts/post/baseof.html", baseof, "themes/PaperMod/layouts/partials/extend_head.html", ""),
			[]string{"layouts/partials/extend_head.html:1", head + ":1", "layouts/post/baseof.html:5"}},
		{"theme_of_a_theme", with(theme("themes/docsy", `{{ partial "hooks/head-end.html" . }}`), "hugo.toml", "theme = 'wrapper'\n", "themes/wrapper/hugo.toml", "theme = 'docsy'\n", "themes/docsy/layouts/partials/hooks/head-end.html", ""),
			[]string{"layouts/partials/hooks/head-end.html:1", head + ":1"}},
		{"PB-35/line_that_every_page_has", map[string]string{"hugo.toml": toml, "layouts/baseof.html": "<html><head>{{ if .Params.x }}<meta charset=x>{{ end }}\n<title>x</title>\n</head>"},
			[]string{"layouts/baseof.html:1", head + ":1"}},
		{"PB-35/late_stub", with(theme("themes/mine", ""), "hugo.toml", "theme = 'mine'\n", "themes/mine/layouts/partials/extend_head.html", "", "themes/mine/layouts/_default/baseof.html", `<html><head>{{ partial "first.html" . }}<style>{{ range seq 2000 }}x y{{ end }}</style>{{ partial "extend_head.html" . }}</head>`, "themes/mine/layouts/partials/first.html", "<title>x</title>"),
			[]string{"config/_default/module.toml:1", "layouts/partials/first.html:1", head + ":1"}},
		{"head_in_a_script", map[string]string{"hugo.toml": toml, "layouts/a.html": "<script>x = '</head>'</script>", "layouts/baseof.html": "<html><!-- <head> -->\n<head>\n<title>x</title>\n</head>"},
			[]string{"layouts/baseof.html:3", head + ":1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := newProject(t, with(c.files, "content/a.md", "", "content/post/b.md", ""))
			before := hashOf(t, root)
			cfg := blog(config.Templates{})
			if there := mustRefresh(t, root, cfg); !there.Missing || there.Clean() {
				t.Errorf("nothing is written, but a run without a build finds %v", there.Changes)
			}
			plan := mustFind(t, root, cfg)
			var got []string
			for _, p := range plan.Places {
				got = append(got, fmt.Sprintf("%s:%d", p.Path, p.Line))
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Fatalf("places\n%q\nwant\n%q\n%v", got, c.want, plan.Notes)
			}
			if hashOf(t, root) != before {
				t.Fatal("making the plan changed the project")
			}
			mustApply(t, plan)
			if again := mustRefresh(t, root, cfg); !again.Clean() {
				t.Errorf("a second run without a build would change:\n%s", again.Diff())
			}
			if again := mustFind(t, root, cfg); !again.Clean() {
				t.Errorf("a second run would change:\n%s", again.Diff())
			}
			mustUndo(t, root)
			if hashOf(t, root) != before {
				t.Error("after the undo the project differs from what it was")
			}
		})
	}
}

// TestUndo: the undo restores the project to the byte, with its modes.
func TestUndo(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"own":        {"hugo.toml": toml, "layouts/_default/baseof.html": baseof},
		"crlf":       {"hugo.toml": toml, "layouts/_default/baseof.html": strings.ReplaceAll(baseof, "\n", "\r\n")},
		"bom":        {"hugo.toml": toml, "layouts/_default/baseof.html": "\xef\xbb\xbf" + baseof},
		"no_newline": {"hugo.toml": toml, "layouts/_default/baseof.html": "<head><title>x</title></head>"},
		"stub":       with(theme("themes/coder", `{{ partial "head/extensions.html" . }}`), "hugo.toml", "theme = 'coder'\n", "themes/coder/layouts/partials/head/extensions.html", ""),
		"own_stub":   with(theme("themes/coder", `{{ partial "head/extensions.html" . }}`), "hugo.toml", "theme = 'coder'\n", "layouts/partials/head/extensions.html", "<link rel=x>"),
		"empty_stub": with(theme("themes/coder", `{{ partial "head/extensions.html" . }}`), "hugo.toml", "theme = 'coder'\n", "layouts/partials/head/extensions.html", ""),
		"nothing":    with(theme("themes/x", `{{ partial "a.html" . }}`), "hugo.toml", "theme = 'x'\n", "themes/x/layouts/partials/a.html", "<link>"),
	} {
		t.Run(name, func(t *testing.T) {
			root := newProject(t, files)
			for file := range files {
				if strings.Contains(file, "layouts") {
					testkit.Check(t, root.Chmod(file, 0o640))
				}
			}
			before := hashOf(t, root)
			plan := mustFind(t, root, blog(config.Templates{}))
			mustApply(t, plan)
			if len(plan.Changes) < 2 || hashOf(t, root) == before {
				t.Fatal("nothing was written")
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

// Refusals say what to do, and nothing is written.
func TestRefusals(t *testing.T) {
	hugo := func(more ...string) map[string]string { return with(map[string]string{"hugo.toml": toml}, more...) }
	for _, c := range []struct {
		name  string
		files map[string]string
		more  config.Templates
		want  string
	}{
		{"no_head", hugo("layouts/index.html", "<p>"), config.Templates{}, "no place in the templates gives the pages the elements, such as index.html"},
		{"head_in_a_loop", hugo("layouts/index.html", "<p>{{ range slice }}\n<head></head>{{ end }}"), config.Templates{}, "such as index.html; a <head> is in layouts/index.html"},
		{"PB-21/named_already", hugo("layouts/baseof.html", strings.Replace(baseof, "<title>", `<link href=x rel="webmention">`+"<title>", 1)), config.Templates{}, "pages have an element for an endpoint of their own that is wrong"},
		{"PB-21/both_named_too_late", hugo("layouts/baseof.html", "<head><style>{{ range seq 3000 }}x y{{ end }}</style>"+`<link rel="pingback" href="https://blog.example/x?a=1&amp;b=2"><link rel="webmention" href="https://blog.example/wm"></head>`), config.Templates{}, "pages have an element for an endpoint of their own that is wrong"},
		{"site_that_cannot_be_built", hugo("layouts/index.html", "{{ nonsense }}"), config.Templates{}, `function "nonsense" not defined`},
		{"layouts_lead_out", hugo("layouts", "-> .."), config.Templates{}, "the build of the site has no pages"},
		{"our_name_is_taken", hugo("layouts/baseof.html", baseof, "layouts/partials/sitelink/head.html", "-> ../../baseof.html"), config.Templates{}, "layouts/partials/sitelink/head.html: a symbolic link"},
		{"layouts_are_those_of_the_theme", hugo("layouts", "-> themes/x/layouts", "themes/x/layouts/baseof.html", baseof, "themes/x/layouts/partials/a.html", ""), config.Templates{}, "the build of the site has no pages"},
		{"unknown_generator", map[string]string{"index.html": baseof}, config.Templates{}, "the project has no generator that inject supports"},
		{"patterns", map[string]string{"_config.yml": "a: b\n", "_layouts/a.html": "<head></head>"}, config.Templates{Pages: []string{"doc/**"}}, "inject cannot write the patterns of [templates] into templates of Jekyll"},
		{"docusaurus", map[string]string{"docusaurus.config.ts": "export default {}"}, config.Templates{}, "the head is in the configuration, a program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := newProject(t, c.files)
			before := hashOf(t, root)
			if _, err := find(t, root, blog(c.more)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if hashOf(t, root) != before {
				t.Error("something was written")
			}
		})
	}
	if _, err := Refresh(openProject(t, newProject(t, hugo()), nil)); !errors.Is(err, ErrNoEndpoints) {
		t.Errorf("without endpoints: %v", err)
	}
}

// A page that no template writes is no reason to refuse, and pages that stay without
// the elements are named.
func TestPartly(t *testing.T) {
	root := newProject(t, map[string]string{"hugo.toml": toml, "content/a.md": "", "layouts/index.html": "<!doctype html><title>x</title><p>", "layouts/_default/single.html": baseof})
	plan := mustFind(t, root, blog(config.Templates{}))
	if len(plan.Changes) != 2 || len(plan.Notes) != 1 || !strings.Contains(plan.Notes[0], "1 page still without the elements, such as index.html") {
		t.Errorf("%q\n%s", plan.Notes, plan.Diff())
	}
}

// Pages that have the elements already need no change.
func TestNothingToDo(t *testing.T) {
	own := strings.Replace(baseof, "<title>", `<link rel="pingback" href="https://blog.example/x?a=1&amp;b=2"><link rel="webmention" href="https://blog.example/wm"><title>`, 1)
	root := newProject(t, map[string]string{"hugo.toml": toml, "layouts/_default/baseof.html": own})
	if plan := mustFind(t, root, blog(config.Templates{})); len(plan.Changes) > 0 {
		t.Errorf("%s", plan.Diff())
	}
}

// With any templates, removing the marks restores every byte.
func FuzzMarks(f *testing.F) {
	f.Add(baseof, 30)
	f.Add("<head>\r\n{{ partial \"x\" . }}\r\n</head>", 8)
	f.Add("\xef\xbb\xbf<!doctype html><title>x</title>", 3)
	f.Fuzz(func(t *testing.T, page string, at int) {
		if strings.Contains(page, "sitelink:") || at < 0 || at > len(page) {
			return // has marks that sitelink did not write
		}
		src := []byte(page)
		// A tag ends or starts at the offset, so that its line is not blank.
		visible := func(i int) bool { return i >= 0 && i < len(src) && src[i] > ' ' && src[i] < 0x7f }
		for l := plainHTML; l <= astro; l++ {
			outs := [][]byte{l.add(src, "x")}
			if visible(at - 1) {
				outs = append(outs, l.insertAfter(src, at, "x"))
			}
			if visible(at) {
				outs = append(outs, l.insertBefore(src, at, "x"))
			}
			for _, out := range outs {
				if r, ok := findRegion(out); !ok || string(out[r.innerStart:r.innerEnd]) != "x" || string(without(out)) != page {
					t.Fatalf("%d %q: %q", l, page, out)
				}
			}
		}
	})
}
