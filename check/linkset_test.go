package check

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

func linkset(t testing.TB, text string) Linkset {
	t.Helper()
	l, err := ParseLinkset(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return l
}

func TestLinksetMatch(t *testing.T) {
	for _, tc := range []struct{ name, set, in, out string }{
		{"LL-4/any_run", "/sub/@", "/sub/ /sub/b.html /sub/deep/c.html", "/sub /sub2/d.html /"},
		{"LL-4/in_the_middle", "/a/@/c", "/a/b/c /a/b/x/c /a//c", "/a/c /a/b/c/d"},
		{"LL-5/no_slash", "/#", "/ /index.html /a.html", "/sub/ /sub/b.html"},
		{"LL-6/optional_slash", "/#/#", "/ /a.html /sub/ /sub/b.html", "/sub/deep/c.html"},
		{"LL-6/at_the_end", "/#/", "/ /a.html /sub/", "/sub/b.html"},
		{"LL-6/below", "/sub/#/", "/sub/ /sub/b.html /sub/deep/", "/sub/deep/c.html /sub"},
		{"A-LL-10/kept", "/#/#/#", "/ /a/b/ /a/b/c.html", "/a/b/c/d.html"},
		{"LL-7/literal_dot", "/a.b", "/a.b", "/aXb /a.b.bak /x/a.b"},
		{"LL-7/both_ends", "/sub/b.html", "/sub/b.html", "/sub/b.html.bak /x/sub/b.html"},
		{"LL-7/other_characters", "/a+(b)[c]{d}^$|?*.\\@", "/a+(b)[c]{d}^$|?*.\\ /a+(b)[c]{d}^$|?*.\\x", "/aa /a+(b)c"},
		{"LL-8/home", "/", "/", "/index.html /a.html"},
		{"LL-8/site", "/@", "/ /index.html /sub/deep/c.html", ""},
		{"LL-8/directory", "/sub/#", "/sub/ /sub/index.html /sub/b.html", "/sub/deep/c.html /sub"},
		{"LL-11/slash_added", "sub/b.html", "/sub/b.html", "sub/b.html"},
		{"LL-4/line_end_and_bytes", "/@.html", "/a\nb.html /\xe4.html", "/a.htm"},
		{"LL-7/bytes", "/\xe4.html", "/\xe4.html", "/\xe5.html"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := linkset(t, tc.set)
			for _, p := range strings.Split(tc.in, " ") {
				if !l.Match(p) {
					t.Errorf("%s does not match %q", tc.set, p)
				}
			}
			for _, p := range strings.Fields(tc.out) {
				if l.Match(p) {
					t.Errorf("%s matches %q", tc.set, p)
				}
			}
		})
	}
	if (Linkset{}).Match("") {
		t.Error("the zero value matches")
	}
}

func TestLinksetSeed(t *testing.T) {
	for _, tc := range []struct{ name, set, want string }{
		{"LL-2/no_wildcard", "/sub/b.html", "/sub/b.html"},
		{"LL-2/home", "/", "/"},
		{"LL-3/at", "/@", "/"},
		{"LL-3/hash", "/#", "/"},
		{"LL-3/directory", "/sub/@", "/sub/"},
		{"LL-3/name", "/sub/x#.html", "/sub/"},
		{"LL-3/middle", "/a/b/@/c", "/a/b/"},
		{"LL-3/two", "/s@/#", "/"},
		{"LL-3/suffix", "/@.html", "/"},
		{"LL-11/added", "sub/b.html", "/sub/b.html"},
		{"LL-11/bare_wildcard", "@", "/"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := linkset(t, tc.set).Seed(); got != tc.want {
				t.Errorf("seed of %s: got %q, want %q", tc.set, got, tc.want)
			}
		})
	}
}

func TestLinksetErrors(t *testing.T) {
	for _, tc := range []struct{ name, set, want string }{
		{"empty", "", "is empty"},
		{"LL-14/http", "http://h.example/x.html", `not a URL such as "http://h.example/x.html"`},
		{"LL-14/https", "HTTPS://h.example/", "not a URL"},
		{"nul", "/a\x00", "NUL"},
		{"long", "/" + strings.Repeat("x", maxLinkset), "is longer than 4096 bytes"},
		{"bytes", "/\xe4@", "UTF-8"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, err := ParseLinkset(tc.set)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if l.text != "" || l.pattern != nil {
				t.Errorf("got a linkset with the error: %v", l)
			}
		})
	}
}

// A page is in scope if it matches any of several linksets (LL-1). Equal
// linksets count once.
func TestLinksets(t *testing.T) {
	ls := testkit.Must(parseLinksets([]string{"/a/@", "/b/@", "/one.html", "a/@", "/one.html"}))(t)
	if len(ls.all) != 3 {
		t.Errorf("%d linksets, want 3: %v", len(ls.all), ls.all)
	}
	for path, want := range map[string]bool{
		"/a/x.html": true, "/b/y.html": true, "/one.html": true, "/c/z.html": false, "/one.html/": false, "/": false, "/a/@": true,
	} {
		if got := ls.match(path); got != want {
			t.Errorf("LL-1: match(%q) = %t", path, got)
		}
	}
	literal := testkit.Must(parseLinksets([]string{"/x#"}))(t)
	if literal.match("/x#/") || !literal.match("/x#") {
		t.Error("a linkset with a wildcard counts as a name")
	}
}

// FuzzLinkset: every accepted linkset has a seed, which is the whole text or a
// prefix that ends in a slash. The linkset matches its own text with the
// wildcards removed and with them filled in.
func FuzzLinkset(f *testing.F) {
	for _, s := range []string{"/", "/@", "/#/#", "/sub/x#.html", "a/b/@/c", "/s@/#", "http:x", "/\xff", "/\xff@", "/[a]\\Q@\\E"} {
		f.Add(s)
	}
	wildcard := regexp.MustCompile("[@#]")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLinkset(text)
		if err != nil {
			return
		}
		seed := l.Seed()
		if !strings.HasPrefix(l.String(), seed) || seed[0] != '/' || l.pattern != nil && seed[len(seed)-1] != '/' {
			t.Errorf("seed %q of %q", seed, l)
		}
		if !l.Match(wildcard.ReplaceAllString(l.String(), "")) || !l.Match(wildcard.ReplaceAllString(l.String(), "xy")) {
			t.Errorf("%q does not match itself", l)
		}
		if l.pattern == nil && l.Match(l.String()+"x") {
			t.Errorf("%q matches more than itself", l)
		}
	})
}
