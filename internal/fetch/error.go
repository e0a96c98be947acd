package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptrace"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Kind says why a request has no answer, or none that is whole.
type Kind string

// The kinds.
const (
	BadRequest     Kind = "bad-request"     // the URL, the method or a header field is none
	RefusedAddress Kind = "refused-address" // not of the public internet, or a port for other services
	NoSuchHost     Kind = "no-such-host"    // the DNS says that the name does not exist
	DNS            Kind = "dns"             // the DNS did not say
	Connect        Kind = "connect"
	TLS            Kind = "tls"
	Timeout        Kind = "timeout"  // too long without a byte, or in all
	TooSlow        Kind = "too-slow" // below the minimum rate
	Closed         Kind = "closed"   // the connection ended before an answer began
	Header         Kind = "header"   // the answer's head is no HTTP, or too long
	Body           Kind = "body"     // the answer's body broke off or cannot be decompressed
	BadRedirect    Kind = "bad-redirect"
	RedirectLoop   Kind = "redirect-loop"
	TooManyHops    Kind = "too-many-redirects"
	Canceled       Kind = "canceled" // by the caller's context
)

// Retry tells whether the same request may succeed at another time, as far as
// the kind says.
func (k Kind) Retry() bool {
	switch k {
	case DNS, Connect, TLS, Timeout, TooSlow, Closed, Body, Canceled:
		return true
	}
	return false
}

// Error is a request that has no answer, or none that is whole.
type Error struct {
	URL  string // of the request that failed, after redirects; without credentials
	Kind Kind
	// Sent: the host may have got the request, whatever became of the answer.
	Sent bool
	Err  error
}

// maxMessage is how much of a cause is shown: it may hold what the host sent.
const maxMessage = 400

// Error returns the URL and the cause, each shortened if it is long.
func (e *Error) Error() string {
	return shorten(e.URL, maxMessage) + ": " + shorten(e.Err.Error(), maxMessage)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// phase is how far an exchange has come. The transport's goroutines set it.
type phase struct {
	handshake atomic.Bool // of TLS, begun and not ended well
	connected atomic.Bool
	sent      atomic.Bool
	answered  atomic.Bool
}

func (p *phase) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		TLSHandshakeStart:    func() { p.handshake.Store(true) },
		TLSHandshakeDone:     func(_ tls.ConnectionState, err error) { p.handshake.Store(err != nil) },
		GotConn:              func(httptrace.GotConnInfo) { p.connected.Store(true) },
		WroteHeaders:         func() { p.sent.Store(true) },
		GotFirstResponseByte: func() { p.answered.Store(true) },
	}
}

// kind tells why an exchange ended that had come so far. outer is the caller's
// context.
func (p *phase) kind(outer context.Context, err error) Kind {
	var refused *refusedError
	var dns *net.DNSError
	var slow net.Error
	switch {
	case errors.Is(err, errProxied):
		return BadRequest
	case errors.As(err, &refused):
		return RefusedAddress
	case outer.Err() != nil:
		return Canceled
	case errors.Is(err, errTooSlow):
		return TooSlow
	case errors.As(err, &dns):
		if dns.IsNotFound {
			return NoSuchHost
		}
		return DNS
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &slow) && slow.Timeout():
		return Timeout
	case p.handshake.Load():
		return TLS
	case !p.connected.Load():
		// The transport looks at the request before it dials.
		if strings.HasPrefix(err.Error(), "net/http: ") || strings.HasPrefix(err.Error(), "http: ") {
			return BadRequest
		}
		return Connect
	case !p.answered.Load():
		return Closed
	}
	return Header
}

// explained is a cause in words that are the same whenever it comes again: no
// ports of this machine, no address of its resolver.
type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }
func (e *explained) Unwrap() error { return e.err }

// explain puts a cause of this kind into words. idle is how long no byte may
// come, 0 if it was the whole request that took too long.
func (c *Client) explain(kind Kind, err error, idle time.Duration) error {
	var refused *refusedError
	var dns *net.DNSError
	text := ""
	switch {
	case errors.As(err, &refused):
		return refused
	case kind == NoSuchHost:
		text = "no such host"
	case kind == DNS && errors.As(err, &dns):
		text = "the name cannot be looked up: " + dns.Err
	case kind == Timeout && idle == 0:
		text = fmt.Sprintf("not done within %s", c.opts.Total)
	case kind == Timeout:
		text = fmt.Sprintf("nothing came for %s", idle)
	case kind == Closed:
		text = "the connection was closed without an answer"
	case kind == Header:
		text = "the answer is no HTTP, or its head is too long: " +
			strings.TrimPrefix(err.Error(), "net/http: HTTP/1.x transport connection broken: ")
	case kind == Body && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)):
		text = "the answer breaks off"
	case kind == Body:
		text = "the answer cannot be read: " + err.Error()
	default:
		return err
	}
	return &explained{text, err}
}

// shorten cuts a text for a message.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// hideCredentials returns a text that is perhaps a URL, for messages: what may
// be a user name and a password is left out.
func hideCredentials(raw string) string {
	if at := strings.LastIndexByte(raw, '@'); at >= 0 {
		return "..." + raw[at:]
	}
	return raw
}
