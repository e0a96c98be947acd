package site

// flagAlias: a page that sends the visitor on at once.
const flagAlias = FlagFree

// State returns the verdict on a link, the permissions of its file included:
// those are known only when everything has been read.
func (s *Site) State(l *Link) State {
	if !l.State.Answers() || l.Node == NoNode || s.odd != nil && s.odd[l.Node/64]>>(l.Node%64)&1 == 0 {
		return l.State
	}
	return s.oddState(l)
}

// oddState is State for links to files that markOdd marked.
func (s *Site) oddState(l *Link) State {
	switch f := s.tree.nodes[l.Node].flags; {
	case s.tree.nodes[l.Node].kind != KindFile:
	case f&flagUnreadable != 0:
		return StateUnreadable
	case f&flagPrivate != 0:
		return StatePrivate
	case f&flagAlias != 0 && l.State <= StateRedirect:
		return StateAlias
	}
	return l.State
}

// markOdd notes the files whose links get another verdict than their record has,
// now that all flags are known: one bit a node stays in the processor's cache, the
// nodes themselves do not. Every link is asked for.
func (s *Site) markOdd() {
	s.odd = make([]uint64, len(s.tree.nodes)/64+1)
	for id := range s.tree.nodes {
		if n := &s.tree.nodes[id]; n.kind == KindFile && n.flags&(flagUnreadable|flagPrivate|flagAlias) != 0 {
			s.odd[id/64] |= 1 << (id % 64)
		}
	}
}
