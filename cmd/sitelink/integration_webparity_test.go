//go:build integration && linux

package main_test

import (
	"fmt"
	"html"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/testkit"
)

// webParity is a host with software to compare with a profile.
type webParity struct {
	name    string
	profile func() host.Profile
	start   func(t *testing.T, docroot string) *webServer
	without string // left out of the docroot of edge cases
	// differ are the requests for edge cases on which the two are known to
	// differ: docs/reference/profiles.md says why.
	differ *regexp.Regexp
	// sameFile: the software makes none of the real host's redirects, so the
	// address that we say answers must send the same file.
	sameFile bool
	// rules are the rule files in the docroot of [TestWebParityRules], by name.
	// Without them, the software answers from the files alone.
	rules map[string]string
	// small: the software takes too long to load a large docroot.
	small bool
	// tires is the number of targets after which the software is restarted, 0 for
	// never: superstatic answers 500 to everything after some 40,000 requests.
	tires int
}

func profileNamed(name string, settings ...bool) func() host.Profile {
	return func() host.Profile {
		p, ok := host.ProfileByName(name)
		switch {
		case !ok:
			panic("no profile " + name)
		case len(settings) > 0:
			p = p.WithURLs(settings[0], nil)
		}
		return p
	}
}

// netlifyAtHome is the profile on a file system that knows letter case.
func netlifyAtHome() host.Profile {
	p := profileNamed("netlify")()
	p.AnyCase = false
	return p
}

// azureAtHome is the profile without what Azure documents about addresses of
// pages: its emulator looks for the file of exactly that name.
func azureAtHome() host.Profile {
	p := profileNamed("azure-static-web-apps")()
	p.Page, p.PageSlash, p.Directory = host.Missing, host.Missing, host.Redirect
	return p
}

// Names that only the docroot of edge cases has.
const (
	nonASCII  = `%(E[0-9]|e[0-9]|C3|c3|CC|cc)`
	dotsAtEnd = `^/dir%2F\.`
)

var webParities = []webParity{
	{name: "cloudflare-pages", profile: profileNamed("cloudflare-pages"), start: startWrangler,
		differ: regexp.MustCompile(nonASCII + `|^/+link(\.html|-index|[/?]|$)|^/dir//|` + dotsAtEnd)},
	{name: "cloudflare-pages-app", profile: profileNamed("cloudflare-pages"), start: startWrangler, without: "404.html",
		differ: regexp.MustCompile(nonASCII + `|^/+link(\.html|-index|[/?]|$)|^/dir//|` + dotsAtEnd)},
	{name: "netlify", profile: netlifyAtHome, start: node("netlify.mjs", ""), sameFile: true,
		differ: regexp.MustCompile(`%|\^|asset\.css|index-is-dir/index\.html|named\.html`)},
	{name: "vercel-clean", profile: profileNamed("vercel", true), start: node("vercel.mjs", `{"cleanUrls":true}`), sameFile: true,
		differ: regexp.MustCompile(nonASCII + `|%00|%23|%3F|^/+twin|double\.html|\.hidden|^/\.\.\.|named\.html|index-is-dir|/\.html|//$|nnnn`)},
	{name: "firebase", profile: profileNamed("firebase"), start: node("firebase.mjs", ""),
		differ: regexp.MustCompile(`^/%64ir$|%e6|%zz|%$|%2$|%FF|%C0|%ED|%E9|percent%\.|^/dir\?$|nnnn`)},
	{name: "firebase-clean", profile: profileNamed("firebase", true), start: node("firebase.mjs", `{"cleanUrls":true}`), sameFile: true, tires: 8000,
		differ: regexp.MustCompile(`%zz|%$|%2$|%FF|%C0|%ED|%E9|percent%\.|dir/%69ndex|nnnn|^/+twin|double\.html|\.hidden|^/\.\.\.|^/+index|dir/index|beside/index`)},
	{name: "hugo-server", profile: profileNamed("hugo-server"), start: startHugo, without: symbolicLinks, small: true,
		differ: regexp.MustCompile(`index-is-dir|^/space%20|caf%E9|^/[^?]*%2F`)},
	{name: "s3", profile: profileNamed("s3"), start: startS3, small: true,
		differ: regexp.MustCompile(nonASCII + `|^/%2F|%00|nnnn|` + dotsAtEnd)},
}

// TestWebParityPaths: on the docroot of path edge cases, status and final
// address of every link are what the host's software answers.
func TestWebParityPaths(t *testing.T) {
	t.Parallel()
	npmFolder(t)
	for _, h := range webParities {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel() // requests wait for one another
			docroot := makeHostDocroot(t, h.without)
			h.compare(t, docroot, h.predict(t, docroot, hostRequests(t)))
		})
	}
}

// predict writes a page with the requests as links, and returns sitelink's
// answers. It leaves out requests that the two are known to answer differently.
func (h *webParity) predict(t *testing.T, docroot string, requests []string) map[string]prediction {
	t.Helper()
	var page strings.Builder
	page.WriteString("<!doctype html><meta charset=utf-8><title>links</title>\n")
	excused := 0
	for _, request := range requests {
		// The browser takes an authority from two slashes at the start. All profiles
		// refuse a NUL with the same status.
		if h.differ != nil && h.differ.MatchString(request) || strings.HasPrefix(request, "//") || strings.Contains(request, "%00") {
			excused++
			continue
		}
		fmt.Fprintf(&page, "<a href=\"%s\">x</a>\n", html.EscapeString(request))
	}
	testkit.Check(t, os.WriteFile(filepath.Join(docroot, "links.html"), []byte(page.String()), 0o644))
	predicted := webPredictions(t, docroot, h.profile())
	t.Logf("%d requests, %d left out, as docs/reference/profiles.md tells, %d undecided", len(requests), excused, len(requests)-excused-len(predicted))
	if len(predicted) < 500 {
		t.Errorf("compared %d targets only", len(predicted))
	}
	return predicted
}

// ruledParities are hosts with rules of every kind that they read.
// docs/reference/profiles.md gives a reason for each path that differs.
var ruledParities = []webParity{
	{name: "cloudflare-pages", profile: profileNamed("cloudflare-pages"), start: startWrangler, without: "404.html", rules: map[string]string{"_redirects": `/old/:name /blog/:name 301
/go /docs/guide/ 302
/spa/* /index.html 200
/shop/old-* /shop/:splat
/x/*/y /docs/:splat 307
/move/* /blog/:splat?from=move
/page-:n /docs/page#:n
/about /new 308
/p/:a-:b.html /:a/:b
/proxy/* https://o.example/:splat 301
/twice /page
/twice /new
/blog/new /de/new 200
/store?id=1 /about
/app /docs/both.html 200
`}},
	{name: "azure-static-web-apps", profile: azureAtHome, start: startAzure, sameFile: true,
		differ: regexp.MustCompile(`^/a\.b/about(/|\?id=1)?$|^/move/about\?id=7$`), rules: map[string]string{"staticwebapp.config.json": azureRules}},
	{name: "netlify", profile: netlifyAtHome, start: node("netlify.mjs", ""), sameFile: true, rules: map[string]string{"_redirects": `/old/:name /blog/:name
/blog/about /docs/page 301!
/docs/about /blog/page 301
/store id=:id /shop/:id 301
/store id=1 lang=de /de/about
/search q=x /blog/about 200
/search q=:q lang=:l /:l/:q 302
/lang/* /de/:splat 302 Language=de
/country/* /de/:splat 200 Country=de,at
/role/* /team/:splat 200! Role=admin
/cookie/* /new/:splat 302! Cookie=beta
/spa/* /index.html 200
/gone/* /404.html 410
/team/* /about.html 200!
/shop/:a/:b /shop/:b 302
https://other.example/* /blog/:splat 301!
/x/* /x/about
/private/* /404.html 404!
`, "netlify.toml": `[[redirects]]
from = "/toml/*"
to = "/docs/:splat"
query = {id = ":id"}
[[redirects]]
from = "/toml/*"
to = "/blog/:splat"
status = 302
conditions = {Language = ["de"]}
[[redirects]]
from = "/go/:a/:b"
to = "/:b/:a"
status = 200
force = true
[[redirects]]
from = "/ns/*"
to = "/404.html"
status = 404
`}},
	{name: "vercel, cleanUrls", profile: profileNamed("vercel"), start: node("vercel.mjs", ""), sameFile: true,
		differ: regexp.MustCompile(`^/(move/)?about(\.html|[/?]|$)`), rules: map[string]string{"vercel.json": vercelRules}},
	{name: "firebase", profile: profileNamed("firebase"), start: node("firebase.mjs", ""),
		differ: regexp.MustCompile(`^/move`), rules: map[string]string{"firebase.json": firebaseRules}},
	{name: "firebase, cleanUrls", profile: profileNamed("firebase"), start: node("firebase.mjs", ""), sameFile: true,
		differ: regexp.MustCompile(`^/move|^/index\?`), rules: map[string]string{"firebase.json": strings.Replace(firebaseRules, `"hosting": {`, `"hosting": {"cleanUrls": true,`, 1)}},
}

const azureRules = `{
"routes": [
 {"route": "/old/*", "redirect": "/blog/about.html", "statusCode": 301},
 {"route": "/go", "redirect": "/docs/guide/"},
 {"route": "/move/*", "redirect": "/move/about"},
 {"route": "/docs/*.{css,txt}", "statusCode": 404},
 {"route": "/docs/both.html", "redirect": "/new.html"},
 {"route": "/docs/guide/index.html", "rewrite": "/blog/page.html"},
 {"route": "/shop/*", "headers": {"X-A": "b"}},
 {"route": "/shop/page.html", "redirect": "/page.html"},
 {"route": "/role/*", "allowedRoles": ["admin"]},
 {"route": "/team/*", "allowedRoles": ["anonymous"]},
 {"route": "/app/*", "rewrite": "/de/page.html"},
 {"route": "/lang/*.html", "rewrite": "/de/about.html"},
 {"route": "/store", "methods": ["POST"], "statusCode": 404},
 {"route": "/cookie", "rewrite": "/docs/"},
 {"route": "/gone", "statusCode": 404}],
"navigationFallback": {"rewrite": "/index.html", "exclude": ["/blog/*", "/ns/*.{css,txt}"]},
"responseOverrides": {"404": {"rewrite": "/404.html"}}
}`

const vercelRules = `{"cleanUrls": true, "trailingSlash": false,
"redirects": [
 {"source": "/old/:name", "destination": "/blog/:name", "permanent": true},
 {"source": "/n/:id(\\d{1,2})", "destination": "/shop/:id"},
 {"source": "/n/:id(\\d+)", "destination": "/blog/:id", "permanent": false},
 {"source": "/((?!blog|docs).*)/legacy", "destination": "/$1/page"},
 {"source": "/(n|p)/:x([^/.]+)\\.:y(txt|css)", "destination": "/docs/:x.:y"},
 {"source": "/:x((?<!a)about)", "destination": "/new"},
 {"source": "/store", "has": [{"type": "query", "key": "id", "value": "(?<id>\\d+)"}], "destination": "/shop/:id"},
 {"source": "/store", "has": [{"type": "query", "key": "lang", "value": "de"}], "destination": "/de/about"},
 {"source": "/search", "has": [{"type": "query", "key": "q"}], "destination": "/blog/:q"},
 {"source": "/search", "missing": [{"type": "query", "key": "q"}], "destination": "/about.html"},
 {"source": "/lang/:path*", "has": [{"type": "header", "key": "accept-language", "value": "de"}], "destination": "/de/:path*"},
 {"source": "/cookie", "missing": [{"type": "cookie", "key": "beta"}], "destination": "/new"},
 {"source": "/role", "has": [{"type": "host", "value": "other.example"}], "destination": "/team/"},
 {"source": "/move/:a/:b?", "destination": "/:a/:b", "statusCode": 302},
 {"source": "/go{-:where}?", "destination": "/docs/guide/:where"},
 {"source": "/page.html", "destination": "/new"}],
"rewrites": [
 {"source": "/spa/:path*", "destination": "/index.html"},
 {"source": "/app/(.*)", "destination": "/docs/$1"},
 {"source": "/country/:path+", "destination": "/de/:path+"},
 {"source": "/proxy/:path*", "destination": "https://o.example/:path*"},
 {"source": "/x/:name(\\w+)", "destination": "/:name"},
 {"source": "/blog/new", "destination": "/de/new"}]
}`

const firebaseRules = `{"hosting": {
"redirects": [
 {"source": "/old/:name", "destination": "/blog/:name"},
 {"source": "/move/:path*", "destination": "/docs/:path"},
 {"source": "/go{,/**}", "destination": "/docs/guide/", "type": 302},
 {"source": "/@(n|p)/*", "destination": "/blog/page"},
 {"source": "/country/!(de)", "destination": "/de/"},
 {"regex": "^/x/(?<a>\\w+)/y$", "destination": "/blog/:a"},
 {"regex": "^/store/(\\d+)$", "destination": "/shop/:1"},
 {"source": "/about", "destination": "/new"},
 {"source": "/:a/:b/legacy", "destination": "/:b/:a", "type": 302}],
"rewrites": [
 {"source": "/app/**", "destination": "/docs/page.html"},
 {"source": "/role/*", "destination": "/docs/page"},
 {"source": "/lang/*", "destination": "/docs/"},
 {"source": "/cookie", "destination": "/docs/guide"},
 {"source": "/search/**", "function": "search"},
 {"source": "/toml/*", "destination": "/404.html"},
 {"source": "/gone", "destination": "/missing.html"},
 {"source": "/private", "destination": "/blog/index.html"},
 {"source": "!/@(ns|shop)/**", "destination": "/index.html"}]
}}`

// makeRuledDocroot makes a docroot of 80 files with the rule files, and returns
// its path with the requests for it: all addresses that a host may give a file, and
// words of the rules in all orders.
func makeRuledDocroot(t *testing.T, h *webParity) (docroot string, requests []string) {
	t.Helper()
	docroot = t.TempDir()
	write := func(name, text string) {
		testkit.Write(t, filepath.Join(docroot, filepath.FromSlash(name)), text)
	}
	seen := map[string]bool{}
	add := func(paths ...string) {
		for _, p := range paths {
			if !seen[p] {
				seen[p] = true
				requests = append(requests, p)
			}
		}
	}
	files := []string{"404.html", "ns/404.html", "shop/404.html", "docs/guide/404.html", "team/ada.html", "team/ada/photo.txt", "shop/12.html", "shop/7/index.html", "blog/12/index.html"}
	for _, dir := range []string{"", "blog/", "docs/", "docs/guide/", "shop/", "de/", "ns/", "a.b/"} {
		for _, name := range []string{"index.html", "about.html", "about/notes.txt", "new.html", "page.html", "page.css", "both.html", "both/index.html", "x.txt"} {
			files = append(files, dir+name)
		}
	}
	for _, name := range files {
		if name == h.without {
			continue
		}
		write(name, name+"\n")
		p := "/" + name
		stem := strings.TrimSuffix(p, ".html")
		add(p, stem, stem+"/", stem+"?id=1", path.Dir(p), strings.TrimSuffix(path.Dir(p), "/")+"/", path.Dir(p)+"/nope")
	}
	for name, text := range h.rules {
		write(name, text)
	}
	words := strings.Fields("old go spa x move store search lang country role cookie gone team shop private toml app n p proxy twice blog docs ns de about page new both 12 345 legacy y a.txt guide old-page page-7 a-b.html go-on")
	strange := []string{"about%2Fpage", "caf%C3%A9", "with%20space", "page/y", "about?id=7", "About", "page/legacy", "", "?id=&lang=de"}
	for i, a := range words {
		add("/"+a, "/"+a+"/", "/"+a+"?id=1", "/"+a+"?q=x&lang=de", "/"+a+"/about", "/"+a+"/about.html")
		for k := range 8 {
			b, c := words[(i*7+k*5+1)%len(words)], words[(i*11+k*3+2)%len(words)]
			if add("/" + a + "/" + b); k%4 == 0 {
				add("/" + a + "/" + b + "/" + c)
			}
		}
		add("/" + a + "/" + strange[i%len(strange)])
	}
	return docroot, requests
}

// TestWebParityRules: the same on a docroot with rules, as far as they do not
// depend on the visitor.
func TestWebParityRules(t *testing.T) {
	t.Parallel()
	npmFolder(t)
	for _, h := range ruledParities {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			docroot, requests := makeRuledDocroot(t, &h)
			h.compare(t, docroot, h.predict(t, docroot, requests))
		})
	}
}

// maxParityTargets bounds the requests for one corpus: some of these servers
// answer fewer than a hundred a second. SITELINK_PARITY=all lifts it, and asks
// every server on every corpus: that takes an hour.
const maxParityTargets = 600

func allParity() bool { return os.Getenv("SITELINK_PARITY") == "all" }

// TestWebParityCorpora: the same on the documentation of Python, and of what
// else SITELINK_CORPORA holds.
func TestWebParityCorpora(t *testing.T) {
	t.Parallel()
	npmFolder(t)
	dir := os.Getenv("SITELINK_CORPORA")
	if dir == "" {
		t.Skip("SITELINK_CORPORA is not set: it names a directory that holds python3.11-doc/ as unpacked by dpkg -x")
	}
	for _, c := range corpora {
		docroot := filepath.Join(dir, c.pkg, filepath.FromSlash(c.docroot))
		if _, err := os.Stat(docroot); err != nil || !c.need && !allParity() {
			t.Logf("%s is not there, or takes minutes", c.pkg)
			continue
		}
		for _, h := range webParities {
			if h.small && c.pkg != "python3.11-doc" && !allParity() || h.without == "404.html" {
				continue // no corpus has a 404.html to leave out
			}
			t.Run(c.pkg+"/"+h.name, func(t *testing.T) {
				t.Parallel()
				h.compare(t, docroot, webPredictions(t, docroot, h.profile()))
			})
		}
	}
}

// webPredictions are sitelink's answers for every internal target.
func webPredictions(t *testing.T, docroot string, p host.Profile) map[string]prediction {
	t.Helper()
	config := filepath.Join(t.TempDir(), "sitelink.toml")
	testkit.Check(t, os.WriteFile(config, []byte(p.Describe()), 0o644))
	predicted := map[string]prediction{}
	eachLink(t, docroot, []string{"--config", config}, func(r *row) {
		if r.isInternal() && !r.isFault() && r.Status != 0 {
			predicted[r.Target] = prediction{r.Status, r.answeringPath()}
		}
	})
	return predicted
}

// compare asks the software for every target, evenly chosen if they are many.
func (h *webParity) compare(t *testing.T, docroot string, predicted map[string]prediction) {
	t.Helper()
	server := h.start(t, docroot)
	targets := slices.Sorted(maps.Keys(predicted))
	step := (len(targets) + maxParityTargets - 1) / maxParityTargets
	if allParity() {
		step = 1
	}
	compared, differ, worked := 0, 0, 0
	for i := 0; i < len(targets); i += max(step, 1) {
		target, want := targets[i], predicted[targets[i]]
		if compared++; h.tires > 0 && compared%h.tires == 0 {
			server = h.start(t, docroot)
		}
		a := server.ask(t, target)
		same := a.status == want.status && a.final == want.final
		if h.sameFile || want.status >= 400 {
			// Of what is missing only the status counts, not where it is.
			same = a.status == want.status
			if same && a.status == 200 && a.final != want.final {
				same = server.once(t, want.final).body == server.once(t, a.final).body
			}
		}
		if a.status == 200 {
			worked++
		}
		if !same {
			if differ++; differ <= 20 {
				t.Errorf("%s: got %d %s, %s says %v", clip(target), want.status, clip(want.final), h.name, a)
			}
		}
	}
	t.Logf("compared %d of %d targets, %d of them answered with 200: %d differ", compared, len(targets), worked, differ)
	if worked*4 < compared && !strings.Contains(docroot, "public") || worked == 0 {
		t.Errorf("only %d of %d targets answered: the server does not serve this docroot", worked, compared)
	}
}
