package host

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/weburl"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

func golden(t *testing.T, name, got string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the docroot has names that other systems do not allow")
	}
	name = filepath.Join("testdata", name)
	if *update {
		testkit.Check(t, os.WriteFile(name, []byte(got), 0o666))
	}
	want, err := os.ReadFile(name)
	testkit.Check(t, err)
	if got == string(want) {
		return
	}
	old := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(old) || line != old[i] {
			t.Fatalf("%s, line %d: got\n%s\nwant\n%s\n(go test -update rewrites it)", name, i+1, line, strings.Join(old[min(i, len(old)):min(i+1, len(old))], ""))
		}
	}
	t.Fatalf("%s has more lines", name)
}

// outside is a docroot with symbolic links that leave it, and with files that the host
// may not read.
var outside = testkit.Files{"index.html": page, "../outside/secret.html": page, "../outside/with/index.html": page, "../outside/without/x.txt": "", "../outside/.ht": "",
	"file.html": "-> ../outside/secret.html", "dir": "-> ../outside", "null": "-> /dev/null", "idx/index.html": "-> ../../outside/secret.html", "idxnull/index.html": "-> /dev/null",
	"closed/index.html": page, "closed/x.html": page, "unlisted/index.html": page, "unlisted/sub/x.html": page, "unlisted2/x.html": page, "private.html": page, "no/index.html": page}

const outsideLinks = "file.html file.html/ null dir/secret.html dir/secret.html/ dir/secret.html/x dir/gone/x dir/.ht dir dir/with dir/with/ dir/without dir/without/ idx idx/ idxnull/ " +
	"closed closed/ closed/x.html unlisted unlisted/ unlisted/sub/ unlisted2 unlisted2/ private.html private.html/ no no/ no/index.html"

// steps are docroots and links. testdata/steps.txt explains their answers step by
// step.
var steps = []struct {
	name  string
	opt   Options
	files testkit.Files
	links string
}{
	{"linklint outside", Options{Profile: Linklint}, outside, outsideLinks},
	{"lighttpd outside", Options{Profile: builtin("lighttpd")()}, outside, outsideLinks},
	{"firebase outside", Options{Profile: builtin("firebase")()}, outside, outsideLinks},
	{"github-pages outside", Options{Profile: builtin("github-pages")(), Autoindex: AutoindexList}, outside, outsideLinks},
	{"apache", Options{Profile: builtin("apache")(), BaseURLs: []string{"https://example.org/"}}, testkit.Files{
		".htaccess": "Redirect 301 /old /new.html\nRedirect 303 /see /new.html\nRedirect gone /gone\nRedirect 200 /fine\nRewriteEngine on\nRewriteRule ^proxy/(.*)$ http://other.example/$1 [P]\n" +
			"RewriteCond %{REQUEST_FILENAME} -f\nRewriteRule ^(.*)\\.txt$ new.html [L]\nRewriteCond %{REQUEST_FILENAME} -d\nRewriteRule ^isdir new.html [L]\n" +
			"RewriteCond %{THE_REQUEST} once\nRewriteRule ^once$ twice [L]\nRewriteCond %{THE_REQUEST} once\nRewriteRule ^twice$ new.html [L]\nRewriteRule ^loop(.*)$ loop$1x [L]\n" +
			"RewriteRule ^missing$ nothing.html [L]\nRewriteRule ^query$ new.html?a=b [L]\nRewriteCond %{HTTP_COOKIE} x\nRewriteRule ^maybe /new.html [R]\nRewriteRule ^away$ https://example.org/new.html?q [R]\nRewriteRule ^out$ https://other.example/out [R]\n",
		"new.html": page, "file.txt": "", "isdir/x.txt": "", "maybe.html": page, ".htpasswd": "", "noslash/.htaccess": "DirectorySlash Off\n", "noslash/index.html": page,
		"open/.htaccess": "DirectorySlash Off\nOptions +Indexes\n", "open/sub/x.txt": "", "open/slash/.htaccess": "DirectorySlash On\n", "open/slash/x.txt": "", "pipe": "-> /dev/null", "own/.htaccess": "-> /dev/null"},
		"old see gone fine proxy/x file.txt gone.txt isdir once twice loop missing query maybe maybe.html maybe.gif away out noslash noslash/ open open/ open/sub open/slash .htpasswd new.html%2f new.html/x pipe"},
	{"apache below a base path", Options{Profile: builtin("apache")(), BaseURLs: []string{"https://example.org/caf%C3%A9/"}}, testkit.Files{
		".htaccess": "RewriteEngine on\nRewriteCond %{REQUEST_FILENAME} -f\nRewriteRule ^(.*)\\.txt$ new.html [L]\n", "new.html": page, "file.txt": ""}, "file.txt none.txt"},
	{"netlify", Options{Profile: builtin("netlify")(), Rules: []*redirect.File{redirect.Netlify("more", []byte("/more /new.html 302\n"))}}, testkit.Files{
		"_redirects": "/de/* /:splat 302 Language=de\n/only /new.html 200! Country=de\n/a/* /b/:splat\n/b/* /a/:splat\n/api/* https://api.example/:splat 200\n/q /sub?x=1 200\n/keep /sub 200\n/410 /new.html 410\n" + `/bad http://[ 301` + "\n/mail mailto:x@y\n/two /more\n/dir /sub\n",
		"_headers":   "/new.html\n  X-A: b\n", "netlify.toml": "[[redirects]]\nfrom = \"/toml\"\nto = \"/new\"\n", "new.html": page, "sub/index.html": page, "Pic.png": "", "both.html": page, "both/index.html": page, "d.htm": page},
		"two dir more de/x de/new.html only new.html a/x api/x q q?y keep keep?y 410 toml new new/ new.html/ new.html/x pic.PNG NEW sub both both/ d d/ none bad mail"},
	{"firebase", Options{Profile: builtin("firebase")()}, testkit.Files{
		"firebase.json": `{"hosting": {"cleanUrls": true, "trailingSlash": false, "ignore": ["firebase.json", "**/.*", "**/node_modules/**", "**/a/b", "**", "x**y"], "rewrites": [{"source": "/r/**", "destination": "/new.html"}, {"source": "/n/**", "destination": "/none.html"}, {"source": "/d/**", "destination": "/sub"}]}}`,
		"new.html":      page, "sub/index.html": page, ".x/a.html": page, "node_modules/x.html": page, "a/b": "", "404.html": page, "index/x.txt": "", "e/index/index.html": page},
		"firebase.json r/x n/x d/x .x/a.html node_modules/x.html a/b new.html new/ sub/ sub/index.html sub/index 404.html 404 %3Bx a%2Fb index e/index e/index/"},
	{"cloudflare", Options{Profile: builtin("cloudflare-pages")()}, testkit.Files{
		"_redirects": "/old/* /new/:splat\n", "_headers": "/x\n  A: b\n", "index.html": page, "app/x.html": page, "ns/404.html": page, "index/index.html": page, ".html": page, "a?b/index.html": page, "ü/index.html": page},
		"old/x none app/none ns/none ns/x/y index index/ index.html app/x.html app/x/ .html a%3Fb %C3%BC"},
	{"vercel", Options{Profile: builtin("vercel")().WithURLs(true, new(true))}, testkit.Files{"vercel.json": `{"trailingSlash": true, "cleanUrls": true, "rewrites": [{"source": "/r", "destination": "/a.html"}], "redirects": [{"source": "/x", "destination": "/a"}]}`,
		"a.html": page, "b/index.html": page, "b/c.html": page}, "a a/ a.html b b/ b/index b/index.html b/index/ b/c r r/ x x/ a.css"},
	{"vercel without slash", Options{Profile: builtin("vercel")()}, testkit.Files{"vercel.json": `{"trailingSlash": false}`, "a.html": page}, "a a.html a.html/"},
	{"azure", Options{Profile: builtin("azure-static-web-apps")()}, testkit.Files{"staticwebapp.config.json": `{"trailingSlash": "auto", "routes": [{"route": "/old", "redirect": "/a", "statusCode": 302}, {"route": "/no", "statusCode": 404}]}`, "a.html": page, "b/index.html": page, "b/index": ""},
		"old no a a/ a.html b b/ b/index b/index/ b/index.html %FF"},
	{"generic", Options{Maps: []MapRule{{"/m", "/sub"}, {"up", ""}, {"/loop", "/loop"}}, BaseURLs: []string{"https://example.org/base", "https://two.example:8080/"}}, testkit.Files{
		"index.html": page, "sub/index.html": page, "sub/x.html": page, "Case/x.html": page, "a#b/index.html": page, "empty/x.txt": "", "broken": "-> nowhere", "loop1": "-> loop1", "through": "-> index.html/x", ".htx": ""},
		"m/x.html up up/sub/ loop/x sub sub? sub?q sub//x.html a%23b empty empty/ broken loop1 through case/x.html .htx %2e%2e%2f%2e%2e/x %00 %zz mailto:x ftp://a/ https://u:p@example.org/base/ https://two.example:8080/sub/ https://two.example/sub/ https://example.org /index.html /index.htm /sub/x.html?q#f ../base"},
	{"rooted", Options{Roots: []Root{{"en", "https://en.example/"}, {"/fr/", "https://fr.example:81/sub/"}, {"fr/ca", "https://ca.example/"}}}, testkit.Files{"index.html": page, "en/index.html": page, "en/x.html": page, "fr/index.html": page, "fr/ca/x.html": page, "frx.html": page},
		"en https://en.example https://en.example?q https://fr.example:81/sub https://fr.example:81/sub? https://fr.example:81/ca/x.html https://fr.example:81/ https://ca.example/x.html https://ca.example/ /frx.html"},
	{"linklint", Options{Profile: Linklint, Index: []string{"main.html"}}, testkit.Files{"main.html": page, "d/MAIN.html": page, "e/x": "", "f.html": page}, "/ d d/ e e/ f.html/ f"},
	{"lighttpd", Options{Profile: builtin("lighttpd")()}, testkit.Files{"f.html": page, "index.html": page, "%zz": ""}, "f.html/ f.html/x/y %zz %2e%2e/f.html"},
	{"hugo-server", Options{Profile: builtin("hugo-server")()}, testkit.Files{"f.html": page, "d/index.html": page, "e/x": "", "a?b/index.html": page}, "f.html/ f.html/x d d/ d/index.html d//x e e/ e%2F%2E%2E a%3Fb d%2f%2f d?q"},
	{"s3", Options{Profile: builtin("s3")()}, testkit.Files{"d/index.html": page}, "d d/ d? d?q d//index.html %FF %2e%2e"},
	{"caddy", Options{Profile: builtin("caddy")(), Autoindex: AutoindexList}, testkit.Files{"d/index.txt": "", "e/x": "", "a#b/index.html": page}, "d d? d?q e e/ a%23b %2e%2e/d/"},
}

// TestSteps compares the answers with testdata/steps.txt.
func TestSteps(t *testing.T) {
	var b strings.Builder
	for _, c := range steps {
		root := testkit.MakeDocroot(t, c.files)
		if _, ok := c.files["no/index.html"]; ok {
			for name, mode := range map[string]os.FileMode{"closed": 0o700, "unlisted": 0o711, "unlisted2": 0o711, "private.html": 0o600, "no": 0o644} {
				testkit.Chmod(t, filepath.Join(root, name), mode)
			}
		}
		h := loadHost(t, root, c.opt)
		fmt.Fprintf(&b, "\n# %s: base %q %q, authority %q, published %t, addresses %q, index %q, rules %q, lists %t\n", c.name, h.BaseURL(), h.BasePath(), h.Authority(), h.Published(), h.Addresses(), h.IndexNames(), h.RulePaths(), h.ListsDirectories())
		for _, f := range h.ruleFiles {
			fmt.Fprintf(&b, "read %s\n", f.Name)
		}
		for _, f := range h.RuleFaults() {
			fmt.Fprintf(&b, "%s:%d: %s\n", f.File, f.Line, f.Code)
		}
		for id := range h.tree.Nodes {
			id := docroot.NodeID(id)
			path := "/" + h.tree.Path(id)
			origin, public := h.Public(path)
			if h.tree.Nodes[id].Kind == docroot.KindDir && h.Href(id) == strings.TrimSuffix(h.BasePath()+path, "/")+"/" {
				continue
			}
			if href, at := h.Href(id), h.PageAddress(id); href != h.BasePath()+path || !strings.HasSuffix(at, h.BasePath()+path) || public != path {
				fmt.Fprintf(&b, "%s: %s, %s, %s\n", path, href, at, origin+public)
			}
		}
		base := must(weburl.Parse(h.PageAddress(0)))
		for href := range strings.FieldsSeq(c.links) {
			u, err := base.Resolve(href)
			testkit.Check(t, err)
			var trace []Step
			r := h.Resolve(u, &trace)
			fmt.Fprintf(&b, "%s: %s %d %s", href, stateName(t, r.State), r.Status, r.Target)
			for _, part := range [][2]string{{" = ", h.pathOf(r.Node)}, {" > ", r.Final}, {" meant ", r.Meant}, {"; ", r.Note}} {
				if part[1] != "" {
					b.WriteString(part[0] + part[1])
				}
			}
			if r.Temporary {
				b.WriteString("; temporary")
			}
			for _, s := range trace[:min(len(trace), 4)] {
				fmt.Fprintf(&b, " | %s: %s", s.Rule, s.Text)
			}
			b.WriteByte('\n')
		}
	}
	golden(t, "steps.txt", b.String())
}

func (h *Host) pathOf(id docroot.NodeID) string {
	if id == docroot.NoNode {
		return ""
	}
	return "/" + h.tree.Path(id)
}

// TestHugoServer tests which addresses the docroot of a running hugo server has.
func TestHugoServer(t *testing.T) {
	script := func(base, query string) string {
		return `<script src="` + base + `livereload.js?mindelay=10&amp;v=2` + query + `" data-no-instant defer></script>`
	}
	home := script("/", "&amp;port=1313&amp;path=livereload")
	base := []string{"https://example.org/"}
	for _, c := range []struct {
		name  string
		files testkit.Files
		opt   Options
		want  string // the address of the server, and all
	}{
		{"none", testkit.Files{"index.html": page}, Options{}, " []"},
		{"unknown host", testkit.Files{"index.html": home}, Options{}, "http://localhost:1313/ [http://localhost:1313]"},
		{"base URL", testkit.Files{"index.html": home}, Options{BaseURLs: base}, "http://localhost:1313/ [https://example.org http://localhost:1313]"},
		{"base path of the server", testkit.Files{"index.html": script("/docs/", "&amp;port=1314")}, Options{BasePath: "/x/"}, "http://localhost:1314/docs/ [http://localhost:1314/docs]"},
		{"other base path", testkit.Files{"index.html": script("/docs/", `\u0026port=1314`)}, Options{BaseURLs: base}, "http://localhost:1314/docs/ [http://localhost:1314/docs https://example.org]"},
		{"relative URLs", testkit.Files{"index.html": script("../", "&amp;port=1314")}, Options{}, "http://localhost:1314/ [http://localhost:1314]"},
		{"without quotes", testkit.Files{"index.html": "<script src=/livereload.js?mindelay=10&port=1314>"}, Options{}, "http://localhost:1314/ [http://localhost:1314]"},
		{"end of file", testkit.Files{"index.html": "livereload.js?mindelay=10&port=1314"}, Options{}, "http://localhost:1314/ [http://localhost:1314]"},
		{"no port", testkit.Files{"index.html": script("/", "&amp;path=x")}, Options{}, " []"},
		{"port 0", testkit.Files{"index.html": script("/", "&amp;port=0")}, Options{}, " []"},
		{"no URL", testkit.Files{"index.html": script("http://[", "&amp;port=1")}, Options{}, " []"},
		{"host of the sitemap", testkit.Files{"index.html": script("/docs/", "&amp;port=1313"), "sitemap.xml": "<loc> http://dev.example:1313/docs/x/</loc>"}, Options{}, "http://localhost:1313/docs/ [http://localhost:1313/docs http://dev.example:1313/docs]"},
		{"only the sitemap", testkit.Files{"index.html": script("/", ""), "sitemap.xml": "<loc>https://dev.example/</loc>"}, Options{}, "https://dev.example/ [https://dev.example]"},
		{"sitemap elsewhere", testkit.Files{"index.html": script("/docs/", "&amp;port=1313"), "sitemap.xml": "<loc>http://dev.example/other/</loc>"}, Options{}, "http://localhost:1313/docs/ [http://localhost:1313/docs]"},
		{"same host", testkit.Files{"index.html": home, "sitemap.xml": "<loc>http://localhost:1313/</loc>"}, Options{}, "http://localhost:1313/ [http://localhost:1313]"},
		{"bad sitemap", testkit.Files{"index.html": home, "sitemap.xml": "<loc>ftp://x/</loc>"}, Options{}, "http://localhost:1313/ [http://localhost:1313]"},
		{"languages", testkit.Files{"index.html": page, "assets/index.html": script("/", "&amp;port=1"), "fr/x.html": page, "pt-br/index.html": home, "zh/index.html": script("/", "&amp;port=2")}, Options{}, "http://localhost:1313/ [http://localhost:1313]"},
		{"a file like a language", testkit.Files{"en": home}, Options{}, " []"},
		{"a directory like a home page", testkit.Files{"index.html/x": home}, Options{}, " []"},
		{"far down", testkit.Files{"index.html": strings.Repeat(" ", 64<<10) + home}, Options{}, " []"},
		{"roots", testkit.Files{"index.html": page, "en/index.html": home, "fr/index.html": script("/", "&amp;port=1314"), "de/index.html": script("/", "&amp;port=9")}, Options{Roots: []Root{{"/en/", "https://en.example/"}, {"fr", "https://fr.example/"}, {".", "https://x.example"}}},
			"http://localhost:1313/ [https://en.example https://fr.example https://x.example http://localhost:1313 http://localhost:1314]"},
	} {
		root := testkit.MakeDocroot(t, c.files)
		h := loadHost(t, root, c.opt)
		if got := fmt.Sprint(h.ServerURL(), " ", h.Addresses()); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		if !h.SameServers() {
			t.Errorf("%s: the servers are others at once", c.name)
		}
		if origin, _ := h.Public("/"); len(c.opt.BaseURLs) == 0 && len(c.opt.Roots) == 0 && origin != "" {
			t.Errorf("%s: published at %s", c.name, origin)
		}
		testkit.Check(t, os.RemoveAll(root))
		if same := h.ServerURL() == ""; h.SameServers() != same {
			t.Errorf("%s: without the docroot, SameServers is %t", c.name, !same)
		}
	}
	h := loadHost(t, testkit.MakeDocroot(t, testkit.Files{"index.html": page, "x.html": page, "en/index.html": home, "en/x.html": page}), Options{Roots: []Root{{"en", "https://en.example/"}}})
	compareRows(t, h, "x.html", []row{
		{"script", "/livereload.js?mindelay=10", "Livereload 0 /livereload.js?mindelay=10"},
		{"other query", "/livereload.js?x", "MissingFile 404 /livereload.js?x"},
		{"other name", "/reload.js?mindelay=10", "MissingFile 404 /reload.js?mindelay=10"},
		{"root on the server", "http://localhost:1313/x.html", "OK 200 /en/x.html = en/x.html"},
	})
}

// TestStates: a file answers, or answers with a warning, or the link is broken, or it
// was not checked, perhaps with a warning.
func TestStates(t *testing.T) {
	got := ""
	for s := StateOK; s <= StateLivereload; s++ {
		got += map[string]string{"true false false": "a", "true true false": "w", "false false true": "e", "false false false": "-", "false true false": "!"}[fmt.Sprint(s.Answers(), s.IsWarning(), s.IsError())]
	}
	if want := "aawwwwwwwwwweeeeeeeeeeeeeeeeee-!!!!!----------!!---"; want != got {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestSharedProfile: where two hosts differ, the shared profile is generic.
func TestSharedProfile(t *testing.T) {
	for _, c := range []struct{ names, name, rules, page, charset, empty string }{
		{"netlify cloudflare-pages", "netlify or cloudflare-pages", "netlify or cloudflare", "serve", "utf-8", "404"},
		{"netlify", "netlify", "netlify", "serve", "utf-8", "404"},
		{"netlify nothing", "netlify or nothing", "netlify", "serve", "utf-8", "404"},
		{"netlify vercel", "netlify or vercel", "none", "missing", "utf-8", "404"},
		{"cloudflare-pages s3", "cloudflare-pages or s3", "none", "missing", "", "404"},
		{"generic nginx", "generic or nginx", "none", "missing", "", "403"},
		{"nothing", "nothing", "none", "missing", "", "403"},
	} {
		p := SharedProfile(strings.Fields(c.names))
		if got := []any{p.Name, p.Rules, p.Page, p.Charset, p.EmptyDirectory, p.Portable}; fmt.Sprint(got...) != fmt.Sprint(c.name, Way(c.rules), Way(c.page), c.charset, must(strconv.Atoi(c.empty)), false) {
			t.Errorf("%s: got %v, want %v", c.names, got, c)
		}
	}
}
