package crawl

import (
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
)

// patternOf returns what an address has in common with those that a server makes up without end,
// as a linkset that includes them; "" if it looks like none of these. made: the differences are
// values of a query or a session, or the path goes in a circle.
func patternOf(key string) (pattern string, made bool) {
	where, query, has := strings.Cut(key, "?")
	var out []string
	times := map[string]int{}
	for name := range strings.SplitSeq(where, "/") {
		if times[name]++; times[name] > 2 && name != "" {
			return strings.Join(append(out, "@"), "/"), true
		}
		if name, _, ok := strings.Cut(name, "="); ok { // ;jsessionid=1
			out, made = append(out, name+"=#"), true
			continue
		}
		hasDigit := strings.ContainsAny(name, "0123456789")
		switch {
		case hasDigit && len(name) >= 16 && !strings.Contains(name, "-") && !strings.Contains(name, "."):
			out, made = append(out, "#"), true
		case hasDigit:
			out = append(out, numbers(name))
		default:
			out = append(out, name)
		}
	}
	pattern = strings.Join(out, "/")
	if has {
		var keys []string
		for pair := range strings.SplitSeq(query, "&") {
			k, _, _ := strings.Cut(pair, "=")
			keys = append(keys, numbers(k))
		}
		slices.Sort(keys)
		return pattern + "?" + strings.Join(slices.Compact(keys), "&"), true
	}
	if pattern == where {
		return "", false
	}
	return pattern, made
}

var digits = text.Regexp("[0-9]+")

// numbers replaces the numbers in a name by #.
func numbers(name string) string { return digits().ReplaceAllString(name, "#") }
