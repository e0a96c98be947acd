package crawl

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/text"
	public "github.com/sitelink/sitelink/site"
)

// answers maps paths to handlers.
type answers map[string]http.HandlerFunc

func html(text string) http.HandlerFunc { return send("text/html; charset=utf-8", text) }

func send(typ, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", typ)
		_, _ = w.Write([]byte(text))
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func redirect(code int, to string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(code)
	}
}

// served is a server that notes what it was asked.
type served struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func serve(t *testing.T, h http.Handler) *served {
	s := &served{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.RequestURI)
		s.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (a answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := a[r.URL.RequestURI()]; h != nil {
		h(w, r)
	} else {
		http.NotFound(w, r)
	}
}

func client(opt fetch.Options) *fetch.Client {
	opt.Allow, opt.Pooled = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, true
	return fetch.New(opt)
}

func texts(t *testing.T) *os.File {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// findings crawls a server and returns its findings as "page code target".
func findings(t *testing.T, s *served, base, start string, opt Options) (lines []string, err error) {
	t.Helper()
	if opt.Client == nil {
		opt.Client = client(fetch.Options{})
	}
	opt.Site.BaseURLs = append([]string{s.URL + base}, opt.Site.BaseURLs...)
	got, err := Run(context.Background(), start, texts(t), opt)
	if err != nil {
		return nil, err
	}
	opt.Site.Crawled = got
	loaded, err := site.Load(context.Background(), s.URL+base, opt.Site)
	if err != nil {
		return nil, err
	}
	r, err := check.Run(context.Background(), site.Wrap(loaded).(*public.Site), check.Options{})
	if err != nil {
		return nil, err
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		target := f.Target
		if f.Fragment != "" {
			target += "#" + f.Fragment
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprint(f.Page, " ", f.Code, " ", target)))
	}
	return lines, nil
}

// TestAnswers: what the server answers decides.
func TestAnswers(t *testing.T) {
	link := func(to ...string) http.HandlerFunc {
		text := "<!DOCTYPE html><title>x</title>"
		for _, l := range to {
			text += fmt.Sprintf("<p><a href=\"%s\">x</a>", l)
		}
		return html(text)
	}
	elsewhere := serve(t, answers{"/": html("")})
	busy := 0
	for _, x := range []struct {
		name    string
		answers answers
		base    string // "/" by default
		start   string
		site    site.Options
		want    []string
	}{
		{name: "missing", answers: answers{"/": link("/a", "/b/", "/gone"), "/gone": status(410)},
			want: []string{"index.html missing-file /a", "index.html missing-directory /b/", "index.html missing-file /gone"}},
		{name: "statuses", answers: answers{"/": link("/401", "/403", "/500", "/d/", "/400"), "/401": status(401), "/403": status(403), "/500": status(500), "/d/": status(403), "/400": status(400)},
			want: []string{"index.html unreadable /401", "index.html unreadable /403", "index.html unreadable /500", "index.html missing-index /d/", "index.html bad-url /400"}},
		{name: "letter case", answers: answers{"/": link("/about", "/About"), "/about": html("")}, want: []string{"index.html wrong-case /About"}},
		{name: "redirects", answers: answers{"/": link("/old", "/dir", "/loop", "/away"), "/old": redirect(302, "/new"), "/new": html(""), "/dir": redirect(301, "dir/"), "/dir/": html(""),
			"/loop": redirect(301, "/loop"), "/away": redirect(301, elsewhere.URL+"/")},
			want: []string{"index.html via-redirect /old", "index.html endless-redirect /loop", "index.html via-redirect /away"}},
		{name: "fragments", answers: answers{"/": link("a#x", "a#y", "#z"), "/a": html("<p id=x>")},
			want: []string{"index.html missing-fragment /a#y", "index.html missing-fragment /#z"}},
		{name: "the type decides what is read", answers: answers{"/": link("a.html", "b", "c.css"), "/a.html": send("text/plain", `<a href=no>`), "/b": send("text/html", `<a href=yes>`), "/c.css": send("text/css", "a{background:url(img.png)}")},
			want: []string{"b missing-file /yes", "c.css missing-file /img.png"}},
		{name: "the charset of the answer", answers: answers{"/": send("text/html; charset=windows-1251", "<p id=\xE9><a href='#%D0%B9'>x</a>")}, want: nil},
		{name: "sitemaps", answers: answers{"/": link(), "/robots.txt": send("text/plain", "Sitemap: /s.xml\nDisallow: /a"),
			"/s.xml": send("text/xml", `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://me.example/a</loc></url><url><loc>https://me.example/no</loc></url></urlset>`), "/a": link("/none")},
			site: site.Options{BaseURLs: []string{"https://me.example/"}}, want: []string{"a missing-file /none", "s.xml sitemap-entry /no"}},
		{name: "below a path", base: "/docs/", answers: answers{"/docs/": link("a", "/other", "/docs/b"), "/docs/a": html(""), "/docs/b": redirect(301, "/other"), "/other": link("/none"),
			"/robots.txt": send("text/plain", "Sitemap: /docs/s.xml"), "/docs/s.xml": send("text/xml", `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>/docs/no</loc></url></urlset>`)},
			want: []string{"index.html via-redirect /docs/b", "s.xml sitemap-entry /docs/no"}},
		{name: "a page in place of missing ones", answers: answers{"/": link("/a", "/b"), "/a": html("<p>a"), "/b": html("<h1>/b is not here"),
			"/sitelink-asks-for-a-missing-page": html("<h1>/sitelink-asks-for-a-missing-page is not here")}, want: []string{"index.html fallback /b"}},
		{name: "a page and pages below it", answers: answers{"/": link("/docs"), "/docs": link("docs/a", "b"), "/docs/a": link("b")},
			want: []string{"docs/a missing-file /docs/b", "docs/index.html missing-file /b"}},
		{name: "queries are pages of their own", answers: answers{"/": link("/l?p=1", "/l?p=2", "/l?p=3", "s.css?v=1"), "/l?p=1": link("x"), "/l?p=2": link("y"), "/s.css?v=1": send("text/css", "")},
			want: []string{"index.html missing-file /l?p=3", "l?p=1 missing-file /x", "l?p=2 missing-file /y"}},
		{name: "one page at two addresses", answers: answers{"/": link("a/", "a/index.html"), "/a/": link("x"), "/a/index.html": link("x")}, want: []string{"a/index.html missing-file /a/x"}},
		{name: "a server without HEAD", answers: answers{"/": html(`<img src=a.png><img src=b.png>`), "/a.png": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
		}}, want: []string{"index.html missing-file /b.png"}},
		{name: "a server that asks to wait", answers: answers{"/": link("a"), "/a": func(w http.ResponseWriter, r *http.Request) {
			if busy++; busy < 3 {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}}, want: nil},
		{name: "a page that is named", start: "/x.html?y", answers: answers{"/x.html?y": link("no")}, want: []string{"x.html?y missing-file /no"}},
		{name: "the time in a script", answers: answers{"/": link("/a", "/a?q", "/b"), "/a": html("<script>1</script><a href=no>x</a>"), "/a?q": html("<script>2</script><a href=no>x</a>"),
			"/b": html("/b<script>3</script>"), "/sitelink-asks-for-a-missing-page": html("/sitelink-asks-for-a-missing-page<script>4</script>")},
			want: []string{"a missing-file /no", "index.html fallback /b"}}, // mkdocs serve
		{name: "a page for missing ones where the start leads", answers: answers{"/": redirect(302, "/docs/"), "/docs/": link("a"), "/docs/a": html("x"), "/docs/sitelink-asks-for-a-missing-page": html("x")},
			want: []string{"docs/index.html fallback /docs/a"}},
		{name: "Vite", base: "/docs/", answers: answers{"/docs/": html(`<link rel=sitemap href=/docs/sitemap-index.xml><script src=/@vite/client></script><script src=/docs/@fs/a.js></script>` +
			`<script src=/node_modules/a.js></script><script src="/src/a.astro?astro&type=script"></script><a href=/docs/@me>x</a>`), "/docs/@fs/a.js": status(403)},
			want: []string{"index.html missing-file /docs/@me"}}, // astro dev
		{name: "no Vite", answers: answers{"/": link("/node_modules/a.js", "/sitemap-index.xml")}, want: []string{"index.html missing-file /node_modules/a.js", "index.html missing-file /sitemap-index.xml"}},
		{name: "odd addresses", answers: answers{"/": link("/a%2Fb", "//", "/%2e%2e/c", "/d%00", "/"+strings.Repeat("e", 300)), "/a%2Fb": html(""), "/" + strings.Repeat("e", 300): html("")},
			want: []string{"index.html outside-docroot /c", "index.html missing-file /d%00", "index.html bad-url"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := serve(t, x.answers)
			if x.base == "" {
				x.base = "/"
			}
			if x.start == "" {
				x.start = "/"
			}
			got, err := findings(t, s, x.base, x.start, Options{Site: x.site})
			slices.Sort(got)
			slices.Sort(x.want)
			if err != nil || !slices.Equal(got, x.want) {
				t.Errorf("got %q, %v; want %q", got, err, x.want)
			}
		})
	}
	if len(elsewhere.asked) > 0 {
		t.Errorf("another origin was asked for %q", elsewhere.asked)
	}
}

// TestScope: pages that --from and --skip leave out, or that are beyond --limit, are asked for and
// not followed.
func TestScope(t *testing.T) {
	a := answers{"/": html(`<a href=a/>a</a><a href=b/>b</a>`), "/a/": html(`<a href=x>x</a>`), "/b/": html(`<a href=y>y</a>`)}
	in := func(part string) func(string) bool {
		return func(path string) bool { return strings.Contains(path, part) }
	}
	for _, x := range []struct {
		name string
		opt  Options
		want []string
	}{
		{"from", Options{Follows: in("/a/"), Seeds: []string{"/a/"}}, []string{"a/index.html missing-file /a/x"}},
		{"skip", Options{Follows: func(path string) bool { return path != "/b/" }}, []string{"a/index.html missing-file /a/x"}},
		{"limit", Options{MaxPages: 2}, []string{"a/index.html missing-file /a/x", "b/index.html limit-reached"}},
	} {
		got, err := findings(t, serve(t, a), "/", "/", x.opt)
		if err != nil || !slices.Equal(got, x.want) {
			t.Errorf("%s: got %q, %v; want %q", x.name, got, err, x.want)
		}
	}
}

// TestMapFilesFromDocroot: LL-89, an image map is read from the docroot, without a request.
func TestMapFilesFromDocroot(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.map"), []byte("default /none.html\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, answers{"/": html(`<a href=m.map><img src=i.png ismap></a>`), "/i.png": send("image/png", "")})
	got, err := findings(t, s, "/", "/", Options{Docroot: dir})
	if err != nil || !slices.Equal(got, []string{"m.map missing-file /none.html"}) || slices.Contains(s.asked, "/m.map") {
		t.Errorf("LL-89: %q, %v; asked for %q", got, err, s.asked)
	}
}

// TestTraps: addresses that a server makes up without end are bounded, and named by their
// pattern, the same in each run.
func TestTraps(t *testing.T) {
	old := limits
	defer func() { limits = old }()
	limits.addresses, limits.alike, limits.variants = 400, 60, 20
	for _, x := range []struct {
		name string
		page func(r *http.Request) string
		want string
	}{
		{"calendar", func(r *http.Request) string {
			var y, m int
			_, _ = fmt.Sscanf(r.URL.Path, "/cal/%d/%d", &y, &m)
			return fmt.Sprintf(`<a href="/cal/%d/%d">next</a><a href="/cal/%d/%d">year</a>`, y, m+1, y+1, m)
		}, "/cal/#/#"},
		{"query", func(r *http.Request) string {
			n, _ := strconv.Atoi(r.URL.Query().Get("page"))
			return fmt.Sprintf(`<a href="/list?page=%d">next</a><a href="/list?page=%d">skip</a>`, n+1, 2*n+1)
		}, "/list?page"},
		{"endless path", func(*http.Request) string { return `<a href="a/">deeper</a><a href="b/">deeper</a>` }, "/a/a/@"},
		{"session", func(*http.Request) string {
			return fmt.Sprintf(`<a href="/page;sid=%d">x</a>`, time.Now().UnixNano())
		}, "/page;sid=#"},
		{"words", func(r *http.Request) string {
			var b strings.Builder
			for i := range 30 {
				fmt.Fprintf(&b, `<a href="%c%s">x</a>`, 'a'+i%26, strings.Repeat("z", i%7))
			}
			return b.String() + `<a href="x` + strings.Map(func(r rune) rune { return 'a' + r%26 }, r.URL.Path) + `">y</a>`
		}, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			run := func() ([]string, string) {
				s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if strings.HasPrefix(r.URL.Path, "/robots") || strings.HasPrefix(r.URL.Path, "/sitemap") || r.URL.Path == absent {
						http.NotFound(w, r)
						return
					}
					html(x.page(r))(w, r)
				}))
				got, err := Run(t.Context(), "/", texts(t), Options{Client: client(fetch.Options{}), Site: site.Options{BaseURLs: []string{s.URL + "/"}}})
				if err != nil {
					t.Fatal(err)
				}
				if len(s.asked) > limits.addresses+10 {
					t.Errorf("asked for %d addresses", len(s.asked))
				}
				var patterns []string
				for _, c := range got.Cuts {
					patterns = append(patterns, c.Pattern)
				}
				return patterns, fmt.Sprint(len(got.Files), got.Cuts)
			}
			patterns, first := run()
			if x.want != "" && !slices.Contains(patterns, x.want) {
				t.Errorf("told %q, want %q", patterns, x.want)
			}
			if _, second := run(); second != first {
				t.Errorf("two runs differ: %s, %s", first, second)
			}
		})
	}
}

// TestHostile: a server cannot make a crawl endless or take much memory.
func TestHostile(t *testing.T) {
	old := limits
	defer func() { limits = old }()
	limits.pageBytes = 1 << 20
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	z.Close()
	home := func(to ...string) http.HandlerFunc {
		return html("<a href=" + strings.Join(to, ">x</a><a href=") + ">x</a>")
	}
	raw := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			_, _ = conn.Write([]byte(text))
			conn.Close()
		}
	}
	slow := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	}
	hops := answers{"/": home("/0")}
	for i := range 50 {
		hops[fmt.Sprint("/", i)] = redirect(302, fmt.Sprint("/", i+1))
	}
	for _, x := range []struct {
		name    string
		answers answers
		want    []string
		err     string
	}{
		{"gzip bomb", answers{"/": home("/bomb"), "/bomb": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}}, []string{"bomb too-large"}, ""},
		{"a body without end is not read if it has no links", answers{"/": home("/video"), "/video": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "video/mp4")
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}}, nil, ""},
		{"chain of redirects", hops, []string{"index.html endless-redirect /0"}, ""},
		{"a length that lies", answers{"/": home("/short"), "/short": raw("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<p>")}, []string{"index.html unreadable /short"}, ""},
		{"no HTTP", answers{"/": home("/noise"), "/noise": raw("\x00\x01\x02\r\n\r\n")}, []string{"index.html unreadable /noise"}, ""},
		{"slow bodies", answers{"/": home("/slow"), "/slow": slow}, []string{"index.html unreadable /slow"}, ""},
		{"a start that fails", answers{}, nil, "answers 404 Not Found"},
		{"a start without a page", answers{"/": send("text/plain", "x")}, nil, "/ leads to no page of HTML with links"},
		{"the shell of an app", answers{"/": html("<script>1</script>"), "/sitelink-asks-for-a-missing-page": html("<script>2</script>")}, nil, "/ leads to no page of HTML with links"},
		{"a shell for its pages alone", answers{"/": html("<script src=/a.js></script>"), "/a.js": send("text/javascript", "")}, nil, "/ leads to no page of HTML with links"}, // gatsby develop
		{"a shell below a path", answers{"/": redirect(302, "/docs/"), "/docs/": html("<script></script>"), "/docs/sitelink-asks-for-a-missing-page": html("<script></script>")},
			nil, "/ leads to no page of HTML with links"}, // vitepress dev --base
		{"a page with links for all addresses", answers{"/": home("/b"), "/sitelink-asks-for-a-missing-page": home("/b"), "/b": home("/b")}, []string{"404.html fallback /b", "index.html fallback /b"}, ""},
		{"a start elsewhere", answers{"/": redirect(301, "http://127.0.0.1:1/")}, nil, "redirects to http://127.0.0.1:1/"},
	} {
		t.Run(x.name, func(t *testing.T) {
			got, err := findings(t, serve(t, x.answers), "/", "/", Options{Client: client(fetch.Options{Total: 500 * time.Millisecond})})
			if x.err != "" && (err == nil || !strings.Contains(err.Error(), x.err)) || x.err == "" && err != nil || !slices.Equal(got, x.want) {
				t.Errorf("got %q, %v; want %q", got, err, x.want)
			}
		})
	}
}

// TestServerEnds: a crawl does not report the pages of a server that stops as missing.
func TestServerEnds(t *testing.T) {
	s := serve(t, nil)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		go s.Listener.Close()
		w.Header().Set("Connection", "close")
		html("<a href=a>a</a>")(w, r)
	})
	if got, err := findings(t, s, "/", "/", Options{}); err == nil {
		t.Errorf("got %q without an error", got)
	}
}

// TestBasePath: where the start is missing, the hint is the command for the path of the base URL.
func TestBasePath(t *testing.T) {
	s := serve(t, answers{"/docs/": html("")})
	_, err := findings(t, s, "/", "/", Options{Site: site.Options{BaseURLs: []string{"https://me.example/docs/"}}})
	if hint, _ := text.Hint(err); !strings.HasSuffix(hint, ": sitelink check "+s.URL+"/docs/") {
		t.Errorf("%v, hint %q", err, hint)
	}
}

// TestPace: requests to a host on the network keep their distance.
func TestPace(t *testing.T) {
	s := serve(t, answers{"/": html("<a href=a>a</a><a href=b>b</a>")})
	begin := time.Now()
	if _, err := findings(t, s, "/", "/", Options{Pace: 20 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if took, least := time.Since(begin), time.Duration(len(s.asked)-1)*20*time.Millisecond; took < least || len(s.asked) < 6 {
		t.Errorf("%d requests in %s", len(s.asked), took)
	}
}
