package inject

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/layout"
)

// findAstro takes the <head> of the project's layouts, pages and components.
// Components are read one by one: what they import is a program.
func findAstro(p *project) (finding, error) {
	s := newSearch(p, layout.Astro, func(string, string) (layout.Source, bool) { return layout.Source{}, false }, func(xhtml bool) (string, error) {
		return pages(p.opt.Choice).astro(p.opt.Endpoints.HTML(xhtml)), nil
	})
	s.roots(p.list("src", ".astro"))
	return s.finding("no component with a <head> is found in src"), nil
}

// astro returns the elements under the condition that the page is chosen, as an
// expression. Astro does not tell lists from pages of content.
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
