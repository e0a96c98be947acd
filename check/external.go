package check

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/site"
)

// ExternalTarget is one address outside the docroot to which the site links.
type ExternalTarget struct {
	// Target is the absolute URL without fragment; a path on the own host, where
	// the site's base URL is below another path, or where it has none.
	Target string
	// Fragment is what stands behind #.
	Fragment string
	// Host and Path are what another site's files are found by: the host with
	// its port when that is not the scheme's own, "" when not known, and the
	// path, percent-decoded and without query.
	Host, Path string
	// Anchor is the name that the page there has to define: the fragment
	// percent-decoded, "" when every page serves it (none, top, a text
	// directive) or only a script can (#/route, #!route).
	Anchor string
	// Links and Pages are how many links lead there, from how many pages.
	Links, Pages int
	// Page, Line and Column are the place of the first of them.
	Page         string
	Line, Column int
}

// ExternalTargets lists the addresses outside the docroot to which links lead,
// sorted by target and fragment; which links count is said at
// [Question.External]. Memory grows with the number of addresses, not of links.
// The error is that of ctx, or of a page that cannot be read again.
func ExternalTargets(ctx context.Context, handle *site.Site, opt Options) ([]ExternalTarget, error) {
	s := isite.Unwrap(handle)
	type key struct{ target, fragment string }
	var mu sync.Mutex // guards found
	found := map[key]*ExternalTarget{}
	err := readers(ctx, s, opt, s.Pages(), func(r *isite.Reader, i int) error {
		id := isite.PageID(i)
		var want []uint32
		links := s.Page(id).All()
		for j := range links {
			if leaves(links[j].State) {
				want = append(want, uint32(j))
			}
		}
		if len(want) == 0 {
			return nil
		}
		path := s.Path(id)
		here := map[key]*ExternalTarget{}
		err := r.Details(id, want, func(_ int, d *isite.Detail) {
			k := key{d.Target, d.Fragment}
			x := here[k]
			if x == nil {
				k.fragment = strings.Clone(k.fragment) // part of the page's text
				x = &ExternalTarget{Target: d.Target, Fragment: k.fragment, Pages: 1, Page: path, Line: d.Line, Column: d.Column}
				here[k] = x
			}
			x.Links++
		})
		if err != nil {
			return pageError(s, id, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for k, x := range here {
			have := found[k]
			if have == nil {
				found[k] = x
				continue
			}
			have.Links += x.Links
			have.Pages++
			if x.Page < have.Page {
				have.Page, have.Line, have.Column = x.Page, x.Line, x.Column
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]ExternalTarget, 0, len(found))
	for _, x := range found {
		x.Host, x.Path = address(s, x.Target)
		x.Anchor = demanded(x.Fragment)
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b ExternalTarget) int {
		return cmp.Or(strings.Compare(a.Target, b.Target), strings.Compare(a.Fragment, b.Fragment))
	})
	return out, nil
}

// address splits a target into the host and the decoded path without query.
func address(s *isite.Site, target string) (host, path string) {
	if strings.HasPrefix(target, "/") {
		return s.Authority(), sitePath(target)
	}
	u, err := weburl.Parse(target)
	if err != nil {
		return "", ""
	}
	host = u.Host()
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	return host, sitePath(u.Path())
}

// demanded returns the anchor that a fragment needs, "" for none.
func demanded(fragment string) string {
	name := anchorName(fragment)
	if strings.EqualFold(name, "top") || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "!") {
		return ""
	}
	return name
}
