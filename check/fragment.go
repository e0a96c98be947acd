package check

import (
	"cmp"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	isite "github.com/sitelink/sitelink/internal/site"
)

// Fragments that scripts serve look broken and are not. They are the largest
// source of false alarms. Each of these is evidence that a script serves a
// fragment; all but the first need a target page that runs scripts:
//
//   - a route: #/path, #!path;
//   - a line range, 12-34 or L12-L34, both ends of which are ids of the page;
//   - many links ask for fragments of the page, and hardly any is there.
const (
	// manyWanted is how many links must ask for fragments of a page for the
	// third piece of evidence.
	manyWanted = 8
	// hardlyFound is the largest share of them that may be found: one in so many.
	hardlyFound = 10
)

// lookup is the result of looking for a fragment on a page.
type lookup uint8

const (
	found        lookup = iota
	missing             // not there
	missingRoute        // not there, and only a script could serve it
	missingRange        // not there, but both ends of the range are
)

// find looks for a fragment on a page.
func find(p *isite.Page, fragment *isite.Fragment) lookup {
	switch {
	case p.Has(fragment.Exact) || p.Has(fragment.Decoded):
		return found
	case fragment.Route:
		return missingRoute
	case fragment.From != 0 && p.HasScript() && p.Has(fragment.From) && p.Has(fragment.To):
		return missingRange
	}
	return missing
}

// fragmentCount counts the links that ask for fragments of a page, without
// routes and line ranges.
type fragmentCount struct{ wanted, found uint32 }

// add counts the result of one look-up.
func (c *fragmentCount) add(r lookup) {
	switch r {
	case found:
		c.found++
		c.wanted++
	case missing:
		c.wanted++
	}
}

// onlyScripts reports whether only a script can serve a fragment that was not
// found, given what all links ask of the target.
func onlyScripts(target *isite.Page, r lookup, c fragmentCount, mode ScriptFragments) bool {
	switch {
	case mode == ScriptError:
		return false
	case r == missingRoute:
		return true
	case !target.HasScript():
		return false
	case r == missingRange:
		return true
	}
	return c.wanted >= manyWanted && c.found*hardlyFound <= c.wanted
}

// uncheckedFragment returns why no fragment can be looked for in the file of a
// node; "" when one can.
func uncheckedFragment(s *isite.Site, node docroot.NodeID, opt *Options) Code {
	target, isPage := s.PageOf(node)
	switch {
	case !isPage || !s.Page(target).Kind().HasAnchors():
		return NotHTML
	case s.Page(target).Error().Err != nil:
		return NotScanned
	case !opt.scope.has(target): // A-LL-11
		return Skipped
	}
	return ""
}

// foundFolded reports whether a missing fragment is found the way browsers
// compare names in quirks mode.
func foundFolded(s *isite.Site, d *isite.Detail) bool {
	target, ok := s.PageOf(d.Node)
	return ok && s.HasFolded(target, d.Fragment)
}

// miss is a link whose fragment was not found.
type miss struct {
	target isite.PageID
	page   isite.PageID
	link   uint32
	result lookup
	answer host.State // of the link without its fragment
}

func compareMisses(a, b miss) int {
	return cmp.Or(cmp.Compare(a.target, b.target), cmp.Compare(a.page, b.page), cmp.Compare(a.link, b.link))
}

// scriptTarget is a page with fragments that only scripts can serve. It is
// reported once, at the place of one of the links.
type scriptTarget struct {
	target  isite.PageID
	page    isite.PageID // that holds the link
	link    uint32
	missing int // links whose fragment is not there
}

// scriptTargets groups misses, which are sorted by target, and picks the link at
// which each target is reported: on a page that is read again anyway if there is
// one, else on the smallest page. On rust-doc, taking the first link of each
// target would read twice as many pages.
func scriptTargets(s *isite.Site, misses []miss, bad map[isite.PageID][]badLink) []scriptTarget {
	var out []scriptTarget
	chosen := map[isite.PageID]bool{}
	for len(misses) > 0 {
		n := 1
		for n < len(misses) && misses[n].target == misses[0].target {
			n++
		}
		best := misses[0]
		for _, m := range misses[:n] {
			if _, ok := bad[m.page]; ok || chosen[m.page] {
				best = m
				break
			}
			if s.Page(m.page).Size() < s.Page(best.page).Size() {
				best = m
			}
		}
		chosen[best.page] = true
		out = append(out, scriptTarget{target: best.target, page: best.page, link: best.link, missing: n})
		misses = misses[n:]
	}
	return out
}
