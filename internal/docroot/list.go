package docroot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/sitelink/sitelink/internal/system"
)

// maxDepth limits the depth of directories. No platform can open a deeper one
// by its path.
const maxDepth = 2048

// walker reads the names of the docroot into a tree.
type walker struct {
	tree *Tree
	real string // absolute, symbolic links resolved
	// links are the symbolic links, resolved after all names are known.
	links []NodeID
	// modes: permission bits say what a server may read. They say nothing if
	// the docroot itself is private, as under umask 077.
	modes bool
	// only are the paths that are listed, nil for all.
	only map[string]bool
	// faults are directories that cannot be read.
	faults []FileFault
}

// Contents are the names in a docroot.
type Contents struct {
	Tree *Tree
	Real string // absolute path, with symbolic links resolved
	// Permissions: permission bits say what a server may read. They say nothing
	// if the docroot itself is private.
	Permissions bool
	// Faults are directories that cannot be read.
	Faults []FileFault
}

// FileFault is a file or directory that cannot be read.
type FileFault struct {
	Path string
	Err  error
}

// List lists the docroot, sorted by name in each directory, breadth first, with
// a number of workers; 0 means one per processor. Names that are not in only, which has
// paths below the docroot, are left out, unless it is nil. also is the path of a file
// that is listed although it need not exist, "" for none.
func List(ctx context.Context, root string, jobs int, only map[string]bool, also string) (*Contents, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("read docroot %s: %w", root, system.Cause(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("read docroot %s: not a directory", root)
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("read docroot %s: %w", root, err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, fmt.Errorf("read docroot %s: %w", root, system.Cause(err))
	}
	w := &walker{tree: newTree(), real: abs, only: only}
	w.modes = filepath.Separator == '/' && info.Mode().Perm()&0o005 == 0o005
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	level := []NodeID{0}
	for depth := 0; len(level) > 0; depth++ {
		var next []NodeID
		for dirs := range slices.Chunk(level, listedAtOnce) {
			listings := w.list(ctx, jobs, dirs)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			for i, l := range listings {
				if l.err != nil && dirs[i] == 0 {
					return nil, fmt.Errorf("read docroot %s: %w", root, system.Cause(l.err))
				}
				next = w.add(dirs[i], l, next)
			}
		}
		if level = next; depth == maxDepth {
			for _, id := range level {
				w.setMode(id, w.listing(id))
				w.faults = append(w.faults, FileFault{w.tree.Path(id) + "/", errors.New("directories too deep, not read")})
			}
			break
		}
	}
	w.tree.index()
	if dir := w.tree.At(strings.Trim(path.Dir("/"+also), "/")); also != "" && dir != NoNode {
		w.tree.append(dir, []byte(path.Base(also)), KindFile)
		w.tree.index()
	}
	for _, id := range w.links {
		w.resolveLink(id)
	}
	return &Contents{Tree: w.tree, Real: w.real, Permissions: w.modes, Faults: w.faults}, nil
}

// listedAtOnce limits the directories that have their names in memory twice.
const listedAtOnce = 1 << 12

// list lists directories with all workers, because nothing else can be done
// before the names are known.
func (w *walker) list(ctx context.Context, jobs int, dirs []NodeID) []*listing {
	out := make([]*listing, len(dirs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(jobs, len(dirs)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(dirs) {
					return
				}
				out[i] = w.listing(dirs[i])
			}
		})
	}
	wg.Wait()
	return out
}

// add adds the contents of a directory to the tree, and its directories to
// next.
func (w *walker) add(dir NodeID, l *listing, next []NodeID) []NodeID {
	w.setMode(dir, l)
	if l.err != nil {
		w.tree.Nodes[dir].Flags |= Unreadable
		w.faults = append(w.faults, FileFault{w.tree.Path(dir) + "/", system.Cause(l.err)})
	}
	foreign := w.tree.Nodes[dir].Flags & Foreign
	if name := w.tree.Name(dir); dir != 0 && (string(name) == "node_modules" || string(name) == ".git") {
		foreign = Foreign
	}
	var at []byte // the path of the directory, for only
	if w.only != nil && dir != 0 {
		at = append(w.tree.AppendPath(at, dir), '/')
	}
	for _, e := range l.entries {
		if w.only != nil && !w.only[string(append(at, e.Name()...))] {
			continue
		}
		kind := KindOfMode(e.Type())
		id := w.tree.append(dir, []byte(e.Name()), kind)
		w.tree.Nodes[id].Flags |= foreign
		switch kind {
		case KindDir:
			next = append(next, id)
		case KindBroken:
			w.links = append(w.links, id)
		}
	}
	return next
}

// setMode records the permissions of a directory.
func (w *walker) setMode(dir NodeID, l *listing) {
	if w.modes && l.known && dir != 0 {
		w.tree.Nodes[dir].Flags |= dirFlags(l.mode)
	}
}

func dirFlags(m fs.FileMode) Flags {
	f := Checked
	switch {
	case m&0o100 == 0:
		f |= Unreadable
	case m&0o001 == 0:
		f |= Private
	}
	if m&0o004 == 0 {
		f |= Unlistable
	}
	return f
}

// FileFlags returns the flags for the permissions of a file.
func FileFlags(m fs.FileMode) Flags {
	f := Checked
	switch {
	case m&0o400 == 0:
		f |= Unreadable
	case m&0o004 == 0:
		f |= Private
	}
	return f
}

// resolveLink finds out where a symbolic link leads. A link that stays inside
// the docroot becomes an alias of its target; other targets are never read.
func (w *walker) resolveLink(id NodeID) {
	n := &w.tree.Nodes[id]
	name := filepath.Join(w.real, filepath.FromSlash(w.tree.Path(id)))
	// The system's own limit counts (40 links on Linux), not EvalSymlinks' 255.
	switch _, err := os.Stat(name); {
	case errors.Is(err, syscall.ELOOP):
		n.Kind = KindLoop
		return
	case errors.Is(err, syscall.ENOTDIR):
		n.Kind = KindThrough
		return
	}
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return
	}
	rel, err := filepath.Rel(w.real, target)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		n.Kind = KindOutside
		return
	}
	at, on := NodeID(0), Flags(0)
	if rel != "." {
		for _, name := range strings.Split(filepath.ToSlash(rel), "/") {
			// A directory that may not be entered blocks the way to the target.
			on |= w.tree.Nodes[at].Flags & (Unreadable | Private)
			if at = w.tree.Child(at, []byte(name)); at == NoNode {
				return // created after the directory was listed
			}
		}
	}
	n.Real = at
	n.Kind = w.tree.Nodes[at].Kind
	n.Flags = w.tree.Nodes[at].Flags | on
	if on&Unreadable != 0 {
		n.Flags |= Closed
	}
	if n.Kind == KindFile {
		w.tree.Files++
	}
}

// listing holds the contents of one directory, sorted by name.
type listing struct {
	entries []fs.DirEntry
	// mode is the directory's own, if known.
	mode  fs.FileMode
	known bool
	err   error // what ended the listing
}

// listing lists one directory by its path. [os.Root] would open all directories above it
// too, each time.
func (w *walker) listing(dir NodeID) *listing {
	l := &listing{}
	name := filepath.Join(w.real, filepath.FromSlash(w.tree.Path(dir)))
	f, err := os.Open(name)
	if err != nil {
		l.err = err
		if info, err := os.Lstat(name); err == nil {
			l.mode, l.known = info.Mode(), true
		}
		return l
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		l.mode, l.known = info.Mode(), true
	}
	l.entries, l.err = f.ReadDir(-1)
	slices.SortFunc(l.entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return l
}

// KindOfMode returns the kind of a file mode; KindBroken for any symbolic link.
func KindOfMode(m fs.FileMode) Kind {
	switch {
	case m.IsDir():
		return KindDir
	case m&fs.ModeSymlink != 0:
		return KindBroken
	case m.IsRegular():
		return KindFile
	case m&fs.ModeSocket != 0:
		return KindSocket
	case m&fs.ModeNamedPipe != 0:
		return KindPipe
	}
	return KindDevice
}
