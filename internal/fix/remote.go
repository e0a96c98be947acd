package fix

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/weburl"
)

// The rules for links to other sites.
const (
	// Remote is the rule for pages that have moved permanently, or answer at another
	// form of their address, as the status cache says.
	Remote check.RepairRule = "remote-moved"
	// Archived is the rule for dead pages that have a copy in an archive.
	Archived check.RepairRule = "remote-archived"
	// Reported is the rule for pages whose own site reported a change (UNLINKR,
	// LINKMOD), which the receiver proved.
	Reported check.RepairRule = "reported"
)

// Replacement is the address of a page of another site that has changed.
type Replacement struct {
	// Rule is Remote, Archived or Reported.
	Rule check.RepairRule
	// Page is the address of the page of ours that has the link, "" for every page.
	Page string
	// Old and New are absolute URLs without fragment. New is empty if the page is
	// gone and no new address is known; then Why says so, and the link is listed.
	Old, New, Why string
	// Likely means that New is probably right.
	Likely bool
}

// replace adds a repair for each link to a page of another site that has another
// address now. A link that has a repair already keeps it.
func (m *maker) replace(ctx context.Context, repairs []check.Repair) ([]check.Repair, error) {
	byURL := m.replacements()
	if len(byURL) == 0 {
		return repairs, nil
	}
	type at struct {
		page   string
		offset int64
	}
	known := map[at]bool{}
	for i := range repairs {
		known[at{repairs[i].Finding.Page, repairs[i].Finding.Offset}] = true
	}
	_, err := check.Links(ctx, audit.Handle(m.site), audit.CheckOptions(m.audit.Project), check.Query{}, func(l *check.Link) error {
		if l.Code != check.External || known[at{l.Page, l.Offset}] || !m.isPage(l.Page) {
			return nil
		}
		canonical, _ := weburl.Canonical(l.Target) // "" for an address that no request has
		for _, with := range slices.Concat(byURL[oldAddress{true, canonical}], byURL[oldAddress{false, l.Target}]) {
			if with.Page != "" && with.Page != l.Page {
				continue
			}
			f := l.Finding()
			f.Code = ""
			repairs = append(repairs, check.Repair{Finding: f, Rule: with.Rule, Likely: with.Likely, Value: keepFragment(with.New, l.Fragment), Why: with.Why})
			break
		}
		return nil
	})
	slices.SortStableFunc(repairs, func(a, b check.Repair) int {
		return cmp.Or(strings.Compare(a.Finding.Page, b.Finding.Page), cmp.Compare(a.Finding.Offset, b.Finding.Offset))
	})
	return repairs, err
}

// oldAddress is the address that a replacement is about: what a page's own site reported
// is about all spellings, what the status cache knows about the one that was asked for.
type oldAddress struct {
	reported bool
	url      string
}

// replacements returns the replacements of the plan by the old address, with the docroot
// paths of our pages.
func (m *maker) replacements() map[oldAddress][]Replacement {
	byURL := map[oldAddress][]Replacement{}
	for _, r := range m.opt.Replacements {
		key := oldAddress{reported: r.Rule == Reported, url: r.Old}
		if key.reported {
			key.url, _ = weburl.Canonical(r.Old)
		}
		if key.url == "" || r.New == r.Old {
			continue
		}
		if r.Page != "" {
			page, ok := m.pageAt(r.Page)
			if !ok {
				continue // the page is gone, and its link with it
			}
			r.Page = page
		}
		byURL[key] = append(byURL[key], r)
	}
	return byURL
}

// pageAt returns the docroot path of the page that answers an absolute URL of ours.
func (m *sources) pageAt(address string) (string, bool) {
	u, err := weburl.Parse(address)
	if err != nil {
		return "", false
	}
	to := m.site.Resolve(u, nil)
	if !to.State.Answers() || to.Node == docroot.NoNode {
		return "", false
	}
	id, ok := m.site.PageOf(to.Node)
	if !ok {
		return "", false
	}
	return m.site.Path(id), true
}

// isPage reports whether a file is a page that people read: the links of feeds and
// sitemaps are written elsewhere.
func (m *sources) isPage(name string) bool {
	node, ok := m.site.Lookup(name)
	id, isPage := m.site.PageOf(node)
	return ok && isPage && m.site.Page(id).Kind().IsHTML()
}

// keepFragment returns an address with the fragment of the link, unless it has one.
func keepFragment(address, fragment string) string {
	if address == "" || fragment == "" || strings.Contains(address, "#") {
		return address
	}
	return address + "#" + fragment
}
