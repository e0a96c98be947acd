package site

import (
	pathpkg "path"
	"slices"
	"strings"
)

// findIndexes notes for each directory the index file that answers it without
// more ado, so that a link to a directory costs one look.
func (s *Host) findIndexes() {
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
func (s *Host) markAddresses() {
	p := &s.profile
	if p.IndexFile == Serve && p.PageFile == Serve && len(p.Deny) == 0 && p.ErrorPage == "" && !p.PageSlashFirst {
		return
	}
	t := s.tree
	q := asking{s: s, p: p}
	for id := range t.nodes {
		n := &t.nodes[id]
		if id == 0 || n.kind != KindFile && n.kind != KindDir {
			continue
		}
		name := string(t.nameOf(n))
		switch {
		case slices.ContainsFunc(p.Deny, func(pattern string) bool { ok, _ := pathpkg.Match(pattern, name); return ok }):
			n.flags |= flagAsk | flagShut
		case n.parent == 0 && name == p.ErrorPage:
			n.flags |= flagAsk
		case n.kind == KindFile:
			n.flags |= q.moved(NodeID(id), name)
		case p.PageSlashFirst && q.pageOf(n.parent, name) != NoNode,
			p.PageFile == RedirectAlways && strings.HasSuffix(name, ".html"):
			n.flags |= flagAsk // a page may answer for the directory, or it goes by another name
		}
	}
	if p.TrailingSlash != Keep || p.Page == Redirect || p.IndexFile == RedirectBare || p.DirectorySlash == Redirect {
		s.findAddresses()
	}
}

// findAddresses notes the addresses of pages that a host moves to another
// directory: /page/ for page.html, or /dir for dir/index.html. Relative links
// of such a page lead elsewhere than its place in the docroot tells.
func (s *Host) findAddresses() {
	t := s.tree
	s.addresses = map[NodeID]string{}
	for id := range t.nodes {
		n := &t.nodes[id]
		if n.kind != KindFile || !strings.HasSuffix(string(t.nameOf(n)), ".html") {
			continue
		}
		path := "/" + t.Path(NodeID(id))
		if s.indexOf[n.parent] == NodeID(id) {
			path = path[:strings.LastIndexByte(path, '/')+1]
		}
		a := s.answer(escapePath(path, Generic.Literal, upperHex), "")
		if a.Final != "" && a.Node == NodeID(id) && a.State.Answers() {
			s.addresses[NodeID(id)] = a.Final
		}
	}
}

// moved tells what becomes of a request for a file by its own name: flagMoved
// if a redirect leads back to it, flagAsk if only the slow path can tell.
func (q *asking) moved(id NodeID, name string) nodeFlags {
	s, p, t := q.s, q.p, q.s.tree
	n := &t.nodes[id]
	stem, page := strings.CutSuffix(name, ".html")
	switch {
	case p.IndexFile != Serve && slices.Contains(s.index, name):
		// The directory's address must lead back to this file.
		if s.indexOf[n.parent] == id && p.IndexFile == Redirect && p.DirectorySlash == Serve && t.nodes[n.parent].flags&flagAsk == 0 {
			return flagMoved
		}
		return flagAsk
	case p.PageFile != Serve && page && strings.Trim(stem, ".") == "":
		return flagAsk // what is left is no name
	case p.PageFile != Serve && page:
		entry := t.child(n.parent, []byte(stem))
		switch {
		case p.PageFile == Redirect && entry != NoNode && t.nodes[entry].kind == KindFile:
			return 0
		case p.Page == Serve && entry == NoNode && !(stem == "index" && p.IndexName != Missing):
			return flagMoved
		}
		return flagAsk
	}
	return 0
}
