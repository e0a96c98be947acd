package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/site"
	public "github.com/sitelink/sitelink/site"
)

// docroot returns the directory to check: the one that is named, else where the
// generator of the project writes the site, else public where there is one, else
// the working directory.
func (a *app) docroot(named string) string {
	if named != "" {
		return named
	}
	if g := a.projectHere(); g != nil {
		return g.docrootHere() // siteOf says what was found
	}
	guess := "."
	if info, err := os.Stat("public"); err == nil && info.IsDir() {
		guess = "public"
	}
	a.ui.note(fmt.Sprintf("no docroot named, checking %s", guess))
	return guess
}

// lookAt refuses a docroot that cannot be one, with advice. What a walk finds
// further down is for the site.
func lookAt(docroot string) error {
	info, err := os.Stat(docroot)
	switch {
	case err == nil && !info.IsDir():
		return &failure{fmt.Errorf("read docroot %s: not a directory", docroot),
			"name the directory that holds it: sitelink check " + filepath.Dir(docroot)}
	case err == nil:
		if entries, err := os.ReadDir(docroot); err == nil && len(entries) == 0 {
			return &failure{fmt.Errorf("read docroot %s: %w", docroot, site.ErrNoPages), notBuilt(docroot)}
		}
		return nil
	}
	err = fmt.Errorf("read docroot %s: %w", docroot, disk.Cause(err))
	if errors.Is(err, fs.ErrNotExist) {
		return &failure{err, notBuilt(docroot)}
	}
	return explain(err)
}

// notBuilt is advice for a docroot that is not there: the command that makes it,
// where its project is known.
func notBuilt(docroot string) string {
	for _, dir := range projectDirs(docroot) {
		if p, ok := generator.Detect(dir); ok {
			return "run " + p.Usual() + " first, or sitelink build, which checks what it builds"
		}
	}
	return "build the site first, or name the directory that it was built into: sitelink check DIR"
}

// explain adds advice to an error of loading a site.
func explain(err error) error {
	switch {
	case errors.Is(err, site.ErrNoPages):
		return &failure{err, "build the site first, or name the directory that it was built into: sitelink check DIR"}
	case errors.Is(err, fs.ErrPermission):
		return &failure{err, "make the directory readable for the user who runs sitelink"}
	}
	return err
}

// handle returns a loaded site as package check takes it.
func handle(s *site.Site) *public.Site { return site.Wrap(s).(*public.Site) }
