package outgoing

import (
	"context"
	"time"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Sender sends notices with one protocol. Implementations are safe for
// concurrent use and keep no state between notices.
type Sender interface {
	Protocol() ledger.Protocol
	// Idempotent reports whether it is harmless to send a notice again when it
	// is unknown whether it arrived the first time.
	Idempotent() bool
	// Takes reports whether the protocol can express the event. A pingback, for
	// example, cannot be withdrawn.
	Takes(e ledger.Event) bool
	// Spacing returns the minimum time between two notices to one host.
	Spacing() time.Duration
	// Discover finds the endpoint of a target. It is called for each notice;
	// an Endpoint without URL means that the target does not take notices of
	// this protocol.
	Discover(ctx context.Context, t *Target) (Endpoint, error)
	// Send sends a notice once. It uses the notice's key, Event, Replacement
	// and Attempts, the number of attempts before this one. Source and Target
	// are sent as they are: a receiver may compare them with the page byte by
	// byte.
	Send(ctx context.Context, n ledger.Notice, e Endpoint) Outcome
}

// Endpoint is the URL to which a sender sends the notices for one target.
type Endpoint struct {
	URL string // absolute; "" if the target does not take notices of this protocol
	// Via says for the report where the endpoint was found, such as "Link
	// header" or "<link>". Without URL, it may say why there is no endpoint.
	Via string
	// Form is the form of the protocol that the endpoint takes, for protocols
	// that have several.
	Form string
}

// Outcome is the result of one attempt to send a notice. A failed attempt is an
// outcome, not an error.
type Outcome struct {
	State    ledger.State
	Endpoint string
	// Status is the HTTP status of the last response, 0 if there was none.
	// Fault is the code of an XML-RPC fault.
	Status int
	Fault  *int
	// Message tells the author what the target answered or what went wrong.
	Message string
	// Location is the absolute URL at which the target reports how it processed
	// the notice.
	Location string
	// After is the minimum time to wait before the next attempt; 0 leaves that
	// to the retry schedule.
	After time.Duration
}
