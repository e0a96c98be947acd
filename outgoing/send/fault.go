package send

import (
	"fmt"
	"html"
	"time"

	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// The fault codes of section 3, and others that servers use.
const (
	faultGeneric     = 0
	faultException   = 1 // any exception in Python's xmlrpc.server, an unknown method in PHP's libraries
	faultNoSource    = 0x10
	faultNoLink      = 0x11
	faultNoTarget    = 0x20
	faultNotTarget   = 0x21
	faultRegistered  = 0x30
	faultDenied      = 0x31
	faultUpstream    = 0x32
	faultDuplicate   = 409 // WordPress: a comment with the same text exists
	faultFlood       = 429 // WordPress: another comment came less than 15 s ago
	faultMalformed   = -32700
	faultInvalid     = -32600
	faultNoMethod    = -32601
	faultParameters  = -32602
	faultInternal    = -32603
	faultApplication = -32500
	faultSystem      = -32400
	faultTransport   = -32300
)

// floodInterval is the minimum time between two notices to one blog. WordPress
// rejects a notice within 15 s of another one, from any sender; its clock counts
// whole seconds, so one second is added.
const floodInterval = 16 * time.Second

// recheckAfter is the wait before the one repeat after a fault that can mean that
// the page was not live everywhere yet.
const recheckAfter = 10 * time.Minute

// subject returns what a code is about, which its bits 5 to 8 encode (PB-41):
// "source", "target", "server" for neither, and "" for a code that the
// specification does not define.
func subject(code int) string {
	if code >= 0x10 && code <= 0x3F {
		return [...]string{"", "source", "target", "server"}[code>>4]
	}
	return ""
}

// class is the meaning of a fault for the notice.
type class struct {
	state ledger.State
	after time.Duration
	// explain is set if the server may have refused because of the page and
	// does not give the reason, or gives a misleading one.
	explain bool
	means   string
}

// unknownMethod matches the texts of servers that do not have the method: Python's
// is 'method "pingback.ping" is not supported', that of PHP's libraries 'Unknown
// method'.
var unknownMethod = text.Regexp(`(?i)\bmethod\b.*\b(?:not (?:supported|found|exist)|unknown)|\b(?:unknown|no such) method`)

// classify returns the meaning of a fault. attempts is the number of attempts
// before this one.
func classify(f *fault, attempts int) class {
	again, wait := ledger.Retry, recheckAfter
	if attempts > 0 {
		again, wait = ledger.Permanent, 0
	}
	if !f.known {
		return class{again, wait, true, "the server returned a fault without a readable code"}
	}
	switch f.code {
	case faultGeneric:
		if f.text != "" {
			return class{again, wait, true, "the server refused"}
		}
		return class{again, wait, true, "the server refused without a reason, as WordPress does"}
	case faultException:
		if unknownMethod().MatchString(f.text) {
			return class{ledger.Permanent, 0, false, "the server does not know the method pingback.ping"}
		}
		return class{again, wait, false, "the server's program ended with an error"}
	case faultNoSource:
		return class{again, wait, true, "the server could not fetch the source page"}
	case faultNoLink:
		return class{ledger.Permanent, 0, true, "the server found no link to the target on the source page"}
	case faultNoTarget:
		// WordPress uses this code for a source without a title.
		return class{ledger.Permanent, 0, true, "the server found no such target, or no title on the source page"}
	case faultNotTarget:
		return class{ledger.Permanent, 0, false, "the target does not accept pingbacks"}
	case faultRegistered:
		return class{ledger.Done, 0, false, "the server already has this pingback"}
	case faultDenied:
		return class{ledger.Permanent, 0, false, "the server denied access"}
	case faultUpstream:
		return class{ledger.Retry, 0, false, "the server could not reach another server"}
	case faultDuplicate:
		return class{ledger.Permanent, 0, false, "the server already has a comment with the same text"}
	case faultFlood:
		return class{ledger.Retry, floodInterval, false, "the server accepts one pingback every 15 seconds from all senders together"}
	case faultMalformed, faultInvalid, faultParameters, -32701, -32702:
		return class{ledger.Permanent, 0, false, "the server could not parse the call; if it is WordPress, its PHP may lack the XML extension"}
	case faultNoMethod:
		return class{ledger.Permanent, 0, false, "the server has pingbacks switched off"}
	case faultInternal, faultApplication, faultSystem, faultTransport:
		return class{ledger.Retry, 0, false, "the server had an internal error"}
	case 500, 502, 503, 504:
		// WordPress also uses HTTP statuses as codes.
		return class{ledger.Retry, 0, false, "the server had an internal error"}
	}
	switch subject(f.code) {
	case "source":
		return class{ledger.Permanent, 0, true, "the server rejected the source page"}
	case "target":
		return class{ledger.Permanent, 0, false, "the server rejected the target"}
	}
	return class{ledger.Permanent, 0, false, "the server refused"}
}

// message returns what the author is shown about a fault.
func (c class) message(f *fault) string {
	code := "?"
	if f.known {
		code = fmt.Sprint(f.code)
	}
	if f.text != "" {
		return fmt.Sprintf("%s (fault %s: %s)", c.means, code, outgoing.OneLine(html.UnescapeString(f.text)))
	}
	return fmt.Sprintf("%s (fault %s)", c.means, code)
}
