package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/announce"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/prepush"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/receive"
	"github.com/sitelink/sitelink/internal/setup"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// since returns what the site is compared with: what --since names, or else the
// record of the last deploy. It returns nil if there is neither.
func (c *cli) since(ctx context.Context, p *project.Project) (*audit.Since, error) {
	cfg := p.Config
	record, err := c.recordOf(ctx, p)
	if record == nil || err != nil {
		return nil, err
	}
	of := &audit.Since{Record: record, CompareOptions: audit.CompareOptions{HeadingsOnly: cfg.Anchors == "headings"}, LogName: cfg.Log}
	if cfg.Gone == "error" {
		of.Verdict = check.Error
	}
	switch {
	case cfg.Log == "-":
		of.LogName = "on standard input"
		of.Log = func() (io.ReadCloser, error) { return io.NopCloser(c.env.Stdin), nil }
	case cfg.Log != "":
		// Opened now, so that a wrong name is reported before the site is read.
		open := system.Open
		if cfg.Named("log") {
			open = os.Open // also a pipe, such as that of <(zcat access.log*)
		}
		log, err := open(p.Abs(cfg.Log))
		if err != nil {
			return nil, text.WithHint(fmt.Errorf("read the log %s: %w", cfg.Log, system.Cause(err)), "--log takes an access log, also one compressed with gzip")
		}
		of.Log = func() (io.ReadCloser, error) { return log, nil }
	}
	of.Mentions, err = mentionsOf(p)
	return of, err
}

// recordOf returns the record that --since names, or that of the last deploy; nil
// for none.
func (c *cli) recordOf(ctx context.Context, p *project.Project) (*audit.Record, error) {
	name := p.Config.Since
	switch {
	case name == "" && p.Config.Gone == "off":
		return nil, nil
	case name == "":
		file, err := announce.RecordName(p)
		if err != nil {
			return nil, nil // deploy refuses that place, and writes no record
		}
		r, err := audit.ReadRecord(p.Abs(file), file, "at the last deploy")
		if errors.Is(err, fs.ErrNotExist) {
			if p.Config.Log != "" {
				c.ui.note("--log has no effect: sitelink deploy has not recorded the site yet, and --since names nothing to compare with")
			}
			return nil, nil
		}
		return r, err
	}
	file := p.Abs(name)
	info, err := os.Stat(file)
	if !p.Config.Named("since") {
		path, where := system.Outside(p.Root, file)
		switch {
		case where != "":
			return nil, text.Usage(fmt.Sprintf("since in [check]: %s is %s", path, where), sinceHint)
		case err != nil:
			return nil, text.Usage(fmt.Sprintf("since in [check]: %s is no file or directory, and a commit is not used, because the configuration was found and not named", name), sinceHint)
		}
	}
	switch {
	case err == nil && info.IsDir():
		_, built, err := audit.LoadBuild(ctx, p, name, audit.Options{})
		if err != nil {
			return nil, err
		}
		return audit.RecordOf(ctx, built, "in "+name)
	case err == nil:
		return audit.ReadRecord(file, name, "in "+name)
	}
	return c.recordOfCommit(ctx, p, name)
}

const sinceHint = "use --since, or name the file with --config: comparing with a commit runs its build"

// recordOfCommit builds a commit and returns what its site answers.
func (c *cli) recordOfCommit(ctx context.Context, p *project.Project, commit string) (*audit.Record, error) {
	const hint = "no file or directory has that name either; --since takes a commit such as v1.2, the directory of an older build, or the record of a deploy"
	if strings.HasPrefix(commit, "-") { // git would take it for an option
		return nil, text.Usage(fmt.Sprintf("--since: %q is not the name of a commit", commit), hint)
	}
	repo, err := githook.Open(ctx, githook.Git{Env: os.Environ(), Dir: p.Dir})
	if errors.Is(err, githook.ErrNoWorkTree) || errors.Is(err, githook.ErrNoGit) {
		return nil, text.Usage(fmt.Sprintf("--since: there is no file or directory %s, and no repository with such a commit", commit), hint)
	}
	if err != nil {
		return nil, setup.ExplainHook(err)
	}
	dir, err := filepath.EvalSymlinks(p.Dir)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", p.Dir, system.Cause(err))
	}
	site, err := filepath.Rel(repo.Top, dir)
	if err != nil || !filepath.IsLocal(site) {
		site = "."
	}
	flags := siteFlags(p.Config)
	r, err := prepush.Record(ctx, repo, commit, prepush.Options{
		Site: site, ByHand: true, Configure: func(dir string) (*config.Config, error) {
			return c.loadConfig(config.Request{Dir: dir, Flags: flags})
		},
		Today: c.today, Env: os.Environ(), Getenv: c.env.Getenv, Version: versionLine(), Cache: c.userCache(),
		Settings: flags, Building: func() { c.ui.note("building the site at " + commit + " to compare with") },
	})
	var unknown *githook.UnknownCommitError
	var failed *githook.BuildError
	switch {
	case errors.As(err, &unknown):
		return nil, text.Usage("--since: "+err.Error(), hint)
	case errors.As(err, &failed):
		for _, line := range failed.Output {
			c.ui.line("build: " + line)
		}
		return nil, text.WithHint(fmt.Errorf("build the site at %s: %w", commit, failed.Cause), "the command was: "+failed.Command+"; to compare with a build that you have, give --since its directory")
	case err != nil:
		return nil, setup.ExplainHook(fmt.Errorf("build the site at %s: %w", commit, err))
	}
	return r, nil
}

// siteFlags returns the flags of the run that say how the site is published, which
// hold for another commit too. The docroot is left out if it is not in the working
// tree.
func siteFlags(cfg *config.Config) (flags []config.Setting) {
	for _, f := range []config.Setting{{Key: "docroot", Values: []string{cfg.Docroot}}, {Key: "base-url", Values: cfg.BaseURLs}, {Key: "profile", Values: []string{cfg.Profile}}} {
		if strings.HasPrefix(cfg.Place(f.Key), "--") && (f.Key != "docroot" || filepath.IsLocal(cfg.Docroot)) {
			flags = append(flags, f)
		}
	}
	return flags
}

// mentionsOf returns what calls visit for each mention in the store of the
// configuration; nil if there is no store yet.
func mentionsOf(p *project.Project) (func(ctx context.Context, visit func(source, target string)) error, error) {
	if !receive.HasStore(p) {
		return nil, nil
	}
	return func(ctx context.Context, visit func(source, target string)) (err error) {
		store, err := receive.OpenStore(ctx, p, receive.StoreOptions{MustExist: true})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		states := []incoming.State{incoming.Approved, incoming.Held}
		for m, err := range store.List(ctx, incoming.Filter{States: states}) {
			if err != nil {
				return err
			}
			if m.Action == "" || m.Action == incoming.Link {
				visit(m.Source, m.Target)
			}
		}
		return nil
	}, nil
}
