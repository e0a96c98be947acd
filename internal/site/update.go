package site

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/system"
)

// Update returns the site as [Load] would return it now. changed lists the
// paths that may have changed since s was loaded: slash paths relative to the
// docroot, of files and directories that were written, made, removed or
// renamed. [Everything] stands for any change.
//
// s stays as it is, and both sites can be used at the same time. If only the
// contents of files changed, the new site reads those files and shares all
// other records with s. If names came or went, or if a change may affect how
// other pages resolve, Update loads the docroot again.
//
// A caller that drops its own reference to s before the call lets Update free
// s while it loads.
//
// Files outside the docroot, behind a symbolic link, are looked at only when a
// page that links there is read. Errors are those of Load.
func (s *Site) Update(ctx context.Context, changed []string) (*Site, error) {
	root, opt := s.Root(), s.opt
	if edited, ok := s.editedFiles(changed); ok {
		n, ok, err := s.share(ctx, edited)
		if ok || err != nil {
			return n, err
		}
	}
	return Load(ctx, root, opt)
}

// Everything, as a changed path, says that anything may have changed.
const Everything = "."

// ruleNames are the names of files that hold rules of a host.
var ruleNames = host.RuleNames(false)

// editedFiles returns the nodes of the changed paths. ok is false unless each
// path names a regular file, before and now, that holds no rules and that no
// symbolic link leads to. It is false, too, if so many files changed that
// keeping two generations of their pages costs more memory than loading the
// docroot again costs time.
func (s *Site) editedFiles(changed []string) (edited []docroot.NodeID, ok bool) {
	for _, path := range changed {
		path = strings.Trim(path, "/")
		if path == "" || path == Everything || strings.HasPrefix(path, "../") {
			return nil, false
		}
		id := s.tree.At(path)
		info, err := os.Lstat(s.onDisk(path))
		switch {
		case err != nil && id == docroot.NoNode:
			continue // created and removed again
		case err != nil || id == docroot.NoNode || !info.Mode().IsRegular():
			return nil, false
		case s.tree.Nodes[id].Kind != docroot.KindFile || s.tree.Nodes[id].Real != id || slices.Contains(ruleNames, s.tree.Name(id)):
			return nil, false
		}
		edited = append(edited, id)
	}
	slices.Sort(edited)
	edited = slices.Compact(edited)
	if len(edited) > max(16, len(s.pages)/8) {
		return nil, false
	}
	for id := range s.tree.Nodes {
		n := &s.tree.Nodes[id]
		if _, linked := slices.BinarySearch(edited, n.Real); linked && n.Real != docroot.NodeID(id) {
			return nil, false
		}
	}
	return edited, true
}

// onDisk returns the name of a file or directory for the system.
func (s *Site) onDisk(path string) string { return filepath.Join(s.Real(), filepath.FromSlash(path)) }

// share returns a site with new records of the edited files that shares all
// others with s. ok is false if the edits reach further than that.
func (s *Site) share(ctx context.Context, edited []docroot.NodeID) (n *Site, ok bool, err error) {
	dir, err := docroot.Open(s.Real())
	if err != nil {
		return nil, false, fmt.Errorf("read docroot %s: %w", s.Root(), system.Cause(err))
	}
	defer dir.Close()
	if !s.SameServers() {
		return nil, false, nil // the address of hugo server is one of the site's own
	}
	pages, ok := s.editedPages(dir, edited)
	if !ok {
		return nil, false, nil
	}
	slices.SortFunc(pages, func(a, b Page) int { return cmp.Compare(s.PageAt(a.node), s.PageAt(b.node)) })
	n = new(Site)
	*n = *s
	tree := withoutPermissions(s.tree, edited)
	n.Host, n.tree, n.pages, n.linked, n.manifests = s.Host.WithTree(tree), tree, slices.Clone(s.pages), slices.Clone(s.linked), nil
	n.sitemaps = nil
	l := &loader{Site: n, dir: dir, modes: s.Permissions()}
	for i := range s.pages {
		l.saved.Add(int64(len(s.pages[i].saved)))
	}
	if err := l.run(ctx, pages); err != nil {
		return nil, false, err
	}
	for i := range pages {
		p := &pages[i]
		id := n.PageAt(p.node)
		if p.err.Err == docroot.ErrVanished || !n.makesSamePages(&s.pages[id], p) {
			return nil, false, nil
		}
		// Copies, because the worker's blocks have room for many pages and live
		// as long as one of them.
		p.links, p.frags, p.anchors = slices.Clone(p.links), slices.Clone(p.frags), slices.Clone(p.anchors)
		if s.pages[id].picture {
			p.becomePicture()
		}
		n.pages[id] = *p
	}
	restorePermissions(n.tree, s.tree, edited)
	if n.Permissions() {
		l.statLinked()
	}
	n.markOverrides()
	return n, true, nil
}

// editedPages returns unread records for the edited files that are pages. ok is
// false if a file that is recognised by its first bytes became another kind, and
// for image maps, which may be pages in two ways.
func (s *Site) editedPages(dir *docroot.Dir, edited []docroot.NodeID) (pages []Page, ok bool) {
	for _, id := range edited {
		x := &s.tree.Nodes[id]
		p := Page{node: id, kind: pageNone, canon: docroot.NoNode}
		if x.Page != 0 {
			if p.kind, p.zipped = s.pages[x.Page-1].kind, s.pages[x.Page-1].zipped; p.kind == PagePointer {
				return nil, false
			}
		}
		l := loader{Site: s, dir: dir}
		if kind, known := s.kindOf(x); known && kind >= pageXML {
			was := p.kind
			if was == PageManifest { // because a page names it so
				was = pageNone
			}
			now := Page{node: id, kind: kind}
			l.sniffPage(&now, make([]byte, 0, sniffBytes))
			unread := func(f docroot.FileFault) bool { return f.Path == s.tree.Path(id) }
			if now.kind != was || now.zipped != p.zipped || now.err.Err != nil || slices.ContainsFunc(s.unread, unread) {
				return nil, false
			}
		}
		if x.Page != 0 {
			if s.mayBeMap(x) {
				return nil, false
			}
			pages = append(pages, p)
		}
	}
	return pages, true
}

// makesSamePages reports whether the new version of a page makes the same other
// files pages as the old one: image maps and Markdown, which are pages because
// others link to them, and web manifests.
func (s *Site) makesSamePages(old, now *Page) bool {
	if now.kind == PageRobots || old.manifests || now.manifests || old.manifest != now.manifest {
		return false
	}
	return slices.Equal(s.linkedOnly(old), s.linkedOnly(now))
}

// linkedOnly returns, sorted, the files a page links to that are pages only
// because of such a link, and SVG files with whether the link opens them. A
// directory listing links to the files in the directory; where the host makes
// listings, it returns all files that the page links to.
func (s *Site) linkedOnly(p *Page) (nodes []uint64) {
	for i := range p.links {
		l := &p.links[i]
		if l.Node != docroot.NoNode && l.State.Answers() && (s.ListsDirectories() || isSVG(s, l) || s.mayBeMap(&s.tree.Nodes[l.Node]) || s.mayBeMarkdown(&s.tree.Nodes[l.Node])) {
			nodes = append(nodes, uint64(l.Node)<<8|uint64(l.bits&bitOpens))
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// withoutPermissions returns a copy of the tree, without what is known of the
// permissions of files: links are resolved as if every file were readable, and
// [Site.State] adds permissions afterwards. The edited files lose all that was
// learnt by reading them.
func withoutPermissions(t *docroot.Tree, edited []docroot.NodeID) *docroot.Tree {
	n := t.Clone()
	for id := range n.Nodes {
		if x := &n.Nodes[id]; x.Kind == docroot.KindFile && x.Real == docroot.NodeID(id) {
			x.Flags &^= docroot.Unreadable | docroot.Private
		}
	}
	for _, id := range edited {
		n.Nodes[id].Flags &^= docroot.Checked | flagAlias
	}
	return n
}

// restorePermissions takes over from old what is known of the permissions of
// files that were not edited.
func restorePermissions(t, old *docroot.Tree, edited []docroot.NodeID) {
	for id := range t.Nodes {
		if _, isEdited := slices.BinarySearch(edited, docroot.NodeID(id)); !isEdited {
			t.Nodes[id].Flags |= old.Nodes[id].Flags
		}
	}
}
