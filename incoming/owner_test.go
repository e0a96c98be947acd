package incoming

import (
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestOwner: a host belongs to one author, except where many people share it.
func TestOwner(t *testing.T) {
	for url, want := range map[string]string{
		"https://alice.github.io/post":               "alice.github.io",
		"http://Alice.Example:8080/a?b":              "alice.example",
		"https://alice.wordpress.com/2026/01/hello/": "alice.wordpress.com",
		"https://medium.com/@alice/title-1":          "https://medium.com/%40alice/",
		"https://medium.com/publication/title-1":     "https://medium.com/publication/",
		"https://social.example/@alice/12":           "https://social.example/%40alice/",
		"https://tilde.example:8443/%7Ealice/x.html": "https://tilde.example:8443/~alice/",
		"http://github.com/alice/repo":               "https://github.com/alice/",
		"https://bsky.app/profile/alice/post/1":      "https://bsky.app/profile/alice/",
		"https://bsky.app/about":                     "bsky.app",
		"https://github.com/":                        "github.com",
		"https://news.ycombinator.com/item?id=1":     "news.ycombinator.com",
		"http://[2001:db8::1]:80/":                   "2001:db8::1",
		"ftp://alice.example/":                       "",
		"/post":                                      "",
	} {
		got := Owner(url)
		if got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
		if got == "" {
			continue
		}
		pattern, err := ParsePattern(got)
		if err != nil || pattern != got {
			t.Errorf("%q is not a pattern: %q, %v", got, pattern, err)
		}
		if u := compileRules([]Rule{{Pattern: got, Verdict: Block}}); u.verdict(mustCanonical(t, url)) != Block {
			t.Errorf("a rule about %q does not match %s", got, url)
		}
	}
	rules := compileRules([]Rule{{Pattern: "https://social.example/@alice/", Verdict: Trust}})
	for url, want := range map[string]Verdict{"https://social.example/@alice": Trust, "http://social.example/@alice/1": Trust, "https://social.example/@alice2": ""} {
		if got := rules.verdict(mustCanonical(t, url)); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

func mustCanonical(t *testing.T, url string) string {
	t.Helper()
	text := testkit.Must(canonical(url))(t)
	return text
}

// TestSameAuthor: which mentions a reader would attribute to one author, and what
// a stranger can claim.
func TestSameAuthor(t *testing.T) {
	for _, c := range []struct {
		name                          string
		known, knownAuthor, m, author string
		want                          bool
	}{
		{"one host", "https://a.example/1", "", "https://a.example/2", "", true},
		{"two hosts", "https://a.example/1", "", "https://b.example/2", "", false},
		{"users of a host that gives names", "https://alice.github.io/1", "", "https://mallory.github.io/1", "", false},
		{"users of a shared host", "https://medium.com/@alice/1", "", "https://medium.com/@mallory/1", "", false},
		{"one user of a shared host", "https://medium.com/@alice/1", "", "https://medium.com/@alice/2", "", true},
		{"a claimed author at a shared host", "https://dev.to/alice/1", "https://dev.to/alice", "https://dev.to/mallory/1", "https://dev.to/alice", false},
		{"home directories", "https://tilde.example/~alice/1", "", "https://tilde.example/~mallory/1", "", false},
		{"no author in the path", "https://news.ycombinator.com/item?id=1", "", "https://news.ycombinator.com/item?id=2", "", false},
		{"a service that names authors elsewhere", "https://brid.gy/comment/1", "https://social.example/@alice", "https://brid.gy/comment/2", "https://social.example/@alice", false},
		{"authors of one blog", "https://blog.example/1", "https://blog.example/author/alice/", "https://blog.example/2", "https://blog.example/author/bob", false},
		{"one author of a blog", "https://blog.example/1", "https://blog.example/author/alice/", "http://blog.example/2", "http://blog.example/author/alice", true},
		{"a blog that names no author", "https://blog.example/1", "https://blog.example/author/alice/", "https://blog.example/2", "", true},
		{"a claimed author elsewhere", "https://alice.example/1", "https://alice.example/", "https://mallory.example/1", "https://alice.example/", false},
		{"an author elsewhere proves nothing", "https://blog.example/1", "https://alice.example/", "https://blog.example/2", "https://bob.example/", true},
		{"not a URL", "x", "", "x", "", false},
	} {
		known, m := &Mention{Source: c.known, Author: Author{URL: c.knownAuthor}}, &Mention{Source: c.m, Author: Author{URL: c.author}}
		if got := sameAuthor(m, known); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if sameAuthor(m, known) != sameAuthor(known, m) {
			t.Errorf("%s: it depends on the order", c.name)
		}
	}
}

// TestRedirected: a redirect lends neither trust nor a good name to another host,
// and does not hide one that is blocked.
func TestRedirected(t *testing.T) {
	rules := compileRules([]Rule{{Pattern: "friend.example", Verdict: Trust}, {Pattern: "spam.example", Verdict: Block}})
	for _, c := range []struct {
		from, to string
		want     Verdict
	}{
		{"https://friend.example/", "https://friend.example/new", Trust},
		{"https://friend.example/", "https://www.friend.example/", Trust},
		{"https://friend.example/go?to=x", "https://other.example/x", Hold},
		{"https://friend.example/go?to=x", "https://spam.example/x", Block},
		{"https://short.example/x", "https://spam.example/x", Block},
		{"https://short.example/x", "https://other.example/x", ""},
		{"https://short.example/x", "", ""},
	} {
		if got := rules.redirected(c.from, c.to, rules.verdict(c.from)); got != c.want {
			t.Errorf("%s to %s: %q, want %q", c.from, c.to, got, c.want)
		}
	}
}
