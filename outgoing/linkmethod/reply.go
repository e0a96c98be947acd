package linkmethod

import (
	"fmt"
	"net/http"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/answer"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// The draft's status codes (LK-37) whose numbers mean something else today.
const (
	statusNoLinkMod     = 207 // today Multi-Status
	statusInvalidSource = 416 // today Range Not Satisfiable
	statusInvalidTarget = 417 // today Expectation Failed
)

// judge says what an answer means. The draft's own numbers mean what it says of
// them only in answer to its methods; section 7 and section 11 of it give 416
// and 417 different sides, which makes no difference to what follows (A-LK-1).
func (c Call) judge(form Form, resp *fetch.Response, now time.Time) outgoing.Outcome {
	o := outgoing.Outcome{Status: resp.Status}
	said := answer.Excerpt(resp.Body, resp.Header.Get("Content-Type"))
	if said == "" {
		said = answer.Line(resp.Reason)
	}
	say := func(state ledger.State, message string) {
		o.State, o.Message = state, message
		if said != "" {
			o.Message += fmt.Sprintf(" (%d: %s)", resp.Status, said)
		}
	}
	switch {
	case resp.Status == statusNoLinkMod && form == Raw:
		// The link is recorded; only the subscription is refused (A-LK-6).
		o.State, o.Message = ledger.Done, "recorded; the host sends no LINKMOD calls"
	case resp.Status == http.StatusAccepted:
		say(ledger.Accepted, "taken, to be verified")
		o.Location = location(resp)
	case resp.Status >= 200 && resp.Status < 300:
		o.State = ledger.Done
	case resp.Status == http.StatusNotModified && form == Header:
		o.State, o.Message = ledger.Done, "the host knew"
	case resp.Status == statusInvalidSource && form == Raw && c.Method == Unlink,
		resp.Status == http.StatusUnprocessableEntity && form == Header && c.Method == Unlink:
		o.State, o.Message = ledger.Done, "the host knows no such link"
	case resp.Status == statusInvalidTarget && form == Raw && c.Method == Unlink:
		// Perhaps an earlier UNLINKR was lost: nothing is left to remove (LK-31).
		o.State, o.Message = ledger.Done, "the host has no such page, so nothing is left to remove"
	case (resp.Status == statusInvalidSource || resp.Status == statusInvalidTarget) && form == Raw && c.Method != Link:
		// LK-33: the other side does not link here any more, or never did.
		o.State, o.Message = ledger.Done, "the host knows no such link"
	case resp.Status == statusInvalidTarget && form == Raw:
		say(ledger.Permanent, "the host has no such page")
	case resp.Status == statusInvalidSource && form == Raw:
		say(ledger.Permanent, "the host does not take the address of the source")
	case silent(form, resp.Status):
		// What it says of a request that it did not understand helps nobody.
		o.State = ledger.NoService
		o.Message = fmt.Sprintf("the host does not speak %s: it answers %s", c.Method, answer.StatusText(resp.Status))
	case resp.Status >= 300 && resp.Status < 400:
		say(ledger.Permanent, fmt.Sprintf("the host sends the call on to %q", answer.Line(resp.Header.Get("Location"))))
	default:
		o.State, o.After = answer.Class(resp.Status, resp.Header, now)
		say(o.State, "the host refuses the call")
	}
	return o
}

// silent tells whether a status says that the host does not speak the method
// at all (LK-57). 404 means that of two addresses on the request line; of one it
// may only mean the page.
func silent(form Form, status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	case http.StatusNotFound:
		return form == Raw
	}
	return false
}

// location is where the host tells how it went on, "" if it says nothing that
// can be asked.
func location(resp *fetch.Response) string {
	base, err := weburl.Parse(resp.URL)
	if err != nil || resp.Header.Get("Location") == "" {
		return ""
	}
	u, err := base.Resolve(resp.Header.Get("Location"))
	if err != nil || u.Scheme() != "http" && u.Scheme() != "https" {
		return ""
	}
	return u.String()
}
