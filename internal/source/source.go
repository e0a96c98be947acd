// Package source finds where a link of a built page is written: in the
// Markdown, template, data or configuration file that its author edits.
//
// [Open] reads a project, and [Map.Locate] returns the positions of links. A
// position is where the first character of the destination is; for a Markdown
// reference link that is in the definition. A link without a certain position
// gets none: a wrong file costs the author more than no file.
//
// docs/reference/source-positions.md lists what is recognised. The package
// reads files below the project directory, the directories that Hugo mounts and
// [Options.Also] names, and the docroot. It starts no program.
package source

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
)

// Costly returns, sorted, the files that [Map.Locate] read only in part because the rest
// would take too long. Findings there may have no position.
func (m *Map) Costly() []string { return slices.Sorted(maps.Keys(m.costly.of)) }

// Pending is a Map that is being made in the background: it reads the names of
// the content files and the front matter that decides about addresses, while its
// caller reads the docroot.
type Pending struct {
	cancel context.CancelFunc
	made   func() (*Map, error)
}

// Start begins to read a project. Call Open for the result, or Stop if it is
// not needed.
func Start(ctx context.Context, opt Options) *Pending {
	ctx, cancel := context.WithCancel(ctx)
	p := &Pending{cancel, sync.OnceValues(func() (*Map, error) { defer cancel(); return newMap(ctx, opt) })}
	go p.made()
	return p
}

// Open waits for the Map. The errors are those of the function [Open].
func (p *Pending) Open() (*Map, error) { return p.made() }

// Stop releases the Map.
func (p *Pending) Stop() {
	p.cancel()
	if m, _ := p.made(); m != nil {
		m.Close()
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
	src := &index{opt: opt, project: root.FS(), close: []func() error{root.Close}}
	src.files, src.templates = sync.OnceValue(src.templateFiles), sync.OnceValue(src.readTemplates)
	built, err := os.OpenRoot(opt.Docroot)
	if err != nil {
		src.Close()
		return nil, fmt.Errorf("open docroot %s: %w", opt.Docroot, system.Cause(err))
	}
	src.docroot, src.close = built.FS(), append(src.close, built.Close)
	if opt.Generator.Traits().Modules {
		hugo, _ := generator.Project{Generator: opt.Generator, Dir: opt.Project, Args: opt.Args}.Hugo(opt.Env) // audit reports its fault
		src.openMounts(hugo.Modules)
		src.indexContent()
		src.addHugoPages(hugo)
	} else {
		src.openAlso()
		src.indexContent()
		src.leaveOutUnread()
		for i := range src.content.files {
			src.content.add(i, opt.Generator)
		}
		src.readBuildMap()
	}
	if ctx.Err() != nil {
		src.Close()
		return nil, context.Cause(ctx)
	}
	src.docs.max = maxDocuments
	return &Map{index: src}, nil
}

// Locate returns the place of each link. It is
// fastest if the links of a page follow each other. The errors are the cause of
// ctx, and a docroot that can no longer be read.
func (m *Map) Locate(ctx context.Context, s *site.Site, links []BuiltLink) ([]Place, error) {
	var pages [][2]int // the first link of each page, and where its links end
	for start := 0; start < len(links); {
		end := start + 1
		for end < len(links) && links[end].Page == links[start].Page {
			end++
		}
		pages = append(pages, [2]int{start, end})
		start = end
	}
	readers := make([]*site.Reader, workers(len(pages)))
	for i := range readers {
		r, err := m.useSite(s)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		readers[i] = r
	}
	c := &composer{Map: m, readers: readers, perPage: allowedForAll / max(1, len(pages))}
	c.fits.max, c.rules = maxTags, sync.OnceValue(m.ruleTemplates)
	places := make([]Place, len(links))
	rests := make([][]*openLink, len(pages))
	parallel(ctx, len(pages), func(worker, i int) {
		start, end := pages[i][0], pages[i][1]
		rests[i] = c.locatePage(readers[worker], links[start:end], places[start:end])
	})
	if ctx.Err() == nil {
		c.locateRest(ctx, slices.Concat(rests...))
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return places, nil
}
