//go:build integration

package inject

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/templates"
)

var endpoints = templates.Endpoints{Pingback: "https://blog.example/xmlrpc?site=1&user=2", Webmention: "https://blog.example/webmention"}

// findWith is [Find] with a program under the given name, in a project with endpoints in
// its configuration.
func findWith(t *testing.T, name, program, dir string, c templates.Choice) (*project.Project, *Plan, error) {
	t.Helper()
	env := os.Environ()
	if program != "" {
		bin := t.TempDir()
		testkit.Check(t, os.Symlink(program, filepath.Join(bin, name)))
		t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		env = os.Environ()
	}
	p, err := project.Find(t.Context(), dir, project.Options{Env: env, Config: &config.Config{Templates: config.Templates{
		Pingback: endpoints.Pingback, Webmention: endpoints.Webmention, Pages: c.Pages, Exclude: c.Exclude, Kinds: c.Kinds}}})
	testkit.Check(t, err)
	plan, err := Find(t.Context(), p)
	return p, plan, err
}

// hugos returns the Hugo programs to test with: the one in PATH, and the one in
// SITELINK_HUGO.
func hugos(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range []string{"hugo", os.Getenv("SITELINK_HUGO")} {
		if name == "" {
			continue
		}
		program, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is not installed", name)
		}
		out := testkit.Must(exec.Command(program, "version").Output())(t)
		found[strings.TrimPrefix(strings.Fields(string(out))[1], "hugo ")] = program
	}
	return found
}

// content is a small site with a home page, two sections, a single page and tags.
var content = map[string]string{
	"content/_index.md":        "---\ntitle: Home\n---\nWelcome\n",
	"content/about.md":         "---\ntitle: About\n---\nMe\n",
	"content/posts/_index.md":  "---\ntitle: Posts\n---\n",
	"content/posts/a.md":       "---\ntitle: A & B\ndate: 2024-01-02\ntags: [x, y]\n---\n## One\n\nText\n",
	"content/posts/b.md":       "---\ntitle: B\ndate: 2024-01-03\ntags: [y]\n---\nText\n",
	"content/posts/été/x.md":   "---\ntitle: Été\ndate: 2024-01-04\n---\nText\n",
	"content/docs/_index.md":   "---\ntitle: Docs\n---\n",
	"content/docs/install.md":  "---\ntitle: Install\n---\nText\n",
	"content/docs/sub/deep.md": "---\ntitle: Deep\n---\nText\n",
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	testkit.AddFiles(t, dir, files)
}

// state returns a checksum of the names, modes and contents of all files.
func state(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		fmt.Fprintln(h, rel, info.Mode())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			h.Write(text)
		}
		return nil
	})
	testkit.Check(t, err)
	return fmt.Sprintf("%x", h.Sum(nil))
}

func buildHugo(t *testing.T, hugo, dir string) (docroot, output string, err error) {
	t.Helper()
	docroot = t.TempDir()
	cmd := exec.Command(hugo, "--destination", docroot, "--noBuildLock")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HUGO_CACHEDIR="+t.TempDir(), "HUGO_RESOURCEDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	return docroot, string(out), err
}

// page is a built page.
type page struct {
	name    string
	count   int
	inHead  bool
	end     int // of the elements
	isAlias bool
}

func readPages(t *testing.T, docroot string) []page {
	t.Helper()
	var pages []page
	err := filepath.WalkDir(docroot, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".html") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(docroot, name)
		p := page{name: filepath.ToSlash(rel), count: strings.Count(string(text), endpoints.HTML(false)) + strings.Count(string(text), endpoints.PingbackHTML(true))}
		p.isAlias = strings.Contains(string(text), `http-equiv="refresh"`) || strings.Contains(string(text), `http-equiv=refresh`)
		if i := strings.Index(string(text), endpoints.HTML(false)); i >= 0 {
			p.end = i + len(endpoints.HTML(false))
		}
		doc, err := html.Parse(strings.NewReader(string(text)))
		if err != nil {
			return err
		}
		for n := range doc.Descendants() {
			if n.Type == html.ElementNode && n.Data == "link" && slices.Contains(n.Attr, html.Attribute{Key: "rel", Val: "pingback"}) {
				p.inHead = n.Parent.Data == "head"
			}
		}
		pages = append(pages, p)
		return nil
	})
	testkit.Check(t, err)
	return pages
}

// isContent reports whether a page of [content] is of the kind home or page.
func isContent(name string) bool {
	return slices.Contains([]string{"index.html", "about/index.html", "posts/a/index.html", "posts/b/index.html", "posts/été/x/index.html",
		"docs/install/index.html", "docs/sub/deep/index.html"}, name)
}

// cycle injects into the project, builds it, and undoes the injection. It returns
// the places, the number of pages with elements, and the largest offset at which
// the elements end, for the table in the manual.
func cycle(t *testing.T, hugo, dir string) (places []Place, pages, last int) {
	t.Helper()
	before := state(t, dir)
	plain, output, err := buildHugo(t, hugo, dir)
	if err != nil {
		t.Skipf("the site cannot be built as it is: %v\n%s", err, output)
	}
	p, plan, err := findWith(t, "hugo", hugo, dir, templates.Choice{})
	testkit.Check(t, err)
	for _, note := range plan.Notes {
		t.Log(note)
	}
	testkit.Check(t, plan.Apply())
	if again, err := Find(t.Context(), p); err != nil || !again.Clean() {
		t.Errorf("a second run would change: %v", err)
	}
	if again, err := Refresh(p); err != nil || !again.Clean() {
		t.Errorf("a second run without a build would change: %v", err)
	}
	docroot, output, err := buildHugo(t, hugo, dir)
	if err != nil {
		t.Fatalf("build: %v\n%s\n%s", err, output, plan.Diff())
	}
	for _, p := range readPages(t, docroot) {
		if p.isAlias && p.count > 0 {
			t.Errorf("%s is a redirect but has the elements", p.name)
		}
		if p.isAlias {
			continue
		}
		if want := isContent(p.name); !want && p.count > 0 {
			t.Errorf("%s must not have the elements", p.name)
			continue
		} else if !want {
			continue
		}
		pages++
		last = max(last, p.end)
		if p.count != 1 || !p.inHead {
			t.Errorf("PB-65, PB-66: %s has the elements %d times, in the head: %v", p.name, p.count, p.inHead)
		}
	}
	if pages < 5 {
		t.Errorf("only %d pages of content were built", pages)
	}
	undo, err := Undo(p)
	if err == nil {
		err = undo.Apply()
	}
	testkit.Check(t, err)
	if state(t, dir) != before {
		out, _ := exec.Command("find", dir, "-not", "-path", "*/themes/*", "-newer", plain).Output()
		t.Errorf("after --undo the project differs from what it was\n%s", out)
	}
	return plan.Places, pages, last
}

// standIns are templates of themes that need Sass, the network or an older Hugo.
// The project overrides them with empty ones, because only the head is tested.
var standIns = map[string][]string{
	"LoveIt":           {"assets.html", "plugin/share.html", "plugin/style.html", "plugin/script.html", "init.html", "header.html", "footer.html"},
	"congo":            {"../shortcodes/figure.html", "functions/warnings.html", "partials/functions/warnings.html", "partials/functions/init.html", "partials/header/basic.html", "partials/home/page.html"},
	"docsy":            {"favicons.html", "head-css.html", "scripts.html"},
	"hextra":           {"scripts/search.html", "scripts/mermaid.html"},
	"hugo-coder":       {"head/theme-styles.html"},
	"hugo-theme-stack": {"head/style.html", "head/script.html", "footer/components/script.html"},
}

// TestThemes builds a site with each theme in the directory SITELINK_THEMES; see
// docs/guide/link-elements.md.
func TestThemes(t *testing.T) {
	dir := os.Getenv("SITELINK_THEMES")
	if dir == "" {
		t.Skip("SITELINK_THEMES is not set")
	}
	themes, err := os.ReadDir(dir)
	if err != nil || len(themes) == 0 {
		t.Fatalf("no themes in %s: %v", dir, err)
	}
	for version, hugo := range hugos(t) {
		for _, theme := range themes {
			t.Run(theme.Name()+"/"+version, func(t *testing.T) {
				site := t.TempDir()
				write(t, site, content)
				write(t, site, map[string]string{"hugo.toml": "baseURL = 'https://blog.example/'\ntitle = 'Site'\ntheme = '" + theme.Name() + "'\n"})
				testkit.Check(t, os.CopyFS(filepath.Join(site, "themes", theme.Name()), os.DirFS(filepath.Join(dir, theme.Name()))))
				for _, name := range standIns[theme.Name()] {
					text := "{{/* " + name + " */}}"
					if rest, ok := strings.CutPrefix(name, "partials/"); ok { // a name that Hugo no longer supports
						text = "{{ partial \"" + rest + "\" . }}"
					}
					write(t, site, map[string]string{"layouts/partials/" + name: text})
				}
				places, pages, last := cycle(t, hugo, site)
				for _, p := range places {
					if !strings.HasSuffix(p.Path, headPartial) {
						t.Logf("| %s | %s | `%s`: %s | %d | %d |", theme.Name(), version, p.Path, p.How, pages, last)
					}
				}
			})
		}
	}
}

// stubs are themes of Hugo that leave a partial to their users.
var stubs = []struct{ theme, stub string }{
	{"ananke", "head-additions.html"}, {"bearblog", "custom_head.html"}, {"beautifulhugo", "head_custom.html"}, {"blowfish", "extend-head.html"},
	{"book", "docs/inject/head.html"}, {"coder", "head/extensions.html"}, {"congo", "extend-head.html"}, {"docsy", "hooks/head-end.html"},
	{"geekdoc", "head/custom.html"}, {"hextra", "custom/head-end.html"}, {"paged", "head_custom.html"}, {"papermod", "extend_head.html"},
	{"relearn", "custom-header.html"}, {"stack", "head/custom.html"}, {"terminal", "extended_head.html"},
}

// heads are heads written for the test. Each calls its stub in the same way as
// the theme.
var heads = map[string]string{
	"ananke":        `<head><meta charset="utf-8"><title>{{ .Title }}</title>{{ block "head" . }}{{ partials.Include "head-additions.html" . }}{{ end }}</head>`,
	"book":          `<head>{{ partial "meta" . }}{{ partial "docs/inject/head" . }}</head>`,
	"congo":         `<head><meta charset="utf-8">{{ if templates.Exists "partials/extend-head.html" }}{{ partial "extend-head.html" . }}{{ end }}</head>`,
	"docsy":         `<head><meta charset="utf-8">{{ partialCached "meta.html" . }}{{ partial "hooks/head-end.html" . -}}</head>`,
	"beautifulhugo": "<head>\r\n  <meta charset=\"utf-8\">\r\n  <script>var s = '</head>';</script>\r\n  {{- partial \"head_custom.html\" . }}\r\n</head>",
}

// TestHugoFixtures builds sites with Hugo before and after injection: one with
// each theme of the table, and some with templates of their own.
func TestHugoFixtures(t *testing.T) {
	sites := map[string]map[string]string{}
	for _, row := range stubs {
		head := heads[row.theme]
		if head == "" {
			head = "<head>\n<meta charset=\"utf-8\">\n<title>{{ .Title }}</title>\n{{ partial \"" + row.stub + "\" . }}\n</head>"
		}
		dir := "themes/" + row.theme + "/layouts/"
		sites["theme_"+row.theme] = map[string]string{
			"hugo.toml":                   "baseURL = 'https://blog.example/'\ntheme = '" + row.theme + "'\n",
			dir + "_default/baseof.html":  "<!doctype html>\n<html>{{ partial \"head.html\" . }}<body>{{ block \"main\" . }}{{ end }}</body></html>\n",
			dir + "_default/single.html":  "{{ define \"main\" }}{{ .Content }}{{ end }}",
			dir + "_default/list.html":    "{{ define \"main\" }}{{ range .Pages }}<p>{{ .Title }}{{ end }}{{ end }}",
			dir + "404.html":              "<!doctype html><html><head></head><body>no</body></html>",
			dir + "partials/head.html":    head,
			dir + "partials/meta.html":    "<meta name=\"x\" content=\"y\">",
			dir + "partials/" + row.stub:  "{{/* yours */}}\n",
			"layouts/partials/other.html": "x",
		}
	}
	delete(sites["theme_congo"], "themes/congo/layouts/partials/extend-head.html")
	own := func(more ...string) map[string]string {
		return with(map[string]string{
			"config.toml":                  "baseURL = 'https://blog.example/sub/'\n",
			"layouts/_default/single.html": "{{ define \"main\" }}{{ .Content }}{{ end }}",
			"layouts/_default/list.html":   "{{ define \"main\" }}{{ range .Pages }}<p>{{ .Title }}{{ end }}{{ end }}",
		}, more...)
	}
	sites["own_baseof"] = own("layouts/_default/baseof.html", strings.ReplaceAll(baseof, "\n", "\r\n"))
	sites["own_without_charset"] = own("layouts/_default/baseof.html", "<!doctype html><html><head><title>{{ with .Title }}{{ . }}{{ end }}</title></head><body>{{ block \"main\" . }}{{ end }}</body></html>")
	sites["own_partial_of_a_partial"] = own("layouts/_default/baseof.html", `<!doctype html><html>{{ partial "a" . }}<body>{{ block "main" . }}{{ end }}</body></html>`,
		"layouts/partials/a.html", `<head>{{ with .Site }}{{ partial "b.html" $ }}{{ end }}<title>x</title></head>`, "layouts/partials/b.html", `<meta name="b" content="{{ .Title }}">`)
	sites["own_page_not_at_hand"] = own("layouts/_default/baseof.html", `<!doctype html><html>{{ partial "h" . }}<body>{{ block "main" . }}{{ end }}</body></html>`,
		"layouts/index.html", `<!doctype html><html>{{ partial "h" }}<body></body></html>`, "layouts/partials/h.html", `<head>{{ with site }}<meta charset="utf-8">{{ end }}<title>x</title></head>`)
	sites["own_without_baseof"] = map[string]string{"config.yaml": "baseURL: https://blog.example/\n", "layouts/index.html": `{{ partial "header.html" . }}`,
		"layouts/_default/single.html": `{{ partial "header.html" . }}{{ .Content }}`, "layouts/_default/list.html": `{{ partial "header.html" . }}`,
		"layouts/partials/header.html": "<!doctype html>\n<html>\n<head>\n<meta charset=utf-8></head><body>"}
	sites["theme_that_leaves_nothing"] = map[string]string{
		"hugo.toml": "baseURL = 'https://blog.example/'\ntheme = 'mine'\n",
		"themes/mine/layouts/_default/baseof.html": `<!doctype html><html><head><meta charset="utf-8">{{ partial "head/link.html" . }}</head><body>{{ block "main" . }}{{ end }}</body></html>`,
		"themes/mine/layouts/_default/single.html": "{{ define \"main\" }}x{{ end }}", "themes/mine/layouts/_default/list.html": "{{ define \"main\" }}x{{ end }}",
		"themes/mine/layouts/partials/head/link.html": `<link rel="canonical" href="{{ .Permalink }}">`,
	}
	for version, hugo := range hugos(t) {
		for name, files := range sites {
			if newest := os.Getenv("SITELINK_HUGO"); strings.HasPrefix(name, "theme_") && newest != "" && hugo != newest {
				continue // the themes differ by the name of a partial alone
			}
			t.Run(name+"/"+version, func(t *testing.T) {
				dir := t.TempDir()
				write(t, dir, content)
				write(t, dir, files)
				cycle(t, hugo, dir)
			})
		}
	}
}

// Patterns and kinds select the same pages in Hugo's templates as on built pages,
// with any base URL (PB-66).
func TestHugoChoice(t *testing.T) {
	for version, hugo := range hugos(t) {
		for base, choice := range map[string]templates.Choice{
			"https://blog.example/":         {Pages: []string{"posts/**"}, Exclude: []string{"posts/b/*"}},
			"https://blog.example/sub/dir/": {Pages: []string{"**/index.html"}, Exclude: []string{"posts/été/**", "index.html"}, Kinds: []string{"home", "page", "list"}},
			"/":                             {Kinds: []string{"list"}},
			"https://blog.example":          {Pages: []string{"{about,docs/*}/index.html"}, Kinds: []string{"page"}},
		} {
			t.Run(strings.ReplaceAll(base, "/", "_")+"/"+version, func(t *testing.T) {
				dir := t.TempDir()
				write(t, dir, content)
				write(t, dir, map[string]string{"hugo.toml": "baseURL = '" + base + "'\n", "layouts/_default/baseof.html": baseof,
					"layouts/_default/single.html": "{{ define \"main\" }}{{ end }}", "layouts/_default/list.html": "{{ define \"main\" }}{{ end }}", "layouts/404.html": baseof})
				_, plan, err := findWith(t, "hugo", hugo, dir, choice)
				testkit.Check(t, err)
				mustApply(t, plan)
				docroot, output, err := buildHugo(t, hugo, dir)
				if err != nil {
					t.Fatalf("%v\n%s", err, output)
				}
				built := readPages(t, docroot)
				var paths, feeds []string
				for _, p := range built {
					paths = append(paths, p.name)
					if strings.HasSuffix(p.name, "index.html") {
						feeds = append(feeds, strings.TrimSuffix(p.name, ".html")+".xml")
					}
				}
				feeds = feeds[:0] // sections and tags are recognised by the pages below them
				chooser := templates.NewChooser(choice, paths, feeds)
				with := 0
				for _, p := range built {
					switch chosen := chooser.Of(p.name); {
					case p.isAlias:
					case chosen == templates.Yes && p.count != 1, chosen != templates.Yes && p.count != 0:
						t.Errorf("%s: chosen %v, has the elements %d times", p.name, chosen, p.count)
					case p.count == 1:
						with++
					}
				}
				if with < 2 {
					t.Errorf("only %d pages have the elements: %v", with, built)
				}
			})
		}
	}
}
