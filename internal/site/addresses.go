package site

import (
	pathpkg "path"
	"slices"
	"strings"
)

// findIndexes notes for each directory the index file that answers it without
// more ado, so that a link to a directory costs one look.
func (s *Site) findIndexes() {
	s.indexOf = make([]NodeID, len(s.tree.nodes))
	q := asking{s: s, p: &s.profile}
	for id := range s.tree.nodes {
		s.indexOf[id] = NoNode
		if s.tree.nodes[id].kind == KindDir {
			if a := q.directory(NodeID(id), nil, false, ""); a.State == StateOK {
				s.indexOf[id] = a.Node
			}
		}
	}
}

// markAddresses notes which files the host does not serve at their own
// address, so that the fast path may answer for all others. Most hosts have
// none, and the tree is not looked at.
func (s *Site) markAddresses() {
	p := &s.profile
	if p.IndexFile != Redirect && p.PageFile != Redirect && len(p.Deny) == 0 {
		return
	}
	t := s.tree
	for id := range t.nodes {
		n := &t.nodes[id]
		if id == 0 || n.kind != KindFile && n.kind != KindDir {
			continue
		}
		name := string(t.nameOf(n))
		if slices.ContainsFunc(p.Deny, func(pattern string) bool { ok, _ := pathpkg.Match(pattern, name); return ok }) {
			n.flags |= flagAsk
			continue
		}
		if n.kind != KindFile {
			continue
		}
		switch stem, page := strings.CutSuffix(name, ".html"); {
		case p.IndexFile == Redirect && slices.Contains(s.index, name):
			// The directory's address must lead back to this file.
			n.flags |= flagMoved
			if s.indexOf[n.parent] != NodeID(id) || p.DirectorySlash != Serve {
				n.flags ^= flagMoved | flagAsk
			}
		case p.PageFile == Redirect && page && stem != "":
			n.flags |= flagMoved
			if p.Page != Serve || t.child(n.parent, []byte(stem)) != NoNode {
				n.flags ^= flagMoved | flagAsk
			}
		}
	}
}
