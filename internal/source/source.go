// Package source finds where a link of a built page is written: in the
// Markdown, template, data or configuration file that its author edits.
//
// A project directory and links of built pages enter; positions in the
// project's files leave. The place is the first character of the destination;
// for a Markdown reference link that is in its definition. A link whose place
// is not known for sure gets none: a wrong file costs more than no file.
//
// docs/reference/source-positions.md says what is recognised. Files are read beneath the
// project directory, the directories that Hugo mounts, and the docroot only.
// The one program that may be started is Hugo, see [Options.Hugo].
package source

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/site"
)

// Options say where the sources lie.
type Options struct {
	// Project is the directory of the sources, see [generator.Find].
	Project string
	// Docroot is the directory of the built pages.
	Docroot string
	// Generator is what [generator.Find] recognised.
	Generator Generator
	// Hugo is the program to ask for pages and mounts; empty to do without.
	Hugo string
	// Env is the environment of that program.
	Env []string
	// Timeout bounds each call of it; 0 means 20 seconds.
	Timeout time.Duration
}

// Link names one link of a built page.
type Link struct {
	// Page is the docroot-relative slash path of the page.
	Page string
	// Offset counts bytes of the page up to the link's value.
	Offset int64
	// Raw is the value as the DOM has it, "" for a fault of the file itself,
	// which has a place only in a file that was copied.
	Raw string
}

// Position is a place in a source file. Line and Column count from 1, Column
// in code points.
type Position struct {
	// File is a slash path relative to the project directory, or absolute for
	// a Hugo module that lies elsewhere.
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
	Data          Kind = "data" // translations, too
	Configuration Kind = "configuration"
	Asset         Kind = "asset"
	Static        Kind = "static"
)

// Map knows the sources of one project. It is not safe for concurrent use.
type Map struct {
	opt     Options
	root    *os.Root // of the project
	project fs.FS
	close   []func() error
	docroot fs.FS
	site    *site.Site
	page    string // the page whose links are placed

	content  *contentIndex
	mounts   []mount
	docs     map[string]*document // parsed content files by name
	base     string               // host and base path of the site's own address
	basePath string
	// Notes are things that went wrong without stopping the work, such as a
	// Hugo that failed, for a person.
	Notes []string
}

// Open prepares a map. The error means that the project directory cannot be
// opened. Close releases it.
func Open(ctx context.Context, opt Options) (*Map, error) {
	root, err := os.OpenRoot(opt.Project)
	if err != nil {
		return nil, fmt.Errorf("open project %s: %w", opt.Project, disk.Cause(err))
	}
	m := &Map{opt: opt, root: root, project: root.FS(), close: []func() error{root.Close}, docs: map[string]*document{}}
	built, err := os.OpenRoot(opt.Docroot)
	if err != nil {
		m.Close()
		return nil, fmt.Errorf("open docroot %s: %w", opt.Docroot, disk.Cause(err))
	}
	m.docroot, m.close = built.FS(), append(m.close, built.Close)
	var pages []listedPage
	if opt.Generator == Hugo && opt.Hugo != "" {
		if pages, err = m.askHugo(ctx); err != nil {
			if ctx.Err() != nil {
				m.Close()
				return nil, context.Cause(ctx)
			}
			m.Notes = append(m.Notes, err.Error()+"; positions are found by the names of files")
		}
	}
	m.indexContent(pages)
	return m, nil
}

// Close releases the directories.
func (m *Map) Close() {
	for _, f := range m.close {
		f()
	}
	m.close = nil
}

// enter makes s the site that the next questions are about.
func (m *Map) useSite(s *site.Site) {
	m.site, m.basePath, m.base = s, s.BasePath(), s.Authority()
}

// Place returns the position of each link, nil where it is not known. The
// error is that of ctx, or of a docroot that can no longer be read.
func (m *Map) Locate(ctx context.Context, s *site.Site, links []Link) ([]*Position, error) {
	m.useSite(s)
	reader, err := s.NewReader()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	positions := make([]*Position, len(links))
	var rest []unlocated
	for start := 0; start < len(links); {
		end := start + 1
		for end < len(links) && links[end].Page == links[start].Page {
			end++
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		rest = append(rest, m.locatePage(reader, links[start:end], positions[start:end], start)...)
		start = end
	}
	if err := m.locateRest(ctx, positions, rest); err != nil {
		return nil, err
	}
	return positions, nil
}

// Generator is the program that made the pages, see [generator.Find].
type Generator = generator.Name

// Those that are treated differently from others.
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
