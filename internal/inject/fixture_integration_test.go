//go:build integration

package inject

import (
	"os"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/templates"
)

// heads are theme heads as they are found, by the theme of the table whose way
// of calling its stub they have; in our own words.
var heads = map[string]string{
	"ananke":        `<head><meta charset="utf-8"><title>{{ .Title }}</title>{{ block "head" . }}{{ partials.Include "head-additions.html" . }}{{ end }}</head>`,
	"book":          `<head>{{ partial "meta" . }}{{ partial "docs/inject/head" . }}</head>`,
	"congo":         `<head><meta charset="utf-8">{{ if templates.Exists "partials/extend-head.html" }}{{ partial "extend-head.html" . }}{{ end }}</head>`,
	"docsy":         `<head><meta charset="utf-8">{{ partialCached "meta.html" . }}{{ partial "hooks/head-end.html" . -}}</head>`,
	"beautifulhugo": "<head>\r\n  <meta charset=\"utf-8\">\r\n  <script>var s = '</head>';</script>\r\n  {{- partial \"head_custom.html\" . }}\r\n</head>",
}

// TestHugoFixtures builds sites with real Hugo, before and after: each theme of
// the table, and templates of the project's own.
func TestHugoFixtures(t *testing.T) {
	sites := map[string]map[string]string{}
	for _, row := range Themes() {
		head := heads[row.Name]
		if head == "" {
			head = "<head>\n<meta charset=\"utf-8\">\n<title>{{ .Title }}</title>\n{{ partial \"" + row.Stub + "\" . }}\n</head>"
		}
		dir := "themes/" + row.Name + "/layouts/"
		sites["theme_"+row.Name] = map[string]string{
			"hugo.toml":                   "baseURL = 'https://blog.example/'\ntheme = '" + row.Name + "'\n",
			dir + "_default/baseof.html":  "<!doctype html>\n<html>{{ partial \"head.html\" . }}<body>{{ block \"main\" . }}{{ end }}</body></html>\n",
			dir + "_default/single.html":  "{{ define \"main\" }}{{ .Content }}{{ end }}",
			dir + "_default/list.html":    "{{ define \"main\" }}{{ range .Pages }}<p>{{ .Title }}{{ end }}{{ end }}",
			dir + "404.html":              "<!doctype html><html><head></head><body>no</body></html>",
			dir + "partials/head.html":    head,
			dir + "partials/meta.html":    "<meta name=\"x\" content=\"y\">",
			dir + "partials/" + row.Stub:  "{{/* yours */}}\n",
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
			t.Run(name+"/"+version, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				write(t, dir, content)
				write(t, dir, files)
				cycle(t, hugo, dir, Options{Generator: generator.Hugo, Endpoints: endpoints})
			})
		}
	}
}

// Patterns and kinds choose the same pages in Hugo's templates as on the built
// pages, at whatever address the site is (PB-66).
func TestHugoChoice(t *testing.T) {
	for version, hugo := range hugos(t) {
		for base, choice := range map[string]templates.Choice{
			"https://blog.example/":         {Pages: []string{"posts/**"}, Exclude: []string{"posts/b/*"}},
			"https://blog.example/sub/dir/": {Pages: []string{"**/index.html"}, Exclude: []string{"posts/été/**", "index.html"}, Kinds: []string{"home", "page", "list"}},
			"/":                             {Kinds: []string{"list"}},
			"https://blog.example":          {Pages: []string{"{about,docs/*}/index.html"}, Kinds: []string{"page"}},
		} {
			t.Run(strings.ReplaceAll(base, "/", "_")+"/"+version, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				write(t, dir, content)
				write(t, dir, map[string]string{"hugo.toml": "baseURL = '" + base + "'\n", "layouts/_default/baseof.html": baseof,
					"layouts/_default/single.html": "{{ define \"main\" }}{{ end }}", "layouts/_default/list.html": "{{ define \"main\" }}{{ end }}", "layouts/404.html": baseof})
				root, err := os.OpenRoot(dir)
				if err != nil {
					t.Fatal(err)
				}
				defer root.Close()
				mustApply(t, mustFind(t, root, Options{Generator: generator.Hugo, Endpoints: endpoints, Choice: choice}))
				docroot, said, err := buildHugo(t, hugo, dir)
				if err != nil {
					t.Fatalf("%v\n%s", err, said)
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
