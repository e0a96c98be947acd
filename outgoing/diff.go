package outgoing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Plan is the difference between a site and its ledger: the notices to send, and
// the change to the ledger.
type Plan struct {
	Base string
	// First is set if there was no ledger. The plan then records the links that
	// exist. It has notices only if the snapshot has the record of another base URL:
	// targets that were notified of a page there are notified of its new address.
	First bool
	// Items are the notices, sorted by source, target and event.
	Items []Item
	// Change brings the ledger to the state of this build, with Items as open
	// notices.
	Change ledger.Change
	// Gone are the pages that this deploy removes, sorted by URL.
	Gone []GonePage
	// Unanswered are the URLs of pages that this deploy or an earlier one
	// deleted. They should answer 410, but the site has no page for them.
	// Sorted.
	Unanswered []string
	// Inactive are pages that still exist but are no longer entries. Sorted.
	Inactive []string
	// Unchanged is the number of entries whose content is that of the ledger.
	Unchanged int
	// NoUpdate is the number of links that stayed on a changed page and that
	// [Options.Updates] excludes from updates.
	NoUpdate int
	// Alike is the number of entries that changed in the same way as others, such as
	// by a build date. They count as unchanged.
	Alike int
	// Common is the number of new links that most entries have, such as one to the author
	// of the theme. They are recorded and not announced.
	Common int
	// Untold is the number of links that are gone, or moved with their page, without a
	// notice: their targets never heard of them.
	Untold   int
	Excluded []Exclusion
}

// Item is one notice of a plan. The fields of the notice that describe its
// delivery are not set.
type Item struct {
	ledger.Notice
	Page string // path of the page in the docroot, "" if it is gone
	// Silent is set if the target took no notices when it was last asked, about a link
	// of any page. It may take them now, so the notice is in the change to the ledger.
	Silent bool
	// Withdrawn is set if an earlier notice was not sent yet and no longer needs
	// to be.
	Withdrawn bool
}

// GonePage is a page that no longer exists.
type GonePage struct {
	URL string
	// Replacement is the URL it moved to, "" if it was deleted: where the site
	// redirects, or else the only new page with the same content.
	Replacement string
	// NoRedirect is set if the page moved and its old URL does not redirect.
	NoRedirect bool
}

// Due returns the items that are to be sent, without the silent ones: their targets are
// asked, and most get nothing.
func (p *Plan) Due() []Item {
	return slices.DeleteFunc(slices.Clone(p.Items), func(i Item) bool { return i.Withdrawn || i.Silent })
}

// Diff compares the entries of a site with a snapshot of the ledger. The same
// input always gives the same plan. If the ledger is new, the plan only records
// the links that exist.
//
// A new link is announced. All other notices go only to targets that heard of the link: a
// notice about it was sent, from this page or from its earlier address. (Webmention asks
// to repeat "previously sent" notices for updated and deleted posts, sections 3.2.3 and
// 3.2.4.) So the links that the first run recorded cause no notice when their page is
// edited, renamed or deleted. With [UpdateAll], all targets count as notified.
//
// A page that moved with a redirect is still announced under its old address, and so are
// its later changes. A receiver that follows the redirect (section 3.2.2) finds the
// mention that it has; the new address would add a second one. Without a redirect, the
// old address counts as deleted and the new one is announced.
func Diff(e *Entries, snap *ledger.Snapshot) *Plan {
	d := &differ{known: indexLedger(snap), updates: e.updates, now: e.now, current: make(map[string]bool, len(e.List)),
		quiet: map[linkKey]bool{}, forced: map[linkKey]bool{}, plan: &Plan{Base: e.Base, First: snap.New, Excluded: e.Excluded}}
	for i := range e.List {
		d.current[e.List[i].URL] = true
	}
	d.findEarlier(e)
	d.findCommon(e)
	if d.plan.First && snap.Base != "" {
		d.changeBase(e, snap)
	}
	renamed := d.renamed(e, snap)
	for _, p := range snap.Pages {
		if !d.current[p.URL] && !p.Gone && isOwn(p.URL, e.Origin) {
			d.gone(p, e, renamed[p.URL])
		}
	}
	for i := range e.List {
		d.entry(&e.List[i])
	}
	// The targets of these links took no notices long ago.
	slices.SortStableFunc(d.silent, func(a, b silentLink) int { return a.asked.Compare(b.asked) })
	for _, l := range d.silent[:min(len(d.silent), mostSilent)] {
		d.addNotice(l.entry, l.entry.URL, l.target, ledger.Added, "")
	}
	d.unanswered(e, snap)
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
	// silent has the canonical targets that took no notices when they were last asked.
	silent map[string]bool
}

// linkKey identifies a link by its source and canonical target.
type linkKey struct{ source, target string }

func indexLedger(snap *ledger.Snapshot) ledgerIndex {
	m := ledgerIndex{make(map[string]*ledger.Page), make(map[string][]string), make(map[linkKey][]*ledger.Notice), make(map[string]bool)}
	for i := range snap.Pages {
		m.pages[snap.Pages[i].URL] = &snap.Pages[i]
	}
	for _, l := range snap.Links {
		m.links[l.Source] = append(m.links[l.Source], l.Target)
	}
	asked := make(map[string]time.Time)
	for i := range snap.Notices {
		n := &snap.Notices[i]
		k := linkKey{n.Source, canonical(n.Target)}
		m.notices[k] = append(m.notices[k], n)
		if !n.Tried.Before(asked[k.target]) && n.State != ledger.Skipped {
			asked[k.target], m.silent[k.target] = n.Tried, n.State == ledger.NoService
		}
	}
	return m
}

// differ makes one plan.
type differ struct {
	known   ledgerIndex
	updates Updates
	now     time.Time
	plan    *Plan
	current map[string]bool // the URLs of the entries
	// earlier has, for links of pages that moved with a redirect, the address under
	// which the target knows the page.
	earlier map[linkKey]string
	// quiet are the links of new addresses that are not announced: a notice about the
	// old address tells of them, or the target never heard of the link there. forced are
	// those that a plan announces although it is the first.
	quiet, forced map[linkKey]bool
	// alike has the changes that several entries have in common, and common the
	// targets that most entries have.
	alike  map[uint64]bool
	common map[string]bool
	// silent are links to targets that accepted no notices long ago.
	silent []silentLink
}

// silentLink is a link to a target that accepted no notices when it was last
// asked.
type silentLink struct {
	entry  *Entry
	target string
	asked  time.Time
}

// findEarlier finds the links of [differ.earlier]: of notices whose source redirects now.
// An alias page does not: it has no link, and receivers do not follow it.
func (d *differ) findEarlier(e *Entries) {
	d.earlier = map[linkKey]string{}
	final := map[string]string{}
	for k := range d.known.notices {
		if d.current[k.source] || e.excluded[k.source] != "" || !d.told(k.source, k.target) {
			continue
		}
		to, ok := final[k.source]
		if !ok {
			_, to = e.resolve(k.source)
			final[k.source] = to
		}
		at := linkKey{to, k.target}
		if was, ok := d.earlier[at]; to != "" && to != k.source && (!ok || k.source < was) {
			d.earlier[at] = k.source
		}
	}
}

// A change that changeAlike entries have in common comes from the theme or from a
// text that they include. So does a target that more than half of the entries have, if those
// are at least linkAlike.
const changeAlike, linkAlike = 3, 5

func (d *differ) findCommon(e *Entries) {
	d.alike, d.common = map[uint64]bool{}, map[string]bool{}
	changes, targets, pages := map[uint64]int{}, map[string]int{}, 0
	for i := range e.List {
		entry := &e.List[i]
		if entry.Feed {
			continue
		}
		pages++
		for _, target := range entry.Targets {
			targets[canonical(target)]++
		}
		if old := d.known.pages[entry.URL]; old != nil && !old.Gone {
			if what, changed := change(old.Hash, entry.Hash); changed {
				changes[what]++
			}
		}
	}
	for what, n := range changes {
		d.alike[what] = n >= changeAlike
	}
	for target, n := range targets {
		d.common[target] = n >= linkAlike && 2*n > pages
	}
}

// changeBase handles the pages that a ledger has of another base URL. They moved, all at
// once. The targets that heard of their links are notified of the new address, because
// only its owner knows what the old one answers.
func (d *differ) changeBase(e *Entries, snap *ledger.Snapshot) {
	from, to := strings.TrimSuffix(snap.Base, "/"), strings.TrimSuffix(e.Base, "/")
	if from == to {
		return
	}
	for _, p := range snap.Pages {
		path, ok := strings.CutPrefix(p.URL, from)
		if p.Gone || d.current[p.URL] || !ok || path != "" && path[0] != '/' {
			continue
		}
		row := ledger.Page{URL: p.URL, Hash: p.Hash, Gone: true}
		if d.current[to+path] {
			row.Replacement = to + path
		}
		d.plan.Change.Pages = append(d.plan.Change.Pages, row)
		for _, target := range d.known.links[p.URL] {
			d.plan.Change.Dropped = append(d.plan.Change.Dropped, ledger.Link{Source: p.URL, Target: target})
			if d.told(p.URL, target) && !d.told(to+path, target) {
				d.forced[linkKey{to + path, canonical(target)}] = true
			}
		}
	}
}

// renamed returns the new URLs of pages that are gone without a redirect: of the only new
// entry with the same content, if no other page that is gone has it.
func (d *differ) renamed(e *Entries, snap *ledger.Snapshot) map[string]string {
	gone, fresh := map[string]string{}, map[string]string{} // by hash; "" if there are several
	add := func(to map[string]string, hash, url string) {
		if _, several := to[hash]; several {
			url = ""
		}
		to[hash] = url
	}
	for _, p := range snap.Pages {
		if !d.current[p.URL] && !p.Gone && p.Hash != "" {
			add(gone, p.Hash, p.URL)
		}
	}
	for i := range e.List {
		entry := &e.List[i]
		if old := d.known.pages[entry.URL]; !entry.Feed && (old == nil || old.Gone) {
			add(fresh, entry.Hash, entry.URL)
		}
	}
	moved := map[string]string{}
	for hash, from := range gone {
		if to := fresh[hash]; from != "" && to != "" {
			moved[from] = to
		}
	}
	return moved
}

// entry compares a page with the ledger.
func (d *differ) entry(e *Entry) {
	old := d.known.pages[e.URL]
	// A page that is back as it was has the links that it had.
	back := old != nil && old.Gone && old.Hash != "" && old.Hash == e.Hash
	if old != nil && old.Gone {
		old = nil
	}
	before := make(map[string]string)
	edited := false
	if old != nil {
		for _, target := range d.known.links[e.URL] {
			before[canonical(target)] = target
		}
		what, changed := change(old.Hash, e.Hash)
		if edited = changed && (e.Feed || !d.alike[what]); !edited {
			d.plan.Unchanged++
		}
		if changed && !edited {
			d.plan.Alike++
		}
	}
	if old == nil || old.Hash != e.Hash {
		d.plan.Change.Pages = append(d.plan.Change.Pages, ledger.Page{URL: e.URL, Hash: e.Hash})
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
		source := d.source(e.URL, target)
		switch {
		case d.forced[linkKey{e.URL, k}]:
			d.addNotice(e, e.URL, target, ledger.Added, "")
		case kept && d.unsupported(e.URL, target):
			if edited {
				d.addNotice(e, e.URL, target, ledger.Added, "") // it may take notices now
			} else if asked := d.asked(e.URL, target); !e.Feed && d.now.Sub(asked) >= silentFor {
				d.silent = append(d.silent, silentLink{e, target, asked})
			}
		case kept && edited && !d.sendsUpdate(e, source, target):
			d.plan.NoUpdate++
		case kept && edited:
			d.addNotice(e, cmp.Or(source, e.URL), target, ledger.Updated, "")
		case kept, d.quiet[linkKey{e.URL, k}], back && d.known.notices[linkKey{e.URL, k}] == nil:
		case !d.plan.First && d.common[k] && !e.Feed:
			d.plan.Common++
		default:
			d.addNotice(e, e.URL, target, ledger.Added, "")
		}
	}
	for _, target := range before {
		d.plan.Change.Dropped = append(d.plan.Change.Dropped, ledger.Link{Source: e.URL, Target: target})
		if source := d.source(e.URL, target); source != "" || e.Feed {
			d.addNotice(e, cmp.Or(source, e.URL), target, ledger.Removed, "")
		} else if !d.plan.First {
			d.plan.Untold++
		}
	}
}

// sendsUpdate reports whether the target of a link that stayed is notified of the
// change of its page; it knows the page as source. A link that is still to be announced
// is announced with the new content, whatever the option says.
func (d *differ) sendsUpdate(e *Entry, source, target string) bool {
	switch open := d.open(e.URL, target); {
	case d.plan.First:
		return true // for the count: a plan that only records has no notices
	case e.Feed, open != nil && open.Event == ledger.Added:
		return true
	}
	return d.updates != UpdateNever && source != ""
}

// source returns the URL under which the target of a link knows its page: that of the
// page, or one from which it moved. It is "" if the target never heard of the link.
func (d *differ) source(page, target string) string {
	if d.updates == UpdateAll || d.told(page, target) {
		return page
	}
	return d.earlier[linkKey{page, canonical(target)}]
}

// told reports whether a notice said that a link exists, and was sent or is being sent,
// also if the target refused it: the change may have removed the reason. Targets that
// take no notices were not notified. A skipped update was left out after an earlier notice.
func (d *differ) told(source, target string) bool {
	return slices.ContainsFunc(d.known.notices[linkKey{source, canonical(target)}], func(n *ledger.Notice) bool {
		switch n.Event {
		case ledger.Added, ledger.Moved:
			return n.State != ledger.NoService && n.State != ledger.Skipped
		case ledger.Updated:
			return n.State != ledger.NoService
		}
		return false
	})
}

// unsupported reports whether a target took no notices when a link was announced to it.
func (d *differ) unsupported(source, target string) bool {
	return !d.told(source, target) && slices.ContainsFunc(d.known.notices[linkKey{source, canonical(target)}], func(n *ledger.Notice) bool {
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

// silentFor is how long a plan leaves a target alone that accepted no notices, while
// the page with the link stays as it is. mostSilent is how many such targets a plan
// then asks. It takes those that it left alone for the longest time.
const (
	silentFor  = 30 * 24 * time.Hour
	mostSilent = 10
)

// gone handles a page of the ledger that is no longer an entry. renamed is the new page
// with the same content, or "".
func (d *differ) gone(p ledger.Page, e *Entries, renamed string) {
	event, row := ledger.Deleted, ledger.Page{URL: p.URL, Hash: p.Hash, Gone: true}
	excluded := e.excluded[p.URL]
	status, final := e.resolve(p.URL)
	redirects := false
	switch {
	case final != "" && final != p.URL && status < 400:
		event, row.Replacement, redirects = ledger.Moved, final, excluded != Alias
	case excluded != "" && excluded != Alias && excluded != Tombstone, excluded == "" && status != 0 && status < 400:
		// The page exists but is excluded now. Its links are neither notified as
		// removed nor forgotten: it may become an entry again.
		d.plan.Inactive = append(d.plan.Inactive, p.URL)
		return
	case renamed != "":
		event, row.Replacement = ledger.Moved, renamed
	}
	d.plan.Change.Pages = append(d.plan.Change.Pages, row)
	d.plan.Gone = append(d.plan.Gone, GonePage{URL: p.URL, Replacement: row.Replacement, NoRedirect: event == ledger.Moved && !redirects && excluded != Alias})
	for _, target := range d.known.links[p.URL] {
		d.plan.Change.Dropped = append(d.plan.Change.Dropped, ledger.Link{Source: p.URL, Target: target})
		at := linkKey{row.Replacement, canonical(target)}
		source := cmp.Or(d.source(p.URL, target), d.earlier[at])
		if source == "" {
			if _, told := d.quiet[at]; !told { // of another page that moved there
				d.quiet[at] = !d.unsupported(p.URL, target)
			}
			if !d.plan.First {
				d.plan.Untold++
			}
			continue
		}
		withdrawn := d.addNotice(&Entry{URL: p.URL, Hash: p.Hash}, source, target, event, row.Replacement)
		// A target that follows the redirect finds the link at the new address. An alias page has none.
		d.quiet[at] = redirects && !withdrawn
	}
}

// addNotice adds a notice about a link of a page to the plan, with the URL under which the
// target knows the page as its source. It takes the place of an open notice about
// the same link, which may withdraw both.
func (d *differ) addNotice(e *Entry, source, target string, event ledger.Event, replacement string) (withdrawn bool) {
	if d.plan.First && !d.forced[linkKey{e.URL, canonical(target)}] {
		return false
	}
	if replacement == "" && source != e.URL {
		replacement = e.URL
	}
	n := ledger.Notice{
		Key:   ledger.Key{Source: source, Target: target},
		Event: event, Replacement: replacement, Hash: e.Hash, State: ledger.Pending,
	}
	item := Item{Page: e.Page, Silent: event == ledger.Added && d.known.silent[canonical(target)]}
	open := d.open(source, target)
	if open != nil {
		n.Event, item.Withdrawn = d.combine(open, event, e.Feed)
	}
	item.Notice = ledger.Notice{Key: n.Key, Event: n.Event, Replacement: replacement}
	if e.Feed {
		n.Protocol = ledger.WebSub
	} else if open != nil {
		n.Protocol = open.Protocol
		if event == ledger.Removed || event == ledger.Deleted || event == ledger.Moved {
			n.Target = open.Target
		}
		if n.Target != open.Target { // another fragment or scheme: that is what the page has now
			old := *open
			old.State, old.Next, old.Message = ledger.Skipped, time.Time{}, "the link is written differently now"
			d.plan.Change.Notices = append(d.plan.Change.Notices, old)
		}
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

// open returns the open notice about a link, or nil.
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
		quiet := d.updates == UpdateNever || d.updates != UpdateAll && !d.told(open.Source, open.Target)
		return ledger.Updated, quiet && !feed && open.Event != ledger.Updated && !open.MayHaveArrived()
	case ledger.Removed, ledger.Deleted, ledger.Moved:
		return event, open.Event == ledger.Added && !open.MayHaveArrived()
	}
	return event, false
}

// unanswered lists the deleted pages that the site has no page for.
func (d *differ) unanswered(e *Entries, snap *ledger.Snapshot) {
	for _, p := range snap.Pages {
		if p.Gone && p.Replacement == "" && !d.current[p.URL] && e.excluded[p.URL] == "" && isOwn(p.URL, e.Origin) {
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
