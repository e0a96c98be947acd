package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
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

// connKey is the context key of the connection of a request.
type connKey struct{}

func (s *Server) serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	web := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if secure, ok := r.Context().Value(connKey{}).(*conn).Conn.(*tls.Conn); ok {
				state := secure.ConnectionState()
				r.TLS = &state // net/http does not see it through conn
			}
			handler.ServeHTTP(w, r)
		}),
		MaxHeaderBytes:    maxHead,
		ReadHeaderTimeout: s.limits.HeaderTimeout, ReadTimeout: s.limits.ReadTimeout, IdleTimeout: s.limits.IdleTimeout,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelError),
		BaseContext:                  func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ConnContext:                  func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	// Shutdown waits some seconds for a connection that has not sent anything.
	var silent sync.Map
	web.ConnState = func(c net.Conn, state http.ConnState) {
		if silent.Delete(c); state == http.StateNew {
			silent.Store(c, nil)
		}
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limits.StopTimeout)
		defer cancel()
		silent.Range(func(c, _ any) bool { c.(net.Conn).Close(); return true })
		if web.Shutdown(wait) != nil {
			s.log.Warn("requests were aborted because they did not finish in time")
			web.Close()
		}
	})
	err := web.Serve(&listener{Listener: l, server: s, byAddress: map[netip.Prefix]int{}})
	if stop() {
		web.Close()
		return err
	}
	<-stopped
	return nil
}

// listener limits the number of connections.
type listener struct {
	net.Listener
	server *Server

	mu        sync.Mutex
	open      int
	byAddress map[netip.Prefix]int
}

// Accept returns the next connection, after it has refused those that are too many.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		limits := l.server.limits
		address, counted := l.network(c.RemoteAddr())
		l.mu.Lock()
		full := l.open >= limits.Connections || counted && l.byAddress[address] >= limits.AddressConnections
		if !full {
			l.open++
			l.byAddress[address]++
		}
		l.mu.Unlock()
		if !full {
			return &conn{Conn: c, writeTimeout: limits.WriteTimeout, release: sync.OnceFunc(func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.open--
				if l.byAddress[address]--; l.byAddress[address] == 0 {
					delete(l.byAddress, address)
				}
			})}, nil
		}
		l.server.metrics.request("connection", http.StatusServiceUnavailable)
		if _, secure := c.(*tls.Conn); !secure {
			const text = "there are too many connections\n"
			_ = c.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = fmt.Fprintf(c, "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 10\r\nDate: %s\r\n"+
				"Content-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s", l.server.opt.Now().UTC().Format(http.TimeFormat), len(text), text)
		}
		c.Close()
	}
}

// network returns what counts as one address, and whether its connections are
// limited.
func (l *listener) network(remote net.Addr) (netip.Prefix, bool) {
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
	return network, !l.server.trusts(address)
}
