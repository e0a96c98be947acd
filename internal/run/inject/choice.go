package inject

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/templates"
)

// pages writes a [templates.Choice] as conditions in template languages.
type pages templates.Choice

func (p pages) has(kind string) bool {
	return slices.Contains(p.Kinds, kind) || len(p.Kinds) == 0 && kind != "list"
}

// hugo returns the content of a partial: the elements under the condition that
// the page is chosen. Error pages are of another kind.
func (p pages) hugo(elements string) string {
	var kinds []string
	for _, k := range []struct{ kind, hugo string }{{"home", `"home"`}, {"page", `"page"`}, {"list", `"section" "taxonomy" "term" "taxonomyTerm"`}} {
		if p.has(k.kind) {
			kinds = append(kinds, k.hugo)
		}
	}
	var b strings.Builder
	condition := "in (slice " + strings.Join(kinds, " ") + ") .Kind"
	if len(p.Pages)+len(p.Exclude) > 0 {
		// Patterns match the path of the built file.
		b.WriteString("\n{{- $path := strings.TrimPrefix \"/\" (strings.TrimPrefix (printf \"%s\" .Site.BaseURL) .Permalink) -}}\n")
		b.WriteString("{{- if or (eq $path \"\") (strings.HasSuffix $path \"/\") }}{{ $path = printf \"%sindex.html\" $path }}{{ end -}}\n")
		condition = "and (" + condition + ")"
		if len(p.Pages) > 0 {
			condition += fmt.Sprintf(" (findRE %s $path 1)", goQuote(patterns(p.Pages)))
		}
		if len(p.Exclude) > 0 {
			condition += fmt.Sprintf(" (not (findRE %s $path 1))", goQuote(patterns(p.Exclude)))
		}
	}
	b.WriteString("\n{{- if " + condition + " -}}\n" + elements + "\n{{- end -}}\n")
	return b.String()
}

// other returns the elements under the condition that the page is chosen, for
// generators other than Hugo. Error pages are known by their address. Only Zola and
// Jekyll distinguish lists of pages from other pages.
func (p pages) other(g generator.Templates, l language, elements string) string {
	home, page, list := p.has("home"), p.has("page"), p.has("list")
	var conditions []string // nested, because Liquid has no parentheses
	add := func(is bool, condition string) {
		if is {
			conditions = append(conditions, condition)
		}
	}
	switch {
	case l == astro:
		const path, base = "Astro.url.pathname", "import.meta.env.BASE_URL"
		isHome := path + ".replace(/\\/?$/, '/') === " + base + ".replace(/\\/?$/, '/')"
		add(true, "!/\\/404(\\.html|\\/)?$/.test("+path+")")
		add(!home, "!("+isHome+")")
		add(home && !page && !list, isHome)
		return "{" + strings.Join(conditions, " && ") + " && <Fragment set:html={" + strconv.Quote(elements) + "} />}"
	case g == generator.Tera: // in Tera, undefined names are false
		var kinds []string
		for _, k := range []struct{ kind, tera string }{{"home", `current_path == "/"`}, {"page", "page"}, {"list", `section and current_path != "/"`}, {"list", "taxonomy"}, {"list", "term"}} {
			if p.has(k.kind) {
				kinds = append(kinds, k.tera)
			}
		}
		add(true, "current_path")
		add(true, strings.Join(kinds, " or "))
		add(!home, `current_path != "/"`)
	case g == generator.Jinja:
		add(true, "page")
		add(!home, "not page.is_homepage")
		add(home && !page, "page.is_homepage")
	default: // Jekyll and Eleventy
		add(true, `page.url and page.url != "/404.html" and page.url != "/404/"`)
		add(!home, `page.url != "/" and page.url != "/index.html"`)
		add(home && !page && !list, `page.url == "/" or page.url == "/index.html"`)
		add(g == generator.Liquid && !list, "paginator.page == nil or paginator.page == 1")
		add(g == generator.Liquid && !page && list, `paginator.page or page.url == "/"`)
	}
	return "{% if " + strings.Join(conditions, " %}{% if ") + " %}" + elements + strings.Repeat("{% endif %}", len(conditions))
}

// goQuote quotes a regular expression for a template, as a raw string if
// possible.
func goQuote(s string) string {
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	return fmt.Sprintf("%q", s)
}

// patterns returns one regular expression for all patterns.
func patterns(globs []string) string {
	var all []string
	for _, g := range globs {
		all = append(all, globRegexp(g))
	}
	return "^(?:" + strings.Join(all, "|") + ")$"
}

// globRegexp translates a doublestar pattern into a regular expression.
// Generators use the paths of URLs, so it also matches the percent-encoded form
// of spaces and non-ASCII letters.
func globRegexp(glob string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(glob); {
		c := glob[i]
		switch {
		case strings.HasPrefix(glob[i:], "**/") && (i == 0 || glob[i-1] == '/'):
			b.WriteString("(?:.*/)?")
			i += 3
			continue
		case strings.HasPrefix(glob[i:], "/**") && i+3 == len(glob):
			b.WriteString("(?:/.*)?")
			i += 3
			continue
		case glob == "**":
			b.WriteString(".*")
			i += 2
			continue
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c == '[':
			end := strings.IndexByte(glob[i+1:], ']')
			if end < 0 {
				b.WriteString(`\[`)
				break
			}
			class := glob[i+1 : i+1+end]
			if strings.HasPrefix(class, "!") {
				class = "^" + class[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(class, `\`, `\\`) + "]")
			i += end + 2
			continue
		case c == '{':
			b.WriteString("(?:")
			depth++
		case c == '}' && depth > 0:
			b.WriteString(")")
			depth--
		case c == ',' && depth > 0:
			b.WriteString("|")
		case c == '\\' && i+1 < len(glob):
			i++
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		default:
			r, n := utf8.DecodeRuneInString(glob[i:])
			letter := glob[i : i+n]
			if r >= utf8.RuneSelf || letter == " " {
				escaped := url.PathEscape(letter)
				b.WriteString("(?:" + regexp.QuoteMeta(letter) + "|" + escaped + "|" + strings.ToLower(escaped) + ")")
			} else {
				b.WriteString(regexp.QuoteMeta(letter))
			}
			i += n
			continue
		}
		i++
	}
	return b.String()
}
