package check

import (
	"hash/maphash"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
)

// nameList is a list of names in which to look for a similar one. It belongs to
// one goroutine.
type nameList struct {
	names []string
	plain map[string]string // by plainName, the first in byte order
	// compared counts the comparisons so far.
	compared int
}

// maxComparisons bounds the comparisons with one list. A page with fifty
// thousand ids and links to five thousand others would otherwise take minutes.
// Names that differ only in case or punctuation are found without comparing.
const maxComparisons = 1 << 21

func (l *nameList) add(name string) { l.names = append(l.names, name) }

// maxDistance is how many edits may lie between similar names: a third of the
// length, at most 3.
func maxDistance(name string) int { return min(3, len(name)/3) }

// nearest returns the name that is most similar to want: one that differs only
// in letter case and punctuation, or else the one with the fewest edits. Of
// several it is the first in byte order. It returns "" when no name is similar.
// A nil list is empty.
func (l *nameList) nearest(want string) string {
	if l == nil {
		return ""
	}
	if l.plain == nil {
		l.plain = make(map[string]string, len(l.names))
		for _, n := range l.names {
			p := plainName(n)
			if old, ok := l.plain[p]; !ok || n < old {
				l.plain[p] = n
			}
		}
	}
	if got, ok := l.plain[plainName(want)]; ok {
		return got
	}
	if l.compared += len(l.names); l.compared > maxComparisons && l.compared > len(l.names) {
		return ""
	}
	best, least := "", maxDistance(want)+1
	for _, n := range l.names {
		if d := editDistance(want, n, least+1); d < least || d == least && best != "" && n < best {
			best, least = n, d
		}
	}
	return best
}

// plainName returns a name in lower case and without punctuation.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '_', ' ', '.', '+':
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// editDistance returns the Levenshtein distance of a and b in bytes, or any
// number from limit upwards if the distance is that large.
func editDistance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal, least := row[0], i
		row[0] = i
		for j := 1; j <= len(b); j++ {
			d := diagonal
			if a[i-1] != b[j-1] {
				d++
			}
			diagonal = row[j]
			row[j] = min(d, row[j]+1, row[j-1]+1)
			least = min(least, row[j])
		}
		if least >= limit {
			return limit
		}
	}
	return row[len(b)]
}

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
	byDir        map[string]*nameList // the names in a directory, by its path with a slash at the end
	known        map[string]string    // nearest site path, by the target's path
}

func newFileIndex(s *isite.Site) *fileIndex {
	return &fileIndex{s: s, children: s.Tree().Children(), seed: maphash.MakeSeed(), byDir: map[string]*nameList{}, known: map[string]string{}}
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
	if got := x.namesIn(dir).nearest(name); got != "" {
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
func (x *fileIndex) namesIn(dir string) *nameList {
	l, ok := x.byDir[dir]
	if ok {
		return l
	}
	t := x.s.Tree()
	if id := t.At(strings.TrimSuffix(dir, "/")); id != docroot.NoNode {
		for _, child := range x.children.Of(id) {
			if x.mayBeMeant(child) {
				if l == nil {
					l = &nameList{}
				}
				l.add(t.Name(child))
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
