package pingback

import (
	"fmt"
	"html"
	"time"

	"github.com/sitelink/sitelink/outgoing/answer"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// The codes of section 3, and those that servers use besides.
const (
	faultGeneric     = 0
	faultNoSource    = 0x10
	faultNoLink      = 0x11
	faultNoTarget    = 0x20
	faultNotTarget   = 0x21
	faultRegistered  = 0x30
	faultDenied      = 0x31
	faultUpstream    = 0x32
	faultDuplicate   = 409 // WordPress: a comment of the same text
	faultFlood       = 429 // WordPress: some comment came less than 15 s ago
	faultMalformed   = -32700
	faultInvalid     = -32600
	faultNoMethod    = -32601
	faultParameters  = -32602
	faultInternal    = -32603
	faultApplication = -32500
	faultSystem      = -32400
	faultTransport   = -32300
)

// flood is how long WordPress takes no second notice after one: 15 s, for the
// whole blog and whoever sent it. A second more, for its clock counts whole
// seconds.
const flood = 16 * time.Second

// soon is the wait before the one repeat of a fault that a page may have drawn
// because it was not live everywhere yet.
const soon = 10 * time.Minute

// kind says what a code is about, as its bits 5 to 8 tell (PB-41): "source",
// "target", "server" for neither, and "" for a code that is not of the
// specification.
func kind(code int) string {
	if code >= 0x10 && code <= 0x3F {
		return [...]string{"", "source", "target", "server"}[code>>4]
	}
	return ""
}

// class is what a fault means for the notice.
type class struct {
	state ledger.State
	after time.Duration
	// explain: the server may have failed because of the page, and keeps the
	// reason to itself or words it badly.
	explain bool
	means   string
}

// classify tells what to do about a fault. attempts counts those before.
func classify(f *fault, attempts int) class {
	again, wait := ledger.Retry, soon
	if attempts > 0 {
		again, wait = ledger.Permanent, 0
	}
	if !f.known {
		return class{again, wait, true, "the server failed with a code that cannot be read"}
	}
	switch f.code {
	case faultGeneric:
		if f.text != "" {
			return class{again, wait, true, "the server refused"}
		}
		return class{again, wait, true, "the server refused and gives no reason, as WordPress does"}
	case faultNoSource:
		return class{again, wait, true, "the server could not read the page"}
	case faultNoLink:
		return class{ledger.Permanent, 0, true, "the server finds no link to the target on the page"}
	case faultNoTarget:
		// WordPress says so of a page without a title.
		return class{ledger.Permanent, 0, true, "the server finds no such target, or no title on the page"}
	case faultNotTarget:
		return class{ledger.Permanent, 0, false, "the target takes no pingbacks"}
	case faultRegistered:
		return class{ledger.Done, 0, false, "the server has it already"}
	case faultDenied:
		return class{ledger.Permanent, 0, false, "the server denies access"}
	case faultUpstream:
		return class{ledger.Retry, 0, false, "the server could not reach another one"}
	case faultDuplicate:
		return class{ledger.Permanent, 0, false, "the server has a comment of the same text"}
	case faultFlood:
		return class{ledger.Retry, flood, false, "the server takes one pingback every 15 seconds, from anybody"}
	case faultMalformed, faultInvalid, faultParameters, -32701, -32702:
		return class{ledger.Permanent, 0, false, "the server cannot read the call; on WordPress, its PHP may lack the XML extension"}
	case faultNoMethod:
		return class{ledger.Permanent, 0, false, "the server has pingbacks turned off"}
	case faultInternal, faultApplication, faultSystem, faultTransport:
		return class{ledger.Retry, 0, false, "the server failed within itself"}
	case 500, 502, 503, 504:
		// WordPress answers statuses of HTTP as codes.
		return class{ledger.Retry, 0, false, "the server failed within itself"}
	}
	switch kind(f.code) {
	case "source":
		return class{ledger.Permanent, 0, true, "the server objects to the page"}
	case "target":
		return class{ledger.Permanent, 0, false, "the server objects to the target"}
	}
	return class{ledger.Permanent, 0, false, "the server refused"}
}

// message is the sentence about a fault.
func (c class) message(f *fault) string {
	code := "?"
	if f.known {
		code = fmt.Sprint(f.code)
	}
	if f.text != "" {
		return fmt.Sprintf("%s (fault %s: %s)", c.means, code, answer.Line(html.UnescapeString(f.text)))
	}
	return fmt.Sprintf("%s (fault %s)", c.means, code)
}
