package fetch

import (
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/weburl"
)

// Options configure a [Client]. The zero value of a field selects the default
// named beside it.
type Options struct {
	// UserAgent should contain an address at which you can be reached.
	UserAgent string
	// Allow lists addresses that may be connected to although they are not
	// public.
	Allow []netip.Prefix
	// Pace is the minimum time between two requests to one host: 1 s. A
	// negative value means no minimum.
	Pace time.Duration
	// Total limits a request including its redirects (30 s), and Idle the wait
	// for the next byte (as Total). MinRate is the minimum rate of a body in bytes
	// per second, after the first five seconds (512).
	Total, Idle time.Duration
	MinRate     int64
	// MaxRate limits how fast a body is read, in bytes per second: not at all.
	MaxRate int64
	// DefaultPorts refuses all ports but 80 and 443, except of addresses in
	// Allow.
	DefaultPorts bool
	// MaxBody limits a body after decompression (1 MiB), and MaxHeader the
	// header (64 KiB).
	MaxBody, MaxHeader int64
	// MaxRedirects limits the redirects of a request: 5. If negative, none are
	// followed.
	MaxRedirects int
	// Pooled is for a caller that paces its requests itself: any number of them go to a
	// host at once, connections are kept for the next request, and hosts that offer
	// HTTP/2 get it.
	Pooled bool
	// Connect, if not nil, is called before a connection to an address of a host is
	// opened. If it returns a time, the request fails with a [*BusyError].
	Connect func(host string, addr netip.Addr) time.Duration
	// Proxy returns the proxy for a request, as [http.ProxyFromEnvironment]
	// does. If nil, no proxy is used. A proxy resolves host names itself, so
	// only addresses that are written in a URL are checked then.
	Proxy func(*http.Request) (*url.URL, error)
}

// Request is one HTTP request.
type Request struct {
	Method string // GET if empty
	URL    string // absolute, http or https
	Header http.Header
	Body   []byte // sent again when a redirect keeps the method
	// RequestTarget replaces the path and query on the request line. Redirects
	// are not followed then. The LINK method puts two URLs there.
	RequestTarget string
	// MaxBody, if positive, replaces that of the options.
	MaxBody int64
	// NoRedirect returns a redirect instead of following it.
	NoRedirect bool
	// Wants, if not nil, reports whether the body of a response is read; Truncated is set if not.
	Wants func(status int, header http.Header) bool
	// Lenient reads the header of the response as browsers do: fields that are not
	// valid do not count. It has no effect on a request through a proxy.
	Lenient bool
}

// Response is the response to a request.
type Response struct {
	Status int
	Reason string // the text after the status on the status line
	URL    string // after redirects, without fragment
	Header http.Header
	// Body is decompressed. Truncated reports that it was longer than MaxBody.
	Body      []byte
	Truncated bool
	// Hops are the redirects that were followed.
	Hops []Hop
}

// Hop is one redirect.
type Hop struct {
	Status   int
	From, To string
}

// DefaultUserAgent is sent if the options have none.
const DefaultUserAgent = "sitelink (+https://github.com/sitelink/sitelink)"

// Client makes requests. It is safe for concurrent use.
type Client struct {
	opts            Options
	pace            *pacer
	direct, proxied *http.Transport
	lenient         *http.Transport
	grace           time.Duration // before the minimum rate applies
}

// New returns a client.
func New(o Options) *Client {
	o.UserAgent = cmp.Or(o.UserAgent, DefaultUserAgent)
	o.Pace = cmp.Or(o.Pace, time.Second)
	o.Total = cmp.Or(o.Total, 30*time.Second)
	o.Idle = cmp.Or(o.Idle, o.Total)
	o.MinRate = cmp.Or(o.MinRate, 512)
	o.MaxBody = cmp.Or(o.MaxBody, 1<<20)
	o.MaxHeader = cmp.Or(o.MaxHeader, 64<<10)
	o.MaxRedirects = cmp.Or(o.MaxRedirects, 5)
	o.Allow = slices.Clone(o.Allow)
	for i, p := range o.Allow {
		if p.Addr().Is4In6() && p.Bits() >= 96 { // addresses are checked unmapped
			o.Allow[i] = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
	}
	c := &Client{opts: o, pace: newPacer(max(o.Pace, 0)), grace: 5 * time.Second}
	guarded := &net.Dialer{ControlContext: (&guard{allow: o.Allow, defaultPorts: o.DefaultPorts, connect: o.Connect}).control}
	c.direct = c.transport(guarded, nil)
	// The user chose the proxy, so its address is not checked.
	c.proxied = c.transport(&net.Dialer{}, o.Proxy)
	c.lenient = lenient(c.transport(guarded, nil))
	return c
}

// maxIdle and maxIdlePerHost limit the connections that wait for a next request. A
// caller that asks a thousand hosts in turns should find the connection of each
// again; they take some 20 MB then.
const (
	maxIdle        = 1024
	maxIdlePerHost = 8
)

func (c *Client) transport(d *net.Dialer, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(c.opts.Pooled)
	return &http.Transport{
		Protocols:              &protocols,
		Proxy:                  proxy,
		DisableKeepAlives:      !c.opts.Pooled, // so that a closed connection is the response to this request
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        c.opts.Idle,
		ReadBufferSize:         2 << 10,
		WriteBufferSize:        1 << 10,
		DisableCompression:     true, // see body.go
		MaxResponseHeaderBytes: c.opts.MaxHeader,
		TLSClientConfig:        &tls.Config{GetClientCertificate: noCertificate},
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			dial, cancel := context.WithTimeout(ctx, c.opts.Idle)
			defer cancel()
			host, _, _ := net.SplitHostPort(addr)
			inner, err := d.DialContext(context.WithValue(dial, hostKey{}, host), network, addr)
			if err != nil {
				return nil, err
			}
			return &conn{Conn: inner, idle: c.opts.Idle}, nil
		},
	}
}

// CloseIdleConnections closes the connections that wait for a next request.
func (c *Client) CloseIdleConnections() {
	c.direct.CloseIdleConnections()
	c.proxied.CloseIdleConnections()
}

// Do makes one request and follows its redirects. It first waits until the host
// may get a request; that time does not count towards [Options.Total]. A request
// that changes something, such as a POST, is not redirected from https to http.
//
// The error is an [*Error]. If the header of a response arrived, Do returns both
// the response, with as much of the body as could be read, and the error.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	u, err := parse(r.URL)
	if err != nil {
		return nil, err
	}
	r.Method = cmp.Or(r.Method, http.MethodGet)
	r.Header = r.Header.Clone()
	if strings.ContainsFunc(r.RequestTarget, func(c rune) bool { return c < ' ' || c == 0x7F }) {
		return nil, &Error{URL: u.WithoutFragment(), Kind: BadRequest, Err: errors.New("the request target contains a control character")}
	}
	left := c.opts.Total
	seen := map[string]bool{r.Method + u.WithoutFragment(): true}
	var hops []Hop
	for {
		resp, took, err := c.paced(ctx, &r, u, left)
		if resp != nil {
			resp.Hops = hops
		}
		location, ok := redirected(resp, &r)
		if err != nil || !ok {
			if err != nil { // never a typed nil
				return resp, err
			}
			return resp, nil
		}
		left -= took
		from := u
		fail := func(kind ErrorKind, cause error) (*Response, error) {
			return resp, &Error{URL: from.WithoutFragment(), Kind: kind, Sent: true, Err: cause}
		}
		if u, err = follow(u, location); err != nil {
			return fail(BadRedirect, err.Err)
		}
		if from.Scheme() == "https" && u.Scheme() == "http" && !r.safe() && resp.Status != http.StatusSeeOther {
			return fail(BadRedirect, fmt.Errorf("the redirect from https to %s is not followed, because attackers on the way could read and change the request", u.WithoutFragment()))
		}
		if len(hops) >= c.opts.MaxRedirects {
			return fail(TooManyHops, fmt.Errorf("too many redirects; the next one is to %s", u.WithoutFragment()))
		}
		r.redirect(resp.Status, from, u)
		if key := r.Method + u.WithoutFragment(); seen[key] {
			return fail(RedirectLoop, fmt.Errorf("the redirect to %s is a loop", u.WithoutFragment()))
		} else {
			seen[key] = true
		}
		hops = append(hops, Hop{Status: resp.Status, From: from.WithoutFragment(), To: u.WithoutFragment()})
	}
}

// paced makes a request when its host may get one, within the time left. It
// returns the time that the request took.
func (c *Client) paced(ctx context.Context, r *Request, u weburl.URL, left time.Duration) (*Response, time.Duration, *Error) {
	if !c.opts.Pooled {
		done, err := c.pace.wait(ctx, strings.TrimSuffix(u.Host(), "."))
		if err != nil {
			return nil, 0, &Error{URL: u.WithoutFragment(), Kind: Canceled, Err: context.Cause(ctx)}
		}
		defer done()
	}
	begin := time.Now()
	resp, failure := c.exchange(ctx, r, u, left)
	return resp, time.Since(begin), failure
}

// exchange sends a request and reads the response.
func (c *Client) exchange(outer context.Context, r *Request, u weburl.URL, left time.Duration) (*Response, *Error) {
	var p phase
	ctx, cancel := context.WithTimeout(context.WithValue(outer, phaseKey{}, &p), left)
	defer cancel()
	fail := func(err error) *Error {
		kind := p.kind(outer, err)
		within := c.opts.Idle
		if ctx.Err() != nil || within >= c.opts.Total {
			within = 0
		}
		return &Error{URL: u.WithoutFragment(), Kind: kind, Sent: p.sent.Load(), Err: c.explain(kind, err, within)}
	}
	req := c.message(r, u).WithContext(httptrace.WithClientTrace(ctx, p.trace()))
	transport, err := c.route(req, r, u)
	if err != nil {
		return nil, fail(err)
	}
	got, err := transport.RoundTrip(req)
	if noSockets(err) { // nothing was sent
		c.CloseIdleConnections()
		got, err = transport.RoundTrip(req)
	}
	if err != nil {
		return nil, fail(err)
	}
	defer got.Body.Close()
	_, reason, _ := strings.Cut(got.Status, " ")
	resp := &Response{Status: got.StatusCode, Reason: reason, URL: u.WithoutFragment(), Header: got.Header}
	if _, follows := redirected(resp, r); follows {
		return resp, nil
	}
	if r.Wants != nil && !r.Wants(resp.Status, resp.Header) {
		resp.Truncated = true
		return resp, nil
	}
	limit := c.opts.MaxBody
	if r.MaxBody > 0 {
		limit = r.MaxBody
	}
	body := &metered{r: got.Body, min: c.opts.MinRate, max: c.opts.MaxRate, grace: c.grace, begin: time.Now()}
	if resp.Body, resp.Truncated, err = readBody(body, got, limit); err != nil {
		failure := fail(err)
		if failure.Kind == Header {
			kind := Body
			// Some bodies cannot be decompressed, however often they are fetched.
			var corrupt flate.CorruptInputError
			if errors.Is(err, errEncoding) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt) {
				kind = Encoding
			}
			failure.Kind, failure.Err = kind, c.explain(kind, err, 0)
		}
		return resp, failure
	}
	return resp, nil
}

// message returns the request as it is sent.
func (c *Client) message(r *Request, u weburl.URL) *http.Request {
	req := &http.Request{
		Method: r.Method,
		URL:    &url.URL{Scheme: u.Scheme(), Host: u.Authority()},
		Header: r.Header.Clone(),
	}
	if req.Header == nil {
		req.Header = make(http.Header)
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", c.opts.UserAgent)
	}
	if len(r.Body) > 0 {
		req.ContentLength = int64(len(r.Body))
		req.Body = io.NopCloser(bytes.NewReader(r.Body))
	} else if !r.safe() {
		// Together, these two write "Content-Length: 0" for any method.
		req.Body, req.TransferEncoding = http.NoBody, []string{"identity"}
	}
	if r.RequestTarget != "" {
		req.URL.Opaque = r.RequestTarget
		return req
	}
	if req.Header.Get("Accept-Encoding") == "" {
		req.Header.Set("Accept-Encoding", "gzip")
	}
	setTarget(req.URL, u)
	return req
}

// errProxied means that the request line is not one that a proxy passes on. The
// response of a proxy to it would say nothing about the host.
var errProxied = errors.New("a custom request line cannot be sent through a proxy")

// route returns the transport for a request. For a proxy, it puts the absolute URL
// on the request line.
func (c *Client) route(req *http.Request, r *Request, u weburl.URL) (*http.Transport, error) {
	direct := c.direct
	if r.Lenient {
		direct = c.lenient
	}
	if c.opts.Proxy == nil {
		return direct, nil
	}
	proxy, err := c.opts.Proxy(req)
	if err != nil || proxy == nil {
		return direct, err
	}
	if err := (&guard{allow: c.opts.Allow, defaultPorts: c.opts.DefaultPorts}).literal(u); err != nil {
		return nil, err
	}
	if u.Scheme() == "http" {
		if r.RequestTarget != "" {
			return nil, errProxied
		}
		req.URL.Opaque = "//" + u.Authority() + u.Path()
	}
	return c.proxied, nil
}

// redirected returns the Location of a redirect, if the response is one and the
// request follows redirects.
func redirected(resp *Response, r *Request) (location string, ok bool) {
	if resp == nil || r.NoRedirect || r.RequestTarget != "" {
		return "", false
	}
	switch resp.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		location = resp.Header.Get("Location")
	}
	return location, location != ""
}

// safe reports whether the request only asks for a page, and changes nothing.
func (r *Request) safe() bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
}

// redirect changes the request to that of the next hop. A POST stays a POST after
// 301 and 302: a receiver that moved from http to https expects it, and would
// answer a GET with a page that looks like a success. After a 303 it becomes a GET.
//
// https://www.rfc-editor.org/rfc/rfc9110#section-15.4
func (r *Request) redirect(status int, from, to weburl.URL) {
	if status == http.StatusSeeOther && r.Method != http.MethodHead {
		r.Method, r.Body = http.MethodGet, nil
		for name := range r.Header {
			switch name {
			case "Content-Type", "Content-Encoding", "Content-Language", "Content-Length", "Content-Location":
				delete(r.Header, name)
			}
		}
	}
	if from.Authority() != to.Authority() || from.Scheme() != to.Scheme() {
		for _, name := range []string{"Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "Www-Authenticate"} {
			r.Header.Del(name)
		}
	}
}

// Named returns the addresses of a host that the user typed, for [Options.Allow]: it need not be
// public.
func Named(ctx context.Context, host string) (allow []netip.Prefix, err error) {
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for _, a := range addresses {
		a = a.Unmap()
		allow = append(allow, netip.PrefixFrom(a, a.BitLen()))
	}
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) {
		err = &explained{dns.Err, err}
	}
	return allow, err
}
