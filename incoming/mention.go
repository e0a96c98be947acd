package incoming

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/weburl"
)

// Protocol is the protocol of a notice.
type Protocol string

// The protocols.
const (
	Pingback   Protocol = "pingback"
	Webmention Protocol = "webmention"
	LinkMethod Protocol = "link" // LINK, UNLINK, UNLINKR and LINKMOD
)

// Action says what a notice is about. Pingback and webmention only have Link; the
// others are methods of the LINK draft.
type Action string

// The actions.
const (
	// Link: a page of another site links to a page of ours.
	Link Action = "link"
	// Unlink: the page of the other site no longer links to ours, or it moved to
	// Replacement.
	Unlink Action = "unlink"
	// UnlinkR: a page of ours links to a page of another site that is gone, or
	// that moved to Replacement.
	UnlinkR Action = "unlinkr"
	// LinkMod: a page of another site that ours links to was modified.
	LinkMod Action = "linkmod"
)

// Ours reports whether the source of a notice with this action is the page of our
// site. Otherwise the target is.
func (a Action) Ours() bool { return a == UnlinkR || a == LinkMod }

// Notice is one request of another site: that source links to target, or one of
// the other actions. The URLs are as they were sent.
type Notice struct {
	Protocol Protocol
	Action   Action
	// Source is the page that holds the link, Target the page that it leads to.
	Source, Target string
	// Replacement is the new address of the source (Unlink) or of the target
	// (UnlinkR), or "".
	Replacement string
	// Subscribe is true if the source asks for LINKMOD calls (LK-15).
	Subscribe bool
	// Peer is the address that the request came from.
	Peer netip.Addr
}

// Outcome is what a receiver answers to a notice. It follows from what the
// receiver knows already, never from a request of its own.
type Outcome string

// The outcomes.
const (
	Accepted  Outcome = "accepted"  // recorded; it will be verified
	Known     Outcome = "known"     // recorded before
	Invalid   Outcome = "invalid"   // a URL is not absolute or not http(s), or both are the same page
	Elsewhere Outcome = "elsewhere" // the host of our end is not served here
	Missing   Outcome = "missing"   // our end of the link does not exist
	Closed    Outcome = "closed"    // our end exists and takes no notices
	Unlinked  Outcome = "unlinked"  // there is no such link to remove or to change
	Denied    Outcome = "denied"    // the peer or the other site is blocked
	Limited   Outcome = "limited"   // too many requests; try again after Answer.RetryAfter
)

// Answer is the answer to one notice.
type Answer struct {
	Outcome Outcome
	// ID is the mention that the notice is about, or "" if nothing was recorded.
	ID string
	// Subscribed is true if LINKMOD calls will follow, as the notice asked.
	Subscribed bool
	// RetryAfter is the time until the next notice is taken, if the outcome is Limited.
	RetryAfter time.Duration
	// Reason explains the outcome in a sentence for the other site's log.
	Reason string
}

// State is the state of a mention.
type State string

// The states.
const (
	Queued   State = "queued"   // not verified yet
	Held     State = "held"     // verified; waits for a decision
	Approved State = "approved" // verified, and to be shown
	Refused  State = "denied"   // a person decided against it
	Rejected State = "rejected" // the link is not there, see Mention.Fault
	Blocked  State = "blocked"  // its site was blocked after it was received
	Gone     State = "gone"     // it was verified once, and the link was removed since
)

// States lists the states in the order in which a mention passes through them.
var States = []State{Queued, Held, Approved, Refused, Rejected, Blocked, Gone}

// Author is who wrote the source, as far as the page says so.
type Author struct {
	Name string `json:"name,omitempty"`
	URL  string `json:"url,omitempty"`
}

// Mention is a received link from another site. All its texts are plain text of
// strangers: escape them where they are shown. The JSON field names are part of
// what `sitelink mentions list --format json` prints.
type Mention struct {
	// ID names the mention in commands and in the URL of its status page. It
	// cannot be guessed.
	ID       string   `json:"id"`
	Action   Action   `json:"action,omitempty"` // "" for Link
	Protocol Protocol `json:"protocol"`
	// Source and Target are as the other site sent them first. Replacement is the
	// new address of the target (UnlinkR) or of the source (Link), if the other
	// site sent one.
	Source      string `json:"source"`
	Target      string `json:"target"`
	Replacement string `json:"replacement,omitempty"`
	State       State  `json:"state"`
	Title       string `json:"title,omitempty"`
	Excerpt     string `json:"excerpt,omitempty"`
	Lang        string `json:"lang,omitempty"` // a language tag such as "de"
	Author      Author `json:"author,omitzero"`
	// Fault is the pingback fault code that says why the mention is Rejected: 16,
	// 17, 50 ..., or 0 (PB-42 to PB-49). Reason says the same in words.
	Fault  int    `json:"fault,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Received is the time of the first notice, Verified that of the last look at
	// the source that found the link.
	Received time.Time `json:"received,omitzero"`
	Verified time.Time `json:"verified,omitzero"`

	// Subscribed is true if the source asked for LINKMOD calls.
	Subscribed bool `json:"-"`
	// Peer is the address of the first notice.
	Peer netip.Addr `json:"-"`
	// Due is the time of the next look at the other end, or zero.
	Due time.Time `json:"-"`
	// Fetched is the time of the last look, whatever it found.
	Fetched time.Time `json:"-"`
	// Failures counts the looks since the last one that found the link.
	Failures int `json:"-"`
}

// Remote returns the end of the link that is not ours: the page to look at.
func (m *Mention) Remote() string {
	if m.Action.Ours() {
		return m.Target
	}
	return m.Source
}

// Local returns the end of the link that is ours.
func (m *Mention) Local() string {
	if m.Action.Ours() {
		return m.Source
	}
	return m.Target
}

// Key identifies a mention: two notices with the same key are about the same one.
// Both URLs are canonical, with their fragments (A-PB-5).
type Key struct {
	Action         Action // Link for Unlink
	Source, Target string
}

// KeyOf returns the key of a notice. The error says which URL is invalid.
// The calls of the LINK draft have no fragments; those they have are ignored
// (A-LK-9).
func KeyOf(n Notice) (Key, error) {
	if n.Protocol == LinkMethod {
		n.Source, n.Target = withoutFragment(n.Source), withoutFragment(n.Target)
	}
	source, err := canonical(n.Source)
	if err != nil {
		return Key{}, err
	}
	target, err := canonical(n.Target)
	if err != nil {
		return Key{}, err
	}
	action := cmp.Or(n.Action, Link)
	if action == Unlink {
		action = Link
	}
	return Key{action, source, target}, nil
}

func withoutFragment(url string) string {
	url, _, _ = strings.Cut(url, "#")
	return url
}

// canonical returns the canonical form of an http(s) URL with its fragment.
func canonical(raw string) (string, error) {
	text, err := weburl.Canonical(raw)
	if err != nil {
		return "", err
	}
	if _, fragment, ok := strings.Cut(raw, "#"); ok && fragment != "" {
		text += "#" + string(weburl.EncodePath(nil, string(weburl.PercentDecode(nil, fragment))))
	}
	return text, nil
}

// LinkChange is a reason to change a link of ours that another site reported (UnlinkR or
// LinkMod) and a fetch proved. Programs that repair links read these.
type LinkChange struct {
	// ID is that of the mention that holds the report.
	ID string
	// Action is UnlinkR if the page at Old is gone or moved, and LinkMod if it was
	// modified.
	Action Action
	// Page is the URL of our page that has the link, and Old where it leads. Both
	// are as the other site sent them: compare them in canonical form.
	Page, Old string
	// New is the address to link to instead, or "" if none is known: remove the link
	// then, or find another page. For LinkMod, "" means that the address stays.
	New string
	// Reason says what the fetch found, such as "the target redirects to ...".
	Reason string
	// Decided is true if a person or a rule approved the change.
	Decided bool
	// Verified is the time of the fetch.
	Verified time.Time
}

// Changes returns the changes of our links that were proved and not carried out yet,
// sorted by page, link and action. An approved change disappears within a day after a
// deploy without the link. Changes is as safe for concurrent use as the store.
func Changes(ctx context.Context, store Store) (changes []LinkChange, err error) {
	filter := Filter{States: []State{Held, Approved}, Action: []Action{UnlinkR, LinkMod}}
	for m, err := range store.List(ctx, filter) {
		if err != nil {
			return nil, err
		}
		changes = append(changes, LinkChange{
			ID: m.ID, Action: m.Action, Page: m.Source, Old: m.Target, New: m.Replacement, Reason: m.Reason, Decided: m.State == Approved, Verified: m.Verified,
		})
	}
	slices.SortFunc(changes, func(a, b LinkChange) int {
		return cmp.Or(strings.Compare(a.Page, b.Page), strings.Compare(a.Old, b.Old), strings.Compare(string(a.Action), string(b.Action)))
	})
	return changes, nil
}
