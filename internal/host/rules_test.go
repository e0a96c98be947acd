package host

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestRules answers requests on docroots with rule files. TestWebParityRules of
// cmd/sitelink compares more of them with the hosts' own software.
func TestRules(t *testing.T) {
	type answers map[string]string // status, and the last address if it is another
	for _, test := range []struct {
		name, profile string
		changed       bool // by the table [host]
		files         testkit.Files
		want          answers
	}{
		{name: "the nearest 404.html", profile: "cloudflare-pages",
			files: testkit.Files{"index.html": page, "ns/404.html": page, "ns/sub/page.html": page, "other/page.html": page, "_redirects": "/to/* /ns/:splat 200\n/app /other/page.html 200\n"},
			want: answers{"/nope": "200", "/other/nope": "200", "/ns": "200", "/ns/": "404", "/ns/nope": "404", "/ns/sub/nope/x": "404", "/ns/%FF": "404",
				"/to/nope": "404", "/app?q=1": "200 /other/page?q=1"}},
		{name: "rewrites to /index.html", profile: "firebase",
			files: testkit.Files{"index.html": page, "404.html": page, "dir/index.html": page, "firebase.json": `{"hosting": {
				"redirects": [{"source": "/old/:id", "destination": "/new/:id"}],
				"rewrites": [{"source": "/one", "destination": "/dir"}, {"source": "/two", "destination": "/dir/index.html"}, {"source": "**", "destination": "/index.html"}]}}`},
			want: answers{"/nope": "200", "/404.html": "404", "/one": "404", "/two": "200", "/old/a%2Fb": "200 /new/a%252Fb", "/old/a%20b": "200 /new/a%20b"}},
		{name: "rewrites without 404.html", profile: "firebase",
			files: testkit.Files{"index.html": page, "firebase.json": `{"hosting": {"rewrites": [{"source": "**", "destination": "/index.html"}]}}`},
			want:  answers{"/404.html": "200"}},
		{name: "cleanUrls", profile: "firebase", changed: true,
			files: testkit.Files{"index.html": page, "404.html": page, "about.html": page, "about/x.txt": "x", "firebase.json": `{"hosting": {"cleanUrls": true,
				"rewrites": [{"source": "/app/**", "destination": "/about.html"}, {"source": "/spa/**", "destination": "/index.html"}, {"source": "/bare", "destination": "/about"}]}}`},
			want: answers{"/about": "200", "/about.html": "200 /about", "/about/": "404", "/app/x": "200", "/spa/x?q=1": "200", "/bare": "404", "/404": "404", "/404.html": "404"}},
		{name: "cleanUrls", profile: "vercel", changed: true,
			files: testkit.Files{"index.html": page, "page.html": page, "new.html": page, "vercel.json": `{"cleanUrls": true, "trailingSlash": false,
				"redirects": [{"source": "/page.html", "destination": "/new"}, {"source": "/old/", "destination": "/gone"}, {"source": "/old", "destination": "/new"}]}`},
			want: answers{"/page.html": "200 /page", "/page/": "200 /page", "/old/": "200 /new"}},
		{name: "trailingSlash auto", profile: "azure-static-web-apps", files: azureFiles(`"trailingSlash": "auto"`),
			want: answers{"/about": "200 /about/", "/about/": "200", "/about/index.html": "200 /about/", "/contact": "200", "/contact/": "200 /contact", "/contact.html": "200 /contact"}},
		{name: "trailingSlash always", profile: "azure-static-web-apps", files: azureFiles(`"trailingSlash": "always"`),
			want: answers{"/about": "200 /about/", "/about/": "200", "/about/index.html": "200 /about/", "/contact": "200 /contact/", "/contact/": "200", "/contact.html": "200 /contact/"}},
		{name: "trailingSlash never", profile: "azure-static-web-apps", files: azureFiles(`"trailingSlash": "never"`),
			want: answers{"/about": "200", "/about/": "200 /about", "/about/index.html": "200 /about", "/contact": "200", "/contact/": "200 /contact", "/contact.html": "200 /contact"}},
		{name: "routes", profile: "azure-static-web-apps", files: azureFiles(`"routes": [{"route": "/old", "redirect": "/about/"}, {"route": "/about/*", "headers": {"X": "y"}},
			{"route": "/members/*", "allowedRoles": ["a"]}], "navigationFallback": {"rewrite": "/index.html", "exclude": ["/img/*"]}`),
			want: answers{"/old": "200 /about/", "/about/nope": "200", "/nope": "200", "/img/nope": "404", "/staticwebapp.config.json": "404", "/.auth/me": "0"}},
		{name: "roles", profile: "azure-static-web-apps", files: azureFiles(`"routes": [{"route": "/members*", "allowedRoles": ["a"]}]`),
			want: answers{"/members/x": "0", "/nope": "404"}},
		{name: "conditions before a rule for all", profile: "netlify",
			files: testkit.Files{"index.html": page, "404.html": page, "_redirects": "/de/* /:splat 302 Language=de\n/* /404.html 404\n"},
			want:  answers{"/de/x": "0", "/x": "404"}},
	} {
		t.Run(test.profile+", "+test.name, func(t *testing.T) {
			p := builtin(test.profile)()
			if test.changed {
				p.Name += ", changed"
			}
			h := loadHost(t, testkit.MakeDocroot(t, test.files), Options{Profile: p})
			for request, want := range test.want {
				path, query := cutQuery(request)
				a := h.AnswerRequest(path, query)
				if got := strings.TrimSpace(fmt.Sprintf("%d %s", a.Status, a.Final)); got != want && !(a.Status >= 400 && got[:3] == want) {
					t.Errorf("%s: got %s, want %s", request, got, want)
				}
			}
		})
	}
}

// azureFiles are the files of Azure's documentation, with a configuration.
func azureFiles(config string) testkit.Files {
	return testkit.Files{"index.html": page, "about/index.html": page, "contact.html": page, "staticwebapp.config.json": "{" + config + "}"}
}
