//go:build integration

package redirect

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// randomNetlifyLine returns a line of a _redirects file.
func randomNetlifyLine(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	from := ""
	for range r.IntN(4) {
		from += "/" + pick("a", "a", "b", "b", ":x", ":y", "c.html", "a*", "*", "ü", "a%20b", ":x.html", "x-:y")
	}
	if r.IntN(3) == 0 {
		from += "/*"
	}
	if from == "" || r.IntN(6) == 0 {
		from += "/"
	}
	for strings.Count(from, "*") > 1 {
		from = strings.Replace(from, "*", "", 1) // no documentation defines what each of two matches
	}
	for strings.Contains(from, "//") {
		from = strings.ReplaceAll(from, "//", "/")
	}
	words := []string{from}
	if r.IntN(8) == 0 {
		words[0] = pick("https://h.example", "http://h.example", "https://o.example") + from
	}
	for range max(0, r.IntN(6)-3) {
		words = append(words, pick("id=:id", "id=1", "x=y", "x=:x", "id=:y", "x", "id="))
	}
	to := ""
	for range 1 + r.IntN(3) {
		to += "/" + pick("a", "b", ":x", ":y", ":splat", ":id", "z", "index.html", ":x-:y", "q:x", ":splatter")
	}
	switch r.IntN(8) {
	case 0:
		to = "https://o.example" + to
	case 1:
		to += "?q=" + pick("1", ":splat", ":id", ":x")
	case 2:
		to = "https://h.example" + to
	case 3:
		to = "/"
	}
	if r.IntN(20) > 0 {
		words = append(words, to)
	}
	if r.IntN(2) == 0 {
		words = append(words, pick("301", "302", "301!", "200", "200!", "404", "410", "307", "abc", "302!"))
		if r.IntN(10) == 0 {
			words = append(words, pick("junk", "Sign=K", "# comment"))
		}
	}
	return strings.Join(words, " ")
}

// TestNetlifyOracle compares the rules of _redirects with Netlify's own parser
// and matcher.
func TestNetlifyOracle(t *testing.T) {
	segments := []string{"a", "a", "b", "b", "c.html", "ab", "x", "index.html", "a%20b", "%C3%BC", "b%2Fc"}
	cases := randomCases(2000, 1, randomNetlifyLine, segments)
	compareOracle(t, "netlify.cjs", cases, func(rules string) func(string) string {
		f := Netlify("_redirects", []byte(rules))
		for i := range f.Rules {
			// The matcher returns the destination; the query is passed on
			// later, by the server.
			f.Rules[i].flags &^= keepsQuery
		}
		return answersOf(f, AfterFiles)
	})
}
