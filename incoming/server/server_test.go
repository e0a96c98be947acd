package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/testkit"
)

// patience is the longest that a test waits for what should happen soon.
const patience = 30 * time.Second

// script is a receiver that answers by the last segment of the path of our end of
// the link, and a store of one mention for each state, named like it.
type script struct {
	mu      sync.Mutex
	notices []incoming.Notice
	err     error
	block   chan struct{} // if set, Receive waits for it
	entered chan struct{} // if set, Receive sends to it first
}

func (s *script) Receive(ctx context.Context, notices []incoming.Notice) ([]incoming.Answer, error) {
	if s.entered != nil {
		s.entered <- struct{}{}
	}
	if s.block != nil {
		<-s.block
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	s.notices = append(s.notices, notices...)
	var answers []incoming.Answer
	for _, n := range notices {
		ours := n.Target
		if n.Action.Ours() {
			ours = n.Source
		}
		a := incoming.Answer{Outcome: incoming.Accepted, ID: "queued"}
		word := ours[strings.LastIndexByte(ours, '/')+1:]
		switch o := incoming.Outcome(word); o {
		case incoming.Known:
			a.Outcome, a.ID = o, "approved"
		case incoming.Limited:
			a = incoming.Answer{Outcome: o, RetryAfter: 1500 * time.Millisecond}
		case incoming.Invalid, incoming.Elsewhere, incoming.Missing, incoming.Closed, incoming.Unlinked, incoming.Denied:
			a = incoming.Answer{Outcome: o}
		default:
			a.Subscribed = n.Subscribe && word == "linkmod"
			if word == "reason" {
				a = incoming.Answer{Outcome: incoming.Denied, Reason: "Not <you> & yours."}
			}
		}
		answers = append(answers, a)
	}
	return answers, nil
}

func (s *script) Mention(_ context.Context, id string) (incoming.Mention, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return incoming.Mention{}, s.err
	}
	for _, state := range incoming.States {
		if string(state) == id {
			return incoming.Mention{ID: id, State: state, Source: "http://a.example/<script>", Target: "http://b.example/?a=1&b=2",
				Title: "secret title", Reason: "secret reason", Fault: 17, Excerpt: "secret excerpt", Author: incoming.Author{Name: "secret name"}}, nil
		}
	}
	return incoming.Mention{}, incoming.ErrNotFound
}

func (s *script) Counts(context.Context) (map[incoming.State]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return map[incoming.State]int64{incoming.Queued: 3, incoming.Approved: 7}, s.err
}

// fail makes the store fail, or work again.
func (s *script) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// taken returns the notices that were received since the last call.
func (s *script) taken() []incoming.Notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.notices
	s.notices = nil
	return taken
}

// start serves on a loopback port until the test ends, and returns its address.
func start(t testing.TB, opt Options) (*script, string) {
	t.Helper()
	s, address, _ := startStoppable(t, opt)
	return s, address
}

// startStoppable also returns a function that stops the server, and a channel
// with the result of Serve is what that returns.
func startStoppable(t testing.TB, opt Options) (*script, string, func() <-chan error) {
	t.Helper()
	s := &script{}
	if opt.Receiver == nil {
		opt.Receiver = s
	} else if own, ok := opt.Receiver.(*script); ok {
		s = own
	}
	if opt.Mentions == nil {
		opt.Mentions = s
	}
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		result <- New(opt).Serve(ctx, l)
		close(done)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s, l.Addr().String(), func() <-chan error { cancel(); return result }
}

// client is a connection to a server.
type client struct {
	t  testing.TB
	c  net.Conn
	in *bufio.Reader
}

func dial(t testing.TB, address string) *client {
	t.Helper()
	c := testkit.Must(net.Dial("tcp", address))(t)
	t.Cleanup(func() { c.Close() })
	testkit.Check(t, c.SetDeadline(time.Now().Add(patience)))
	return &client{t, c, bufio.NewReader(c)}
}

func (c *client) send(text string) {
	c.t.Helper()
	testkit.Must(io.WriteString(c.c, text))(c.t)
}

// answer is a response as it was sent.
type answer struct {
	*http.Response
	line string // the status, with its reason phrase
	text string
}

// receive reads a response to a request with that method.
func (c *client) receive(method string) answer {
	c.t.Helper()
	resp, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("read the response: %v", err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatalf("read the body: %v", err)
	}
	return answer{resp, resp.Status, string(body)}
}

// ended reports whether the server has ended the connection.
func (c *client) ended() bool {
	_, err := c.in.ReadByte()
	return err != nil && !errors.Is(err, context.DeadlineExceeded)
}

// ask sends a request on a connection of its own, and returns the response.
func ask(t testing.TB, address, request string) answer {
	t.Helper()
	c := dial(t, address)
	c.send(request)
	method, _, _ := strings.Cut(request, " ")
	return c.receive(method)
}

// get sends a request without body and with these header fields.
func get(t testing.TB, address, method, path string, fields ...string) answer {
	t.Helper()
	request := method + " " + path + " HTTP/1.1\r\nHost: b.example\r\n"
	for _, f := range fields {
		request += f + "\r\n"
	}
	return ask(t, address, request+"\r\n")
}

// post sends a body with this type.
func post(t testing.TB, address, path, kind, body string, fields ...string) answer {
	t.Helper()
	request := "POST " + path + " HTTP/1.1\r\nHost: b.example\r\n"
	if kind != "" {
		request += "Content-Type: " + kind + "\r\n"
	}
	for _, f := range fields {
		request += f + "\r\n"
	}
	return ask(t, address, fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", request, len(body), body))
}

// TestKeptAlive: a call works on any request of a connection, and its answer ends it.
func TestKeptAlive(t *testing.T) {
	receiver, address := start(t, Options{})
	before := []struct{ text, line string }{
		{"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "404 Not Found"},
		{"POST /pingback HTTP/1.1\r\nHost: b.example\r\nContent-Length: 1\r\n\r\nx", "200 OK"},
		{"LINK /doc HTTP/1.1\r\nHost: b.example\r\nLink: <http://a.example/3>; rel=x\r\n\r\n", "202 Accepted"},
		{"POST /webmention HTTP/1.1\r\nHost: b.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nsourc\r\n0\r\nX: y\r\n\r\n", "400 Bad Request"},
		{"OPTIONS * HTTP/1.1\r\nHost: b.example\r\n\r\n", "204 No Content"},
	}
	for _, call := range []struct{ text, line string }{
		{"LINK http://a.example/1 http://b.example/doc HTTP/1.1\r\nHost: b.example\r\nConnection: keep-alive\r\n\r\n", "200 Ok"},
		{"LINK http://a.example/2 http://b.example/doc LINKMOD HTTP/1.1\r\nHost: b.example\r\nContent-Length: 3\r\n\r\nabc", "207 No Linkmod"},
		{"UNLINKR http://b.example/unlinked\thttp://a.example/  HTTP/1.1\r\n\r\n", "416 Invalid target URI"},
	} {
		for range 50 { // net/http may be reading already when it sends an answer
			c := dial(t, address)
			for i, r := range before {
				c.send(r.text)
				if a := c.receive("GET"); a.line != r.line {
					t.Errorf("request %d: %q, want %q", i, a.line, r.line)
				}
			}
			c.send(call.text)
			if a := c.receive("LINK"); a.line != call.line || !a.Close || !c.ended() {
				t.Errorf("%q: %q, close %v", call.text, a.line, a.Close)
			}
			if n := receiver.taken(); len(n) != 2 {
				t.Errorf("%d notices: %+v", len(n), n)
			}
		}
	}
}

// TestPersistence: which connections are kept.
func TestPersistence(t *testing.T) {
	_, address := start(t, Options{})
	for _, c := range []struct {
		name, request string
		connection    string
		kept          bool
	}{
		{"HTTP/1.1", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "", true},
		{"HTTP/1.1, close", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "close", false},
		{"HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", "close", false},
		{"HTTP/1.0, keep-alive", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive", true},
		{"LINK without version", "LINK http://a.example/ http://b.example/\r\n\r\n", "close", false},
		{"refused", "GET / HTTP/1.1\r\n\r\n", "close", false},
		{"Upgrade is not followed", "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n", "", true},
	} {
		con := dial(t, address)
		con.send(c.request)
		a := con.receive("GET")
		got := a.Response.Header.Get("Connection")
		if a.Close {
			got = "close" // ReadResponse removes the field
		}
		if got != c.connection {
			t.Errorf("%s: Connection: %q", c.name, got)
		}
		if c.kept {
			con.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			con.receive("GET")
		} else if !con.ended() {
			t.Errorf("%s: the connection was kept", c.name)
		}
	}
}

// TestExpect: a body that is wanted is asked for.
func TestExpect(t *testing.T) {
	_, address := start(t, Options{})
	c := dial(t, address)
	c.send("POST /webmention HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n")
	if line, err := c.in.ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("%q, %v", line, err)
	}
	testkit.Must(c.in.ReadString('\n'))(t)
	c.send("target")
	if a := c.receive("POST"); a.StatusCode != 400 {
		t.Errorf("%s", a.line)
	}
}

// TestLargeBodies: of a body of 100 MB only a small part is read, and the answer
// arrives.
func TestLargeBodies(t *testing.T) {
	testkit.Long(t)
	t.Parallel() // it waits most of the time
	_, address := start(t, Options{})
	for _, c := range []struct{ path, framing, want string }{
		{"/webmention", "Content-Length: 100000000", "413"},
		{"/webmention", "Transfer-Encoding: chunked", "413"},
		{"/pingback", "Content-Length: 100000000", "-32600"},
		{"/pingback", "Transfer-Encoding: chunked", "-32600"},
	} {
		con := dial(t, address)
		con.send("POST " + c.path + " HTTP/1.1\r\nHost: x\r\n" + c.framing + "\r\n\r\n")
		sent := make(chan int)
		go func() {
			total := 0
			chunk := "10000\r\n" + strings.Repeat("x", 0x10000) + "\r\n"
			for range 100000000 / 0x10000 {
				n, err := io.WriteString(con.c, chunk)
				if total += n; err != nil {
					break
				}
			}
			sent <- total
		}()
		if a := con.receive("POST"); !strings.Contains(a.line+a.text, c.want) {
			t.Errorf("%s, %s: %s %s", c.path, c.framing, a.line, a.text)
		}
		con.c.Close()
		// What was sent beyond that is in the buffers of the connection.
		if total := <-sent; total > 64<<20 {
			t.Errorf("%s, %s: %d bytes were taken", c.path, c.framing, total)
		}
	}
}

// TestSlowRequests: a request that arrives slowly is ended by the total time, not by
// the time between two bytes.
func TestSlowRequests(t *testing.T) {
	testkit.Long(t)
	t.Parallel() // it waits most of the time
	_, address := start(t, Options{Limits: Limits{HeaderTimeout: time.Second, ReadTimeout: 2 * time.Second, IdleTimeout: time.Second}})
	var all sync.WaitGroup
	for _, c := range []struct{ name, first, drip, want string }{
		{"request line", "GET /", "x", "400"},
		{"header fields", "GET / HTTP/1.1\r\n", "X: y\r\n", ""},
		{"body", "POST /webmention HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n", "x", "400"},
		{"chunks", "POST /webmention HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", "400"},
		{"nothing", "", "", ""},
		{"nothing after a request", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "", "404"},
	} {
		address := address
		if c.want == "404" { // on a busy machine the request may need more than a second
			_, address = start(t, Options{Limits: Limits{HeaderTimeout: time.Minute, ReadTimeout: time.Minute, IdleTimeout: time.Second}})
		}
		con := dial(t, address)
		con.send(c.first)
		stop := make(chan struct{})
		if c.drip != "" {
			all.Go(func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(50 * time.Millisecond):
						_, _ = io.WriteString(con.c, c.drip)
					}
				}
			})
		}
		all.Go(func() {
			defer close(stop)
			rest, _ := io.ReadAll(con.in)
			if line := string(rest); c.want == "" && line != "" || !strings.HasPrefix(strings.TrimPrefix(line, "HTTP/1.1 "), c.want) {
				t.Errorf("%s: %q", c.name, line)
			}
		})
	}
	all.Wait()
}

// TestSlowReader: a client that does not read its response loses the connection.
func TestSlowReader(t *testing.T) {
	aborted := make(chan struct{})
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(aborted)
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	})
	_, address := start(t, Options{Pages: pages, Limits: Limits{WriteTimeout: 100 * time.Millisecond}})
	con := dial(t, address)
	con.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	select {
	case <-aborted:
	case <-time.After(patience):
		t.Error("the response is still being written")
	}
}

// TestConnectionLimits: too many connections, of all clients and of one, are
// answered with 503; proxies are not limited.
func TestConnectionLimits(t *testing.T) {
	for _, c := range []struct {
		name   string
		opt    Options
		served int
	}{
		{"all", Options{Limits: Limits{Connections: 3}}, 3},
		{"one address", Options{Limits: Limits{AddressConnections: 2}}, 2},
		{"a proxy", Options{Limits: Limits{AddressConnections: 2}, Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, 5},
	} {
		_, address := start(t, c.opt)
		var kept []*client
		for i := range 5 {
			con := dial(t, address)
			if i < c.served {
				con.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			}
			a := answer{}
			if a = con.receive("GET"); i < c.served && a.StatusCode != 404 || i >= c.served && (a.StatusCode != 503 || a.Header.Get("Retry-After") == "") {
				t.Errorf("%s: connection %d: %s", c.name, i, a.line)
			}
			kept = append(kept, con)
		}
		// Once one has ended, there is room again.
		kept[0].c.Close()
		for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			con := dial(t, address)
			if _, err := io.WriteString(con.c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err == nil {
				if resp, err := http.ReadResponse(con.in, nil); err == nil && resp.StatusCode == 404 {
					break
				}
			}
			con.c.Close()
			if time.Since(begin) > patience {
				t.Fatalf("%s: no connection is accepted after one has ended", c.name)
			}
		}
	}
}

// TestStop: a request that is being answered is finished, idle connections end, new
// ones are refused.
func TestStop(t *testing.T) {
	receiver := &script{block: make(chan struct{}), entered: make(chan struct{})}
	_, address, stop := startStoppable(t, Options{Receiver: receiver})
	idle := dial(t, address)
	idle.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	idle.receive("GET")
	fresh := dial(t, address)
	busy := dial(t, address)
	busy.send("LINK http://a.example/ http://b.example/doc HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-receiver.entered
	result := stop()
	if !idle.ended() {
		t.Error("the idle connection sent something")
	}
	if !fresh.ended() {
		t.Error("the new connection sent something")
	}
	if c, err := net.Dial("tcp", address); err == nil {
		t.Error("a new connection was accepted")
		c.Close()
	}
	select {
	case err := <-result:
		t.Fatalf("Serve returned %v before the request was answered", err)
	default:
	}
	close(receiver.block)
	if a := busy.receive("LINK"); a.line != "200 Ok" || !a.Close || !busy.ended() {
		t.Errorf("%s, close %v", a.line, a.Close)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
	if n := receiver.taken(); len(n) != 1 {
		t.Errorf("%d notices", len(n))
	}
}

// TestStopTimeout: a request that does not finish does not keep the server.
func TestStopTimeout(t *testing.T) {
	receiver := &script{block: make(chan struct{}), entered: make(chan struct{})}
	_, address, stop := startStoppable(t, Options{Receiver: receiver, Limits: Limits{StopTimeout: 10 * time.Millisecond}})
	defer close(receiver.block)
	dial(t, address).send("LINK http://a.example/ http://b.example/doc HTTP/1.1\r\n\r\n")
	<-receiver.entered
	select {
	case err := <-stop():
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("the server is still running")
	}
}

// TestPanic: a handler that panics ends its connection only.
func TestPanic(t *testing.T) {
	var log strings.Builder
	var mu sync.Mutex
	write := writerFunc(func(p []byte) (int, error) { mu.Lock(); defer mu.Unlock(); return log.Write(p) })
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/abort" {
			panic(http.ErrAbortHandler)
		}
		panic("oh no")
	})
	_, address := start(t, Options{Pages: pages, Log: slog.New(slog.NewTextHandler(write, nil))})
	for _, path := range []string{"/panic", "/abort"} {
		con := dial(t, address)
		con.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")
		if !con.ended() {
			t.Errorf("%s: an aborted response was sent", path)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "oh no") {
		t.Errorf("log: %s", text)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestServeFails: an error of the listener is returned, one that passes is not.
func TestServeFails(t *testing.T) {
	broken := errors.New("broken")
	l := &failingListener{errs: []error{temporary{}, temporary{}, broken}}
	if err := New(Options{Receiver: &script{}}).Serve(t.Context(), l); err != broken || len(l.errs) != 0 {
		t.Errorf("%v", err)
	}
}

type failingListener struct{ errs []error }

func (l *failingListener) Accept() (net.Conn, error) {
	err := l.errs[0]
	l.errs = l.errs[1:]
	return nil, err
}
func (l *failingListener) Close() error   { return nil }
func (l *failingListener) Addr() net.Addr { return &net.TCPAddr{} }

type temporary struct{}

func (temporary) Error() string   { return "no descriptor left" }
func (temporary) Temporary() bool { return true }
func (temporary) Timeout() bool   { return false }

// TestMemory: a connection with an unfinished request needs little more memory than
// what it sent.
func TestMemory(t *testing.T) {
	const connections, sent = 100, 60000
	receiver, address := start(t, Options{Limits: Limits{AddressConnections: connections + 10}})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	var all []*client
	for range connections {
		c := dial(t, address)
		c.send("POST /webmention HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("y", 8000) + "\r\nContent-Length: " + fmt.Sprint(sent+1) + "\r\n\r\n" + strings.Repeat("x", sent))
		all = append(all, c)
	}
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		each := (int64(heap()) - int64(before)) / connections
		if each > 256<<10 {
			t.Fatalf("%d bytes for each connection", each)
		}
		if each > sent {
			break // all has arrived
		}
		if time.Since(begin) > patience {
			t.Fatalf("only %d bytes for each connection", each)
		}
	}
	for _, c := range all {
		c.send("x")
		if a := c.receive("POST"); a.StatusCode != 400 {
			t.Error(a.line)
		}
	}
	receiver.taken()
}

// TestTLS: a listener with TLS; HTTP/2 is not offered.
func TestTLS(t *testing.T) {
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS()
	defer certified.Close()
	plain := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	receiver := &script{}
	l := tls.NewListener(plain, &tls.Config{Certificates: certified.TLS.Certificates})
	go func() { _ = New(Options{Receiver: receiver}).Serve(t.Context(), l) }()
	for request, status := range map[string]int{
		"LINK http://a.example/ https://b.example/doc HTTP/1.1\r\n\r\n":              200,
		"LINK /doc HTTP/1.1\r\nHost: b.example\r\nLink: <http://a.example/>\r\n\r\n": 202,
	} {
		c := testkit.Must(tls.Dial("tcp", plain.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}}))(t)
		defer c.Close()
		if p := c.ConnectionState().NegotiatedProtocol; p != "" {
			t.Errorf("protocol %q", p)
		}
		con := &client{t, c, bufio.NewReader(c)}
		con.send(request)
		if a := con.receive("LINK"); a.StatusCode != status {
			t.Error(a.line)
		}
	}
	if n := receiver.taken(); len(n) != 2 || n[0].Target != "https://b.example/doc" || n[1].Target != n[0].Target {
		t.Errorf("%+v", n)
	}
}

// TestAmbiguousLength: chunks and a length in one request are answered 400, and the connection is
// closed: a proxy may have taken the other one (RFC 9112 6.1).
func TestAmbiguousLength(t *testing.T) {
	_, address, _ := startStoppable(t, Options{})
	const chunked, both = "GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: x\r\ncontent-length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
	for name, c := range map[string]struct {
		requests []string
		want     []string
	}{
		"alone":              {[]string{both}, []string{"400"}},
		"after a request":    {[]string{chunked, both}, []string{"200", "400"}},
		"chunks alone":       {[]string{chunked, chunked, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"}, []string{"200", "200", "200"}},
		"behind another one": {[]string{"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" + both}, []string{"200", "400"}},
	} {
		conn := testkit.Must(net.Dial("tcp", address))(t)
		in := bufio.NewReader(conn)
		var got []string
		closed := false
		for _, request := range c.requests {
			fmt.Fprint(conn, request)
			for range strings.Count(request, "GET ") {
				answer, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				io.Copy(io.Discard, answer.Body)
				got, closed = append(got, strconv.Itoa(answer.StatusCode)), answer.Close
			}
		}
		if !slices.Equal(got, c.want) || closed != slices.Contains(got, "400") {
			t.Errorf("%s: %q, closed %v", name, got, closed)
		}
		conn.Close()
	}
}
