package inject

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sitelink/sitelink/templates"
)

// pages writes a [templates.Choice] as conditions in template languages.
type pages templates.Choice

// kinds returns the chosen kinds in a fixed order.
func (p pages) kinds() []string {
	if len(p.Kinds) == 0 {
		return []string{"home", "page"}
	}
	var kinds []string
	for _, kind := range []string{"home", "page", "list"} {
		if slices.Contains(p.Kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func (p pages) has(kind string) bool { return slices.Contains(p.kinds(), kind) }

// hugoKinds has Hugo's kinds of pages for each kind of sitelink. Error pages are
// of another kind.
var hugoKinds = map[string][]string{
	"home": {"home"},
	"page": {"page"},
	"list": {"section", "taxonomy", "term", "taxonomyTerm"},
}

// hugo returns the content of a partial: the elements under the condition that
// the page is chosen.
func (p pages) hugo(elements string) string {
	var kinds []string
	for _, kind := range p.kinds() {
		for _, k := range hugoKinds[kind] {
			kinds = append(kinds, `"`+k+`"`)
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
