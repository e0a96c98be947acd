package server

import (
	"bufio"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
)

// hostileParts are pieces of good, bad and hostile traffic. A connection sends some
// of them, in any order, and may end at any byte.
var hostileParts = []string{
	"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n",
	"HEAD /webmention HTTP/1.1\r\nHost: b.example\r\n\r\n",
	"OPTIONS * HTTP/1.1\r\nHost: b.example\r\n\r\n",
	"LINK http://a.example/1 http://b.example/doc HTTP/1.1\r\nHost: b.example\r\n\r\n",
	"LINK http://127.0.0.1/ http://b.example/doc LINKMOD HTTP/1.1\r\n\r\n",
	"UNLINK \t http://a.example/1\thttp://b.example/unlinked HTTP/1.1\r\n\r\n",
	"UNLINKR http://b.example/missing javascript:alert(1)\r\n\r\n",
	"LINKMOD http://b.example/missing http://a.example/\r\nConnection: keep-alive\r\n\r\n",
	"DELETE /webmention HTTP/1.1\r\nHost: b.example\r\n\r\n",
	"LINK http://a.example/\x00 http://b.example/doc HTTP/1.1\r\n\r\n",
	"LINK http://a.example/ http://b.example/ x y z HTTP/1.1\r\n\r\n",
	"LINK /doc HTTP/1.1\r\nHost: b.example\r\nLink: <http://a.example/1>, <http://a.example/2>; anchor=\"#x\"\r\n\r\n",
	"LINK /doc HTTP/1.1\r\nHost: b.example\r\nLink: <http://a.example/1>, <\r\n\r\n",
	"POST /webmention HTTP/1.1\r\nHost: b.example\r\nContent-Length: 68\r\n\r\nsource=http%3A%2F%2Fa.example%2F&target=http%3A%2F%2Fb.example%2Fdoc",
	"POST /webmention HTTP/1.1\r\nHost: b.example\r\nContent-Length: 6\r\nExpect: 100-continue\r\n\r\nsource",
	"POST /webmention HTTP/1.1\r\nHost: b.example\r\nContent-Length: 1000000000\r\n\r\n",
	"POST /pingback HTTP/1.1\r\nHost: b.example\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n<\r\n0\r\n\r\n",
	"POST /pingback HTTP/1.1\r\nHost: b.example\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
	"POST /pingback HTTP/1.1\r\nHost: b.example\r\nContent-Length: 28\r\n\r\n<!DOCTYPE a [<!ENTITY b 'c'>",
	"POST / HTTP/1.1\r\nHost: b.example\r\nX: y\r\n folded\r\n\r\n",
	"GET /webmention/status/approved HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
	"GET /../../etc/passwd HTTP/1.1\r\nHost: b.example\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: b.example\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n",
	"BREW /pot HTTP/1.1\r\nHost: b.example\r\n\r\n",
	"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
	"\r\n", "\n", "GET / HTTP/1.1\r\n",
}

// statuses are all that the server may answer to hostileParts.
var statuses = map[int]bool{
	100: true, 200: true, 201: true, 202: true, 204: true, 207: true,
	400: true, 404: true, 405: true, 413: true, 416: true, 417: true, 501: true, 503: true,
}

// TestHostileTraffic sends mixed good, bad and hostile traffic. No answer is outside
// the protocol, and nothing is left afterwards: no goroutine, no connection.
func TestHostileTraffic(t *testing.T) {
	connections := 1600
	if testing.Short() {
		connections = 400
	}
	receiver, address := start(t, Options{Limits: Limits{HeaderTimeout: 300 * time.Millisecond, ReadTimeout: 600 * time.Millisecond, IdleTimeout: 300 * time.Millisecond}})
	get(t, address, "GET", "/")
	goroutines := runtime.NumGoroutine()
	var workers sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for worker := range 8 {
		workers.Go(func() {
			random := rand.New(rand.NewPCG(15, uint64(worker)))
			for range connections / 8 {
				for _, status := range hostile(t, random, address) {
					mu.Lock()
					answers[status]++
					mu.Unlock()
				}
				receiver.taken()
			}
		})
	}
	workers.Wait()
	for status := range statuses {
		// 503 needs more connections, and the others depend on the time.
		if answers[status] == 0 && status != 503 && status != 413 && status != 100 {
			t.Errorf("no answer had the status %d: %v", status, answers)
		}
	}
	for begin := time.Now(); runtime.NumGoroutine() > goroutines; time.Sleep(20 * time.Millisecond) {
		if time.Since(begin) > patience {
			buffer := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), goroutines, buffer[:runtime.Stack(buffer, true)])
		}
	}
	if a := get(t, address, "LINK", "/doc", "Link: <http://a.example/>"); a.StatusCode != 202 {
		t.Errorf("afterwards: %s", a.line)
	}
}

// hostile sends a random selection, reads all answers, and returns their statuses.
func hostile(t *testing.T, random *rand.Rand, address string) (got []int) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Error(err)
	}
	var b strings.Builder
	var last string
	for range 1 + random.IntN(4) {
		last = hostileParts[random.IntN(len(hostileParts))]
		b.WriteString(last)
	}
	text := b.String()
	if random.IntN(4) == 0 {
		text = text[:random.IntN(len(text))]
	}
	for len(text) > 0 && err == nil {
		n := min(len(text), 1+random.IntN(300))
		_, err = io.WriteString(c, text[:n])
		text = text[n:]
	}
	switch random.IntN(16) {
	case 0, 1:
		return nil // gone without reading
	case 2: // keeps sending nothing: the server ends the connection
	default:
		_ = c.(*net.TCPConn).CloseWrite()
	}
	in := bufio.NewReader(c)
	for {
		if _, err := in.Peek(1); err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				t.Errorf("the connection was not ended after %q", b.String())
			}
			return got
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			if !isReset(err) {
				t.Errorf("%q: not a response: %v", b.String(), err)
			}
			return got
		}
		got = append(got, resp.StatusCode)
		if !statuses[resp.StatusCode] {
			t.Errorf("%q: %s", b.String(), resp.Status)
		}
		if strings.Contains(b.String(), "HEAD ") && resp.Header.Get("Content-Type") == "text/html; charset=utf-8" {
			continue // the answer to HEAD has no body
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil && !isReset(err) {
			t.Errorf("%q: %s: %v", b.String(), resp.Status, err)
			return got
		}
	}
}

// isReset reports whether a connection ended while more than the server reads was
// under way.
func isReset(err error) bool {
	return strings.Contains(err.Error(), "reset") || strings.Contains(err.Error(), "broken pipe")
}

// TestPingReflection: however often a page is named, the server itself connects to
// nothing, and each notice reaches the receiver once.
func TestPingReflection(t *testing.T) {
	victim, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer victim.Close()
	connected := make(chan struct{}, 1)
	go func() {
		if c, err := victim.Accept(); err == nil {
			c.Close()
			connected <- struct{}{}
		}
	}()
	receiver, address := start(t, Options{})
	source := "http://" + victim.Addr().String() + "/"
	for range 20 {
		post(t, address, "/pingback", "text/xml", pingCall(source, "http://b.example/doc"))
		post(t, address, "/webmention", formType, form(source, "http://b.example/doc"))
		ask(t, address, "LINK "+source+" http://b.example/doc HTTP/1.1\r\n\r\n")
	}
	if n := receiver.taken(); len(n) != 60 || n[0].Action != incoming.Link {
		t.Errorf("%d notices", len(n))
	}
	select {
	case <-connected:
		t.Error("the server connected to the source")
	default:
	}
}
