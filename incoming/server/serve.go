package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"time"
)

var errAnswers = errors.New("the receiver did not answer each notice")

// Serve answers the connections of a listener until ctx is done. Then it closes
// the listener and idle connections, lets requests finish for Limits.StopTimeout,
// and returns nil. Other errors are those of the listener.
//
// It speaks HTTP/1.0 and HTTP/1.1. A TLS listener must not offer HTTP/2, which
// cannot carry the request lines of the LINK draft.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	return s.serve(ctx, l, s)
}

// ServeOperations is Serve for /healthz and /metrics only.
func (s *Server) ServeOperations(ctx context.Context, l net.Listener) error {
	return s.serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.isOperation(r) {
			s.plain(w, "other", http.StatusNotFound, "This address has only /healthz and /metrics.")
			return
		}
		s.serveOperation(w, r)
	}))
}

// run is one call of Serve.
type run struct {
	*Server
	handler http.Handler
	base    context.Context // of requests, which outlive the server's

	mu        sync.Mutex
	conns     map[*conn]bool // true if idle
	byAddress map[netip.Prefix]int
	stopping  bool
	done      sync.WaitGroup
}

func (s *Server) serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	r := &run{Server: s, handler: handler, base: base, conns: map[*conn]bool{}, byAddress: map[netip.Prefix]int{}}
	unhook := context.AfterFunc(ctx, func() { l.Close() })
	defer unhook()
	err := r.accept(ctx, l)
	l.Close()
	r.stop()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// accept starts a goroutine for each connection, until the listener fails.
func (r *run) accept(ctx context.Context, l net.Listener) error {
	pause := time.Duration(0)
	for {
		c, err := l.Accept()
		if err == nil {
			pause = 0
			r.start(c)
			continue
		}
		// With no descriptor left, for one, it works again later.
		var again interface{ Temporary() bool }
		if ctx.Err() != nil || !errors.As(err, &again) || !again.Temporary() {
			return err
		}
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		r.log.Error("a connection was not accepted", "error", err, "again", pause)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// start serves a connection, or refuses it if there are too many.
func (r *run) start(nc net.Conn) {
	c := &conn{run: r, net: nc}
	address, counted := r.network(nc.RemoteAddr())
	r.mu.Lock()
	full := r.stopping || len(r.conns) >= r.limits.Connections || counted && r.byAddress[address] >= r.limits.AddressConnections
	if !full {
		r.conns[c] = false
		r.byAddress[address]++
		r.done.Add(1)
	}
	r.mu.Unlock()
	if full {
		r.metrics.request("connection", http.StatusServiceUnavailable)
		if _, secure := nc.(*tls.Conn); !secure {
			_ = nc.SetWriteDeadline(time.Now().Add(time.Second))
			refusal(bufio.NewWriter(nc), http.StatusServiceUnavailable, "there are too many connections", r.now())
		}
		nc.Close()
		return
	}
	go func() {
		defer func() {
			nc.Close()
			r.mu.Lock()
			delete(r.conns, c)
			if r.byAddress[address]--; r.byAddress[address] == 0 {
				delete(r.byAddress, address)
			}
			r.mu.Unlock()
			r.done.Done()
		}()
		c.serve()
	}()
}

// network returns what counts as one address, and whether its connections are
// limited.
func (r *run) network(remote net.Addr) (netip.Prefix, bool) {
	at, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return netip.Prefix{}, false // a Unix socket
	}
	address := at.Addr().Unmap().WithZone("")
	bits := 32
	if address.Is6() {
		bits = 64
	}
	network, _ := address.Prefix(bits)
	return network, !r.trusts(address)
}

// stop ends idle connections and waits for the others.
func (r *run) stop() {
	r.mu.Lock()
	r.stopping = true
	for c, idle := range r.conns {
		if idle {
			_ = c.net.SetReadDeadline(time.Unix(1, 0))
		}
	}
	r.mu.Unlock()
	finished := make(chan struct{})
	go func() { r.done.Wait(); close(finished) }()
	select {
	case <-finished:
		return
	case <-time.After(r.limits.StopTimeout):
	}
	r.mu.Lock()
	r.log.Warn("requests were aborted because they did not finish in time", "requests", len(r.conns))
	for c := range r.conns {
		c.net.Close()
	}
	r.mu.Unlock()
}

func (r *run) now() time.Time { return r.opt.Now() }

func (r *run) isStopping() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopping
}

// conn is one connection.
type conn struct {
	run *run
	net net.Conn
	in  *bufio.Reader
	out *bufio.Writer
}

// serve answers the requests of a connection, one after the other.
func (c *conn) serve() {
	limits := c.run.limits
	c.in = bufio.NewReader(c.net)
	c.out = bufio.NewWriter(deadlineWriter{c.net, limits.WriteTimeout})
	w := wire{in: c.in}
	for idle := limits.HeaderTimeout; c.wait(idle); idle = limits.IdleTimeout {
		begin := time.Now()
		_ = c.net.SetReadDeadline(begin.Add(limits.HeaderTimeout))
		m, err := w.readHead()
		if err != nil {
			c.fail(err)
			return
		}
		_ = c.net.SetReadDeadline(begin.Add(limits.ReadTimeout))
		if m.expects && m.length <= limits.MaxBodyBytes && c.in.Buffered() == 0 {
			c.out.WriteString("HTTP/1.1 100 Continue\r\n\r\n")
			c.out.Flush()
		}
		body, err := w.readBody(m, limits.MaxBodyBytes)
		if err != nil && err != errTooLarge {
			c.fail(err)
			return
		}
		if !c.answer(m, body, err == errTooLarge) {
			c.linger()
			return
		}
	}
}

// wait waits for the first byte of a request. It reports false if the connection
// has ended, or the server is being stopped.
func (c *conn) wait(timeout time.Duration) bool {
	if c.in.Buffered() == 0 {
		c.run.mu.Lock()
		if c.run.stopping {
			c.run.mu.Unlock()
			return false
		}
		c.run.conns[c] = true
		_ = c.net.SetReadDeadline(time.Now().Add(timeout))
		c.run.mu.Unlock()
	}
	_, err := c.in.Peek(1)
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	c.run.conns[c] = false
	return err == nil && !c.run.stopping
}

// answer calls the handler, and reports whether the connection can be kept.
func (c *conn) answer(m *message, body []byte, tooLarge bool) bool {
	ctx, cancel := context.WithCancel(c.run.base)
	defer cancel()
	if m.call != nil {
		ctx = context.WithValue(ctx, callKey{}, m.call)
	}
	r := m.request.WithContext(ctx)
	r.RemoteAddr = c.net.RemoteAddr().String()
	if secure, ok := c.net.(*tls.Conn); ok {
		state := secure.ConnectionState()
		r.TLS = &state
	}
	r.TransferEncoding, r.Trailer = nil, nil
	r.ContentLength = int64(len(body))
	r.Body = io.NopCloser(bytes.NewReader(body))
	if tooLarge {
		r.ContentLength = -1
		r.Body = io.NopCloser(tooLargeBody{c.run.limits.MaxBodyBytes})
	}
	w := &response{conn: c, request: r, header: http.Header{}, close: r.Close || tooLarge}
	return w.serve(c.run.handler, c.run.log)
}

// tooLargeBody is the body of a request that is not read.
type tooLargeBody struct{ limit int64 }

func (b tooLargeBody) Read([]byte) (int, error) { return 0, &http.MaxBytesError{Limit: b.limit} }

// fail answers a request that could not be read, if there is something to say, and
// ends the connection.
func (c *conn) fail(err error) {
	var refused *wireError
	switch {
	case errors.As(err, &refused):
	case errors.Is(err, os.ErrDeadlineExceeded):
		refused = &wireError{http.StatusRequestTimeout, "the request did not arrive in time"}
	default:
		return
	}
	c.run.metrics.request("connection", refused.status)
	refusal(c.out, refused.status, refused.text, c.run.now())
	c.linger()
}

// linger ends a connection whose client may still be sending: closing it at once
// could take the answer away from the client (RFC 9112, section 9.6).
func (c *conn) linger() {
	half, ok := c.net.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = c.net.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
	_, _ = io.CopyN(io.Discard, c.net, 256<<10)
}
