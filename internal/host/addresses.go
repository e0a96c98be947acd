package host

import (
	"github.com/sitelink/sitelink/internal/docroot"

	pathpkg "path"
	"slices"
	"strings"
)

// findIndexes finds the index file of each directory, so that a link to a
// directory costs one look-up. Directories that need more than that get NoNode.
func (h *Host) findIndexes() {
	h.indexOf = make([]docroot.NodeID, len(h.tree.Nodes))
	q := request{h: h, p: &h.profile}
	for id := range h.tree.Nodes {
		h.indexOf[id] = docroot.NoNode
		if h.tree.Nodes[id].Kind == docroot.KindDir {
			if a := q.directory(docroot.NodeID(id), nil, false, ""); a.State == StateOK {
				h.indexOf[id] = a.Node
			}
		}
	}
}

// markAddresses marks the files that the host does not serve at their own
// address, so that [PathResolver] can answer for all others. Most hosts serve
// every file at its own address; then there is nothing to mark.
func (h *Host) markAddresses() {
	p := &h.profile
	if p.IndexFile == Serve && p.PageFile == Serve && len(p.Deny) == 0 && p.ErrorPage == "" && !p.PageSlashFirst {
		return
	}
	t := h.tree
	q := request{h: h, p: p}
	for id := range t.Nodes {
		n := &t.Nodes[id]
		if id == 0 || n.Kind != docroot.KindFile && n.Kind != docroot.KindDir {
			continue
		}
		name := string(t.NameOf(n))
		switch {
		case slices.ContainsFunc(p.Deny, func(pattern string) bool { ok, _ := pathpkg.Match(pattern, name); return ok }):
			n.Flags |= flagAsk | flagShut
		case n.Parent == 0 && name == p.ErrorPage:
			n.Flags |= flagAsk
		case n.Kind == docroot.KindFile:
			n.Flags |= q.moved(docroot.NodeID(id), name)
		case p.PageSlashFirst && q.pageOf(n.Parent, name) != docroot.NoNode,
			p.PageFile == RedirectAlways && strings.HasSuffix(name, ".html"):
			n.Flags |= flagAsk // a page may answer for the directory, or the directory has another address
		}
	}
	if p.TrailingSlash != Keep || p.Page == Redirect || p.IndexFile == RedirectBare || p.DirectorySlash == Redirect {
		h.findAddresses()
	}
}

// findAddresses finds the addresses of pages that a host moves to another
// directory: /page/ for page.html, or /dir for dir/index.html. Relative links
// of such a page resolve against that address, not against the page's place in
// the docroot.
func (h *Host) findAddresses() {
	t := h.tree
	h.movedTo = map[docroot.NodeID]string{}
	for id := range t.Nodes {
		n := &t.Nodes[id]
		if n.Kind != docroot.KindFile || !strings.HasSuffix(string(t.NameOf(n)), ".html") {
			continue
		}
		path := "/" + t.Path(docroot.NodeID(id))
		if h.indexOf[n.Parent] == docroot.NodeID(id) {
			path = path[:strings.LastIndexByte(path, '/')+1]
		}
		a := h.AnswerRequest(escapePath(path), "")
		if a.Final != "" && a.Node == docroot.NodeID(id) && a.State.Answers() {
			h.movedTo[docroot.NodeID(id)] = a.Final
		}
	}
}

// moved returns what the host does with a request for a file by its own name:
// flagMoved if it redirects to an address that leads back to the file, flagAsk
// if only [Host.Resolve] knows.
func (q *request) moved(id docroot.NodeID, name string) docroot.Flags {
	s, p, t := q.h, q.p, q.h.tree
	n := &t.Nodes[id]
	stem, page := strings.CutSuffix(name, ".html")
	switch {
	case p.IndexFile != Serve && slices.Contains(s.index, name):
		// The directory's address must lead back to this file.
		if s.indexOf[n.Parent] == id && p.IndexFile == Redirect && p.DirectorySlash == Serve && t.Nodes[n.Parent].Flags&flagAsk == 0 {
			return flagMoved
		}
		return flagAsk
	case p.PageFile != Serve && page && strings.Trim(stem, ".") == "":
		return flagAsk // nothing is left of the name
	case p.PageFile != Serve && page:
		entry := t.Child(n.Parent, []byte(stem))
		switch {
		case p.PageFile == Redirect && entry != docroot.NoNode && t.Nodes[entry].Kind == docroot.KindFile:
			return 0
		case p.Page == Serve && entry == docroot.NoNode && stem != "index":
			return flagMoved
		}
		return flagAsk
	}
	return 0
}
