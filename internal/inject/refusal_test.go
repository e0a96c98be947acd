package inject

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/generator"
)

// TestRefusals: if there is no suitable place, nothing is written, and the
// refusal tells the user what to do.
func TestRefusals(t *testing.T) {
	hugo := func(more ...string) map[string]string { return with(map[string]string{"hugo.toml": config}, more...) }
	for _, c := range []struct {
		name      string
		generator generator.Name
		files     map[string]string
		want      string
		paste     string // "" for none
	}{
		{"no_head", generator.Hugo, hugo("layouts/index.html", "<p>"), "found no template with a <head> in layouts", ""},
		{"two_heads", generator.Hugo, hugo("layouts/baseof.html", "{{ if .IsHome }}\n<head></head>{{ else }}\n<head></head>{{ end }}"), "layouts/baseof.html:2: the page has two <head> (layouts/baseof.html:2, layouts/baseof.html:3)", call},
		{"head_written_once_for_all", generator.Hugo, hugo("layouts/baseof.html", `<html>{{ partialCached "head.html" . }}`, "layouts/partials/head.html", "<head></head>"), "written once for several pages", call},
		{"PB-21/named_already", generator.Hugo, hugo("layouts/baseof.html", strings.Replace(baseof, "<title>", `<link href=x rel="webmention">`+"<title>", 1)), "layouts/baseof.html:5: the template names a webmention endpoint itself", ""},
		{"utf-16", generator.Hugo, hugo("layouts/baseof.html", "\xff\xfe<\x00h\x00e\x00a\x00d\x00>\x00"), "layouts/baseof.html: the file is in UTF-16", ""},
		{"theme_leaves_nothing", generator.Hugo, with(theme("themes/x", ""), "hugo.toml", "theme = 'x'\n"), "themes/x/layouts/partials/head.html:1: the head belongs to the theme", ""},
		{"symbolic_link_out", generator.Hugo, hugo("layouts/baseof.html", "-> ../../outside.html"), "", ""},
		{"layouts_lead_out", generator.Hugo, hugo("layouts", "-> .."), "layouts: a symbolic link leads out of the project", call},
		{"our_name_is_taken", generator.Hugo, hugo("layouts/baseof.html", baseof, "layouts/partials/sitelink/head.html", "mine"), "layouts/partials/sitelink/head.html: the file exists, and sitelink did not create it", `<link rel="pingback"`},
		{"layouts_are_those_of_the_theme", generator.Hugo, hugo("layouts", "-> themes/x/layouts", "themes/x/layouts/baseof.html", baseof), "the file belongs to a theme", `{{ partial "sitelink/head.html" . }}`},
		{"damaged_config", generator.Hugo, map[string]string{"hugo.toml": "theme = \n", "layouts/baseof.html": baseof}, "read hugo.toml: 1:", ""},
		{"damaged_record", generator.Hugo, hugo("layouts/baseof.html", baseof, ".sitelink/inject.json", "{"), "read .sitelink/inject.json: ", ""},
		{"record_of_other_files", generator.Hugo, hugo("layouts/baseof.html", baseof, ".sitelink/inject.json", `{"version": 1, "files": [{"path": "../x", "language": "go"}]}`), `"../x" is not a template inside the project`, ""},
		{"unknown_generator", generator.None, map[string]string{"index.html": baseof}, "the project has no generator that inject supports", ""},

		{"jekyll_none", generator.Jekyll, map[string]string{"_config.yml": "theme: minima\n", "Gemfile.lock": "    minima (2.5.1)\n"}, "found no layout with a <head> in _layouts, and the theme minima has no include for additions", ""},
		{"PB-21/jekyll_named_already", generator.Jekyll, map[string]string{"_config.yml": "a: b\n", "_layouts/a.html": "<head>\n<link rel='pingback' href='x'></head>"}, "_layouts/a.html:2: the template names a pingback endpoint itself", ""},
		{"jekyll_pattern", generator.Jekyll, map[string]string{"_config.yml": "pattern: *\n", "_layouts/a.html": "<head></head>"}, "read _config.yml", ""},
		{"eleventy_other_language", generator.Eleventy, map[string]string{".eleventy.js": "", "_includes/x.webc": "<head></head>"}, "inject supports layouts in Nunjucks, Liquid and HTML", ""},
		{"zola_none", generator.Zola, map[string]string{"zola.toml": ""}, "found no template with a <head> in templates", ""},
		{"zola_theme_without_block", generator.Zola, map[string]string{"zola.toml": "theme = 'x'\n", "themes/x/templates/base.html": "\n<head></head>"}, "themes/x/templates/base.html:2: the head belongs to the theme", ""},
		{"mkdocs_theme_is_a_word", generator.MkDocs, map[string]string{"mkdocs.yml": "theme: readthedocs\n"}, "mkdocs.yml: the theme has no custom_dir", "custom_dir: overrides"},
		{"mkdocs_damaged", generator.MkDocs, map[string]string{"mkdocs.yml": "a: [\n"}, "read mkdocs.yml:", ""},
		{"astro_none", generator.Astro, map[string]string{"astro.config.mjs": "", "src/pages/a.astro": "<p>"}, "found no component with a <head> in src", ""},
		{"docusaurus", generator.Docusaurus, map[string]string{"docusaurus.config.ts": "export default {}"}, "docusaurus.config.ts: the configuration is a program",
			"headTags: [{tagName: 'link', attributes: {rel: 'pingback', href: 'https://blog.example/x?a=1&b=2'}}, {tagName: 'link', attributes: {rel: 'webmention', href: 'https://blog.example/wm'}}],"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := newProject(t, c.files)
			if c.name == "symbolic_link_out" {
				out := filepath.Join(t.TempDir(), "baseof.html")
				if err := os.WriteFile(out, []byte(baseof), 0o644); err != nil {
					t.Fatal(err)
				}
				root.Remove("layouts/baseof.html")
				if err := os.Symlink(out, filepath.Join(root.Name(), "layouts", "baseof.html")); err != nil {
					t.Fatal(err)
				}
				c.want, c.paste = "layouts/baseof.html: a symbolic link leads out of the project", call
			}
			before := hashOf(t, root)
			opt := blog
			opt.Generator = c.generator
			plan, err := Find(root, opt)
			if err == nil {
				err = plan.Apply()
				if err != nil && err.Error() != plan.Err().Error() {
					t.Errorf("Apply returns %v, the plan %v", err, plan.Err())
				}
				if plan.Clean() || len(plan.Diff()) > 0 {
					t.Errorf("refused, but the plan has changes: %s", plan.Diff())
				}
				if len(plan.Refusals) > 0 && c.paste != "" && !strings.Contains(plan.Refusals[0].Paste, c.paste) {
					t.Errorf("to paste %q, want %q", plan.Refusals[0].Paste, c.paste)
				}
				for _, r := range plan.Refusals {
					if r.Next == "" {
						t.Errorf("%v: no next step", r)
					}
				}
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if hashOf(t, root) != before {
				t.Error("something was written")
			}
		})
	}
}

// A file without write permission is not changed, even by root.
func TestReadOnly(t *testing.T) {
	root := newProject(t, map[string]string{"hugo.toml": config, "layouts/baseof.html": baseof})
	if err := root.Chmod("layouts/baseof.html", 0o444); err != nil {
		t.Fatal(err)
	}
	before := hashOf(t, root)
	err := mustFind(t, root, blog).Apply()
	if err == nil || !strings.Contains(err.Error(), "layouts/baseof.html: the file is read-only") || hashOf(t, root) != before {
		t.Errorf("%v", err)
	}
}
