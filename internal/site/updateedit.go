package site

import (
	"context"
	"os"
	"slices"
)

// edit brings a site up to date whose names are what they were. What it costs
// depends on the changed files alone. Until everything is read the site stays
// as it is.
func (u *updater) edit(ctx context.Context) (*Site, *Change, error) {
	s := u.old
	if s.upkeep == nil {
		s.upkeep = s.newUpkeep()
	}
	l, done, err := s.newLoader()
	if err != nil {
		return nil, nil, err
	}
	defer done()
	again, ok := u.again(l.dir)
	if !ok {
		return nil, nil, errTooIntricate
	}
	c := &Change{site: s, old: s, Reread: again}
	if err := u.replace(ctx, s, c, l, nil); err != nil {
		return nil, nil, err
	}
	return s, c, nil
}

// replace reads the pages of c in s again, and takes them and their permissions
// into s. gone are old pages that are no more. Until everything is read, s stays
// as it is.
func (u *updater) replace(ctx context.Context, s *Site, c *Change, l *loader, gone []*Page) error {
	k := s.upkeep
	c.pages = make([]Page, len(c.Reread))
	fresh := make([]*Page, len(c.Reread))
	l.kept.Store(k.kept)
	for i, id := range c.Reread {
		p := &s.pages[id]
		c.pages[i] = Page{node: p.node, kind: p.kind, zipped: p.zipped}
		fresh[i] = &c.pages[i]
		l.kept.Add(-int64(len(p.kept)))
	}
	show := s.tree.hide()
	read, err := l.reread(ctx, fresh, k)
	show()
	if err != nil {
		return err
	}
	if w := k.worker; w != nil && cap(w.buf) > 16*firstBuffer {
		k.worker = nil // that was a very large page
	}
	if !u.commit(s, c, read, gone) {
		return errTooIntricate
	}
	return nil
}

// hide lets the tree forget what is known of the permissions of files, until
// show is called: links are resolved without, as while loading, and permissions
// apply afterwards, see [Site.State].
func (t *Tree) hide() (show func()) {
	const bits = flagUnreadable | flagPrivate
	var hidden []nodeWas
	for id := range t.nodes {
		if x := &t.nodes[id]; x.flags&bits != 0 && x.kind == KindFile && x.real == NodeID(id) {
			hidden = append(hidden, nodeWas{NodeID(id), x.flags & bits})
			x.flags &^= bits
		}
	}
	return func() {
		for _, w := range hidden {
			t.nodes[w.id].flags |= w.flags
		}
	}
}

// again finds the pages of the edited files. ok is false when more may have
// changed than their texts.
func (u *updater) again(dir *docroot) (again []PageID, ok bool) {
	s := u.old
	for id := range u.edited {
		x := &s.tree.nodes[id]
		if kind, is := s.kindOf(x); is && kind >= pageXML && !s.sniffsAlike(dir, id, kind) {
			return nil, false
		}
		if x.page != 0 {
			again = append(again, PageID(x.page-1))
		}
		for _, alias := range s.upkeep.aliases[id] {
			y := &s.tree.nodes[alias]
			if y.page == 0 && s.modes || y.flags&(flagUnreadable|flagPrivate) != 0 {
				return nil, false // its own permissions, or the way's?
			}
			if y.page != 0 {
				again = append(again, PageID(y.page-1))
			}
		}
	}
	slices.Sort(again)
	return again, true
}

// sniffsAlike tells whether a file of which the first bytes tell the kind is
// what it was.
func (s *Site) sniffsAlike(dir *docroot, id NodeID, kind PageKind) bool {
	now := Page{node: id, kind: kind}
	s.sniffPage(dir, &now, make([]byte, 0, sniffBytes))
	if number := s.tree.nodes[id].page; number != 0 {
		was := &s.pages[number-1]
		return was.kind == now.kind && was.zipped == now.zipped
	}
	path := s.tree.Path(id)
	return now.kind == pageNone && now.err.Err == nil &&
		!slices.ContainsFunc(s.faults, func(f FileFault) bool { return f.Path == path })
}

// commit puts the pages that were read, in c, in the place of the old ones. It
// returns false, and changes nothing, when files would be pages that were none,
// or the other way round.
func (u *updater) commit(s *Site, c *Change, read []nodeMode, gone []*Page) bool {
	k := s.upkeep
	manifests := k.manifestNodes()
	touched := map[NodeID]wasLinked{}
	exchange := func(was, is func(i int) *Page, touched map[NodeID]wasLinked) {
		for i := range c.Reread {
			k.count(s, is(i), 1, touched) // first, as most links stay
			k.count(s, was(i), -1, touched)
		}
	}
	inSite := func(i int) *Page { return &s.pages[c.Reread[i]] }
	inChange := func(i int) *Page { return &c.pages[i] }
	var listed []bool
	if s.autoindex == AutoindexList {
		listed = k.listed(s, true)
	}
	exchange(inSite, inChange, touched)
	for _, p := range gone {
		k.count(s, p, -1, touched)
	}
	if !k.samePages(s, touched, manifests) {
		exchange(inChange, inSite, nil)
		for _, p := range gone {
			k.count(s, p, 1, nil)
		}
		return false
	}
	look := map[NodeID]bool{} // files whose flags may change
	for id := range u.edited {
		look[id] = true
	}
	for i := range c.pages {
		look[c.pages[i].node] = true
	}
	linked := func(id NodeID) bool { return k.isLinked(id).any }
	if listed != nil {
		now := k.listed(s, true)
		for id := range now {
			if now[id] && !listed[id] {
				look[NodeID(id)] = true
			}
		}
		linked = func(id NodeID) bool { return now[id] }
	}
	for id, was := range touched {
		if !was.any && linked(id) {
			look[id] = true
		}
	}
	u.setFlags(s, c, read, look, linked)
	c.compare()
	return true
}

// setFlags lets the site have the new pages, and the permissions of files as
// they are. c gets what was there before.
func (u *updater) setFlags(s *Site, c *Change, read []nodeMode, look map[NodeID]bool, linked func(NodeID) bool) {
	s.odd = nil // few links are judged from here on, and flags go back and forth
	for id := range look {
		c.flags = append(c.flags, nodeWas{id, s.tree.nodes[id].flags})
	}
	slices.SortFunc(c.flags, func(a, b nodeWas) int { return int(a.id) - int(b.id) })
	for id := range u.edited {
		s.tree.nodes[id].flags &^= fileBits
	}
	for i, id := range c.Reread {
		s.pages[id], c.pages[i] = c.pages[i], s.pages[id]
		x := &s.tree.nodes[s.pages[id].node]
		if x.flags &^= flagAlias; s.pages[id].alias != "" {
			x.flags |= flagAlias
		}
	}
	for _, m := range read {
		s.tree.nodes[m.id].flags |= m.flags
	}
	if !s.modes {
		return
	}
	for _, w := range c.flags {
		x := &s.tree.nodes[w.id]
		if x.kind != KindFile || x.flags&flagChecked != 0 || !linked(w.id) {
			continue
		}
		if info, err := os.Stat(s.onDisk(s.tree.Path(w.id))); err == nil {
			x.flags |= fileFlags(info.Mode())
		}
	}
}

// compare finds out for which files links may be judged differently.
func (c *Change) compare() {
	s, k := c.site, c.site.upkeep
	mark := func(id NodeID, r Regard) {
		if c.Targets == nil {
			c.Targets = make([]Regard, len(s.tree.nodes))
		}
		c.Targets[id] = max(c.Targets[id], r)
		for _, alias := range k.aliases[id] { // links to a symbolic link ask its target
			c.Targets[alias] = max(c.Targets[alias], r)
		}
	}
	for i, id := range c.Reread {
		a, b := &c.pages[i], &s.pages[id]
		switch {
		case c.Then(id) == NoPage: // who links to it was read again
		case a.err != b.err || a.alias != b.alias || a.noIndex != b.noIndex || a.canon != b.canon:
			mark(b.node, RegardAll)
		case a.script != b.script || a.quirks != b.quirks || !slices.Equal(a.anchors, b.anchors):
			mark(b.node, RegardAnchors)
		}
	}
	const judged = flagUnreadable | flagPrivate | flagAlias
	for _, w := range c.flags {
		if (s.tree.nodes[w.id].flags^w.flags)&judged != 0 {
			mark(w.id, RegardAll)
		}
	}
}
