package check

import (
	"cmp"
	"hash/maphash"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/near"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
)

// A guess is a file or directory that the author of a broken link may have meant.
// Its cost says how much of the path must change to lead there.
type guess struct {
	node docroot.NodeID
	cost int
}

// The costs of the changes. A path is compared by its segments: /docs/v1/faq/ and
// /blog/v2/faq/ share letters, but are far from each other.
const (
	costSpelling = 1 // letter case, punctuation or extension of a name
	costTypo     = 2 // each typing error, in addition
	costMissing  = 4 // a directory that the link leaves out
	costTooMuch  = 4 // a directory that the link has too much
	costOther    = 5 // a directory of another name
	costReworded = 8 // a last name that lacks a word
	costAbove    = 3 // another directory above the page, from which the path is right

	// maxCost bounds a guess: two other changes besides the spelling of names.
	maxCost = 10
	// maxUnsure bounds a guess whose name says little: others have it, too.
	maxUnsure = 6
	// clearly is how much less the best guess must cost than the next one.
	clearly = 2
	// instead is how much more a guess may cost that is suggested instead of the
	// page that has the link.
	instead = 4
)

// maxSame bounds the files with the same name that are compared with a path.
const maxSame = 512

// fileIndex finds the files that broken links mean. It belongs to one goroutine.
// It lists names only when they are needed.
type fileIndex struct {
	s        *isite.Site
	children docroot.Children
	// byName and next hold all names, in buckets by the hash of their plain form:
	// as many buckets as there are names, chained by next.
	byName, next []docroot.NodeID
	seed         maphash.Seed
	byDir        map[docroot.NodeID]*dirNames
	known        map[aim][]guess
	parallel     map[[2]docroot.NodeID]bool
	// fixed are the suggestions for links whose value alone decides.
	fixed map[fixedLink]fixedTo
}

func newFileIndex(s *isite.Site) *fileIndex {
	return &fileIndex{s: s, children: s.Tree().Children(), seed: maphash.MakeSeed(), byDir: map[docroot.NodeID]*dirNames{},
		known: map[aim][]guess{}, parallel: map[[2]docroot.NodeID]bool{}, fixed: map[fixedLink]fixedTo{}}
}

// aim is what a broken link asks for: a decoded path in the docroot, without
// slash in front. The author wrote its last segments; those before them are from
// the address of the page.
type aim struct {
	path    string
	written int
}

// aimOf returns the aim of a link.
func (x *fileIndex) aimOf(f *Finding) aim {
	p, _, _ := strings.Cut(f.Target, "?")
	p = strings.TrimPrefix(string(weburl.PercentDecode(nil, p)), x.s.BasePath())
	slash := strings.HasSuffix(p, "/")
	p = strings.TrimPrefix(path.Clean("/"+p), "/")
	if slash && p != "" {
		p += "/"
	}
	return aim{p, len(writtenSegments(f.Raw))}
}

// isRooted reports whether a value begins at the root of a host.
func isRooted(raw string) bool {
	raw = strings.TrimSpace(raw)
	return strings.HasPrefix(raw, "/") || strings.Contains(raw, "://")
}

// writtenSegments returns the decoded segments of a path as written, without
// dots.
func writtenSegments(raw string) []string {
	raw = strings.TrimSpace(raw)
	if i := strings.IndexAny(raw, "?#"); i >= 0 {
		raw = raw[:i]
	}
	return slices.DeleteFunc(strings.Split(string(weburl.PercentDecode(nil, raw)), "/"), func(s string) bool { return s == "" || s == "." || s == ".." })
}

// guesses returns what a link may mean, the cheapest first. A host answers all of
// them at their addresses.
func (x *fileIndex) guesses(a aim) []guess {
	if got, ok := x.known[a]; ok {
		return got
	}
	var all []guess
	switch w := x.parse(a); {
	case w.name == "": // the docroot, or its index file in another spelling
		all = []guess{{0, costSpelling}}
	default:
		all = x.descend(w, 0, 0, 0, nil)
		if !x.isDirectory(w) {
			all = append(all, x.elsewhere(w)...)
		}
		if len(all) == 0 {
			all = x.reworded(w)
		}
	}
	slices.SortFunc(all, func(a, b guess) int { return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.node, b.node)) })
	var out []guess
	seen := map[string]bool{}
	for _, g := range all {
		href := x.s.Href(g.node)
		if seen[href] {
			continue
		}
		seen[href] = true
		if x.answers(href) {
			out = append(out, g)
		}
	}
	x.known[a] = out
	return out
}

// isDirectory reports whether the path leads to a directory: the author does not
// mean another of that name.
func (x *fileIndex) isDirectory(w wanted) bool {
	if len(w.exist) <= len(w.dirs) {
		return false
	}
	t := x.s.Tree()
	id := t.Child(t.Real(w.exist[len(w.dirs)]), []byte(w.name))
	return id != docroot.NoNode && t.Kind(id) == docroot.KindDir
}

// answers reports whether the host answers a site path, without a redirect that
// the author could avoid.
func (x *fileIndex) answers(href string) bool {
	if x.s.Rooted() {
		origin, onHost := x.s.Public(href)
		href = origin + onHost
	}
	r, err := x.s.Follow(0, href)
	return err == nil && r.State.Answers() && decisions[r.State].verdict == OK
}

// wanted is an aim taken apart.
type wanted struct {
	dirs []string
	name string // the last segment
	stem string // the name without the extension of a page or image
	kind nameKind
	// exist are the directories that exist, from the docroot on; the first one is
	// the docroot itself.
	exist []docroot.NodeID
	// given counts the directories at the beginning of dirs that are from the
	// address of the page.
	given int
}

func (x *fileIndex) parse(a aim) wanted {
	w := wanted{dirs: strings.Split(strings.TrimSuffix(a.path, "/"), "/")}
	w.given = max(len(w.dirs)-a.written, 0)
	slash := strings.HasSuffix(a.path, "/")
	last := len(w.dirs) - 1
	w.dirs, w.name = w.dirs[:last], w.dirs[last]
	if !slash && isIndexName(w.name) {
		w.name, slash = "", true
		if last > 0 {
			w.dirs, w.name = w.dirs[:last-1], w.dirs[last-1]
		}
	}
	w.stem, w.kind = splitName(w.name)
	if slash && w.kind != kindPage {
		w.stem, w.kind = w.name, kindPage
	}
	w.exist = []docroot.NodeID{0}
	t := x.s.Tree()
	for _, name := range w.dirs {
		id := t.Child(t.Real(w.exist[len(w.exist)-1]), []byte(name))
		if id == docroot.NoNode || t.Kind(id) != docroot.KindDir {
			break
		}
		w.exist = append(w.exist, id)
	}
	return w
}

// nameKind is what the extension of a name says about a file.
type nameKind uint8

const (
	kindOther nameKind = iota // the extension belongs to the name
	kindPage                  // a page or directory
	kindImage
)

// splitName returns a name without the extension of a page or image: authors
// confuse these, and generators change them.
func splitName(name string) (stem string, kind nameKind) {
	ext := path.Ext(name)
	switch strings.ToLower(ext) {
	case "":
		return name, kindPage
	case ".html", ".htm", ".xhtml", ".shtml", ".md", ".markdown", ".mdx", ".rst", ".adoc", ".org", ".php", ".asp", ".aspx", ".jsp":
		return strings.TrimSuffix(name, ext), kindPage
	case ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".bmp", ".ico":
		return strings.TrimSuffix(name, ext), kindImage
	}
	if c := ext[len(ext)-1]; len(ext) > 6 || '0' <= c && c <= '9' {
		return name, kindPage // v1.10
	}
	return name, kindOther
}

// isIndexName reports whether a name is that of an index file, which stands for
// its directory.
func isIndexName(name string) bool {
	stem, kind := splitName(strings.ToLower(name))
	return kind == kindPage && (stem == "index" || stem == "_index")
}

// isCommon reports whether files of that name are in directories that have nothing
// to do with each other, so that a link to one never means another.
func isCommon(plain string) bool {
	switch plain {
	case "readme", "readmemd", "index", "license", "changelog", "config", "configuration", "default", "main", "home", "init", "settings",
		"contents", "toc", "search", "all", "license.txt", "confighpp", "configh", "indexjs", "mainjs", "maincss", "stylecss", "makefile":
		return true
	}
	return false
}

// dirNames are the names in a directory, without extensions.
type dirNames struct {
	stems  near.Names
	byStem map[string][]docroot.NodeID
}

// namesIn returns the names in a directory.
func (x *fileIndex) namesIn(dir docroot.NodeID) *dirNames {
	dir = x.s.Tree().Real(dir)
	if d := x.byDir[dir]; d != nil {
		return d
	}
	t := x.s.Tree()
	d := &dirNames{byStem: map[string][]docroot.NodeID{}}
	for _, child := range x.children.Of(dir) {
		stem, _, ok := x.stemOf(child)
		if !ok {
			continue
		}
		if t.Kind(child) == docroot.KindFile && isIndexName(t.Name(child)) {
			continue
		}
		if d.byStem[stem] == nil {
			d.stems.Add(stem)
		}
		d.byStem[stem] = append(d.byStem[stem], child)
	}
	x.byDir[dir] = d
	return d
}

// stemOf returns the name of a node without the extension of a page or image; ok
// is false if no link can mean the node.
func (x *fileIndex) stemOf(id docroot.NodeID) (stem string, kind nameKind, ok bool) {
	t := x.s.Tree()
	switch t.Kind(id) {
	case docroot.KindDir:
		return t.Name(id), kindPage, true
	case docroot.KindFile:
		stem, kind = splitName(t.Name(id))
		return stem, kind, true
	}
	return "", 0, false
}

// descend guesses what is where the path leads, but for the spelling of its
// segments. It follows them from number i on, below dir. Where a directory exists
// as it is written, it is not respelled.
func (x *fileIndex) descend(w wanted, i int, dir docroot.NodeID, cost int, out []guess) []guess {
	if i == len(w.dirs) {
		return x.lastNames(w, dir, cost, out)
	}
	t := x.s.Tree()
	if id := t.Child(t.Real(dir), []byte(w.dirs[i])); id != docroot.NoNode {
		if t.Kind(id) != docroot.KindDir {
			return out
		}
		return x.descend(w, i+1, id, cost, out)
	}
	d := x.namesIn(dir)
	names, more := d.stems.Same(w.dirs[i]), costSpelling
	if len(names) == 0 {
		var errors int
		names, errors = d.stems.Typos(w.dirs[i])
		more += errors * costTypo
	}
	if cost+more > maxCost {
		return out
	}
	for _, name := range names {
		for _, id := range d.byStem[name] {
			if t.Kind(id) == docroot.KindDir {
				out = x.descend(w, i+1, id, cost+more, out)
			}
		}
	}
	return out
}

// lastNames guesses by the last segment of w in a directory.
func (x *fileIndex) lastNames(w wanted, dir docroot.NodeID, cost int, out []guess) []guess {
	d := x.namesIn(dir)
	names, more := d.stems.Same(w.stem), 0
	if len(names) == 0 {
		var errors int
		names, errors = d.stems.Typos(w.stem)
		more = costSpelling + errors*costTypo
	}
	for _, name := range names {
		for _, id := range d.byStem[name] {
			if _, kind, _ := x.stemOf(id); kind == w.kind && cost+more <= maxCost {
				out = append(out, guess{id, cost + more + x.spellingCost(w, id)})
			}
		}
	}
	return out
}

// spellingCost is 0 for a node with exactly the name that w asks for.
func (x *fileIndex) spellingCost(w wanted, id docroot.NodeID) int {
	if stem, _, _ := x.stemOf(id); stem == w.stem {
		return 0
	}
	return costSpelling
}

// reworded guesses a file of the right directory in whose name the link leaves
// out a word.
func (x *fileIndex) reworded(w wanted) []guess {
	if len(w.exist) <= len(w.dirs) || w.kind != kindPage {
		return nil
	}
	d := x.namesIn(w.exist[len(w.dirs)])
	var out []guess
	for _, id := range d.byStem[d.stems.Abbreviated(w.stem)] {
		if _, kind, _ := x.stemOf(id); kind == w.kind {
			out = append(out, guess{id, costReworded})
		}
	}
	return out
}

// fromAbove guesses what a relative link means if it resolves against one of the
// directories above the page, or the docroot: its author counted the levels
// wrong, or forgot the first slash.
func (x *fileIndex) fromAbove(f *Finding, page docroot.NodeID) []guess {
	if isRooted(f.Raw) || f.hasBase {
		return nil
	}
	segments := writtenSegments(f.Raw)
	if len(segments) == 0 {
		return nil
	}
	p := strings.Join(segments, "/")
	if raw, _, _ := strings.Cut(f.Raw, "#"); strings.HasSuffix(raw, "/") {
		p += "/"
	}
	t := x.s.Tree()
	here := x.parse(x.aimOf(f))
	at := here.exist[len(here.exist)-1] // where the path leads, if it is known
	if len(here.exist) <= len(here.dirs) {
		at = docroot.NoNode
	} else if len(segments) > 1 {
		return nil // the directory exists, so the levels are right
	}
	var out []guess
	for dir := t.Parent(page); ; dir = t.Parent(dir) {
		above := t.Path(dir) + "/"
		if dir == 0 {
			above = ""
		}
		w := x.parse(aim{above + p, len(segments)})
		if last := len(w.dirs); w.name != "" && len(w.exist) > last && (at == docroot.NoNode || !x.areParallel(at, w.exist[last])) {
			for _, g := range x.lastNames(w, w.exist[last], costAbove, nil) {
				if g.cost == costAbove && x.answers(x.s.Href(g.node)) {
					out = append(out, g)
				}
			}
		}
		if dir == 0 {
			return out
		}
	}
}

// elsewhere guesses the files in other directories that have the name.
func (x *fileIndex) elsewhere(w wanted) []guess {
	plain := near.Plain(w.stem)
	if len(plain) < 2 {
		return nil
	}
	same := x.named(plain, w.kind)
	if len(same) > maxSame {
		return nil // the name says too little
	}
	limit := maxCost
	if len(same) > 8 || len(plain) < 5 {
		limit = maxUnsure
	}
	common := isCommon(plain)
	var out []guess
	for _, id := range same {
		dirs := x.dirsOf(id)
		section := x.leftSection(w, dirs)
		if section >= 0 && section < len(dirs) && x.areParallel(w.exist[section+1], dirs[section]) {
			continue
		}
		cost, shared := x.pathCost(w, dirs)
		cost += x.spellingCost(w, id)
		if cost > limit || common && !x.sameParent(w, dirs) {
			continue
		}
		if section >= 0 && shared < len(w.dirs) && (len(same) > 1 && cost > costMissing+costSpelling || section >= w.given && !isDistinctive(w.stem)) {
			continue // the link names a section that exists, and lacks the page
		}
		out = append(out, guess{id, cost})
	}
	return out
}

// sameParent reports whether the last of the directories has the name that the
// link gives it.
func (x *fileIndex) sameParent(w wanted, dirs []docroot.NodeID) bool {
	a, b := len(w.dirs), len(dirs)
	return a > 0 && b > 0 && near.Plain(w.dirs[a-1]) == near.Plain(x.s.Tree().Name(dirs[b-1]))
}

// leftSection returns the first of the directories of w that exists although dirs
// lead elsewhere; -1 if there is none.
func (x *fileIndex) leftSection(w wanted, dirs []docroot.NodeID) int {
	k := 0
	for k < len(dirs) && k+1 < len(w.exist) && w.exist[k+1] == dirs[k] {
		k++
	}
	if k+1 >= len(w.exist) {
		return -1
	}
	return k
}

// isDistinctive reports whether a name is so long that two pages hardly have it by
// chance.
func isDistinctive(name string) bool { return len(near.Words(name)) >= 3 && len(name) >= 12 }

// dirsOf returns the directories that lead to a node, without the docroot.
func (x *fileIndex) dirsOf(id docroot.NodeID) []docroot.NodeID {
	t := x.s.Tree()
	var dirs []docroot.NodeID
	for id = t.Parent(id); id != 0; id = t.Parent(id) {
		dirs = append(dirs, id)
	}
	slices.Reverse(dirs)
	return dirs
}

// sharedDirectories counts the directories that lead to both of two nodes.
func (x *fileIndex) sharedDirectories(a, b docroot.NodeID) int {
	p, q := x.dirsOf(a), x.dirsOf(b)
	n := 0
	for n < len(p) && n < len(q) && p[n] == q[n] {
		n++
	}
	return n
}

// pathCost returns what it costs to change the directories of w to dirs, and how
// many directories both share, in any spelling.
func (x *fileIndex) pathCost(w wanted, dirs []docroot.NodeID) (cost, shared int) {
	t := x.s.Tree()
	from := 0 // both begin alike, usually
	for from < len(dirs) && from+1 < len(w.exist) && w.exist[from+1] == dirs[from] {
		from++
	}
	a, b := w.dirs[from:], dirs[from:]
	type cell struct{ cost, shared int }
	row := make([]cell, len(b)+1)
	for j := range row {
		row[j] = cell{j * costMissing, 0}
	}
	for i, name := range a {
		diagonal := row[0]
		row[0] = cell{(i + 1) * costTooMuch, 0}
		for j, id := range b {
			best := diagonal
			if c := segmentCost(name, t.Name(id)); c < costOther {
				best.cost, best.shared = best.cost+c, best.shared+1
			} else {
				best.cost += costOther
			}
			if c := row[j].cost + costMissing; c < best.cost {
				best = cell{c, row[j].shared}
			}
			if c := row[j+1].cost + costTooMuch; c < best.cost {
				best = cell{c, row[j+1].shared}
			}
			diagonal, row[j+1] = row[j+1], best
		}
	}
	last := row[len(b)]
	return last.cost, last.shared + from
}

// segmentCost returns what it costs to change one name to another.
func segmentCost(a, b string) int {
	if a == b {
		return 0
	}
	errors, ok := near.Typo(a, b)
	if !ok || errors > 1 {
		return costOther
	}
	return costSpelling + errors*costTypo
}

// areParallel reports whether two directories are versions of one another: by
// their names, or because they hold files of the same names.
func (x *fileIndex) areParallel(a, b docroot.NodeID) bool {
	pair := [2]docroot.NodeID{min(a, b), max(a, b)}
	if got, ok := x.parallel[pair]; ok {
		return got
	}
	t := x.s.Tree()
	got := isVersion(t.Name(a)) && isVersion(t.Name(b))
	if !got {
		few, many := x.children.Of(t.Real(a)), x.children.Of(t.Real(b))
		to := t.Real(b)
		if len(few) > len(many) {
			few, to = many, t.Real(a)
		}
		shared, names := 0, 0
		for _, id := range few {
			if name := t.Name(id); !isIndexName(name) {
				names++
				if t.Child(to, []byte(name)) != docroot.NoNode {
					shared++
				}
			}
		}
		got = shared >= 2 && shared*4 >= names
	}
	x.parallel[pair] = got
	return got
}

// isVersion reports whether a directory's name is that of a version.
func isVersion(name string) bool {
	switch strings.ToLower(name) {
	case "latest", "main", "master", "stable", "next", "dev", "current", "nightly", "beta":
		return true
	}
	words := near.Words(name)
	return len(words) > 0 && '0' <= words[len(words)-1][0] && words[len(words)-1][0] <= '9' && len(words) <= 2
}

// named returns the nodes of a kind with that plain name, in the order of the
// tree.
func (x *fileIndex) named(plain string, kind nameKind) []docroot.NodeID {
	t := x.s.Tree()
	if x.byName == nil {
		x.byName, x.next = make([]docroot.NodeID, t.Len()), make([]docroot.NodeID, t.Len())
		for id := docroot.NodeID(t.Len() - 1); id > 0; id-- { // 0, the docroot, has no name and ends a chain
			if stem, _, ok := x.stemOf(id); ok {
				bucket := x.bucket(near.Plain(stem))
				x.next[id], *bucket = *bucket, id
			}
		}
	}
	var out []docroot.NodeID
	for id := *x.bucket(plain); id != 0; id = x.next[id] {
		if stem, k, _ := x.stemOf(id); k == kind && near.Plain(stem) == plain {
			out = append(out, id)
		}
	}
	return out
}

func (x *fileIndex) bucket(plain string) *docroot.NodeID {
	return &x.byName[maphash.String(x.seed, plain)%uint64(len(x.byName))]
}
