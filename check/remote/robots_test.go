package remote

import (
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestRobots names the sections of RFC 9309.
func TestRobots(t *testing.T) {
	for _, c := range []struct {
		name, text, path string
		want             bool
	}{
		{"empty", "", "/x", true},
		{"2.2.1/own group", "User-agent: *\nDisallow: /\n\nUser-agent: SiteLink\nDisallow: /private", "/x", true},
		{"2.2.1/own group refuses", "User-agent: *\nDisallow:\n\nUser-agent: sitelink/1.0\nDisallow: /private", "/private/x", false},
		{"2.2.1/groups are joined", "User-agent: sitelink\nDisallow: /a\n\nUser-agent: other\nDisallow: /\n\nUser-agent: sitelink\nDisallow: /b", "/b", false},
		{"2.2.1/several agents", "User-agent: other\nUser-agent: sitelink\nDisallow: /a", "/a", false},
		{"2.2.1/longer name", "User-agent: sitelinkbot\nDisallow: /", "/x", true},
		{"2.2.1/empty group", "User-agent: *\nDisallow: /\nUser-agent: sitelink\nDisallow:", "/x", true},
		{"2.2.1/no group", "Disallow: /", "/x", true},
		{"2.2.2/longest match", "User-agent: *\nDisallow: /\nAllow: /p", "/page", true},
		{"2.2.2/longest match refuses", "User-agent: *\nAllow: /\nDisallow: /page", "/page", false},
		{"2.2.2/equal", "User-agent: *\nDisallow: /page\nAllow: /page", "/page", true},
		{"2.2.2/case", "User-agent: *\nDisallow: /Page", "/page", true},
		{"2.2.2/query", "User-agent: *\nDisallow: /*?", "/a?b", false},
		{"2.2.2/escaped", "User-agent: *\nDisallow: /foo/bar?baz=http://foo.bar", "/foo/bar?baz=http%3A%2F%2Ffoo.bar", true},
		{"2.2.2/escaped letter", "User-agent: *\nDisallow: /foo/b%61z", "/foo/baz", false},
		{"2.2.2/ctsu", "User-agent: *\nDisallow: /foo/bar/ツ", "/foo/bar/%E3%83%84", false},
		{"2.2.2/ctsu escaped", "User-agent: *\nDisallow: /foo/bar/%e3%83%84", "/foo/bar/%E3%83%84", false},
		{"2.2.2/robots.txt", "User-agent: *\nDisallow: /", "/robots.txt", true},
		{"2.2.3/comment", "User-agent: * # all\nDisallow: /a # b", "/a", false},
		{"2.2.3/end", "User-agent: *\nDisallow: /*.gif$", "/a/b.gif", false},
		{"2.2.3/not the end", "User-agent: *\nDisallow: /*.gif$", "/a/b.gif?x", true},
		{"2.2.3/end without asterisk", "User-agent: *\nDisallow: /a$", "/ab", true},
		{"2.2.3/asterisks", "User-agent: *\nDisallow: /a*b*c", "/aXXbYYc/d", false},
		{"2.2.3/parts in order", "User-agent: *\nDisallow: /a*b*c", "/acb", true},
		{"2.2.3/overlap", "User-agent: *\nDisallow: /*ab*ba$", "/aba", true},
		{"2.2.4/other lines", "Sitemap: https://a.example/s.xml\nUser-agent: *\nCrawl-delay: 10\nDisallow: /a", "/a", false},
		{"2.2/line ends", "User-agent: *\rDisallow: /a\r\nDisallow: /b", "/b", false},
		{"2.2/byte order mark", "\uFEFFUser-agent: *\nDisallow: /a", "/a", false},
		{"2.2/white space", " user-agent\t: *\n\tDISALLOW :\t/a \t", "/a", false},
	} {
		r := parseRobots(c.text, false)
		if got := r.allows(c.path); got != c.want {
			t.Errorf("%s: %q for %q", c.name, c.path, c.text)
		}
	}
}

// RFC 9309 2.5: a file that is cut off counts up to its last whole line, and matching a
// hostile one takes no time to speak of.
func TestRobotsHostile(t *testing.T) {
	testkit.Long(t)
	if r := parseRobots("User-agent: *\nDisallow: /a\nDisallow: /", true); r.allows("/a") || !r.allows("/b") {
		t.Error("the last line of a cut file counts")
	}
	path := "/" + strings.Repeat("a", 8000)
	for _, text := range []string{
		"User-agent: *\nDisallow: /" + strings.Repeat("*a", maxRobots/2) + "$",
		"User-agent: *\nDisallow: /" + strings.Repeat("*ab", maxRobots/3),
		"User-agent: *\n" + strings.Repeat("Disallow: *ab\n", maxRobots/14),
		strings.Repeat("User-agent: x\nUser-agent: *\n", maxRobots/28),
		strings.Repeat("%", maxRobots), strings.Repeat("\x00:\n", maxRobots/3),
	} {
		r := parseRobots(text, false)
		if !r.allows(path) {
			t.Errorf("%.40q refuses", text)
		}
	}
	if r := parseRobots("User-agent: *\nDisallow: /%\nDisallow: /%4", false); r.allows("/%4x") {
		t.Error("broken escapes do not match themselves")
	}
}

func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$\nAllow: /", "/a%20b?c")
	f.Add("User-agent: *\nDisallow: /a-\nAllow: /%61-b", "/a-b")
	f.Fuzz(func(t *testing.T, text, path string) {
		r := parseRobots(text, false)
		if strings.Contains(path, "%") || path == "/robots.txt" {
			r.allows(path)
			return
		}
		escaped := strings.ReplaceAll(strings.ReplaceAll(path, "a", "%61"), "-", "%2d")
		if r.allows(path) != r.allows(escaped) {
			t.Errorf("%q and %q differ", path, escaped)
		}
	})
}
