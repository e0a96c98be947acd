package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
)

// maxDepth bounds the directories below each other; deeper ones cannot be
// opened by a path on any platform.
const maxDepth = 2048

// walker reads the names of the docroot into a tree.
type walker struct {
	tree *Tree
	root string // as given
	real string // absolute, symbolic links resolved
	// links are the symbolic links, settled when all names are known.
	links []NodeID
	// modes: permission bits say what a server may read. They do not when the
	// docroot itself is private, as under umask 077: then they say nothing
	// about the host.
	modes bool
	// faults are directories that cannot be read.
	faults []FileFault
}

// FileFault is something wrong with a file as such.
type FileFault struct {
	Path string
	Err  error
}

// walk lists the docroot, sorted by name in each directory, breadth first.
func walk(ctx context.Context, root string) (*walker, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("read docroot %s: %w", root, reason(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("read docroot %s: not a directory", root)
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("read docroot %s: %w", root, err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, fmt.Errorf("read docroot %s: %w", root, reason(err))
	}
	w := &walker{tree: newTree(), root: root, real: abs}
	w.modes = filepath.Separator == '/' && info.Mode().Perm()&0o005 == 0o005
	type dir struct {
		id    NodeID
		depth int
	}
	queue := []dir{{0, 0}}
	for len(queue) > 0 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		d := queue[0]
		queue = queue[1:]
		entries, err := readDir(filepath.Join(abs, filepath.FromSlash(w.tree.Path(d.id))))
		if err != nil {
			if d.id == 0 {
				return nil, fmt.Errorf("read docroot %s: %w", root, reason(err))
			}
			w.tree.nodes[d.id].flags |= flagUnreadable
			w.faults = append(w.faults, FileFault{w.tree.Path(d.id) + "/", reason(err)})
		}
		for _, e := range entries {
			if id, sub := w.entry(d.id, e); sub {
				if d.depth+1 > maxDepth {
					w.faults = append(w.faults, FileFault{w.tree.Path(id) + "/", errors.New("directories too deep, not read")})
					continue
				}
				queue = append(queue, dir{id, d.depth + 1})
			}
		}
	}
	for _, id := range w.links {
		w.settle(id)
	}
	return w, nil
}

// readDir returns what could be read of a directory, and the error that ended it.
func readDir(name string) ([]fs.DirEntry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	return entries, err
}

// entry adds one name; sub tells whether it is a directory to list.
func (w *walker) entry(parent NodeID, e fs.DirEntry) (id NodeID, sub bool) {
	switch t := e.Type(); {
	case t.IsDir():
		id = w.tree.add(parent, e.Name(), KindDir)
		w.note(id, e)
		return id, true
	case t&fs.ModeSymlink != 0:
		id = w.tree.add(parent, e.Name(), KindBroken)
		w.links = append(w.links, id)
		return id, false
	case t.IsRegular():
		return w.tree.add(parent, e.Name(), KindFile), false
	}
	return w.tree.add(parent, e.Name(), kindOf(e.Type())), false
}

// kindOf tells what a name is that is neither file, directory nor link.
func kindOf(m fs.FileMode) Kind {
	switch {
	case m&fs.ModeSocket != 0:
		return KindSocket
	case m&fs.ModeNamedPipe != 0:
		return KindPipe
	}
	return KindDevice
}

// note records the permissions of a directory.
func (w *walker) note(id NodeID, e fs.DirEntry) {
	if !w.modes {
		return
	}
	if info, err := e.Info(); err == nil {
		w.tree.nodes[id].flags |= dirFlags(info.Mode())
	}
}

func dirFlags(m fs.FileMode) nodeFlags {
	f := flagChecked
	switch {
	case m&0o100 == 0:
		f |= flagUnreadable
	case m&0o001 == 0:
		f |= flagPrivate
	}
	if m&0o004 == 0 {
		f |= flagUnlistable
	}
	return f
}

func fileFlags(m fs.FileMode) nodeFlags {
	f := flagChecked
	switch {
	case m&0o400 == 0:
		f |= flagUnreadable
	case m&0o004 == 0:
		f |= flagPrivate
	}
	return f
}

// settle finds out where a symbolic link leads. Links that stay inside the
// docroot become aliases of their target; the rest are never read.
func (w *walker) settle(id NodeID) {
	n := &w.tree.nodes[id]
	name := filepath.Join(w.real, filepath.FromSlash(w.tree.Path(id)))
	// The system's own limit counts (40 links on Linux), not EvalSymlinks' 255.
	switch _, err := os.Stat(name); {
	case errors.Is(err, syscall.ELOOP):
		n.kind = KindLoop
		return
	case errors.Is(err, syscall.ENOTDIR):
		n.kind = KindThrough
		return
	}
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return
	}
	rel, err := filepath.Rel(w.real, target)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		n.kind = KindOutside
		return
	}
	at, on := NodeID(0), nodeFlags(0)
	if rel != "." {
		for _, name := range strings.Split(filepath.ToSlash(rel), "/") {
			// A directory that may not be entered closes the way to the target.
			on |= w.tree.nodes[at].flags & (flagUnreadable | flagPrivate)
			if at = w.tree.child(at, []byte(name)); at == NoNode {
				return // made after the walk
			}
		}
	}
	n.real = at
	n.kind = w.tree.nodes[at].kind
	n.flags = w.tree.nodes[at].flags | on
	if on&flagUnreadable != 0 {
		n.flags |= flagClosed
	}
	if n.kind == KindFile {
		w.tree.files++
	}
}

// reason takes the path out of a file system error: messages name it already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
