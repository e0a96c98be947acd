package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/owners"
	"github.com/sitelink/sitelink/internal/report"
)

// reportOptions are what every report of a run may need to know.
func (a *app) reportOptions(cfg *config.Config, docroot string) (report.Options, error) {
	root, err := projectRoot()
	if err != nil {
		return report.Options{}, err
	}
	opt := report.Options{
		TextOptions:  report.TextOptions{Prefix: docroot},
		Base:         within(root, docroot),
		GroupBy:      report.GroupNamed(cfg.GroupBy),
		WarningsFail: cfg.FailOn == "warning",
		Version:      versionNumber(),
	}
	if opt.GroupBy == report.GroupOwner {
		opt.Owners, err = a.owners(root)
	}
	return opt, err
}

// projectRoot returns the root of the repository that holds the working
// directory: the nearest directory above with a .git, else the working
// directory. Servers that show the project's files count paths from there.
func projectRoot() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", disk.Cause(err))
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return here, nil
		}
	}
}

// within returns docroot as a slash path relative to root, or the absolute one
// when it lies elsewhere.
func within(root, docroot string) string {
	absolute, err := filepath.Abs(docroot)
	if err != nil {
		return filepath.ToSlash(docroot)
	}
	rel, err := filepath.Rel(root, absolute)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(absolute)
	}
	return filepath.ToSlash(rel)
}

// maxOwnerFaults is how many wrong lines of CODEOWNERS are told.
const maxOwnerFaults = 5

// owners reads the CODEOWNERS file of the project.
func (a *app) owners(root string) (func(path string) string, error) {
	o, err := owners.Load(os.DirFS(root))
	if err != nil {
		return nil, &failure{err, "--group-by owner needs it"}
	}
	if o == nil {
		a.ui.warning("no owner is known: " + root + " has none of " + strings.Join(owners.Places, ", "))
		return nil, nil
	}
	for i, fault := range o.Faults {
		if i == maxOwnerFaults {
			a.ui.warning(fmt.Sprintf("%s: %d more lines are skipped", o.Name, len(o.Faults)-i))
			break
		}
		a.ui.warning(fmt.Sprintf("%s:%d: skipped: %s", o.Name, fault.Line, fault.Msg))
	}
	return func(path string) string { return strings.Join(o.Of(path), ", ") }, nil
}
