package site

import (
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
)

// flagAlias: a page that sends the visitor on at once.
const flagAlias = host.FreeFlag

// State returns the verdict on a link, the permissions of its file included:
// those are known only when everything has been read.
func (s *Site) State(l *Link) host.State {
	if !l.State.Answers() || l.Node == docroot.NoNode || s.odd != nil && s.odd[l.Node/64]>>(l.Node%64)&1 == 0 {
		return l.State
	}
	return s.oddState(l)
}

// oddState is State for links to files that markOdd marked.
func (s *Site) oddState(l *Link) host.State {
	switch f := s.tree.Nodes[l.Node].Flags; {
	case s.tree.Nodes[l.Node].Kind != docroot.KindFile:
	case f&docroot.Unreadable != 0:
		return host.StateUnreadable
	case f&docroot.Private != 0:
		return host.StatePrivate
	case f&flagAlias != 0 && l.State <= host.StateRedirect:
		return host.StateAlias
	}
	return l.State
}

// markOdd notes the files whose links get another verdict than their record has,
// now that all flags are known: one bit a node stays in the processor's cache, the
// nodes themselves do not. Every link is asked for.
func (s *Site) markOdd() {
	s.odd = make([]uint64, len(s.tree.Nodes)/64+1)
	for id := range s.tree.Nodes {
		if n := &s.tree.Nodes[id]; n.Kind == docroot.KindFile && n.Flags&(docroot.Unreadable|docroot.Private|flagAlias) != 0 {
			s.odd[id/64] |= 1 << (id % 64)
		}
	}
}
