package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/generator"
)

// pushSite finds out how a commit becomes a site where no command is configured:
// by a docroot that is committed, else by the generator whose project it is. named
// is the docroot of the configuration, "" for none; the working directory is that
// of the site.
//
// Detecting a generator reads names only. Its configuration, which may take the
// generator a while to tell, is asked for when a tree must be looked at.
func (a *app) pushSite(repo *githook.Repo, named string, p *githook.Push) error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the working directory: %w", disk.Cause(err))
	}
	g, found := detectAround(dir)
	if !found {
		p.Docroot, err = committedDocroot(p.Site, a.docroot(named))
		return err
	}
	p.CacheKey = "generator " + string(g.Generator) + "\x00" + named + "\x00"
	p.Configure = func(ctx context.Context, commit string) (build, docroot string, err error) {
		err = inDirectory(dir, func() error {
			docroot = a.docroot(named)
			absolute, err := filepath.Abs(docroot)
			if err != nil {
				return fmt.Errorf("find docroot %s: %w", docroot, disk.Cause(err))
			}
			if full := a.projectHere(); !repo.CommitContains(ctx, commit, absolute) && full != nil && full.Builds() {
				build, docroot = buildCommand(full), ""
				if rel, err := filepath.Rel(dir, full.Dir); err == nil && rel != "." {
					build = "cd " + (generator.Command{Args: []string{filepath.ToSlash(rel)}}).String() + " && " + build
				}
				return nil
			}
			docroot, err = committedDocroot(p.Site, docroot)
			return err
		})
		return build, docroot, err
	}
	return nil
}

// pushTree matches what a hook makes in git's directory.
var pushTree = regexp.MustCompile(`/sitelink/trees/\d+-`)

// pushedSite is where a docroot would lie that the hook had built into git's
// directory: in the working directory, which is that of the site while it is
// checked. The project of any other docroot is where it lies.
func pushedSite(docroot string) string {
	if pushTree.MatchString(filepath.ToSlash(docroot)) {
		if here, err := os.Getwd(); err == nil {
			return filepath.Join(here, "docroot")
		}
	}
	return docroot
}

// detectAround finds the project that holds a directory, or lies in it, by the
// names of files.
func detectAround(dir string) (generator.Project, bool) {
	for _, dir := range projectDirs(filepath.Join(dir, "docroot")) {
		if p, ok := generator.Detect(dir); ok {
			return p, true
		}
	}
	if dir = projectBelow(dir); dir != "" {
		return generator.Detect(dir)
	}
	return generator.Project{}, false
}

// committedDocroot refuses a docroot that no commit of the repository can hold.
func committedDocroot(site, docroot string) (string, error) {
	if filepath.IsAbs(docroot) || !filepath.IsLocal(filepath.Join(site, docroot)) {
		return "", &usageError{fmt.Sprintf("docroot %s is not in the repository", docroot), "a hook checks what a commit holds, or what [hook] build makes of it"}
	}
	return docroot, nil
}
