// Package source finds where a link of a built page is written: in the
// Markdown, template, data or configuration file that its author edits.
//
// [Open] reads a project, and [Map.Locate] returns the positions of links. A
// position is that of the first character of the destination; for a Markdown
// reference link that is in the definition. A link whose position is not
// certain gets none: a wrong file costs the author more than no file.
//
// docs/reference/source-positions.md lists what is recognised. The package
// reads files below the project directory, the directories that Hugo mounts,
// and the docroot. It starts no program.
package source

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
)

// Options describe a project.
type Options struct {
	// Project is the directory of the sources, as [generator.Find] returns it.
	Project string
	// Docroot is the directory of the built pages.
	Docroot string
	// Output is the directory of an earlier build in the project, which has no
	// sources either: dist when Docroot is .sitelink/public. It may be "".
	Output string
	// Roots are the directories of the docroot with hosts of their own. Hugo copies static
	// files into each of them.
	Roots []string
	// Generator is the generator that [generator.Find] recognised.
	Generator Generator
	// Env has the variables of the build, which override the configuration of Hugo.
	Env []string
}

// Link is one link of a built page.
type Link struct {
	// Page is the slash path of the page, relative to the docroot.
	Page string
	// Offset is the number of bytes of the page before the link's value.
	Offset int64
	// Raw is the value as the DOM has it, "" for a fault of the file itself. A
	// fault has a position only if the file is a copy of a source file, or if
	// Element is set.
	Raw string
	// Element is the name of the element that a fault is about, such as base: that
	// of the page's first one with a link.
	Element string
	// Line is the line of a rule of a host, 0 for everything else.
	Line int
}

// Position is a position in a source file. Line and Column count from 1, Column
// in code points.
type Position struct {
	// File is a slash path relative to the project directory, or an absolute
	// path in a Hugo module outside of the project.
	File         string
	Line, Column int
	Kind         Kind
	// Module is the Hugo module or theme that File belongs to, "" for the
	// project's own files.
	Module string
}

// Kind is a kind of source file.
type Kind string

// The kinds of source files.
const (
	Content       Kind = ""
	Template      Kind = "template"
	Data          Kind = "data" // and translations
	Configuration Kind = "configuration"
	Asset         Kind = "asset"
	Static        Kind = "static"
)

// Map finds positions in the sources of one project. It is not safe for
// concurrent use.
type Map struct {
	*sources
	site     *site.Site
	base     string // host of the site's base URL
	basePath string
	docs     memo[string, *document] // parsed content files by name
	runs     memo[string, *linkRun]  // those of all pages
	// fits are the templates whose attributes fit a tag, by all of the tag that
	// fitAttributes compares. constants are the addresses that templates write,
	// without the target of one that is relative to the page.
	fits      memo[string, []tagFit]
	constants memo[*written, address]
	costly    memo[string, bool] // see Costly
	perPage   int
}

// allowedForAll is how many links of pages and templates are compared for all pages, in
// addition to 32 for each byte of a page: some 50 ns each.
const allowedForAll = 1 << 25

// Costly returns the files of which [Map.Locate] left out what would take too long, sorted.
// Findings there may have no position.
func (m *Map) Costly() []string { return slices.Sorted(maps.Keys(m.costly.of)) }

// memo keeps what was made for a key. Several goroutines can use it.
type memo[K comparable, V any] struct {
	max int // values that are kept, 0 for all
	mu  sync.Mutex
	of  map[K]func() V
}

// How many parsed files and tags are kept.
const (
	maxDocuments = 500
	maxTags      = 10_000
)

// get returns what build returned for the key.
func (m *memo[K, V]) get(key K, build func() V) V {
	m.mu.Lock()
	value, ok := m.of[key]
	if !ok {
		if m.of == nil || m.max > 0 && len(m.of) >= m.max {
			m.of = map[K]func() V{}
		}
		value = sync.OnceValue(build)
		m.of[key] = value
	}
	m.mu.Unlock()
	return value()
}

func (m *memo[K, V]) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.of)
}

// sources are the files of a project: its content with the pages that the
// generator makes of it, and its templates. They do not know the built pages,
// which a Map matches with them: [locatedPage] compares the links of a page with
// templates, and [search] looks in all files for what is left.
type sources struct {
	opt       Options
	project   fs.FS
	docroot   fs.FS
	close     []func() error
	content   *contentIndex
	mounts    []mount
	files     func() []*templateFile // see templateFiles, listed once
	templates func() *templateIndex  // read once
}

// Pending is a Map that is being made in the background: it reads the names of
// the content files and the front matter that decides about addresses, while its
// caller reads the docroot.
type Pending struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when m and err are set
	m      *Map
	err    error
}

// Start begins to read a project. Call Open for the result, or Stop if it is
// not needed.
func Start(ctx context.Context, opt Options) *Pending {
	ctx, cancel := context.WithCancel(ctx)
	p := &Pending{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		defer cancel()
		p.m, p.err = newMap(ctx, opt)
	}()
	return p
}

// Open waits for the Map. The errors are those of the function [Open]. Call it
// once.
func (p *Pending) Open() (*Map, error) {
	<-p.done
	return p.m, p.err
}

// Stop releases the Map.
func (p *Pending) Stop() {
	p.cancel()
	<-p.done
	if p.m != nil {
		p.m.Close()
	}
}

// Open reads what is needed to find the source of a page. It returns an error
// if it cannot open the project directory or the docroot, or if ctx ends. Call
// Close to release the Map.
func Open(ctx context.Context, opt Options) (*Map, error) { return Start(ctx, opt).Open() }

func newMap(ctx context.Context, opt Options) (*Map, error) {
	root, err := os.OpenRoot(opt.Project)
	if err != nil {
		return nil, fmt.Errorf("open project %s: %w", opt.Project, system.Cause(err))
	}
	src := &sources{opt: opt, project: root.FS(), close: []func() error{root.Close}}
	src.files, src.templates = sync.OnceValue(src.templateFiles), sync.OnceValue(src.readTemplates)
	built, err := os.OpenRoot(opt.Docroot)
	if err != nil {
		src.Close()
		return nil, fmt.Errorf("open docroot %s: %w", opt.Docroot, system.Cause(err))
	}
	src.docroot, src.close = built.FS(), append(src.close, built.Close)
	if opt.Generator.Traits().Modules {
		hugo, _ := generator.Project{Generator: opt.Generator, Dir: opt.Project}.Hugo(opt.Env) // audit reports its fault
		src.openMounts(hugo.Modules)
		src.indexContent()
		src.addHugoPages(hugo)
	} else {
		src.indexContent()
		for i := range src.content.files {
			src.content.add(i, opt.Generator)
		}
		src.addListed(src.readBuildMap())
	}
	if ctx.Err() != nil {
		src.Close()
		return nil, context.Cause(ctx)
	}
	m := &Map{sources: src}
	m.docs.max, m.fits.max = maxDocuments, maxTags
	return m, nil
}

// Close closes the directories.
func (src *sources) Close() {
	for _, f := range src.close {
		f()
	}
}

// useSite makes s the site of the following calls, and returns a reader for it.
func (m *Map) useSite(s *site.Site) (*site.Reader, error) {
	m.site, m.basePath, m.base = s, s.BasePath(), s.Authority()
	r := s.NewReader()
	return r, r.Open()
}

// Locate returns the position of each link, nil where it is not known. It is
// fastest if the links of a page follow each other. The errors are the cause of
// ctx, and a docroot that can no longer be read.
func (m *Map) Locate(ctx context.Context, s *site.Site, links []Link) ([]*Position, error) {
	var pages [][2]int // the first link of each page, and where its links end
	for start := 0; start < len(links); {
		end := start + 1
		for end < len(links) && links[end].Page == links[start].Page {
			end++
		}
		pages = append(pages, [2]int{start, end})
		start = end
	}
	m.perPage = allowedForAll / max(1, len(pages))
	readers := make([]*site.Reader, workers(len(pages)))
	for i := range readers {
		r, err := m.useSite(s)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		readers[i] = r
	}
	positions := make([]*Position, len(links))
	rests := make([][]unlocated, len(pages))
	parallel(ctx, len(pages), func(worker, i int) {
		start, end := pages[i][0], pages[i][1]
		rests[i] = m.locatePage(readers[worker], links[start:end], positions[start:end], start)
	})
	if ctx.Err() == nil {
		m.locateRest(ctx, positions, slices.Concat(rests...))
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return positions, nil
}

// workers returns how many workers parallel uses for n pieces of work.
func workers(n int) int { return min(runtime.GOMAXPROCS(0), n) }

// parallel calls f with each number below n, on several processors, until ctx ends.
// worker is the number of the goroutine.
func parallel(ctx context.Context, n int, f func(worker, i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for worker := range workers(n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				f(worker, i)
			}
		})
	}
	wg.Wait()
}

// Generator is the program that built the pages.
type Generator = generator.Name

// No generator, and files that none makes pages of.
const (
	None  = generator.None
	Plain = generator.Plain
)

func isMarkdown(name string) bool { return generator.IsMarkdown(name) }
