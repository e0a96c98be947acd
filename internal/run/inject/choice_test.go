package inject

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/sitelink/sitelink/internal/testkit"
)

// The regular expressions in templates match the same paths as the patterns.
func TestGlobRegexp(t *testing.T) {
	paths := []string{"index.html", "a.html", "post/index.html", "post/a/index.html", "post/a/b/index.html", "poster/index.html",
		"x/post/a.html", "été/x.html", "a b/c.html", "p[1]/x.html", "a+b.html", "axb.html", "2024/01/x.html"}
	for _, glob := range []string{"**", "*", "*.html", "post/**", "post/*", "post/*/index.html", "**/index.html", "**/a.html", "post/**/index.html",
		"{post,x}/**", "{a,b}.html", "?.html", "[ab].html", "[!a].html", "été/*", "a b/*", "a+b.html", `p\[1\]/*`, "*/*/x.html", "x/**/a.html", "2024/**"} {
		re, err := regexp.Compile("^(?:" + globRegexp(glob) + ")$")
		if err != nil {
			t.Errorf("%s: %v", glob, err)
			continue
		}
		for _, p := range paths {
			want := testkit.Must(doublestar.Match(glob, p))(t)
			escaped := strings.ReplaceAll(url.PathEscape(p), "%2F", "/")
			if got := re.MatchString(p); got != want {
				t.Errorf("%s as %s on %s: %v, want %v", glob, re, p, got, want)
			}
			if !strings.ContainsAny(p, "[]") && re.MatchString(escaped) != want {
				t.Errorf("%s as %s on %s: not %v", glob, re, escaped, want)
			}
		}
	}
}

// Every pattern becomes an expression that compiles and matches the same paths.
func FuzzGlobRegexp(f *testing.F) {
	f.Add("post/**", "post/a/index.html")
	f.Add("{a,b*}/?.html", "a/x.html")
	f.Fuzz(func(t *testing.T, glob, path string) {
		if !doublestar.ValidatePattern(glob) || strings.ContainsAny(glob, "[]\\{}") || strings.Contains(glob, "**") || !isPlain(path) || !isPlain(glob) {
			return // classes and groups are compared above; ** is only whole segments here
		}
		re, err := regexp.Compile("^(?:" + globRegexp(glob) + ")$")
		if err != nil {
			t.Fatalf("%q: %v", glob, err)
		}
		if want, _ := doublestar.Match(glob, path); re.MatchString(path) != want {
			t.Fatalf("%q as %s on %q: want %v", glob, re, path, want)
		}
	})
}

// isPlain excludes line ends, which page paths do not have, and percent-encoded
// characters, which the expressions match like the characters themselves.
func isPlain(s string) bool {
	for _, r := range s {
		if r < ' ' || r == '%' || r > 0x7e {
			return false
		}
	}
	return true
}
