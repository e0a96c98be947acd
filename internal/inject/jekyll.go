package inject

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/layout"
)

// jekyllStubs has the empty includes that themes leave to their users.
var jekyllStubs = []Theme{
	{"minima", "custom-head.html"},
	{"minimal-mistakes-jekyll", "head/custom.html"},
	{"minimal-mistakes", "head/custom.html"},
	{"just-the-docs", "head_custom.html"},
	{"jekyll-theme-chirpy", "metadata-hook.html"},
}

// findJekyll uses the project's head include, otherwise the stub of its theme,
// otherwise the project's layouts.
func findJekyll(p *project) (finding, error) {
	var config map[string]any
	for _, name := range []string{"_config.yml", "_config.yaml", "_config.toml"} {
		c, err := generator.Document(p.tree, name)
		if err == nil {
			config = c
			break
		}
		if _, missing := fs.Stat(p.tree, name); missing == nil {
			return finding{}, err
		}
	}
	dir := func(key, usual string) string {
		if text := path.Clean(textAt(config, key)); text != "." && fs.ValidPath(text) {
			return text
		}
		return usual
	}
	source := dir("source", ".")
	includes, layouts := path.Join(source, dir("includes_dir", "_includes")), path.Join(source, dir("layouts_dir", "_layouts"))
	s := newSearch(p, layout.Liquid, p.from(layout.Liquid, []string{includes}), func(xhtml bool) (string, error) {
		return pages(p.opt.Choice).liquid(p.opt.Endpoints.HTML(xhtml), true)
	})
	head := path.Join(includes, "head.html")
	theme, remote := textAt(config, "theme"), textAt(config, "remote_theme")
	stub := ""
	if name := path.Base(cutVersion(remote + theme)); name != "." {
		stub = stubIn(jekyllStubs, name)
		if name == "minima" && remote == "" && !p.newMinima() {
			stub = "" // added in 3.0
		}
		if own := stubIn(p.opt.Themes, name); own != "" {
			stub = own
		}
	}
	if p.has(head, layout.Liquid) { // it overrides the theme's
		s.root(head, true)
	}
	if stub != "" && s.heads == 0 {
		inner, err := s.inner(false)
		if err != nil {
			s.refuse(Refusal{Reason: err.Error(), Next: nextPatterns})
		} else {
			s.create(path.Join(includes, stub), inner, "stub "+stub+" of the theme "+path.Base(cutVersion(remote+theme)))
		}
	}
	if len(s.edits) == 0 || s.heads > 0 {
		s.roots(p.list(layouts, ".html"))
	}
	none := "found no layout with a <head> in " + layouts
	if theme+remote != "" {
		none += fmt.Sprintf(", and the theme %s has no include for additions to the head", theme+remote)
	}
	return s.finding(none), nil
}

func cutVersion(name string) string {
	name, _, _ = strings.Cut(name, "@")
	return name
}

func stubIn(rows []Theme, name string) string {
	for _, row := range rows {
		if strings.EqualFold(row.Name, name) {
			return row.Stub
		}
	}
	return ""
}

var minimaVersion = regexp.MustCompile(`(?m)minima[" ,'(~>=]+([0-9]+)\.|minima["'].*(git|github|path):`)

// newMinima reports whether the Gemfile requires a version of minima that has the
// stub: 3.0 or later, or one from its repository.
func (p *project) newMinima() bool {
	for _, name := range []string{"Gemfile.lock", "Gemfile"} {
		data, err := disk.ReadFS(p.tree, name, maxTemplate)
		if err != nil {
			continue
		}
		if m := minimaVersion.FindSubmatch(data); m != nil {
			return len(m[1]) == 0 || string(m[1]) >= "3" || len(m[1]) > 1
		}
	}
	return false
}

// liquid returns the elements under the condition that the page is chosen, for
// Jekyll and Eleventy, in which page.url is the path below the base URL. Only in
// Jekyll a page with a number greater than 1 is a list: Eleventy also paginates
// other pages.
func (p pages) liquid(elements string, jekyll bool) (string, error) {
	var open, end string
	add := func(condition string) {
		open += "{% if " + condition + " %}"
		end += "{% endif %}"
	}
	add(`page.url and page.url != "/404.html" and page.url != "/404/"`)
	switch {
	case !p.has("home"):
		add(`page.url != "/" and page.url != "/index.html"`)
	case !p.has("page") && !p.has("list"):
		add(`page.url == "/" or page.url == "/index.html"`)
	}
	switch {
	case jekyll && !p.has("list"):
		add(`paginator.page == nil or paginator.page == 1`)
	case jekyll && !p.has("page"):
		add(`paginator.page or page.url == "/"`)
	}
	begin, whole, err := prefixes(p.Pages)
	if err != nil {
		return "", err
	}
	if len(p.Pages) > 0 {
		open += "{% assign sitelink = false %}" + liquidTests(begin, whole, "true")
		add("sitelink")
	}
	if begin, whole, err = prefixes(p.Exclude); err != nil {
		return "", err
	}
	if len(p.Exclude) > 0 {
		open += "{% assign sitelink = true %}" + liquidTests(begin, whole, "false")
		add("sitelink")
	}
	return open + elements + end, nil
}

// liquidTests returns code that sets a variable to value if the page's path has
// one of the prefixes or is one of the paths.
func liquidTests(begin, whole []string, value string) string {
	var b strings.Builder
	for _, text := range begin {
		fmt.Fprintf(&b, `{%% assign sitelink_part = page.url | slice: 0, %d %%}{%% if sitelink_part == "%s" %%}{%% assign sitelink = %s %%}{%% endif %%}`, len([]rune(text)), text, value)
	}
	for _, text := range whole {
		fmt.Fprintf(&b, `{%% if page.url == "%s" %%}{%% assign sitelink = %s %%}{%% endif %%}`, text, value)
	}
	return b.String()
}
