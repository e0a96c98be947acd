package verify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
)

// Options configure a [Client]. The zero value of a field selects the default
// named beside it.
type Options struct {
	// UserAgent identifies the receiver. It should contain an address at which you
	// can be reached. The address that asked for the fetch is added to it (PB-59).
	// Default: the name and home page of sitelink.
	UserAgent string
	// AllowAddresses lists addresses that may be connected to although they are
	// not public, on any port. Default: none.
	AllowAddresses []netip.Prefix
	// Pace is the minimum time between two requests to one host: 1 s. A negative
	// value means no minimum.
	Pace time.Duration
	// Timeout limits a fetch, including its redirects: 10 s.
	Timeout time.Duration
	// MaxBytes limits how much of a page is read: 1 MiB. MaxRate limits how many
	// bytes per second: 1 MiB.
	MaxBytes, MaxRate int64
	// Proxy returns the proxy for a request, as [http.ProxyFromEnvironment] does.
	// Default: no proxy. A proxy resolves host names itself, so only addresses
	// that are written in a URL are checked when you use one.
	Proxy func(*http.Request) (*url.URL, error)
}

// Client fetches pages of other sites. It is safe for concurrent use.
type Client struct {
	client    *fetch.Client
	userAgent string
}

// maxRedirects is the number of redirects that are followed (PB-59).
const maxRedirects = 3

// NewClient returns a client.
func NewClient(o Options) *Client {
	return &Client{
		client: fetch.New(fetch.Options{
			Allow: o.AllowAddresses, Pace: o.Pace, Proxy: o.Proxy, DefaultPorts: true, MaxRedirects: maxRedirects,
			Total: cmp.Or(o.Timeout, 10*time.Second), Idle: min(cmp.Or(o.Timeout, 10*time.Second), 5*time.Second),
			MaxBody: cmp.Or(o.MaxBytes, 1<<20), MaxRate: cmp.Or(o.MaxRate, 1<<20),
		}),
		userAgent: cmp.Or(o.UserAgent, fetch.DefaultUserAgent),
	}
}

// Result is what a look at a page found.
type Result string

// The results.
const (
	Linked      Result = "linked"       // the page links to the target
	NotLinked   Result = "not linked"   // the page does not link to the target
	NotHTML     Result = "not HTML"     // only HTML and XHTML pages have links that count
	Gone        Result = "gone"         // 404 or 410, or the page says that it was deleted
	Unavailable Result = "unavailable"  // it may be available at another time
	Refused     Result = "refused"      // its address must not be fetched
	Canceled    Result = "not finished" // the context of the caller was done
)

// The fault codes of pingback that a look can lead to.
const (
	FaultNoSource = 16 // PB-43
	FaultNoLink   = 17 // PB-44
	FaultUpstream = 50 // PB-49
)

// Response is the response to one fetch.
type Response struct {
	// Result is "" if there is a page in which to look for a link.
	Result Result
	// Fault and Reason say why there is none.
	Fault  int
	Reason string
	// URL is the address of the page after redirects. Moved is set if all of them
	// were permanent and there was at least one.
	URL   string
	Moved bool
	// RetryAfter is how long the host asked to wait.
	RetryAfter time.Duration
	// Asked is set if a request was sent, at least to a page that redirects.
	Asked bool
	// Err is what the network said, if there is no response. It is for the log of the
	// receiver, and not for the sender of a notice.
	Err error

	body      []byte
	truncated bool
	header    http.Header
	xhtml     bool
}

// Size returns the number of bytes of the page.
func (p *Response) Size() int { return len(p.body) }

// Fetch fetches a page with one request, and follows redirects. peer is the address that
// asked for it; it may be the zero value. The result is never nil: Page.Result says what
// failed.
func (c *Client) Fetch(ctx context.Context, address string, peer netip.Addr) *Response {
	agent := c.userAgent
	if peer.IsValid() {
		agent += "; verifying a notice from " + peer.Unmap().WithZone("").String()
	}
	header := http.Header{"User-Agent": {agent}, "Accept": {"text/html, application/xhtml+xml, */*;q=0.1"}}
	resp, err := c.client.Do(ctx, fetch.Request{URL: address, Header: header})
	p := &Response{URL: address, Asked: true, Err: err}
	if resp != nil {
		p.URL = resp.URL
		p.Moved = len(resp.Hops) > 0 && !slices.ContainsFunc(resp.Hops, func(h fetch.Hop) bool {
			return h.Status != http.StatusMovedPermanently && h.Status != http.StatusPermanentRedirect
		})
	}
	if err != nil {
		p.failed(err)
		p.Asked = p.Result != Refused || resp != nil && len(resp.Hops) > 0
		return p
	}
	switch {
	case resp.Status == http.StatusNotFound || resp.Status == http.StatusGone:
		p.fail(Gone, FaultNoSource, fmt.Sprintf("the page answered %d", resp.Status))
	case resp.Status < 200 || resp.Status > 299:
		p.fail(Unavailable, FaultUpstream, fmt.Sprintf("the page answered %d", resp.Status))
		p.RetryAfter = retryAfter(resp.Header)
	default:
		// A copy, because the room for a page is much larger than most pages are.
		p.body, p.truncated, p.header = bytes.Clone(resp.Body), resp.Truncated, resp.Header
		p.setKind()
	}
	return p
}

func (p *Response) fail(r Result, fault int, reason string) {
	p.Result, p.Fault, p.Reason = r, fault, reason
}

// failed sets why there is no response. The text does not repeat what the network
// said: a sender must not learn about the network of the receiver.
func (p *Response) failed(err error) {
	p.fail(Unavailable, FaultUpstream, "the request failed")
	var failure *fetch.Error
	if !errors.As(err, &failure) {
		return
	}
	switch failure.Kind {
	case fetch.Canceled:
		p.fail(Canceled, 0, "the check was stopped")
	case fetch.RefusedAddress:
		p.fail(Refused, FaultNoSource, "pages at this address and port are not fetched")
	case fetch.BadRequest:
		p.fail(Refused, FaultNoSource, "the URL cannot be fetched")
	case fetch.NoSuchHost:
		p.fail(Unavailable, FaultNoSource, "the host does not exist")
	case fetch.DNS, fetch.Connect, fetch.TLS:
		p.Reason = "the host cannot be reached"
	case fetch.Timeout, fetch.TooSlow:
		p.Reason = "the host is too slow"
	case fetch.BadRedirect, fetch.RedirectLoop, fetch.TooManyHops:
		p.Reason = fmt.Sprintf("the page redirects to nowhere, or more than %d times", maxRedirects)
	case fetch.Closed, fetch.Header, fetch.Body, fetch.Encoding:
		p.Reason = "the response of the host is incomplete or not HTTP"
	}
}

// setKind finds out whether the response is an HTML or XHTML page (PB-68).
func (p *Response) setKind() {
	field := p.header.Get("Content-Type")
	if field == "" {
		field = http.DetectContentType(p.body)
	}
	// A malformed parameter, such as a charset without value, does not matter.
	media, _, err := mime.ParseMediaType(field)
	if err != nil {
		media, _, _ = strings.Cut(field, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	switch media {
	case "text/html":
	case "application/xhtml+xml":
		p.xhtml = true
	default:
		p.fail(NotHTML, FaultNoLink, "the page is neither HTML nor XHTML")
	}
}

// retryAfter returns the value of a Retry-After field in seconds. Dates are
// ignored: they depend on the clock of the host.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(strings.TrimSpace(h.Get("Retry-After")), 10, 32)
	if err != nil {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, 7*24*time.Hour)
}
