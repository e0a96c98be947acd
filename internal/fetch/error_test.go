package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The kind of an error depends on the error and on the phase of the exchange.
func TestKind(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	dialled := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, c := range []struct {
		name  string
		so    func(*phase)
		ctx   context.Context
		err   error
		want  ErrorKind
		retry bool
	}{
		{"name", nil, nil, dialled(&net.DNSError{Err: "no such host", Name: "x.invalid", IsNotFound: true}), NoSuchHost, true},
		{"resolver", nil, nil, dialled(&net.DNSError{Err: "server misbehaving", Name: "x.example", IsTemporary: true}), DNS, true},
		{"slow resolver", nil, nil, dialled(&net.DNSError{Err: "i/o timeout", Name: "x.example", IsTimeout: true}), DNS, true},
		{"refused", nil, nil, dialled(errors.New("connection refused")), Connect, true},
		{"slow dial", nil, nil, dialled(os.ErrDeadlineExceeded), Timeout, true},
		{"guard", nil, nil, dialled(&refusedError{}), RefusedAddress, false},
		{"guard, and the caller is gone", nil, ended, dialled(&refusedError{}), RefusedAddress, false},
		{"caller", nil, ended, dialled(context.Canceled), Canceled, true},
		{"request", nil, nil, errors.New("net/http: invalid method"), BadRequest, false},
		{"handshake", func(p *phase) { p.handshake.Store(true) }, nil, io.EOF, TLS, true},
		{"slow handshake", func(p *phase) { p.handshake.Store(true) }, nil, os.ErrDeadlineExceeded, Timeout, true},
		{"no answer", func(p *phase) { p.connected.Store(true) }, nil, io.EOF, Closed, true},
		{"answer", func(p *phase) { p.connected.Store(true); p.answered.Store(true) }, nil, io.ErrUnexpectedEOF, Header, false},
		{"rate", func(p *phase) { p.connected.Store(true); p.answered.Store(true) }, nil, fmt.Errorf("%w: x", errTooSlow), TooSlow, true},
	} {
		var p phase
		if c.so != nil {
			c.so(&p)
		}
		if c.ctx == nil {
			c.ctx = t.Context()
		}
		if got := p.kind(c.ctx, c.err); got != c.want || got.Retry() != c.retry {
			t.Errorf("%s: got %s, retry %v", c.name, got, got.Retry())
		}
	}
}

// The text of an error is the same on every machine.
func TestExplain(t *testing.T) {
	c := New(Options{})
	for _, test := range []struct {
		kind ErrorKind
		err  error
		idle time.Duration
		want string
	}{
		{NoSuchHost, &net.DNSError{Err: "no such host", Name: "x.invalid", Server: "10.0.0.53:53"}, 0, "no such host"},
		{DNS, &net.DNSError{Err: "server misbehaving", Name: "x.example", Server: "10.0.0.53:53"}, 0, "the host name could not be looked up: server misbehaving"},
		{Timeout, context.DeadlineExceeded, 0, "the request did not finish within 30s"},
		{Timeout, os.ErrDeadlineExceeded, 10 * time.Second, "the host sent nothing for 10s"},
		{Closed, io.EOF, 0, "the host closed the connection without a response"},
		{Header, errors.New("net/http: HTTP/1.x transport connection broken: bad"), 0, "the response is not HTTP, or its header is too long: bad"},
		{Body, syscall.ECONNRESET, 0, "the response is incomplete"},
		{Body, errors.New("gzip: invalid header"), 0, "the response cannot be read: gzip: invalid header"},
		{Connect, errors.New("dial tcp"), 0, "dial tcp"},
	} {
		if got := c.explain(test.kind, test.err, test.idle); got.Error() != test.want || !errors.Is(got, test.err) {
			t.Errorf("%s: got %q, want %q", test.kind, got, test.want)
		}
	}
}

func TestErrorText(t *testing.T) {
	cause := errors.New(strings.Repeat("ü", 1000))
	err := error(&Error{URL: "http://h/" + strings.Repeat("a", 1000), Kind: Header, Err: cause})
	if got := err.Error(); !errors.Is(err, cause) || len(got) > 2*maxMessage+20 || strings.ToValidUTF8(got, "") != got {
		t.Errorf("got %d bytes: %s", len(got), got)
	}
}

// FuzzParse: only http and https URLs are requested, and no message contains a
// password.
func FuzzParse(f *testing.F) {
	for _, raw := range []string{"http://u:secret@h/", "http:/\\u:secret@[/", "//u:secret@h", "ftp://u:secret@h/", "secret", "http://h/\x00"} {
		f.Add(strings.ReplaceAll(raw, "secret", "s3cr3t"))
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := parse(raw)
		if err == nil {
			if !strings.HasPrefix(u.String(), "http") || u.HasCredentials() || u.Host() == "" {
				t.Errorf("%q is %q", raw, u)
			}
			return
		}
		at := strings.LastIndexByte(raw, '@')
		if at >= 0 && strings.Contains(raw[:at], ":s3cr3t") && !strings.Contains(raw[at:], "s3cr3t") && strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%q: %v", raw, err)
		}
	})
}

// TestNamed: the error of a host that does not exist says what is wrong, without the lookup.
func TestNamed(t *testing.T) {
	if _, err := Named(t.Context(), "x.invalid"); err == nil || strings.HasPrefix(err.Error(), "lookup") {
		t.Errorf("%v", err)
	}
}
