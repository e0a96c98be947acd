package remote

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/testkit"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// web is a server on loopback that logs its requests.
type web struct {
	*httptest.Server
	mu  sync.Mutex
	log []string
}

func newWeb(t *testing.T, handle http.HandlerFunc) *web {
	t.Helper()
	w := &web{}
	w.Server = httptest.NewServer(w.logging(handle))
	t.Cleanup(w.Close)
	return w
}

// newTLSWeb is newWeb for https, with the certificate of TestMain.
func newTLSWeb(t *testing.T, handle http.HandlerFunc) *web {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("SSL_CERT_FILE is for Linux")
	}
	w := &web{}
	w.Server = httptest.NewTLSServer(w.logging(handle))
	t.Cleanup(w.Close)
	return w
}

func (w *web) logging(handle http.HandlerFunc) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		entry := r.Method + " " + r.URL.RequestURI()
		for _, name := range []string{"If-None-Match", "If-Modified-Since", "Cookie"} {
			if v := r.Header.Get(name); v != "" {
				entry += " " + name + "=" + v
			}
		}
		w.log = append(w.log, entry)
		w.mu.Unlock()
		handle(rw, r)
	}
}

// take returns the log, sorted, and empties it.
func (w *web) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	log := w.log
	w.log = nil
	slices.Sort(log)
	return log
}

// tlsWeb returns the URL of a server with a self-signed certificate.
func tlsWeb(t *testing.T, notAfter time.Time, ip string) string {
	t.Helper()
	key := testkit.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: notAfter.Add(-24 * time.Hour), NotAfter: notAfter, IPAddresses: []net.IP{net.ParseIP(ip)}}
	der := testkit.Must(x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key))(t)
	s := httptest.NewUnstartedServer(http.HandlerFunc(site))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

// TestMain makes the certificate of package httptest one of the system's, as
// SSL_CERT_FILE does.
func TestMain(m *testing.M) {
	testkit.InMemory()
	os.Exit(func() int {
		s := httptest.NewTLSServer(nil)
		defer s.Close()
		dir, err := os.MkdirTemp("", "remote")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		name := filepath.Join(dir, "cert.pem")
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
		if err := os.WriteFile(name, text, 0o600); err != nil {
			panic(err)
		}
		os.Setenv("SSL_CERT_FILE", name)
		return m.Run()
	}())
}

func memory(t *testing.T) *Cache {
	t.Helper()
	c, _ := openCache(t, filepath.Join(t.TempDir(), "status.jsonl"))
	t.Cleanup(func() { closeCache(t, c) })
	return c
}

// quick are options without pauses.
func quick() Options {
	return Options{Allow: loopback, Pace: -1, Timeout: 20 * time.Second, retryDelay: time.Millisecond, UserAgent: "sitelink-test"}
}

func links(urls ...string) (all []Target) {
	for _, u := range urls {
		url, fragment, has := strings.Cut(u, "#")
		l := Target{URL: url}
		if has {
			l.Fragments = []string{fragment}
		}
		all = append(all, l)
	}
	return all
}

func ask(t *testing.T, c *Cache, opt Options, all []Target) *Report {
	t.Helper()
	report := testkit.Must(Ask(context.Background(), all, c, opt))(t)
	return report
}

// site answers as the path says.
func site(w http.ResponseWriter, r *http.Request) {
	var n int
	switch path := r.URL.Path; {
	case path == "/page":
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Content-Type", "text/html")
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(304)
			return
		}
		fmt.Fprint(w, `<title>Page</title><h1 id=intro>x</h1><a name="old">`)
	case path == "/large": // larger than what is read without a fragment
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>x</title>", strings.Repeat("<p>text", smallBody/4), `<h2 id="end">x</h2>`)
	case path == "/modified":
		w.Header().Set("Last-Modified", "Mon, 02 Nov 2026 09:00:00 GMT")
		if r.Header.Get("If-Modified-Since") != "" {
			w.WriteHeader(304)
			return
		}
	case path == "/plain":
		fmt.Fprint(w, "plain")
	case path == "/permanent":
		http.Redirect(w, r, "/permanent2", http.StatusMovedPermanently)
	case path == "/permanent2":
		http.Redirect(w, r, "/page", http.StatusPermanentRedirect)
	case path == "/temporary":
		http.Redirect(w, r, "/page", http.StatusFound)
	case path == "/mixed":
		http.Redirect(w, r, "/temporary", http.StatusMovedPermanently)
	case path == "/loop":
		http.Redirect(w, r, "/loop2", http.StatusFound)
	case path == "/loop2":
		http.Redirect(w, r, "/loop", http.StatusFound)
	case path == "/endless":
		http.Redirect(w, r, "/endless?"+r.URL.RawQuery+"x", http.StatusFound)
	case path == "/private":
		http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
	case path == "/mail":
		http.Redirect(w, r, "mailto:a@b.example", http.StatusFound)
	case path == "/password":
		http.Redirect(w, r, "http://me:secret@"+r.Host+"/page", http.StatusFound)
	case path == "/cookie":
		if c, err := r.Cookie("seen"); err != nil || c.Value != "1" {
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
			http.Redirect(w, r, "/cookie", http.StatusFound)
		}
	case path == "/wall":
		w.Header().Set("Cf-Mitigated", "challenge")
		w.WriteHeader(503)
	case path == "/soft":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>Page not found</title>")
	case path == "/reset":
		panic(http.ErrAbortHandler)
	case path == "/bomb":
		w.Header().Set("X-Long", strings.Repeat("x", 300<<10))
	case path == "/later":
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(429)
	default:
		fmt.Sscanf(path, "/status/%d", &n)
		if n == 0 {
			n = 404
		}
		w.WriteHeader(n)
	}
}

// TestAsk: what becomes of a URL after one run.
func TestAsk(t *testing.T) {
	w := newWeb(t, site)
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	expired, other, unknown := tlsWeb(t, past, "127.0.0.1"), tlsWeb(t, future, "127.0.0.2"), tlsWeb(t, future, "127.0.0.1")
	unused := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	closed := "http://" + unused.Addr().String() + "/"
	unused.Close()
	want := map[string]string{
		w.URL + "/page":       "ok ",
		w.URL + "/plain":      "ok ",
		w.URL + "/temporary":  "ok ",
		w.URL + "/mixed":      "ok ",
		w.URL + "/permanent":  "warning moved ",
		w.URL + "/cookie":     "ok ",
		w.URL + "/soft":       "ok ",
		w.URL + "/missing":    "warning doubtful* not-found",
		w.URL + "/status/410": "warning doubtful* gone",
		w.URL + "/status/500": "warning doubtful* server-error",
		w.URL + "/status/400": "warning doubtful refused-request",
		w.URL + "/status/403": "unchecked blocked forbidden",
		w.URL + "/status/999": "unchecked blocked bot-wall",
		w.URL + "/loop":       "warning doubtful* redirect-loop",
		w.URL + "/endless":    "warning doubtful* redirect-loop",
		w.URL + "/private":    "unchecked blocked private-address",
		w.URL + "/mail":       "unchecked blocked other-scheme",
		w.URL + "/password":   "unchecked blocked other-scheme",
		w.URL + "/reset":      "warning doubtful* reset",
		w.URL + "/bomb":       "warning doubtful* garbage",
		closed:                "warning doubtful* refused",
		expired + "/page":     "warning doubtful* tls-expired",
		other + "/page":       "warning doubtful* tls-wrong-host",
		unknown + "/page":     "warning doubtful* tls-unknown-issuer",
		"http://10.1.2.3/":    "unchecked blocked private-address",
	}
	c := memory(t)
	var urls []string
	for u := range want {
		urls = append(urls, u)
	}
	slices.Sort(urls)
	report := ask(t, c, quick(), links(urls...))
	// In a run of its own: a 503 slows down all requests to the host.
	want[w.URL+"/wall"] = "unchecked blocked bot-wall"
	ask(t, c, quick(), links(w.URL+"/wall"))
	for _, u := range append(urls, w.URL+"/wall") {
		r, code := report.Of(u)
		if got := brief(r) + " " + string(r.Reason); got != want[u] || code != "" {
			t.Errorf("%s: %q %s, want %q", u, got, code, want[u])
		}
	}
	if r, _ := report.Of(w.URL + "/permanent"); r.Final != w.URL+"/page" {
		t.Errorf("moved to %q", r.Final)
	}
	if r, _ := report.Of(w.URL + "/soft"); len(r.Hints) != 1 || !strings.Contains(r.Hints[0], "Page not found") {
		t.Errorf("hints %q", r.Hints)
	}
	if report.Links != len(urls) || len(report.Died) > 0 {
		t.Errorf("report %+v", report)
	}
}

// The second run sends only conditional requests where the server supports that.
func TestAskConditional(t *testing.T) {
	w := newWeb(t, site)
	c := memory(t)
	opt := quick()
	opt.Policy = func(string) Policy { return Policy{MaxAge: -1} }
	urls := links(w.URL+"/page#intro", w.URL+"/modified", w.URL+"/temporary", w.URL+"/plain")
	ask(t, c, opt, urls)
	w.take()
	report := ask(t, c, opt, urls)
	want := []string{
		`GET /modified If-Modified-Since=Mon, 02 Nov 2026 09:00:00 GMT`, `GET /page If-None-Match="1"`, `GET /page If-None-Match="1"`,
	}
	log := slices.DeleteFunc(w.take(), func(s string) bool { return strings.HasSuffix(s, "/temporary") || strings.HasSuffix(s, "/plain") })
	if !slices.Equal(log, want) || report.Unchanged != 3 {
		t.Errorf("unchanged %d, log %q", report.Unchanged, log)
	}
	// Fresh records cost no request.
	report = ask(t, c, quick(), urls)
	if log := w.take(); len(log) > 0 || report.Fresh != 4 || report.Requests != 0 {
		t.Errorf("fresh %d, log %q", report.Fresh, log)
	}
}

// A URL that is listed twice is one link. It is asked for again if either listing needs an
// unknown fragment.
func TestAskTwice(t *testing.T) {
	w := newWeb(t, site)
	c := memory(t)
	ask(t, c, quick(), links(w.URL+"/page"))
	for _, again := range [][]string{nil, {"intro"}} {
		w.take()
		report := ask(t, c, quick(), []Target{{URL: w.URL + "/page"}, {URL: w.URL + "/page", Fragments: again}, {URL: w.URL + "/page#x"}})
		if report.Links != 1 || report.Fresh != 1-len(again) || len(w.take()) != len(again) {
			t.Errorf("fragments %q: %+v", again, report)
		}
	}
}

// LL-14, LL-29: the target is asked for, and nothing that it links to.
func TestAskFragments(t *testing.T) {
	w := newWeb(t, site)
	c := memory(t)
	all := []Target{{URL: w.URL + "/page", Fragments: []string{"intro", "old", "none", "top", "L12", ":~:text=x", "intro"}}, {URL: w.URL + "/plain#x", Fragments: []string{"x"}}}
	report := ask(t, c, quick(), all)
	r, _ := report.Of(w.URL + "/page#none")
	if !slices.Equal(r.Missing, []string{"L12", "none"}) || !r.Lacks("none") || r.Lacks("intro") || brief(r) != "ok" {
		t.Errorf("%+v", r)
	}
	if r, _ := report.Of(w.URL + "/plain"); r.Lacks("x") {
		t.Error("a text has no fragments")
	}
	if log := w.take(); !slices.Equal(log, []string{"GET /page", "GET /plain"}) {
		t.Errorf("log %q", log)
	}
	report = ask(t, c, quick(), []Target{{URL: w.URL + "/large", Fragments: []string{"end", "none"}}})
	if r, _ := report.Of(w.URL + "/large"); r.Lacks("end") || !r.Lacks("none") {
		t.Errorf("%+v", r)
	}
	w.take()
	// A new fragment makes the record too old.
	ask(t, c, quick(), append(all, Target{URL: w.URL + "/page", Fragments: []string{"new"}}))
	if log := w.take(); !slices.Equal(log, []string{"GET /page"}) {
		t.Errorf("log %q", log)
	}
}

// HEAD is used on hosts that answer HEAD as they answer GET.
func TestAskHead(t *testing.T) {
	honest := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+r.URL.Path+`"`)
		if r.URL.Path == "/missing" {
			w.WriteHeader(404)
		}
	})
	liar := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "HEAD" {
			w.WriteHeader(405)
			return
		}
		w.Header().Set("ETag", `"1"`)
	})
	yes := newWeb(t, func(w http.ResponseWriter, r *http.Request) { // HEAD is always 200
		if r.Method == "GET" && r.URL.Path == "/missing" {
			w.WriteHeader(404)
			return
		}
		if r.Method == "GET" {
			w.Header().Set("ETag", `"1"`)
		}
	})
	c := memory(t)
	opt := quick()
	opt.PerHost = 1
	count := func(w *web) (gets, heads int) {
		for _, l := range w.take() {
			if strings.HasPrefix(l, "HEAD") {
				heads++
			} else {
				gets++
			}
		}
		return gets, heads
	}
	for _, x := range []struct {
		name        string
		w           *web
		gets, heads int
	}{
		{"honest", honest, 2, 9}, // the first; HEAD and GET of the missing one
		{"405", liar, 10, 1},
		{"always 200", yes, 11, 1}, // the missing one twice
	} {
		// All three listen on one address, so each needs a run of its own.
		var urls []string
		for i := range 9 {
			urls = append(urls, fmt.Sprintf("%s/%d", x.w.URL, i))
		}
		report := ask(t, c, opt, links(append(urls, x.w.URL+"/missing")...))
		if r, _ := report.Of(x.w.URL + "/missing"); (r.Reason == NotFound) == (x.name == "405") {
			t.Errorf("%s: missing is %s %s", x.name, brief(r), r.Reason)
		}
		if gets, heads := count(x.w); gets != x.gets || heads != x.heads {
			t.Errorf("%s: %d GET, %d HEAD, want %d, %d", x.name, gets, heads, x.gets, x.heads)
		}
	}
}

// The budget is spent on new links first, and what it leaves out is known.
func TestAskBudget(t *testing.T) {
	w := newWeb(t, site)
	c := memory(t)
	opt := quick()
	opt.PerHost = 1
	opt.Policy = func(string) Policy { return Policy{MaxAge: -1} }
	ask(t, c, opt, links(w.URL+"/plain"))
	w.take()
	opt.MaxRequests = 1
	report := ask(t, c, opt, links(w.URL+"/plain", w.URL+"/page", w.URL+"/status/403"))
	if log := w.take(); !slices.Equal(log, []string{"GET /page"}) || report.Requests != 1 {
		t.Errorf("log %q", log)
	}
	if _, code := report.Of(w.URL + "/status/403"); code != check.Budget {
		t.Errorf("code %q", code)
	}
	if r, code := report.Of(w.URL + "/plain"); !r.Known() || code != "" {
		t.Errorf("%+v %q", r, code)
	}
	// A budget of time ends a run when a host hangs.
	hang := make(chan struct{})
	slow := newWeb(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	defer close(hang)
	opt.MaxRequests, opt.Budget = 0, 100*time.Millisecond
	report = ask(t, c, opt, links(slow.URL+"/"))
	if _, code := report.Of(slow.URL + "/"); code != check.Budget {
		t.Errorf("code %q", code)
	}
}

// What a status means for a host also decides what is tried again.
func TestAskPolicy(t *testing.T) {
	w := newWeb(t, site)
	c, opt := memory(t), quick()
	opt.PerHost = 1
	opt.Policy = func(host string) Policy {
		if host != "127.0.0.1" {
			t.Errorf("the policy of %q", host)
		}
		return Policy{MaxAge: -1, Interval: 1, Missing: []int{403}, Blocked: []int{404}, Accept: []int{451}}
	}
	all := links(w.URL+"/status/403", w.URL+"/status/404", w.URL+"/status/451")
	want := []string{"GET /status/403", "GET /status/403", "GET /status/404", "GET /status/451"}
	for i, brief403 := range []string{"warning doubtful*", "error dead-link**"} {
		report := ask(t, c, opt, all)
		if log := w.take(); !slices.Equal(log, want) {
			t.Errorf("run %d: log %q", i+1, log)
		}
		for status, want := range map[int]string{403: brief403, 404: "unchecked blocked", 451: "ok"} {
			if r, _ := report.Of(fmt.Sprintf("%s/status/%d", w.URL, status)); brief(r) != want || r.Status != status {
				t.Errorf("run %d: %d is %s, want %s", i+1, status, brief(r), want)
			}
		}
		r, _ := report.Of(w.URL + "/status/403")
		r.Struck = r.Struck.Add(-time.Hour) // times have whole seconds
		c.Put(r)
	}
}

// A verdict holds for what was requested: hosts distinguish what the canonical form of
// notices does not, whichever comes first.
func TestAskSpellings(t *testing.T) {
	w := newWeb(t, func(rw http.ResponseWriter, r *http.Request) {
		if !slices.Contains([]string{"/?q=a+b", "/p", "/p//q", "/a/b", "/u%C3%BC", "/c?"}, r.RequestURI) {
			rw.WriteHeader(404)
		}
	})
	pairs := [][2]string{ // works, is missing
		{"/?q=a+b", "/?q=a%20b"}, {"/p", "/p;"}, {"/p//q", "/p/q"}, {"/a/b", "/a%2Fb"}, {"/uü#x", "/u%c3%bc"}, {"/c?", "/c"},
	}
	for i, pair := range pairs {
		works, missing := w.URL+pair[0], w.URL+pair[1]
		all := links(works, missing)
		if i%2 == 1 {
			slices.Reverse(all)
		}
		report := ask(t, memory(t), quick(), all)
		good, _ := report.Of(works)
		if bad, _ := report.Of(missing); brief(good) != "ok" || brief(bad) != "warning doubtful*" || report.Links != 2 {
			t.Errorf("%s: %s, %s: %s; %d links", works, brief(good), missing, brief(bad), report.Links)
		}
	}
	for raw, want := range map[string]string{ // what a browser requests
		"HTTP://A.Example:80/./a b?q=ü#f": "http://a.example/a%20b?q=%C3%BC",
		"https://user@a.example/":         "",
		"mailto:a@b.example":              "",
		"/a":                              "",
	} {
		if got, err := Key(raw); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", raw, got, err)
		}
	}
}

// A failure that does not repeat within the run counts for nothing.
func TestAskOnce(t *testing.T) {
	var asked sync.Map
	w := newWeb(t, func(rw http.ResponseWriter, r *http.Request) {
		if _, again := asked.LoadOrStore(r.URL.Path, true); again {
			return
		}
		switch r.URL.Path {
		case "/reset":
			panic(http.ErrAbortHandler)
		case "/missing":
			rw.WriteHeader(404)
		case "/error":
			rw.WriteHeader(500)
		}
	})
	paths := []string{"/error", "/missing", "/reset"}
	var urls []string
	for _, path := range paths {
		urls = append(urls, w.URL+path)
	}
	opt := quick()
	opt.Timeout = time.Minute
	report := ask(t, memory(t), opt, links(urls...))
	for _, url := range urls {
		if r, _ := report.Of(url); brief(r) != "ok" || r.Reason != "" {
			t.Errorf("%s: %s %s", url, brief(r), r.Reason)
		}
	}
	var want []string
	for _, path := range paths {
		want = append(want, "GET "+path, "GET "+path)
	}
	if log := w.take(); !slices.Equal(log, want) {
		t.Errorf("log %q", log)
	}
}

// In a pull request, only new links are asked for, and a 404 is an error at once.
func TestAskOnlyNew(t *testing.T) {
	w := newWeb(t, site)
	c := memory(t)
	ask(t, c, quick(), links(w.URL+"/old"))
	w.take()
	opt := quick()
	opt.OnlyNew = true
	report := ask(t, c, opt, links(w.URL+"/old", w.URL+"/new"))
	if r, _ := report.Of(w.URL + "/new"); brief(r) != "error dead-link*" || !slices.Equal(report.Died, []string{w.URL + "/new"}) {
		t.Errorf("%+v, died %q", r, report.Died)
	}
	if log := w.take(); !slices.Equal(log, []string{"GET /new", "GET /new"}) {
		t.Errorf("log %q", log)
	}
}

// LL-104: retry, flush and reset.
func TestAskFailed(t *testing.T) {
	w := newWeb(t, site)
	c := memory(t)
	ask(t, c, quick(), links(w.URL+"/missing", w.URL+"/plain"))
	w.take()
	if r := c.Get(w.URL + "/missing"); !r.Retry(time.Now()) {
		t.Errorf("not due: %+v", r)
	} else {
		c.Put(r)
	}
	if r := c.Get(w.URL + "/plain"); r.Retry(time.Now()) {
		t.Errorf("due: %+v", r)
	}
	ask(t, c, quick(), links(w.URL+"/missing", w.URL+"/plain"))
	if log := w.take(); !slices.Equal(log, []string{"GET /missing", "GET /missing"}) {
		t.Errorf("log %q", log)
	}
	if n := c.Flush(links(w.URL + "/plain")); n != 1 || len(c.URLs()) != 1 {
		t.Errorf("flushed %d, left %q", n, c.URLs())
	}
	r := c.Get(w.URL + "/plain")
	r.Changed = day0
	if !r.Reset() || !r.Changed.IsZero() {
		t.Errorf("reset %+v", r)
	}
}

// An interrupt keeps what is known.
func TestAskInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	w := newWeb(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			cancel()
			<-r.Context().Done()
		}
	})
	c := memory(t)
	opt := quick()
	opt.PerHost = 1
	report, err := Ask(ctx, links(w.URL+"/first", w.URL+"/hang", w.URL+"/last"), c, opt)
	if err == nil || !slices.Equal(c.URLs(), []string{w.URL + "/first"}) || report.Requests != 2 {
		t.Errorf("%v, %q, %+v", err, c.URLs(), report)
	}
}

// Hosts that speak HTTP/2 get it, and one connection carries many requests.
func TestAskHTTP2(t *testing.T) {
	var protocols sync.Map
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { protocols.Store(r.Proto, true) }))
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{NextProtos: []string{"h2"}}
	s.StartTLS()
	defer s.Close()
	if runtime.GOOS != "linux" {
		t.Skip("SSL_CERT_FILE is for Linux")
	}
	var urls []string
	for i := range 8 {
		urls = append(urls, fmt.Sprintf("%s/%d", s.URL, i))
	}
	report := ask(t, memory(t), quick(), links(urls...))
	if r, _ := report.Of(urls[0]); brief(r) != "ok" {
		t.Errorf("%+v", r)
	}
	if _, ok := protocols.Load("HTTP/2.0"); !ok {
		t.Error("no HTTP/2")
	}
}

// A machine without a connection makes no link doubtful: when no host of three or more
// answers, nothing is counted. Two silent hosts may well be down.
func TestAskOffline(t *testing.T) {
	offline := func(answering string) func(context.Context, fetch.Request) (*fetch.Response, error) {
		return func(_ context.Context, r fetch.Request) (*fetch.Response, error) {
			if answering != "" && strings.Contains(r.URL, answering) {
				return &fetch.Response{Status: 200}, nil
			}
			return nil, &fetch.Error{Kind: fetch.NoSuchHost}
		}
	}
	three := links("https://a.example/", "https://b.example/", "https://c.example/")
	for _, c := range []struct {
		name, answering string
		links           []Target
		silent, failing int
	}{
		{"offline", "", three, 3, 0},
		{"two hosts are down", "", three[:2], 0, 2},
		{"one host answers", "b.example", three, 0, 2},
		{"the last host answers", "c.example", three, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache, opt := memory(t), quick()
			opt.exchange = offline(c.answering)
			report := testkit.Must(Ask(t.Context(), c.links, cache, opt))(t)
			failing := 0
			for _, url := range cache.URLs() {
				if r := cache.Get(url); r.Code == check.Doubtful && r.Strikes == 1 && r.Reason == NoSuchHost {
					failing++
				}
			}
			if report.Silent != c.silent || failing != c.failing {
				t.Errorf("%d silent, %d failing, want %d and %d", report.Silent, failing, c.silent, c.failing)
			}
			if _, code := report.Of(c.links[0].URL); c.silent > 0 && code != check.External {
				t.Errorf("code %q", code)
			}
		})
	}
}

// A machine that runs out of sockets asks for less at a time. No link fails because of
// that.
func TestAskStarved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		active, most, sockets := 0, 0, 5
		opt := quick()
		opt.exchange = func(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			if active >= sockets {
				return nil, &fetch.Error{Kind: fetch.NoSockets}
			}
			active++
			most = max(most, active)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			active--
			return simulated(ctx, r)
		}
		c := memory(t)
		report := ask(t, c, opt, manyLinks(500, 100))
		if len(c.URLs()) != 500 || report.Starved != 0 || most != 5 {
			t.Errorf("%d of 500 URLs are known, %d starved, %d at a time", len(c.URLs()), report.Starved, most)
		}
		sockets, c = 0, memory(t)
		report = ask(t, c, opt, manyLinks(500, 100))
		if _, code := report.Of("https://host1.example/page/1"); len(c.URLs()) != 0 || report.Starved != 500 || code != check.External {
			t.Errorf("%d URLs are known, %d starved, %q", len(c.URLs()), report.Starved, code)
		}
	})
}
