package check

import (
	"hash/maphash"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/near"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
)

// fileIndex finds files with similar names. It lists names only when they are
// needed: lists of all names of the docroot take 28 ms of one core on rust-doc,
// where 60 names are looked for.
type fileIndex struct {
	s        *isite.Site
	children docroot.Children
	// byName and next hold all names, in buckets by the hash of the last path
	// segment in lower case: as many buckets as there are names, chained by next.
	byName, next []docroot.NodeID
	seed         maphash.Seed
	byDir        map[string]*near.Names // the names in a directory, by its path with a slash at the end
	known        map[string]string      // nearest site path, by the target's path
}

func newFileIndex(s *isite.Site) *fileIndex {
	return &fileIndex{s: s, children: s.Tree().Children(), seed: maphash.MakeSeed(), byDir: map[string]*near.Names{}, known: map[string]string{}}
}

// nearest returns the site path of the file that a target without answer most
// likely means, "" if no file is similar.
func (x *fileIndex) nearest(target string) string {
	raw, _, _ := strings.Cut(target, "?")
	if got, ok := x.known[raw]; ok {
		return got
	}
	got := ""
	p := strings.TrimPrefix(string(weburl.PercentDecode(nil, raw)), x.s.BasePath())
	p = strings.Trim(path.Clean("/"+p), "/")
	if file := x.nearestFile(p); file != "" {
		if n, ok := x.s.Lookup(file); ok {
			got = x.s.Href(n)
		}
	}
	x.known[raw] = got
	return got
}

// nearestFile does the work of nearest for paths of the docroot.
func (x *fileIndex) nearestFile(p string) string {
	if p == "" {
		return ""
	}
	dir, name := path.Split(p)
	isFile := func(p string) bool { n, ok := x.s.Lookup(p); return ok && x.s.Tree().Kind(n) == docroot.KindFile }
	// The usual mistakes: extension, slash, index file.
	stem := strings.TrimSuffix(name, path.Ext(name))
	for _, try := range []string{p, p + ".html", p + ".htm", p + "/index.html", dir + stem, dir + stem + "/index.html",
		dir + stem + ".html", dir + stem + ".htm"} {
		if try != "" && isFile(try) {
			return try
		}
	}
	if got := x.namesIn(dir).Nearest(name); got != "" {
		return dir + got
	}
	// The same name elsewhere: the place that shares most of the path.
	same := x.named(name)
	best, bestShared := "", -1
	for _, c := range same {
		if shared := sharedSegments(p, c); shared > bestShared {
			best, bestShared = c, shared
		}
	}
	if len(same) > 8 && bestShared == 0 {
		return "" // a name such as index.html says too little
	}
	return best
}

// sharedSegments counts the leading and trailing directories that two paths
// have in common.
func sharedSegments(a, b string) int {
	x, y := strings.Split(path.Dir(a), "/"), strings.Split(path.Dir(b), "/")
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] && x[n] != "." {
		n++
	}
	m := 0
	for m < len(x)-n && m < len(y)-n && x[len(x)-1-m] == y[len(y)-1-m] {
		m++
	}
	return n + m
}

// mayBeMeant reports whether a link can mean a node.
func (x *fileIndex) mayBeMeant(id docroot.NodeID) bool {
	k := x.s.Tree().Kind(id)
	return k == docroot.KindFile || k == docroot.KindDir
}

// namesIn returns the names in a directory, given by its path with a slash at
// its end, "" for the docroot; nil when there is no such directory.
func (x *fileIndex) namesIn(dir string) *near.Names {
	l, ok := x.byDir[dir]
	if ok {
		return l
	}
	t := x.s.Tree()
	if id := t.At(strings.TrimSuffix(dir, "/")); id != docroot.NoNode {
		for _, child := range x.children.Of(id) {
			if x.mayBeMeant(child) {
				if l == nil {
					l = &near.Names{}
				}
				l.Add(t.Name(child))
			}
		}
	}
	x.byDir[dir] = l
	return l
}

// named returns the paths, sorted, whose last segment is name in any letter case.
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
		if strings.ToLower(t.Name(id)) == lower && x.mayBeMeant(id) {
			out = append(out, t.Path(id))
		}
	}
	slices.Sort(out)
	return out
}

func (x *fileIndex) bucket(lower string) *docroot.NodeID {
	return &x.byName[maphash.String(x.seed, lower)%uint64(len(x.byName))]
}
