package lsp

// A [Snapshot] answers what an editor asks about the sources of a site: where
// the destinations of a text lead, what links to a page or heading, and what an author
// could write at a place.
//
// It holds the last built site and its sources. It never changes. Texts
// that their author has not saved or built yet differ from it: they are an
// [Overlay]. All answers are functions of these two.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// Snapshot is a built site and the sources that it was made of, with the pages that were made
// of each, and says where destinations lead. It is safe for concurrent use.
type Snapshot struct {
	// Dir is the directory that the names of source files are relative to. A file
	// outside of it has an absolute name.
	Dir     string
	Project *project.Project
	Site    *site.Site

	generator generator.Name
	// headingIDs is how the generator makes ids of headings.
	headingIDs generator.HeadingIDs
	content    []source.ContentFile
	byFile     map[string]int32
	fileOf     []int32                 // of each page, an index of content or -1
	pageOf     map[int32][]site.PageID // of each content file
	roots      []string                // the directories of content, longest first
	names      *destination.Names
	hooks      bool                    // links to content files are resolved by the site's templates
	files      map[string]*indexedFile // by name
	order      []string                // the names in files, sorted
	judge      *check.Judge
	shown      map[string][]shownLink // by file; not changed after NewSnapshot
	answers    uint64                 // the hash of what the site answers to which address, 0 if it is not known
	addresses  []Address

	mu      sync.Mutex // guards sources, reader, built and renderings
	sources *source.Map
	reader  *site.Reader
	built   map[string]builtLinks
	// renderings are those of files that are not content, as far as they were asked for.
	renderings map[string][]rendered

	baseline sync.Mutex // guards accepted
	accepted *audit.Baseline
}

// AnalysisOptions say how to make a snapshot.
type AnalysisOptions struct {
	// Progress takes the number of source files read so far and of all; nil for none.
	Progress func(done, total int)
	// Last is the snapshot before, nil for none. What is known of source files is taken
	// from it where neither they nor the addresses of the site have changed.
	Last *Snapshot
	// Findings are those of the check of the site, with their places in sources.
	Findings []check.Finding
}

// maxSource is the size in bytes of the largest source file that is read.
const maxSource = 8 << 20

// NewSnapshot reads the sources of a loaded site. Close the snapshot when it is no longer
// needed.
func NewSnapshot(ctx context.Context, a *audit.Audit, opt AnalysisOptions) (*Snapshot, error) {
	judge, err := check.NewJudge(audit.Handle(a.Site), audit.CheckOptions(a.Project))
	if err != nil {
		return nil, err
	}
	s := &Snapshot{
		accepted: a.Baseline, judge: judge, built: map[string]builtLinks{}, renderings: map[string][]rendered{}, shown: map[string][]shownLink{},
		Dir: a.Project.Root, Project: a.Project, Site: a.Site, byFile: map[string]int32{}, pageOf: map[int32][]site.PageID{}, files: map[string]*indexedFile{},
	}
	if a.Project.Generator != nil {
		s.generator, s.headingIDs = a.Project.Generator.Generator, a.Project.Generator.HeadingIDs
	}
	s.reader = a.Site.NewReader()
	m, dir, err := a.OpenSources(ctx)
	if err != nil {
		s.Close()
		return nil, err
	}
	if m != nil {
		s.sources, s.Dir, s.content = m, dir, m.Content()
		if s.fileOf, err = m.PageFiles(ctx, a.Site); err != nil {
			s.Close()
			return nil, err
		}
	} else {
		s.fileOf = slices.Repeat([]int32{-1}, a.Site.Pages())
		for id := range s.fileOf {
			if a.Project.OfMarkdown() { // each page is its own source
				name := a.Site.Path(site.PageID(id))
				s.content, s.fileOf[id] = append(s.content, source.ContentFile{File: name, Name: name}), int32(id)
			}
		}
	}
	for i := range s.content {
		f := &s.content[i]
		s.byFile[f.File] = int32(i)
		if root, ok := strings.CutSuffix(f.File, f.Name); ok && !slices.Contains(s.roots, root) {
			s.roots = append(s.roots, root)
		}
	}
	slices.SortFunc(s.roots, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for id, file := range s.fileOf {
		if file >= 0 {
			s.pageOf[file] = append(s.pageOf[file], site.PageID(id))
		}
	}
	s.keepShown(opt.Findings)
	s.hooks = s.resolvesContent()
	s.answers = s.hashAnswers()
	last := opt.Last
	if !s.answersAs(last) {
		last = nil
		s.names = destination.NewNames(s.content)
	} else {
		s.content, s.byFile, s.fileOf, s.pageOf, s.roots, s.names = last.content, last.byFile, last.fileOf, last.pageOf, last.roots, last.names
	}
	if err := s.readFiles(ctx, last, opt.Progress); err != nil {
		s.Close()
		return nil, err
	}
	// The addresses of all files are sorted.
	tree := s.Site.Tree()
	for id := range tree.Nodes {
		node := docroot.NodeID(id)
		if tree.Nodes[id].Kind != docroot.KindFile {
			continue
		}
		a := Address{Path: s.Site.Link(node), Node: node}
		if page, ok := s.Site.PageOf(node); ok && s.Site.Page(page).Kind().IsHTML() {
			if s.Site.Page(page).Alias() != "" {
				continue // an old address
			}
			a.Page = path.Base(a.Path) != "404.html" && path.Base(a.Path) != "404" // which is for addresses without a page
			if file := s.SourceOf(node); file != "" && s.files[file] != nil {
				a.Title = s.files[file].title
			}
		}
		s.addresses = append(s.addresses, a)
	}
	slices.SortFunc(s.addresses, func(a, b Address) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Node, b.Node)) })
	return s, nil
}

// Close releases the files that are open. Answers that need them are empty then.
func (s *Snapshot) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != nil {
		s.reader.Close()
		s.reader = nil
	}
	if s.sources != nil {
		s.sources.Close()
		s.sources = nil
	}
	s.judge.Forget()
}

// SeesLinks reports whether it can be known what the last build made of the links of a
// file. While the site is read again, that is so only for files that were asked about.
func (s *Snapshot) SeesLinks(file string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.built[file]
	if !s.isContent(file) {
		_, ok = s.renderings[file]
	}
	return ok || s.reader != nil
}

// Path returns the name of a source file on disk.
func (s *Snapshot) Path(file string) string {
	if filepath.IsAbs(filepath.FromSlash(file)) {
		return filepath.FromSlash(file)
	}
	return filepath.Join(s.Dir, filepath.FromSlash(file))
}

// File returns the name of a source file by its name on disk; ok is false for a
// file that is not below the project.
func (s *Snapshot) File(name string) (file string, ok bool) {
	if slash := filepath.ToSlash(name); s.files[slash] != nil {
		return slash, true
	}
	rel, err := filepath.Rel(s.Dir, name)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// Knows reports whether the snapshot reads files with this name for links.
func (s *Snapshot) Knows(file string) bool { return s.isSource(file) }

// page returns the page that was made of a content file.
func (s *Snapshot) page(file string) (id site.PageID, ok bool) {
	i, ok := s.byFile[file]
	if !ok || len(s.pageOf[i]) == 0 {
		return 0, false
	}
	return s.pageOf[i][0], true
}

// SourceOf returns the content file of a page, or "".
func (s *Snapshot) SourceOf(node docroot.NodeID) string {
	id, ok := s.Site.PageOf(node)
	if !ok || s.fileOf[id] < 0 {
		return ""
	}
	return s.content[s.fileOf[id]].File
}

// sourceExtensions are those of files besides content that may hold links.
var sourceExtensions = map[string]bool{".html": true, ".htm": true, ".xml": true, ".toml": true, ".yaml": true, ".yml": true, ".json": true, ".css": true, ".scss": true, ".mdx": true}

// isSource reports whether a file may hold links that its author edits.
func (s *Snapshot) isSource(file string) bool {
	if generator.IsMarkdown(file) {
		return true
	}
	if _, ok := s.byFile[file]; ok {
		return true
	}
	if base := path.Base(file); base == "_redirects" || base == "_headers" {
		return true
	}
	return sourceExtensions[strings.ToLower(path.Ext(file))]
}

// maxFiles is how many source files are read.
const maxFiles = 500_000

// listFiles returns the names of the source files, sorted.
func (s *Snapshot) listFiles() []string {
	var all []string
	for i := range s.content {
		all = append(all, s.content[i].File)
	}
	if s.sources != nil {
		root, err := os.OpenRoot(s.Dir)
		if err == nil {
			defer root.Close()
			fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
				switch {
				case err != nil:
					return nil
				case d.IsDir() && (s.generator.Foreign(root.FS(), name) || name != "." && s.Path(name) == filepath.Clean(s.Project.Abs(s.Project.Docroot))):
					return fs.SkipDir
				case len(all) >= maxFiles:
					return fs.SkipAll
				case d.Type().IsRegular() && s.isSource(name):
					all = append(all, name)
				}
				return nil
			})
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// readFiles reads all source files in parallel, except files that last has read.
func (s *Snapshot) readFiles(ctx context.Context, last *Snapshot, progress func(done, total int)) error {
	s.order = s.listFiles()
	read := make([]*indexedFile, len(s.order))
	var next, done atomic.Int64
	var wg sync.WaitGroup
	for range max(1, min(runtime.GOMAXPROCS(0), 4)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(s.order) || ctx.Err() != nil {
					return
				}
				read[i] = s.readFile(ctx, s.order[i], last)
				if n := int(done.Add(1)); progress != nil && n%256 == 0 {
					progress(n, len(s.order))
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	kept := s.order[:0]
	for i, f := range read {
		if f != nil {
			kept = append(kept, s.order[i])
			s.files[s.order[i]] = f
		}
	}
	s.order = kept
	return nil
}

// ReadText reads a source file as an editor shows it: without byte order mark.
//
// A file of the project is read beneath its directory: no symbolic link leads out
// of it. Only the generator names files elsewhere, those of its modules.
func (s *Snapshot) ReadText(file string) ([]byte, error) {
	text, err := s.readRaw(file)
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}

func (s *Snapshot) readRaw(file string) ([]byte, error) {
	dir, name := s.Dir, filepath.FromSlash(file)
	if filepath.IsAbs(name) {
		dir, name = filepath.Split(name)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return system.ReadFS(root.FS(), filepath.ToSlash(name), maxSource)
}

// Address is an address of the site that an author may link to.
type Address struct {
	// Path is the site path, and Title that of the page, "" for other files.
	Path, Title string
	// Node is the file that answers.
	Node docroot.NodeID
	// Page reports that visitors read the file.
	Page bool
}

// Overlay holds the texts of files that differ from what the snapshot was made of,
// by name: those of an editor's buffers, and saved files that no build has seen.
// It never changes: With returns another one.
type Overlay struct {
	texts  map[string][]byte
	files  map[string]*indexedFile
	parsed map[string]parsed
	// anchors are the changes of headings, by the page that has them.
	anchors map[docroot.NodeID]anchorChange
}

// parsed is what a text holds.
type parsed struct {
	links    []destination.Destination
	headings []destination.Heading
}

// anchorChange is how the headings of a text differ from those of the snapshot.
type anchorChange struct{ added, removed map[string]bool }

// With returns the overlay with another text of a file; nil takes the file out.
func (s *Snapshot) With(ctx context.Context, o *Overlay, file string, text []byte) *Overlay {
	n := &Overlay{texts: map[string][]byte{}, files: map[string]*indexedFile{}, parsed: map[string]parsed{}, anchors: map[docroot.NodeID]anchorChange{}}
	if o != nil {
		for name, text := range o.texts {
			if name != file {
				n.texts[name], n.files[name], n.parsed[name] = text, o.files[name], o.parsed[name]
			}
		}
	}
	if text != nil {
		n.texts[file] = text
		n.files[file], n.parsed[file] = s.index(ctx, file, text)
	}
	for name, f := range n.files {
		id, ok := s.page(name)
		was := s.files[name]
		if !ok || was == nil {
			continue
		}
		change := anchorChange{map[string]bool{}, map[string]bool{}}
		now, before := f.anchors(), was.anchors()
		for id := range now {
			change.added[id] = true
		}
		for id := range before {
			if !now[id] {
				change.removed[id] = true
			}
		}
		n.anchors[s.Site.Page(id).Node()] = change
	}
	return n
}

// Text returns the text of a file: that of the overlay, or else that on disk.
func (s *Snapshot) Text(o *Overlay, file string) ([]byte, error) {
	if o != nil {
		if text, ok := o.texts[file]; ok {
			return text, nil
		}
	}
	return s.ReadText(file)
}

// indexed returns what is known of a file, nil if it is not a source file.
func (s *Snapshot) indexed(o *Overlay, file string) *indexedFile {
	if o != nil {
		if f, ok := o.files[file]; ok {
			return f
		}
	}
	return s.files[file]
}

// indexedFile is what is kept of a file that is not open. There are many: it is
// small.
type indexedFile struct {
	title    string
	links    []indexedLink
	headings []indexedHeading
	stamp    uint64 // of the file that was read, 0 for a text of the editor
}

// indexedHeading is a heading of such a file.
type indexedHeading struct {
	start, end uint32
	text, id   string
}

// indexedLink is a destination that leads to a file of the site.
type indexedLink struct {
	start, end uint32
	node       docroot.NodeID
	fragment   uint64 // the hash of the fragment, 0 for none
}

// anchors returns the ids of the headings.
func (f *indexedFile) anchors() map[string]bool {
	ids := map[string]bool{}
	for _, h := range f.headings {
		if h.id != "" {
			ids[h.id] = true
		}
	}
	return ids
}

func hashFragment(fragment string) uint64 {
	if fragment == "" {
		return 0
	}
	return xxhash.Sum64String(fragment)
}

// Headings returns the headings of a Markdown text with their ids.
func (s *Snapshot) Headings(file string, text []byte) []destination.Heading {
	if len(text) > maxSource {
		return nil
	}
	return destination.Headings(file, text, s.generator, s.headingIDs)
}

var titleLine = text.Regexp(`(?m)^\s*"?title"?\s*[:=]\s*(.+?),?\s*$`)

// maxHead is how many bytes of a file are searched for its title.
const maxHead = 4 << 10

// titleOf returns the title that the front matter of a text gives, or else its
// first heading.
func titleOf(text []byte, headings []destination.Heading) string {
	head := text[:min(len(text), maxHead)]
	if len(head) > 0 && bytes.IndexByte([]byte("-+{"), head[0]) >= 0 {
		if m := titleLine().FindSubmatch(head); m != nil {
			return strings.Trim(string(m[1]), `"'`)
		}
	}
	if len(headings) > 0 {
		return headings[0].Text
	}
	return ""
}

// readFile reads a source file and returns what is kept of it, nil if it cannot
// be read. What last has of the same file is that.
func (s *Snapshot) readFile(ctx context.Context, file string, last *Snapshot) *indexedFile {
	stamp := s.stampOf(file)
	if last != nil && stamp != 0 {
		if f := last.files[file]; f != nil && f.stamp == stamp {
			return f
		}
	}
	text, err := s.ReadText(file)
	if err != nil {
		return nil
	}
	f, _ := s.index(ctx, file, text)
	f.stamp = stamp
	return f
}

// index returns what is kept of a text, and what it holds.
func (s *Snapshot) index(ctx context.Context, file string, text []byte) (*indexedFile, parsed) {
	all := parsed{s.destinations(file, text), s.Headings(file, text)}
	f := &indexedFile{headings: make([]indexedHeading, len(all.headings)), links: make([]indexedLink, 0, len(all.links))}
	for i := range all.headings {
		h := &all.headings[i]
		f.headings[i] = indexedHeading{uint32(h.Start), uint32(h.End), h.Text, h.Anchor}
	}
	if _, ok := s.byFile[file]; ok {
		f.title = titleOf(text, all.headings)
	}
	at := s.origin(file)
	for i := range all.links {
		d := &all.links[i]
		t := s.lead(ctx, &at, d)
		if t.Node == docroot.NoNode {
			continue
		}
		f.links = append(f.links, indexedLink{uint32(d.Start), uint32(d.End), t.Node, hashFragment(t.Fragment)})
	}
	return f, all
}

// destinations returns the destinations of a text, none if it is too large to be a page.
func (s *Snapshot) destinations(file string, text []byte) []destination.Destination {
	if len(text) > maxSource {
		return nil
	}
	return destination.In(file, text, s.generator)
}

// Resolved is a destination with what it leads to.
type Resolved struct {
	destination.Destination
	Target Target
}

// File is everything about one text.
type File struct {
	Name string
	Text []byte
	// Links are the destinations, sorted by offset, and Headings the headings.
	Links    []Resolved
	Headings []destination.Heading
}

// Analyze returns what a text holds and where its destinations lead.
func (s *Snapshot) Analyze(ctx context.Context, o *Overlay, file string, text []byte) (*File, error) {
	var all parsed
	if o != nil && bytes.Equal(o.texts[file], text) && o.files[file] != nil {
		all = o.parsed[file]
	} else {
		all = parsed{s.destinations(file, text), s.Headings(file, text)}
	}
	f := &File{Name: file, Text: text, Headings: all.headings}
	at := s.origin(file)
	at.built = s.builtLinks(file)
	shown, err := s.rendered(ctx, file)
	if err != nil {
		return nil, err
	}
	at.rendered = pairRendered(shown, all.links)
	for i := range all.links {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		t, err := s.judgeLink(ctx, o, &at, text, &all.links[i])
		if err != nil {
			return nil, err
		}
		f.Links = append(f.Links, Resolved{all.links[i], t})
	}
	return f, nil
}

// At returns the link at an offset of the text, or nil.
func (f *File) At(offset int) *Resolved {
	for i := range f.Links {
		if l := &f.Links[i]; l.Start <= offset && offset <= l.End {
			return l
		}
	}
	return nil
}

// HeadingAt returns the heading of the line with an offset, or nil.
func (f *File) HeadingAt(offset int) *destination.Heading {
	for i := range f.Headings {
		h := &f.Headings[i]
		start := bytes.LastIndexByte(f.Text[:h.Start], '\n') + 1
		if start <= offset && offset <= h.End {
			return h
		}
	}
	return nil
}

// isContent reports whether a file is one in which an author writes a page.
func (s *Snapshot) isContent(file string) bool {
	if _, ok := s.byFile[file]; ok {
		return true
	}
	return destination.IsContent(file) && s.contentRoot(file) != noRoot
}

// noRoot is no directory of content.
const noRoot = "\x00"

// contentRoot returns the directory of content that a file is in, with a slash at
// its end, "" for the whole project.
func (s *Snapshot) contentRoot(file string) string {
	for _, root := range s.roots {
		if strings.HasPrefix(file, root) {
			return root
		}
	}
	return noRoot
}

// A generator writes the whole docroot after each save, but what most source files
// say, and where their links lead, stays the same. A new snapshot takes over what the
// last one knows of a file if three things are the same: the file, the content files
// with their pages, and what the site answers to every address. Reading a site again
// then takes little time, and the sources are in memory once.

// hashAnswers returns a hash of all that decides which file a link of a source leads
// to, as far as the docroot decides it: the names and kinds of files, the aliases, and
// the rules. It is 0 if a page has a base element, which none of these show.
func (s *Snapshot) hashAnswers() uint64 {
	h := xxhash.New()
	number := func(n uint64) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], n)
		h.Write(b[:])
	}
	text := func(t string) {
		number(uint64(len(t)))
		h.WriteString(t)
	}
	tree, ruleNames := s.Site.Tree(), host.RuleNames(false)
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		name := tree.NameOf(n)
		number(uint64(n.Parent))
		number(uint64(n.Kind)<<32 | uint64(n.Flags))
		number(uint64(n.Real))
		number(uint64(len(name)))
		h.Write(name)
		if slices.Contains(ruleNames, string(name)) {
			rules, err := system.Read(filepath.Join(s.Site.Root(), filepath.FromSlash(tree.Path(docroot.NodeID(i)))), 16<<20)
			if err != nil {
				return 0
			}
			text(string(rules))
		}
	}
	for i := range s.Site.Pages() {
		p := s.Site.Page(site.PageID(i))
		if p.HasBase() {
			return 0
		}
		number(uint64(p.Node()))
		number(uint64(p.Kind()))
		text(p.Alias())
	}
	for _, address := range s.Site.Addresses() {
		text(address)
	}
	return h.Sum64()
}

// answersAs reports whether the links of a source file that has not changed lead to
// the same files as in the last snapshot.
func (s *Snapshot) answersAs(last *Snapshot) bool {
	return last != nil && s.answers != 0 && s.answers == last.answers && s.Dir == last.Dir && s.hooks == last.hooks && s.generator == last.generator && s.headingIDs == last.headingIDs &&
		reflect.DeepEqual(s.Project.Config, last.Project.Config) && slices.Equal(s.content, last.content) && slices.Equal(s.fileOf, last.fileOf)
}

// stampOf returns a number that changes with a file, 0 if there is no such file.
func (s *Snapshot) stampOf(file string) uint64 {
	info, err := os.Lstat(s.Path(file))
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	h := xxhash.New()
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], uint64(info.Size()))
	binary.LittleEndian.PutUint64(b[8:], uint64(info.ModTime().UnixNano()))
	h.Write(b[:])
	return max(1, h.Sum64())
}
