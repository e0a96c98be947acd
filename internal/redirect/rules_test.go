package redirect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// query is a request target and the expected result: status, kind and destination,
// or "" if no rule applies.
type query struct {
	target string
	want   string
}

// entries is a small docroot for rules that test whether a file exists.
var entries = map[string]EntryKind{"/": DirEntry, "/file.html": FileEntry, "/page.html": FileEntry, "/dir": DirEntry, "/dir/": DirEntry, "/index.html": FileEntry}

// answerOf evaluates the rules before the files and then, if none applies, those
// after them.
func answerOf(set *Set, target string) string {
	scheme, host := "https", "h.example"
	if rest, ok := strings.CutPrefix(target, "http://"); ok {
		var path string
		host, path, _ = strings.Cut(rest, "/")
		scheme, target = "http", "/"+path
	}
	path, query, _ := strings.Cut(target, "?")
	req := Request{Scheme: scheme, Host: host, Path: path, Query: query, Entry: func(p string) EntryKind { return entries[p] }}
	for _, req.Stage = range []Stage{BeforeFiles, AfterFiles} {
		if hit, ok := set.Match(req); ok {
			conditional := ""
			if hit.Rule.Conditional {
				conditional = " if"
			}
			return strings.TrimSpace(fmt.Sprintf("%d %s %s", hit.Rule.Status, hit.Rule.Kind, hit.To)) + conditional
		}
	}
	return ""
}

func checkQueries(t *testing.T, set *Set, queries []query) {
	t.Helper()
	for _, q := range queries {
		if got := answerOf(set, q.target); got != q.want {
			t.Errorf("%s: got %q, want %q", q.target, got, q.want)
		}
		path, _, _ := strings.Cut(q.target, "?")
		if _, ok := set.Match(Request{Path: path, Entry: func(p string) EntryKind { return entries[p] }}); ok && !set.MayMatch(path) {
			t.Errorf("%s: a rule applies before the files, but MayMatch returns false", path)
		}
	}
}

// faultsOf lists faults as "line code".
func faultsOf(faults []Fault) []string {
	var out []string
	for _, f := range faults {
		out = append(out, fmt.Sprintf("%d %s", f.Line, f.Code))
	}
	return out
}

func checkFaults(t *testing.T, faults []Fault, want ...string) {
	t.Helper()
	if got := faultsOf(faults); !slices.Equal(got, want) {
		t.Errorf("faults %q, want %q", got, want)
		for _, f := range faults {
			t.Logf("%+v", f)
		}
	}
}

// TestNetlify_redirects has cases measured with netlify-redirect-parser 14.4.0 and
// netlify-redirector 0.5.0; TestNetlifyOracle has many more.
func TestNetlify_redirects(t *testing.T) {
	tests := []struct {
		name, rules string
		faults      []string
		queries     []query
	}{
		{"literal", "/foo /bar\n", nil, []query{{"/foo", "301 redirect /bar"}, {"/foo/", "301 redirect /bar"}, {"/FOO", ""}, {"/foo/x", ""}, {"/%66oo", ""}, {"/foo?x=1", "301 redirect /bar?x=1"}}},
		{"first_match_wins", "/a/* /z\n/a/b /y\n", nil, []query{{"/a/b", "301 redirect /z"}}},
		{"splat", "/foo/* /bar/:splat 302\n", nil, []query{{"/foo", "302 redirect /bar/"}, {"/foo/x/y/", "302 redirect /bar/x/y/"}, {"/foobar", ""}}},
		{"splat_inside_segment", "/foo* /bar/:splat\n", nil, []query{{"/foobar", "301 redirect /bar/bar"}, {"/foo/bar", "301 redirect /bar/bar"}}},
		{"splat_in_the_middle", "/a/*/b /c/:splat\n", nil, []query{{"/a/x/y/b", "301 redirect /c/x/y"}, {"/a/b", "301 redirect /c/"}, {"/a/x/", ""}}},
		{"placeholder", "/p/:a/:b /q/:b/:a\n", nil, []query{{"/p/1/2", "301 redirect /q/2/1"}, {"/p/1", ""}, {"/p/b%20c/x", "301 redirect /q/x/b%20c"}}},
		{"placeholder_takes_whole_segment", "/a/:x.html /b/:x\n", nil, []query{{"/a/1", "301 redirect /b/:x"}}},
		{"query", "/x id=:id /y/:id\n/x /z\n", nil, []query{{"/x?b=2&id=1", "301 redirect /y/1"}, {"/x?id=a%20b", "301 redirect /y/a+b"}, {"/x", "301 redirect /z"}, {"/x?id", "301 redirect /z?id"}}},
		{"forced", "/a /b 301!\n/c /d\n", nil, []query{{"/a", "301 redirect /b"}, {"/c", "301 redirect /d"}}},
		{"proxy_and_rewrite", "/api/* https://api.example/:splat 200\n/app/* /index.html 200\n", nil, []query{{"/api/x", "200 proxy https://api.example/x"}, {"/app/x", "200 rewrite /index.html"}}},
		{"status", "/x /404.html 404\n/y /gone 410\n", nil, []query{{"/x", "404 status /404.html"}, {"/y", "410 status /gone"}}},
		{"conditions", "/x /us 302 Country=us,ca\n/x /z\n", nil, []query{{"/x", "302 redirect /us if"}}},
		{"host", "https://o.example/x /y\nhttp://www.h.example/* https://h.example/:splat 301!\n", nil, []query{{"/x", ""}, {"http://www.h.example/a", "301 redirect https://h.example/a"}}},
		{"onto_itself", "/* /x/y\n/x/y /z\n", nil, []query{{"/x/y", ""}, {"/q", "301 redirect /x/y"}}},
		{"comments", "# c\n\n/x   \t/y 302 # why\n", nil, []query{{"/x", "302 redirect /y"}}},
		{"no_destination", "/x\n/x/* 200\n/y 200\n/a b\n", []string{"1 " + CodeSyntax, "3 " + CodeSyntax, "4 " + CodeSyntax}, []query{{"/x/1", "200 rewrite /x/1"}}},
		{"bad_status", "/x /y abc\n/x /z\n/w /y 999\n", []string{"1 " + CodeSyntax, "3 " + CodeSyntax}, []query{{"/x", "301 redirect /z"}}},
		{"never", "/über /y\n/a?b /y\n/a//b /y\n", []string{"1 " + CodeUnreachable, "2 " + CodeUnreachable, "3 " + CodeUnreachable}, []query{{"/%C3%BCber", ""}}},
		{"reserved", "/.netlify/x /y\n", []string{"1 " + CodeSyntax}, []query{{"/.netlify/x", ""}}},
		{"crlf_and_bom", "\xef\xbb\xbf/x /y\r\n/a /b\r\n", nil, []query{{"/x", "301 redirect /y"}, {"/a", "301 redirect /b"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := Netlify("_redirects", []byte(test.rules))
			checkFaults(t, f.Faults, test.faults...)
			checkQueries(t, New(Options{}, f), test.queries)
		})
	}
}

func TestNetlifyForcedBehindUnforced(t *testing.T) {
	// Netlify's matcher chooses the first rule before it considers force.
	set := New(Options{}, Netlify("_redirects", []byte("/a /b\n/a /c 301!\n")))
	if hit, ok := set.Match(Request{Path: "/a"}); ok {
		t.Errorf("before the files: got %v, want none", hit.To)
	}
	if hit, _ := set.Match(Request{Path: "/a", Stage: AfterFiles}); hit.To != "/b" {
		t.Errorf("after the files: got %q, want /b", hit.To)
	}
}

// TestCloudflare_redirects has cases measured with wrangler 4.164.0 and pages-shared
// 0.13.189.
func TestCloudflare_redirects(t *testing.T) {
	long := strings.Repeat("x", 1001)
	tests := []struct {
		name, rules string
		faults      []string
		queries     []query
	}{
		{"default_302", "/a /b\n", nil, []query{{"/a", "302 redirect /b"}, {"/a/", ""}, {"/a?q=1", "302 redirect /b?q=1"}}},
		{"own_query_wins", "/a /b?z=1#f\n", nil, []query{{"/a?q=1", "302 redirect /b?z=1#f"}}},
		{"static_before_dynamic", "/s /t\n/x/* /y/:splat\n/x/1 /z\n", nil, []query{{"/s", "302 redirect /t"}, {"/x/1", "302 redirect /y/1"}}},
		{"static_wins_over_earlier_text", "/x/1 /z\n/x/* /y/:splat\n", nil, []query{{"/x/1", "302 redirect /z"}, {"/x/2", "302 redirect /y/2"}, {"/x", ""}}},
		{"splat_anywhere", "/a/*b/c /d/:splat\n", nil, []query{{"/a/x/yb/c", "302 redirect /d/x/y"}}},
		{"two_splats", "/a/*/b/* /c\n", []string{"1 " + CodeSyntax}, []query{{"/a/1/b/2", ""}}},
		{"placeholder_in_segment", "/a/x-:n.html /b/:n\n", nil, []query{{"/a/x-1.html", "302 redirect /b/1"}}},
		{"name_twice", "/a/:n/:n /b\n", []string{"1 " + CodeSyntax}, []query{{"/a/1/1", ""}}},
		{"rewrite", "/a/* /b 200\n/p https://o.example/ 200\n", []string{"2 " + CodeSyntax}, []query{{"/a/1", "200 rewrite /b"}}},
		{"forced_is_no_status", "/a /b 301!\n", []string{"1 " + CodeSyntax}, []query{{"/a", ""}}},
		{"query_condition", "/a id=1 /b 301\n", []string{"1 " + CodeSyntax}, nil},
		{"host_source", "https://h.example/a /b\n", []string{"1 " + CodeSyntax}, nil},
		{"http_destination", "/a http://o.example/\n", []string{"1 " + CodeSyntax}, nil},
		{"duplicate", "/a /b\n/a /c\n", []string{"2 " + CodeUnreachable}, []query{{"/a", "302 redirect /b"}}},
		{"encoded_as_requested", "/ü /b\n", nil, []query{{"/%C3%BC", "302 redirect /b"}}},
		{"onto_index", "/* /index.html 200\n/x/ /y/index\n", []string{"1 " + CodeSyntax, "2 " + CodeSyntax}, nil},
		{"inline_comment", "/a /b 301 # c\n", nil, []query{{"/a", "301 redirect /b"}}},
		{"long_line", "/a /" + long + "\n/b /" + long + long + "\n", []string{"1 " + CodeLimit, "2 " + CodeLimit}, []query{{"/b", ""}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := Cloudflare("_redirects", []byte(test.rules))
			checkFaults(t, f.Faults, test.faults...)
			checkQueries(t, New(Options{}, f), test.queries)
		})
	}
}

func TestCloudflareLimits(t *testing.T) {
	var static, dynamic strings.Builder
	for i := range 2001 {
		fmt.Fprintf(&static, "/s%d /x\n", i)
	}
	for i := range 102 {
		fmt.Fprintf(&dynamic, "/d%d/* /x\n", i)
	}
	f := Cloudflare("_redirects", []byte(static.String()+dynamic.String()))
	checkFaults(t, f.Faults, "2001 "+CodeLimit, "2102 "+CodeLimit)
	if len(f.Rules) != 2100 {
		t.Errorf("%d rules, want 2,000 static and 100 dynamic", len(f.Rules))
	}
}

func TestNetlifyTOML(t *testing.T) {
	f := NetlifyTOML("netlify.toml", []byte(`[build]
publish = "public"

[[redirects]]
from = "/a/*"
to = "/b/:splat"
status = 302
force = true

[[redirects]]
  from = "/q"
  to = "/r/:id"
  query = {id = ":id"}

[[redirects]]
from = "/c"
to = "/d"
conditions = {Country = ["us", "ca"]}

[[redirects]]
to = "/nowhere"

[[redirects]]
from = "/proxy/*"
to = "https://api.example/:splat"
status = 200
signed = "KEY"
headers = {X-From = "Netlify"}

[[headers]]
for = "/x/*"
  [headers.values]
  X-Robots-Tag = "noindex"
`))
	checkFaults(t, f.Faults, "20 "+CodeSyntax)
	if f.Settings.Public != "public" {
		t.Errorf("publish %q", f.Settings.Public)
	}
	var lines []int
	for _, r := range f.Rules {
		lines = append(lines, r.Source.Line)
	}
	if !slices.Equal(lines, []int{5, 11, 16, 24}) {
		t.Errorf("lines %v", lines)
	}
	checkQueries(t, New(Options{}, f), []query{{"/a/1", "302 redirect /b/1"}, {"/q?id=5", "301 redirect /r/5"}, {"/c", "301 redirect /d if"}, {"/proxy/1", "200 proxy https://api.example/1"}})
	if len(f.Headers) != 1 || f.Headers[0].Source.Line != 31 || !f.Headers[0].Applies("/x/1") || f.Headers[0].Applies("/y") {
		t.Errorf("headers %+v", f.Headers)
	}

	inline := NetlifyTOML("netlify.toml", []byte("redirects = [\n  {from = \"/a\", to = \"/b\"},\n  {from = \"/c\", to = \"/d\"},\n]\n"))
	if len(inline.Rules) != 2 || inline.Rules[0].Source.Line != 2 || inline.Rules[1].Source.Line != 3 {
		t.Errorf("inline tables: %+v", inline.Rules)
	}
	checkFaults(t, NetlifyTOML("netlify.toml", []byte("\n[[redirects]\n")).Faults, "2 "+CodeSyntax)
	checkFaults(t, NetlifyTOML("netlify.toml", []byte("[redirects]\nfrom = \"/a\"\n")).Faults, "1 "+CodeSyntax)
}

func TestVercel(t *testing.T) {
	f := Vercel("vercel.json", []byte(`{
  "cleanUrls": true,
  "trailingSlash": false,
  "redirects": [
    {"source": "/a", "destination": "/b"},
    {"source": "/blog/:slug", "destination": "/news/:slug", "permanent": false},
    {"source": "/docs/:path*", "destination": "/d/:path*", "statusCode": 302},
    {"source": "/post/:id(\\d+)", "destination": "/p/:id"},
    {"source": "/old/(.*)", "destination": "/new/$1"},
    {"source": "/c", "has": [{"type": "cookie", "key": "k"}], "destination": "/cookie"},
    {"source": "/h", "has": [{"type": "host", "value": "www.h.example"}], "destination": "https://h.example/h"},
    {"source": "/q", "has": [{"type": "query", "key": "id"}], "destination": "/r/:id"},
    {"source": "/bad(", "destination": "/x"},
    {"source": "relative", "destination": "/x"}
  ],
  "rewrites": [
    {"source": "/api/(.*)", "destination": "/api"},
    {"source": "/((?!assets/).*)", "destination": "/index.html"}
  ],
  "headers": [{"source": "/s/(.*)", "headers": [{"key": "Link", "value": "</x>"}]}]
}`))
	checkFaults(t, f.Faults, "13 "+CodeSyntax, "14 "+CodeSyntax)
	if !f.Settings.CleanURLs || f.Settings.TrailingSlash == nil || *f.Settings.TrailingSlash {
		t.Errorf("settings %+v", f.Settings)
	}
	checkQueries(t, New(Options{}, f), []query{
		{"/a", "308 redirect /b"}, {"/a/", "200 rewrite /index.html"}, {"/blog/x", "307 redirect /news/x"},
		{"/docs", "302 redirect /d/"}, {"/docs/a/b", "302 redirect /d/a/b"}, {"/post/12", "308 redirect /p/12"}, {"/post/x", "200 rewrite /index.html"},
		{"/old/a/b", "308 redirect /new/a/b"}, {"/c", "308 redirect /cookie if"}, {"http://www.h.example/h", "308 redirect https://h.example/h"},
		{"/h", "200 rewrite /index.html"}, {"/q?id=7", "308 redirect /r/7?id=7"}, {"/q", "200 rewrite /index.html"},
		{"/api/x", "200 proxy /api"}, {"/assets/x", ""}, {"/assetsx", "200 rewrite /index.html"},
	})
	if f.Rules[1].Source.Line != 6 || len(f.Headers) != 1 || f.Headers[0].Source.Line != 20 || !f.Headers[0].Applies("/s/1") {
		t.Errorf("lines: %+v, %+v", f.Rules[1].Source, f.Headers)
	}
	checkFaults(t, Vercel("vercel.json", []byte("{\n  \"redirects\": [\n}")).Faults, "3 "+CodeSyntax)
}

func TestVercelRoutes(t *testing.T) {
	f := Vercel("vercel.json", []byte(`{"routes": [
  {"src": "/a/(.*)", "status": 301, "headers": {"Location": "/b/$1"}},
  {"src": "/(.*)", "headers": {"X": "y"}, "continue": true},
  {"src": "^/n/(?<name>[^/]+)$", "dest": "/named/$name"},
  {"handle": "filesystem"},
  {"src": "/api/(.*)", "dest": "/api/x.js"},
  {"src": "/(.*)", "status": 404, "dest": "/404.html"}
]}`))
	checkFaults(t, f.Faults)
	checkQueries(t, New(Options{}, f), []query{{"/a/1", "301 redirect /b/1"}, {"/n/q", "200 rewrite /named/q"}, {"/api/1", "200 proxy /api/x.js"}, {"/zz", "404 status /404.html"}})
	if f.Rules[2].Stage != AfterFiles || f.Rules[0].Stage != BeforeFiles {
		t.Errorf("{\"handle\": \"filesystem\"} must separate the stages: %+v", f.Rules)
	}
}

func TestFirebase(t *testing.T) {
	f := Firebase("firebase.json", []byte(`{
  // comments are allowed
  "hosting": {
    "public": "dist", "ignore": ["firebase.json", "**/.*"], "cleanUrls": true, "trailingSlash": false,
    "redirects": [
      {"source": "/foo", "destination": "/bar", "type": 302},
      {"source": "/foo{,/**}", "destination": "/all"},
      {"source": "/blog/:post*", "destination": "/posts/:post"},
      {"regex": "/r/(?P<id>\\d+)$", "destination": "/id/:id"},
      {"source": "/x/*.@(jpg|png)", "destination": "https://img.example/"},
      {"destination": "/nothing"}
    ],
    "rewrites": [
      {"source": "/fn/**", "function": "f"},
      {"source": "!/@(js|css)/**", "destination": "/index.html"}
    ]
  }
}`))
	checkFaults(t, f.Faults, "11 "+CodeSyntax)
	if f.Settings.Public != "dist" || len(f.Settings.Ignore) != 2 {
		t.Errorf("settings %+v", f.Settings)
	}
	checkQueries(t, New(Options{}, f), []query{
		{"/foo", "302 redirect /bar"}, {"/foo/a/b", "301 redirect /all"}, {"/blog/a", "301 redirect /posts/a"},
		{"/r/12", "301 redirect /id/12"}, {"/x/a.jpg", "301 redirect https://img.example/"}, {"/x/a.gif", "200 rewrite /index.html"},
		{"/fn/a", "200 proxy"}, {"/js/a.js", ""}, {"/jsx/a.js", "200 rewrite /index.html"},
	})
	if f.Rules[1].Source.Line != 7 {
		t.Errorf("line %d", f.Rules[1].Source.Line)
	}
	list := []byte(`{"hosting": [{"target": "a", "redirects": [{"source": "/x", "destination": "/a"}]}, {"target": "b", "redirects": [
{"source": "/x", "destination": "/b"}]}]}`)
	checkFaults(t, Firebase("firebase.json", list).Faults, "1 "+CodeUnjudged)
}

func TestAzure(t *testing.T) {
	f := Azure("staticwebapp.config.json", []byte(`{
  "trailingSlash": "auto",
  "routes": [
    {"route": "/old", "redirect": "/new", "statusCode": 301},
    {"route": "/moved*", "redirect": "/moved/here"},
    {"route": "/img/*.{png,jpg}", "headers": {"Cache-Control": "max-age=9"}},
    {"route": "/img/*", "statusCode": "404"},
    {"route": "/profile/index.html", "rewrite": "/p.html"},
    {"route": "/call/*", "rewrite": "/api/call"},
    {"route": "/members/*", "allowedRoles": ["authenticated"]},
    {"route": "/forms/*", "methods": ["POST"], "statusCode": 404},
    {"route": "/a*b", "redirect": "/"},
    {"route": "/both", "redirect": "/", "rewrite": "/"}
  ],
  "navigationFallback": {"rewrite": "index.html", "exclude": ["/img/*", "/css/*.css"]},
  "globalHeaders": {"X-A": "b"}
}`))
	checkFaults(t, f.Faults, "12 "+CodeSyntax, "13 "+CodeSyntax)
	checkQueries(t, New(Options{}, f), []query{
		{"/old", "301 redirect /new"}, {"/old/", "200 rewrite /index.html"}, {"/moved/x", "302 redirect /moved/here"}, {"/moved/here", "200 rewrite /index.html"},
		{"/img/a.png", ""}, {"/img/a.gif", "404 status"}, {"/profile", "200 rewrite /p.html"}, {"/profile/", "200 rewrite /p.html"}, {"/profile/x", "200 rewrite /index.html"},
		{"/call/x", "200 proxy /api/call"}, {"/members/x", "401 status if"}, {"/forms/x", "200 rewrite /index.html"}, {"/css/a.css", ""}, {"/css/a.png", "200 rewrite /index.html"},
		{"/.auth/login/github", "200 proxy /.auth/"}, {"/api/x", "200 proxy /api/"},
	})
	if s := f.Settings; !s.CleanURLs || s.TrailingSlash != nil || len(f.Headers) != 2 || !f.Headers[0].Applies("/img/a.jpg") || f.Headers[0].Applies("/img/a.gif") {
		t.Errorf("settings %+v, headers %+v", s, f.Headers)
	}
	if f.Rules[0].Source.Line != 4 {
		t.Errorf("line %d", f.Rules[0].Source.Line)
	}
}

func TestHtaccess_modAlias(t *testing.T) {
	f := Htaccess("/", ".htaccess", []byte(`# comment
Redirect /old /new
Redirect permanent "/with space" https://o.example/
RedirectPermanent /p /q
Redirect gone /gone
Redirect 404 /nothing
RedirectMatch 301 ^/blog/(\d+)/(.*)$ /b-$2/$1
RedirectMatch "\.php$" /php.html
Redirect 299 /a /b
Redirect /only
<IfModule mod_alias.c>
RedirectTemp /t /u
</IfModule>
<IfModule !mod_rewrite.c>
Redirect /skipped /x
</IfModule>
<If "%{HTTP_HOST} == 'x'">
Redirect /if /x
</If>
`))
	checkFaults(t, f.Faults, "9 "+CodeSyntax, "10 "+CodeSyntax)
	checkQueries(t, New(Options{}, f), []query{
		{"/old", "302 redirect /new"}, {"/old/a%20b?q=1", "302 redirect /new/a%20b?q=1"}, {"/older", ""}, {"/with%20space", "301 redirect https://o.example/"},
		{"/p/1", "301 redirect /q/1"}, {"/gone", "410 status"}, {"/nothing/x", "404 status"},
		{"/blog/12/x/y", "301 redirect /b-x/y/12"}, {"/a.php", "302 redirect /php.html"}, {"/t", "302 redirect /u"}, {"/skipped", ""}, {"/if", "302 redirect /x if"},
	})
}

func TestHtaccess_modRewrite(t *testing.T) {
	root := Htaccess("/", ".htaccess", []byte(`RewriteEngine On
RewriteBase /
RewriteRule ^a/(.*)$ b/$1 [R=301,L]
RewriteRule ^gone$ - [G]
RewriteRule ^secret - [F]
RewriteCond %{HTTP_HOST} ^www\.(.+)$ [NC]
RewriteRule ^(.*)$ https://%1/$1 [R=301,L]
RewriteCond %{HTTPS} off
RewriteRule ^(.*)$ https://%{HTTP_HOST}%{REQUEST_URI} [R=301,L]
RewriteCond %{QUERY_STRING} ^id=(\d+)$
RewriteRule ^show$ /item/%1? [R,L]
RewriteRule ^q$ /r?z=1 [QSA,R,L]
RewriteRule ^one$ two
RewriteRule ^two$ three [L]
RewriteCond %{HTTP_USER_AGENT} Mobile
RewriteRule ^m$ /mobile [R,L]
RewriteRule ^index\.php$ - [L]
RewriteCond %{REQUEST_FILENAME}.html -f
RewriteRule ^([^.]+)$ $1.html [L]
RewriteCond %{REQUEST_FILENAME} -f [OR]
RewriteCond %{REQUEST_FILENAME} -d
RewriteRule ^ - [L]
RewriteRule . /index.html [L]
`))
	sub := Htaccess("/sub/", "sub/.htaccess", []byte("RewriteEngine On\nRewriteBase /sub/\nRewriteRule ^x$ y [R]\nRewriteRule ^(?!keep)(.*)$ /not/$1 [R,L]\n"))
	checkFaults(t, root.Faults)
	checkFaults(t, sub.Faults)
	checkQueries(t, New(Options{}, root, sub), []query{
		{"/a/x?q=1", "301 redirect /b/x?q=1"}, {"/gone", "410 status"}, {"/secret/x", "403 status"},
		{"http://www.h.example/p", "301 redirect https://h.example/p"}, {"http://h.example/p", "301 redirect https://h.example/p"},
		{"/show?id=5", "302 redirect /item/5"}, {"/q?a=b", "302 redirect /r?z=1&a=b"}, {"/one", "200 rewrite /three"},
		{"/m", "302 redirect /mobile if"}, {"/index.php", ""}, {"/page", "200 rewrite /page.html"}, {"/file.html", ""}, {"/dir", ""},
		{"/zz", "200 rewrite /index.html"}, {"/index.html", ""}, {"/sub/x", "302 redirect /sub/y"}, {"/sub/keep", ""}, {"/sub/a", "302 redirect /not/a"},
	})
	relative := Htaccess("/", ".htaccess", []byte("RewriteEngine on\nRewriteRule ^a$ b [R]\nRewriteRule ^c$ d\n"))
	checkFaults(t, relative.Faults, "2 "+CodeTargetMissing)
	both := Htaccess("/", ".htaccess", []byte("RewriteEngine On\nRewriteRule ^one$ /page.html [L]\nRewriteRule ^two$ /three [END]\nRedirect /one /alias\nRedirect /three /moved\n"))
	checkQueries(t, New(Options{}, both), []query{{"/one", "302 redirect /alias"}, {"/two", "302 redirect /moved"}})
	off := Htaccess("/", ".htaccess", []byte("RewriteRule a b\n"))
	checkFaults(t, off.Faults, "1 "+CodeUnreachable)
	elsewhere := Htaccess("/sub/", "r", []byte("Redirect /a /b\nRedirect /subject /b\nRedirect /sub /b\nRedirect /sub/a /b\nRedirect / /b\n"))
	checkFaults(t, elsewhere.Faults, "1 "+CodeUnreachable, "2 "+CodeUnreachable)
	checkQueries(t, New(Options{}, Htaccess("/sub/", "r", []byte("RedirectMatch \\.asp$ /b\n"))), []query{{"/sub/x.asp", "302 redirect /b"}, {"/x.asp", ""}, {"/sub.asp", ""}})
	pcre := Htaccess("/", ".htaccess", []byte("RewriteEngine on\nRewriteRule ^(a)\\1$ /b [R]\nRewriteRule ^x(?=y) /z [R]\nRewriteRule ^ok$ /k [R,XX]\nRewriteRule ^k$ /l [R]\n"))
	checkFaults(t, pcre.Faults, "2 "+CodeUnjudged, "3 "+CodeUnjudged, "4 "+CodeSyntax)
	set := New(Options{}, pcre)
	checkQueries(t, set, []query{{"/xy", "302 redirect /z if"}, {"/k", "302 redirect /l"}, {"/aa", ""}})
	if set.Unjudged() != 2 {
		t.Errorf("%d rules are not judged, want 2", set.Unjudged())
	}
}

func TestHtaccessSettings(t *testing.T) {
	f := Htaccess("/sub", "sub/.htaccess", []byte("DirectoryIndex a.html \\\n  b.html\nOptions -Indexes +FollowSymLinks\nErrorDocument 404 /missing.html\nErrorDocument abc /x\nDirectorySlash Off\nFallbackResource /sub/app.html\n"))
	checkFaults(t, f.Faults, "5 "+CodeSyntax)
	s := f.Settings
	if s.Dir != "/sub/" || !slices.Equal(s.Index, []string{"a.html", "b.html"}) || s.Listing == nil || *s.Listing || s.DirectorySlash == nil || *s.DirectorySlash {
		t.Errorf("settings %+v", s)
	}
	checkQueries(t, New(Options{}, f), []query{{"/sub/x/y", "200 rewrite /sub/app.html"}, {"/other", ""}})
}

func TestGeneric(t *testing.T) {
	f := Generic("sitelink.toml", []GenericRule{
		{From: "/a", To: "/b", Line: 3}, {From: "/c/*", To: "/d/:splat", Status: 302, Force: true, Line: 7},
		{From: "/u/:name", To: "/user?n=:name", Line: 9}, {From: "/g", Status: 410, Line: 11}, {From: "x", To: "/y", Line: 13},
		{From: "/x", Line: 15}, {From: "/x", To: "/y", Status: 42, Line: 17}, {From: "/ü", To: "/z", Line: 19},
	})
	checkFaults(t, f.Faults, "13 "+CodeSyntax, "15 "+CodeSyntax, "17 "+CodeSyntax)
	checkQueries(t, New(Options{}, f), []query{{"/a", "301 redirect /b"}, {"/c/x%20y", "302 redirect /d/x%20y"}, {"/u/me", "301 redirect /user?n=me"}, {"/g", "410 status"}, {"/%C3%BC", "301 redirect /z"}})
}

func TestHeaders(t *testing.T) {
	text := "# c\n/a/*\n  Link: </x.css>; rel=preload\n  X-Robots-Tag:noindex\n/b/:id\n  ! Link\nbroken\nhttps://h.example/c\n  X: y\n"
	f := Headers("_headers", []byte(text), true)
	checkFaults(t, f.Faults, "7 "+CodeSyntax)
	var got []string
	for _, h := range f.Headers {
		got = append(got, fmt.Sprintf("%d %s %s=%s %v %v", h.Source.Line, h.Path, h.Name, h.Value, h.Unset, h.Applies("/a/1")))
	}
	want := []string{"3 /a/* Link=</x.css>; rel=preload false true", "4 /a/* X-Robots-Tag=noindex false true", "6 /b/:id Link= true false", "9 https://h.example/c X=y false false"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	checkFaults(t, Headers("_headers", []byte("  X: y\n"), false).Faults, "1 "+CodeSyntax)
}

// TestHtaccessHeaders: the headers of a directory are for what is below it, and those with a
// condition for nothing that is known.
func TestHtaccessHeaders(t *testing.T) {
	text := "<IfModule mod_headers.c>\nHeader always set X-A: 1\n</IfModule>\n<Files a.html>\nHeader set X-B 2\n</Files>\nheader append Link \"<http://h/%%41>; rel=\\\"webmention\\\"\"\n" +
		"Header unset X-A\nHeader set X-C 3 env=X\nHeader edit X-D a b\nHeader echo ^TS\n"
	f := Htaccess("/d/", ".htaccess", []byte(text))
	var got []string
	for _, h := range f.Headers {
		got = append(got, fmt.Sprintf("%d %s=%s %v %v %v %v", h.Source.Line, h.Name, h.Value, h.Unset, h.Applies("/d/"), h.Applies("/d/x/y.html"), h.Applies("/dd")))
	}
	want := []string{"2 X-A=1 false true true false", "5 X-B=2 false false false false", `7 Link=<http://h/%41>; rel="webmention" false true true false`, "8 X-A= true true true false", "9 X-C=3 false false false false"}
	if !slices.Equal(got, want) || len(f.Faults) > 0 {
		t.Errorf("headers %q, %v", got, f.Faults)
	}
}

// TestWrangler: both forms of the file say how the assets of a Worker are served.
func TestWrangler(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "true <nil> false  []",
		"{ // c\n\"assets\": {\"html_handling\": \"force-trailing-slash\", \"not_found_handling\": \"404-page\",},\n}": "true true false  []",
		`{"assets": {"html_handling": "drop-trailing-slash", "not_found_handling": "single-page-application"}}`:        "true false false index.html []",
		`{"assets": {"html_handling": "none"}}`:        "true <nil> true  []",
		`{"assets": "dist"}`:                           "true <nil> false  []",
		"{\n!":                                         "true <nil> false  [2]",
		`{"assets": {"html_handling": "auto"}}`:        "true <nil> false  [1]",
		"name = 'x'\n[assets]\nhtml_handling = 'none'": "true <nil> true  []",
		"a = 1\n[":                                     "true <nil> false  [2]",
	} {
		name := "wrangler.jsonc"
		if text[0] != '{' {
			name = "wrangler.toml"
		}
		f := Wrangler(name, []byte(text))
		var slash any
		if f.Settings.TrailingSlash != nil {
			slash = *f.Settings.TrailingSlash
		}
		var lines []int
		for _, fault := range f.Faults {
			lines = append(lines, fault.Line)
		}
		if got := fmt.Sprint(f.Settings.CleanURLs, slash, f.Settings.Plain) + " " + f.Settings.Fallback + fmt.Sprint(" ", lines); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
