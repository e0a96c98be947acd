package check

import (
	"cmp"

	"github.com/sitelink/sitelink/internal/docroot"

	isite "github.com/sitelink/sitelink/internal/site"
)

// inclusion says whether the linksets take a file: by all its addresses, none,
// or some.
type inclusion uint8

const (
	inNone inclusion = iota + 1
	inSome
	inAll
)

// asked returns the addresses that the fresh links of a page ask for, where the
// linksets make a difference between those of their file: LL-9 holds the
// address against them, and the records only have the file.
func (w *walker) asked(id isite.PageID, links []isite.Link) (map[uint32]string, error) {
	var want []uint32
	for _, i := range w.fresh {
		if w.classOf(links[i].Node) == inSome {
			want = append(want, i)
		}
	}
	if len(want) == 0 {
		return nil, nil
	}
	if w.reader == nil {
		r, err := w.s.NewReader()
		if err != nil {
			return nil, err
		}
		w.reader = r
	}
	asked := make(map[uint32]string, len(want))
	// A page that has changed or gone meanwhile is reported when it is judged;
	// its links are then taken by the first address of their files.
	_ = w.reader.Details(id, want, func(link int, d *isite.Detail) {
		asked[uint32(link)] = w.addr.nearest(d.Node, w.addr.decode(cmp.Or(d.Final, d.Target)))
	})
	return asked, nil
}

func (w *walker) classOf(node docroot.NodeID) inclusion {
	if c := w.class[node]; c != 0 {
		return c
	}
	taken := 0
	all := w.addr.of(node)
	for _, path := range all {
		if w.takes(path) {
			taken++
		}
	}
	c := inSome
	switch taken {
	case 0:
		c = inNone
	case len(all):
		c = inAll
	}
	w.class[node] = c
	return c
}
