package project

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/system"
)

// Generator is a generator's project and what its configuration says about the
// site.
type Generator struct {
	generator.Project
	generator.Settings
	// Docroot is where the generator writes the site, absolute.
	Docroot string
	// Env are the variables of its build.
	Env []string
	// Err says why the settings are the generator's defaults.
	Err error

	loaded bool
	out    string // where the project's own command writes the site, "" if it does not say
	outBy  Evidence
}

// Generators returns the names of the generators that sitelink knows.
func Generators() []string { return generator.Names() }

// BuiltDocroot is the name, below [Generator.StateDir], of the site that --build writes.
const BuiltDocroot = "public"

// StateDir returns the directory for what sitelink builds, absolute if Dir is: where
// the generator's own next build does not read it. Eleventy takes every file of the
// project as input, except those below node_modules.
func (g *Generator) StateDir() string {
	if g.Generator.Traits().ReadsAll {
		return filepath.Join(g.Dir, "node_modules", system.StateName)
	}
	return filepath.Join(g.Dir, system.StateName)
}

// Title is the generator's name as its makers write it.
func (g *Generator) Title() string { return g.Generator.Title() }

// Configure reads the settings for a build with these arguments. After an error
// they are the generator's defaults.
func (g *Generator) Configure(args ...string) {
	s, err := g.Project.Settings(g.Env, args...)
	if err != nil {
		s = generator.Settings{Docroot: g.Project.Docroot}
	}
	g.Settings, g.Err, g.loaded = s, err, true
	g.Docroot = cmp.Or(g.out, filepath.FromSlash(s.Docroot))
	if !filepath.IsAbs(g.Docroot) {
		g.Docroot = filepath.Join(g.Dir, g.Docroot)
	}
}

// BuiltDocroot returns where the site is: where the generator writes it, or what
// sitelink check --build made if only that exists.
func (g *Generator) BuiltDocroot() string {
	if _, err := os.Stat(g.Docroot); err != nil {
		if own := filepath.Join(g.StateDir(), BuiltDocroot); isDirectory(own) {
			return own
		}
	}
	return g.Docroot
}

// generatorOf returns the generator's project in a directory, nil for none. Its
// settings are read by find.
func (p *Project) generatorOf(dir string) *Generator {
	if g := p.generators[dir]; g != nil {
		return g
	}
	found, ok := p.detect(dir)
	if !ok {
		return nil
	}
	g := &Generator{Project: found}
	p.generators[dir] = g
	return g
}

// detect returns the generator's project in a directory: of the generator that is
// configured, if there is one.
func (p *Project) detect(dir string) (generator.Project, bool) {
	if p.Config == nil || p.Config.Generator == "" {
		return generator.Detect(dir, generator.None)
	}
	name := generator.Name(p.Config.Generator)
	found, ok := generator.Detect(dir, name)
	if !ok && (holdsConfig(dir) || !p.Config.Found && dir == p.Dir) {
		found, ok = name.In(dir), true
	}
	if ok {
		found.By = "generator in " + p.Config.File
	}
	return found, ok
}

// DirOf returns the directory of the nearest generator's project at or above a file, within
// root, else root.
func DirOf(name, root string) string {
	for dir := filepath.Dir(name); dir != root && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, ok := generator.Detect(dir, generator.None); ok {
			return dir
		}
	}
	return root
}

// generatorOfDir returns the generator's project that a user in Dir works on, without its
// settings: the nearest at or above Dir, else the only one below. A directory with a home
// page is a site itself and needs no project above it.
func (p *Project) generatorOfDir() *Generator {
	dirs := p.sourceDirs(filepath.Join(p.Dir, "docroot"))
	if isFile(filepath.Join(p.Dir, "index.html")) {
		dirs = dirs[:min(len(dirs), 1)]
	}
	if below, ok := p.generatorBelow(p.Dir); ok {
		dirs = append(dirs, below.Dir)
	}
	for _, dir := range dirs {
		if g := p.generatorOf(dir); g != nil {
			return g
		}
	}
	return nil
}

// generatorBelow finds the only generator's project in the usual directories of
// a repository that is not a site itself, and in the packages of its workspaces. An
// application that Vite bundles counts only where there is no other site.
func (p *Project) generatorBelow(repo string) (found generator.Project, ok bool) {
	if !lexists(filepath.Join(repo, ".git")) || isDirectory(filepath.Join(repo, "public")) || isFile(filepath.Join(repo, "index.html")) {
		return found, false
	}
	var sites, applications []generator.Project
	seen := map[string]bool{}
	for _, name := range append([]string{"docs", "site", "website", "web", "www", "blog", "hugo"}, generator.Workspaces(repo)...) {
		dir := filepath.Join(repo, filepath.FromSlash(name))
		if seen[dir] || !isDirectory(dir) || isFile(filepath.Join(dir, "theme.toml")) { // the theme of a site is not a site
			continue
		}
		seen[dir] = true
		switch g, ok := p.detect(dir); {
		case ok && g.Generator == generator.Vite:
			applications = append(applications, g)
		case ok:
			sites = append(sites, g)
		}
	}
	if len(sites) == 0 {
		sites = applications
	}
	if len(sites) != 1 {
		return found, false
	}
	return sites[0], true
}

func isFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// takeAddresses takes from the generator's settings where the docroot is
// published, and reports whether they say so.
func (p *Project) takeAddresses(g *Generator) bool {
	docroot := p.Abs(p.Docroot)
	below := "" // the path of the docroot in what the generator writes
	if rel, err := filepath.Rel(g.Docroot, docroot); err == nil && rel != "." && filepath.IsLocal(rel) {
		below = filepath.ToSlash(rel)
	} else if rel, err := filepath.Rel(docroot, g.Docroot); err == nil && rel != "." && filepath.IsLocal(rel) {
		return false // a directory that holds the docroot is not the docroot
	} else if rel != "." && !p.builtElsewhere && (p.named || docroot != p.Answers[AskDocroot].Value) && !g.Generator.Traits().Modules && filepath.Base(filepath.Dir(docroot)) != system.StateName {
		return false // only with Hugo do people name another directory for a build
	}
	for _, r := range g.Roots {
		switch {
		case r.Base == "":
		case r.Dir == "" && strings.HasPrefix(r.Base, "/"):
			p.BasePath = r.Base + asPath(below)
		case r.Dir == "":
			p.BaseURLs = append(p.BaseURLs, r.Base+asPath(below))
		case below == r.Dir || strings.HasPrefix(below, r.Dir+"/"): // one language of several
			p.BaseURLs = append(p.BaseURLs, r.Base+asPath(strings.TrimPrefix(below[len(r.Dir):], "/")))
		case below == "" && !strings.HasPrefix(r.Base, "/") && isDirectory(filepath.Join(docroot, filepath.FromSlash(r.Dir))):
			p.Roots = append(p.Roots, host.Root{Dir: r.Dir, Base: r.Base})
		}
	}
	p.refNotFound = g.RefNotFound
	return len(p.BaseURLs)+len(p.Roots) > 0 || p.BasePath != ""
}

// asPath is a directory as the end of a base URL.
func asPath(dir string) string {
	if dir == "" {
		return ""
	}
	return path.Clean(dir) + "/"
}
