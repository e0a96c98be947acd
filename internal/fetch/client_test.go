package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/weburl"
)

func TestGet(t *testing.T) {
	base := handler(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</x>; rel=webmention")
		w.WriteHeader(203)
		fmt.Fprintf(w, "%s %s %s", r.Method, r.RequestURI, r.UserAgent())
	})
	resp := testkit.Must(get(t, local(Options{UserAgent: "me"}), base+"/a?b#c"))(t)
	if resp.Status != 203 || resp.Reason != "Non-Authoritative Information" || resp.URL != base+"/a?b" || string(resp.Body) != "GET /a?b me" ||
		resp.Header.Get("Link") == "" || resp.Truncated || resp.Hops != nil {
		t.Errorf("got %+v, body %s", resp, resp.Body)
	}
}

// The request line has the URL as a browser would write it, without decoding.
func TestRequestBytes(t *testing.T) {
	var head string
	base := script(t, func(c net.Conn, h string) {
		head = h
		io.WriteString(c, "HTTP/1.1 204 Fine By Me\r\n\r\n")
	})
	host := strings.TrimPrefix(base, "http://")
	const gzip, end = "Accept-Encoding: gzip\r\n", "Connection: close\r\n\r\n"
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{URL: base}, "GET / HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: me\r\n" + gzip + end},
		{Request{URL: base + "/a%2Fb|é?x=%zz y"}, "GET /a%2Fb|%C3%A9?x=%zz%20y HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: me\r\n" + gzip + end},
		{Request{URL: base + "//a%2Fb/?"}, "GET //a%2Fb/? HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: me\r\n" + gzip + end},
		{Request{URL: base + "/x", Method: "POST", Header: http.Header{"Content-Type": {"text/xml"}}, Body: []byte("b")},
			"POST /x HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: me\r\nContent-Length: 1\r\n" + gzip + "Content-Type: text/xml\r\n" + end},
		{Request{URL: base + "/x", Method: "LINK", RequestTarget: "http://a.example/ " + base + "/x"},
			"LINK http://a.example/ " + base + "/x HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: me\r\nContent-Length: 0\r\n" + end},
		{Request{URL: base + "/x", Method: "OPTIONS", Header: http.Header{"User-Agent": {"other"}}},
			"OPTIONS /x HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: other\r\n" + gzip + end},
	} {
		resp := testkit.Must(local(Options{UserAgent: "me"}).Do(t.Context(), c.r))(t)
		if head != c.want {
			t.Errorf("%+v:\ngot  %q\nwant %q", c.r, head, c.want)
		}
		if resp.Status != 204 || resp.Reason != "Fine By Me" {
			t.Errorf("got %d %q", resp.Status, resp.Reason)
		}
	}
}

func TestBadRequest(t *testing.T) {
	for _, c := range []struct {
		r    Request
		want string // in the message
	}{
		{Request{URL: ""}, "missing scheme"},
		{Request{URL: "/a"}, "missing scheme"},
		{Request{URL: "file:///etc/passwd"}, "only http and https"},
		{Request{URL: "gopher://127.0.0.1:70/_x"}, "only http and https"},
		{Request{URL: "javascript:alert(1)"}, "only http and https"},
		{Request{URL: "http://"}, "empty host"},
		{Request{URL: "http://u:secret@127.0.0.1/"}, "user name or password"},
		{Request{URL: "http://u:secret@[/"}, "IPv6"},
		{Request{URL: "http:/\\u:secret@[/"}, "IPv6"},
		{Request{URL: "HTTP:u:secret@127.0.0.1"}, "user name or password"},
		{Request{URL: "http://127.0.0.1/", Method: "A B"}, "method"},
		{Request{URL: "http://127.0.0.1/", Header: http.Header{"X": {"a\nb"}}}, "header"},
		{Request{URL: "http://127.0.0.1/", RequestTarget: "a\r\nb"}, "control character"},
	} {
		resp, err := local(Options{}).Do(t.Context(), c.r)
		e := wantKind(t, err, BadRequest)
		if resp != nil || e.Sent || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") || e.Kind.Retry() {
			t.Errorf("%+v: got %+v, %v", c.r, resp, err)
		}
	}
}

func TestGzip(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(bytes.Repeat([]byte("0123456789"), 1<<20)) // 10 MB
	w.Close()
	base := handler(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(packed.Bytes())
		case "/empty":
			w.Header().Set("Content-Encoding", "gzip")
		case "/broken":
			w.Header().Set("Content-Encoding", "X-GZIP")
			w.Write(packed.Bytes()[:1000])
		case "/none":
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, "plain text")
		case "/damaged":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(append(bytes.Clone(packed.Bytes()[:20]), "damaged in a way that no inflate accepts"...))
		case "/br":
			w.Header().Set("Content-Encoding", "br")
			io.WriteString(w, "x")
		}
	})
	c := local(Options{MaxBody: 25})
	resp, err := get(t, c, base+"/bomb")
	if err != nil || string(resp.Body) != "0123456789012345678901234" || !resp.Truncated {
		t.Errorf("bomb: %+v, %v", resp, err)
	}
	if resp, err = get(t, c, base+"/empty"); err != nil || len(resp.Body) != 0 || resp.Truncated {
		t.Errorf("empty: %+v, %v", resp, err)
	}
	for path, want := range map[string]ErrorKind{"/broken": Body, "/none": Encoding, "/damaged": Encoding, "/br": Encoding} {
		resp, err := local(Options{}).Do(t.Context(), Request{URL: base + path})
		if e := wantKind(t, err, want); resp == nil || resp.Status != 200 || !e.Sent || e.Kind.Retry() != (want == Body) {
			t.Errorf("%s: got %+v, %v", path, resp, err)
		}
	}
}

func TestMaxBody(t *testing.T) {
	base := handler(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "0123456789") })
	for limit, cut := range map[int64]bool{9: true, 10: false, 11: false} {
		resp, err := local(Options{MaxBody: 3}).Do(t.Context(), Request{URL: base, MaxBody: limit})
		if err != nil || resp.Truncated != cut || int64(len(resp.Body)) != min(limit, 10) {
			t.Errorf("limit %d: %+v, %v", limit, resp, err)
		}
	}
}

// Responses that never end, in each of their parts.
func TestHostileServers(t *testing.T) {
	testkit.Long(t)
	quick := Options{Total: 2 * time.Second, Idle: 500 * time.Millisecond}
	var wrote atomic.Int64
	flood := func(c net.Conn, head string, chunk string) {
		io.WriteString(c, head)
		for {
			n, err := io.WriteString(c, chunk)
			wrote.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
	drip := func(c net.Conn, head string) {
		io.WriteString(c, head)
		for {
			if _, err := io.WriteString(c, "x"); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	for _, c := range []struct {
		name   string
		serve  func(net.Conn, string)
		want   ErrorKind // "" for an answer that is cut
		status int
	}{
		{"never answers", func(c net.Conn, _ string) { hold(c) }, Timeout, 0},
		{"closes", func(c net.Conn, _ string) {}, Closed, 0},
		{"resets", func(c net.Conn, _ string) { c.(*net.TCPConn).SetLinger(0) }, Closed, 0},
		{"stops in the head", func(c net.Conn, _ string) { io.WriteString(c, "HTTP/1.1 200 OK\r\nX: "); hold(c) }, Timeout, 0},
		{"closes in the head", func(c net.Conn, _ string) { io.WriteString(c, "HTTP/1.1 200 OK\r\nX: ") }, Header, 0},
		{"drips its head", func(c net.Conn, _ string) { drip(c, "HTTP/1.1 200 OK\r\nX: ") }, Timeout, 0},
		{"is not HTTP", func(c net.Conn, _ string) { io.WriteString(c, "220 mail.example ESMTP\r\n") }, Header, 0},
		{"has an endless status line", func(c net.Conn, _ string) { flood(c, "HTTP/1.1 200 ", strings.Repeat("x", 4096)) }, Header, 0},
		{"has an endless head", func(c net.Conn, _ string) { flood(c, "HTTP/1.1 200 OK\r\n", "X: y\r\n") }, Header, 0},
		{"promises an answer without end", func(c net.Conn, _ string) { flood(c, "", "HTTP/1.1 103 Early Hints\r\n\r\n") }, Header, 0},
		{"has a wrong length", func(c net.Conn, _ string) { io.WriteString(c, "HTTP/1.1 202 OK\r\nContent-Length: 9\r\n\r\nx") }, Body, 202},
		{"stops in the body", func(c net.Conn, _ string) {
			io.WriteString(c, "HTTP/1.1 201 OK\r\nContent-Length: 9\r\n\r\nx")
			hold(c)
		}, Timeout, 201},
		{"drips its body", func(c net.Conn, _ string) { drip(c, "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n") }, TooSlow, 200},
		{"has an endless body", func(c net.Conn, _ string) { flood(c, "HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("x", 4096)) }, "", 200},
		{"has endless chunks", func(c net.Conn, _ string) {
			flood(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1000\r\n"+strings.Repeat("x", 4096)+"\r\n")
		}, "", 200},
		{"announces 10 GB", func(c net.Conn, _ string) {
			flood(c, "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n", strings.Repeat("x", 4096))
		}, "", 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := local(Options{Total: time.Minute, Idle: time.Minute})
			switch c.want {
			case Timeout:
				opt := quick
				if c.status != 0 { // the head must arrive in time on a busy machine
					opt = Options{Total: time.Minute, Idle: 3 * time.Second}
				}
				client = local(opt)
			case TooSlow:
				client.grace, client.opts.MinRate = 100*time.Millisecond, 2000
			}
			resp, err := get(t, client, script(t, c.serve))
			if c.status != 0 && (resp == nil || resp.Status != c.status) || c.status == 0 && resp != nil {
				t.Errorf("got the response %+v", resp)
			}
			if c.want == "" {
				if err != nil || !resp.Truncated || len(resp.Body) != 1<<20 {
					t.Errorf("got %d bytes, %v", len(resp.Body), err)
				}
				return
			}
			if e := wantKind(t, err, c.want); !e.Sent || len(e.Error()) > 1000 || strings.Contains(e.Error(), "->") {
				t.Errorf("got %+v, a message of %d bytes: %v", e, len(e.Error()), e)
			}
		})
	}
	t.Cleanup(func() {
		if n := wrote.Load(); n > 100<<20 {
			t.Errorf("%d bytes were written to a client that wants 1 MiB", n)
		}
	})
}

// TestIdle: each read has its own time limit. net/http writes once, at the start, so
// the limit of that write must not end a response that arrives slowly.
func TestIdle(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	c := &conn{Conn: here, idle: 50 * time.Millisecond}
	defer c.Close()
	failed := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1)) // before any write
		failed <- err
	}()
	select {
	case err := <-failed:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("reading from a silent host: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("reading from a silent host does not end")
	}
	// The limit of a write has passed when more arrives.
	c.idle = time.Minute
	here.SetDeadline(time.Now().Add(-time.Second))
	go there.Write([]byte("x"))
	if n, err := c.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("reading after the limit of the write: %d bytes, %v", n, err)
	}
}

func TestTotal(t *testing.T) {
	base := script(t, func(c net.Conn, _ string) { hold(c) })
	begin := time.Now()
	_, err := get(t, local(Options{Total: 50 * time.Millisecond}), base)
	if wantKind(t, err, Timeout); time.Since(begin) > time.Minute {
		t.Errorf("took %s", time.Since(begin))
	}
	// The host may be silent for all that time, unless an option says less.
	if idle := New(Options{Total: time.Minute}).opts.Idle; idle != time.Minute {
		t.Errorf("Idle is %s", idle)
	}
	slow := handler(t, func(w http.ResponseWriter, r *http.Request) { time.Sleep(200 * time.Millisecond) })
	c := local(Options{Idle: 50 * time.Millisecond})
	if _, err := c.Do(t.Context(), Request{URL: slow}); err == nil {
		t.Error("no time-out")
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	base := script(t, func(c net.Conn, _ string) { cancel(); hold(c) })
	_, err := local(Options{}).Do(ctx, Request{URL: base})
	wantKind(t, err, Canceled)
	_, err = local(Options{}).Do(ctx, Request{URL: base})
	if e := wantKind(t, err, Canceled); e.Sent {
		t.Error("sent after the end")
	}
}

func TestConnectErrors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Check(t, err)
	free := l.Addr().String()
	l.Close()
	_, err = get(t, local(Options{}), "http://"+free)
	if e := wantKind(t, err, Connect); e.Sent || !e.Kind.Retry() {
		t.Errorf("%+v", e)
	}

	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	_, err = get(t, local(Options{}), secure.URL)
	if e := wantKind(t, err, TLS); e.Sent {
		t.Errorf("%+v", e)
	}
	plain := handler(t, func(http.ResponseWriter, *http.Request) {})
	_, err = get(t, local(Options{}), "https"+strings.TrimPrefix(plain, "http"))
	wantKind(t, err, TLS)
}

func TestProxy(t *testing.T) {
	target := handler(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "the target") })
	var lines []string
	proxy := handler(t, func(w http.ResponseWriter, r *http.Request) {
		lines = append(lines, r.Method+" "+r.RequestURI)
		if r.URL.Host == "example.org" {
			io.WriteString(w, "by name")
			return
		}
		(&httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}}).ServeHTTP(w, r)
	})
	c := local(Options{Proxy: func(r *http.Request) (*url.URL, error) {
		if r.URL.Path == "/direct" || r.URL.Opaque == "/direct" {
			return nil, nil
		}
		return url.Parse(proxy)
	}})
	for _, at := range []struct{ url, want string }{
		{target + "/a%2Fb?x", "the target"},
		{"http://example.org//c", "by name"},
		{target + "/direct", "the target"},
	} {
		if resp, err := get(t, c, at.url); err != nil || string(resp.Body) != at.want {
			t.Errorf("%s: %v, %v", at.url, resp, err)
		}
	}
	if got, want := fmt.Sprint(lines), fmt.Sprint([]string{"GET " + target + "/a%2Fb?x", "GET http://example.org//c"}); got != want {
		t.Errorf("the proxy saw %s, want %s", got, want)
	}
	// Addresses in the URL are checked behind a proxy as well.
	for _, at := range []string{"http://169.254.169.254/", "http://[fd00:ec2::254]/", "https://10.0.0.1/", "http://example.org:25/"} {
		_, err := get(t, c, at)
		wantKind(t, err, RefusedAddress)
	}
	_, err := c.Do(t.Context(), Request{Method: "LINK", URL: "http://example.org/", RequestTarget: "http://a.example/ http://example.org/"})
	wantKind(t, err, BadRequest)
	if len(lines) != 2 {
		t.Errorf("the proxy saw %s", lines)
	}
}

func TestRedirectMethod(t *testing.T) {
	base := handler(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		if n, _ := fmt.Sscanf(r.URL.Path, "/%d", &status); n == 1 {
			w.Header().Set("Location", "../to?x")
			w.WriteHeader(status)
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s", r.Method, r.RequestURI, r.Header.Get("Content-Type"), body)
	})
	for _, c := range []struct {
		status int
		method string
		want   string
	}{
		{301, "POST", "POST /to?x text/xml <a/>"}, // notifiers 5.1: net/http would make it GET
		{302, "POST", "POST /to?x text/xml <a/>"},
		{303, "POST", "GET /to?x  "},
		{307, "POST", "POST /to?x text/xml <a/>"},
		{308, "POST", "POST /to?x text/xml <a/>"},
		{301, "GET", "GET /to?x text/xml <a/>"},
		{302, "UNLINK", "UNLINK /to?x text/xml <a/>"},
		{303, "HEAD", ""},
	} {
		resp, err := local(Options{}).Do(t.Context(), Request{
			Method: c.method, URL: fmt.Sprintf("%s/%d#f", base, c.status),
			Header: http.Header{"Content-Type": {"text/xml"}}, Body: []byte("<a/>"),
		})
		if err != nil {
			t.Errorf("%d %s: %v", c.status, c.method, err)
			continue
		}
		want := Hop{Status: c.status, From: fmt.Sprintf("%s/%d", base, c.status), To: base + "/to?x"}
		if string(resp.Body) != c.want || resp.URL != base+"/to?x" || len(resp.Hops) != 1 || resp.Hops[0] != want {
			t.Errorf("%d %s: got %+v, body %s", c.status, c.method, resp, resp.Body)
		}
	}
	for _, r := range []Request{
		{URL: base + "/302", NoRedirect: true},
		{URL: base + "/302", Method: "LINK", RequestTarget: "/302"},
		{URL: base + "/304"},
		{URL: base + "/300"},
	} {
		if resp, err := local(Options{}).Do(t.Context(), r); err != nil || resp.Status/100 != 3 || resp.Hops != nil {
			t.Errorf("%+v: got %+v, %v", r, resp, err)
		}
	}
}

func TestRedirectFailures(t *testing.T) {
	var asked int
	base := handler(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		var n int
		fmt.Sscanf(r.URL.Path, "/count/%d", &n)
		to := map[string]string{
			"/file":     "file:///etc/passwd",
			"/js":       "javascript:alert(1)",
			"/user":     "http://u:secret@127.0.0.1/",
			"/bad":      "http://[/",
			"/metadata": "http://169.254.169.254/latest/meta-data/",
			"/mapped":   "http://[::ffff:10.0.0.1]/",
			"/number":   "http://2852039166/", // 169.254.169.254
			"/port":     "http://8.8.8.8:25/",
			"/self":     "/self#again",
			"/a":        "/b",
			"/b":        "/a",
		}[r.URL.Path]
		if n > 0 {
			to = fmt.Sprintf("/count/%d", n-1)
		}
		if to != "" {
			w.Header().Set("Location", to)
		}
		w.WriteHeader(302)
	})
	for _, c := range []struct {
		path  string
		want  ErrorKind // "" for an answer
		asked int
	}{
		{"/file", BadRedirect, 1},
		{"/js", BadRedirect, 1},
		{"/user", BadRedirect, 1},
		{"/bad", BadRedirect, 1},
		{"/metadata", RefusedAddress, 1},
		{"/mapped", RefusedAddress, 1},
		{"/number", RefusedAddress, 1},
		{"/port", RefusedAddress, 1},
		{"/self", RedirectLoop, 1},
		{"/a", RedirectLoop, 2},
		{"/count/6", TooManyHops, 6},
		{"/count/5", "", 6},
		{"/no-location", "", 1},
	} {
		asked = 0
		resp, err := get(t, local(Options{}), base+c.path)
		if asked != c.asked {
			t.Errorf("%s: %d requests, want %d", c.path, asked, c.asked)
		}
		if c.want == "" {
			if err != nil || resp.Status != 302 {
				t.Errorf("%s: got %+v, %v", c.path, resp, err)
			}
			continue
		}
		if e := wantKind(t, err, c.want); strings.Contains(e.Error(), "secret") || e.Kind.Retry() {
			t.Errorf("%s: %v", c.path, e)
		}
	}
	if _, err := get(t, local(Options{MaxRedirects: -1}), base+"/count/1"); err == nil {
		t.Error("a redirect was followed")
	}
}

// bothSchemes serves http and https at one port.
func bothSchemes(t *testing.T, h http.HandlerFunc) (authority string) {
	t.Helper()
	inner := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	authority = inner.Addr().String()
	secure := httptest.NewTLSServer(h)
	plain := httptest.NewServer(h)
	var all sync.WaitGroup
	t.Cleanup(func() { inner.Close(); all.Wait(); secure.Close(); plain.Close() })
	all.Go(func() {
		for {
			c, err := inner.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				first := make([]byte, 1)
				if _, err := io.ReadFull(c, first); err != nil {
					return
				}
				to := plain.Listener.Addr().String()
				if first[0] == 0x16 { // a TLS handshake
					to = secure.Listener.Addr().String()
				}
				s, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer s.Close()
				s.Write(first)
				go func() { io.Copy(s, c); s.Close() }()
				io.Copy(c, s)
			})
		}
	})
	return authority
}

// TestRedirectDowngrade: a redirect from https to http of the same host takes no
// credentials along, and no request that changes something.
func TestRedirectDowngrade(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	var authority string
	authority = bothSchemes(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, fmt.Sprintf("%s %t %s", r.Method, r.TLS != nil, r.Header.Get("Authorization")+r.Header.Get("Cookie")))
		mu.Unlock()
		var status int
		if n, _ := fmt.Sscanf(r.URL.Path, "/%d", &status); n == 1 {
			w.Header().Set("Location", "http://"+authority+"/there")
			w.WriteHeader(status)
		}
	})
	client := local(Options{})
	client.direct.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	for _, c := range []struct {
		method string
		status int
		want   string
	}{
		{"GET", 302, "GET true AC, GET false "},
		{"HEAD", 307, "HEAD true AC, HEAD false "},
		{"POST", 302, "POST true AC"},
		{"POST", 307, "POST true AC"},
		{"POST", 308, "POST true AC"},
		{"UNLINK", 302, "UNLINK true AC"},
		{"POST", 303, "POST true AC, GET false "}, // the request has been accepted
	} {
		seen = nil
		resp, err := client.Do(t.Context(), Request{Method: c.method, URL: fmt.Sprintf("https://%s/%d", authority, c.status),
			Header: http.Header{"Authorization": {"A"}, "Cookie": {"C"}}, Body: []byte("x")})
		if got := strings.Join(seen, ", "); got != c.want {
			t.Errorf("%s %d: the host saw %s, want %s", c.method, c.status, got, c.want)
		}
		if followed := strings.Contains(c.want, ","); followed {
			if err != nil || resp.Status != 200 {
				t.Errorf("%s %d: %+v, %v", c.method, c.status, resp, err)
			}
		} else if e := wantKind(t, err, BadRedirect); e.Kind.Retry() || !strings.Contains(e.Error(), "https to http") {
			t.Errorf("%s %d: %v", c.method, c.status, err)
		}
	}
	// The host and port of these are the same too.
	from, _ := weburl.Parse("https://h.example/")
	to, _ := weburl.Parse("http://h.example/")
	r := Request{Method: "GET", Header: http.Header{"Authorization": {"A"}}}
	if r.redirect(http.StatusFound, from, to); len(r.Header) != 0 {
		t.Errorf("kept at the default ports: %v", r.Header)
	}
}

// Credentials are only sent to the first host.
func TestRedirectCredentials(t *testing.T) {
	var got []string
	show := func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization")+r.Header.Get("Cookie")+r.Header.Get("X-Kept"))
		w.Header().Set("Set-Cookie", "a=b")
	}
	other := handler(t, show)
	base := handler(t, func(w http.ResponseWriter, r *http.Request) {
		show(w, r)
		if r.URL.Path == "/away" {
			http.Redirect(w, r, other, http.StatusTemporaryRedirect)
		} else if r.URL.Path != "/there" {
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
		}
	})
	header := http.Header{"Authorization": {"A"}, "Cookie": {"C"}, "X-Kept": {"K"}}
	for _, path := range []string{"/here", "/away"} {
		testkit.Must(local(Options{}).Do(t.Context(), Request{URL: base + path, Header: header}))(t)
	}
	if want := "[ACK ACK ACK K]"; fmt.Sprint(got) != want {
		t.Errorf("the hosts saw %s, want %s", got, want)
	}
	if len(header) != 3 {
		t.Error("the caller's header was changed")
	}
}
