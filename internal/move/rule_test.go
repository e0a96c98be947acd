package move

import (
	"net/url"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/redirect"
)

// TestRulesAnswer: the hosts understand the rules as they are meant, whatever is in the
// names. Package redirect is compared with the software of the hosts.
func TestRulesAnswer(t *testing.T) {
	rules := []Pair{
		{"/a b.png", "/c d.png"}, {"/c++/", "/cpp/"}, {"/x(1)/", "/y(2)/"}, {"/ä/", "/ö/"}, {"/a|b{c}[d]/", "/e/"}, {"/q$1.html", "/r$1&.html"},
		{"/10:30/", "/11:45/"}, {"/100%/", "/99%/"}, {"/old/*", "/new/"}, {"/v1.2+/*", "/v1:3/*"},
	}
	rules[8].New += "*"
	want := map[string]string{"/old/sub/p%20q.html": "/new/sub/p%20q.html", "/old/": "/new/", "/old/x/": "/new/x/", "/v1.2+/x/": "/v1:3/x/"}
	for _, r := range rules[:8] {
		want[rulePath(r.Old)] = rulePath(r.New)
	}
	for _, tt := range []struct {
		name, text string
		format     func([]byte, []Pair) (int, string, error)
		read       func(name string, text []byte) *redirect.File
	}{
		{"_redirects", "/* /404.html 404\n", redirectsLines, redirect.Netlify},
		{"netlify.toml", "[build]\n", netlifyTables, redirect.NetlifyTOML},
		{".htaccess", "# rules\n", apacheLines, func(name string, text []byte) *redirect.File { return redirect.Htaccess("/", name, text) }},
		{"vercel.json", `{"cleanUrls": false}`, vercelRules, redirect.Vercel},
		{"vercel.json", `{"redirects": [{"source": "/z", "destination": "/"}]}`, vercelRules, redirect.Vercel},
		{"firebase.json", `{"hosting": {"public": "public"}}`, firebaseRules, func(name string, text []byte) *redirect.File { return redirect.Firebase(name, text, "") }},
		{"firebase.json", `{"hosting": {"redirects": []}}`, firebaseRules, func(name string, text []byte) *redirect.File { return redirect.Firebase(name, text, "") }},
	} {
		at, insert, err := tt.format([]byte(tt.text), rules)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		text := tt.text[:at] + insert + tt.text[at:]
		file := tt.read(tt.name, []byte(text))
		if len(file.Faults) > 0 {
			t.Errorf("%s: %v in\n%s", tt.name, file.Faults, text)
		}
		set := redirect.New(redirect.Options{Scheme: "https", Host: "h.example"}, file)
		for old, now := range want {
			req := redirect.Request{Scheme: "https", Host: "h.example", Path: old}
			hit, ok := set.Match(req)
			if !ok {
				req.Stage = redirect.AfterFiles
				hit, ok = set.Match(req)
			}
			if !ok || hit.Rule.Kind != redirect.Redirect || !samePlace(hit.To, now) {
				t.Errorf("%s: %s leads to %q, want %q, in\n%s", tt.name, old, hit.To, now, text)
			}
		}
		for _, other := range []string{"/c/", "/x1/", "/older/", "/a/"} {
			if hit, ok := set.Match(redirect.Request{Scheme: "https", Host: "h.example", Path: other}); ok && hit.Rule.Kind == redirect.Redirect {
				t.Errorf("%s: %s leads to %q", tt.name, other, hit.To)
			}
		}
	}
}

// samePlace compares two addresses without their percent-encoding.
func samePlace(a, b string) bool {
	decoded := func(s string) string {
		if d, err := url.PathUnescape(s); err == nil {
			return d
		}
		return s
	}
	return decoded(strings.TrimPrefix(a, "https://h.example")) == decoded(b)
}
