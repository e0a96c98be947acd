package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source"
)

// addSources fills in where the links of the findings are written: in the
// project that the docroot was built from, if there is one. A project that
// cannot be read is a warning; the findings stand without.
func (a *app) addSources(ctx context.Context, s *site.Site, cfg *config.Config, docroot string, r *check.Result) error {
	if len(r.Findings) == 0 {
		return nil
	}
	opt, err := sourceOptions(cfg, docroot)
	if err != nil || opt.Project == "" {
		return err
	}
	if opt.Generator == generator.Hugo {
		// Without Hugo, files are found by their names.
		if hugo, err := exec.LookPath("hugo"); err == nil {
			opt.Hugo, opt.Env = hugo, os.Environ()
		}
	}
	m, err := source.Open(ctx, opt)
	if err == nil {
		defer m.Close()
		for _, note := range m.Notes {
			a.ui.warning(note)
		}
		err = placeFindings(ctx, m, s, opt.Project, r)
	}
	if err != nil && ctx.Err() == nil {
		a.ui.warning(fmt.Sprintf("no positions in the sources: %v", err))
		return nil
	}
	return err
}

// sourceOptions finds the project of a docroot; Project is empty when there is
// none, or when none is to be looked for.
func sourceOptions(cfg *config.Config, docroot string) (source.Options, error) {
	if cfg.Source == "off" {
		return source.Options{}, nil
	}
	absolute, err := filepath.Abs(docroot)
	if err != nil {
		return source.Options{}, fmt.Errorf("find docroot %s: %w", docroot, disk.Cause(err))
	}
	found, ok := generator.Find(sourceProjects(absolute))
	if !ok {
		return source.Options{}, nil
	}
	return source.Options{Project: found.Dir, Docroot: absolute, Generator: found.Generator}, nil
}

// placeFindings asks the map for the places of all findings, and for the
// headings that the suggestions lead to.
func placeFindings(ctx context.Context, m *source.Map, s *site.Site, project string, r *check.Result) error {
	root, err := projectRoot()
	if err != nil {
		return err
	}
	prefix := within(root, project)
	links := make([]source.Link, len(r.Findings))
	var anchors []source.Anchor
	var near []int // the findings that have them
	for i := range r.Findings {
		f := &r.Findings[i]
		links[i] = source.Link{Page: f.Page, Offset: f.Offset, Raw: f.Raw}
		if a, ok := suggestedAnchor(s, f); ok {
			anchors, near = append(anchors, a), append(near, i)
		}
	}
	places, err := m.Locate(ctx, s, links)
	if err != nil {
		return err
	}
	headings, err := m.Headings(ctx, s, anchors)
	if err != nil {
		return err
	}
	for i, p := range places {
		// What the generator wrote in place of a reference stands in no source.
		if f := &r.Findings[i]; p != nil && f.Code != check.UnresolvedRef {
			position := shownPosition(prefix, p)
			if f.Element == "" { // a fault of the file, which may have no line
				position.Line, position.Column = f.Line, f.Column
			}
			f.Source = &position
		}
	}
	for i, h := range headings {
		if h != nil {
			text := fmt.Sprintf("heading %q", h.Title)
			switch {
			case h.Title == "":
				text = "id " + anchors[i].ID
			case h.Term:
				text = fmt.Sprintf("term %q", h.Title)
			}
			r.Findings[near[i]].Related = &check.Related{Position: shownPosition(prefix, &h.Position), Text: text}
		}
	}
	return nil
}

// shownPosition is a place of the project as reports name it.
func shownPosition(prefix string, p *source.Position) check.Position {
	file := p.File
	if !filepath.IsAbs(filepath.FromSlash(file)) {
		file = path.Join(prefix, file)
	}
	return check.Position{File: file, Line: p.Line, Column: p.Column, Kind: check.SourceKind(p.Kind), Module: p.Module}
}

// suggestedAnchor is what the suggestion for a missing fragment leads to.
func suggestedAnchor(s *site.Site, f *check.Finding) (a source.Anchor, ok bool) {
	_, fragment, ok := strings.Cut(f.Suggestion, "#")
	page := f.AnsweringFile(handle(s))
	if f.Code != check.MissingFragment || !ok || page == "" {
		return a, false
	}
	id, err := url.PathUnescape(fragment)
	return source.Anchor{Page: page, ID: id}, err == nil
}

// sourceProjects lists where the project of a docroot may lie: above are the
// directories above it as far as they belong to one project, others the same of
// the working directory, for a docroot that was built elsewhere.
func sourceProjects(docroot string) (above, others []string) {
	above = projectDirs(docroot)
	if here, err := os.Getwd(); err == nil {
		for _, dir := range projectDirs(filepath.Join(here, "docroot")) {
			if dir != docroot && !slices.Contains(above, dir) {
				others = append(others, dir)
			}
		}
	}
	return above, others
}
