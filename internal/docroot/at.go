package docroot

import "strings"

// At returns the node at a path of the docroot, "" for the docroot itself, without
// following symbolic links; NoNode if there is none.
func (t *Tree) At(path string) NodeID {
	if path == "" {
		return 0
	}
	at := NodeID(0)
	for name := range strings.SplitSeq(path, "/") {
		if at = t.Child(at, []byte(name)); at == NoNode {
			return NoNode
		}
	}
	return at
}
