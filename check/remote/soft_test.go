package remote

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/fetch"
)

// Some hosts answer 200 for pages that do not exist. A page is missing if the host answers
// a random address with the same page, apart from the address in it. Each row is a host
// that answers unknown addresses in its own way.
func TestRandom(t *testing.T) {
	const text = "<p>A text that is long enough to show that the page says something of its own."
	for _, c := range []struct {
		name          string
		known, others string // pages; PATH stands for the path, "-> " begins a redirect, "404 " a page with that status
		want          check.Code
	}{
		{"the same page", text, text, check.Doubtful},
		{"the same with the address", "Sorry, we do not know PATH." + text, "Sorry, we do not know PATH." + text, check.Doubtful},
		{"the same with the time", text + "12:01", text + "13:02", check.Doubtful},
		{"the same short page", "<p>Nothing here", "<p>Nothing here", check.Doubtful},
		{"the same redirect", "-> /gone", "-> /gone", check.Doubtful},
		{"another page", text + "<p>Known", text, ""},
		{"a real 404", text, "404 " + text, ""},
		{"an application", "<title>App</title><script src=a.js></script><noscript>Needs JavaScript" + text + "</noscript>", "<title>App</title><script src=a.js></script><noscript>Needs JavaScript" + text + "</noscript>", ""},
		{"empty pages", "", "", ""},
		{"another redirect", "-> /new", "-> /other", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
				page := c.others
				if strings.HasPrefix(r.URL.Path, "/dir/known") {
					page = c.known
				}
				w.Header().Set("Content-Type", "text/html")
				switch to, redirect := strings.CutPrefix(page, "-> "); {
				case r.URL.Path == "/":
					fmt.Fprint(w, "home")
				case r.URL.Path == "/gone" || r.URL.Path == "/new":
					fmt.Fprint(w, text, "as nothing else ", r.URL.Path)
				case redirect:
					http.Redirect(w, r, to, http.StatusFound)
				case strings.HasPrefix(page, "404 "):
					w.WriteHeader(404)
				default:
					fmt.Fprint(w, strings.ReplaceAll(page, "PATH", r.URL.Path))
				}
			})
			cache, opt := memory(t), quick()
			opt.Random = true
			urls := []string{w.URL + "/dir/known1", w.URL + "/dir/known2", w.URL + "/"}
			report := ask(t, cache, opt, links(urls...))
			for i, url := range urls {
				want := c.want
				if i == 2 {
					want = "" // a home page is never asked about
				}
				if r, _ := report.Of(url); r.Code != want || (r.Reason == SoftMissing) != (want != "") {
					t.Errorf("%s: %s %s %q", url, brief(r), r.Reason, r.Hints)
				}
			}
			random := slices.DeleteFunc(w.take(), func(l string) bool { return !strings.HasPrefix(l, "GET /dir/sitelink-") })
			if len(random) != 1 && (len(random) > 0 || c.known != "" && c.name != "an application") {
				t.Errorf("random addresses: %q", random)
			}
			// What is known to be good needs no second look.
			opt.Policy = func(string) Policy { return Policy{MaxAge: -1} }
			ask(t, cache, opt, links(urls...))
			again := slices.ContainsFunc(w.take(), func(l string) bool { return strings.HasPrefix(l, "GET /dir/sitelink-") })
			if again != (c.want != "") {
				t.Errorf("the second run asked for a random address: %v", again)
			}
		})
	}
	// A run that ends before the second look keeps the first answer.
	s := &sim{pages: map[string]string{"https://a.example/a": "<p>page"}}
	opt := s.quick()
	opt.Random, opt.MaxRequests = true, 1
	report := ask(t, memory(t), opt, links("https://a.example/a"))
	if r, _ := report.Of("https://a.example/a"); brief(r) != "ok" || report.OverBudget != 0 {
		t.Errorf("%+v", r)
	}
}

// Permanent redirects suggest the address that an author would write.
func TestMoved(t *testing.T) {
	for _, c := range []struct{ link, to, final string }{
		{"https://a.example/old", "https://a.example/new", "https://a.example/new"},
		{"https://a.example/old", "https://a.example/new#part", "https://a.example/new#part"},
		{"https://a.example/old", "https://a.example/new?id=1&utm_source=x&gclid=y#part", "https://a.example/new?id=1#part"},
		{"https://a.example/old", "https://a.example/old?utm_source=x", ""},
		{"https://a.example/old", "https://a.example/old;jsessionid=ab12", ""},
		{"https://a.example/old?utm_source=x", "https://a.example/new?utm_source=x", "https://a.example/new?utm_source=x"},
		{"https://a.example/old", "https://a.example/login?next=/old", ""},
		{"https://a.example/login", "https://a.example/signin", "https://a.example/signin"},
	} {
		a := Answer{Status: 200, Hops: []Hop{{301, c.to}}}
		if final, all := a.moved(c.link); final != c.final || all != (final != "") {
			t.Errorf("%s to %s: %q, %v", c.link, c.to, final, all)
		}
	}
	// The fragment of a Location stays through redirects without one, as in browsers.
	s := &sim{pages: map[string]string{"https://a.example/1": "-> https://a.example/2#part", "https://a.example/2": "-> https://a.example/3", "https://a.example/3": "page"}}
	report := ask(t, memory(t), s.quick(), links("https://a.example/1"))
	if r, _ := report.Of("https://a.example/1"); r.Final != "https://a.example/3#part" || r.Answered != "https://a.example/3" {
		t.Errorf("%+v", r)
	}
}

// A host that demands a certificate of its visitors does not answer us, whatever the
// version of TLS. One that only asks for it does.
func TestClientCertificate(t *testing.T) {
	for _, c := range []struct {
		version uint16
		auth    tls.ClientAuthType
		want    string
	}{
		{tls.VersionTLS12, tls.RequireAnyClientCert, "unchecked blocked"},
		{tls.VersionTLS13, tls.RequireAnyClientCert, "unchecked blocked"},
		{tls.VersionTLS13, tls.RequestClientCert, "ok"},
	} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("page")) }))
		s.TLS = &tls.Config{ClientAuth: c.auth, MaxVersion: c.version}
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		t.Cleanup(s.Close)
		report := ask(t, memory(t), quick(), links(s.URL+"/"))
		if r, _ := report.Of(s.URL + "/"); brief(r) != c.want || (r.Reason == ClientCert) != (c.auth == tls.RequireAnyClientCert) {
			t.Errorf("%x: %s %s", c.version, brief(r), r.Reason)
		}
	}
	missing := x509.UnknownAuthorityError{Cert: &x509.Certificate{RawIssuer: []byte("a"), RawSubject: []byte("b"), IssuingCertificateURL: []string{"http://a.example/ca.crt"}}}
	if got := faultOf(&fetch.Error{Kind: fetch.TLS, Err: missing}); got != TLSChain {
		t.Errorf("a missing intermediate certificate: %s", got)
	}
}
