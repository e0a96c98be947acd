package check

import (
	"cmp"
	"context"
	"slices"

	isite "github.com/sitelink/sitelink/internal/site"
)

// tell says what is wrong with the links of again, with the pages of reread as
// files, and with the site, and takes it into the account. What is told
// otherwise than before goes to d, if that is not nil. After an error what was
// told is as it was.
func (f *Follower) tell(ctx context.Context, s *isite.Site, c *isite.Change, reread, dirty []isite.PageID, again stocked, d *difference) error {
	f.stock(again)
	rest := &stock{bad: map[isite.PageID][]badLink{}}
	for id, bad := range again {
		if len(bad) > 0 {
			rest.bad[id] = bad
		}
	}
	examples := f.chooseExamples(s, c, dirty, rest)
	found, err := describe(ctx, s, f.opt, rest)
	if err != nil {
		return err
	}
	others := f.others
	if c.Reread == nil || f.opt.More != nil || f.opt.Orphans {
		if others, err = otherFindings(ctx, s, f.opt); err != nil {
			return err
		}
	}
	// From here on nothing fails.
	said := sortFindings(s, found, rest)
	for _, p := range f.left {
		f.told.leave(p)
		d.add(p.listed, nil)
	}
	for _, e := range f.leftOver {
		f.told.list(e.finding, -1)
		d.add(e.listed, nil)
	}
	f.left, f.leftOver = nil, nil
	f.enterPages(s, reread, again, said, d)
	f.enterExamples(examples, said, d)
	listed := f.told.list(others, 1)
	f.told.list(f.others, -1)
	d.add(f.listed, listed)
	f.others, f.listed, f.retry = others, listed, said.gone
	return nil
}

// stock sorts the links to report and notes which pages have some.
func (f *Follower) stock(again stocked) {
	for id, bad := range again {
		slices.SortFunc(bad, func(a, b badLink) int { return cmp.Compare(a.link, b.link) })
		if f.bad[id] != (len(bad) > 0) {
			f.bad[id] = !f.bad[id]
			f.unsettled = true
		}
	}
}

// chooseExamples does the work of scriptTargets. Examples that have to be
// described, since they are other ones or on dirty pages, go to rest.
func (f *Follower) chooseExamples(s *isite.Site, c *isite.Change, dirty []isite.PageID, rest *stock) map[isite.PageID]*example {
	if !f.unsettled || f.opt.ScriptFragments != ScriptWarn {
		return f.examples
	}
	f.unsettled = false
	out := map[isite.PageID]*example{}
	chosen := map[isite.PageID]bool{}
	again := func(id isite.PageID) bool { return f.bad[id] || chosen[id] }
	for _, id := range f.silent() {
		t := f.targets[id]
		best, ok := firstOn(t.script, again)
		if !ok {
			best = t.smallest
		}
		chosen[best.page] = true
		st := best.scriptTarget(len(t.script))
		_, isDirty := slices.BinarySearch(dirty, best.page)
		if old := f.examples[id]; old != nil && old.scriptTarget == st && len(old.finding) > 0 && !isDirty && !c.Regards(s.Page(id).Node()) {
			out[id] = old
			continue
		}
		out[id] = &example{scriptTarget: st}
		rest.scripts = append(rest.scripts, st)
	}
	return out
}

// enterPages takes what was said of pages into the account, in the place of
// what was said before.
func (f *Follower) enterPages(s *isite.Site, reread []isite.PageID, again stocked, said said, d *difference) {
	p := placer{s: s}
	defer p.close()
	enter := func(id isite.PageID, n *judged) {
		var before []Finding
		if old := f.pages[id]; old != nil {
			before = old.listed
			f.told.leave(old)
			delete(f.pages, id)
		}
		if len(n.bad)+len(n.links)+len(n.faults) > 0 {
			f.told.enter(n)
			f.pages[id] = n
		}
		d.add(before, n.listed)
	}
	isReread := func(id isite.PageID) bool { _, ok := slices.BinarySearch(reread, id); return ok }
	for id, bad := range again {
		n := &judged{bad: bad, links: said.links[id], gone: said.gone[id]}
		if !n.gone {
			n.fine = len(bad) - len(n.links)
		}
		if old := f.pages[id]; isReread(id) {
			n.faults = p.faults(nil, id)
		} else if old != nil {
			n.faults = old.faults
		}
		enter(id, n)
	}
	for id := range said.gone { // the page of an example alone
		if _, ok := again[id]; !ok {
			n := &judged{links: said.links[id], gone: true}
			if old := f.pages[id]; old != nil {
				n.bad, n.faults = old.bad, old.faults
			}
			enter(id, n)
		}
	}
}

// enterExamples does the same for examples.
func (f *Follower) enterExamples(examples map[isite.PageID]*example, said said, d *difference) {
	for id, old := range f.examples {
		if e := examples[id]; e != old {
			f.told.list(old.finding, -1)
			if e == nil {
				d.add(old.listed, nil)
			}
		}
	}
	for id, e := range examples {
		old := f.examples[id]
		if e == old {
			continue
		}
		e.finding = said.example(e.scriptTarget)
		e.listed = f.told.list(e.finding, 1)
		if old != nil {
			d.add(old.listed, e.listed)
		} else {
			d.add(nil, e.listed)
		}
	}
	f.examples = examples
}

// otherFindings reports what no page is to blame for, or not alone.
func otherFindings(ctx context.Context, s *isite.Site, opt Options) ([]Finding, error) {
	return moreFindings(ctx, s, opt, otherFaults(s))
}

// said are new descriptions, by page.
type said struct {
	links    map[isite.PageID][]Finding
	examples map[linkTarget][]Finding
	// gone are the pages that could not be read.
	gone map[isite.PageID]bool
}

type linkTarget struct {
	linkKey
	target isite.PageID
}

// example returns what was said of the fragments of a target.
func (s said) example(st scriptTarget) []Finding {
	return s.examples[linkTarget{st.example, st.target}]
}

// sortFindings puts new descriptions where they belong. Those of a page follow
// each other.
func sortFindings(s *isite.Site, found []Finding, rest *stock) said {
	out := said{map[isite.PageID][]Finding{}, map[linkTarget][]Finding{}, map[isite.PageID]bool{}}
	// The examples of a page stand in the order of their links, then of targets.
	wanted := map[isite.PageID][]scriptTarget{}
	for _, st := range rest.scripts {
		wanted[st.example.page] = append(wanted[st.example.page], st)
	}
	for len(found) > 0 {
		n := pageEnd(found, found[0].Page)
		fs := found[:n:n]
		found = found[n:]
		node, _ := s.Lookup(fs[0].Page)
		id := s.PageAt(node)
		sts := wanted[id]
		slices.SortStableFunc(sts, func(a, b scriptTarget) int { return cmp.Compare(a.example.link, b.example.link) })
		fs = slices.DeleteFunc(fs, func(f Finding) bool {
			switch f.Code {
			case ScriptFragment:
				out.examples[linkTarget{sts[0].example, sts[0].target}] = []Finding{f}
				sts = sts[1:]
				return true
			case Changed, ReadError:
				out.gone[id] = true
			}
			return false
		})
		slices.SortFunc(fs, compareFindings)
		out.links[id] = slices.Clip(fs)
	}
	return out
}
