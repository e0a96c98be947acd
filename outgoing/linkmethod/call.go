package linkmethod

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Method is one of the draft's four methods, exact upper-case words (LK-25).
type Method string

// The methods. The first two go from the page that links to the host of the one
// that it links to, the others back (LK-12, LK-21).
const (
	Link    Method = "LINK"    // the source links to the target now
	Unlink  Method = "UNLINK"  // the source does so no longer
	UnlinkR Method = "UNLINKR" // the target is not valid any more
	LinkMod Method = "LINKMOD" // the target was modified
)

// Form is how a call is written.
type Form string

// The forms.
const (
	// Raw has both addresses on the request line, as the draft of 1996 has it:
	// HTTP/1.1 only, and past few proxies.
	Raw Form = "raw"
	// Header has the target on the request line and the source in a Link field,
	// as RFC 2068 (19.6.1.2) and draft-snell-link-method have it. It knows LINK
	// and UNLINK only, and no replacement.
	Header Form = "header"
)

// Relation is the relation type of the Link field: none is registered for a
// page that links here (A-LK-13).
const Relation = "https://github.com/sitelink/sitelink#linked-from"

// Call is one call. Source is the page that holds the link, Target the page
// that it leads to, whoever calls (LK-2); both are named in every call, so that
// nobody has to search for the other one (LK-7).
type Call struct {
	Method         Method
	Source, Target string
	// Replacement is the new address of the page that moved: of the source
	// with UNLINK (LK-17), of the target with UNLINKR (LK-19).
	Replacement string
	// Subscribe asks the target, with LINK, for LINKMOD calls (LK-15).
	Subscribe bool
}

// Receiver returns the address whose host is called (LK-12): the target's for
// LINK and UNLINK, the source's for UNLINKR and LINKMOD.
func (c Call) Receiver() string {
	if c.Method == UnlinkR || c.Method == LinkMod {
		return c.Source
	}
	return c.Target
}

// request returns the call as a request to the host at the address to.
func (c Call) request(form Form, to string) (fetch.Request, error) {
	source, err := onTheWire(c.Source)
	if err != nil {
		return fetch.Request{}, fmt.Errorf("source: %w", err)
	}
	target, err := onTheWire(c.Target)
	if err != nil {
		return fetch.Request{}, fmt.Errorf("target: %w", err)
	}
	switch {
	case c.Replacement != "" && c.Method != Unlink && c.Method != UnlinkR, c.Subscribe && c.Method != Link:
		return fetch.Request{}, fmt.Errorf("%s takes two addresses and nothing else", c.Method)
	case form == Header && c.Method != Link && c.Method != Unlink:
		return fetch.Request{}, fmt.Errorf("%s has no form with a Link field", c.Method)
	case form == Header:
		return fetch.Request{
			Method: string(c.Method),
			URL:    to,
			Header: http.Header{"Link": {"<" + source + `>; rel="` + Relation + `"`}},
		}, nil
	}
	line := source + " " + target
	if c.Subscribe {
		line += " " + string(LinkMod)
	}
	if c.Replacement != "" {
		replacement, err := onTheWire(c.Replacement)
		if err != nil {
			return fetch.Request{}, fmt.Errorf("replacement: %w", err)
		}
		line += " " + replacement
	}
	return fetch.Request{Method: string(c.Method), URL: to, RequestTarget: line}, nil
}

// onTheWire returns an absolute http or https URL (LK-1) as it is written, but
// for the fragment, which RFC 1738 knows not in URLs (LK-22, A-LK-9). One that
// holds characters which would end it too early is written as browsers do it.
func onTheWire(raw string) (string, error) {
	u, err := weburl.Parse(raw)
	switch {
	case err != nil:
		return "", err
	case u.Scheme() != "http" && u.Scheme() != "https":
		return "", errors.New("only http and https addresses can be told")
	case u.HasCredentials():
		return "", errors.New("the address holds a user name or a password")
	}
	written, _, _ := strings.Cut(raw, "#")
	if strings.ContainsFunc(written, func(r rune) bool { return r <= ' ' || r >= 0x7F || strings.ContainsRune("<>\"\\", r) }) {
		return u.WithoutFragment(), nil
	}
	return written, nil
}
