// Package answer says what an HTTP answer, or none, means for a notice: whether
// it arrived, may arrive later, or never will. It is shared by the senders whose
// protocols leave that to HTTP.
package answer

import (
	"fmt"
	"net/http"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Class tells what a status that is no success means for a notice, and how long
// the server asks to wait, 0 if it does not say. now is when the answer came; a
// Retry-After may be a date.
func Class(status int, header http.Header, now time.Time) (ledger.State, time.Duration) {
	if !Temporary(status) {
		return ledger.Permanent, 0
	}
	after, _ := fetch.RetryAfter(header, now)
	return ledger.Retry, after
}

// Temporary tells whether a request that got this status may succeed later:
// time-outs, too many requests, and all that a server blames on itself but what
// it will never do (501, 505).
func Temporary(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return status >= 500
}

// Gone tells whether a page with this status is not there to get notices.
func Gone(status int) bool {
	return status == http.StatusNotFound || status == http.StatusGone
}

// StatusError is a target that cannot be asked for its endpoint for now.
type StatusError struct {
	URL    string
	Status int
	// After is how long the target's server asks to wait, 0 if it does not say.
	After time.Duration
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("target %s answers %s", e.URL, StatusText(e.Status))
}

// Wait returns the status and how long the target asks to wait: what the
// delivery needs to know.
func (e *StatusError) Wait() (status int, after time.Duration) { return e.Status, e.After }

// Target looks at the status of a target. gone says why there is no endpoint to
// be looked for, since the page is not there; an error is of type [*StatusError]
// and says that the page fails for now. Any other page may hold an endpoint,
// also one that is for members only.
func Target(page *outgoing.TargetPage, now time.Time) (gone string, err error) {
	switch {
	case Gone(page.Status):
		return "the target answers " + StatusText(page.Status), nil
	case Temporary(page.Status):
		after, _ := fetch.RetryAfter(page.Header, now)
		return "", &StatusError{URL: page.URL, Status: page.Status, After: after}
	}
	return "", nil
}

// StatusText is a status as people say it: "404 Not Found".
func StatusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("%d %s", status, text)
	}
	return fmt.Sprint(status)
}
