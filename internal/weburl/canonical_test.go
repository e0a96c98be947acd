package weburl

import (
	"errors"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

func canonical(t *testing.T, raw string) string {
	t.Helper()
	return testkit.Must(Canonical(raw))(t)
}

// The vectors of the requirements, section 7: what WWWOFFLE itself answered,
// and what we do where we depart from it.
func TestCanonicalVectors(t *testing.T) {
	for in, want := range map[string]string{
		"HTTP://WWW.Foo.COM":                                      "http://www.foo.com/",
		"https://www.foo.com:443/":                                "https://www.foo.com/",
		"https://www.foo.com:80/":                                 "https://www.foo.com:80/",
		"http://u%40h:p%3Aw%2F@www.foo.com/x":                     "http://www.foo.com/x",
		"http://www.foo.com?q=1":                                  "http://www.foo.com/?q=1",
		"http://www.foo.com/a?":                                   "http://www.foo.com/a",
		"http://www.foo.com/a?b?c":                                "http://www.foo.com/a?b?c",
		"http://www.foo.com/a?b/c:d@e":                            "http://www.foo.com/a?b/c:d%40e",
		"http://www.foo.com/%7euser/%41%5f":                       "http://www.foo.com/~user/A_",
		"http://www.foo.com/a%2525b":                              "http://www.foo.com/a%2525b",
		"http://www.foo.com/a%":                                   "http://www.foo.com/a%25",
		"http://www.foo.com/a%4":                                  "http://www.foo.com/a%254",
		"http://www.foo.com/a b":                                  "http://www.foo.com/a%20b",
		"http://www.foo.com/a%20b":                                "http://www.foo.com/a%20b",
		"http://www.foo.com/a+b":                                  "http://www.foo.com/a+b",
		"http://www.foo.com/a%2Bb":                                "http://www.foo.com/a+b",
		"http://www.foo.com/a'b\"c<d>e":                           "http://www.foo.com/a%27b%22c%3Cd%3Ee",
		"http://www.foo.com/café":                                 "http://www.foo.com/caf%C3%A9",
		"http://www.foo.com/caf%c3%a9":                            "http://www.foo.com/caf%C3%A9",
		"http://www.foo.com/(x)*!$,=":                             "http://www.foo.com/(x)*!$,=",
		"http://www.foo.com/a;type=b/c;d":                         "http://www.foo.com/a;type=b/c;d",
		"http://www.foo.com/a;x%20y?q=1":                          "http://www.foo.com/a;x+y?q=1",
		"http://www.foo.com/a%3bb":                                "http://www.foo.com/a%3Bb",
		"http://www.foo.com/?a=x%26y&b=%3d%3b":                    "http://www.foo.com/?a=x%26y&b=%3D%3B",
		"http://www.foo.com/?a=x%2by":                             "http://www.foo.com/?a=x%2By",
		"http://www.foo.com/?a=x+y":                               "http://www.foo.com/?a=x+y",
		"http://www.foo.com/?a=x%20y":                             "http://www.foo.com/?a=x+y",
		"http://www.foo.com/?a=%41%7e%7c%2f%3a":                   "http://www.foo.com/?a=A~|/:",
		"http://www.foo.com/?a=%zz":                               "http://www.foo.com/?a=%25zz",
		"http://www.foo.com/?a=[x]":                               "http://www.foo.com/?a=%5Bx%5D",
		"http://www.foo.com/a/./b/../c":                           "http://www.foo.com/a/c",
		"http://www.foo.com/a/..":                                 "http://www.foo.com/",
		"http://www.foo.com/../a":                                 "http://www.foo.com/a",
		"http://www.foo.com/a//b":                                 "http://www.foo.com/a//b",
		"http://[::1]:80/x":                                       "http://[::1]/x",
		"http://www.foo.com/?u=http%3A%2F%2Fx%2F%3Fa%3D1%26b%3D2": "http://www.foo.com/?u=http://x/%3Fa%3D1%26b%3D2",
	} {
		if got := canonical(t, in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// Each case is named after the requirement that it proves, and joins texts
// that are one URL; the first is the canonical form.
func TestCanonical(t *testing.T) {
	for _, c := range []struct {
		id   string
		urls []string
	}{
		{"WO-3", []string{"http://h.example/~u", "http://H.example:80/%7Eu"}},
		{"WO-4", []string{"http://h/a:b", "http://h/a%3ab", "http://h/a%3Ab"}},
		{"WO-7 in arguments", []string{"http://h/?q=a+b", "http://h/?q=a%20b", "http://h/?q=a b"}},
		{"WO-7 in a path", []string{"http://h/a%20b+c", "http://h/a b+c", "http://h/a%20b%2bc"}},
		{"WO-8", []string{"http://h/a%2525b"}},
		{"WO-8 once", []string{"http://h/a%25b"}},
		{"WO-11", []string{"http://www.foo.com/", "HTTP://WWW.Foo.COM", "hTtP://www.foo.com/"}},
		{"WO-13 and WO-14: the text before the @ is not a host", []string{"http://h.example/x", "http://@h.example/x", "http://user@h.example/x", "http://:@h.example/x"}},
		{"WO-19", []string{"http://h.example/", "http://JOE:Secret@H.example/", "http://u%40h:p%3Aw%2F@h.example"}},
		{"WO-21", []string{"http://www.foo.com/A", "http://WWW.Foo.Com/A"}},
		{"WO-22", []string{"http://h.example:8080/"}},
		{"WO-23", []string{"http://h.example/", "http://h.example"}},
		{"WO-24 http", []string{"http://h/", "http://h:80/", "http://h:080/", "http://h:/"}},
		{"WO-24 https", []string{"https://h/", "https://h:443/", "https://h:00443/"}},
		{"WO-25 http", []string{"http://h:443/", "http://h:0443/"}},
		{"WO-25 https", []string{"https://h:80/"}},
		{"WO-25 zero", []string{"http://h:0/", "http://h:000/"}},
		{"WO-25 highest", []string{"http://h:65535/"}},
		{"WO-26 IPv6", []string{"http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::1]:80/", "http://[0000::0001]"}},
		{"WO-26 IPv6 with a port", []string{"http://[1111:2222::8888]:8080/", "http://[1111:2222:0:0:0:0:0:8888]:8080/"}},
		{"WO-26 IPv6 with IPv4", []string{"http://[::ffff:1.2.3.4]/", "http://[::FFFF:102:304]/"}},
		{"WO-26 IPv4", []string{"http://1.2.3.4/", "http://1.2.3.4./", "http://１.２.３.４/"}},
		{"WO-27", []string{"http://xn--bcher-kva.example/", "http://bücher.example/", "http://B%C3%BCCHER.example", "http://XN--Bcher-KVA.example/"}},
		{"WO-27 underscore", []string{"http://www.foo_bar.com/"}},
		{"WO-28", []string{"http://h.example/", "http://h.example"}},
		{"WO-28 with arguments", []string{"http://h.example/?q=1", "http://h.example?q=1"}},
		{"WO-29", []string{"http://h/A_", "http://h/%41%5f", "http://h/%41%5F"}},
		{"WO-30", []string{"http://h/a+b", "http://h/a%2Bb"}},
		{"WO-31", []string{"http://h/a%20b%26%40%7C%5C%5E%27%22%3C%3E", "http://h/a b&@|\\^'\"<>"}},
		{"WO-31 beyond ASCII", []string{"http://h/caf%C3%A9", "http://h/café", "http://h/caf%c3%a9"}},
		{"WO-31 no UTF-8", []string{"http://h/%E9", "http://h/\xe9"}},
		{"WO-32", []string{"http://h/a/c", "http://h/a/./b/../c", "http://h/./a/c", "http://h/a/%2e/c", "http://h/a/b/.%2E/c"}},
		{"WO-32 root", []string{"http://h/", "http://h/a/..", "http://h/..", "http://h/.", "http://h/../..", "http://h/a/../../.."}},
		{"WO-32 above the root", []string{"http://h/a", "http://h/../a", "http://h/../../a"}},
		{"WO-32 escaped", []string{"http://h/b", "http://h/a/%2e%2e/b"}},
		{"WO-32 empty segment", []string{"http://h/a//b"}},
		{"WO-32 empty segment goes as one", []string{"http://h/a/b", "http://h/a//../b"}},
		{"WO-32 by RFC 3986", []string{"http://h/a/", "http://h/a/.", "http://h/a/b/.."}},
		{"WO-32 three dots", []string{"http://h/.../..a/.b"}},
		{"WO-33 and A-WO-1", []string{"http://h/a/b", "http://h/a%2Fb", "http://h/a%2fb", "http://h/a%2Fc%2F..%2Fb"}},
		{"WO-34 and A-WO-2", []string{"http://h/a%25zz", "http://h/a%zz"}},
		{"WO-34 half", []string{"http://h/a%254g", "http://h/a%4g"}},
		{"WO-34 NUL", []string{"http://h/a%00b"}},
		{"WO-34 escaped escape", []string{"http://h/%252525", "http://h/%2%3525"}},
		{"WO-35", []string{"http://h/a", "http://h/a;"}},
		{"WO-36", []string{"http://h/a;x+y?q=1", "http://h/a;x%20y?q=1", "http://h/a;x+y?q=1"}},
		{"WO-36 escaped", []string{"http://h/a%3Bb", "http://h/a%3bb"}},
		{"WO-36 like arguments", []string{"http://h/a;b/../c/|", "http://h/a;b/../c%2F%7c"}},
		{"WO-39", []string{"http://h/a", "http://h/a?", "http://h/a?#f"}},
		{"WO-40", []string{"http://h/?a=~", "http://h/?a=%7e"}},
		{"WO-41 roles", []string{"http://h/?a=x%26y&b=%3D%3B", "http://h/?a=x%26y&b=%3d%3b"}},
		{"WO-41 escapes", []string{"http://h/?a=A~|/:", "http://h/?a=%41%7e%7c%2f%3a"}},
		{"WO-41 plus", []string{"http://h/?a=x%2By", "http://h/?a=x%2by"}},
		{"WO-41 quote", []string{"http://h/?a=%27", "http://h/?a='"}},
		{"WO-41 question mark", []string{"http://h/?b?c"}},
		{"WO-42", []string{"http://h/?q=a", "http://h/?q=%61"}},
		{"WO-43: character references are HTML's", []string{"http://h/?a=1&amp;b=2"}},
		{"WO-44", []string{"http://h/?b=1&a=2&b=1"}},
		{"WO-60", []string{"http://h/?q=%25&b=1", "http://h/?q=%&b=1"}},
		{"WO-61", []string{"http://h/a?q", "http://h/a?q#f", "http://h/a?q#f#g?h"}},
		{"WO-61 without arguments", []string{"http://h/a", "http://h/a#f", "http://h/a#?x"}},
		{"WO-63: the authority ends at the first of / ? #", []string{"http://www.foo.com/?x%40y", "http://www.foo.com?x@y"}},
		{"WO-63: escapes in the host", []string{"http://www.foo.com/", "http://www.f%6fo.com/"}},
		{"A-WO-9", []string{"http://h.example/", "http://h.example./", "http://h.example.:80", "http://h.example。/"}},
		{"LK-44", []string{"http://a.example/~x", "http://A.example:80/%7Ex"}},
	} {
		t.Run(c.id, func(t *testing.T) {
			for _, in := range c.urls {
				if got := canonical(t, in); got != c.urls[0] {
					t.Errorf("%q: got %q, want %q", in, got, c.urls[0])
				}
			}
		})
	}
	// WO-44: these are two. A-WO-8: so are http and https of one page.
	for _, c := range [][2]string{
		{"http://h/?b=1&a=2", "http://h/?a=2&b=1"}, {"http://h/", "https://h/"}, {"http://h/?a=x%26y", "http://h/?a=x&y"},
		{"http://h/?a=%2B", "http://h/?a=+"}, {"http://h/a", "http://h/a/"}, {"http://h/A", "http://h/a"},
	} {
		if canonical(t, c[0]) == canonical(t, c[1]) {
			t.Errorf("%q and %q are one", c[0], c[1])
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Reason
	}{
		// WO-63: nothing is guessed about what the network sends.
		{"", NotAbsolute},
		{"www.foo.com/", NotAbsolute},
		{"http:www.foo.com/", NotAbsolute},
		{"http:/www.foo.com/", NotAbsolute},
		{"//www.foo.com/", NotAbsolute},
		{"/a", NotAbsolute},
		{"#f", NotAbsolute},
		{" http://h/", NotHTTP},
		{"http://h/a ", OuterSpace},
		{"http://h/a#b ", OuterSpace},
		{"ftp://h/", NotHTTP},
		{"http://user@host:pass@h/", BareAt}, // WO-18
		{"http://user:pa@ss@h/", BareAt},
		{"http://h/a\nb", ControlCharacter},
		{"http://h/a\x00b", ControlCharacter},
		{"http://h/?\x7f", ControlCharacter},
		// WO-63, the table: URLs that are not pages.
		{"http:80", NotAbsolute},
		{"http:///x", EmptyHost},
		{"http://", EmptyHost},
		{"http://:80/", EmptyHost},
		{"http://u@/", EmptyHost},
		{"mailto:a@b.com", NotAbsolute},
		{"javascript:alert(1)", NotAbsolute},
		{"javascript:a@b/", NotAbsolute},
		{"tel:123", NotAbsolute},
		{"TEL:123", NotAbsolute},
		{"data:text/html,x", NotAbsolute},
		{"gopher://g:70/1", NotHTTP},
		{"file:///etc/passwd", NotHTTP},
		{"foo:bar", NotAbsolute},
		// WO-26: numbers that some software takes for an address.
		{"http://16909060/", BadIPv4},
		{"http://%316909060/", BadIPv4},
		{"http://1.2.3/", BadIPv4},
		{"http://1.2.3.4.5/", BadIPv4},
		{"http://0x7f.1/", BadIPv4},
		{"http://0x7f000001/", BadIPv4},
		{"http://0177.0.0.1/", BadIPv4},
		{"http://1.2.3.256/", BadIPv4},
		{"http://h.1/", BadIPv4},
		{"http://[::1/", BadIPv6},
		{"http://[::1%25eth0]/", BadIPv6},
		{"http://[1.2.3.4]/", BadIPv6},
		{"http://[]/", BadIPv6},
		// WO-27: nothing is cut off.
		{"http://a b/", ForbiddenHost},
		{"http://a%00b/", ForbiddenHost},
		{"http://a%2541/", ForbiddenHost},
		{"http://h;x/", ForbiddenHost},
		{"http://h\\x/", ForbiddenHost},
		{"http://(h)/", ForbiddenHost},
		{"http://b%FC/", BadDomain},
		{"http://a..b/", BadDomain},
		{"http://.a/", BadDomain},
		{"http://a../", BadDomain},
		{"http://./", BadDomain},
		{"http://h:65536/", BadPort},
		{"http://h:1e3/", BadPort},
		{"http://h:-1/", BadPort},
		{"http://h:99999999999999999999/", BadPort},
		{"http://h/" + strings.Repeat("a", maxURLBytes), TooLong},
		{"http://h/" + strings.Repeat("|", maxURLBytes/3), TooLong},
	} {
		got, err := Canonical(c.in)
		if !isReason(err, c.want) || got != "" {
			t.Errorf("%.80q: got %.80q, %v, want %q", c.in, got, err, c.want)
		}
	}
}

// WO-5, WO-9: any bytes after the host have a canonical form, except control characters.
func TestCanonicalAnyBytes(t *testing.T) {
	for a := range 256 {
		for _, b := range []string{"", "%", "%4", "/", "\xff"} {
			in := string([]byte{byte(a)}) + b
			for _, at := range []string{"/", "/a;", "/?"} {
				got, err := Canonical("http://h" + at + "x" + in + "x")
				if control := a < ' ' || a == 0x7f; control != isReason(err, ControlCharacter) || !control && !strings.HasPrefix(got, "http://h/") {
					t.Errorf("%q: %q, %v", at+in, got, err)
				}
			}
		}
	}
}

// WO-2, WO-13 to WO-18: the parts of a URL.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		in   string
		want address
	}{
		{"http://u:p@h.example:81/a;b?c", address{"http", "u", "p", "h.example", "81", "/a;b", "c"}}, // WO-2
		{"http://h.example/", address{"http", "", "", "h.example", "", "/", ""}},                     // WO-13
		{"http://@h.example/x", address{"http", "", "", "h.example", "", "/x", ""}},
		{"http://user@h.example/", address{"http", "user", "", "h.example", "", "/", ""}},                      // WO-14
		{"http://u%40h:p%3Aw%2F@h.example/x", address{"http", "u%40h", "p%3Aw%2F", "h.example", "", "/x", ""}}, // WO-15
		{"http://[::1]:80?x", address{"http", "", "", "[::1]", "80", "", "x"}},
	} {
		if got, reason := split(c.in); got != c.want || reason != "" {
			t.Errorf("%q: got %+v, %s, want %+v", c.in, got, reason, c.want)
		}
	}
	// WO-16: credentials are decoded as anything else is.
	for in, want := range map[string]string{"%4aoe": "Joe", "u%40h": "u@h", "p%3Aw%2F": "p:w/"} {
		if got := string(PercentDecode(nil, in)); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// WO-62: references are made absolute first, as browsers do it.
func TestCanonicalReferences(t *testing.T) {
	page := testkit.Must(Parse("http://h/a/b/c.html"))(t)
	for ref, want := range map[string]string{
		"../d.html": "http://h/a/d.html", "../../../d.html": "http://h/d.html", "//o/d": "http://o/d", "/x": "http://h/x",
		"#f": "http://h/a/b/c.html", "": "http://h/a/b/c.html", "d%7e": "http://h/a/b/d~", "?q#f": "http://h/a/b/c.html?q",
	} {
		u := testkit.Must(page.Resolve(ref))(t)
		if got := canonical(t, u.String()); got != want {
			t.Errorf("%q: got %q, want %q", ref, got, want)
		}
	}
	for _, ref := range []string{"mailto:a@b.example", "javascript:alert(1)"} {
		u := testkit.Must(page.Resolve(ref))(t)
		if got, err := Canonical(u.String()); err == nil {
			t.Errorf("%q: got %q", ref, got)
		}
	}
}

func TestCanonicalError(t *testing.T) {
	_, err := Canonical("http://a b/")
	var e *Error
	if !errors.As(err, &e) || e.Raw != "http://a b/" || err.Error() != `URL "http://a b/": forbidden host code point` {
		t.Errorf("got %v", err)
	}
}
