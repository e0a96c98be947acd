package commits

// This file finds what a site is compared with: the record of a deploy, or
// another build of the site.

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/audit/record"
	"github.com/sitelink/sitelink/internal/run/notify"
	"github.com/sitelink/sitelink/internal/run/receive"
	"github.com/sitelink/sitelink/internal/run/setup"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// Since returns the record to compare the site with, see [Record], and the access log and
// mentions that show who relies on an address. It returns nil if there is no record.
func Since(ctx context.Context, p *project.Project, opt Options) (*audit.Since, error) {
	cfg := p.Config
	before, err := Record(ctx, p, opt)
	if before == nil || err != nil {
		return nil, err
	}
	of := &audit.Since{Record: before, CompareOptions: record.CompareOptions{HeadingsOnly: cfg.Anchors == "headings"}, LogName: cfg.Log}
	if cfg.Gone == "error" {
		of.Verdict = check.Error
	}
	switch {
	case cfg.Log == "-":
		of.LogName = "on standard input"
		of.Log = func() (io.ReadCloser, error) { return io.NopCloser(opt.Stdin), nil }
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
	if !receive.HasStore(p) {
		return of, nil
	}
	of.Mentions = func(ctx context.Context, visit func(source, target string)) (err error) {
		store, err := receive.OpenStore(ctx, p, receive.StoreOptions{MustExist: true})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		for m, err := range store.List(ctx, incoming.Filter{States: []incoming.State{incoming.Approved, incoming.Held}}) {
			if err != nil {
				return err
			}
			if m.Action == "" || m.Action == incoming.Link {
				visit(m.Source, m.Target)
			}
		}
		return nil
	}
	return of, nil
}

const (
	sinceHint  = "use --since, or name the file with --config: comparing with a commit runs its build"
	commitHint = "--since takes a commit such as v1.2, the directory of an older build, or the record of a deploy"
)

// Record returns the record that --since names, or that of the last deploy; nil for none.
func Record(ctx context.Context, p *project.Project, opt Options) (*record.Record, error) {
	name := p.Config.Since
	switch {
	case name == "" && p.Config.Gone == "off":
		return nil, nil
	case name == "":
		file, err := notify.RecordName(p)
		if err != nil {
			return nil, nil // deploy refuses that place, and writes no record
		}
		r, err := record.Read(p.Abs(file), file, "at the last deploy")
		if errors.Is(err, fs.ErrNotExist) {
			if p.Config.Log != "" {
				opt.Note("--log has no effect: sitelink deploy has not recorded the site yet, and --since names nothing to compare with")
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
			return nil, text.Usage(fmt.Sprintf("since in [check]: %s is not a file or directory, and a commit is not used, because --config does not name the configuration", name), sinceHint)
		}
	}
	switch {
	case err == nil && info.IsDir():
		built, err := audit.Open(ctx, p, audit.Options{Docroot: name})
		if err != nil {
			return nil, err
		}
		return record.Of(ctx, built.Site, "in "+name)
	case err == nil:
		return record.Read(file, name, "in "+name)
	case strings.HasPrefix(name, "-"): // git would take it for an option
		return nil, text.Usage(fmt.Sprintf("--since: %q is not the name of a commit", name), commitHint)
	}

	// A commit is built in a repository that has the directory at some place.
	repo, err := githook.Open(ctx, githook.Git{Env: opt.Env, Dir: p.Dir})
	if errors.Is(err, githook.ErrNoWorkTree) || errors.Is(err, githook.ErrNoGit) {
		return nil, text.Usage(fmt.Sprintf("--since: there is no file or directory %s, and no repository with such a commit", name), commitHint)
	}
	if err != nil {
		return nil, setup.ExplainHook(err)
	}
	dir, err := filepath.EvalSymlinks(p.Dir)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", p.Dir, system.Cause(err))
	}
	if opt.Site, err = filepath.Rel(repo.Top, dir); err != nil || !filepath.IsLocal(opt.Site) {
		opt.Site = "."
	}
	// The flags of the run that say how the site is published hold for the commit, too.
	// The docroot is left out if it is not in the working tree.
	cfg := p.Config
	for _, f := range []config.Setting{{Key: "docroot", Values: []string{cfg.Docroot}}, {Key: "base-url", Values: cfg.BaseURLs}, {Key: "profile", Values: []string{cfg.Profile}}} {
		if strings.HasPrefix(cfg.Place(f.Key), "--") && (f.Key != "docroot" || filepath.IsLocal(cfg.Docroot)) {
			opt.Settings = append(opt.Settings, f)
		}
	}
	opt.ByHand = true
	r, err := recordOf(ctx, repo, name, opt)
	var unknown *githook.UnknownCommitError
	var failed *githook.BuildError
	switch {
	case errors.As(err, &unknown):
		return nil, text.Usage("--since: "+err.Error()+", and no file or directory has that name", commitHint)
	case errors.As(err, &failed):
		for _, line := range failed.Output {
			opt.Line("build: " + line)
		}
		return nil, text.WithHint(fmt.Errorf("build the site at %s: %w", name, failed.Cause), "the command was: "+failed.Command+"; to compare with a build that you have, give --since its directory")
	case err != nil:
		return nil, setup.ExplainHook(fmt.Errorf("build the site at %s: %w", name, err))
	}
	return r, nil
}

// recordOf builds a commit as for a push, and returns what its site answers. The
// configuration of the commit says how its host answers; that of the working tree
// says how to build it. A record is kept in opt.Cache, and is returned without a
// build on the same day.
func recordOf(ctx context.Context, repo *githook.Repo, commit string, opt Options) (*record.Record, error) {
	push, err := New(repo, opt)
	if err != nil {
		return nil, err
	}
	push.Timeout = 0 // no server waits for the build, and a person can interrupt it
	id, err := repo.CommitID(ctx, commit)
	if err != nil {
		return nil, err
	}
	kept := keptRecord(id, push.Push, opt)
	if r, err := record.Read(kept, kept, "at "+commit); kept != "" && err == nil {
		return r, nil
	}
	opt.Note("building the site at " + commit + " to compare with")
	if configure := push.Configure; configure != nil {
		push.Configure = func(ctx context.Context, commit string) (build, docroot string, err error) {
			if build, docroot, err = configure(ctx, commit); build != "" {
				docroot = "" // the sources count, not an old copy
			}
			return build, docroot, err
		}
	}
	original := filepath.Join(repo.Top, push.Site)
	var built *record.Record
	push.Check = func(ctx context.Context, dir, docroot string) (githook.Report, error) {
		p, err := builtCommit{dir, docroot, original}.project(ctx, push.Push, opt)
		if err != nil {
			return githook.Report{}, err
		}
		a, err := audit.Open(ctx, p, audit.Options{})
		if err != nil {
			return githook.Report{}, err
		}
		built, err = record.Of(ctx, a.Site, "at "+commit)
		return githook.Report{}, err
	}
	if _, err = repo.CheckCommit(ctx, id, *push.Push); err == nil && kept != "" {
		keepRecord(kept, built)
	}
	return built, err
}

// keptRecord returns the name of the file for the record of a commit, "" for none. It
// depends on all that the record does: pages of generators come and go by the day.
func keptRecord(id string, push *githook.Push, opt Options) string {
	if opt.Cache == "" {
		return ""
	}
	key := sha256.New()
	for _, part := range []string{id, push.Site, push.Build, push.Docroot, push.CacheKey, push.Today} {
		fmt.Fprintf(key, "%q\n", part)
	}
	for _, s := range opt.Settings {
		fmt.Fprintf(key, "%q %q\n", s.Key, s.Values)
	}
	return filepath.Join(opt.Cache, "since", fmt.Sprintf("%x.jsonl", key.Sum(nil)[:16]))
}

// maxRecords is how many records are kept.
const maxRecords = 8

// keepRecord writes a record for later runs and removes the oldest ones. Errors are
// ignored: the next run builds the commit again.
func keepRecord(name string, r *record.Record) {
	dir := filepath.Dir(name)
	if os.MkdirAll(dir, 0o700) != nil || r.Write(name) != nil {
		return
	}
	files, _ := os.ReadDir(dir)
	changed := func(e os.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	slices.SortStableFunc(files, func(a, b os.DirEntry) int { return changed(b).Compare(changed(a)) })
	for _, f := range files[min(len(files), maxRecords):] {
		_ = os.Remove(filepath.Join(dir, f.Name()))
	}
}
