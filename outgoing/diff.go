package outgoing

import (
	"cmp"
	"slices"
	"time"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Plan is the difference between a site and its ledger: the notices to send, and
// the change to the ledger.
type Plan struct {
	Base string
	// First is set if there was no ledger. The plan then records the links that
	// exist and has no notices.
	First bool
	// Items are the notices, sorted by source, target and event.
	Items []Item
	// Change brings the ledger to the state of this build, with Items as open
	// notices.
	Change ledger.Change
	// Gone are the pages that this deploy removes, sorted by URL.
	Gone []GonePage
	// Unanswered are the URLs of deleted pages, of this deploy or an earlier
	// one, that should answer 410 and for which the site has no page. Sorted.
	Unanswered []string
	// Inactive are pages that still exist but are no longer entries. Sorted.
	Inactive []string
	// Unchanged is the number of entries whose content is that of the ledger.
	Unchanged int
	// NoUpdate is the number of links that stayed on a changed page and of which
	// [Options.Updates] sends no update.
	NoUpdate int
	Excluded []Exclusion
}

// Item is one notice of a plan. The fields of the notice that describe its
// delivery are not set.
type Item struct {
	ledger.Notice
	Page string // path of the source in the docroot, "" if it is gone
	// Withdrawn is set if an earlier notice was not sent yet and no longer needs
	// to be.
	Withdrawn bool
}

// GonePage is a page that no longer exists.
type GonePage struct {
	URL string
	// Replacement is the URL it moved to, "" if it was deleted.
	Replacement string
}

// Due returns the items that are to be sent.
func (p *Plan) Due() []Item {
	return slices.DeleteFunc(slices.Clone(p.Items), func(i Item) bool { return i.Withdrawn })
}

// Diff compares the entries of a site with a snapshot of the ledger. The same
// input always gives the same plan. If the ledger is new, the plan only records
// the links that exist.
func Diff(e *Entries, snap *ledger.Snapshot) *Plan {
	d := &differ{known: indexLedger(snap), updates: e.updates, now: e.now, moved: map[linkKey]bool{}, plan: &Plan{Base: e.Base, First: snap.New, Excluded: e.Excluded}}
	current := make(map[string]bool, len(e.List))
	for i := range e.List {
		current[e.List[i].URL] = true
	}
	for _, p := range snap.Pages {
		if !current[p.URL] && !p.Gone {
			d.gone(p, e)
		}
	}
	for i := range e.List {
		d.entry(&e.List[i])
	}
	// The targets of these links took no notices long ago.
	slices.SortStableFunc(d.silent, func(a, b silentLink) int { return a.asked.Compare(b.asked) })
	for _, l := range d.silent[:min(len(d.silent), mostSilent)] {
		d.addNotice(l.entry, l.target, ledger.Added, "")
	}
	d.unanswered(e, current, snap)
	slices.SortFunc(d.plan.Items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Event, b.Event))
	})
	c := &d.plan.Change
	slices.SortFunc(c.Pages, func(a, b ledger.Page) int { return cmp.Compare(a.URL, b.URL) })
	links := func(a, b ledger.Link) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
	}
	slices.SortFunc(c.Links, links)
	slices.SortFunc(c.Dropped, links)
	slices.SortFunc(c.Notices, func(a, b ledger.Notice) int { return ledger.CompareKeys(a.Key, b.Key) })
	slices.SortFunc(d.plan.Gone, func(a, b GonePage) int { return cmp.Compare(a.URL, b.URL) })
	slices.Sort(d.plan.Inactive)
	return d.plan
}

// ledgerIndex is a snapshot of the ledger, indexed by URL.
type ledgerIndex struct {
	pages map[string]*ledger.Page
	links map[string][]string // targets by source, in the order of the ledger
	// notices has those of all protocols.
	notices map[linkKey][]*ledger.Notice
}

// linkKey identifies a link by its source and canonical target.
type linkKey struct{ source, target string }

func indexLedger(snap *ledger.Snapshot) ledgerIndex {
	m := ledgerIndex{make(map[string]*ledger.Page), make(map[string][]string), make(map[linkKey][]*ledger.Notice)}
	for i := range snap.Pages {
		m.pages[snap.Pages[i].URL] = &snap.Pages[i]
	}
	for _, l := range snap.Links {
		m.links[l.Source] = append(m.links[l.Source], l.Target)
	}
	for i := range snap.Notices {
		n := &snap.Notices[i]
		k := linkKey{n.Source, canonical(n.Target)}
		m.notices[k] = append(m.notices[k], n)
	}
	return m
}

// differ makes one plan.
type differ struct {
	known   ledgerIndex
	updates Updates
	now     time.Time
	plan    *Plan
	// moved are the links of new addresses of which a notice about the old one tells.
	moved map[linkKey]bool
	// silent are links whose target took no notices long ago.
	silent []silentLink
}

// silentLink is a link whose target took no notices when it was last asked.
type silentLink struct {
	entry  *Entry
	target string
	asked  time.Time
}

// entry compares a page with the ledger.
func (d *differ) entry(e *Entry) {
	old := d.known.pages[e.URL]
	if old != nil && old.Gone {
		old = nil // the page is back: all its links are new
	}
	before := make(map[string]string)
	if old != nil {
		for _, target := range d.known.links[e.URL] {
			before[canonical(target)] = target
		}
	}
	changed := old == nil || old.Hash != e.Hash
	if changed {
		d.plan.Change.Pages = append(d.plan.Change.Pages, ledger.Page{URL: e.URL, Hash: e.Hash})
	} else {
		d.plan.Unchanged++
	}
	for _, target := range e.Targets {
		k := canonical(target)
		was, kept := before[k]
		delete(before, k)
		if !kept || was != target {
			d.plan.Change.Links = append(d.plan.Change.Links, ledger.Link{Source: e.URL, Target: target})
		}
		if kept && was != target {
			d.plan.Change.Dropped = append(d.plan.Change.Dropped, ledger.Link{Source: e.URL, Target: was})
		}
		switch {
		case kept && d.unsupported(e.URL, target):
			if changed {
				d.addNotice(e, target, ledger.Added, "") // it may take notices now
			} else if asked := d.asked(e.URL, target); !e.Feed && d.now.Sub(asked) >= silentFor {
				d.silent = append(d.silent, silentLink{e, target, asked})
			}
		case kept && changed && !d.sendsUpdate(e, target):
			d.plan.NoUpdate++
		case kept && changed:
			d.addNotice(e, target, ledger.Updated, "")
		case !kept && !d.moved[linkKey{e.URL, k}]:
			d.addNotice(e, target, ledger.Added, "")
		}
	}
	for _, target := range before {
		d.plan.Change.Dropped = append(d.plan.Change.Dropped, ledger.Link{Source: e.URL, Target: target})
		d.addNotice(e, target, ledger.Removed, "")
	}
}

// sendsUpdate reports whether the target of a link that stayed is notified of the
// change of its page. A link that is still to be announced is announced with the
// new content, whatever the option says.
func (d *differ) sendsUpdate(e *Entry, target string) bool {
	switch open := d.open(e.URL, target); {
	case d.plan.First:
		return true // for the count: a plan that only records has no notices
	case e.Feed, d.updates == UpdateAll, open != nil && open.Event == ledger.Added:
		return true
	case d.updates == UpdateNever:
		return false
	}
	return d.announced(e.URL, target)
}

// announced reports whether a notice about a link was sent or is being sent, also
// if the target refused it: the change may have removed the reason. Targets that
// take no notices were not notified.
func (d *differ) announced(source, target string) bool {
	return slices.ContainsFunc(d.known.notices[linkKey{source, canonical(target)}], func(n *ledger.Notice) bool {
		return (n.Event == ledger.Added || n.Event == ledger.Updated) && n.State != ledger.NoService && n.State != ledger.Skipped
	})
}

// unsupported reports whether a target took no notices when a link was announced to it.
func (d *differ) unsupported(source, target string) bool {
	return !d.announced(source, target) && slices.ContainsFunc(d.known.notices[linkKey{source, canonical(target)}], func(n *ledger.Notice) bool {
		return (n.Event == ledger.Added || n.Event == ledger.Updated) && n.State == ledger.NoService
	})
}

// asked returns when the target of a link was last asked.
func (d *differ) asked(source, target string) (last time.Time) {
	for _, n := range d.known.notices[linkKey{source, canonical(target)}] {
		if n.Tried.After(last) {
			last = n.Tried
		}
	}
	return last
}

// silentFor is how long a target that took no notices is left alone while the page with
// the link stays as it is, and mostSilent how many such targets a plan asks: those that
// were left alone for the longest time.
const (
	silentFor  = 30 * 24 * time.Hour
	mostSilent = 10
)

// gone handles a page of the ledger that is no longer an entry.
func (d *differ) gone(p ledger.Page, e *Entries) {
	event, row := ledger.Deleted, ledger.Page{URL: p.URL, Gone: true}
	excluded := e.excluded[p.URL]
	status, final := e.resolve(p.URL)
	switch {
	case final != "" && final != p.URL && status < 400:
		event, row.Replacement = ledger.Moved, final
	case excluded == Tombstone:
	case excluded != "" && excluded != Alias, status != 0 && status < 400:
		// The page exists but is excluded now. Its links are neither notified as
		// removed nor forgotten: it may become an entry again.
		d.plan.Inactive = append(d.plan.Inactive, p.URL)
		return
	}
	d.plan.Change.Pages = append(d.plan.Change.Pages, row)
	d.plan.Gone = append(d.plan.Gone, GonePage{URL: p.URL, Replacement: row.Replacement})
	source := &Entry{URL: p.URL, Hash: p.Hash}
	for _, target := range d.known.links[p.URL] {
		d.plan.Change.Dropped = append(d.plan.Change.Dropped, ledger.Link{Source: p.URL, Target: target})
		withdrawn := d.addNotice(source, target, event, row.Replacement)
		// A target that follows the redirect finds the link at the new address. An alias page has none.
		if event == ledger.Moved && excluded != Alias && !withdrawn {
			d.moved[linkKey{row.Replacement, canonical(target)}] = true
		}
	}
}

// addNotice adds a notice to the plan. It takes the place of an open notice about
// the same link, which may withdraw both.
func (d *differ) addNotice(e *Entry, target string, event ledger.Event, replacement string) (withdrawn bool) {
	if d.plan.First {
		return false
	}
	n := ledger.Notice{
		Key:   ledger.Key{Source: e.URL, Target: target},
		Event: event, Replacement: replacement, Hash: e.Hash, State: ledger.Pending,
	}
	item := Item{Page: e.Page}
	open := d.open(e.URL, target)
	if open != nil {
		n.Event, item.Withdrawn = d.combine(open, event, e.Feed)
	}
	item.Notice = ledger.Notice{Key: n.Key, Event: n.Event, Replacement: replacement}
	if e.Feed {
		n.Protocol = ledger.WebSub
	} else if open != nil {
		n.Key = open.Key
	}
	if open != nil && open.MayHaveArrived() {
		n.Endpoint = open.Endpoint
	}
	if item.Withdrawn {
		n.State, n.Message = ledger.Skipped, "withdrawn before it was sent"
	}
	d.plan.Items = append(d.plan.Items, item)
	d.plan.Change.Notices = append(d.plan.Change.Notices, n)
	return item.Withdrawn
}

// open returns the open notice about a link, nil if there is none.
func (d *differ) open(source, target string) *ledger.Notice {
	for _, n := range d.known.notices[linkKey{source, canonical(target)}] {
		if n.Open() {
			return n
		}
	}
	return nil
}

// combine returns the event to send for a link that has an open notice and a new
// event. withdrawn is set if nothing is to be sent: the open notice cannot have
// arrived, and the link is again as the target knows it.
func (d *differ) combine(open *ledger.Notice, event ledger.Event, feed bool) (e ledger.Event, withdrawn bool) {
	switch event {
	case ledger.Updated:
		if open.Event == ledger.Added {
			return ledger.Added, false
		}
	case ledger.Added:
		if open.Event == ledger.Added {
			break
		}
		// The link was away, and the target has not heard of that.
		quiet := d.updates == UpdateNever || d.updates != UpdateAll && !d.announced(open.Source, open.Target)
		return ledger.Updated, quiet && !feed && open.Event != ledger.Updated && !open.MayHaveArrived()
	case ledger.Removed, ledger.Deleted, ledger.Moved:
		return event, open.Event == ledger.Added && !open.MayHaveArrived()
	}
	return event, false
}

// unanswered lists the deleted pages for which the site has no page.
func (d *differ) unanswered(e *Entries, current map[string]bool, snap *ledger.Snapshot) {
	for _, p := range snap.Pages {
		if p.Gone && p.Replacement == "" && !current[p.URL] && e.excluded[p.URL] == "" {
			d.plan.Unanswered = append(d.plan.Unanswered, p.URL)
		}
	}
	for _, g := range d.plan.Gone {
		if g.Replacement == "" && e.excluded[g.URL] == "" {
			d.plan.Unanswered = append(d.plan.Unanswered, g.URL)
		}
	}
	slices.Sort(d.plan.Unanswered)
}
