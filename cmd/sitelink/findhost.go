package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/site"
)

// siteOf turns the configuration into the options of the docroot: what the user
// says, and where that is silent, what the files that lie there tell of the
// host.
func (a *app) siteOf(cfg *config.Config, docroot string) site.Options {
	own := *cfg // another docroot of the run may lie with another host
	cfg = &own
	dirs := projectDirs(docroot)
	because := ""
	if cfg.Place("profile") == "" {
		name, found := detectHost(dirs, docroot)
		switch {
		case name != "":
			cfg.Profile, because = name, found
		case found != "":
			a.ui.warning("the host is not clear: " + found + "; say which with --profile")
		}
	}
	opt := siteOptions(cfg)
	opt.Project, opt.ProfileFrom = ruleDir(dirs), because
	if len(cfg.Redirects) > 0 {
		opt.Rules = append(opt.Rules, redirectRules(cfg, docroot))
	}
	for _, s := range cfg.Sites {
		opt.Roots = append(opt.Roots, site.Root{Dir: s.Root, Base: s.Base})
	}
	var told *generated
	if len(opt.BaseURLs) == 0 && len(opt.Roots) == 0 {
		told = a.published(docroot, &opt)
	}
	if own.Docroot == "" && told == nil {
		told = a.projectHere() // no address is known, but which docroot it has
	}
	a.tell(told, cfg, docroot, &opt)
	if len(opt.BaseURLs) == 0 && len(opt.Roots) == 0 && cfg.Profile == "github-pages" {
		if host := config.PagesHost(os.DirFS(docroot)); host != "" {
			opt.BaseURLs = []string{"https://" + host + "/"}
		}
	}
	inspectEndpoints(&opt, cfg)
	return opt
}

// projectDirs returns the directories of the project that the docroot was built
// from, the nearest first: those above it up to the root of the repository or
// the directory with our configuration file, or its parent alone where there is
// neither.
func projectDirs(docroot string) []string {
	dir, err := filepath.Abs(docroot)
	if err != nil {
		return nil
	}
	dir = pushedSite(dir)
	var dirs []string
	for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
		if len(dirs) == 0 && filepath.Base(up) == ownDirectory {
			continue // what sitelink build made belongs to the directory above
		}
		dirs = append(dirs, up)
		for _, name := range append([]string{".git"}, config.FileNames...) {
			if _, err := os.Lstat(filepath.Join(up, filepath.FromSlash(name))); err == nil {
				return dirs
			}
		}
	}
	return dirs[:min(len(dirs), 1)]
}

// detectHost looks in the directories of the project, the nearest first, and
// then into the docroot.
func detectHost(dirs []string, docroot string) (profile, because string) {
	var top fs.FS
	for _, dir := range dirs {
		top = os.DirFS(dir)
		if profile, because = config.DetectHost(top, nil); profile != "" || because != "" {
			return profile, because
		}
	}
	return config.DetectHost(top, os.DirFS(docroot))
}

// ruleDir returns the directory of the project that holds rule files of a host,
// the nearest one if there are several; empty for none.
func ruleDir(dirs []string) string {
	for _, dir := range dirs {
		for _, name := range []string{"netlify.toml", "vercel.json", "firebase.json"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				return dir
			}
		}
	}
	return ""
}

// redirectRules turns the [[redirect]] tables into rules, named by the
// configuration file as seen from the docroot.
func redirectRules(cfg *config.Config, docroot string) *redirect.File {
	rules := make([]redirect.GenericRule, 0, len(cfg.Redirects))
	for _, r := range cfg.Redirects {
		rules = append(rules, redirect.GenericRule{From: r.From, To: r.To, Status: r.Status, Force: r.Force, Line: r.Line})
	}
	name := cfg.Redirects[0].File
	from, err1 := filepath.Abs(docroot)
	to, err2 := filepath.Abs(name)
	if rel, err := filepath.Rel(from, to); errors.Join(err1, err2, err) == nil {
		name = filepath.ToSlash(rel)
	}
	return redirect.Generic(name, rules)
}
