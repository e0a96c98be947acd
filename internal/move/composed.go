package move

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
)

// A template may compose links from the address of its own page: a switcher between
// the versions of a documentation writes the name of another version into it. When the
// page moves, these links change although no source has them, and lead to addresses
// that never existed. What such a link led to before gets an alias with the new address,
// so the link keeps working. A link that led nowhere before the move is no new finding.

// composed are the links of the new site that templates compose in another way than
// before the move.
type composed struct {
	// broken are those that led nowhere before either.
	broken map[linkPlace]bool
	// aliases are the addresses that the others ask for, with those that they led to,
	// as they are after the move. Sorted.
	aliases []Pair
}

// linkPlace identifies a link of a built site.
type linkPlace struct {
	page   string
	offset int64
	raw    string
}

// compose compares the links of the pages with new findings with the links that these
// pages had before.
func (m *redirects) compose(ctx context.Context, after *version, added []check.Finding) (*composed, error) {
	c := &composed{broken: map[linkPlace]bool{}}
	findings := map[string][]check.Finding{} // by page
	for _, f := range added {
		if f.Element != "" && f.Code != check.ViaRedirect {
			findings[f.Page] = append(findings[f.Page], f)
		}
	}
	if len(findings) == 0 || m.fragments != nil {
		return c, nil
	}
	before := map[string]string{} // pages of the old site by those of the new one
	byAddress := map[string]string{}
	for name := range m.before.files() {
		if path.Ext(name) == ".html" {
			byAddress[m.names.pageAfter(m.before.addressOf(name))] = name
		}
	}
	old, now := map[string][]check.Link{}, map[string][]check.Link{}
	for page := range findings {
		if name, ok := byAddress[after.addressOf(page)]; ok {
			before[page], old[name], now[page] = name, nil, nil
		}
	}
	if err := m.linksOf(ctx, m.before, old); err != nil {
		return nil, err
	}
	if err := m.linksOf(ctx, after, now); err != nil {
		return nil, err
	}
	for page, name := range before {
		places, err := after.audit.PlaceLinks(ctx, now[page])
		if err != nil {
			return nil, err
		}
		was := map[int]*check.Link{}
		of := func(l *check.Link) string { return l.Element + " " + l.Attribute }
		pairByPlace(was, len(old[name]), len(now[page]), func(i int) (*check.Link, string) { return &old[name][i], of(&old[name][i]) }, func(j int) string { return of(&now[page][j]) })
		placed := m.placed[name]
		pairByPlace(was, len(placed), len(places), func(i int) (*check.Link, check.Position) { return &placed[i].link, placed[i].place }, func(j int) check.Position {
			if places[j] == nil {
				return check.Position{}
			}
			return *places[j]
		})
		m.composePage(c, findings[page], now[page], was)
	}
	slices.SortFunc(c.aliases, func(a, b Pair) int { return strings.Compare(a.Old, b.Old) })
	c.aliases = slices.CompactFunc(c.aliases, func(a, b Pair) bool { return a.Old == b.Old })
	return c, nil
}

// linksOf reads the links of the pages that are the keys of a map.
func (m *trial) linksOf(ctx context.Context, v *version, pages map[string][]check.Link) error {
	_, err := check.Links(ctx, audit.Handle(v.audit.Site), m.shadow.checkOptions(v.project), check.Query{}, func(l *check.Link) error {
		if all, ok := pages[l.Page]; ok { // calls do not overlap
			pages[l.Page] = append(all, *l)
		}
		return nil
	})
	return err
}

// placedLink is a link with the place in the sources where it is written.
type placedLink struct {
	link  check.Link
	place check.Position
}

// pairByPlace adds to was the links before the move by the indexes of those after it, as
// far as both come from one place: a template that writes as many links as before writes
// them in the same order. old and now return the places.
func pairByPlace[P comparable](was map[int]*check.Link, olds, nows int, old func(i int) (*check.Link, P), now func(j int) P) {
	before, after := map[P][]*check.Link{}, map[P][]int{}
	for i := range olds {
		l, at := old(i)
		before[at] = append(before[at], l)
	}
	for j := range nows {
		after[now(j)] = append(after[now(j)], j)
	}
	for at, js := range after {
		for n, j := range js {
			if len(before[at]) == len(js) {
				was[j] = before[at][n]
			}
		}
	}
}

// composePage judges the findings of one page by the links that it had before, which
// was has by the indexes of those that it has now.
func (m *redirects) composePage(c *composed, findings []check.Finding, now []check.Link, was map[int]*check.Link) {
	places := map[linkPlace]int{}
	for j, l := range now {
		places[linkPlace{l.Page, l.Offset, l.Raw}] = j
	}
	for _, f := range findings {
		at := linkPlace{f.Page, f.Offset, f.Raw}
		j, ok := places[at]
		b := was[j]
		if !ok || b == nil {
			continue
		}
		// A link with the same text is the author's, and has to be written in another way.
		to, ok := sitePath(f.Target)
		switch {
		case b.Raw == f.Raw || !ok:
		case b.Code == f.Code, isMissing(b.Code) && isMissing(f.Code):
			c.broken[at] = true
		case isMissing(f.Code) && (b.Code == "" || b.Code == check.ViaRedirect):
			led := b.Target
			if b.Final != "" {
				led = b.Final
			}
			if address, ok := sitePath(led); ok && !samePath(m.names.pageAfter(address), to) {
				c.aliases = append(c.aliases, Pair{to, m.names.pageAfter(address)})
			}
		}
	}
}

// isMissing reports whether a finding says that nothing answers an address, so that an
// alias can.
func isMissing(code check.Code) bool {
	return code == check.MissingFile || code == check.MissingDirectory || code == check.MissingIndex || code == check.Fallback
}

// answer lets addresses redirect to others: by front matter if a page with a source is
// there, else by rules of the host. It returns those that redirect. after is the site
// without these redirects.
func (m *redirects) answer(addresses []Pair, after *version) (done []Pair, err error) {
	byAddress := map[string]*page{} // after the move
	for _, p := range m.pages.byFile {
		byAddress[m.names.pageAfter(p.address)] = p
	}
	var rest []Pair
	for _, a := range addresses {
		isPage := strings.HasSuffix(a.Old, "/") || path.Ext(a.Old) == ".html"
		if p := byAddress[a.New]; p != nil && isPage {
			ok, err := m.alias(p.file, m.rooted(a.New), a.Old)
			if err != nil && !m.refuse(p.file, err) {
				return nil, err
			}
			if ok && err == nil {
				done = append(done, a)
				continue
			}
		}
		if a.New != "" && answers(after.audit.Site.Request(rulePath(a.New))) {
			rest = append(rest, a)
		}
	}
	ruled, err := m.addRules(rest, after)
	if ruled {
		done = append(done, rest...)
	}
	return done, err
}
