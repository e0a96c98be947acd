// Package fetch is the only one that opens connections to other hosts. A
// request enters, an answer of bounded size leaves; addresses that are not of
// the public internet are refused when they are dialled, on each redirect too.
package fetch

import (
	"net/http"
	"net/netip"
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
}

// Request is one request of HTTP.
type Request struct {
	Method string // GET if empty
	URL    string // absolute, http or https
	Header http.Header
	Body   []byte // sent again when a redirect keeps the method
	// RequestTarget replaces the path and query on the request line, as it is:
	// the LINK method has two addresses there.
	RequestTarget string
	// MaxBody, if positive, stands in for that of the options.
	MaxBody int64
	// NoRedirect returns a redirect as the answer.
	NoRedirect bool
	// Spacing, if longer than the client's pace, stands in for it.
	Spacing time.Duration
}

// Response is an answer.
type Response struct {
	Status int
	URL    string // after redirects
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
