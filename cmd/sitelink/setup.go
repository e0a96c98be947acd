package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/setup"
	"github.com/sitelink/sitelink/internal/site"
)

// surroundings are what init and doctor find out about the project that holds
// the working directory.
type surroundings struct {
	// dir is the directory of the project, absolute; root that of the repository
	// that holds it, or dir where there is none.
	dir, root string
	// gen is the generator's project, nil for none.
	gen *generated
	// repo is nil where there is no repository, or no git; noRepo says why.
	repo    *githook.Repo
	noRepo  error
	state   githook.Status
	remotes string
	// site is what is found without a configuration file, siteDir the directory of
	// the site as seen from the working directory. hostUnclear is why no host is
	// chosen although files tell of several.
	project     setup.Project
	siteDir     string
	hostUnclear string
}

// lookAround finds out what can be found out. What is missing is no error.
func (a *app) lookAround(ctx context.Context) (*surroundings, error) {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return nil, errors.New("the working directory is not to be found")
	}
	s := &surroundings{dir: here, gen: a.projectHere()}
	if s.gen != nil {
		if s.dir, err = filepath.EvalSymlinks(s.gen.Dir); err != nil {
			s.dir = s.gen.Dir
		}
	}
	git := githook.Git{Env: os.Environ()}
	if s.repo, s.noRepo = githook.Open(ctx, git.In(s.dir)); s.noRepo != nil {
		s.repo = nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.root = s.dir
	if s.repo != nil {
		if rel, err := filepath.Rel(s.repo.Top, s.dir); err == nil && (rel == "." || filepath.IsLocal(rel)) {
			s.root = s.repo.Top
		}
		if s.state, err = s.repo.Status(ctx); err != nil {
			return nil, explainHook(err)
		}
		s.remotes = s.repo.Remotes(ctx)
	}
	s.describe(ctx, a)
	return s, ctx.Err()
}

// describe fills in what the files of the project say.
func (s *surroundings) describe(ctx context.Context, a *app) {
	p := &s.project
	p.Release, p.Has = releaseTag(), func(name string) bool {
		_, err := os.Stat(filepath.Join(s.dir, filepath.FromSlash(name)))
		return err == nil
	}
	if rel, err := filepath.Rel(s.root, s.dir); err == nil && rel != "." {
		p.Below = filepath.ToSlash(rel)
	}
	p.Scripts = packageScripts(filepath.Join(s.dir, "package.json"))
	if g := s.gen; g != nil {
		p.Generator, p.Title, p.Usual, p.DocrootBy = string(g.Generator), g.Generator.Title(), g.Usual(), g.settings.From
		if p.DocrootBy == "" {
			p.DocrootBy = "where " + p.Title + " writes"
		}
		p.Build, p.Version = buildCommand(g), generatorVersion(ctx, g)
		s.siteDir = g.docrootHere()
		p.Docroot = filepath.ToSlash(g.docroot)
		if rel, err := filepath.Rel(g.Dir, g.docroot); err == nil && filepath.IsLocal(rel) {
			p.Docroot = filepath.ToSlash(rel)
		}
	} else {
		p.Docroot, p.DocrootBy = guessDocroot(s.dir)
		s.siteDir = fromHere(filepath.Join(s.dir, filepath.FromSlash(p.Docroot)))
	}
	if s.repo != nil && p.Docroot != "" {
		p.Committed = s.repo.Tracks(ctx, filepath.Join(s.dir, filepath.FromSlash(p.Docroot)))
	}
	full := filepath.Join(s.dir, filepath.FromSlash(p.Docroot))
	p.Profile, p.ProfileBy = detectHost(projectDirs(full), full)
	if p.Profile == "" {
		s.hostUnclear, p.ProfileBy = p.ProfileBy, ""
	}
	var opt site.Options
	a.published(full, &opt)
	p.BaseURLs = opt.BaseURLs
	for _, r := range opt.Roots {
		p.BaseURLs = append(p.BaseURLs, r.Base)
	}
	if host := config.PagesHost(os.DirFS(full)); len(p.BaseURLs) == 0 && host != "" {
		p.BaseURLs = []string{"https://" + host + "/"}
	}
}

// releaseTag is the version that files name: this one if it is a release.
func releaseTag() string {
	if v := "v" + strings.TrimPrefix(versionNumber(), "v"); regexp.MustCompile(`^v\d+\.\d+\.\d+$`).MatchString(v) && v != "v0.0.0" {
		return v
	}
	return githook.Release
}

// guessDocroot finds the site of a project without generator: the directory
// itself, or the one below it that holds a home page. by is "" where the check
// would not look by itself.
func guessDocroot(dir string) (docroot, by string) {
	for _, name := range []string{"public", ".", "_site", "dist", "build", "site", "out", "docs", "www", "html"} {
		if _, err := os.Stat(filepath.Join(dir, name, "index.html")); err != nil {
			continue
		}
		switch name {
		case "public", ".":
			return name, "it holds index.html"
		}
		return name, ""
	}
	return "", ""
}

// buildCommand is the command that builds a commit into $SITELINK_OUT.
func buildCommand(g *generated) string {
	const out = "SITELINK-OUT"
	c := g.Command(g.run, out, false, nil)
	for i, arg := range c.Args { // a program of the project is found by each working tree
		if rel, err := filepath.Rel(g.Dir, arg); filepath.IsAbs(arg) && err == nil && filepath.IsLocal(rel) {
			c.Args[i] = filepath.ToSlash(rel)
		}
	}
	text := strings.Join(append(c.Env, c.String()), " ")
	return strings.ReplaceAll(text, out, `"$SITELINK_OUT"`)
}

// versionOf finds a version in what a program says of itself.
var versionOf = regexp.MustCompile(`\bv?(\d+\.\d+(?:\.\d+)*)`)

// generatorVersion is the version of the project's generator on this machine, ""
// if it is not here.
func generatorVersion(ctx context.Context, g *generated) string {
	program, args := string(g.Generator), []string{"--version"}
	switch g.Generator {
	case generator.Hugo:
		args = []string{"version"}
	case generator.Eleventy:
		return packageVersion(g.Dir, "@11ty/eleventy")
	case generator.Astro:
		return packageVersion(g.Dir, "astro")
	case generator.Docusaurus:
		return packageVersion(g.Dir, "@docusaurus/core")
	}
	run := g.run
	run.Timeout = 10 * time.Second
	out, err := run.Output(ctx, g.Dir, program, args...)
	if err != nil {
		return ""
	}
	if m := versionOf.FindSubmatch(out); m != nil {
		return string(m[1])
	}
	return ""
}

// packageVersion is the version of a package of npm that the project installed.
func packageVersion(dir, name string) string {
	var p struct{ Version string }
	readJSON(filepath.Join(dir, "node_modules", filepath.FromSlash(name), "package.json"), &p)
	if !versionOf.MatchString(p.Version) {
		return ""
	}
	return p.Version
}

// packageScripts are the scripts of a package.json, none if it cannot be read.
func packageScripts(name string) map[string]string {
	var p struct{ Scripts map[string]string }
	readJSON(name, &p)
	return p.Scripts
}

// readJSON reads a file of moderate size; what cannot be read changes nothing.
func readJSON(name string, into any) {
	const most = 4 << 20
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return
	}
	if data, err := os.ReadFile(name); err == nil {
		_ = json.Unmarshal(data, into) // half of it is of use too
	}
}

// onPath tells whether a program is found by its name.
func onPath(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// rootHas tells whether the root of the repository has a file of that name.
func (s *surroundings) rootHas(name string) bool {
	_, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(name)))
	return err == nil
}

// servers are the servers that the repository seems to use.
func (s *surroundings) servers() (used []setup.Server) {
	for _, server := range setup.Servers() {
		if server.Used(s.rootHas, s.remotes) || s.project.Below != "" && server.Used(s.project.Has, "") {
			used = append(used, server)
		}
	}
	return used
}

// shown is a path of the project as seen from the working directory.
func (s *surroundings) shown(name string) string {
	return filepath.ToSlash(fromHere(filepath.Join(s.dir, filepath.FromSlash(path.Clean(name)))))
}
