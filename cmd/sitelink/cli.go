package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/audit/baseline"
	"github.com/sitelink/sitelink/internal/run/commits"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// cli is what the commands share: the process and the user.
type cli struct {
	env env
	ui  *ui
	// printed are the notes that were printed: each is printed once.
	printed map[string]bool
	// shortHelp is true if the help was asked for by -h, which prints less than
	// --help.
	shortHelp bool
	// markdown: the command checks the Markdown of a repository too.
	markdown bool
	// endless is set by a command that ends by a signal and by nothing else.
	endless *atomic.Bool
	// atEnd is called when the command has ended.
	atEnd []func()
}

// onProject makes a command that works on the project of the working directory and reads
// no docroot.
func (c *cli) onProject(work func(ctx context.Context, p *project.Project, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cfg, err := c.configure(cmd, nil)
		if err != nil {
			return err
		}
		p, err := c.findRoot(cmd.Context(), cfg)
		if err != nil {
			return err
		}
		return work(cmd.Context(), p, args)
	}
}

// onSite makes a command that works with the configuration, in which an argument names
// the docroot.
func (c *cli) onSite(work func(ctx context.Context, cfg *config.Config) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cfg, err := c.configure(cmd, args)
		if err != nil {
			return err
		}
		return work(cmd.Context(), cfg)
	}
}

// find finds the project of the working directory for this configuration, prints
// what was found, and makes sure that the docroot can be read.
func (c *cli) find(ctx context.Context, cfg *config.Config) (*project.Project, error) {
	p, err := c.findRoot(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := p.CheckDocroot(); err != nil {
		return nil, err
	}
	c.printNotes(p)
	return p, nil
}

// findRoot finds the project for commands that read no docroot, and prints nothing.
func (c *cli) findRoot(ctx context.Context, cfg *config.Config) (*project.Project, error) {
	dir, err := workingDir()
	if err != nil {
		return nil, err
	}
	return c.findIn(ctx, dir, cfg)
}

// findIn finds the project of a directory, and prints nothing.
func (c *cli) findIn(ctx context.Context, dir string, cfg *config.Config) (*project.Project, error) {
	return project.Find(ctx, dir, project.Options{Config: cfg, Env: os.Environ(), Markdown: c.markdown, Input: c.env.Stdin})
}

// printNotes prints what was found out about a project.
func (c *cli) printNotes(p *project.Project) {
	for _, n := range p.Notes {
		if n.Warning {
			c.ui.warning(n.Text)
		} else {
			c.noteOnce(n.Text)
		}
	}
}

// noteOnce prints a note unless this run has printed it already.
func (c *cli) noteOnce(text string) {
	if !c.printed[text] {
		c.printed[text] = true
		c.ui.note(text)
	}
}

func workingDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", system.Cause(err))
	}
	return dir, nil
}

// auditOptions returns the options that print to the user; progress may be nil.
func (c *cli) auditOptions(progress *progress) audit.Options {
	if reserve == nil {
		reserve = make([]byte, 16<<20)
	}
	opt := audit.Options{Warn: c.ui.warning, Note: c.ui.note, Today: c.today, Commands: c.ui.commands, Crawl: c.crawl(progress)}
	if progress != nil {
		opt.Progress = progress.pages
	}
	return opt
}

// commitOptions returns the options for building and checking a commit.
func (c *cli) commitOptions() commits.Options {
	return commits.Options{
		Configure: func(dir string, more ...config.Setting) (*config.Config, error) {
			return c.loadConfig(config.Input{Dir: dir, Flags: more})
		},
		Today: c.today, Env: os.Environ(), Getenv: c.env.Getenv, Version: versionLine(), Cache: c.userCache(),
		Note: c.ui.note, Line: c.ui.line, Stdin: c.env.Stdin,
	}
}

// userCache returns the directory of sitelink in the user's cache, "" when the
// environment names none.
func (c *cli) userCache() string {
	dir := c.env.Getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(dir) {
		home := c.env.Getenv("HOME")
		switch user, err := os.UserCacheDir(); {
		case runtime.GOOS != "linux" && err == nil:
			dir = user
		case filepath.IsAbs(home):
			dir = filepath.Join(home, ".cache")
		default:
			return ""
		}
	}
	return filepath.Join(dir, "sitelink")
}

// load finds the project and loads its site, with progress drawn meanwhile.
func (c *cli) load(ctx context.Context, cfg *config.Config) (*audit.Audit, error) {
	p, err := c.find(ctx, cfg)
	if err != nil {
		return nil, err
	}
	opt, done := c.loading(p)
	defer done()
	return audit.Open(ctx, p, opt)
}

// check loads the site of a project and checks it, with progress drawn meanwhile. set
// chooses the steps.
func (c *cli) check(ctx context.Context, p *project.Project, set func(opt *audit.Options)) (*audit.Audit, *check.Result, error) {
	opt, done := c.loading(p)
	defer done()
	set(&opt)
	a, err := audit.Open(ctx, p, opt)
	if err != nil {
		return nil, nil, err
	}
	result, err := a.Check(ctx)
	return a, result, err
}

// loading returns the options for loading a site with progress and timing; done
// ends the progress.
func (c *cli) loading(p *project.Project) (opt audit.Options, done func()) {
	progress := newProgress(c.ui, p.Config.Progress, time.Now)
	opt = c.auditOptions(progress)
	opt.Stage = newTimer(c.ui).stage
	return opt, progress.done
}

// today returns the day that decides which entries of a baseline have expired.
// SOURCE_DATE_EPOCH, in seconds, replaces the clock, so that the same commit
// gives the same report on any day
// (reproducible-builds.org/specs/source-date-epoch).
func (c *cli) today() (baseline.Date, error) {
	given := c.env.Getenv("SOURCE_DATE_EPOCH")
	if given == "" {
		return baseline.DateOf(time.Now()), nil
	}
	const most = 253402300799 // the end of the year 9999
	seconds, err := strconv.ParseInt(given, 10, 64)
	if err != nil || seconds < 0 || seconds > most {
		return "", text.Usage(fmt.Sprintf("SOURCE_DATE_EPOCH: must be seconds since 1970, not %q", given), "")
	}
	return baseline.DateOf(time.Unix(seconds, 0)), nil
}

// debugs reports whether SITELINK_DEBUG asks for a topic.
func (u *ui) debugs(topic string) bool {
	return slices.Contains(strings.Split(u.env.Getenv("SITELINK_DEBUG"), ","), topic)
}

// traceWalk prints to standard error, if SITELINK_DEBUG has walk, the pages that --from,
// --skip and --limit let through (LL-76).
func traceWalk(ctx context.Context, c *cli, run *audit.Audit) error {
	if !c.ui.debugs("walk") {
		return nil
	}
	steps, err := check.Walk(ctx, audit.Handle(run.Site), audit.CheckOptions(run.Project))
	for _, step := range steps {
		c.ui.line(fmt.Sprintf("walk: %-6s %s", step.Kind, step.Path))
	}
	return err
}

// timer prints how long each stage took. A nil timer does nothing.
type timer struct {
	ui   *ui
	last time.Time
}

// newTimer returns nil unless SITELINK_DEBUG asks for timing.
func newTimer(u *ui) *timer {
	if !u.debugs("timing") {
		return nil
	}
	return &timer{ui: u, last: time.Now()}
}

// stage ends the stage of that name and begins the next.
func (t *timer) stage(name string) {
	if t == nil {
		return
	}
	now := time.Now()
	t.ui.line(fmt.Sprintf("timing: %-6s %8.1f ms", name, float64(now.Sub(t.last).Microseconds())/1000))
	t.last = now
}
