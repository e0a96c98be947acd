package send

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

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// linkWire is a server that reads each request up to the end of its header and writes
// scripted bytes.
type linkWire struct {
	addr string

	mu      sync.Mutex
	answers []string
	heads   []string
}

// newWire returns a server that sends the first text to the first request and so
// on, and the last text to all others. An empty text closes the connection.
func newWire(t *testing.T, answers ...string) *linkWire {
	t.Helper()
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	w := &linkWire{addr: l.Addr().String(), answers: answers}
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

func (w *linkWire) serve(c net.Conn) {
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
func (w *linkWire) saw() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heads
}

// url returns the URL of a page of the server.
func (w *linkWire) url(path string) string { return "http://" + w.addr + path }

func linkClient() *outgoing.Client {
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

func parseCalls(t *testing.T, raw string) weburl.URL {
	t.Helper()
	u := testkit.Must(weburl.Parse(raw))(t)
	return u
}

// UNLINKR and LINKMOD go to the host of the source, in the form of the draft, and
// only if that host opted in (LK-12, LK-18 to LK-20, LK-61).
func TestNotify(t *testing.T) {
	w := newWire(t, ok)
	source, target := w.url("/post.html"), "http://c.example/doc.html#part"
	peers := NewLink(linkClient(), LinkOptions{Peers: []LinkPeer{mustPeer(t, "127.0.0.1")}})
	for _, c := range []struct {
		call LinkCall
		line string
	}{
		{LinkCall{Method: UnlinkR, Source: source, Target: target, Replacement: "http://c.example/new.html"}, "UNLINKR http://b.example/post.html http://c.example/doc.html http://c.example/new.html HTTP/1.1"},
		{LinkCall{Method: UnlinkR, Source: source, Target: target}, "UNLINKR http://b.example/post.html http://c.example/doc.html HTTP/1.1"},
		{LinkCall{Method: LinkMod, Source: source, Target: target}, "LINKMOD http://b.example/post.html http://c.example/doc.html HTTP/1.1"},
	} {
		if o := peers.Notify(t.Context(), c.call); o.State != ledger.Done {
			t.Errorf("%s: %+v", c.line, o)
		}
		heads := w.saw()
		if want := c.line + "\r\nHost: b.example\r\n" + tail; heads[len(heads)-1] != want {
			t.Errorf("sent %q, want %q", heads[len(heads)-1], want)
		}
	}
	before := len(w.saw())
	call := LinkCall{Method: UnlinkR, Source: source, Target: target}
	for name, s := range map[string]*LinkSender{
		"no peers":    NewLink(linkClient(), LinkOptions{}),
		"another":     NewLink(linkClient(), LinkOptions{Peers: []LinkPeer{mustPeer(t, "c.example")}}),
		"header form": NewLink(linkClient(), LinkOptions{Peers: []LinkPeer{mustPeer(t, "127.0.0.1 header")}}),
	} {
		if o := s.Notify(t.Context(), call); o.State != ledger.NoService || o.Message == "" {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if len(w.saw()) != before {
		t.Errorf("sent to a host that did not opt in: %q", w.saw()[before:])
	}
	refusing := newWire(t, noService)
	call.Source = refusing.url("/")
	for range 2 {
		if o := peers.Notify(t.Context(), call); o.State != ledger.NoService {
			t.Errorf("refused: %+v", o)
		}
	}
	if n := len(refusing.saw()); n != 2 { // in both forms, once
		t.Errorf("a host that does not support the method was called %d times", n)
	}
}
