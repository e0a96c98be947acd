package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sitelink/sitelink/check/baseline"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/project"
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
	// endless is set by a command that ends by a signal and by nothing else.
	endless *atomic.Bool
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
	return project.Find(ctx, dir, project.Options{Config: cfg, Env: os.Environ()})
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
		return "", fmt.Errorf("find the working directory: %w", disk.Cause(err))
	}
	return dir, nil
}

// auditOptions returns the options that print to the user; progress may be nil.
func (c *cli) auditOptions(progress *progress) audit.Options {
	opt := audit.Options{Warn: c.ui.warning, Note: c.ui.note, Today: c.today, Cache: c.userCache()}
	if progress != nil {
		opt.Progress = progress.pages
	}
	return opt
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
	progress := newProgress(c.ui, cfg.Progress, time.Now)
	defer progress.done()
	return audit.Open(ctx, p, c.auditOptions(progress))
}

// loading returns the options for loading a site with progress and timing; done
// ends the progress.
func (c *cli) loading(p *project.Project) (opt audit.Options, done func()) {
	progress := newProgress(c.ui, p.Config.Progress, time.Now)
	opt = c.auditOptions(progress)
	opt.Stage = newTimer(c.ui).stage
	return opt, progress.done
}

// today is the day by which entries of a baseline expire. SOURCE_DATE_EPOCH,
// in seconds, takes the place of the clock, so that the same commit gives the
// same report on any day (reproducible-builds.org/specs/source-date-epoch).
func (c *cli) today() (baseline.Date, error) {
	text := c.env.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		return baseline.DateOf(time.Now()), nil
	}
	const most = 253402300799 // the end of the year 9999
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 || seconds > most {
		return "", fault.Usage(fmt.Sprintf("SOURCE_DATE_EPOCH: must be seconds since 1970, not %q", text), "")
	}
	return baseline.DateOf(time.Unix(seconds, 0)), nil
}
