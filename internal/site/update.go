package site

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	// Targets says, by node, how links to it may be judged differently now; nil
	// when there is none.
	Targets []Regard

	// Gone are pages that are no more, by the numbers that they had, ascending;
	// Came and Went the paths of files and directories that are new and that went.
	Gone       []PageID
	Came, Went []string

	// old is the site as it was, the same as site when its names are.
	site, old *Site
	// pages and flags are what the site had before, or has now, while [Change.Before]
	// is at work.
	pages []Page
	flags []nodeWas
	// now and then are the numbers of old pages in the new site and back, nil
	// when they are the same.
	now, then []PageID
}

// NoPage is the number of a page that is not there.
const NoPage PageID = 1<<32 - 1

// Regard says in what regard a file has changed for the links to it.
type Regard uint8

const (
	// RegardAnchors: fragments may be found that were not, or the other way
	// round; links that ask for none are judged as they were.
	RegardAnchors Regard = iota + 1
	// RegardAll: any link to the file may be judged differently.
	RegardAll
)

type nodeWas struct {
	id    NodeID
	flags nodeFlags
}

// Before calls f with the site as it was before the change, which must not have
// been Renumbered. It lasts until f returns; nobody else may read the site
// meanwhile.
func (c *Change) Before(f func(old *Site)) {
	if c.old == c.site {
		c.swap()
		defer c.swap()
	}
	f(c.old)
}

// Moved tells whether pages have other numbers than before.
func (c *Change) Moved() bool { return c.now != nil }

// Now returns the number of a page that had the number old; NoPage for one that
// is no more.
func (c *Change) Now(old PageID) PageID {
	if c.now == nil {
		return old
	}
	return c.now[old]
}

// Then returns the number that a page had; NoPage for one that is new.
func (c *Change) Then(id PageID) PageID {
	if c.then == nil {
		return id
	}
	return c.then[id]
}

// Was returns what a page of Reread was before; nil for others. A new page was
// an empty one.
func (c *Change) Was(id PageID) *Page {
	if i, ok := slices.BinarySearch(c.Reread, id); ok {
		return &c.pages[i]
	}
	return nil
}

// Regards tells whether links to a file may be judged differently.
func (c *Change) Regards(n NodeID) bool { return c.Targets != nil && c.Targets[n] != 0 }

// swap exchanges what the site has and what it had.
func (c *Change) swap() {
	s := c.site
	for i, id := range c.Reread {
		s.pages[id], c.pages[i] = c.pages[i], s.pages[id]
	}
	for i := range c.flags {
		x := &s.tree.nodes[c.flags[i].id]
		x.flags, c.flags[i].flags = c.flags[i].flags, x.flags
	}
}

// Everything, as a changed path, says that anything may have changed.
const Everything = "."

// Update returns the site as [Load] would return it now, given the paths that
// may have changed since s was loaded: slash paths relative to the docroot, of
// files that were written, made, removed or renamed. A directory stands for all
// that lies in it. Only pages that changed are read, and those with a link that
// a new or lost name can answer. A change of the host's rule files, of directory
// permissions or of symbolic links to directories loads the docroot anew.
//
// Where the names are what they were, s itself is brought up to date and
// returned. After an error s is as it was; otherwise it must not be used any
// more, unless it is what was returned. Numbers of files stay what they are
// unless the change says that all were renumbered; those of pages are by path,
// and move when pages come or go.
//
// What lies outside the docroot, behind a symbolic link, is looked at when a
// page that links there is read.
//
// Errors are those of [Load], and [ErrMoving]. Calls for one s must not be
// concurrent.
func (s *Site) Update(ctx context.Context, changed []string) (*Site, *Change, error) {
	u := &updater{old: s}
	p := u.plan(changed)
	if u.mayServe(p) && !slices.Equal(s.findServers(), s.servers) {
		p = planLoad // hugo server has taken over, or is gone: another address is the site's own
	}
	switch p {
	case planEdit:
		n, c, err := u.edit(ctx)
		if err != errTooIntricate {
			return n, c, err
		}
	case planNames:
		n, c, err := u.few(ctx)
		if err == errTooIntricate {
			n, c, err = u.rename(ctx)
		}
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
	// names are the changed paths that are no edited files.
	names []string
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

// onDisk returns the name of a file or directory for the system, given its path
// in the docroot.
func (s *Site) onDisk(path string) string { return filepath.Join(s.real, filepath.FromSlash(path)) }

// look compares one path with what the old site has of it.
func (u *updater) look(path string) plan {
	s := u.old
	id := s.tree.At(path)
	info, err := os.Lstat(s.onDisk(path))
	switch {
	case err != nil && id == NoNode:
		return planEdit // came and went
	case err == nil && info.Mode().IsRegular() && id != NoNode && s.tree.nodes[id].kind == KindFile && s.tree.nodes[id].real == id:
		u.edited[id] = true
		u.files[path] = true
		return planEdit
	}
	u.files[path] = true
	u.names = append(u.names, path)
	if err == nil && info.IsDir() || id != NoNode && s.tree.nodes[id].kind == KindDir {
		u.dirs = append(u.dirs, path+"/")
	}
	return planNames
}

// mayServe tells whether a home page, from which findServers learns the address
// of hugo server, is among what changed.
func (u *updater) mayServe(p plan) bool {
	if p != planEdit {
		return true
	}
	const home = "index.html"
	for id := range u.edited {
		if u.old.tree.Name(id) == home {
			return true
		}
	}
	// It may be a symbolic link to what was edited.
	return u.old.upkeep == nil || slices.ContainsFunc(slices.Collect(maps.Keys(u.edited)), func(id NodeID) bool {
		return len(u.old.upkeep.aliases[id]) > 0
	})
}

// touches tells whether a path is among the changed ones.
func (u *updater) touches(path string) bool {
	return u.files[path] || slices.ContainsFunc(u.dirs, func(dir string) bool { return strings.HasPrefix(path, dir) })
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
