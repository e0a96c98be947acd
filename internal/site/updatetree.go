package site

import (
	"io/fs"
	"os"
	pathpkg "path"
	"slices"
	"strings"
)

// How [naming] brings the tree up to date. Each step returns false for what is
// not followed: then the names are listed again.

// take compares one path with the tree and brings that up to date. It returns
// false for what it does not follow.
func (r *naming) take(path string) bool {
	t := r.n.tree
	id := t.At(path)
	info, err := os.Lstat(r.n.onDisk(path))
	switch {
	case err != nil:
		return id == NoNode || r.drop(id)
	case id == NoNode:
		parent, name := NodeID(0), path
		if slash := strings.LastIndexByte(path, '/'); slash >= 0 {
			name = path[slash+1:]
			if parent = t.At(path[:slash]); parent == NoNode {
				return r.take(path[:slash]) // it comes with its directory
			}
		}
		return r.add(parent, name, info)
	}
	x := &t.nodes[id]
	switch {
	case x.real != id:
	case x.kind == KindFile && info.Mode().IsRegular():
		r.edit(id)
		return true
	case x.kind == KindDir && info.IsDir():
		return r.list(id, path, info)
	}
	return false
}

// edit notes a file that may have changed.
func (r *naming) edit(id NodeID) {
	if int(id) < len(r.old.tree.nodes) { // or it has just come
		r.edited[id] = true
	}
}

// add takes in a name, and all that lies below it.
func (r *naming) add(parent NodeID, name string, info fs.FileInfo) bool {
	t := r.n.tree
	if x := &t.nodes[parent]; x.kind != KindDir || x.real != parent || r.special(parent, name) {
		return false
	}
	for dir := parent; dir != NoNode; dir = t.nodes[dir].parent {
		if t.nodes[dir].flags&(flagUnreadable|flagShut) != 0 {
			return false
		}
	}
	kind := KindFile
	if info.IsDir() {
		kind = KindDir
	} else if !info.Mode().IsRegular() {
		return false
	}
	id := t.add(parent, name, kind)
	r.came = append(r.came, id)
	r.dirs[parent] = true
	if kind == KindFile {
		return !r.n.mayBeMap(&t.nodes[id])
	}
	if r.n.modes {
		t.nodes[id].flags |= dirFlags(info.Mode())
	}
	return r.list(id, t.Path(id), info)
}

// special tells whether a name means more to the host than the file that has it.
func (r *naming) special(parent NodeID, name string) bool {
	p := &r.n.profile
	return slices.Contains(ruleNames, name) || parent == 0 && name == p.ErrorPage ||
		slices.ContainsFunc(p.Deny, func(pattern string) bool { ok, _ := pathpkg.Match(pattern, name); return ok })
}

// list compares what lies in a directory.
func (r *naming) list(dir NodeID, path string, info fs.FileInfo) bool {
	t := r.n.tree
	const doors = flagUnreadable | flagPrivate | flagUnlistable
	if r.n.modes && (dirFlags(info.Mode())^t.nodes[dir].flags)&doors != 0 {
		return false
	}
	if r.listed++; r.listed > maxFew {
		return false
	}
	entries, err := os.ReadDir(r.n.onDisk(path))
	if err != nil {
		return false
	}
	there := make(map[NodeID]bool, len(entries))
	for _, e := range entries {
		id := t.child(dir, []byte(e.Name()))
		if id == NoNode {
			info, err := e.Info()
			if err != nil || !r.add(dir, e.Name(), info) {
				return false
			}
			there[t.child(dir, []byte(e.Name()))] = true
			continue
		}
		there[id] = true
		x := &t.nodes[id]
		switch {
		case x.real != id:
			return false // it may lead elsewhere now
		case x.kind == KindFile && e.Type().IsRegular():
			r.edit(id)
		case x.kind == KindDir && e.IsDir():
			info, err := e.Info()
			if err != nil || !r.list(id, path+"/"+e.Name(), info) {
				return false
			}
		default:
			return false
		}
	}
	for id := range t.nodes {
		if x := &t.nodes[id]; x.parent == dir && x.kind != KindGone && !there[NodeID(id)] && !r.drop(NodeID(id)) {
			return false
		}
	}
	return true
}

// drop takes out a name, and all that lies below it.
func (r *naming) drop(top NodeID) bool {
	t := r.n.tree
	if slices.Contains(r.came, top) {
		return false // it comes and goes
	}
	r.dirs[t.nodes[top].parent] = true
	below := map[NodeID]bool{top: true}
	went := []NodeID{top}
	if t.nodes[top].kind == KindDir {
		for id := int(top) + 1; id < len(t.nodes); id++ { // parents come before their children
			if x := &t.nodes[id]; x.kind != KindGone && below[x.parent] {
				below[NodeID(id)] = true
				went = append(went, NodeID(id))
			}
		}
	}
	for _, id := range went {
		x := &t.nodes[id]
		switch {
		case x.kind != KindFile && x.kind != KindDir, x.real != id, int(id) >= len(r.old.tree.nodes), r.n.mayBeMap(x), r.special(x.parent, t.Name(id)):
			return false
		}
		delete(r.edited, id)
		delete(r.dirs, id)
	}
	for _, id := range went {
		t.drop(id)
	}
	t.dead += len(went)
	r.went = append(r.went, went...)
	return true
}

// plain tells whether no symbolic link has a part in what came or went.
func (r *naming) plain() bool {
	t := r.n.tree
	for id := range t.nodes {
		x := &t.nodes[id]
		switch {
		case x.kind == KindGone:
		case x.real != NodeID(id):
			if t.nodes[x.real].kind == KindGone || x.kind == KindDir && (r.n.profile.Page != Missing || r.dirs[x.real]) {
				return false
			}
		case x.kind == KindOutside:
			return false
		case x.kind == KindBroken || x.kind == KindThrough || x.kind == KindLoop:
			if _, err := os.Stat(r.n.onDisk(t.Path(NodeID(id)))); err == nil {
				return false // it leads somewhere now
			}
		}
	}
	return true
}
