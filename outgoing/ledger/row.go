// Package ledger keeps what was told to whom, and what they answered: the
// links of each page as of the last deploy, and a notice for each target that
// has to be told of a change. Rows enter from [outgoing.Diff] and from the
// delivery of notices; a sorted text file, a git ref or a database holds them.
package ledger

import "time"

// Event says what happened to a link since the last deploy.
type Event string

// The events. A target is told the newest one only.
const (
	Added   Event = "added"   // a new link
	Updated Event = "updated" // the link stayed, its page changed
	Removed Event = "removed" // the page stayed, the link went
	Deleted Event = "deleted" // the page went
	Moved   Event = "moved"   // the page went to Replacement
)

// Protocol is a way of telling a target.
type Protocol string

// The protocols. AnyProtocol is the notice of a target whose protocol is found
// out when it is delivered.
const (
	AnyProtocol Protocol = ""
	Webmention  Protocol = "webmention"
	Pingback    Protocol = "pingback"
	LinkMethod  Protocol = "link" // LINK and UNLINK
	WebSub      Protocol = "websub"
)

// State is how far a notice has come.
type State string

// The states. Pending, InFlight and Retry are open, the others final until the
// next event of the same link.
const (
	Pending   State = "pending"     // never tried
	InFlight  State = "in-flight"   // begun, no outcome known
	Retry     State = "retry"       // failed, may succeed at Next
	Done      State = "done"        // the target has it, or had it already
	Accepted  State = "accepted"    // taken for later; Location may tell how it went
	Permanent State = "permanent"   // failed for good
	NoService State = "unsupported" // the target takes no notices
	Skipped   State = "skipped"     // not to be told: recorded without sending
)

// Page is what was known of a page at the last deploy.
type Page struct {
	// URL is the page's absolute address, as it was sent to targets.
	URL string `json:"page"`
	// Hash is that of the entry's content; while it is equal, nobody is told
	// anything.
	Hash string `json:"hash,omitempty"`
	// Gone: the page was deleted, or moved to Replacement.
	Gone        bool   `json:"gone,omitempty"`
	Replacement string `json:"replacement,omitempty"`
}

// Key names a notice. URLs stand as they were written and sent; they are
// compared by their canonical form ([weburl.Canonical]).
type Key struct {
	Source   string   `json:"source"`
	Target   string   `json:"target"`
	Protocol Protocol `json:"protocol,omitempty"`
}

// Notice is what one target is told of one page, and how it went.
type Notice struct {
	Key
	Event       Event  `json:"event"`
	Replacement string `json:"replacement,omitempty"` // of a Moved page
	// Hash is that of the page's entry when the notice was made.
	Hash  string `json:"hash,omitempty"`
	State State  `json:"state"`

	Endpoint string `json:"endpoint,omitempty"`
	Status   int    `json:"status,omitempty"` // of HTTP
	Fault    *int   `json:"fault,omitempty"`  // of XML-RPC
	Message  string `json:"message,omitempty"`
	Location string `json:"location,omitempty"` // where the target tells how it went
	Attempts int    `json:"attempts,omitempty"`

	// Times are UTC in whole seconds; zero is left out.
	Tried time.Time `json:"tried,omitzero"`
	Next  time.Time `json:"next,omitzero"`

	// Runner has claimed the notice until Lease, in stores that several
	// runners share. Others leave both empty.
	Runner string    `json:"runner,omitempty"`
	Lease  time.Time `json:"lease,omitzero"`
}

// Open tells whether the notice has still to be delivered.
func (n *Notice) Open() bool {
	return n.State == Pending || n.State == InFlight || n.State == Retry
}

// Link is a link that a page held at the last deploy.
type Link struct {
	Source string `json:"source"`
	Target string `json:"target"`
}

// Change is what one deploy changes in a ledger, all of it or nothing: pages
// and links replace those of the same address, Dropped links go, notices
// replace those of the same key.
type Change struct {
	Pages   []Page
	Links   []Link
	Dropped []Link
	Notices []Notice
}

// Peer remembers of a host that it does not speak a protocol, until a time.
type Peer struct {
	Origin   string    `json:"origin"` // scheme, host, port
	Protocol Protocol  `json:"protocol"`
	Until    time.Time `json:"until"`
}
