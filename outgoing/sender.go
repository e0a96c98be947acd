package outgoing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Sender sends notices with one protocol. Implementations are safe for concurrent
// use and keep no state between notices.
//
// If the protocol can announce a link but not that its page changed, the sender
// also has a method Once() bool that returns true. An update is then only sent to
// targets that have not accepted the link yet.
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

// Endpoint is the URL that receives the notices for one target.
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
	// Status is the HTTP status of the last response, 0 without a response.
	// Fault is the code of an XML-RPC fault.
	Status int
	Fault  *int
	// Message tells the author what the target answered or what went wrong.
	Message string
	// Problems and Cure are set if the page is the reason, see [ledger.Notice]; Cure also if
	// the address is not allowed.
	Problems, Cure string
	// Location is the absolute URL at which the target reports how it processed
	// the notice.
	Location string
	// NotSent is set if the request failed before the target could receive it.
	NotSent bool
	// After is the minimum time to wait before the next attempt; 0 leaves that
	// to the retry schedule.
	After time.Duration
}

// RequestFailed returns the outcome of a request that got no response, from the
// error of [Client.Do], [Target.Page] or [Sender.Discover]. A new attempt may
// succeed unless the error shows that it cannot. An address that is not on the
// public internet makes the notice skipped rather than failed, because nothing
// was sent to it (PB-61).
func RequestFailed(err error) Outcome {
	o := Outcome{State: ledger.Retry, Message: OneLine(err.Error())}
	var failed *fetch.Error
	if errors.As(err, &failed) {
		o.NotSent = !failed.Sent
		switch {
		case failed.Kind == fetch.RefusedAddress:
			o.State, o.Cure = ledger.Skipped, "if you trust that host, name its network with --allow-address"
		case !failed.Kind.Retry():
			o.State = ledger.Permanent
		}
	}
	var unavailable *UnavailableError
	if errors.As(err, &unavailable) {
		o.Status, o.After = unavailable.Status, unavailable.After
	}
	return o
}

// Refused returns the outcome of a response that has no success status. The
// message contains who, the party that answered, such as "the hub", and said,
// its words, which may be "". The outcome is temporary for time-outs, too many
// requests and failures of the server, except lasting ones (501, 505). now is
// when the response arrived: its Retry-After field may be a date.
func (r *Response) Refused(who, said string, now time.Time) Outcome {
	o := Outcome{State: ledger.Permanent, Status: r.Status, Message: who + " answered " + StatusText(r.Status)}
	if r.temporary() {
		o.State, o.After = ledger.Retry, r.retryAfter(now)
	}
	if said != "" {
		o.Message += ": " + said
	}
	return o
}

// temporary reports whether a request with this response may succeed later.
func (r *Response) temporary() bool {
	switch r.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return r.Status >= 500
}

// missing reports whether there is no page that could get notices.
func (r *Response) missing() bool {
	return r.Status == http.StatusNotFound || r.Status == http.StatusGone
}

func (r *Response) retryAfter(now time.Time) time.Duration {
	after, _ := fetch.RetryAfter(r.Header, now)
	return after
}

// Unavailable returns an [UnavailableError] if the response shows a temporary
// failure, and nil otherwise.
func (r *Response) Unavailable(now time.Time) error {
	if !r.temporary() {
		return nil
	}
	return &UnavailableError{URL: r.URL, Status: r.Status, After: r.retryAfter(now)}
}

// UnavailableError means that the endpoint of a target cannot be discovered
// because the target fails temporarily.
type UnavailableError struct {
	URL    string
	Status int
	// After is how long the server asks clients to wait, 0 if it does not say.
	After time.Duration
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("target %s answered %s", e.URL, StatusText(e.Status))
}

// StatusText returns an HTTP status with its name: "404 Not Found".
func StatusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("%d %s", status, text)
	}
	return fmt.Sprint(status)
}

// maxLineRunes limits how much of a text from another server is shown.
const maxLineRunes = 200

// OneLine makes a text from another server fit for a message: one line of at
// most 200 characters. Control characters and white space become one space,
// invalid UTF-8 becomes U+FFFD, and a long text is cut.
func OneLine(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
	n := 0
	for i := range text {
		if n++; n > maxLineRunes {
			return text[:i] + "..."
		}
	}
	return text
}
