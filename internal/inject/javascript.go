package inject

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/layout"
)

// eleventyDir matches the directories in the configuration, which is a program.
var eleventyDir = regexp.MustCompile(`\b(input|includes|layouts)["']?\s*:\s*["']([^"']+)["']|\bset(Input|Includes|Layouts)Directory\(\s*["']([^"']+)["']`)

// findEleventy uses the project's layouts in Nunjucks, Liquid and HTML.
func findEleventy(p *project) (finding, error) {
	dirs := map[string]string{"input": ".", "includes": "_includes", "layouts": ""}
	for _, name := range []string{"eleventy.config.js", "eleventy.config.mjs", "eleventy.config.cjs", "eleventy.config.ts", ".eleventy.js"} {
		text, err := disk.ReadFS(p.tree, name, maxTemplate)
		if err != nil {
			continue
		}
		for _, m := range eleventyDir.FindAllSubmatch(text, -1) {
			dirs[strings.ToLower(string(m[1])+string(m[3]))] = string(m[2]) + string(m[4])
		}
		break
	}
	input := path.Clean(dirs["input"])
	if !fs.ValidPath(input) {
		input = "."
	}
	places := []string{path.Join(input, dirs["includes"])}
	if dirs["layouts"] != "" {
		places = append(places, path.Join(input, dirs["layouts"]))
	}
	places = slices.DeleteFunc(places, func(dir string) bool { return !fs.ValidPath(dir) || dir == "." })

	all := finding{}
	others := 0
	for _, lang := range []struct {
		of      layout.Language
		endings []string
		inner   func(xhtml bool) (string, error)
	}{
		{layout.Jinja, []string{".njk"}, func(xhtml bool) (string, error) {
			return pages(p.opt.Choice).nunjucks(p.opt.Endpoints.HTML(xhtml)), nil
		}},
		{layout.Liquid, []string{".liquid", ".html"}, func(xhtml bool) (string, error) {
			return pages(p.opt.Choice).liquid(p.opt.Endpoints.HTML(xhtml), false)
		}},
	} {
		s := newSearch(p, lang.of, p.from(lang.of, places, lang.endings...), lang.inner)
		for _, dir := range places {
			s.roots(p.list(dir, lang.endings...))
		}
		if len(s.edits)+len(s.refusals) > 0 {
			f := s.finding("")
			all.edits, all.refusals = append(all.edits, f.edits...), append(all.refusals, f.refusals...)
		}
	}
	for _, dir := range places {
		others += len(p.list(dir, ".webc", ".11ty.js", ".ejs", ".hbs", ".pug", ".vto"))
	}
	if len(all.edits)+len(all.refusals) == 0 {
		reason := "found no layout with a <head> in " + strings.Join(places, " or ")
		if others > 0 {
			reason += "; inject supports layouts in Nunjucks, Liquid and HTML"
		}
		all.refusals = []Refusal{{Reason: reason, Next: nextBuilt}}
	}
	return all, nil
}

// nunjucks returns the elements under the condition that the page is chosen.
// Eleventy does not distinguish lists from other pages.
func (p pages) nunjucks(elements string) string {
	conditions := []string{`page.url`, `page.url != "/404.html"`, `page.url != "/404/"`}
	switch {
	case !p.has("home"):
		conditions = append(conditions, `page.url != "/"`)
	case !p.has("page") && !p.has("list"):
		conditions = append(conditions, `page.url == "/"`)
	}
	open, end := "{% if "+strings.Join(conditions, " and ")+" %}", "{% endif %}"
	if len(p.Pages)+len(p.Exclude) > 0 {
		open += `{% set sitelinkPath = (page.url + "index.html" if page.url.endsWith("/") else page.url).slice(1) %}`
	}
	for _, c := range []struct {
		globs []string
		not   string
	}{{p.Pages, ""}, {p.Exclude, "not "}} {
		if len(c.globs) > 0 {
			open += fmt.Sprintf(`{%% set sitelinkPattern = r/%s/ %%}{%% if %ssitelinkPattern.test(sitelinkPath) %%}`, strings.ReplaceAll(patterns(c.globs), "/", `\/`), c.not)
			end += "{% endif %}"
		}
	}
	return open + elements + end
}

// findAstro uses the <head> of the project's layouts, pages and components. It
// reads each component alone, because imports are program code.
func findAstro(p *project) (finding, error) {
	s := newSearch(p, layout.Astro, func(string, string) (layout.Source, bool) { return layout.Source{}, false }, func(xhtml bool) (string, error) {
		return pages(p.opt.Choice).astro(p.opt.Endpoints.HTML(xhtml)), nil
	})
	s.roots(p.list("src", ".astro"))
	return s.finding("found no component with a <head> in src"), nil
}

// astro returns the elements under the condition that the page is chosen, as an
// expression. Astro does not distinguish lists from other pages.
func (p pages) astro(elements string) string {
	const path = "Astro.url.pathname"
	conditions := []string{"!/\\/404(\\.html|\\/)?$/.test(" + path + ")"}
	home := path + ".replace(/\\/?$/, '/') === import.meta.env.BASE_URL.replace(/\\/?$/, '/')"
	switch {
	case !p.has("home"):
		conditions = append(conditions, "!("+home+")")
	case !p.has("page") && !p.has("list"):
		conditions = append(conditions, home)
	}
	file := path + ".slice(import.meta.env.BASE_URL.replace(/\\/?$/, '/').length).replace(/(^|\\/)$/, '$1index.html')"
	for _, c := range []struct {
		globs []string
		not   string
	}{{p.Pages, ""}, {p.Exclude, "!"}} {
		if len(c.globs) > 0 {
			conditions = append(conditions, fmt.Sprintf("%s/%s/.test(%s)", c.not, strings.ReplaceAll(patterns(c.globs), "/", `\/`), file))
		}
	}
	return "{" + strings.Join(conditions, " && ") + " && <Fragment set:html={" + strconv.Quote(elements) + "} />}"
}

// findDocusaurus returns a refusal with the text to paste: the configuration is
// a program, and Docusaurus has no template for the head.
func findDocusaurus(p *project) (finding, error) {
	name := ""
	for _, n := range []string{"docusaurus.config.ts", "docusaurus.config.js", "docusaurus.config.mjs"} {
		if _, err := fs.Stat(p.tree, n); err == nil {
			name = n
			break
		}
	}
	text, err := disk.ReadFS(p.tree, name, maxTemplate)
	if err != nil {
		return finding{}, fmt.Errorf("read %s: %w", name, disk.Cause(err))
	}
	e := p.opt.Endpoints
	var tags, missing []string
	for _, tag := range []struct{ rel, uri string }{{"pingback", e.Pingback}, {"webmention", e.Webmention}} {
		if tag.uri == "" {
			continue
		}
		tags = append(tags, fmt.Sprintf("{tagName: 'link', attributes: {rel: '%s', href: '%s'}}", tag.rel, strings.ReplaceAll(tag.uri, "'", "%27")))
		if !strings.Contains(string(text), "'"+tag.uri+"'") && !strings.Contains(string(text), `"`+tag.uri+`"`) {
			missing = append(missing, tag.rel)
		}
	}
	if len(missing) == 0 {
		return finding{notes: []string{name + " has the endpoints; sitelink check verifies the built pages"}}, nil
	}
	return finding{refusals: []Refusal{{Path: name, Reason: "the configuration is a program, which sitelink does not change",
		Next: "paste this into the object config", Paste: "headTags: [" + strings.Join(tags, ", ") + "],"}}}, nil
}
