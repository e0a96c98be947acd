// Package analysis answers what an editor asks about the sources of a site: where
// the destinations of a text lead, who links to a page or heading, and what could
// be written at a place.
//
// A [Snapshot] holds the last built site and its sources. It never changes. The
// texts that differ from it, because their author has not saved or built them yet,
// are an [Overlay]. All answers are functions of these two.
package analysis

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source"
)

// Snapshot is a built site and the sources that it was made of. It is safe for
// concurrent use.
type Snapshot struct {
	resolver
	accepted  *audit.Baseline
	baseline  sync.Mutex // guards accepted
	answers   uint64     // the hash of what the site answers to which address, 0 if it is not known
	addresses []Address
}

// tree is the source files, with the pages that were made of them.
type tree struct {
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

	mu      sync.Mutex // guards sources
	sources *source.Map
}

// resolver says where destinations lead.
type resolver struct {
	tree
	judge *check.Judge
	// What follows is guarded by mu.
	reader *site.Reader
	built  map[string]builtLinks
	// renderings are those of files that are not content, as far as they were asked for.
	renderings map[string][]rendered

	shown map[string][]shownLink // by file; not changed after New
}

// Options say how to make a snapshot.
type Options struct {
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

// New reads the sources of a loaded site. Close the snapshot when it is no longer
// needed.
func New(ctx context.Context, a *audit.Audit, opt Options) (*Snapshot, error) {
	judge, err := check.NewJudge(audit.Handle(a.Site), audit.CheckOptions(a.Project))
	if err != nil {
		return nil, err
	}
	s := &Snapshot{accepted: a.Baseline, resolver: resolver{judge: judge, built: map[string]builtLinks{}, renderings: map[string][]rendered{}, shown: map[string][]shownLink{}, tree: tree{
		Dir: a.Project.Root, Project: a.Project, Site: a.Site, byFile: map[string]int32{}, pageOf: map[int32][]site.PageID{}, files: map[string]*indexedFile{},
	}}}
	if a.Project.Generator != nil {
		s.generator, s.headingIDs = a.Project.Generator.Generator, a.Project.Generator.HeadingIDs
	}
	if s.reader, err = a.Site.NewReader(); err != nil {
		return nil, err
	}
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
		s.share(last)
	}
	if err := s.readFiles(ctx, last, opt.Progress); err != nil {
		s.Close()
		return nil, err
	}
	s.listAddresses()
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
func (s *tree) Path(file string) string {
	if filepath.IsAbs(filepath.FromSlash(file)) {
		return filepath.FromSlash(file)
	}
	return filepath.Join(s.Dir, filepath.FromSlash(file))
}

// File returns the name of a source file by its name on disk; ok is false for a
// file that is not below the project.
func (s *tree) File(name string) (file string, ok bool) {
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
func (s *tree) Knows(file string) bool { return s.isSource(file) }

// page returns the page that was made of a content file.
func (s *tree) page(file string) (id site.PageID, ok bool) {
	i, ok := s.byFile[file]
	if !ok || len(s.pageOf[i]) == 0 {
		return 0, false
	}
	return s.pageOf[i][0], true
}

// SourceOf returns the content file of a page, "" if there is none.
func (s *tree) SourceOf(node docroot.NodeID) string {
	id, ok := s.Site.PageOf(node)
	if !ok || s.fileOf[id] < 0 {
		return ""
	}
	return s.content[s.fileOf[id]].File
}

// sourceExtensions are those of files besides content that may hold links.
var sourceExtensions = map[string]bool{".html": true, ".htm": true, ".xml": true, ".toml": true, ".yaml": true, ".yml": true, ".json": true, ".css": true, ".scss": true, ".mdx": true}

// isSource reports whether a file may hold links that its author edits.
func (s *tree) isSource(file string) bool {
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

// skippedDirs are directories without sources.
func (s *tree) skipped(name, base string) bool {
	switch base {
	case "node_modules", "vendor", "_vendor", "bower_components", "__pycache__", "testdata":
		return true
	case "resources": // what Hugo keeps between builds, but content may have a section of that name
		return name == base
	}
	if strings.HasPrefix(base, ".") && name != "." {
		return true
	}
	return s.Path(name) == filepath.Clean(s.Project.Abs(s.Project.Docroot)) && name != "."
}

// maxFiles is how many source files are read.
const maxFiles = 500_000

// listFiles returns the names of the source files, sorted.
func (s *tree) listFiles() []string {
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
				case d.IsDir() && s.skipped(name, path.Base(name)):
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

// readFiles reads all source files in parallel, but for those that last has read.
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
func (s *tree) ReadText(file string) ([]byte, error) {
	dir, name := s.Dir, filepath.FromSlash(file)
	if filepath.IsAbs(name) {
		dir, name = filepath.Split(name)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, err := disk.ReadFS(root.FS(), filepath.ToSlash(name), maxSource)
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
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

// listAddresses lists the addresses of all files, sorted.
func (s *Snapshot) listAddresses() {
	tree := s.Site.Tree()
	for id := range tree.Nodes {
		node := docroot.NodeID(id)
		if tree.Nodes[id].Kind != docroot.KindFile {
			continue
		}
		a := Address{Path: s.Site.Href(node), Node: node}
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
}
