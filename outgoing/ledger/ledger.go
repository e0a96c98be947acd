package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/weburl"
)

// Event is what happened to a link since the last deploy.
type Event string

// The events. Only the most recent event is sent to a target.
const (
	Added   Event = "added"   // the link is new
	Updated Event = "updated" // the link is unchanged, but its page changed
	Removed Event = "removed" // the link was removed from its page
	Deleted Event = "deleted" // the page was deleted
	Moved   Event = "moved"   // the page moved to Replacement
)

// Protocol is the protocol of a notice.
type Protocol string

// The protocols. A notice has AnyProtocol until its first delivery finds out what
// the target supports.
const (
	AnyProtocol Protocol = ""
	Webmention  Protocol = "webmention"
	Pingback    Protocol = "pingback"
	LinkMethod  Protocol = "link" // LINK and UNLINK
	WebSub      Protocol = "websub"
)

// State is the state of a notice.
type State string

// The states. Pending, InFlight and Retry are open. The others are final until
// the next event of the same link.
const (
	Pending   State = "pending"     // not tried yet
	InFlight  State = "in-flight"   // begun, and the outcome is not known
	Retry     State = "retry"       // failed, to be tried again at Next
	Done      State = "done"        // the target has the link
	Accepted  State = "accepted"    // the target will process it later; Location may show the result
	Permanent State = "permanent"   // failed, and will not be tried again
	NoService State = "unsupported" // the target does not accept notices
	Skipped   State = "skipped"     // recorded without sending
)

// Page is a page as of the last deploy.
type Page struct {
	// URL is the absolute URL, as it is sent to targets.
	URL string `json:"page"`
	// Hash is the hash of the content, of a page that is gone the last one. As long as
	// it is the same, no updates are sent.
	Hash string `json:"hash,omitempty"`
	// Gone is set if the page was deleted or moved to Replacement.
	Gone        bool   `json:"gone,omitempty"`
	Replacement string `json:"replacement,omitempty"`
}

// Link is a link that a page had at the last deploy.
type Link struct {
	Source string `json:"source"`
	Target string `json:"target"`
}

// Key identifies a notice. URLs are stored as they were written and sent. They
// are compared in their canonical form.
type Key struct {
	Source   string   `json:"source"`
	Target   string   `json:"target"`
	Protocol Protocol `json:"protocol,omitempty"`
}

// Notice tells a target about a link to it. It has what is sent and the outcome
// so far.
type Notice struct {
	Key
	Event Event `json:"event"`
	// Replacement is where the page is now, if it moved from Source, under which the
	// target knows it.
	Replacement string `json:"replacement,omitempty"`
	// Hash is the hash of the page's content when the notice was planned.
	Hash  string `json:"hash,omitempty"`
	State State  `json:"state"`

	Endpoint string `json:"endpoint,omitempty"`
	Status   int    `json:"status,omitempty"` // of HTTP
	Fault    *int   `json:"fault,omitempty"`  // of XML-RPC
	Message  string `json:"message,omitempty"`
	// Problems are the codes of problems (package send), separated by spaces, of what is
	// wrong with the page if that is why the notice failed, and Cure how its author
	// can fix it.
	Problems string `json:"problems,omitempty"`
	Cure     string `json:"cure,omitempty"`
	Location string `json:"location,omitempty"` // where the target reports the result
	Attempts int    `json:"attempts,omitempty"`

	// Tried is when the last attempt was, and Next when the next one is due.
	// Times are UTC in whole seconds.
	Tried time.Time `json:"tried,omitzero"`
	Next  time.Time `json:"next,omitzero"`

	// Runner has claimed the notice until Lease, in stores that several runners
	// share. Others leave both empty.
	Runner string    `json:"runner,omitempty"`
	Lease  time.Time `json:"lease,omitzero"`
}

// Open reports whether the notice has still to be delivered.
func (n *Notice) Open() bool {
	return n.State == Pending || n.State == InFlight || n.State == Retry
}

// MayHaveArrived reports whether the target of an open notice may know what it
// says: a run was stopped while it sent the notice, or an answer was lost. A
// notice that was not tried, that did not reach the target's endpoint, or that the
// target refused for now, has not arrived.
func (n *Notice) MayHaveArrived() bool {
	switch n.State {
	case InFlight:
		return true
	case Pending, Retry:
		return n.Endpoint != "" && n.Fault == nil && n.Status < 300
	}
	return false
}

// Again returns a failed notice to send again. In a [Change], it has no effect if
// the notice of the ledger has not failed, because another runner was faster.
func (n Notice) Again() Notice {
	n.State, n.Attempts, n.Next, n.Runner, n.Lease = Retry, 0, time.Time{}, "", time.Time{}
	return n
}

// UnsupportedHost is a host that is known not to support a protocol. It is not
// asked again before Until.
type UnsupportedHost struct {
	Origin   string    `json:"origin"` // scheme, host and port
	Protocol Protocol  `json:"protocol"`
	Until    time.Time `json:"until,omitzero"`
}

// Change is the change that one deploy makes to a ledger. It is applied as a
// whole. Pages and links replace those with the same URLs, dropped links are
// removed, and notices replace those with the same key.
type Change struct {
	Pages   []Page
	Links   []Link
	Dropped []Link
	Notices []Notice
	// Baseline makes the base of the plan that of the ledger. Without it, a plan for
	// another site is an [*OtherSiteError], and the ledger stays as it is.
	Baseline bool
}

// OtherSiteError is the error of a plan for another site than that of the ledger.
type OtherSiteError struct {
	Ledger, Site string // base URLs
}

func (e *OtherSiteError) Error() string {
	return fmt.Sprintf("the ledger belongs to %s, the site is %s", e.Ledger, e.Site)
}

// Accept returns an [*OtherSiteError] if the change must not be applied to the ledger of
// the site with the base URL of, "" for a new ledger. base is that of the plan.
func (c *Change) Accept(of, base string) error {
	if c.Baseline || of == "" || SameSite(of, base) {
		return nil
	}
	return &OtherSiteError{of, base}
}

// SameSite reports whether two base URLs are those of one site: a final slash, a default
// port and the letter case of the host make no difference.
func SameSite(a, b string) bool {
	site := func(base string) string {
		if u, err := weburl.Parse(base); err == nil {
			base = u.WithoutFragment()
		}
		return strings.TrimRight(base, "/")
	}
	return a == b || site(a) == site(b)
}

// Snapshot is the state of a ledger. It is read-only. Pages are sorted by URL,
// links by source and target, notices by key, hosts by origin and protocol.
type Snapshot struct {
	// Base is the base URL of the site that the ledger belongs to.
	Base        string
	Pages       []Page
	Links       []Link
	Notices     []Notice
	Unsupported []UnsupportedHost
	// New is set if there is no ledger yet.
	New bool
}

// Failed returns the failed notices that still matter, sorted by key. It leaves out
// those about a link that has been added or removed since, and those about which
// the target was notified by another protocol later.
func (s *Snapshot) Failed() []Notice {
	var failed []Notice
	about := map[Link][]*Notice{}
	for i := range s.Notices {
		if n := &s.Notices[i]; n.State == Permanent {
			failed = append(failed, *n)
			about[Link{n.Source, n.Target}] = nil
		}
	}
	if len(failed) == 0 {
		return nil
	}
	for i := range s.Notices {
		n := &s.Notices[i]
		k := Link{n.Source, n.Target}
		if others, ok := about[k]; ok {
			about[k] = append(others, n)
		}
	}
	linked := make(map[Link]bool, len(about))
	for _, l := range s.Links {
		if _, ok := about[l]; ok {
			linked[l] = true
		}
	}
	return slices.DeleteFunc(failed, func(n Notice) bool {
		k := Link{n.Source, n.Target}
		return linked[k] != (n.Event == Added || n.Event == Updated) || slices.ContainsFunc(about[k], func(other *Notice) bool {
			return other.Key != n.Key && n.Protocol.isFirst() && other.Protocol.isFirst() && (other.Open() || other.Tried.After(n.Tried))
		})
	})
}

// isFirst reports whether the protocol is one of a list from which a target gets
// the first that it supports.
func (p Protocol) isFirst() bool { return p == AnyProtocol || p == Webmention || p == Pingback }

// Store stores a ledger. Its methods are safe for concurrent use. An error names
// the file, ref or database and the cause; the stored ledger is intact then.
type Store interface {
	// Load returns the current state.
	Load(ctx context.Context) (*Snapshot, error)
	// Plan makes a change durable. Its notices can then be claimed. base is the base
	// URL of the site; a spelling that makes no difference stays as it is.
	Plan(ctx context.Context, base string, c Change) error
	// Claim leases up to limit open notices that are due at now to this runner,
	// sorted by key. Other runners do not get them until they are recorded or
	// the lease ends. A notice that an earlier run had begun has the state
	// InFlight.
	Claim(ctx context.Context, now time.Time, limit int) ([]Notice, error)
	// Begin makes durable that a notice is about to be sent.
	Begin(ctx context.Context, k Key) error
	// Record makes an outcome durable. from is the key of the notice so far; it
	// differs from the key of n when a notice of AnyProtocol gets its protocol.
	Record(ctx context.Context, from Key, n Notice) error
	// RecordUnsupported makes durable that a host does not support a protocol.
	RecordUnsupported(ctx context.Context, h UnsupportedHost) error
	// Close compacts the ledger and releases the store.
	Close() error
}

// Held are notices that another runner has claimed.
type Held struct {
	Runner  string
	Notices int
	// Sent is how many of them the runner may have sent since it last wrote to a shared store.
	Sent int
	// Until is when the first of the claims ends, unless the runner renews it.
	Until time.Time
}

func comparePages(a, b Page) int { return strings.Compare(a.URL, b.URL) }

func compareLinks(a, b Link) int {
	return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Target, b.Target))
}

// CompareKeys compares notices in the order of a ledger.
func CompareKeys(a, b Key) int {
	if order := strings.Compare(a.Source, b.Source); order != 0 {
		return order
	}
	if order := strings.Compare(a.Target, b.Target); order != 0 {
		return order
	}
	return strings.Compare(string(a.Protocol), string(b.Protocol))
}

func compareHosts(a, b UnsupportedHost) int {
	return cmp.Or(strings.Compare(a.Origin, b.Origin), strings.Compare(string(a.Protocol), string(b.Protocol)))
}

// toSeconds converts the times of a notice to what a ledger stores.
func (n Notice) toSeconds() Notice {
	n.Tried, n.Next, n.Lease = toSeconds(n.Tried), toSeconds(n.Next), toSeconds(n.Lease)
	return n
}

func (c Change) toSeconds() Change {
	notices := make([]Notice, len(c.Notices))
	for i, n := range c.Notices {
		notices[i] = n.toSeconds()
	}
	c.Notices = notices
	return c
}

func toSeconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
