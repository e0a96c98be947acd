package check

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/similar"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
)

// What the author of a link to a missing file meant, these rules find out. The first
// that finds files decides. Of several files, the author means the one of the same
// language or part of the site; without such a one, there is no suggestion.
//
//  1. The path in another spelling of its names: letter case, punctuation, extension, with a
//     slash for a hyphen or a hyphen for a slash, and without what stuck to its end.
//     /Guides/set_up.htm), is guides/set-up.html.
//  2. A relative path from another directory above the page.
//     docs/faq.html on docs/a/b.html is docs/faq.html.
//  3. The path with typing errors in its names.
//     /giudes/instalation/ is guides/installation/index.html.
//  4. A file of that name, where the directories differ in one place: up to two are
//     missing, too much or renamed. /posts/why-go/ is en/posts/why-go/index.html.
//  5. A name with one more word in the right directory.
//     /a/install-client.html is a/install-velero-client.html.

// A rule is one of these.
type rule uint8

const (
	ruleSpelled rule = iota + 1
	ruleAbove
	ruleMistyped
	ruleMoved
	ruleReworded
)

// maxChanged is how many directories of a path may differ from those of the file, and
// maxUnsure how many if the name says little: it is short, or many files have it.
const (
	maxChanged = 2
	maxUnsure  = 1
)

// maxSame bounds the files with the same name that are compared with a path.
const maxSame = 512

// longAim is the length of the longest path with guesses that are kept for other links to
// it. Many longer ones would take much memory.
const longAim = 1 << 10

// fileIndex finds the files that broken links mean. It belongs to one goroutine.
// It lists names only when they are needed.
type fileIndex struct {
	s        *isite.Site
	children docroot.Children
	byName   map[string][]docroot.NodeID // by the plain form of the name
	byDir    map[docroot.NodeID]*dirNames
	known    map[knownAim][]docroot.NodeID
	parallel map[[2]docroot.NodeID]bool
	budget   similar.Budget
}

// allow returns what the suggestions for so many findings may cost. Only
// thousands of like names cost more.
func allow(findings int) similar.Budget { return similar.Budget(1<<26 + 4*guessCost*findings) }

// nodeCost is what it costs to look at a file or directory, and guessCost to resolve the
// value that leads there.
const (
	nodeCost  = 64
	guessCost = 256
)

func newFileIndex(s *isite.Site) *fileIndex {
	return &fileIndex{s: s, budget: allow(1), children: s.Tree().Children(), byDir: map[docroot.NodeID]*dirNames{},
		known: map[knownAim][]docroot.NodeID{}, parallel: map[[2]docroot.NodeID]bool{}}
}

// aim is what a broken link asks for: a decoded path in the docroot, without
// slash in front. The author wrote its last segments; those before them are from
// the address of the page.
type aim struct {
	path    string
	written int
}

// knownAim is an aim with the rule that was asked about it.
type knownAim struct {
	aim
	rule rule
}

// aimOf returns the aim of a link.
func (x *fileIndex) aimOf(f *Finding) aim {
	p := decodeAddress(x.s, f.Target)
	p = cmp.Or(withoutText(p), p)
	slash := strings.HasSuffix(p, "/")
	p = strings.TrimPrefix(path.Clean(p), "/")
	if slash && p != "" {
		p += "/"
	}
	return aim{p, len(writtenSegments(f.Raw))}
}

// withoutText returns a path without what is from the text around it: punctuation and space at
// its end.
func withoutText(p string) string {
	return strings.TrimRight(p, " \t\n\u00a0\u200b.,;:!?()[]{}<>*|\"'`´’”»…")
}

// isRooted reports whether a value begins at the root of a host.
func isRooted(raw string) bool {
	raw = strings.TrimSpace(raw)
	return strings.HasPrefix(raw, "/") || strings.Contains(raw, "://")
}

// writtenSegments returns the decoded segments of a path as written, without
// dots.
func writtenSegments(raw string) []string {
	raw, _ = cutValue(raw)
	return slices.DeleteFunc(strings.Split(string(weburl.PercentDecode(nil, raw)), "/"), func(s string) bool { return s == "" || s == "." || s == ".." })
}

// guesses returns what a link of a page, with its aim, may mean by one of the rules.
func (x *fileIndex) guesses(f *Finding, a aim, page docroot.NodeID, by rule) []docroot.NodeID {
	if by == ruleAbove {
		// A relative link may resolve against one of the directories above the page, or the
		// docroot: its author counted the levels wrong, or forgot the first slash.
		var out []docroot.NodeID
		segments := writtenSegments(f.Raw)
		here := x.parse(a)
		at := docroot.NoNode // where the path leads, if that exists
		if len(here.exist) > len(here.dirs) {
			at = here.exist[len(here.dirs)]
		}
		if isRooted(f.Raw) || f.hasBase || len(segments) == 0 || at != docroot.NoNode && len(segments) > 1 {
			return nil // a directory of several levels exists, so they are right
		}
		slash := ""
		if strings.HasSuffix(a.path, "/") {
			slash = "/"
		}
		t := x.s.Tree()
		for dir := page; dir != 0 && len(out) == 0; {
			dir = t.Parent(dir)
			above := t.Path(dir)
			if !x.budget.Take(guessCost + len(above)) {
				return nil
			}
			w := x.parse(aim{path.Join(above, path.Join(segments...)) + slash, len(segments)})
			if last := len(w.dirs); w.name != "" && len(w.exist) > last && (at == docroot.NoNode || !x.areParallel(at, w.exist[last])) {
				for _, id := range x.namesIn(w.exist[last]).byStem[w.stem] {
					if _, kind, _ := x.stemOf(id); kind == w.kind {
						out = append(out, id)
					}
				}
			}
		}
		return out
	}
	key := knownAim{a, by}
	if got, ok := x.known[key]; ok {
		return got
	}
	var got []docroot.NodeID
	w := x.parse(a)
	switch {
	case w.name == "": // the docroot, or its index file in another spelling
		got = []docroot.NodeID{0}
	case by == ruleSpelled || by == ruleMistyped:
		got = x.descend(w, 0, 0, by == ruleMistyped)
		if by == ruleSpelled && len(got) == 0 {
			for _, p := range otherSlashes(a.path) {
				got = append(got, x.descend(x.parse(aim{p, a.written}), 0, 0, false)...)
			}
		}
	case by == ruleMoved:
		got = x.elsewhere(w)
	default:
		got = x.lacksWord(w)
	}
	if len(a.path) <= longAim {
		x.known[key] = got
	}
	return got
}

// otherSlashes returns paths with a hyphen for the last slash, or a slash for a hyphen of
// the name: a/b-c/ for a/b/c/, and the other way round.
func otherSlashes(path string) (others []string) {
	p := strings.TrimSuffix(path, "/")
	at := strings.LastIndexByte(p, '/')
	if at > 0 {
		others = append(others, path[:at]+"-"+path[at+1:])
	}
	for i := at + 2; i < len(p)-1; i++ {
		if p[i] == '-' || p[i] == '_' {
			others = append(others, path[:i]+"/"+path[i+1:])
		}
	}
	return others
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

// commonNames are plain names of files in directories that have nothing to do with each
// other, so that a link to one never means another: /y/README.md is not x/README.md.
var commonNames = strings.Fields(`readme readmemd index license changelog config configuration default main home init settings
	contents toc search all license.txt confighpp configh indexjs mainjs maincss stylecss makefile`)

// dirNames are the names in a directory, without extensions.
type dirNames struct {
	stems  similar.Names
	byStem map[string][]docroot.NodeID
}

// namesIn returns the names in a directory.
func (x *fileIndex) namesIn(dir docroot.NodeID) *dirNames {
	dir = x.s.Tree().Real(dir)
	if d := x.byDir[dir]; d != nil {
		return d
	}
	t := x.s.Tree()
	d := &dirNames{stems: similar.Names{Budget: &x.budget}, byStem: map[string][]docroot.NodeID{}}
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

// descend follows the segments of a path from number i on, below dir, in any spelling
// or, with typos, in one with typing errors. Where a directory exists as it is written,
// it is not respelled.
func (x *fileIndex) descend(w wanted, i int, dir docroot.NodeID, typos bool) (out []docroot.NodeID) {
	if !x.budget.Take(nodeCost) {
		return nil
	}
	t := x.s.Tree()
	name, isLast := w.stem, i == len(w.dirs)
	if !isLast {
		name = w.dirs[i]
		if id := t.Child(t.Real(dir), []byte(name)); id != docroot.NoNode {
			if t.Kind(id) != docroot.KindDir {
				return nil
			}
			return x.descend(w, i+1, id, typos)
		}
	}
	d := x.namesIn(dir)
	names := d.stems.Same(name)
	if len(names) == 0 && typos {
		names, _ = d.stems.Typos(name)
	}
	for _, name := range names {
		for _, id := range d.byStem[name] {
			if _, kind, _ := x.stemOf(id); isLast && kind == w.kind {
				out = append(out, id)
			} else if !isLast && t.Kind(id) == docroot.KindDir {
				out = append(out, x.descend(w, i+1, id, typos)...)
			}
		}
	}
	return out
}

// lacksWord guesses a file of the right directory if the link leaves out one
// word of its name.
func (x *fileIndex) lacksWord(w wanted) (out []docroot.NodeID) {
	if len(w.exist) <= len(w.dirs) || w.kind != kindPage {
		return nil
	}
	d := x.namesIn(w.exist[len(w.dirs)])
	for _, id := range d.byStem[d.stems.Abbreviated(w.stem)] {
		if _, kind, _ := x.stemOf(id); kind == w.kind {
			out = append(out, id)
		}
	}
	return out
}

// elsewhere guesses the files with the same name in the directories that differ least
// from those of the path. A directory that the path names was meant if it exists,
// unless the page lacks little: /library/venv.html is not tutorial/venv.html.
func (x *fileIndex) elsewhere(w wanted) (out []docroot.NodeID) {
	plain := similar.Plain(w.stem)
	same := x.named(plain, w.kind)
	if x.isDirectory(w) || len(plain) < 2 || len(same) > maxSame {
		return nil
	}
	least := maxChanged
	if len(same) > 8 || len(plain) < 5 {
		least = maxUnsure
	}
	for _, id := range same {
		dirs := x.dirsOf(id)
		if !x.budget.Take(nodeCost*(1+len(dirs)) + len(w.name)) {
			return nil
		}
		prefix, suffix := x.alike(w, dirs)
		changed := max(len(w.dirs), len(dirs)) - prefix - suffix
		if changed > least || suffix == 0 && slices.Contains(commonNames, plain) {
			continue
		}
		if exist := len(w.exist) - 1; prefix < exist { // the path goes on in a directory that exists
			if prefix < len(dirs) && x.areParallel(w.exist[prefix+1], dirs[prefix]) {
				continue // another version of it has the page
			}
			lacks := prefix+suffix < len(w.dirs)
			if lacks && (len(same) > 1 || prefix >= w.given && !isDistinctive(w.stem)) {
				continue
			}
		}
		if changed < least {
			out, least = nil, changed
		}
		out = append(out, id)
	}
	return out
}

// alike counts the directories at the beginning and at the end of a path that those of
// a file share, in any spelling: /docs/v1/api/ and docs/api share one and one.
func (x *fileIndex) alike(w wanted, dirs []docroot.NodeID) (prefix, suffix int) {
	most := min(len(w.dirs), len(dirs))
	same := func(i, j int) bool {
		name := x.s.Tree().Name(dirs[j])
		errors, ok := similar.Typo(w.dirs[i], name)
		return w.dirs[i] == name || ok && errors <= 1
	}
	for prefix < most && same(prefix, prefix) {
		prefix++
	}
	for suffix < most-prefix && same(len(w.dirs)-1-suffix, len(dirs)-1-suffix) {
		suffix++
	}
	return prefix, suffix
}

// isDistinctive reports whether a name is so long that two pages hardly have it by
// chance.
func isDistinctive(name string) bool { return len(similar.Words(name)) >= 3 && len(name) >= 12 }

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
		x.budget.Take(nodeCost * len(few))
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
	words := similar.Words(name)
	return len(words) > 0 && '0' <= words[len(words)-1][0] && words[len(words)-1][0] <= '9' && len(words) <= 2
}

// named returns the nodes of a kind with that plain name, in the order of the
// tree.
func (x *fileIndex) named(plain string, kind nameKind) (out []docroot.NodeID) {
	if x.byName == nil {
		x.byName = map[string][]docroot.NodeID{}
		for i := 1; i < x.s.Tree().Len(); i++ { // 0, the docroot, has no name
			if stem, _, ok := x.stemOf(docroot.NodeID(i)); ok {
				name := similar.Plain(stem)
				x.byName[name] = append(x.byName[name], docroot.NodeID(i))
			}
		}
	}
	for _, id := range x.byName[plain] {
		x.budget.Take(1)
		if _, k, _ := x.stemOf(id); k == kind {
			out = append(out, id)
		}
	}
	return out
}
