// Package fetch is the only one that opens connections to other hosts. A
// request enters, an answer of bounded size leaves; addresses that are not of
// the public internet are refused when they are dialled, on each redirect too.
//
// It speaks HTTP/1.1, one request a connection, keeps no cookies and sends no
// credentials but those of [Request.Header], and these to the first host only.
package fetch

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Options bound what a [Client] does. The zero value of a field is its
// default, named beside it.
type Options struct {
	// UserAgent should hold an address where the sender can be reached.
	UserAgent string
	// Allow are addresses that may be dialled although they are not public.
	Allow []netip.Prefix
	// Pace is the least time between two requests to one host: 1 s; negative
	// for none.
	Pace time.Duration
	// Total bounds a request with its redirects (30 s), Idle the wait for each
	// next byte (10 s), MinRate the bytes a second of a body after the first
	// five seconds (512).
	Total, Idle time.Duration
	MinRate     int64
	// MaxBody bounds a body after decompression: 1 MiB. MaxHeader: 64 KiB.
	MaxBody, MaxHeader int64
	// MaxRedirects: 5; negative for none.
	MaxRedirects int
	// Proxy names the proxy for a request, nil for none, as of
	// [http.ProxyFromEnvironment]. nil asks hosts directly. A proxy resolves
	// names itself, so that behind one only addresses that stand in a URL are
	// guarded.
	Proxy func(*http.Request) (*url.URL, error)
}

// Request is one request of HTTP.
type Request struct {
	Method string // GET if empty
	URL    string // absolute, http or https
	Header http.Header
	Body   []byte // sent again when a redirect keeps the method
	// RequestTarget replaces the path and query on the request line, as it is:
	// the LINK method has two addresses there. Redirects are not followed.
	RequestTarget string
	// MaxBody, if positive, stands in for that of the options.
	MaxBody int64
	// NoRedirect returns a redirect as the answer.
	NoRedirect bool
	// Spacing is the least time between two requests to one host that both
	// have one, where it is longer than the client's pace.
	Spacing time.Duration
	// Idle, if positive, stands in for that of the options: a receiver may
	// fetch a page of ours before it answers.
	Idle time.Duration
}

// Doer makes one request. [*Client] does; what only sends takes this instead.
type Doer interface {
	Do(ctx context.Context, r Request) (*Response, error)
}

// Response is an answer.
type Response struct {
	Status int
	Reason string // the words behind the status, as they were sent
	URL    string // after redirects, without fragment
	Header http.Header
	// Body is decompressed. Truncated: it was longer than MaxBody.
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
