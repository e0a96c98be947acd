package docroot

// Children lists the entries of directories, in the order of their names.
type Children struct {
	first []uint32 // by directory: where its entries begin in ids
	ids   []NodeID
}

// Children returns the entries of all directories: eight bytes a name.
func (t *Tree) Children() Children {
	c := Children{first: make([]uint32, len(t.Nodes)+1), ids: make([]NodeID, max(len(t.Nodes), 1)-1)}
	for i := 1; i < len(t.Nodes); i++ {
		c.first[t.Nodes[i].Parent+1]++
	}
	for i := 1; i < len(c.first); i++ {
		c.first[i] += c.first[i-1]
	}
	next := append([]uint32(nil), c.first...)
	for i := 1; i < len(t.Nodes); i++ {
		p := t.Nodes[i].Parent
		c.ids[next[p]] = NodeID(i)
		next[p]++
	}
	return c
}

// Of returns the entries of a directory; they must not be changed.
func (c Children) Of(dir NodeID) []NodeID { return c.ids[c.first[dir]:c.first[dir+1]] }
