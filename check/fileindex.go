package check

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"

	isite "github.com/sitelink/sitelink/internal/site"
)

// fileIndex finds files by name. It looks at what is asked for: a vocabulary and a
// list of paths for every name of the docroot took 28 ms of one core on rust-doc,
// where 60 are asked for.
type fileIndex struct {
	s        *isite.Site
	children docroot.Children
	// byName holds all names by the hash of their last segment in lower case:
	// as many buckets as there are names, chained by next.
	byName, next []docroot.NodeID
	seed         maphash.Seed
	byDir        map[string]*vocabulary // directory with its slash -> names in it
	memo         map[string]string
}

func newFileIndex(s *isite.Site) *fileIndex {
	return &fileIndex{s: s, children: s.Tree().Children(), seed: maphash.MakeSeed(), byDir: map[string]*vocabulary{}, memo: map[string]string{}}
}

// holds tells whether a name is one that may be meant.
func (x *fileIndex) holds(id docroot.NodeID) bool {
	k := x.s.Tree().Kind(id)
	return k == docroot.KindFile || k == docroot.KindDir
}

// names returns the names in a directory, given by its path with a slash at its
// end, "" for the docroot; nil when there is no such directory.
func (x *fileIndex) names(dir string) *vocabulary {
	v, ok := x.byDir[dir]
	if ok {
		return v
	}
	t := x.s.Tree()
	if id := t.At(strings.TrimSuffix(dir, "/")); id != docroot.NoNode {
		for _, child := range x.children.Of(id) {
			if x.holds(child) {
				if v == nil {
					v = &vocabulary{}
				}
				v.add(t.Name(child))
			}
		}
	}
	x.byDir[dir] = v
	return v
}

// named returns the paths, sorted, whose last segment is name but for letter case.
func (x *fileIndex) named(name string) []string {
	t := x.s.Tree()
	lower := strings.ToLower(name)
	if x.byName == nil {
		x.byName, x.next = make([]docroot.NodeID, t.Len()), make([]docroot.NodeID, t.Len())
		for id := docroot.NodeID(1); int(id) < t.Len(); id++ { // 0, the docroot, has no name and ends a chain
			bucket := x.bucket(strings.ToLower(t.Name(id)))
			x.next[id], *bucket = *bucket, id
		}
	}
	var out []string
	for id := *x.bucket(lower); id != 0; id = x.next[id] {
		if strings.ToLower(t.Name(id)) == lower && x.holds(id) {
			out = append(out, t.Path(id))
		}
	}
	slices.Sort(out)
	return out
}

func (x *fileIndex) bucket(lower string) *docroot.NodeID {
	return &x.byName[maphash.String(x.seed, lower)%uint64(len(x.byName))]
}
