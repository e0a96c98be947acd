package server

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Receiver decides about notices. [incoming.Receiver] is one.
type Receiver interface {
	// Receive answers notices. If one of them is not acceptable, none is recorded.
	// What it recorded survives a crash once it has returned. An error means that
	// the store failed.
	Receive(ctx context.Context, notices []incoming.Notice) ([]incoming.Answer, error)
}

// Mentions looks at what was received. Every [incoming.Store] can.
type Mentions interface {
	Mention(ctx context.Context, id string) (incoming.Mention, error)
	Counts(ctx context.Context) (map[incoming.State]int64, error)
}

// ProxyHeader is the header field in which a proxy passes on the address of its
// client.
type ProxyHeader string

// The header fields. Only one is read: a proxy that sets one passes on what a
// stranger wrote into the other.
const (
	XForwardedFor ProxyHeader = "X-Forwarded-For" // the default
	Forwarded     ProxyHeader = "Forwarded"       // RFC 7239
)

// Options are what a [Server] needs. Only Receiver must be set.
type Options struct {
	Receiver Receiver
	// Mentions answers the status pages of webmentions, /healthz and the counts of
	// /metrics. Without it, the server answers none of these.
	Mentions Mentions
	// Moderation answers below /moderation.
	Moderation http.Handler
	// Live answers at /mentions, see export.Live.
	Live http.Handler
	// Pages answers GET and HEAD of all other paths, see [NewPages]. Without it,
	// the answer is 404 with a hint.
	Pages http.Handler
	// BaseURLs are the addresses of the sites, such as https://example.org/. They
	// supply the scheme of a LINK call that names only a path: behind a proxy, the
	// server cannot know it. Entries that are not http or https URLs are ignored.
	BaseURLs []string

	// Proxies are the networks of trusted proxies. The client's address is the last
	// one in ProxyHeader that is not in them. Connections over a Unix socket are
	// trusted as well.
	Proxies     []netip.Prefix
	ProxyHeader ProxyHeader

	// HideOperations answers /healthz and /metrics only on listeners of
	// [Server.ServeOperations].
	HideOperations bool

	Limits Limits
	// Now is the clock of responses and of the cache of /metrics; time.Now by
	// default.
	Now func() time.Time
	// Log gets a line for each notice, at level debug, and for each failure; for a
	// store that fails again and again, one in ten seconds. By default, nothing is
	// logged.
	Log *slog.Logger
}

// Limits bound what strangers can use. A zero field has the default that its
// comment names.
type Limits struct {
	// Connections is the number of open connections, 1000. Further ones are
	// answered with 503.
	Connections int
	// AddressConnections is the number of those from one address, or one /64
	// network of IPv6, 100. It does not count for proxies.
	AddressConnections int
	// MaxBodyBytes is the size of a request's body, 64 KiB.
	MaxBodyBytes int64
	// HeaderTimeout is the time for the head of a request, from its first byte, and
	// for the first byte of a connection: 10 s.
	HeaderTimeout time.Duration
	// ReadTimeout is the time for a whole request: 20 s.
	ReadTimeout time.Duration
	// IdleTimeout is the time until the next request of a connection: 60 s.
	IdleTimeout time.Duration
	// WriteTimeout is the time for each 4 KiB of a response: 30 s.
	WriteTimeout time.Duration
	// StopTimeout is the time that requests have to finish once the server is
	// stopped: 10 s.
	StopTimeout time.Duration
}

// Server is the HTTP side of a receiver. It is safe for concurrent use.
type Server struct {
	opt     Options
	limits  Limits
	log     *slog.Logger
	schemes map[string]string // by host with port, as in the Host header
	metrics metrics
}

// New returns a server. [Server.Serve] starts it.
func New(opt Options) *Server {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	opt.ProxyHeader = cmp.Or(opt.ProxyHeader, XForwardedFor)
	l := opt.Limits
	l.Connections, l.AddressConnections = cmp.Or(l.Connections, 1000), cmp.Or(l.AddressConnections, 100)
	l.MaxBodyBytes = cmp.Or(l.MaxBodyBytes, 64<<10)
	l.HeaderTimeout, l.ReadTimeout, l.IdleTimeout = cmp.Or(l.HeaderTimeout, 10*time.Second), cmp.Or(l.ReadTimeout, 20*time.Second), cmp.Or(l.IdleTimeout, time.Minute)
	l.WriteTimeout, l.StopTimeout = cmp.Or(l.WriteTimeout, 30*time.Second), cmp.Or(l.StopTimeout, 10*time.Second)
	s := &Server{opt: opt, limits: l, log: opt.Log, schemes: map[string]string{}, metrics: metrics{samples: map[string]uint64{}}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for _, base := range opt.BaseURLs {
		if u, err := weburl.Parse(base); err == nil && (u.Scheme() == "http" || u.Scheme() == "https") {
			s.schemes[u.Authority()] = u.Scheme()
		}
	}
	return s
}

// knownMethods are the methods that get 405 at a path that does not accept them.
// Other methods get 501.
var knownMethods = "GET HEAD POST PUT PATCH DELETE OPTIONS TRACE "

const linkMethods = "LINK, UNLINK, UNLINKR, LINKMOD"

// ServeHTTP answers a request, in a server of net/http too. There, request lines
// with two URLs do not arrive; use [Server.Serve] to receive them.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	r.Body = http.MaxBytesReader(w, r.Body, s.limits.MaxBodyBytes)
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		if c.ambiguous(r) {
			w.Header().Set("Connection", "close")
			s.plain(w, "other", http.StatusBadRequest, "The request has Transfer-Encoding and Content-Length.")
			return
		}
		if call := c.call.Swap(nil); call != nil {
			// The request line has two or three URLs.
			reply := s.call(w, r, call)
			s.metrics.request("link", reply.status)
			c.status = fmt.Sprintf("HTTP/1.1 %d %s", reply.status, reply.phrase)
			h := w.Header()
			h.Set("Connection", "close")
			h.Set("Cache-Control", "no-store")
			if reply.side != "" {
				h.Set(sideHeader, reply.side)
			}
			if reply.text != "" {
				h.Set("Content-Type", "text/plain; charset=utf-8")
			}
			w.WriteHeader(reply.status)
			if reply.text != "" {
				_, _ = w.Write([]byte(reply.text + "\n"))
			}
			return
		}
	}
	switch {
	case isLinkMethod(r.Method):
		s.serveLinkFields(w, r)
	case !strings.Contains(knownMethods, r.Method+" "):
		s.plain(w, "other", http.StatusNotImplemented, "This server does not know the method.")
	case r.URL.Path == "/pingback":
		s.servePingback(w, r)
	case r.URL.Path == "/webmention":
		// People who send a webmention by hand get a form. A page of another site may send one
		// from the browser of a visitor: the request is anonymous, so there is nothing to
		// protect from that.
		const allow = "GET, HEAD, POST, OPTIONS"
		crossOrigin(w)
		switch r.Method {
		case http.MethodOptions:
			s.options(w, allow, formType)
		case http.MethodGet, http.MethodHead:
			s.show(w, r, http.StatusOK, view{Title: "Send a webmention", Form: true, Target: r.URL.Query().Get("target")})
		case http.MethodPost:
			s.takeWebmention(w, r)
		default:
			s.allowed(w, r, allow)
		}
	case strings.HasPrefix(r.URL.Path, statusPath):
		s.serveStatus(w, r)
	case s.opt.Live != nil && r.URL.Path == "/mentions":
		s.opt.Live.ServeHTTP(w, r)
	case s.opt.Moderation != nil && (r.URL.Path == "/moderation" || strings.HasPrefix(r.URL.Path, "/moderation/")):
		s.opt.Moderation.ServeHTTP(w, r)
	case !s.opt.HideOperations && s.isOperation(r):
		s.serveOperation(w, r)
	default:
		// This is a page of the sites, or OPTIONS *.
		const allow = "GET, HEAD, OPTIONS, " + linkMethods
		switch {
		case r.Method == http.MethodOptions:
			s.options(w, allow)
		case !s.allowed(w, r, allow):
		case s.opt.Pages != nil:
			s.metrics.request("page", http.StatusOK)
			s.opt.Pages.ServeHTTP(w, r)
		default:
			s.plain(w, "page", http.StatusNotFound, hint)
		}
	}
}

const hint = "This server has no pages. It receives notices about links to a site:\n" +
	"webmentions at /webmention, pingbacks at /pingback,\n" +
	"and the methods LINK, UNLINK, UNLINKR and LINKMOD at the addresses of the site."

// options answers OPTIONS: what other requests a path takes.
func (s *Server) options(w http.ResponseWriter, allow string, acceptPost ...string) {
	w.Header().Set("Allow", allow)
	if len(acceptPost) > 0 {
		w.Header().Set("Accept-Post", strings.Join(acceptPost, ", "))
	}
	s.metrics.request("options", http.StatusNoContent)
	w.WriteHeader(http.StatusNoContent)
}

// allowed reports whether a method is in a list. If not, it answers 405.
func (s *Server) allowed(w http.ResponseWriter, r *http.Request, allow string) bool {
	if slices.Contains(strings.Split(allow, ", "), r.Method) {
		return true
	}
	w.Header().Set("Allow", allow)
	s.plain(w, "other", http.StatusMethodNotAllowed, "This address takes only "+allow+".")
	return false
}

// plain answers with a text for people.
func (s *Server) plain(w http.ResponseWriter, endpoint string, status int, text string) {
	s.metrics.request(endpoint, status)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}

// receive passes notices to the receiver, counts and logs the answers. There is an
// answer for each notice if there is no error.
func (s *Server) receive(ctx context.Context, notices []incoming.Notice) ([]incoming.Answer, error) {
	answers, err := s.opt.Receiver.Receive(ctx, notices)
	if err == nil && len(answers) != len(notices) {
		err = errAnswers
	}
	if err != nil {
		s.storeFailed("notices were not recorded", err)
		return nil, err
	}
	for i, a := range answers {
		s.metrics.count(fmt.Sprintf("notices_total{protocol=%q,outcome=%q}", notices[i].Protocol, a.Outcome))
	}
	return answers, nil
}
