package main

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/statedir"
)

// generated is a project that a generator makes a site of, and what its
// configuration says of that site.
type generated struct {
	generator.Project
	settings generator.Settings
	// docroot is where the site is written, absolute.
	docroot string
	run     generator.Runner
}

// ownDirectory is where sitelink keeps what it makes in a project; builtDocroot
// is the site that `sitelink build` made, below it.
const (
	ownDirectory = statedir.Name
	builtDocroot = "public"
)

// projects remembers what was found out about projects, by directory. One
// command belongs to one goroutine.
type projects map[string]*generated

// generatedOf returns the project of the first of dirs that is one, nil for
// none. A configuration that cannot be read is told, and as if it said nothing.
func (a *app) generatedOf(dirs []string) *generated {
	for _, dir := range dirs {
		p, ok := generator.Detect(dir)
		if !ok {
			continue
		}
		if g := a.projects[dir]; g != nil {
			return g
		}
		g := &generated{Project: p, run: generator.Runner{Env: os.Environ()}}
		if !a.filesOnly {
			g.run = generator.LookPath(os.Environ())
		}
		if err := g.configure(a.context()); err != nil && a.context().Err() == nil {
			a.ui.warning(p.Generator.Title() + ": " + err.Error())
		}
		if a.projects == nil {
			a.projects = projects{}
		}
		a.projects[dir] = g
		return g
	}
	return nil
}

// configure reads the settings, of a build with these arguments.
func (g *generated) configure(ctx context.Context, args ...string) error {
	s, err := g.Settings(ctx, g.run, args...)
	if err != nil {
		s = generator.Settings{Docroot: g.Project.Docroot}
	}
	g.settings = s
	g.docroot = filepath.FromSlash(s.Docroot)
	if !filepath.IsAbs(g.docroot) {
		g.docroot = filepath.Join(g.Dir, g.docroot)
	}
	if abs, absErr := filepath.Abs(g.docroot); absErr == nil {
		g.docroot = abs
	}
	return err
}

// context is that of the command's run.
func (a *app) context() context.Context {
	if a.ctx == nil {
		return context.Background()
	}
	return a.ctx
}

// projectHere returns the project that holds the working directory, nil for
// none. A directory with a home page is a site itself, wherever it lies.
func (a *app) projectHere() *generated {
	here, err := os.Getwd()
	if err != nil {
		return nil
	}
	dirs := projectDirs(filepath.Join(here, "docroot"))
	if _, err := os.Stat(filepath.Join(here, "index.html")); err == nil {
		dirs = dirs[:min(len(dirs), 1)]
	}
	if g := a.generatedOf(dirs); g != nil {
		return g
	}
	if dir := projectBelow(here); dir != "" {
		return a.generatedOf([]string{dir})
	}
	return nil
}

// projectBelow returns the directory of the repository where such projects
// usually lie, if exactly one of them holds one, and no site is in the repository
// itself; "" otherwise.
func projectBelow(here string) string {
	if _, err := os.Lstat(filepath.Join(here, ".git")); err != nil || isDirectory(filepath.Join(here, "public")) {
		return ""
	}
	if _, err := os.Stat(filepath.Join(here, "index.html")); err == nil {
		return ""
	}
	var found []string
	for _, name := range []string{"docs", "site", "website", "web", "www", "blog", "hugo"} {
		if dir := filepath.Join(here, name); isDirectory(dir) {
			if _, ok := generator.Detect(dir); ok {
				found = append(found, dir)
			}
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// docrootHere is where the project writes its site, as seen from the working
// directory: what `sitelink build` made, if it is the only one that is there.
func (g *generated) docrootHere() string {
	dir := g.docroot
	if _, err := os.Stat(dir); err != nil {
		own := filepath.Join(g.Dir, ownDirectory, builtDocroot)
		if info, err := os.Stat(own); err == nil && info.IsDir() {
			dir = own
		}
	}
	return fromHere(dir)
}

// fromHere shortens the name of a directory below the working directory, or not
// far above it.
func fromHere(dir string) string {
	here, err := os.Getwd()
	if err != nil {
		return dir
	}
	rel, err := filepath.Rel(here, dir)
	if up := filepath.Join("..", "..", ".."); err != nil || strings.HasPrefix(rel, up) {
		return dir
	}
	return rel
}

// published fills in at which addresses the docroot is published, by what the
// project that it lies in says; told is that project, nil when nothing was taken
// from it.
func (a *app) published(docroot string, opt *site.Options) (told *generated) {
	g := a.generatedOf(projectDirs(docroot))
	if g == nil && pushTree.MatchString(filepath.ToSlash(docroot)) {
		g = a.projectHere()
	}
	if g == nil {
		return nil
	}
	abs, err := filepath.Abs(docroot)
	if err != nil {
		return nil
	}
	below := "" // the path of the docroot in what is published
	if rel, err := filepath.Rel(g.docroot, abs); err == nil && rel != "." && filepath.IsLocal(rel) {
		below = filepath.ToSlash(rel)
	} else if rel, err := filepath.Rel(abs, g.docroot); err == nil && rel != "." && filepath.IsLocal(rel) {
		return nil // a directory that holds the docroot is none
	} else if rel != "." && !pushTree.MatchString(filepath.ToSlash(abs)) && g.Generator != generator.Hugo && filepath.Base(filepath.Dir(abs)) != ownDirectory {
		return nil // of Hugo alone it is usual to name another directory for a build
	}
	for _, r := range g.settings.Roots {
		switch {
		case r.Base == "":
		case r.Dir == "" && strings.HasPrefix(r.Base, "/"):
			opt.BasePath = r.Base + asPath(below)
		case r.Dir == "":
			opt.BaseURLs = append(opt.BaseURLs, r.Base+asPath(below))
		case below == r.Dir || strings.HasPrefix(below, r.Dir+"/"): // one language of several
			opt.BaseURLs = append(opt.BaseURLs, r.Base+asPath(strings.TrimPrefix(below[len(r.Dir):], "/")))
		case below == "" && !strings.HasPrefix(r.Base, "/") && isDirectory(filepath.Join(abs, filepath.FromSlash(r.Dir))):
			opt.Roots = append(opt.Roots, site.Root{Dir: r.Dir, Base: r.Base})
		}
	}
	opt.RefNotFound = g.settings.RefNotFound
	if len(opt.BaseURLs) == 0 && len(opt.Roots) == 0 && opt.BasePath == "" {
		return nil
	}
	return g
}

// asPath is a directory as the end of a base URL.
func asPath(dir string) string {
	if dir == "" {
		return ""
	}
	return path.Clean(dir) + "/"
}

func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// tell says in one line what was found about a site that nobody described: once
// for each docroot.
func (a *app) tell(g *generated, cfg *config.Config, docroot string, opt *site.Options) {
	if g == nil || slices.Contains(a.told, docroot) {
		return
	}
	a.told = append(a.told, docroot)
	text := g.Generator.Title() + " site"
	if cfg.Docroot == "" {
		text += ": checking " + docroot
	}
	var at []string
	at = append(at, opt.BaseURLs...)
	for _, r := range opt.Roots {
		at = append(at, r.Base+" ("+cmp.Or(r.Dir, ".")+")")
	}
	if opt.BasePath != "" {
		at = append(at, opt.BasePath)
	}
	if len(at) > 0 && cfg.Place("base-url") == "" && len(cfg.Sites) == 0 {
		text += ", published at " + strings.Join(at, ", ")
	}
	if n := len(g.settings.Languages); n > 1 && !g.settings.Multihost() {
		text += ", languages " + strings.Join(g.settings.Languages, ", ")
	}
	if opt.ProfileFrom != "" {
		text += ", host " + opt.Profile.Name + " by " + opt.ProfileFrom
	}
	if g.settings.From != "" {
		text += " (" + g.settings.From + ")"
	}
	a.ui.note(text)
}
