package host

import (
	"net/http"
	"os"
	pathpkg "path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
)

// maxSymlinks is how many symbolic links Linux follows on one path.
const maxSymlinks = 40

// walk follows decoded segments down the tree. Each branch is a field of the
// profile. docs/reference/profiles.md has the measured answers.
func (q *request) walk(segments []string, slash bool, query string) Answer {
	t := q.h.tree
	at, private, symlinks, start, end := docroot.NodeID(0), false, 0, 0, 0
	if d := q.h.deep.Load(); d != nil && d.h == q.h && len(segments) > d.depth && strings.HasPrefix(q.path, d.path) && !hasDots(q.path[len(d.path):]) {
		at, private, symlinks, start, end = d.at, d.private, d.symlinks, d.depth, len(d.path)-1
	}
	for i, name := range segments[start:] {
		i += start
		last := i == len(segments)-1
		next := q.child(at, name)
		q.folded = q.folded || next != docroot.NoNode && string(t.NameOf(&t.Nodes[next])) != name
		if a, denied := q.denied(name); denied {
			return a
		}
		if last && q.p.Page != Missing {
			if a, ok := q.page(at, next, segments, private); ok {
				return a
			}
		}
		if next == docroot.NoNode {
			return q.missing(at, segments[i:], slash)
		}
		n := &t.Nodes[next]
		if n.Real != next {
			if symlinks++; symlinks > maxSymlinks {
				return Answer{State: StateBrokenSymlink, Node: docroot.NoNode, Status: http.StatusNotFound, Note: "the path goes through too many symbolic links"}
			}
		}
		switch n.Kind {
		case docroot.KindOutside:
			return q.outside(next, segments[:i+1], segments[i+1:], slash, query)
		case docroot.KindDir:
			if !last && n.Flags&docroot.Unreadable != 0 {
				return Answer{State: StateUnreadable, Node: docroot.NoNode, Status: http.StatusForbidden}
			}
			private = private || n.Flags&docroot.Private != 0
		case docroot.KindFile:
			if !last || slash {
				// The path continues after the file.
				switch {
				case q.h.tree.Nodes[next].Flags&docroot.Closed != 0:
					return Answer{State: StateUnreadable, Node: docroot.NoNode, Status: http.StatusForbidden}
				case q.p.FileSlash == Serve, q.p.FileSlash == ServeSlash && q.slash && i == len(segments)-1:
					q.step("file-slash", "the host treats the rest of the path as path info and serves the file")
					return q.file(next, private)
				case q.p.FileSlash == Redirect && q.slash && i == len(segments)-1:
					return q.redirect("file-slash", "/"+strings.Join(segments, "/"), q.query)
				}
				a := Answer{State: StateMissingFile, Node: docroot.NoNode, Status: http.StatusNotFound}
				if q.p.Portable {
					a.Note = "a slash follows the name of a file; only lighttpd serves the file then"
				}
				q.step("file-slash", "the path continues after the name of a file")
				return a
			}
			return q.named(next, segments, private, query)
		default:
			// The name is neither a file nor a directory. Servers refuse such names with different
			// statuses; all of them are errors.
			a := Answer{State: StateBrokenSymlink, Node: docroot.NoNode, Status: http.StatusNotFound}
			switch n.Kind {
			case docroot.KindLoop:
				a.Note = "the symbolic link points to itself, or the chain of links is too long"
			case docroot.KindThrough:
				a.Note = "the target of the symbolic link treats a file as a directory"
			case docroot.KindPipe, docroot.KindSocket, docroot.KindDevice:
				a.State = StateSpecialFile
			}
			return a
		}
		at = next
		if end += 1 + len(name); i%deepEvery == deepEvery-1 && !last && !q.folded && q.path[end] == '/' && q.path[:end] == "/"+strings.Join(segments[:i+1], "/") {
			q.h.deep.Store(&deepWalk{q.h, q.path[:end+1], at, private, symlinks, i + 1})
		}
	}
	return q.atDirectory(at, segments, slash, private, query)
}

// deepWalk is what [request.walk] found at a directory far down. The links of a page
// there share the directories of the page, and there can be a thousand.
type deepWalk struct {
	h        *Host
	path     string // with its slashes, and without dots
	at       docroot.NodeID
	private  bool
	symlinks int
	depth    int // how many directories path has
}

// deepEvery is how many directories are followed before a walk is remembered, or
// remembered again. Hardly any site has so many.
const deepEvery = 64

// denied answers for a name that the host refuses to serve.
func (q *request) denied(name string) (Answer, bool) {
	for _, pattern := range q.p.Deny {
		if ok, _ := pathpkg.Match(pattern, name); ok {
			q.step("deny", "the host refuses to serve names that match ", pattern)
			return Answer{State: StateUnreadable, Node: docroot.NoNode, Status: q.p.Denied, Note: "the host refuses to serve names that match " + pattern}, true
		}
	}
	return Answer{}, false
}

// named answers a request for a file by its own name.
func (q *request) named(id docroot.NodeID, segments []string, private bool, query string) Answer {
	name := segments[len(segments)-1]
	if q.p.IndexFile != Serve && len(q.h.index) > 0 && slices.Contains(q.h.index, name) {
		return q.redirect("index-file", q.directoryPath(segments[:len(segments)-1]), query)
	}
	if stem, ok := strings.CutSuffix(name, ".html"); ok && q.p.PageFile == Redirect && stem != "" && !q.isFile(q.h.tree.Nodes[id].Parent, stem) {
		return q.redirect("page-file", "/"+strings.Join(append(slices.Clone(segments[:len(segments)-1]), stem), "/"), query)
	}
	q.step("file", "/", q.h.tree.Path(id))
	return q.file(id, private)
}

// child returns the entry of a directory that the host finds for name.
func (q *request) child(dir docroot.NodeID, name string) docroot.NodeID {
	real := q.h.tree.Nodes[dir].Real
	id := q.h.tree.Child(real, []byte(name))
	if id == docroot.NoNode && q.p.AnyCase {
		id = q.h.tree.FoldChild(real, name)
	}
	return id
}

// isFile reports whether the directory holds a file of that name.
func (q *request) isFile(dir docroot.NodeID, name string) bool {
	t := q.h.tree
	id := q.child(dir, name)
	return id != docroot.NoNode && t.Nodes[id].Kind == docroot.KindFile
}

// directoryPath returns the address of a directory that has an index file.
func (q *request) directoryPath(segments []string) string {
	p := "/" + strings.Join(segments, "/")
	if q.p.DirectorySlash == Serve && q.p.IndexFile != RedirectBare && len(segments) > 0 {
		p += "/"
	}
	return p
}

// page answers /page and /page/ from page.html; ok is false if the host does
// not do that. entry is the entry named without the extension.
func (q *request) page(dir, entry docroot.NodeID, segments []string, private bool) (a Answer, ok bool) {
	t := q.h.tree
	// A file of exactly that name takes precedence, unless a slash follows.
	if entry != docroot.NoNode && t.Nodes[entry].Kind == docroot.KindFile && !(q.slash && q.p.FileSlash == Missing) || q.doubleSlash {
		return Answer{}, false
	}
	id := q.pageOf(dir, segments[len(segments)-1])
	if id == docroot.NoNode {
		return Answer{}, false
	}
	q.folded = q.folded || !strings.HasPrefix(string(t.NameOf(&t.Nodes[id])), segments[len(segments)-1])
	indexed := entry != docroot.NoNode && t.Nodes[entry].Kind == docroot.KindDir && q.h.indexOf[t.Nodes[entry].Real] != docroot.NoNode
	switch {
	case !q.slash && indexed && !q.p.PageFirst:
		return Answer{}, false
	case !q.slash && q.p.Page == Redirect:
		return q.redirect("page", "/"+strings.Join(segments, "/")+"/", q.query), true
	case !q.slash:
		q.step("page", "/", t.Path(id), " is served without its extension")
		return q.file(id, private), true
	case indexed && !q.p.PageSlashFirst || q.p.PageSlash == Missing:
		return Answer{}, false
	case q.p.PageSlash == Serve:
		q.step("page-slash", "/", t.Path(id), " is served with or without the final slash")
		return q.file(id, private), true
	}
	return q.redirect("page-slash", "/"+strings.Join(segments, "/"), q.query), true
}

// file answers for a file that exists.
func (q *request) file(id docroot.NodeID, private bool) Answer {
	switch f := q.h.tree.Nodes[id].Flags; {
	case f&docroot.Unreadable != 0:
		return Answer{State: StateUnreadable, Node: id, Status: http.StatusForbidden}
	case private || f&docroot.Private != 0:
		return Answer{State: StatePrivate, Node: id, Status: http.StatusForbidden}
	}
	return Answer{State: StateOK, Node: id, Status: http.StatusOK}
}

// atDirectory answers a request for a directory, with or without its final
// slash.
func (q *request) atDirectory(dir docroot.NodeID, segments []string, slash, private bool, query string) Answer {
	if slash {
		if q.p.DirectorySlash == Redirect && len(segments) > 0 && q.h.indexOf[dir] != docroot.NoNode {
			return q.redirect("directory-slash", "/"+strings.Join(segments, "/"), query)
		}
		return q.directory(dir, segments, private, query)
	}
	if q.p.Directory == Redirect && q.h.tree.Nodes[dir].Flags&docroot.Unlistable != 0 {
		return Answer{State: StateUnreadable, Node: docroot.NoNode, Status: http.StatusForbidden,
			Note: "the host has no permission to list the directory"}
	}
	switch q.withoutSlash(dir) {
	case Redirect:
		return q.redirect("directory", redirectPath(segments), query)
	case RedirectIndex:
		a := q.directory(dir, segments, private, query)
		if a.location == "" && (a.byIndex || q.listsDirectory(dir)) {
			return q.redirect("directory", redirectPath(segments), query)
		}
		return a
	case Missing:
		q.step("directory", "the host serves a directory only with its final slash")
		return Answer{State: StateMissingFile, Node: docroot.NoNode, Status: http.StatusNotFound, Note: "the host requires the final slash"}
	case Refuse:
		q.step("directory", "without the final slash, the host does not look for an index file")
		if q.listsDirectory(dir) {
			return q.list(dir)
		}
		return Answer{State: StateMissingIndex, Node: docroot.NoNode, Status: q.p.EmptyDirectory, Note: "the host requires the final slash"}
	}
	return q.directory(dir, segments, private, query)
}

// redirectPath returns the address of a directory with its slash.
func redirectPath(segments []string) string {
	return strings.TrimSuffix("/"+strings.Join(segments, "/"), "/") + "/"
}

// directory answers a request for a directory with its slash.
func (q *request) directory(dir docroot.NodeID, segments []string, private bool, query string) Answer {
	s, t := q.h, q.h.tree
	if t.Nodes[dir].Flags&docroot.Unreadable != 0 {
		return Answer{State: StateUnreadable, Node: docroot.NoNode, Status: q.p.EmptyDirectory}
	}
	real := t.Nodes[dir].Real
	index := q.indexNames(dir)
	for _, name := range index {
		id := t.Child(real, []byte(name))
		if id == docroot.NoNode && s.foldIndex {
			id = s.tree.FoldChild(real, name)
		}
		if id == docroot.NoNode {
			continue
		}
		kind := t.Nodes[id].Kind
		if kind == docroot.KindOutside {
			if info, err := os.Stat(onDisk(q.h, id)); err == nil && info.Mode().IsRegular() {
				return q.outside(id, append(slices.Clone(segments), name), nil, false, query)
			}
		}
		if kind == docroot.KindFile {
			q.step("index", name, " is the directory's index file")
			a := q.file(id, private)
			a.byIndex = true
			return a
		}
	}
	if q.listsDirectory(dir) {
		return q.list(dir)
	}
	q.step("empty-directory", "the directory has no index file (", strings.Join(index, ", "), ")")
	return Answer{State: StateMissingIndex, Node: docroot.NoNode, Status: q.p.EmptyDirectory}
}

// list answers with a listing of the directory.
func (q *request) list(dir docroot.NodeID) Answer {
	if q.h.tree.Nodes[dir].Flags&docroot.Unlistable != 0 {
		return Answer{State: StateUnreadable, Node: docroot.NoNode, Status: http.StatusForbidden, Note: "the host has no permission to list the directory"}
	}
	q.step("autoindex", "the host shows a listing of the directory")
	if q.p.Forge != nil {
		return Answer{State: StateOK, Node: dir, Status: http.StatusOK}
	}
	return Answer{State: StateAutoindex, Node: dir, Status: http.StatusOK}
}

// missing distinguishes the ways in which nothing answers. rest are the
// segments that could not be followed from directory at; the first one does not
// exist.
func (q *request) missing(at docroot.NodeID, rest []string, slash bool) Answer {
	a := Answer{State: StateMissingFile, Node: docroot.NoNode, Status: http.StatusNotFound}
	if slash {
		a.State = StateMissingDirectory
	}
	node := q.h.tree.Nodes[at].Real
	for _, name := range rest {
		if node = q.h.tree.FoldChild(node, name); node == docroot.NoNode {
			q.step("file", "there is no file or directory named ", rest[0])
			if q.p.Forge != nil {
				if _, err := os.Lstat(q.h.real + q.path); err == nil {
					a.Note = "it is on this machine, but git does not track it"
				}
			}
			return a
		}
		node = q.h.tree.Nodes[node].Real
	}
	a.State, a.Node = StateWrongCase, node
	q.step("file", "there is only ", q.h.tree.Path(node), ", which differs in letter case")
	return a
}
