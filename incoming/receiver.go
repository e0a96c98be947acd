package incoming

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/sitelink/sitelink/incoming/verify"
	"github.com/sitelink/sitelink/internal/weburl"
)

// ReceiverOptions configure a [Receiver]. Sites are required, and Store and Client
// for [Receiver.Run].
type ReceiverOptions struct {
	// Store keeps what is received. If nil, notices are answered and forgotten
	// (LK-8).
	Store Store
	Sites *Sites
	// Client fetches the pages of other sites.
	Client *verify.Client
	// RateAddress limits the notices per minute from one address (IPv6: from one
	// /64 block), RateSource those about pages of one site. 0 means no limit.
	RateAddress, RateSource int
	// Recheck is the time between two looks at a verified mention: 30 days if
	// zero.
	Recheck time.Duration
	// LinkMod says that LINKMOD calls will be sent to sites that ask for them.
	LinkMod bool
	// LinkOnly makes the receiver support LINK only: the other methods of the
	// draft succeed without any effect (LK-42).
	LinkOnly bool
	// Observe, if set, is called after each look at another site with the state of
	// the mention and the time that the look took.
	Observe func(state State, took time.Duration)
	// Now is the clock: [time.Now] if nil. Log gets what happens to mentions; nil
	// means nowhere.
	Now func() time.Time
	Log *slog.Logger
}

// Receiver answers notices and verifies mentions. It is safe for concurrent use.
type Receiver struct {
	opt                ReceiverOptions
	addresses, sources *limiter
	rules              ruleCache
	recent             recentLooks
	hosts              hostGate
}

// NewReceiver returns a receiver. [Receiver.Receive] works at once, and [Receiver.Run]
// does the work in the background.
func NewReceiver(o ReceiverOptions) *Receiver {
	o.Recheck = cmp.Or(o.Recheck, 30*24*time.Hour)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Receiver{opt: o, addresses: newLimiter(o.RateAddress), sources: newLimiter(o.RateSource)}
}

const (
	// MaxNotices is the number of notices that one request may contain.
	MaxNotices = 32
	// MaxURL is the length of the longest URL that is accepted.
	MaxURL = 2048
)

// Receive answers the notices of one request, at most [MaxNotices], and records them.
// The answers are in the order of the notices. Receive makes no
// request: what it answers follows from the pages of the site, the rules and the
// mentions that are known. What it records is durable before it returns.
//
// Either all notices are recorded or none (LK-59): if any answer is neither
// [Accepted] nor [Known], nothing is. An error means that the store failed, and
// that nothing is known about the notices.
func (r *Receiver) Receive(ctx context.Context, notices []Notice) ([]Answer, error) {
	answers, err := r.receive(ctx, notices)
	valid := func(raw string) string { // one that is not may have a password
		if u, err := weburl.Parse(raw); err != nil || u.HasCredentials() || len(raw) > MaxURL {
			return ""
		}
		return raw
	}
	for i, a := range answers {
		level := slog.LevelDebug // strangers can send any number of these
		if a.Outcome == Accepted && a.ID != "" {
			level = slog.LevelInfo
		}
		if n := &notices[i]; r.opt.Log.Enabled(ctx, level) {
			r.opt.Log.Log(ctx, level, "notice", "protocol", n.Protocol, "action", cmp.Or(n.Action, Link), "source", valid(n.Source), "target", valid(n.Target),
				"outcome", a.Outcome, "reason", a.Reason, "mention", a.ID, "peer", n.Peer)
		}
	}
	return answers, err
}

func (r *Receiver) receive(ctx context.Context, notices []Notice) ([]Answer, error) {
	now := r.opt.Now()
	answers := make([]Answer, len(notices))
	fill := func(a Answer) ([]Answer, error) {
		for i := range answers {
			answers[i] = a
		}
		return answers, nil
	}
	switch {
	case len(notices) == 0:
		return nil, nil
	case len(notices) > MaxNotices:
		return fill(Answer{Outcome: Invalid, Reason: "The request contains too many links."})
	}
	rules, err := r.rules.get(ctx, r.opt.Store)
	if err != nil {
		return nil, err
	}
	peer := notices[0].Peer
	if peer.IsValid() {
		if rules.peer(peer) == Block {
			return fill(Answer{Outcome: Denied, Reason: "Your address is blocked here."})
		}
		if wait, ok := r.addresses.take(peerKey(peer), len(notices), now); !ok {
			return fill(Answer{Outcome: Limited, RetryAfter: wait, Reason: "There were too many requests from your address."})
		}
	}
	b := &batch{r: r, rules: rules, now: now, index: make(map[Key]int)}
	acceptable := true
	for i, n := range notices {
		var a Answer
		answers[i] = Answer{Outcome: Accepted}
		if a = b.add(n); a.Outcome != "" {
			answers[i], acceptable = a, false
		}
	}
	if !acceptable {
		return answers, nil
	}
	if wait, ok := b.limit(); !ok {
		return fill(Answer{Outcome: Limited, RetryAfter: wait, Reason: "There were too many requests about pages of this site."})
	}
	return b.record(ctx)
}

// batch are the notices of one request.
type batch struct {
	r     *Receiver
	rules *ruleSet
	now   time.Time

	notices []noticeKeys
	keys    []Key
	index   map[Key]int // of keys
}

// noticeKeys is a notice with the places of its keys in a batch: its own, and that
// of the replacement of an UNLINK or -1.
type noticeKeys struct {
	Notice
	at, replacement int
	ignored         bool // LK-42
}

// add checks a notice against what is known without the store. The answer is empty
// if nothing is wrong with it.
func (b *batch) add(n Notice) Answer {
	n.Action = cmp.Or(n.Action, Link)
	n.Source, n.Target, n.Replacement = strings.TrimSpace(n.Source), strings.TrimSpace(n.Target), strings.TrimSpace(n.Replacement)
	if b.r.opt.LinkOnly && n.Action != Link {
		b.notices = append(b.notices, noticeKeys{Notice: n, ignored: true})
		return Answer{}
	}
	if n.Protocol == LinkMethod {
		n.Source, n.Target, n.Replacement = withoutFragment(n.Source), withoutFragment(n.Target), withoutFragment(n.Replacement)
	}
	key, a := checkURLs(n)
	if a.Outcome == "" {
		a = b.r.checkLocal(n)
	}
	if a.Outcome == "" {
		a = b.checkRules(n, key)
	}
	if a.Outcome != "" {
		return a
	}
	at := noticeKeys{Notice: n, at: b.place(key), replacement: -1}
	if n.Action == Unlink && n.Replacement != "" {
		moved := n
		moved.Source, moved.Replacement = n.Replacement, ""
		next, a := checkURLs(moved)
		switch {
		case a.Outcome != "":
			return a
		case next == key:
			return Answer{Outcome: Invalid, Reason: "The replacement is the source itself."}
		case hostOf(next.Source) != hostOf(key.Source):
			return Answer{Outcome: Invalid, Reason: "The replacement must be on the same host as the source."} // LK-47
		}
		at.replacement = b.place(next)
	}
	b.notices = append(b.notices, at)
	return Answer{}
}

// place returns the index of a key, which is added if it is new.
func (b *batch) place(k Key) int {
	at, ok := b.index[k]
	if !ok {
		at = len(b.keys)
		b.index[k], b.keys = at, append(b.keys, k)
	}
	return at
}

// checkURLs returns the key of a notice, or an answer if one of its URLs is
// invalid.
func checkURLs(n Notice) (Key, Answer) {
	invalid := func(reason string) (Key, Answer) { return Key{}, Answer{Outcome: Invalid, Reason: reason} }
	for _, url := range []struct{ name, raw string }{{"source", n.Source}, {"target", n.Target}, {"replacement", n.Replacement}} {
		if url.raw == "" && url.name == "replacement" {
			continue
		}
		if len(url.raw) > MaxURL {
			return invalid("The " + url.name + " is too long.")
		}
		if _, err := canonical(url.raw); err != nil {
			var bad *weburl.Error
			if errors.As(err, &bad) {
				return invalid("The " + url.name + " is not a valid http or https URL: " + string(bad.Reason) + ".")
			}
			return invalid("The " + url.name + " is not a valid http or https URL.")
		}
		if u, err := weburl.Parse(url.raw); err != nil || u.HasCredentials() {
			return invalid("The " + url.name + " contains a user name or password.")
		}
	}
	key, err := KeyOf(n)
	if err != nil {
		return invalid("A URL is not valid.")
	}
	if withoutFragment(key.Source) == withoutFragment(key.Target) {
		return invalid("The source and the target are the same page.")
	}
	return key, Answer{}
}

// checkLocal checks our end of the link.
func (r *Receiver) checkLocal(n Notice) Answer {
	local, end := n.Target, "target"
	if n.Action.Ours() {
		local, end = n.Source, "source"
	}
	p := r.opt.Sites.Lookup(local)
	switch {
	case !p.Served:
		return Answer{Outcome: Elsewhere, Reason: "The host of the " + end + " is not served here."}
	case !p.Exists && p.Complete:
		return Answer{Outcome: Missing, Reason: "The " + end + " does not exist."}
	case !p.Exists:
		return Answer{Outcome: Closed, Reason: "This server does not know whether the " + end + " exists."}
	case n.Action.Ours() && !r.opt.Sites.Links(n.Source, n.Target):
		return Answer{Outcome: Unlinked, Reason: "The source does not link to the target."}
	case !n.Action.Ours() && !p.Accepts:
		return Answer{Outcome: Closed, Reason: "The target does not take notices."}
	}
	return Answer{}
}

// checkRules checks the other end of the link.
func (b *batch) checkRules(n Notice, k Key) Answer {
	remote := k.Source
	if n.Action.Ours() {
		remote = k.Target
	}
	blocked := b.rules.verdict(remote) == Block
	if n.Replacement != "" {
		if url, err := weburl.Canonical(n.Replacement); err == nil {
			blocked = blocked || b.rules.verdict(url) == Block
		}
	}
	if blocked {
		return Answer{Outcome: Denied, Reason: "Pages of this site are blocked here."}
	}
	return Answer{}
}

// limit takes the tokens of the sites that the notices are about.
func (b *batch) limit() (wait time.Duration, ok bool) {
	count := make(map[string]int)
	for _, n := range b.notices {
		if n.ignored {
			continue
		}
		remote := n.Source
		if n.Action.Ours() {
			remote = n.Target
		}
		count[siteKey(hostOf(remote))]++
	}
	ok = true
	for site, n := range count {
		if w, enough := b.r.sources.take(site, n, b.now); !enough {
			wait, ok = max(wait, w), false
		}
	}
	return wait, ok
}

// errRefused makes a store write nothing, because a notice of the batch was
// refused.
var errRefused = errors.New("a notice was refused")

// record decides about the notices with the mentions that the store has.
func (b *batch) record(ctx context.Context) ([]Answer, error) {
	var answers []Answer
	var mentions []*Mention
	decide := func(stored []*Mention) ([]*Mention, error) {
		var changed []*Mention
		answers, mentions, changed = b.decide(stored)
		for _, a := range answers {
			if a.Outcome != Accepted && a.Outcome != Known {
				return nil, errRefused
			}
		}
		return changed, nil
	}
	var err error
	if b.r.opt.Store != nil {
		err = b.r.opt.Store.Record(ctx, b.keys, decide)
	} else {
		_, err = decide(make([]*Mention, len(b.keys)))
	}
	if err != nil && !errors.Is(err, errRefused) {
		return nil, err
	}
	for i, n := range b.notices {
		if m := mentions; err == nil && !n.ignored && m[n.at] != nil {
			answers[i].ID = m[n.at].ID
		}
	}
	return answers, nil
}

// decide returns the answers, all mentions of the batch, and those to write.
func (b *batch) decide(stored []*Mention) (answers []Answer, mentions, changed []*Mention) {
	mentions, changed = make([]*Mention, len(stored)), make([]*Mention, len(stored))
	for i, m := range stored {
		if m != nil {
			clone := *m
			mentions[i] = &clone
		}
	}
	set := func(at int, m *Mention) {
		if m != nil {
			mentions[at], changed[at] = m, m
		}
	}
	for _, n := range b.notices {
		if n.ignored {
			answers = append(answers, Answer{Outcome: Known, Reason: "This server supports LINK only."})
			continue
		}
		m, a := decide(mentions[n.at], n.Notice, b.now)
		set(n.at, m)
		if n.replacement >= 0 && (a.Outcome == Accepted || a.Outcome == Known) {
			moved := n.Notice
			moved.Action, moved.Source, moved.Replacement = Link, n.Replacement, ""
			moved.Subscribe = mentions[n.at].Subscribed
			m, _ := decide(mentions[n.replacement], moved, b.now)
			set(n.replacement, m)
		}
		if n.Subscribe {
			a.Subscribed = b.r.opt.LinkMod
		}
		answers = append(answers, a)
	}
	return answers, mentions, changed
}

// hostOf returns the host of a URL, with its port, or "".
func hostOf(url string) string {
	u, err := weburl.Parse(url)
	if err != nil {
		return ""
	}
	return u.Authority()
}

// ruleCache holds the rules of a store, and follows their changes.
type ruleCache struct {
	mu      sync.Mutex
	set     *ruleSet
	version string
	checked time.Time
}

// ruleAge is how old the rules may be that a notice is checked with.
const ruleAge = 300 * time.Millisecond

// get returns the rules. They are read again if their version changed.
func (c *ruleCache) get(ctx context.Context, store Store) (*ruleSet, error) {
	if store == nil {
		return compileRules(nil), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set != nil && time.Since(c.checked) < ruleAge { // by the monotonic clock
		return c.set, nil
	}
	begin := time.Now()
	version, err := store.RulesVersion(ctx)
	if err != nil {
		return nil, err
	}
	if c.set == nil || version != c.version {
		rules, err := store.Rules(ctx)
		if err != nil {
			return nil, err
		}
		c.set, c.version = compileRules(rules), version
	}
	c.checked = begin
	return c.set, nil
}
