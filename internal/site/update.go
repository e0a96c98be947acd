package site

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/redirect"
)

// ErrMoving: a page vanished between the listing of its directory and its
// reading. Whoever writes the docroot is not done; ask again later.
var ErrMoving = errors.New("the docroot is being written")

// Change tells what [Site.Update] made anew, for those who keep what they
// worked out of the old site.
type Change struct {
	// Renumbered: the names of the docroot changed, and with them the numbers
	// of pages and nodes. Nothing else is told then.
	Renumbered bool
	// Reread are the pages that were read again, ascending.
	Reread []PageID
	// Targets holds, by node, whether links to it may be judged differently now:
	// it has other anchors or permissions. nil when there is none.
	Targets []bool
}

// Everything, as a changed path, says that anything may have changed.
const Everything = "."

// Update returns the site as [Load] would return it now, given the paths that
// may have changed since s was loaded: slash paths relative to the docroot, of
// files that were written, made, removed or renamed. A directory stands for all
// that lies in it. Only pages that changed are read, and those with a link that
// a new or lost name can answer; the records of the others are shared with s,
// which stays as it is. A change of the host's rule files, of directory
// permissions or of symbolic links to directories loads the docroot anew.
//
// What lies outside the docroot, behind a symbolic link, is looked at when a
// page that links there is read.
//
// Errors are those of [Load], and [ErrMoving]. Calls for one s must not be
// concurrent.
func (s *Site) Update(ctx context.Context, changed []string) (*Site, *Change, error) {
	u := &updater{old: s}
	p := u.plan(changed)
	if !slices.Equal(s.findServers(), s.servers) {
		p = planLoad // hugo server has taken over, or is gone: another address is the site's own
	}
	switch p {
	case planEdit:
		n, c, err := u.edit(ctx)
		if err != errTooIntricate {
			return n, c, err
		}
	case planNames:
		n, c, err := u.rename(ctx)
		if err != errTooIntricate {
			return n, c, err
		}
	}
	n, err := Load(ctx, s.root, s.opt)
	return n, &Change{Renumbered: true}, err
}

// errTooIntricate: what changed reaches too far to be followed.
var errTooIntricate = errors.New("load anew")

// updater makes a new site of an old one.
type updater struct {
	old *Site
	// edited are the files whose content or permissions may have changed, by
	// node of the old site.
	edited map[NodeID]bool
	// files and dirs are the changed paths, for pages with no node yet.
	files map[string]bool
	dirs  []string
}

type plan uint8

const (
	planEdit  plan = iota // the names are what they were
	planNames             // names came or went
	planLoad              // load anew
)

// ruleNames are files from which a host takes rules.
var ruleNames = []string{"_redirects", "_headers", ".htaccess", "netlify.toml", "vercel.json", "firebase.json"}

// plan finds out what kind of change it is.
func (u *updater) plan(changed []string) plan {
	u.edited, u.files = map[NodeID]bool{}, map[string]bool{}
	p := planEdit
	for _, path := range changed {
		path = strings.Trim(path, "/")
		if path == "" || path == Everything || strings.HasPrefix(path, "../") {
			return planLoad
		}
		if slices.Contains(ruleNames, path[strings.LastIndexByte(path, '/')+1:]) {
			return planLoad
		}
		p = max(p, u.look(path))
	}
	return p
}

// look compares one path with what the old site has of it.
func (u *updater) look(path string) plan {
	s := u.old
	id := s.tree.at(path)
	info, err := os.Lstat(filepath.Join(s.real, filepath.FromSlash(path)))
	switch {
	case err != nil && id == NoNode:
		return planEdit // came and went
	case err == nil && info.Mode().IsRegular() && id != NoNode && s.tree.nodes[id].kind == KindFile && s.tree.nodes[id].real == id:
		u.edited[id] = true
		u.files[path] = true
		return planEdit
	}
	u.files[path] = true
	if err == nil && info.IsDir() || id != NoNode && s.tree.nodes[id].kind == KindDir {
		u.dirs = append(u.dirs, path+"/")
	}
	return planNames
}

// touches tells whether a path is among the changed ones.
func (u *updater) touches(path string) bool {
	return u.files[path] || slices.ContainsFunc(u.dirs, func(dir string) bool { return strings.HasPrefix(path, dir) })
}

// at returns the node of a path, symbolic links not followed.
func (t *Tree) at(path string) NodeID {
	at := NodeID(0)
	for name := range strings.SplitSeq(path, "/") {
		if at = t.child(at, []byte(name)); at == NoNode {
			return NoNode
		}
	}
	return at
}

// heir returns a site with the settings and the hashes of s, and no page.
func (s *Site) heir(t *Tree) *Site {
	return &Site{
		root: s.root, real: s.real, tree: t, opt: s.opt, profile: s.profile, index: s.index, foldIndex: s.foldIndex,
		autoindex: s.autoindex, base: s.base, maps: s.maps, bases: s.bases, sharedHosts: s.sharedHosts, servers: s.servers, serverURL: s.serverURL, rules: s.rules, ruleFiles: s.ruleFiles,
		local: s.local, hash: s.hash, faults: s.faults, modes: s.modes, kinds: s.kinds, ruleReads: s.ruleReads,
	}
}

// fileBits are what is known of a file only when it was read or linked to.
const fileBits = flagChecked | flagUnreadable | flagPrivate | flagAlias

// edit makes the new site where no name came or went.
func (u *updater) edit(ctx context.Context) (*Site, *Change, error) {
	s := u.old
	t := *s.tree
	t.nodes = slices.Clone(s.tree.nodes)
	n := s.heir(&t)
	n.indexOf, n.addresses, n.fold = s.indexOf, s.addresses, s.fold
	n.otherXML, n.sourceMaps = s.otherXML, s.sourceMaps
	faults := s.RuleFaults()
	n.ruleFaults = func() []redirect.Fault { return faults }
	for id := range u.edited {
		if kind, ok := s.kindOf(&t.nodes[id]); ok && kind >= pageXML {
			return nil, nil, errTooIntricate // what it is depends on what it holds
		}
	}
	for id := range t.nodes {
		if x := &t.nodes[id]; x.kind == KindFile && x.real == NodeID(id) {
			x.flags &^= fileBits // as while loading
		}
	}
	n.pages = slices.Clone(s.pages)
	var again []PageID
	for i := range n.pages {
		p := &n.pages[i]
		x := &t.nodes[p.node]
		if !u.edited[x.real] {
			continue
		}
		if x.real != p.node && x.flags&(flagUnreadable|flagPrivate) != 0 {
			return nil, nil, errTooIntricate // its own permissions, or the way's?
		}
		again = append(again, PageID(i))
	}
	l, done, err := n.newLoader()
	if err != nil {
		return nil, nil, err
	}
	defer done()
	read, err := l.reread(ctx, again)
	if err != nil {
		return nil, nil, err
	}
	n.markLinked(false)
	n.linkListed()
	was := slices.Clone(s.manifests)
	slices.Sort(was)
	if !n.sameMaps() || !n.collectManifests() || !slices.Equal(n.manifests, slices.Compact(was)) {
		return nil, nil, errTooIntricate
	}
	n.markLinked(true)
	for id := range t.nodes {
		if x := &t.nodes[id]; x.kind == KindFile && x.real == NodeID(id) && !u.edited[NodeID(id)] {
			x.flags |= s.tree.nodes[id].flags & (fileBits &^ flagAlias)
		}
	}
	n.settleFlags(read)
	return n, &Change{Reread: again, Targets: n.targets(s, again)}, nil
}

// sameMaps tells whether the image maps that links lead to are those that are
// pages.
func (s *Site) sameMaps() bool {
	for id := range s.tree.nodes {
		x := &s.tree.nodes[id]
		if x.kind != KindFile || !s.linked[id] && x.page == 0 {
			continue
		}
		name := s.tree.nameOf(x)
		if len(name) < len(".map") || !strings.EqualFold(string(name[len(name)-len(".map"):]), ".map") || isSourceMap(strings.ToLower(string(name))) {
			continue
		}
		if isPage := x.page != 0; isPage != s.linked[id] {
			return false
		}
	}
	return true
}

// targets compares what links ask of files in two sites of the same names.
func (s *Site) targets(old *Site, again []PageID) []bool {
	var out []bool
	mark := func(id NodeID) {
		if out == nil {
			out = make([]bool, len(s.tree.nodes))
		}
		out[id] = true
	}
	for _, id := range again {
		a, b := &old.pages[id], &s.pages[id]
		if a.script != b.script || a.quirks != b.quirks || a.err != b.err || a.alias != b.alias || a.noIndex != b.noIndex || a.canon != b.canon || !slices.Equal(a.anchors, b.anchors) {
			mark(b.node)
		}
	}
	for id := range s.tree.nodes {
		if s.tree.nodes[id].flags != old.tree.nodes[id].flags {
			mark(NodeID(id))
		}
	}
	for id := range out { // links to a symbolic link ask its target
		if out[s.tree.nodes[id].real] {
			out[id] = true
		}
	}
	return out
}
