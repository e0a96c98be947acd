package send

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// LinkMethod is one of the four methods of the draft. Methods are case-sensitive
// (LK-25).
type LinkMethod string

// The methods. LINK and UNLINK go to the host of the target, the other two to
// the host of the source (LK-12, LK-21).
const (
	Link    LinkMethod = "LINK"    // the source now links to the target
	Unlink  LinkMethod = "UNLINK"  // the source no longer links to the target
	UnlinkR LinkMethod = "UNLINKR" // the target no longer exists
	LinkMod LinkMethod = "LINKMOD" // the target was modified
)

// LinkForm is the way a call is written.
type LinkForm string

// The forms.
const (
	// Raw has both URLs on the request line, as in the draft of 1996. It works
	// with HTTP/1.1 only, and few proxies pass it on.
	Raw LinkForm = "raw"
	// Header has the page of the called host on the request line and the other one
	// in a Link field, as in RFC 2068 (19.6.1.2) and draft-snell-link-method. These
	// have LINK and UNLINK only; package incoming/server takes the other methods in
	// this form too. It has no replacement.
	Header LinkForm = "header"
)

// LinkRelation is the relation type of the Link field. No registered type means "a
// page that links here" (A-LK-13).
const LinkRelation = "https://github.com/sitelink/sitelink#linked-from"

// LinkCall is one call. Source is the page with the link and Target the page it
// links to, in calls of both sides (LK-2). Every call names both, so that the
// receiver does not have to search for the other one (LK-7).
type LinkCall struct {
	Method LinkMethod `json:"method"`
	Source string     `json:"source"`
	Target string     `json:"target"`
	// Replacement is the new URL of a page that moved: the source with UNLINK
	// (LK-17), the target with UNLINKR (LK-19).
	Replacement string `json:"replacement,omitempty"`
	// Subscribe asks the target, with LINK, to send LINKMOD calls (LK-15).
	Subscribe bool `json:"subscribe,omitempty"`
}

// Receiver returns the URL of the host that gets the call (LK-12): the target
// for LINK and UNLINK, the source for UNLINKR and LINKMOD.
func (c LinkCall) Receiver() string {
	if c.Method == UnlinkR || c.Method == LinkMod {
		return c.Source
	}
	return c.Target
}

// request returns the call as a request to the host of the URL to.
func (c LinkCall) request(form LinkForm, to string) (outgoing.Request, error) {
	source, err := wireURL(c.Source)
	if err != nil {
		return outgoing.Request{}, fmt.Errorf("source: %w", err)
	}
	target, err := wireURL(c.Target)
	if err != nil {
		return outgoing.Request{}, fmt.Errorf("target: %w", err)
	}
	switch {
	case c.Replacement != "" && c.Method != Unlink && c.Method != UnlinkR, c.Subscribe && c.Method != Link:
		return outgoing.Request{}, fmt.Errorf("%s takes a source and a target only", c.Method)
	case form == Header:
		link := "<" + source + `>; rel="` + LinkRelation + `"`
		if c.Method == UnlinkR || c.Method == LinkMod {
			link = "<" + target + `>; rel="related"`
		}
		return outgoing.Request{Method: string(c.Method), URL: to, Header: http.Header{"Link": {link}}}, nil
	}
	line := source + " " + target
	if c.Subscribe {
		line += " " + string(LinkMod)
	}
	if c.Replacement != "" {
		replacement, err := wireURL(c.Replacement)
		if err != nil {
			return outgoing.Request{}, fmt.Errorf("replacement: %w", err)
		}
		line += " " + replacement
	}
	return outgoing.Request{Method: string(c.Method), URL: to, RequestTarget: line}, nil
}

// wireURL returns an absolute http or https URL (LK-1) as it is written, but
// without its fragment, which is not part of a URL in RFC 1738 (LK-22, A-LK-9).
// A URL with characters that would end it early on the request line is
// serialised as browsers do.
func wireURL(raw string) (string, error) {
	u, err := weburl.Parse(raw)
	switch {
	case err != nil:
		return "", err
	case u.Scheme() != "http" && u.Scheme() != "https":
		return "", errors.New("only http and https URLs can be sent")
	case u.HasCredentials():
		return "", errors.New("the URL contains a user name or password")
	}
	written, _, _ := strings.Cut(raw, "#")
	if strings.ContainsFunc(written, func(r rune) bool { return r <= ' ' || r >= 0x7F || strings.ContainsRune("<>\"\\", r) }) {
		return u.WithoutFragment(), nil
	}
	return written, nil
}

// The draft's status codes (LK-37) that mean something else today.
const (
	statusNoLinkMod     = 207 // today Multi-Status
	statusInvalidSource = 416 // today Range Not Satisfiable
	statusInvalidTarget = 417 // today Expectation Failed
)

// outcome returns what a response means for the call. The draft's own status
// codes have their special meaning only for calls in the raw form. Sections 7
// and 11 of the draft disagree about which of 416 and 417 is which; the outcome
// is the same (A-LK-1).
func (c LinkCall) outcome(form LinkForm, resp *outgoing.Response, now time.Time) outgoing.Outcome {
	said := resp.Excerpt()
	if said == "" {
		said = outgoing.OneLine(resp.Reason)
	}
	result := func(state ledger.State, message string) outgoing.Outcome {
		return outgoing.Outcome{State: state, Status: resp.Status, Message: message}
	}
	withReply := func(state ledger.State, message string) outgoing.Outcome {
		if said != "" {
			message += fmt.Sprintf(" (%d: %s)", resp.Status, said)
		}
		return result(state, message)
	}
	invalid := form == Raw && (resp.Status == statusInvalidSource || resp.Status == statusInvalidTarget)
	switch {
	case resp.Status == statusNoLinkMod && form == Raw:
		// The link is recorded; only the subscription is refused (A-LK-6).
		return result(ledger.Done, "recorded; the host does not send LINKMOD calls")
	case resp.Status == http.StatusAccepted:
		o := withReply(ledger.Accepted, "the host will verify the link")
		o.Location = resp.Location()
		return o
	case resp.Success():
		return result(ledger.Done, "")
	case resp.Status == http.StatusNotModified && form == Header:
		return result(ledger.Done, "the host already has the link")
	case invalid && c.Method == Unlink && resp.Status == statusInvalidTarget:
		// An earlier UNLINKR may have been lost (LK-31).
		return result(ledger.Done, "the host has no such page, so there is nothing to remove")
	case invalid && c.Method != Link, resp.Status == http.StatusUnprocessableEntity && form == Header && c.Method != Link:
		// LK-33: the other side no longer has the link, or never had it.
		return result(ledger.Done, "the host does not have this link")
	case invalid && resp.Status == statusInvalidTarget:
		return withReply(ledger.Permanent, "the host has no such page")
	case invalid:
		return withReply(ledger.Permanent, "the host rejected the source URL")
	case unsupported(form, resp.Status):
		// What the host says about a request it did not understand is not useful.
		return result(ledger.NoService, fmt.Sprintf("the host does not support %s: it answered %s", c.Method, outgoing.StatusText(resp.Status)))
	case resp.Status >= 300 && resp.Status < 400:
		return withReply(ledger.Permanent, fmt.Sprintf("the host redirected the call to %q", outgoing.OneLine(resp.Header.Get("Location"))))
	}
	o := resp.Refused("", "", now)
	o.Message = withReply(o.State, "the host refused the call").Message
	return o
}

// unsupported reports whether a status means that the host does not support the
// method at all (LK-57). In the raw form that includes 404; in the header form
// 404 may be about the page.
func unsupported(form LinkForm, status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	case http.StatusNotFound:
		return form == Raw
	}
	return false
}
