// Package outgoing works out which targets of a site's links have to be told
// what since the last deploy: a site and its ledger enter, notices leave
// ([Diff]). It opens no connection; senders in packages below it do, each for
// one protocol, and package deliver drives them.
package outgoing

import (
	"context"
	"time"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Notice is what a target is told: that the page Source links to Target, or no
// longer does. Both are absolute and stand as they are written on the page: a
// target may compare them byte by byte.
type Notice struct {
	Source string
	Target string
	Event  ledger.Event
	// Replacement is the new address of a page that moved.
	Replacement string
	// Attempts counts those before this one.
	Attempts int
}

// Outcome is how one attempt to tell a target went. A failure is an outcome,
// no error.
type Outcome struct {
	State    ledger.State
	Endpoint string
	// Status is that of the last answer of HTTP, 0 for none; Fault that of
	// XML-RPC.
	Status int
	Fault  *int
	// Message is a sentence for the author: what the target answered, or what
	// went wrong.
	Message string
	// Location is where the target tells how it went on, absolute.
	Location string
	// After is the least time to wait before the next attempt; 0 leaves it to
	// the schedule.
	After time.Duration
}

// Target is a page that gets notices, fetched at most once a delivery however
// many senders look at it. Safe for concurrent use.
type Target interface {
	// URL is the address as it is written on the source.
	URL() string
	// Page fetches the page by GET. The error is that of the fetch.
	Page(ctx context.Context) (*TargetPage, error)
}

// TargetPage is what a target answered.
type TargetPage struct {
	URL    string // after redirects: what relative endpoints are resolved against
	Status int
	Header map[string][]string // canonical names, as of net/http
	Body   []byte              // after decompression, cut at the limit of the fetch
}

// Endpoint is where a sender delivers, as discovered for one target.
type Endpoint struct {
	URL string // absolute; "" when the target takes no notices of this protocol
	// Via says where it was found, for the report: "Link header", "<link>" ...
	Via string
	// Form names the form of the protocol that it takes, where there is more
	// than one.
	Form string
}

// Sender tells targets by one protocol. Implementations are safe for
// concurrent use and keep no state between notices.
type Sender interface {
	Protocol() ledger.Protocol
	// Idempotent tells whether a repeat of a notice, of which nobody knows
	// whether it arrived, is harmless.
	Idempotent() bool
	// Takes tells whether the protocol can express the event: a pingback
	// cannot be taken back.
	Takes(e ledger.Event) bool
	// Spacing is the least time between two notices to one host.
	Spacing() time.Duration
	// Discover finds the target's endpoint, anew for each notice.
	Discover(ctx context.Context, t Target) (Endpoint, error)
	// Send delivers one notice, once.
	Send(ctx context.Context, n Notice, e Endpoint) Outcome
}
