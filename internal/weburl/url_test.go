package weburl

import (
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

func mustParse(t *testing.T, raw string) URL {
	t.Helper()
	if raw == "" {
		return URL{}
	}
	u := testkit.Must(Parse(raw))(t)
	return u
}

func TestResolve(t *testing.T) {
	const page = "http://www.example.com/d/p.html?pq#pf"
	for _, c := range []struct {
		name, base, ref, want string
		notes                 Note
	}{
		{"LL-36/relative to the base", "http://other.example/q/", "r.html", "http://other.example/q/r.html", 0},
		{"LL-36/rooted", "http://other.example/q/", "/s.html", "http://other.example/s.html", 0},
		{"LL-36/scheme from the base", "https://other.example/q/", "//h.example/x", "https://h.example/x", NoteSlashes},

		{"LL-64/name", "http://h/sub/a.html", "b.html", "http://h/sub/b.html", 0},
		{"LL-64/dot", "http://h/sub/a.html", "./b.html", "http://h/sub/b.html", 0},
		{"LL-64/rooted", "http://h/sub/a.html", "/sub/b.html", "http://h/sub/b.html", 0},
		{"LL-64/dot-dot", "http://h/sub/a.html", "x/../b.html", "http://h/sub/b.html", 0},
		{"LL-64/absolute", "http://h/sub/a.html", "http://h/sub/b.html", "http://h/sub/b.html", 0},
		{"LL-64/scheme without slashes", "http://h/sub/a.html", "http:b.html", "http://h/sub/b.html", 0},
		{"LL-64/another scheme, one slash", "https://h/sub/a.html", "http:/x/b.html", "http://x/b.html", NoteSlashes},
		{"LL-64/the scheme, one slash", "https://h/sub/a.html", "https:/x/b.html", "https://h/x/b.html", 0},
		{"LL-64/three slashes", "https://h/sub/a.html", "https:///x/b.html", "https://x/b.html", NoteSlashes},
		{"LL-64/spaces around", "http://h/sub/a.html", " \n b.html\t", "http://h/sub/b.html", 0},

		{"LL-65/full path", page, "http://www.example.com/x/y.html#f", "http://www.example.com/x/y.html#f", 0},
		{"LL-65/bare host", page, "http://www.example.com", "http://www.example.com/", 0},
		{"LL-65/bare host, query", page, "http://www.example.com?q", "http://www.example.com/?q", 0},
		{"LL-65/host in capitals", page, "HTTP://WWW.Example.COM:80", "http://www.example.com/", 0},

		{"LL-70/dot", page, "/a/./b", "http://www.example.com/a/b", 0},
		{"LL-70/dot-dot", page, "/a/b/../c", "http://www.example.com/a/c", 0},
		{"LL-70/dot-dot at the end", page, "y/..", "http://www.example.com/d/", 0},
		{"LL-70/dot at the end", page, "y/.", "http://www.example.com/d/y/", 0},
		{"LL-70/one-character name", page, "./a", "http://www.example.com/d/a", 0},
		{"LL-70/up", page, "..", "http://www.example.com/", 0},
		{"LL-70/up to a name", page, "../a", "http://www.example.com/a", 0},
		{"LL-70/above the root", page, "../../../a", "http://www.example.com/a", NoteAboveRoot},
		{"LL-70/above the root, rooted", page, "/../a", "http://www.example.com/a", NoteAboveRoot},
		{"LL-70/encoded dots", page, "%2e%2E/.%2e/a", "http://www.example.com/a", NoteAboveRoot},
		{"LL-70/three dots are a name", page, ".../a", "http://www.example.com/d/.../a", 0},
		{"LL-70/dot file", page, ".well-known/a", "http://www.example.com/d/.well-known/a", 0},

		{"LL-72/backslash", page, `back\slash.html`, "http://www.example.com/d/back/slash.html", NoteBackslash},
		{"LL-72/backslash first", page, `\back.html`, "http://www.example.com/back.html", NoteBackslash},
		{"LL-72/backslashes for a host", page, `\\h.example\x`, "http://h.example/x", NoteBackslash | NoteSlashes},
		{"LL-72/backslash after the host", page, `http://h.example\x`, "http://h.example/x", NoteBackslash},
		{"LL-72/backslash in the query", page, `?a\b`, `http://www.example.com/d/p.html?a\b`, 0},
		{"LL-72/empty segment", page, "sub//d.html", "http://www.example.com/d/sub//d.html", NoteEmptySegment},
		{"LL-72/empty segment after up", page, "..//d.html", "http://www.example.com//d.html", NoteEmptySegment},
		{"LL-72/empty segment of the base", "http://h//a/b", "c", "http://h//a/c", 0},

		{"LL-74/tel", page, "TEL:+123", "tel:+123", 0},
		{"LL-74/data", page, "data:text/plain,a b", "data:text/plain,a b", 0},
		{"LL-74/javascript", page, "JavaScript:void(0)", "javascript:void(0)", 0},
		{"LL-74/mailto", page, "mailto:a@b.example?subject=x y", "mailto:a@b.example?subject=x%20y", 0},
		{"LL-74/port is no scheme", page, "8080:x", "http://www.example.com/d/8080:x", 0},

		{"LL-75/empty is the page", page, "", "http://www.example.com/d/p.html?pq", 0},
		{"LL-75/query alone is the page", page, "?q=1", "http://www.example.com/d/p.html?q=1", 0},
		{"LL-75/empty query", page, "?", "http://www.example.com/d/p.html?", 0},
		{"LL-75/fragment alone is the page", page, "#f", "http://www.example.com/d/p.html?pq#f", 0},
		{"LL-75/empty fragment", page, "#", "http://www.example.com/d/p.html?pq#", 0},

		{"tab and line break", page, "a\t/b\n.html", "http://www.example.com/d/a/b.html", NoteTabOrNewline},
		{"credentials", page, "http://u:p@h.example/", "http://u:p@h.example/", NoteCredentials},
		{"credentials of the base", "http://u:p@h.example/a", "b", "http://u:p@h.example/b", 0},
		{"empty credentials", page, "http://:@h.example/", "http://h.example/", 0},
		{"@ in the password", page, "http://u:p@q@h.example/", "http://u:p%40q@h.example/", NoteCredentials},
		{"percent-encode sets", page, "p^`{}' ?^`{}' #^`{}' ", "http://www.example.com/d/p%5E%60%7B%7D'%20?^`{}%27%20#^%60{}'", 0},
		{"UTF-8", page, "é?é#é", "http://www.example.com/d/%C3%A9?%C3%A9#%C3%A9", 0},
		{"no UTF-8", page, "\xE2\x82x\xFF\xF0\x9F\x92", "http://www.example.com/d/%EF%BF%BDx%EF%BF%BD%EF%BF%BD", 0},
		{"no UTF-8, surrogate", page, "\xED\xA0\x80\xC0\x80", "http://www.example.com/d/" + strings.Repeat("%EF%BF%BD", 5), 0},
		{"NUL", page, "a\x00b", "http://www.example.com/d/a%00b", 0},
		{"opaque base", "mailto:a@b?q#f", "#g", "mailto:a@b?q#g", 0},
		{"opaque path, space before the query", "", "data:a ?q", "data:a%20?q", 0},
		{"path that would be a host", "foo:/a", "/.//b", "foo:/.//b", NoteEmptySegment},
		{"relative to such a path", "foo:/.//b/c?q", "d", "foo:/.//b/d", 0},
		{"query for such a path", "foo:/.//b/c?q", "?r", "foo:/.//b/c?r", 0},
		{"drive letter", "file:///C:/a/b", "/d", "file:///C:/d", 0},
		{"drive letter is not climbed above", "file:///C:/a", "../../d", "file:///C:/d", NoteAboveRoot},
		{"drive letter in place of the host", "file:///x", "file://C|/d", "file:///C:/d", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := mustParse(t, c.base)
			u := testkit.Must(base.Resolve(c.ref))(t)
			if u.String() != c.want || u.Notes()&^NoteHost != c.notes {
				t.Errorf("%q against %q: got %q, notes %b, want %q, notes %b", c.ref, c.base, u, u.Notes(), c.want, c.notes)
			}
			checkURL(t, u)
		})
	}
}

// TestNoteHost: the plain path and the parser tell a text that names its host from one
// that does not.
func TestNoteHost(t *testing.T) {
	base := mustParse(t, "https://h.example/sub/p.html")
	for ref, want := range map[string]bool{
		"https://h.example/": true, "https://h.example": true, "//h.example/a": true, `\\h.example/a`: true, "http:h.example": true, "https://[::1]/": true,
		"/": false, "": false, "#f": false, "?q": false, "a//b": false, "../..": false, "https:/a": false, "mailto:a@h.example": false,
	} {
		u, err := base.Resolve(ref)
		if err != nil || (u.Notes()&NoteHost != 0) != want {
			t.Errorf("%q: names a host: %v, want %v (%v)", ref, !want, want, err)
		}
	}
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		raw, scheme, user, password, host, port, path, query, fragment string
		hasQuery, hasFragment, opaque                                  bool
	}{
		{raw: "https://u:p@h:8080/a/b%20c?q#f", scheme: "https", user: "u", password: "p", host: "h", port: "8080", path: "/a/b%20c", query: "q", fragment: "f", hasQuery: true, hasFragment: true},
		{raw: "https://h/?#", scheme: "https", host: "h", path: "/", hasQuery: true, hasFragment: true},
		{raw: "https://:p@h:443", scheme: "https", password: "p", host: "h", path: "/"},
		{raw: "https://u@[::1]:1", scheme: "https", user: "u", host: "[::1]", port: "1", path: "/"},
		{raw: "https://h/a?b?c#d#e", scheme: "https", host: "h", path: "/a", query: "b?c", fragment: "d#e", hasQuery: true, hasFragment: true},
		{raw: "mailto:a@b?c#d", scheme: "mailto", path: "a@b", query: "c", fragment: "d", hasQuery: true, hasFragment: true, opaque: true},
		{raw: "file:///a", scheme: "file", path: "/a"},
		{raw: "foo://h", scheme: "foo", host: "h"},
		{raw: "foo:/.//a", scheme: "foo", path: "//a"},
	} {
		u := mustParse(t, c.raw)
		got := []string{u.Scheme(), u.Username(), u.Password(), u.Host(), u.Port(), u.Path(), u.Query(), u.Fragment()}
		want := []string{c.scheme, c.user, c.password, c.host, c.port, c.path, c.query, c.fragment}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%q: got parts %q, want %q", c.raw, got, want)
		}
		if u.HasQuery() != c.hasQuery || u.HasFragment() != c.hasFragment || u.IsOpaque() != c.opaque || u.HasCredentials() != (c.user+c.password != "") {
			t.Errorf("%q: query %v, fragment %v, opaque %v, credentials %v", c.raw, u.HasQuery(), u.HasFragment(), u.IsOpaque(), u.HasCredentials())
		}
		checkURL(t, u)
	}
	var zero URL
	if zero.String()+zero.Scheme()+zero.Host()+zero.Port()+zero.Path()+zero.Query()+zero.Fragment()+zero.WithoutFragment() != "" || zero.HasCredentials() {
		t.Error("the zero URL has parts")
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		base, ref string
		want      Reason
	}{
		{"", "a/b", MissingScheme},
		{"", "", MissingScheme},
		{"mailto:a@b", "c", OpaqueBase},
		{"", "http://", EmptyHost},
		{"", "http://u@/x", EmptyHost},
		{"", "http://:80/x", EmptyHost},
		{"", "foo://u@/x", EmptyHost},
		{"", "foo://:1/x", EmptyHost},
		{"", "http://\u00AD/x", EmptyHost},
		{"", "http://a b/x", ForbiddenHost},
		{"", "http://a%2Fb/x", ForbiddenHost},
		{"", "foo://a b/x", ForbiddenHost},
		{"", "http://a\u200D/x", BadDomain},
		{"", "http://%FF/x", BadDomain},
		{"", "http://" + strings.Repeat("é", 600) + "/", DomainTooLong},
		{"", "http://1.2.3.256/", BadIPv4},
		{"", "http://[::1/", UnclosedIPv6},
		{"", "http://[::g]/", BadIPv6},
		{"", "http://h:65536/", BadPort},
		{"", "http://h:8a/", BadPort},
		{"http://h/", strings.Repeat("a", maxURLBytes+1), TooLong},
		{"", "http://h/" + strings.Repeat("a", maxURLBytes), TooLong},
	} {
		base := mustParse(t, c.base)
		u, err := base.Resolve(c.ref)
		e, ok := err.(*Error)
		if !ok || e.Reason != c.want || e.Raw != c.ref || u != (URL{}) {
			t.Errorf("%.40q against %q: got %q, %#v, want %q", c.ref, c.base, u, err, c.want)
			continue
		}
		if msg := e.Error(); !strings.Contains(msg, string(c.want)) || len(msg) > 1000 {
			t.Errorf("message %.200q", msg)
		}
	}
	long := &Error{Raw: "x" + strings.Repeat("é", 200), Reason: TooLong}
	if got, want := long.Error(), `URL "x`+strings.Repeat("é", 99)+`"...: too long`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := Parse("data:" + strings.Repeat("a", maxURLBytes+1)); err != nil {
		t.Errorf("a long data: URL: %.100v", err)
	}
}

func TestFastPath(t *testing.T) {
	base := mustParse(t, "https://example.org/a/b/c.html?q#f")
	for _, c := range []struct {
		ref   string
		plain bool
	}{
		{"", true}, {"#f", true}, {"?q#f", true}, {"/", true}, {"/x/y?z", true},
		{"x.html", true}, {"./x.html", true}, {"../x.html#f", true}, {".././../x", true},
		{"../", true}, {"a%20b", true}, {"x?a:b/../c'", false}, {"x?a:b/../c", true}, {"x/y:z", true},
		{"https://example.org", true}, {"http://example.org/a-b.html?x#y", true},
		{"..", false}, {"../../../x", false}, {"x:y", false}, {"x//y", false}, {"..//y", false},
		{"x/.y", false}, {"x/%2e", false}, {`x\y`, false}, {"é", false}, {" x", false}, {"x^", false},
		{"//h/x", false}, {"http://1.2/", false}, {"http://1.2./", false}, {"http://H/", false},
		{"http://h:80/", false}, {"http://u@h/", false}, {"http:x", false}, {"mailto:x", false},
	} {
		u, ok := base.resolvePlain(c.ref)
		if ok != c.plain {
			t.Errorf("%q: plain is %v, want %v", c.ref, ok, c.plain)
		}
		if !ok {
			continue
		}
		if slow, err := base.resolveByParser(c.ref, nil); err != nil || slow != u {
			t.Errorf("%q: got %+v, the parser has %+v, %v", c.ref, u, slow, err)
		}
	}
	for _, ref := range []string{"../x.html#f", "https://example.org/a?b#c"} {
		if n := testing.AllocsPerRun(100, func() { base.Resolve(ref) }); n != 1 {
			t.Errorf("%q: %v allocations, want 1", ref, n)
		}
	}
}
