package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/report"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
	"github.com/sitelink/sitelink/templates"
)

// Site describes a built site.
type Site struct {
	// Docroot is the directory that the program wrote, absolute or relative to
	// the working directory. It is required.
	Docroot string
	// BaseURL is the absolute URL at which the docroot is published, such as
	// https://example.org/sub/. Links to it are checked as internal links. "" if
	// the address is not known.
	BaseURL string
	// Profile is the name of the hosting profile, as for the flag --profile
	// (docs/reference/profiles.md); "" means generic.
	Profile string
	// Endpoints are those that the pages name, as given to [templates.Insert] or
	// [templates.Docroot]: programs answer there, so that links to them need no file.
	Endpoints templates.Endpoints
	// Options say what counts as a finding. The zero value reports everything.
	Options check.Options
	// Sources returns the texts that a built page was made of, in the order in
	// which they are on the page. page is a slash path relative to the docroot.
	// Check calls it from one goroutine, and only for pages with findings. nil if
	// the sources are not known.
	Sources func(page string) []Source
}

// Result is what [Check] found. If a finding's link is in one of the sources,
// [check.Finding.Source] is its position there. To write what [check.Run] returned,
// put it into a Result.
type Result struct {
	*check.Result
}

// Check checks all links of a built site. Broken links are findings, not errors.
// It returns an error if the docroot does not exist or has no page, or if the
// base URL, the profile or an ignore rule is not valid. If ctx ends, the error is
// the cause of ctx. Check may be called concurrently.
func Check(ctx context.Context, s Site) (*Result, error) {
	if s.Docroot == "" {
		return nil, errors.New("check site: no docroot: set Site.Docroot")
	}
	opt := site.Options{Profile: s.Profile, Jobs: s.Options.Jobs}
	if s.BaseURL != "" {
		opt.BaseURLs = []string{s.BaseURL}
	}
	loaded, err := site.Load(ctx, s.Docroot, opt)
	if err != nil {
		return nil, err
	}
	run := s.Options
	run.Ignore = slices.Concat(run.Ignore, check.IgnorePrograms("Site.Endpoints", s.Endpoints.Pingback, s.Endpoints.Webmention))
	result, err := check.Run(ctx, loaded, run)
	if err != nil {
		return nil, err
	}
	if s.Sources != nil && slices.ContainsFunc(result.Findings, isLink) {
		if err := addPositions(ctx, isite.Unwrap(loaded), result.Findings, s.Sources); err != nil {
			return nil, err
		}
	}
	return &Result{result}, nil
}

// Write writes the result to w in one of the formats of `sitelink check
// --format`: text, json, jsonl, markdown, github, sarif, junit, gitlab,
// checkstyle or html (docs/reference/formats.md). A finding has its position in
// the sources if that is known, or else the one in the docroot, which is named
// as in Summary.Docroot. The same result gives the same bytes. The errors are an
// unknown format and those of w.
func (r *Result) Write(w io.Writer, format string) error {
	f, ok := report.ByName(format)
	if !ok {
		return fmt.Errorf("write report: there is no format %q", format)
	}
	return f.Write(w, r.Result, report.Options{TextOptions: report.TextOptions{Prefix: r.Summary.Docroot}, Base: filepath.ToSlash(r.Summary.Docroot)})
}
