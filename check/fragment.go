package check

import (
	"cmp"

	"github.com/sitelink/sitelink/internal/host"

	isite "github.com/sitelink/sitelink/internal/site"
)

// Fragments that scripts serve look broken and are not: they are the largest
// source of false alarms. Three signs tell them, and all but the first need a
// target page that runs scripts:
//
//   - a route: #/path, #!path;
//   - a line range, 12-34 or L12-L34, both ends of which are ids of the page;
//   - the page's remaining fragments are asked for often and hardly ever found.
const (
	// manyAsked is how many links must ask for the third sign to count.
	manyAsked = 8
	// hardlyFound is the share of them that may be found, one in so many.
	hardlyFound = 10
)

// lookup is the result of looking for one fragment.
type lookup uint8

const (
	found        lookup = iota
	missing             // not there
	missingRoute        // not there, and only a script could serve it
	missingRange        // not there, but both ends of the range are
)

// find looks for a fragment on a page.
func find(p *isite.Page, ask *isite.Fragment) lookup {
	switch {
	case p.Has(ask.Exact) || p.Has(ask.Decoded):
		return found
	case ask.Route:
		return missingRoute
	case ask.From != 0 && p.HasScript() && p.Has(ask.From) && p.Has(ask.To):
		return missingRange
	}
	return missing
}

// miss is a link whose fragment was not found.
type miss struct {
	target isite.PageID
	page   isite.PageID
	link   uint32
	why    lookup
	state  host.State // of the link without its fragment
}

func compareMisses(a, b miss) int {
	return cmp.Or(cmp.Compare(a.target, b.target), cmp.Compare(a.page, b.page), cmp.Compare(a.link, b.link))
}

// demand counts what is asked of one target page, routes and line ranges
// apart.
type demand struct{ asked, found uint32 }

// onlyScripts tells whether only a script could serve what a link misses, given
// what all links ask of its target.
func onlyScripts(s *isite.Site, target isite.PageID, why lookup, d demand, mode ScriptFragments) bool {
	if mode == ScriptError {
		return false
	}
	switch p := s.Page(target); {
	case why == missingRoute:
		return true
	case !p.HasScript():
		return false
	case why == missingRange:
		return true
	}
	return d.asked >= manyAsked && d.found*hardlyFound <= d.asked
}
