package move

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/run/audit/record"
	"github.com/sitelink/sitelink/internal/text"
)

// lost returns the addresses that the old site answered and the new one does not, with
// those that take their place, "" where that is not known. Sorted.
func (m *mover) lost(after *version) (lost []Pair) {
	before, s := m.before.audit.Site, after.audit.Site
	now := after.files()
	for name, id := range m.before.files() {
		if _, ok := now[name]; ok || record.IsFingerprinted(path.Base(name)) {
			continue
		}
		address := m.names.address(name)
		forms := []string{address}
		if page, ok := strings.CutSuffix(address, ".html"); ok { // hosts answer it without the suffix, too
			forms = append(forms, page)
		}
		for _, form := range forms {
			if !answers(before.Request(rulePath(form))) || answers(s.Request(rulePath(form))) {
				continue
			}
			to, _ := m.names.of(form)
			if to == "" { // an alias that was relative to a page which moved
				to = m.aliasTarget(id, m.before.addressOf(name))
			}
			lost = append(lost, Pair{form, to})
		}
		// A rule for an address with a slash at its end need not be one for that without.
		bare := strings.TrimSuffix(address, "/")
		if answers(before.Request(rulePath(bare))) && answers(s.Request(rulePath(address))) && !answers(s.Request(rulePath(bare))) {
			to, _ := m.names.of(address)
			lost = append(lost, Pair{bare, to})
		}
	}
	slices.SortFunc(lost, func(a, b Pair) int { return strings.Compare(a.Old, b.Old) })
	return lost
}

// aliasTarget returns where an alias page of the old site leads after the move: another
// page to itself, which does not answer.
func (m *mover) aliasTarget(id docroot.NodeID, address string) (to string) {
	s := m.before.audit.Site
	if p, ok := s.PageOf(id); ok {
		if u, err := url.Parse(s.Page(p).Alias()); err == nil {
			to = m.names.pageAfter(m.hostPath((&url.URL{Path: address}).ResolveReference(u)))
		}
	}
	return to
}

func answers(r host.Resolved, err error) bool {
	return err == nil && (r.State.Answers() || r.State == host.StateRedirectsAway || r.State == host.StateProxied || r.State == host.StateConditional) &&
		r.State != host.StateFallback && (r.Node != docroot.NoNode || r.State != host.StateOK)
}

// prove compares the new site with the old one.
func (m *mover) prove(ctx context.Context, after *version) error {
	for _, p := range m.lost(after) {
		if !m.returns && !m.shadow.original.OfMarkdown() { // a forge keeps no address of a file
			m.plan.Lost = append(m.plan.Lost, p.Old)
		}
	}
	if err := m.published(after); err != nil {
		return err
	}
	added := m.added(after.findings)
	c, err := m.compose(ctx, after, added)
	if err != nil {
		return err
	}
	added = slices.DeleteFunc(added, func(f check.Finding) bool { return c.broken[linkPlace{f.Page, f.Offset, f.Raw}] })
	links := make([]check.Link, len(added))
	for i := range added {
		links[i] = added[i].Link()
	}
	places, err := after.audit.PlaceLinks(ctx, links)
	if err != nil {
		return err
	}
	for i, f := range added {
		f.Source = places[i]
		if f.Source != nil && m.left[[2]string{f.Source.File, f.Raw}] {
			continue // in another list or feed than before
		}
		if f.Code == check.ViaRedirect {
			m.plan.Composed = append(m.plan.Composed, f)
		} else {
			m.plan.Broken = append(m.plan.Broken, f)
		}
	}
	return nil
}

// published returns an error if a page is not at its new address: a generator may have
// no template for pages there.
func (m *mover) published(after *version) error {
	var missing []string
	for _, p := range m.names.moved {
		if !answers(m.before.audit.Site.Request(rulePath(p.before.address))) {
			continue // never was
		}
		if r, err := after.audit.Site.Request(rulePath(p.after.address)); !answers(r, err) {
			missing = append(missing, p.after.address)
		}
	}
	for _, d := range m.names.directories { // sections that have a page without a file
		if m.pages.byAddress[d.Old] != nil || !answers(m.before.audit.Site.Request(rulePath(d.Old))) {
			continue // the file of its page moved, or stays
		}
		if r, err := after.audit.Site.Request(rulePath(d.New)); !answers(r, err) {
			missing = append(missing, d.New)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return text.WithHint(fmt.Errorf("%s would not be published after the move, such as %s, so nothing was changed", text.Count(len(missing), "page"), missing[0]),
		"the generator may choose templates by the section: choose another place, or give the pages a type or layout first")
}

// found is what makes two findings the same, although their pages or targets moved.
type found struct {
	code          check.Code
	page, what    string
	raw, fragment string
}

// added returns the findings of the new site that the old one does not have: those with
// another target, and not written the same on the same page. A broken link of a template
// is not new because the move makes one page more.
func (m *mover) added(now []check.Finding) []check.Finding {
	known := map[found]bool{}
	key := func(f *check.Finding, moved bool) (target, raw found) {
		to, page := cmp.Or(f.Target, f.Message), strings.TrimSuffix(m.names.base+"/"+f.Page, "index.html")
		if path, ok := sitePath(to); ok {
			to = path
		}
		if moved {
			page, to = m.names.pageAfter(m.before.addressOf(f.Page)), m.names.pageAfter(to)
		}
		to = strings.TrimSuffix(to, "index.html")
		return found{code: f.Code, what: to, fragment: f.Fragment}, found{code: f.Code, page: page, raw: f.Raw}
	}
	for i := range m.before.findings {
		t, w := key(&m.before.findings[i], true)
		known[t], known[w] = true, true
	}
	var added []check.Finding
	for i := range now {
		f := &now[i]
		t, w := key(f, false)
		if !known[t] && !known[w] {
			added = append(added, *f)
		}
	}
	return added
}
