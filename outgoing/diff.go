package outgoing

import (
	"cmp"
	"slices"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Answer tells what the site answers at an address of its own, absolute:
// the status, and where redirects end.
type Answer func(url string) (status int, final string)

// Diff compares what the pages of a site say with what the ledger knows, and
// returns what has to be told to whom. It is pure: the same input gives the
// same plan, sorted by source and target. A ledger that is new gives a plan
// that records and tells nobody.
func Diff(e *Entries, snap *ledger.Snapshot, answer Answer) *Plan {
	d := &differ{known: remember(snap), plan: &Plan{Base: e.Base, First: snap.New, Left: e.Left}}
	here := make(map[string]bool, len(e.List))
	for i := range e.List {
		entry := &e.List[i]
		here[entry.URL] = true
		d.entry(entry)
	}
	for _, p := range snap.Pages {
		if !here[p.URL] && !p.Gone {
			d.gone(p, e.left[p.URL], answer)
		}
	}
	d.tombstones(e, snap)
	d.plan.sort()
	return d.plan
}

// differ makes one plan.
type differ struct {
	known memory
	plan  *Plan
}

// entry compares a page with what is known of it.
func (d *differ) entry(e *Entry) {
	old := d.known.pages[e.URL]
	if old != nil && old.Gone {
		old = nil // it came back: all of it is new
	}
	before := make(map[string]string)
	if old != nil {
		for _, target := range d.known.links[e.URL] {
			before[key(target)] = target
		}
	}
	changed := old == nil || old.Hash != e.Hash
	if changed {
		d.plan.Change.Pages = append(d.plan.Change.Pages, ledger.Page{URL: e.URL, Hash: e.Hash})
	} else {
		d.plan.Unchanged++
	}
	for _, target := range e.Targets {
		k := key(target)
		was, kept := before[k]
		delete(before, k)
		if !kept || was != target {
			d.plan.Change.Links = append(d.plan.Change.Links, ledger.Link{Source: e.URL, Target: target})
		}
		if kept && was != target {
			d.plan.Change.Dropped = append(d.plan.Change.Dropped, ledger.Link{Source: e.URL, Target: was})
		}
		switch {
		case kept && changed:
			d.tell(e, target, ledger.Updated, "")
		case !kept:
			d.tell(e, target, ledger.Added, "")
		}
	}
	for _, target := range before {
		d.plan.Change.Dropped = append(d.plan.Change.Dropped, ledger.Link{Source: e.URL, Target: target})
		d.tell(e, target, ledger.Removed, "")
	}
}

// gone deals with a page that is no entry any more.
func (d *differ) gone(p ledger.Page, left Reason, answer Answer) {
	event, row := ledger.Deleted, ledger.Page{URL: p.URL, Gone: true}
	status, final := answer(p.URL)
	switch {
	case final != "" && final != p.URL && status < 400:
		event, row.Replacement = ledger.Moved, final
	case left == Tombstone:
	case left != "" && left != Alias, status != 0 && status < 400:
		// It is there, but is none that speaks: what was said stays said, and
		// what is known of it stays, for the day when it speaks again.
		d.plan.Forgotten = append(d.plan.Forgotten, p.URL)
		return
	}
	d.plan.Change.Pages = append(d.plan.Change.Pages, row)
	d.plan.Gone = append(d.plan.Gone, Gone{URL: p.URL, Replacement: row.Replacement})
	e := &Entry{URL: p.URL, Hash: p.Hash}
	for _, target := range d.known.links[p.URL] {
		d.plan.Change.Dropped = append(d.plan.Change.Dropped, ledger.Link{Source: p.URL, Target: target})
		d.tell(e, target, event, row.Replacement)
	}
}

// tell plans a notice, unless an earlier one that is still open says it.
func (d *differ) tell(e *Entry, target string, event ledger.Event, replacement string) {
	if d.plan.First {
		return
	}
	item := Item{Notice: Notice{Source: e.URL, Target: target, Event: event, Replacement: replacement}, Page: e.Page}
	open := d.open(e.URL, target)
	if open != nil {
		item.Event, item.Withdrawn = merge(open, event)
	}
	n := ledger.Notice{
		Key:   ledger.Key{Source: e.URL, Target: target},
		Event: item.Event, Replacement: replacement, Hash: e.Hash, State: ledger.Pending,
	}
	if e.Feed {
		n.Protocol = ledger.WebSub
	} else if open != nil {
		n.Key = open.Key // takes its place
	}
	if item.Withdrawn {
		n.State, n.Message = ledger.Skipped, "withdrawn before it was told"
	}
	d.plan.Items = append(d.plan.Items, item)
	d.plan.Change.Notices = append(d.plan.Change.Notices, n)
}

// open returns the notice about the link that has not come to its end.
func (d *differ) open(source, target string) *ledger.Notice {
	for _, n := range d.known.notices[pair{source, key(target)}] {
		if n.State == ledger.Pending || n.State == ledger.InFlight || n.State == ledger.Retry {
			return n
		}
	}
	return nil
}

// merge says what a target has to be told that was to be told something else.
// What it never can have heard of is withdrawn.
func merge(open *ledger.Notice, event ledger.Event) (e ledger.Event, withdrawn bool) {
	fresh := open.Event == ledger.Added && open.State == ledger.Pending
	switch event {
	case ledger.Updated:
		if open.Event == ledger.Added {
			return ledger.Added, false
		}
	case ledger.Added:
		if open.Event != ledger.Added {
			return ledger.Updated, false
		}
	case ledger.Removed, ledger.Deleted, ledger.Moved:
		return event, fresh
	}
	return event, false
}

// tombstones lists the deleted pages that nothing answers for.
func (d *differ) tombstones(e *Entries, snap *ledger.Snapshot) {
	here := make(map[string]bool)
	for i := range e.List {
		here[e.List[i].URL] = true
	}
	for _, p := range snap.Pages {
		if p.Gone && p.Replacement == "" && !here[p.URL] && e.left[p.URL] == "" {
			d.plan.Graves = append(d.plan.Graves, p.URL)
		}
	}
	for _, g := range d.plan.Gone {
		if g.Replacement == "" && e.left[g.URL] == "" {
			d.plan.Graves = append(d.plan.Graves, g.URL)
		}
	}
	slices.SortFunc(d.plan.Graves, cmp.Compare[string])
}
