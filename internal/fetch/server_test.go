package fetch

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// local is a client for the servers of these tests.
func local(o Options) *Client {
	o.Allow = append(o.Allow, loopback...)
	if o.Pace == 0 {
		o.Pace = -1
	}
	return New(o)
}

func get(t *testing.T, c *Client, url string) (*Response, error) {
	t.Helper()
	return c.Do(t.Context(), Request{URL: url})
}

// wantKind fails the test unless err is an *Error of this kind.
func wantKind(t *testing.T, err error, want ErrorKind) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an error of kind %s", err, want)
	}
	if e.Kind != want {
		t.Fatalf("got kind %s, want %s: %v", e.Kind, want, err)
	}
	return e
}

func handler(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

// script serves connections with f, which gets the bytes up to the end of the
// request header. It returns the URL of the server.
func script(t *testing.T, f func(c net.Conn, head string)) string {
	t.Helper()
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				stop := context.AfterFunc(ctx, func() { c.Close() })
				defer stop()
				r := bufio.NewReader(c)
				var head string
				for {
					line, err := r.ReadString('\n')
					if err != nil {
						return
					}
					head += line
					if line == "\r\n" {
						break
					}
				}
				f(c, head)
			})
		}
	})
	return "http://" + l.Addr().String()
}

// hold keeps a connection open until the other side or the test ends it.
func hold(c net.Conn) {
	var b [1]byte
	c.SetReadDeadline(time.Now().Add(time.Minute))
	for {
		if _, err := c.Read(b[:]); err != nil {
			return
		}
	}
}
