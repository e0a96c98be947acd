//go:build integration

package redirect

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/weburl"
)

// randomCloudflareLine returns a line of a _redirects file.
func randomCloudflareLine(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	from := ""
	for range r.IntN(4) {
		from += "/" + pick("a", "a", "b", "b", ":x", ":y", "c.html", "a*", "*", "*b", "ü", "a%20b", ":x.html", "x-:y", "index", ":xy", "a(b", "a+b")
	}
	if from == "" || r.IntN(6) == 0 {
		from += "/"
	}
	if r.IntN(20) == 0 {
		from = pick("https://h.example/a", "a", "/a?b=c", "/a#b", "//a")
	}
	to := ""
	for range 1 + r.IntN(3) {
		to += "/" + pick("a", "b", ":x", ":y", ":splat", "z", "index.html", "index", ":x-:y", "q:x", ":splatter", "ü")
	}
	switch r.IntN(8) {
	case 0:
		to = "https://o.example" + to
	case 1:
		to += "?q=" + pick("1", ":splat", ":x")
	case 2:
		to += "#" + pick("1", ":splat")
	case 3:
		to = pick("/", "b", "http://o.example/", "https://h.example/a")
	}
	words := []string{from, to}
	if r.IntN(2) == 0 {
		words = append(words, pick("301", "302", "301!", "200", "303", "404", "308", "307", "abc"))
		if r.IntN(10) == 0 {
			words = append(words, "junk")
		}
	}
	return strings.Join(words, " ")
}

// TestCloudflareOracle compares the rules of _redirects with Cloudflare's own
// parser and asset server, which answers 404 here if no rule applies.
func TestCloudflareOracle(t *testing.T) {
	segments := []string{"a", "a", "b", "b", "c.html", "ab", "x", "xb", "index", "a%20b", "%C3%BC", "b%2Fc", "a+b"}
	cases := randomCases(2000, 2, randomCloudflareLine, segments)
	compareOracle(t, "cloudflare.mjs", cases, func(rules string) func(string) string {
		set := New(Options{}, Cloudflare("_redirects", []byte(rules)))
		return func(target string) string {
			path, query, _ := strings.Cut(target, "?")
			hit, ok := set.Match(Request{Scheme: "https", Host: "h.example", Path: path, Query: query})
			status, to := 404, path
			if ok && strings.HasPrefix(hit.To, "//") {
				// An empty capture made another host of it, which may be none.
				u, err := weburl.Parse("https:" + hit.To)
				if err != nil {
					return "500 ERR_INVALID_URL"
				}
				if hit.Rule.Kind == Redirect {
					return fmt.Sprintf("%d %s", hit.Rule.Status, u)
				}
				hit.To = u.Path()
			}
			if ok {
				// An empty fragment is dropped by the URL parser of the server.
				if to = strings.TrimSuffix(hit.To, "#"); hit.Rule.Kind == Redirect {
					if status = hit.Rule.Status; !weburl.IsWeb(to) || strings.HasPrefix(to, "https://h.example/") {
						to = strings.TrimPrefix(to, "https://h.example")
					}
					return fmt.Sprintf("%d %s", status, to)
				}
				to, _, _ = strings.Cut(to, "#")
				to, _, _ = strings.Cut(to, "?")
			}
			// The asset server looks for the file of this path first.
			to = unescapePath(to)
			if strings.HasSuffix(to, "/") {
				to += "index.html"
			}
			return fmt.Sprintf("%d %s", status, to)
		}
	})
}

// TestSharedOracle: a redirect that Shared keeps is one that the software of both
// hosts makes, to the same place.
func TestSharedOracle(t *testing.T) {
	segments := []string{"a", "a", "b", "b", "c.html", "x"}
	lines := func(r *rand.Rand) string {
		if r.IntN(2) == 0 {
			return randomNetlifyLine(r)
		}
		return randomCloudflareLine(r)
	}
	cases := randomCases(1500, 3, lines, segments)
	for i := range cases {
		cases[i].Rules, _, _ = strings.Cut(cases[i].Rules, "\n") // one rule
		cases[i].Rules += "\n"
	}
	var netlify, cloudflare [][]*oracleAnswer
	oracle(t, "netlify.cjs", cases, &netlify)
	oracle(t, "cloudflare.mjs", cases, &cloudflare)
	kept, differ := 0, 0
	for i, c := range cases {
		set := New(Options{}, Shared("_redirects", []byte(c.Rules)))
		for k, target := range c.Targets {
			path, query, _ := strings.Cut(target, "?")
			hit, ok := set.Match(Request{Scheme: "https", Host: "h.example", Path: path, Query: query, Stage: AfterFiles})
			if !ok || hit.Rule.Kind != Redirect {
				continue
			}
			kept++
			n, cf := netlify[i][k], cloudflare[i][k]
			if n == nil || cf == nil || n.Status < 300 || cf.Status < 300 {
				if differ++; differ <= 10 {
					t.Errorf("%q, request %q: redirected to %s, but Netlify answers %v and Cloudflare %v", c.Rules, target, hit.To, n, cf)
				}
			}
		}
	}
	if kept < 300 {
		t.Errorf("only %d redirects compared: the cases test nothing", kept)
	}
	t.Logf("%d redirects compared, %d differ", kept, differ)
}
