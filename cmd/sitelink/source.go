package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source"
)

// addSources fills in where the links of the findings are written: in the
// project that the docroot was built from, if there is one. A project that
// cannot be read is a warning; the findings stand without.
func (a *app) addSources(ctx context.Context, s *site.Site, cfg *config.Config, docroot string, r *check.Result) error {
	if cfg.Source == "off" || len(r.Findings) == 0 {
		return nil
	}
	absolute, err := filepath.Abs(docroot)
	if err != nil {
		return fmt.Errorf("find docroot %s: %w", docroot, cause(err))
	}
	found, ok := generator.Find(sourceProjects(absolute))
	if !ok {
		return nil
	}
	project := found.Dir
	opt := source.Options{Project: project, Docroot: absolute, Generator: found.Generator}
	if found.Generator == generator.Hugo {
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
		err = placeFindings(ctx, m, s, project, r)
	}
	if err != nil && ctx.Err() == nil {
		a.ui.warning(fmt.Sprintf("no positions in the sources: %v", err))
		return nil
	}
	return err
}

// placeFindings asks the map for all findings that are about a link.
func placeFindings(ctx context.Context, m *source.Map, s *site.Site, project string, r *check.Result) error {
	root, err := projectRoot()
	if err != nil {
		return err
	}
	prefix := within(root, project)
	var links []source.Link
	var of []int
	for i := range r.Findings {
		// What the generator wrote in place of a reference stands in no page's source.
		if f := &r.Findings[i]; f.Element != "" && f.Code != check.UnresolvedRef {
			links = append(links, source.Link{Page: f.Page, Offset: f.Offset, Raw: f.Raw})
			of = append(of, i)
		}
	}
	places, err := m.Place(ctx, s, links)
	if err != nil {
		return err
	}
	for i, p := range places {
		if p == nil {
			continue
		}
		file := p.File
		if !filepath.IsAbs(filepath.FromSlash(file)) {
			file = path.Join(prefix, file)
		}
		r.Findings[of[i]].Source = &check.Position{File: file, Line: p.Line, Column: p.Column}
	}
	return nil
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
