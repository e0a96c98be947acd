package check

import (
	"slices"

	isite "github.com/sitelink/sitelink/internal/site"
)

// Memo carries what a [Run] found out about the pages of a site over to the next
// Run, so that a new version of the site, from [site.Site.Update], takes less
// time to check. It serves one sequence of calls of Run: each with the version
// that follows the last one, and with the same options. The zero value is empty.
// A Memo must not be used by several calls at the same time.
//
// Findings of a page are reused if its own record, its faulty links, and what
// all pages of the site define are the same.
type Memo struct {
	definitions *isite.Definitions
	pages       map[isite.PageID]described
}

// described is what [describe] made of the faulty links of a page.
type described struct {
	version uint32 // of the page's record
	bad     []badLink
	scripts []scriptTarget
	// findings are complete, with their suggestions. fine counts the links of bad
	// that turned out to work.
	findings []Finding
	fine     int
}

// find returns what is known of a page with these faulty links. A nil Memo knows
// nothing.
func (m *Memo) find(s *isite.Site, id isite.PageID, bad []badLink, scripts []scriptTarget) (d described, ok bool) {
	if m == nil || m.definitions != s.Definitions() {
		return described{}, false
	}
	d, ok = m.pages[id]
	return d, ok && d.version == s.Page(id).Version() && slices.Equal(d.bad, bad) && slices.Equal(d.scripts, scripts)
}
