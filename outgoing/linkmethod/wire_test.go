package linkmethod

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
)

// wire is a server that reads each request up to the end of its header and writes
// scripted bytes.
type wire struct {
	addr string

	mu      sync.Mutex
	answers []string
	heads   []string
}

// newWire returns a server that sends the first text to the first request and so
// on, and the last text to all others. An empty text closes the connection.
func newWire(t *testing.T, answers ...string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	w := &wire{addr: l.Addr().String(), answers: answers}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.serve(c)
		}
	}()
	return w
}

func (w *wire) serve(c net.Conn) {
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	var head strings.Builder
	for r := bufio.NewReader(c); !strings.HasSuffix(head.String(), "\r\n\r\n"); {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		head.WriteString(line)
	}
	w.mu.Lock()
	w.heads = append(w.heads, strings.ReplaceAll(head.String(), w.addr, "b.example"))
	answer := w.answers[0]
	if len(w.answers) > 1 {
		w.answers = w.answers[1:]
	}
	w.mu.Unlock()
	io.WriteString(c, answer)
}

// saw returns the headers of the requests, with b.example in place of the server's
// address.
func (w *wire) saw() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heads
}

// url returns the URL of a page of the server.
func (w *wire) url(path string) string { return "http://" + w.addr + path }

func client() *outgoing.Client {
	return outgoing.NewClient(outgoing.ClientOptions{
		UserAgent:      "sitelink-test",
		AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Pace:           -1,
		Timeout:        30 * time.Second,
	})
}

// tail has the lines after the first two of a call.
const tail = "User-Agent: sitelink-test\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

// Responses.
const (
	ok        = "HTTP/1.1 200 Ok\r\nContent-Length: 0\r\n\r\n"
	noService = "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"
)

func status(line string) string { return "HTTP/1.1 " + line + "\r\nContent-Length: 0\r\n\r\n" }

func serveHTTP(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

func parse(t *testing.T, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
