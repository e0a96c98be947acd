package outgoing

import (
	"context"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/weburl"
)

// ClientOptions configure a [Client]. The zero value of a field selects the
// default named beside it.
type ClientOptions struct {
	// UserAgent identifies the program. It should contain an address at which
	// you can be reached. Default: the name and home page of sitelink.
	UserAgent string
	// AllowAddresses lists addresses that may be connected to although they are
	// not public, such as 127.0.0.0/8 in a test. Default: none.
	AllowAddresses []netip.Prefix
	// Pace is the minimum time between two requests to one host: 1 s. A
	// negative value means no minimum.
	Pace time.Duration
	// Timeout limits a request, including its redirects: 30 s. The time spent
	// waiting for Pace does not count.
	Timeout time.Duration
	// Proxy returns the proxy for a request, as [http.ProxyFromEnvironment]
	// does. Default: no proxy. A proxy resolves host names itself, so only
	// addresses that are written in a URL are checked when you use one.
	Proxy func(*http.Request) (*url.URL, error)
}

// Client makes HTTP/1.1 requests to hosts that strangers chose. It checks each
// address when it connects, on redirects too, and refuses those that are not on
// the public internet and ports of services other than web servers. Response
// bodies, times, redirects (5) and the rate of requests to a host are limited.
// It sends no cookies.
//
// A Client is safe for concurrent use. Requests to one host are only spaced if
// they are made by the same Client.
type Client struct{ client *fetch.Client }

// NewClient returns a client.
func NewClient(o ClientOptions) *Client {
	return &Client{fetch.New(fetch.Options{
		UserAgent: o.UserAgent, Allow: o.AllowAddresses, Pace: o.Pace, Total: o.Timeout, Proxy: o.Proxy,
	})}
}

// Doer makes HTTP requests for senders and deliveries. [*Client] is the one to
// use; a test may replace it.
type Doer interface {
	Do(ctx context.Context, r Request) (*Response, error)
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
	// MaxBody limits the response body: 1 MiB if zero.
	MaxBody int64
}

// Response is the response to a [Request].
type Response struct {
	Status     int
	Reason     string // the text after the status on the status line
	URL        string // after redirects, without fragment
	Redirected bool
	Header     http.Header
	// Body is decompressed. Truncated reports that it was longer than the limit.
	Body      []byte
	Truncated bool
}

// Do makes a request and follows its redirects. A POST stays a POST after 301
// and 302, and is not redirected from https to http.
//
// An error means that there is no complete response; [RequestFailed] turns it
// into an outcome. If the header of a response arrived, Do returns both the
// response, with as much of the body as could be read, and the error.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	got, err := c.client.Do(ctx, fetch.Request{
		Method: r.Method, URL: r.URL, Header: r.Header, Body: r.Body, RequestTarget: r.RequestTarget, MaxBody: r.MaxBody,
	})
	if got == nil {
		return nil, err
	}
	return &Response{
		Status: got.Status, Reason: got.Reason, URL: got.URL, Redirected: len(got.Hops) > 0,
		Header: got.Header, Body: got.Body, Truncated: got.Truncated,
	}, err
}

// Success reports whether the status is 2xx.
func (r *Response) Success() bool { return r.Status >= 200 && r.Status < 300 }

// Location returns the Location field as an absolute http or https URL without
// fragment, or "" if there is no such URL.
func (r *Response) Location() string {
	ref := r.Header.Get("Location")
	base, err := weburl.Parse(r.URL)
	if ref == "" || err != nil {
		return ""
	}
	u, err := base.Resolve(ref)
	if err != nil || u.Scheme() != "http" && u.Scheme() != "https" || u.HasCredentials() {
		return ""
	}
	return u.WithoutFragment()
}

// Excerpt returns the beginning of the body as one line of text, without the
// tags of HTML. It returns "" for a body that is not text.
func (r *Response) Excerpt() string {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	looksLikeHTML := media == "" && strings.HasPrefix(strings.TrimSpace(string(r.Body)), "<")
	switch {
	case media == "text/html", media == "application/xhtml+xml", looksLikeHTML:
		title, body, _ := scanhtml.Visible(r.Body)
		return OneLine(title + " " + body)
	case media == "", strings.HasPrefix(media, "text/"), strings.HasSuffix(media, "json"), strings.HasSuffix(media, "xml"):
		return OneLine(string(r.Body[:min(len(r.Body), 4*maxLineRunes)]))
	}
	return ""
}

// Target is the page that a notice is about. It is fetched when a sender first
// needs it, and only once. A Target is safe for concurrent use.
type Target struct {
	client Doer
	url    string

	mu       sync.Mutex
	response *Response
	err      error
}

// NewTarget returns the target with that URL. client fetches it.
func NewTarget(client Doer, url string) *Target { return &Target{client: client, url: url} }

// URL returns the URL of the target as the source page has it.
func (t *Target) URL() string { return t.url }

// Get fetches the target with GET. The error is that of [Client.Do]; every call
// returns the result of the first.
func (t *Target) Get(ctx context.Context) (*Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.response == nil && t.err == nil {
		if response, err := t.client.Do(ctx, Request{URL: t.url}); err != nil {
			t.err = err
		} else {
			t.response = response
		}
	}
	return t.response, t.err
}

// Page fetches the target and returns the page in which a sender can look for
// its endpoint. When there is none because the target is missing (404 or 410),
// page is nil and missing says so. When the target fails temporarily, the error
// is an [UnavailableError]. Pages with any other status count, including those
// that are for members only.
func (t *Target) Page(ctx context.Context) (page *Response, missing string, err error) {
	page, err = t.Get(ctx)
	switch {
	case err != nil:
		return nil, "", err
	case page.missing():
		return nil, "the target answered " + StatusText(page.Status), nil
	case page.temporary():
		return nil, "", page.Unavailable(time.Now())
	}
	return page, "", nil
}
