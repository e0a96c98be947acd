package docroot

// sortedFiles returns the files of the tree, sorted by path. Names are in order in
// each directory already; only that a slash follows the name of a directory has
// to be thought of: a/b comes after a-b and a.html. No path is made (rust-doc:
// findPages and orderPages take 3 ms; with 32,101 strings to sort it was 27 ms).
func (t *Tree) SortedFiles() []NodeID {
	children := t.Children()
	out := make([]NodeID, 0, t.Files)
	stack := [][]NodeID{children.Of(0)}
	t.slashLast(stack[0])
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(*top) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		id := (*top)[0]
		*top = (*top)[1:]
		switch t.Nodes[id].Kind {
		case KindFile:
			out = append(out, id)
		case KindDir:
			if below := children.Of(id); len(below) > 0 {
				t.slashLast(below)
				stack = append(stack, below)
			}
		}
	}
	return out
}

// slashLast moves directories behind the names of the same directory that come
// before theirs with a slash at its end. ids are sorted by name.
func (t *Tree) slashLast(ids []NodeID) {
	for i := len(ids) - 2; i >= 0; i-- {
		dir := &t.Nodes[ids[i]]
		if dir.Kind != KindDir {
			continue
		}
		name := t.NameOf(dir)
		for j := i + 1; j < len(ids); j++ {
			next := t.NameOf(&t.Nodes[ids[j]])
			if len(next) <= len(name) || string(next[:len(name)]) != string(name) || next[len(name)] > '/' {
				break
			}
			ids[j-1], ids[j] = ids[j], ids[j-1]
		}
	}
}
