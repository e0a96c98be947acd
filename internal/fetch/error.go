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

// ErrorKind is the reason why a request has no complete response.
type ErrorKind string

// The kinds.
const (
	BadRequest     ErrorKind = "bad-request"     // the URL, the method or a header field is invalid
	RefusedAddress ErrorKind = "refused-address" // not on the public internet, or a port of another service
	NoSuchHost     ErrorKind = "no-such-host"    // the name does not exist
	DNS            ErrorKind = "dns"             // the name could not be looked up
	Connect        ErrorKind = "connect"
	TLS            ErrorKind = "tls"
	ClientCert     ErrorKind = "client-certificate" // the host demands a certificate of the client
	Timeout        ErrorKind = "timeout"            // no byte for too long, or too long in total
	TooSlow        ErrorKind = "too-slow"           // below the minimum rate
	Closed         ErrorKind = "closed"             // the connection was closed without a response
	Header         ErrorKind = "header"             // the header of the response is not HTTP, or too long
	Body           ErrorKind = "body"               // the body of the response is incomplete
	Encoding       ErrorKind = "encoding"           // the body of the response cannot be decompressed
	BadRedirect    ErrorKind = "bad-redirect"
	RedirectLoop   ErrorKind = "redirect-loop"
	TooManyHops    ErrorKind = "too-many-redirects"
	Canceled       ErrorKind = "canceled"   // by the context of the caller
	NoSockets      ErrorKind = "no-sockets" // this machine cannot open another connection now
)

// Retry reports whether a request that failed for this reason may succeed at
// another time. A name that does not exist may exist again tomorrow: domains lapse
// and are renewed, name servers are moved.
func (k ErrorKind) Retry() bool {
	switch k {
	case NoSuchHost, DNS, Connect, TLS, Timeout, TooSlow, Closed, Body, Canceled, NoSockets:
		return true
	}
	return false
}

// Error means that a request has no complete response.
type Error struct {
	URL  string // of the request that failed, after redirects, without credentials
	Kind ErrorKind
	// Sent reports that the host may have received the request.
	Sent bool
	Err  error
}

// maxMessage limits how much of a cause is shown: it may contain text that the
// host sent.
const maxMessage = 400

// Error returns the URL and the cause, shortened if they are long.
func (e *Error) Error() string {
	return shorten(e.URL, maxMessage) + ": " + shorten(e.Err.Error(), maxMessage)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// phase is the progress of an exchange. The goroutines of the transport set it.
type phase struct {
	lookup    atomic.Bool // of the name started and not succeeded
	handshake atomic.Bool // TLS handshake started and not completed
	demanded  atomic.Bool // the host asked for a certificate
	connected atomic.Bool
	sent      atomic.Bool
	answered  atomic.Bool
}

// phaseKey is the context key of the phase of an exchange.
type phaseKey struct{}

// noCertificate answers a host that asks for a certificate, and notes that it did.
func noCertificate(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	if p, ok := asked.Context().Value(phaseKey{}).(*phase); ok {
		p.demanded.Store(true)
	}
	return &tls.Certificate{}, nil
}

func (p *phase) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart:             func(httptrace.DNSStartInfo) { p.lookup.Store(true) },
		DNSDone:              func(d httptrace.DNSDoneInfo) { p.lookup.Store(d.Err != nil) },
		TLSHandshakeStart:    func() { p.handshake.Store(true) },
		TLSHandshakeDone:     func(_ tls.ConnectionState, err error) { p.handshake.Store(err != nil) },
		GotConn:              func(httptrace.GotConnInfo) { p.connected.Store(true) },
		WroteHeaders:         func() { p.sent.Store(true) },
		GotFirstResponseByte: func() { p.answered.Store(true) },
	}
}

// kind returns why an exchange failed in this phase. outer is the context of the
// caller.
func (p *phase) kind(outer context.Context, err error) ErrorKind {
	var refused *refusedError
	var dns *net.DNSError
	var slow net.Error
	var alert *net.OpError
	switch {
	case errors.Is(err, errProxied):
		return BadRequest
	case errors.As(err, &refused):
		return RefusedAddress
	case outer.Err() != nil:
		return Canceled
	case errors.Is(err, errTooSlow):
		return TooSlow
	case noSockets(err):
		return NoSockets
	case errors.As(err, &dns):
		if dns.IsNotFound {
			return NoSuchHost
		}
		return DNS
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &slow) && slow.Timeout():
		if p.lookup.Load() {
			return DNS
		}
		return Timeout
	case p.demanded.Load() && errors.As(err, &alert) && alert.Op == "remote error":
		return ClientCert
	case p.handshake.Load():
		return TLS
	case !p.connected.Load():
		// The transport checks the request before it connects.
		if strings.HasPrefix(err.Error(), "net/http: ") || strings.HasPrefix(err.Error(), "http: ") {
			return BadRequest
		}
		return Connect
	case !p.answered.Load():
		return Closed
	}
	return Header
}

// noSockets reports whether a connection failed because this process or its machine has
// no descriptors, ports or buffers left, which says nothing about the host.
func noSockets(err error) bool {
	for _, cause := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.EADDRNOTAVAIL} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

// explained is an error with the same text each time the cause occurs: it has no
// local port and no address of the resolver.
type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }
func (e *explained) Unwrap() error { return e.err }

// explain returns a cause of this kind with a readable text. idle is the limit
// between two bytes, or 0 if the whole request took too long.
func (c *Client) explain(kind ErrorKind, err error, idle time.Duration) error {
	var refused *refusedError
	var dns *net.DNSError
	text := ""
	switch {
	case errors.As(err, &refused):
		return refused
	case kind == NoSuchHost:
		text = "no such host"
	case kind == DNS && errors.As(err, &dns):
		text = "the host name could not be looked up: " + dns.Err
	case kind == DNS:
		text = "the host name could not be looked up in time"
	case kind == Timeout && idle == 0:
		text = fmt.Sprintf("the request did not finish within %s", c.opts.Total)
	case kind == Timeout:
		text = fmt.Sprintf("the host sent nothing for %s", idle)
	case kind == Closed:
		text = "the host closed the connection without a response"
	case kind == Header:
		text = "the response is not HTTP, or its header is too long: " +
			strings.TrimPrefix(err.Error(), "net/http: HTTP/1.x transport connection broken: ")
	case kind == Body && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)):
		text = "the response is incomplete"
	case kind == Body || kind == Encoding:
		text = "the response cannot be read: " + err.Error()
	default:
		return err
	}
	return &explained{text, err}
}

// shorten limits a text for a message.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// hideCredentials removes what may be a user name and password from a text that may
// be a URL.
func hideCredentials(raw string) string {
	if at := strings.LastIndexByte(raw, '@'); at >= 0 {
		return "..." + raw[at:]
	}
	return raw
}
