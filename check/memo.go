package check

import (
	"slices"

	isite "github.com/sitelink/sitelink/internal/site"
)

// Memo carries what a [Run] found out about a site over to the next Run, so that
// a new version of the site, from [site.Site.Update], takes less time to check.
// It serves one sequence of calls of Run, each with the version that follows the
// last one and with the same options. The zero value is empty. A Memo must not
// be used by several calls at the same time.
//
// If only links changed, Run counts the links of the edited pages alone. If
// anchors changed, too, it counts all links again. In both cases it describes
// only the faulty links that are new, or whose targets were edited.
type Memo struct {
	generation uint64 // of the site
	total      *tally
	pages      map[isite.PageID]described
}

// described holds the findings about the links of a page.
type described struct {
	bad      []badLink
	scripts  []scriptTarget
	findings []Finding // complete, with their suggestions
	fine     int       // links of bad that turned out to work
}

// edits returns how s differs from the site of the last run; nil if that is not
// known.
func (m *Memo) edits(s *isite.Site) *isite.Edits {
	if m == nil || m.total == nil {
		return nil
	}
	return s.Edits(m.generation)
}

// forget drops the descriptions that do not hold for s.
func (m *Memo) forget(s *isite.Site) {
	if m == nil {
		return
	}
	e := m.edits(s)
	if e == nil {
		m.pages = nil
		return
	}
	for _, id := range e.Pages {
		delete(m.pages, id)
	}
	if len(e.Redefined) == 0 {
		return
	}
	for id, d := range m.pages {
		links := s.Page(id).All()
		if slices.ContainsFunc(d.bad, func(b badLink) bool {
			_, redefined := slices.BinarySearch(e.Redefined, links[b.link].Node)
			return redefined
		}) {
			delete(m.pages, id)
		}
	}
}

// find returns the description of a page with these faulty links.
func (m *Memo) find(id isite.PageID, bad []badLink, scripts []scriptTarget) (d described, ok bool) {
	if m == nil {
		return described{}, false
	}
	d, ok = m.pages[id]
	return d, ok && slices.Equal(d.bad, bad) && slices.Equal(d.scripts, scripts)
}

// tally returns the tally of all links of s, made of the last one and the links
// of edited pages; nil if that is not enough.
func (m *Memo) tally(s *isite.Site, opt Options) *tally {
	e := m.edits(s)
	if e == nil || len(e.Redefined) > 0 || opt.scope != nil {
		return nil
	}
	was, now := newTally(s), newTally(s)
	for i, id := range e.Pages {
		was.page(s, id, &e.Old[i], opt)
		now.page(s, id, s.Page(id), opt)
	}
	t := newTally(s)
	edited := func(id isite.PageID) bool { _, ok := slices.BinarySearch(e.Pages, id); return ok }
	for _, b := range m.total.bad {
		if !edited(b.page) {
			t.bad = append(t.bad, b)
		}
	}
	for _, x := range m.total.misses {
		if !edited(x.page) {
			t.misses = append(t.misses, x)
		}
	}
	t.bad, t.misses = append(t.bad, now.bad...), append(t.misses, now.misses...)
	t.addCounts(m.total, 1)
	t.addCounts(was, -1)
	t.addCounts(now, 1)
	return t
}
