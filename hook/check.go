// Package hook is sitelink at work inside other programs: it runs when there is
// something to check.
//
// A Go program that builds a site calls [Check] when it is done: every link of
// the docroot is judged, as `sitelink check` does, and the findings stand at the
// places in the program's own sources that wrote the links. A directory and a
// description of the site enter, a [Result] leaves. No process is started, no
// flag, environment or configuration file is read, nothing is printed and no
// file is written. Package mdlink records the places while goldmark renders.
//
// A push is checked by [Push], which runs git and the site's build command, and
// [Repo.Install] makes git ask for it. They write to git's directory alone, and
// take the environment from the caller.
package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/site"
	public "github.com/sitelink/sitelink/site"
)

// Site is what a program tells of the site that it has built.
type Site struct {
	// Docroot is the directory that the program wrote, absolute or relative to
	// the working directory.
	Docroot string
	// BaseURL is where the docroot is published, such as https://example.org/sub/:
	// links to it are checked as files. It must be absolute, http or https;
	// empty for a site whose address is not known.
	BaseURL string
	// Profile names the host whose rules the site follows, as --profile does
	// (docs/reference/profiles.md); empty for generic.
	Profile string
	// Options say what counts as a finding; the zero value reports everything.
	Options check.Options
	// Sources returns the source texts that a built page was made of, in the
	// order in which they stand on it; page is a docroot-relative slash path.
	// It is called from one goroutine, for pages with findings only. Nil when
	// the sources are not known.
	Sources func(page string) []Part
}

// Result is what [Check] found. Findings whose link was found in a source have
// [check.Finding.Source].
type Result struct {
	*check.Result
}

// Check judges every link of a built site. Broken links are no error: an error
// means that the work could not be done (no such docroot, no page in it, an
// unknown profile, a base URL or an ignore rule that is none), or that ctx was
// cancelled, and then it is the cause. Several calls may run at once.
func Check(ctx context.Context, s Site) (*Result, error) {
	opt, err := siteOptions(s)
	if err != nil {
		return nil, err
	}
	loaded, err := site.Load(ctx, s.Docroot, opt)
	if err != nil {
		return nil, err
	}
	found, err := check.Run(ctx, site.Wrap(loaded).(*public.Site), s.Options)
	if err != nil {
		return nil, err
	}
	if s.Sources != nil && slices.ContainsFunc(found.Findings, isLink) {
		if err := place(ctx, loaded, found.Findings, s.Sources); err != nil {
			return nil, err
		}
	}
	return &Result{found}, nil
}

func siteOptions(s Site) (site.Options, error) {
	opt := site.Options{Jobs: s.Options.Jobs}
	if s.Docroot == "" {
		return opt, errors.New("check site: no docroot is named")
	}
	if info, err := os.Stat(s.Docroot); err != nil {
		return opt, fmt.Errorf("check site: docroot %w", err)
	} else if !info.IsDir() {
		return opt, fmt.Errorf("check site: docroot %s is no directory", s.Docroot)
	}
	if s.BaseURL != "" {
		opt.BaseURLs = []string{s.BaseURL}
	}
	if s.Profile != "" {
		profile, ok := site.ProfileByName(s.Profile)
		if !ok {
			return opt, fmt.Errorf("check site: no profile is named %q", s.Profile)
		}
		opt.Profile = profile
	}
	return opt, nil
}
