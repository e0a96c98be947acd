//go:build integration

package remote

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestServers asks real servers, nginx and Caddy. A resolver of the test knows their
// names, and their logs prove the pace, the conditional requests and HTTP/2.
func TestServers(t *testing.T) {
	resolve(t, map[string]string{"nginx.example": "127.0.0.11", "caddy.example": "127.0.0.12", "example.com": "127.0.0.13"})
	nginx := startNginx(t)
	plain, secure, caddyLog := startCaddy(t)
	pages := 6
	var urls []string
	for i := range pages {
		urls = append(urls, fmt.Sprintf("http://nginx.example:%d/%d.html", nginx.port, i),
			fmt.Sprintf("http://caddy.example:%d/%d.html", plain, i), fmt.Sprintf("https://example.com:%d/%d.html", secure, i))
	}
	at := func(path string) string { return fmt.Sprintf("http://nginx.example:%d%s", nginx.port, path) }
	want := map[string]string{
		at("/old"):                 "warning moved ",
		at("/none"):                "warning doubtful* not-found",
		at("/gone"):                "warning doubtful* gone",
		at("/private"):             "unchecked blocked forbidden",
		"http://nothing.example/":  "warning doubtful* no-such-host",
		"http://servfail.example/": "warning doubtful* dns",
	}
	for _, u := range urls {
		want[u] = "ok "
	}
	all := slices.Clone(urls)
	for u := range want {
		if !slices.Contains(urls, u) {
			all = append(all, u)
		}
	}
	slices.Sort(all)
	opt := quick()
	opt.Pace = 200 * time.Millisecond
	opt.Policy = func(string) Policy { return Policy{MaxAge: -1} }
	c := memory(t)
	report := ask(t, c, opt, links(all...))
	for u, what := range want {
		r, _ := report.Of(u)
		if got := brief(r) + " " + string(r.Reason); got != what {
			t.Errorf("%s: %q, want %q", u, got, what)
		}
	}
	silent := quick()
	silent.Timeout = time.Second
	report = ask(t, memory(t), silent, links("http://silent.example/"))
	if r, _ := report.Of("http://silent.example/"); brief(r) != "warning doubtful*" || r.Reason != DNS {
		t.Errorf("no answer of the resolver: %s %s", brief(r), r.Reason)
	}
	first := nginx.entries(t)
	// A busy machine can bring two requests together, so only the whole counts.
	if span := first[len(first)-1].at - first[0].at; span < 0.5*0.2*float64(len(first)-1) {
		t.Errorf("nginx got %d requests within %.2f s, at a pace of 0.2 s", len(first), span)
	}
	for _, e := range first {
		if strings.HasSuffix(e.path, ".html") && (e.status != 200 || e.condition != "-") {
			t.Errorf("the first run: %+v", e)
		}
	}
	opt.Pace = -1
	report = ask(t, c, opt, links(urls...))
	if report.Unchanged != len(urls) {
		t.Errorf("%d of %d pages are unchanged", report.Unchanged, len(urls))
	}
	second := nginx.entries(t)[len(first):]
	if len(second) != pages {
		t.Errorf("nginx got %d requests for %d pages", len(second), pages)
	}
	for _, e := range second {
		if e.status != 304 || e.condition == "-" || e.body != 0 {
			t.Errorf("the second run: %+v", e)
		}
	}
	report = ask(t, memory(t), quick(), links(at("/busy"))) // in a run of its own: it slows down the host
	if r, _ := report.Of(at("/busy")); brief(r) != "unchecked blocked" || r.Reason != RateLimited {
		t.Errorf("429: %s %s", brief(r), r.Reason)
	}
	var not, unchanged, http2 int
	for _, e := range caddyEntries(t, caddyLog) {
		switch {
		case e.Status == 200:
			not++
		case e.Status == 304 && e.Size == 0 && len(e.Request.Headers["If-None-Match"]) == 1:
			unchanged++
		}
		if e.Request.Proto == "HTTP/2.0" {
			http2++
		}
	}
	if not != 2*pages || unchanged != 2*pages || http2 != 2*pages {
		t.Errorf("Caddy sent %d pages and %d times that one is unchanged, %d answers in HTTP/2; want %d each", not, unchanged, http2, 2*pages)
	}
}

// TestSharedAddress: many names that share one address get ten times the pace of a name
// together, also with their second requests.
func TestSharedAddress(t *testing.T) {
	var mu sync.Mutex
	var times []time.Time
	w := newWeb(t, func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		times = append(times, time.Now())
		mu.Unlock()
	})
	names := map[string]string{}
	var urls []string
	port := w.URL[strings.LastIndexByte(w.URL, ':'):]
	for i := range 20 {
		name := fmt.Sprintf("blog%d.example", i)
		names[name] = "127.0.0.1"
		urls = append(urls, "http://"+name+port+"/a", "http://"+name+port+"/b")
	}
	resolve(t, names)
	opt := quick()
	opt.Pace = 300 * time.Millisecond
	report := ask(t, memory(t), opt, links(urls...))
	for _, u := range urls {
		if r, _ := report.Of(u); brief(r) != "ok" {
			t.Errorf("%s: %s %s", u, brief(r), r.Reason)
		}
	}
	if span, want := times[len(times)-1].Sub(times[0]), 30*time.Millisecond*time.Duration(len(urls)-1); len(times) != len(urls) || report.Requests != len(urls) || span < want*8/10 {
		t.Errorf("%d requests (%d counted) within %v, want %v", len(times), report.Requests, span, want)
	}
}

// resolve makes a resolver of the test that of this process. Names that it does not
// know do not exist, except that servfail.example is broken, and that there is no answer
// for silent.example and what is below.
func resolve(t *testing.T, names map[string]string) {
	t.Helper()
	server := testkit.Must(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply := answerDNS(buf[:n], names); reply != nil {
				server.WriteTo(reply, from)
			}
		}
	}()
	old := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = old
		server.Close()
		<-done
	})
}

func answerDNS(query []byte, names map[string]string) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	q := m.Questions[0]
	name := strings.TrimSuffix(q.Name.String(), ".")
	ip, known := names[name]
	switch {
	case strings.HasSuffix(name, "silent.example"):
		return nil
	case name == "servfail.example":
		m.RCode = dnsmessage.RCodeServerFailure
	case !known:
		m.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 60},
			Body:   &dnsmessage.AResource{A: [4]byte(net.ParseIP(ip).To4())},
		}}
	}
	reply, err := m.Pack()
	if err != nil {
		return nil
	}
	return reply
}

// docroot writes the pages of a server.
func docroot(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "root")
	testkit.Check(t, os.Mkdir(dir, 0o755))
	for i := range 10 {
		page := fmt.Sprintf("<!doctype html><title>%d</title>%s", i, strings.Repeat("<p>text", 1000))
		testkit.Check(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.html", i)), []byte(page), 0o644))
	}
	return dir
}

// freePort returns a port that nothing listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l := testkit.Must(net.Listen("tcp4", "0.0.0.0:0"))(t)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// serve runs a server until the end of the test, and waits until it answers at an
// address.
func serve(t *testing.T, addr string, name string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not answer: %v\n%s", name, err, out.String())
		}
	}
}

// nginxServer is a running nginx with its log.
type nginxServer struct {
	port int
	log  string
}

func startNginx(t *testing.T) *nginxServer {
	t.Helper()
	dir := t.TempDir()
	s := &nginxServer{port: freePort(t), log: filepath.Join(dir, "access.log")}
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log;
events {}
http {
	types { text/html html; }
	log_format proof '$msec $host $request_method $request_uri $status $body_bytes_sent "$http_if_none_match"';
	access_log %[1]s/access.log proof;
	client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e;
	server {
		listen 127.0.0.11:%[2]d;
		server_name nginx.example;
		root %[3]s;
		location = /old { return 301 /0.html; }
		location = /gone { return 410; }
		location = /private { return 403; }
		location = /busy { return 429; }
	}
}
`, dir, s.port, docroot(t))
	testkit.Check(t, os.WriteFile(conf, []byte(text), 0o644))
	serve(t, fmt.Sprintf("127.0.0.11:%d", s.port), "nginx", "-c", conf, "-e", filepath.Join(dir, "error.log"))
	return s
}

// nginxEntry is a line of nginx's log.
type nginxEntry struct {
	at           float64
	path         string
	status, body int
	condition    string // If-None-Match, "-" without one
}

// entries returns the requests to nginx.example, in the order of their ends.
func (s *nginxServer) entries(t *testing.T) (all []nginxEntry) {
	t.Helper()
	for line := range strings.Lines(readFile(t, s.log)) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 7)
		if len(f) != 7 || f[1] != "nginx.example" {
			continue
		}
		e := nginxEntry{path: f[3], condition: strings.Trim(f[6], `"`)}
		var err [3]error
		e.at, err[0] = strconv.ParseFloat(f[0], 64)
		e.status, err[1] = strconv.Atoi(f[4])
		e.body, err[2] = strconv.Atoi(f[5])
		if err != [3]error{} {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, e)
	}
	if len(all) == 0 {
		t.Fatal("the log of nginx is empty")
	}
	return all
}

// startCaddy starts Caddy with and without TLS. Its certificate is that of package
// httptest, which TestMain made one of the system's.
func startCaddy(t *testing.T) (plain, secure int, log string) {
	t.Helper()
	dir := t.TempDir()
	plain, secure, log = freePort(t), freePort(t), filepath.Join(dir, "access.log")
	s := httptest.NewTLSServer(http.NotFoundHandler())
	cert := s.TLS.Certificates[0]
	s.Close()
	key := testkit.Must(x509.MarshalPKCS8PrivateKey(cert.PrivateKey))(t)
	name := func(base string, blocks ...*pem.Block) string {
		var b bytes.Buffer
		for _, block := range blocks {
			pem.Encode(&b, block)
		}
		name := filepath.Join(dir, base)
		testkit.Check(t, os.WriteFile(name, b.Bytes(), 0o600))
		return name
	}
	certFile := name("cert.pem", &pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})
	keyFile := name("key.pem", &pem.Block{Type: "PRIVATE KEY", Bytes: key})
	testkit.Must(tls.LoadX509KeyPair(certFile, keyFile))(t)
	conf := filepath.Join(dir, "Caddyfile")
	text := fmt.Sprintf(`{
	admin off
	auto_https off
}
(pages) {
	root * %[1]s
	file_server
	log {
		output file %[2]s
	}
}
http://caddy.example:%[3]d {
	bind 127.0.0.12
	import pages
}
https://example.com:%[4]d {
	bind 127.0.0.13
	tls %[5]s %[6]s
	import pages
}
`, docroot(t), log, plain, secure, certFile, keyFile)
	testkit.Check(t, os.WriteFile(conf, []byte(text), 0o644))
	serve(t, fmt.Sprintf("127.0.0.12:%d", plain), "caddy", "run", "--config", conf, "--adapter", "caddyfile")
	return plain, secure, log
}

// caddyEntry is a line of Caddy's log.
type caddyEntry struct {
	Status, Size int
	Request      struct {
		Proto   string
		Headers http.Header
	}
}

func caddyEntries(t *testing.T, name string) (all []caddyEntry) {
	t.Helper()
	for s := bufio.NewScanner(strings.NewReader(readFile(t, name))); s.Scan(); {
		var e caddyEntry
		testkit.Check(t, json.Unmarshal(s.Bytes(), &e))
		all = append(all, e)
	}
	return all
}
