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
// and the docroot. It starts one program, Hugo, see [Options.Hugo].
package source

import (
	"context"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/site"
)

// Options describe a project.
type Options struct {
	// Project is the directory of the sources, as [generator.Find] returns it.
	Project string
	// Docroot is the directory of the built pages.
	Docroot string
	// Generator is the generator that [generator.Find] recognised.
	Generator Generator
	// Hugo is the program to ask for pages and mounts; "" to work without it.
	Hugo string
	// Env is the environment of Hugo.
	Env []string
	// Timeout bounds each run of Hugo; 0 means 20 seconds.
	Timeout time.Duration
	// Cache is the directory that keeps Hugo's answers for later runs, made if it
	// does not exist; "" to keep none.
	Cache string
	// Identity is the directory by which the cache knows the project, "" for
	// Project: a copy of a project has the same identity.
	Identity string
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
	page     string               // the page whose links are located
	docs     map[string]*document // parsed content files by name
	runs     map[string]*linkRun  // those of all pages
	fits     fitMemo
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
	answer    answer
	asked     bool // Hugo answered
	templates *sharedTemplates
	// Notes are messages for the user about problems that did not stop the
	// work, such as an error of Hugo.
	Notes []string
}

// Close closes the directories.
func (src *sources) Close() {
	for _, f := range src.close {
		f()
	}
	src.close = nil
}

// useSite makes s the site of the following calls.
func (m *Map) useSite(s *site.Site) {
	m.site, m.basePath, m.base = s, s.BasePath(), s.Authority()
}

// Locate returns the position of each link, nil where it is not known. It is
// fastest if the links of a page follow each other. The errors are the cause of
// ctx, and a docroot that can no longer be read.
func (m *Map) Locate(ctx context.Context, s *site.Site, links []Link) ([]*Position, error) {
	m.useSite(s)
	var pages [][2]int // the first link of each page, and where its links end
	for start := 0; start < len(links); {
		end := start + 1
		for end < len(links) && links[end].Page == links[start].Page {
			end++
		}
		pages = append(pages, [2]int{start, end})
		start = end
	}
	positions := make([]*Position, len(links))
	rests := make([][]unlocated, len(pages))
	var next atomic.Int64
	err := m.inParallel(s, len(pages), func(w *Map, reader *site.Reader) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(pages) {
				return nil
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			start, end := pages[i][0], pages[i][1]
			rests[i] = w.locatePage(reader, links[start:end], positions[start:end], start)
		}
	})
	if err != nil {
		return nil, err
	}
	if err := m.locateRest(ctx, positions, slices.Concat(rests...)); err != nil {
		return nil, err
	}
	return positions, nil
}

// inParallel runs work on several processors, each with a copy of the Map that
// has its own parsed files, and with its own reader. It returns the first error.
func (m *Map) inParallel(s *site.Site, pages int, work func(w *Map, r *site.Reader) error) error {
	errs := make([]error, max(1, min(runtime.GOMAXPROCS(0), pages)))
	var wg sync.WaitGroup
	for i := range errs {
		w := *m
		w.docs, w.runs, w.fits = map[string]*document{}, map[string]*linkRun{}, newFitMemo()
		wg.Go(func() {
			r, err := s.NewReader()
			if err == nil {
				defer r.Close()
				err = work(&w, r)
			}
			errs[i] = err
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// parallel calls f with each number below n, on several processors.
func parallel(n int, f func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}

// Generator is the program that built the pages.
type Generator = generator.Name

// The generators that need rules of their own.
const (
	None       = generator.None
	Hugo       = generator.Hugo
	Jekyll     = generator.Jekyll
	Eleventy   = generator.Eleventy
	Zola       = generator.Zola
	MkDocs     = generator.MkDocs
	Astro      = generator.Astro
	Docusaurus = generator.Docusaurus
	Plain      = generator.Plain
)

func isMarkdown(name string) bool { return generator.IsMarkdown(name) }
