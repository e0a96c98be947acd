// Package audit loads a project's site and checks it: the whole way from a
// [project.Project] to findings with the baseline applied and with positions in
// the author's sources. The commands check, build, watch, deploy, baseline,
// explain, links, diff and the git hooks all use it.
//
// [Open] reads the baseline and loads the site; nothing else loads the site of a
// project. [Audit.Check] then returns the findings; [Audit.Links] writes a row for
// every link. [Options] switches the optional steps on. Nothing is printed: lines for the user go to the functions
// in [Options].
package audit

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/run/audit/baseline"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/text"
	public "github.com/sitelink/sitelink/site"
)

// Options choose the steps of an audit. The zero value loads and checks the
// site and reports every finding.
type Options struct {
	// Docroot is another docroot of the project, or "" for the project's own. Its
	// generator, host and addresses are found again.
	Docroot string
	// Baseline takes accepted findings out of the result, as the configuration
	// says. Today returns the day that decides which entries have expired; it is
	// called only when there is a baseline.
	Baseline bool
	Today    func() (baseline.Date, error)
	// MaxFindings is the largest number of findings about links that the result lists,
	// 0 for all, see [check.Options]. With a baseline, it lists all.
	MaxFindings int
	// Sources finds the places in the author's sources. LateSources begins to read them
	// when the first place is asked for; otherwise that may begin in the background while
	// the site is loaded.
	Sources, LateSources bool
	// Hints reports content that is newer than the docroot, and pages that an earlier
	// build left.
	Hints bool
	// Sums keeps a hash of each page's file, which a comparison with a ledger
	// needs.
	Sums bool
	// Since reports what is gone since the site was recorded; nil for nothing.
	Since *Since
	// External, if not nil, finds out about the links to other sites, and nothing else is
	// reported. known are the addresses that the baseline has.
	External func(ctx context.Context, s *public.Site, opt check.Options, known []string) (*ExternalLinks, error)
	// Crawl asks the server of the project, if it is one, and returns what that answers.
	Crawl func(ctx context.Context, p *project.Project, site site.Options) (*host.Crawled, error)
	// BaseURL is the site's address where the project names none.
	BaseURL string

	// Warn and Note take lines for the user, Progress the number of pages read so
	// far and of all, Stage the name of each finished stage. All may be nil.
	Warn, Note func(text string)
	Progress   func(done, total int)
	Stage      func(name string)
	// Commands returns a text of the report with the commands of sitelink in it as the
	// project starts them. It may be nil.
	Commands func(text string) string
}

// ExternalLinks is what is known of the links to other sites.
type ExternalLinks struct {
	// Answer returns what is known of one of them.
	Answer func(*check.Link) check.ExternalAnswer
	// Summary and Notes are for the report.
	Summary *check.ExternalSummary
	Notes   []string
	// Hints are links that work, with a message why a person should look at them, sorted
	// by page.
	Hints []check.Finding
}

func (o *Options) warn(text string) {
	if o.Warn != nil {
		o.Warn(text)
	}
}

// name names the commands in a result as the user types them.
func (o *Options) name(r *check.Result) {
	if o.Commands == nil {
		return
	}
	r.Summary.Lead = o.Commands(r.Summary.Lead)
	for i, note := range r.Summary.Notes {
		r.Summary.Notes[i] = o.Commands(note)
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Code == check.EndpointMissing {
			f.Suggestion = o.Commands(f.Suggestion)
		}
	}
}

func (o *Options) stage(name string) {
	if o.Stage != nil {
		o.Stage(name)
	}
}

// Audit is a loaded site with what the configuration accepts.
type Audit struct {
	Project *project.Project
	Site    *site.Site
	// Baseline is nil when nothing is accepted.
	Baseline *Baseline

	opt   Options
	early *earlySources
	gone  *compared // by the last check, nil without a record
	// external is what the first check or list asked, for all formats of a report.
	external *ExternalLinks
}

// Open reads the baseline, if opt asks for it, and loads the site. Errors carry hints.
// With Options.Sources, call Close when the audit is no longer needed.
func Open(ctx context.Context, p *project.Project, opt Options) (*Audit, error) {
	if opt.Docroot != "" {
		var err error
		if p, err = p.WithDocroot(ctx, opt.Docroot); err != nil {
			return nil, err
		}
	}
	if err := p.CheckDocroot(); err != nil {
		return nil, err
	}
	a := &Audit{Project: p, opt: opt, early: &earlySources{}}
	if opt.Baseline {
		var err error
		if a.Baseline, err = OpenBaseline(ctx, p, opt); err != nil {
			return nil, err
		}
	}
	o := p.SiteOptions()
	o.Progress, o.Sums = opt.Progress, opt.Sums
	if len(o.BaseURLs) == 0 && opt.BaseURL != "" {
		o.BaseURLs = []string{opt.BaseURL}
	}
	if p.Server != "" {
		if opt.Crawl == nil {
			return nil, text.Usage(p.Server+" is the address of a server, which this command does not ask", "name the directory of the built site")
		}
		var err error
		if o.Crawled, err = opt.Crawl(ctx, p, o); err != nil {
			return nil, err
		}
		opt.stage("crawl")
	}
	inspectEndpoints(&o, p.Config) // while the pages are read
	if opt.Sources && !opt.LateSources {
		if sources := a.sourceOptions(); sources.Project != "" {
			o.FirstBroken = func() { a.early.begin(ctx, sources) }
		}
	}
	// In the working directory, the name stays as it is: messages and reports show it.
	name := p.Docroot
	if dir, err := os.Getwd(); err != nil || dir != p.Dir {
		name = p.Abs(name)
	}
	name = cmp.Or(p.Server, name)
	var err error
	a.Site, err = site.Load(ctx, name, o)
	opt.stage("load")
	if err != nil {
		a.Close()
		return nil, p.ExplainLoad(err)
	}
	return a, nil
}

// Update returns an audit of the site after the files of these paths have
// changed. It shares what did not change with a, which must not be used after.
func (a *Audit) Update(ctx context.Context, paths []string) (*Audit, error) {
	last := a.Site
	a.Site = nil // so that a full reload does not keep two sites in memory
	next := *a
	next.external = nil
	var err error
	next.Site, err = last.Update(ctx, paths)
	return &next, err
}

// CheckOptions turns the project's configuration into the options of a check.
func CheckOptions(p *project.Project) check.Options {
	cfg := p.Config
	opt := check.Options{
		NoFragments: !cfg.Fragments, Jobs: cfg.Jobs, From: cfg.From, Skip: cfg.Skip, Pages: cfg.Pages, Limit: cfg.Limit, Orphans: cfg.Orphans,
	}
	if p.Server != "" { // the crawl stopped there
		opt.Limit = 0
	}
	opt.More = endpointFindings(p)
	e := Endpoints(cfg)
	opt.Ignore = check.IgnorePrograms("[templates]", e.Pingback, e.Webmention)
	switch cfg.Check.ScriptFragments {
	case "error":
		opt.ScriptFragments = check.ScriptError
	case "silent":
		opt.ScriptFragments = check.ScriptSilent
	}
	for _, r := range cfg.ScriptFragments {
		opt.ScriptRules = append(opt.ScriptRules, check.ScriptRule(r))
	}
	for _, r := range cfg.Ignores {
		opt.Ignore = append(opt.Ignore, check.Ignore{
			URL: r.URL, Page: r.Page, Fragment: r.Fragment, Code: check.Code(r.Code), Reason: r.Reason, Origin: r.Origin,
			MayBeUnused: slices.Contains([]check.Code{check.DeadLink, check.Doubtful, check.Moved}, check.Code(r.Code)),
		})
	}
	return opt
}

// Check returns the findings of the site, by the steps of the options.
func (a *Audit) Check(ctx context.Context) (*check.Result, error) {
	defer a.Close()
	opt, gone, err := a.options(ctx)
	if err != nil {
		return nil, err
	}
	a.gone = gone
	if a.Baseline == nil {
		opt.MaxFindings = a.opt.MaxFindings
	}
	result, err := check.Run(ctx, Handle(a.Site), opt)
	if err != nil {
		return nil, err
	}
	a.opt.stage("check")
	if err := gone.concern(ctx, result, a.opt.warn); err != nil {
		return nil, err
	}
	if a.opt.External != nil {
		result.OnlyExternal()
	}
	external, err := a.askExternal(ctx, opt)
	if err != nil {
		return nil, err
	}
	if external.Answer != nil {
		if err := check.AnswerExternal(ctx, Handle(a.Site), opt, result, external.Answer); err != nil {
			return nil, err
		}
		result.Summary.External = external.Summary
		result.Summary.Notes = append(result.Summary.Notes, external.Notes...)
		a.opt.stage("external")
	}
	if n := result.Summary.UnlistedErrors + result.Summary.UnlistedWarnings; n > 0 {
		result.Summary.Notes = append(result.Summary.Notes, fmt.Sprintf(
			"reports list %s of %s; only --format jsonl lists all", text.Count(len(result.Findings), "finding"), text.Thousands(len(result.Findings)+n)))
	}
	a.Baseline.Apply(result)
	var sources *source.Map
	if a.opt.Sources {
		sources, err = a.place(ctx, result, external.listed())
		if sources != nil {
			defer sources.Close()
		}
		if err != nil {
			return nil, err
		}
		if sources != nil {
			if names := sources.Costly(); len(names) > 0 {
				most := text.Visible(names[0])
				if len(names) > 1 {
					most += " and " + text.Count(len(names)-1, "more file")
				}
				result.Summary.Notes = append(result.Summary.Notes, "findings may have no source: to compare all of "+most+" with the pages takes too long")
			}
		}
		a.opt.stage("source")
	}
	result.Summary.Notes = append(result.Summary.Notes, external.hints(a.Project.Docroot)...)
	if server := a.Project.Server; server != "" && slices.ContainsFunc(result.Findings, func(f check.Finding) bool { return f.Code == check.Fallback }) {
		result.Summary.Notes = append(result.Summary.Notes, server+" answers 200 OK for addresses that do not exist, so links to them are warnings, see --fail-on")
	}
	if a.opt.Hints && a.Project.Server == "" {
		if name := NewerSource(a.Project, a.Site); name != "" { // the findings are those of an older state
			result.Summary.Notes = append(result.Summary.Notes, fmt.Sprintf("%s is newer than %s: run %s, or sitelink check --build",
				a.Project.FromRoot(name), a.Project.Docroot, a.Project.BuildCommand(a.Project.Docroot)))
		}
		if err := a.staleHint(ctx, sources, result); err != nil {
			return nil, err
		}
	}
	a.opt.name(result)
	return result, nil
}

// Unlisted writes the findings about links beyond MaxFindings, in the order of pages.
// listed are those of the result. What it writes has no suggestion, source or cause: that
// takes the sources, or all findings at once.
func (a *Audit) Unlisted(ctx context.Context, w io.Writer, listed []check.Finding, render func(dst []byte, f *check.Finding) []byte) error {
	var pages sync.Map // their ids by path: to look up a deep page for each link takes long
	place := func(page string, offset int64) [2]int64 {
		id, ok := pages.Load(page)
		if !ok {
			node, _ := a.Site.Lookup(page)
			id, _ = a.Site.PageOf(node)
			pages.Store(page, id)
		}
		return [2]int64{int64(id.(site.PageID)), offset}
	}
	other := []check.Code{check.ScriptFragment, check.FeedRelative, check.DeadLink, check.Doubtful, check.Moved} // not one for each link, or not of this site
	last := map[check.Verdict][2]int64{}
	for i := range listed {
		f := &listed[i]
		if f.Element+f.Raw == "" || slices.Contains(other, f.Code) {
			continue
		}
		if at, end := place(f.Page, f.Offset), last[f.Verdict]; slices.Compare(at[:], end[:]) > 0 {
			last[f.Verdict] = at
		}
	}
	opt := CheckOptions(a.Project)
	opt.More, opt.Orphans = nil, false
	_, err := check.WriteLinks(ctx, Handle(a.Site), opt, check.Query{}, check.LinkWriter{W: w, Append: func(dst []byte, l *check.Link) []byte {
		if l.Verdict != check.Error && l.Verdict != check.Warning || slices.Contains(other, l.Code) {
			return dst
		}
		if at, end := place(l.Page, l.Offset), last[l.Verdict]; slices.Compare(at[:], end[:]) <= 0 {
			return dst
		}
		f := l.Finding()
		return render(dst, &f)
	}})
	return err
}

// Render appends the text of one link. source is its place in the author's
// sources, nil if it is not a finding or has none; cause is the ID of its cause,
// "" if it is not a finding.
type Render = func(dst []byte, l *check.Link, source *check.Position, cause string) []byte

// Links writes a row for every link of the site. Accepted findings are rows with
// the verdict unchecked. The findings of the result are the faults of files,
// which are not links.
func (a *Audit) Links(ctx context.Context, w io.Writer, render Render) (*check.Result, error) {
	defer a.Close()
	var links knownLinks
	if a.opt.Sources {
		var err error
		if links, err = a.knownLinks(ctx); err != nil {
			return nil, err
		}
	}
	opt, gone, err := a.options(ctx)
	if err != nil {
		return nil, err
	}
	external, err := a.askExternal(ctx, opt)
	if err != nil {
		return nil, err
	}
	answer := external.Answer
	result, err := a.Baseline.links(ctx, a.Site, opt, check.LinkWriter{W: w, Append: func(dst []byte, l *check.Link) []byte {
		k := links.of(l)
		if answer != nil {
			if l.Code != check.External {
				return dst
			}
			known := answer(l)
			row := *l
			known.Give(&row)
			l = &row
		}
		return render(dst, l, k.source, k.cause)
	}})
	if err == nil {
		err = gone.concern(ctx, result, a.opt.warn)
	}
	if err != nil {
		return result, err
	}
	defer a.opt.name(result)
	if answer == nil {
		return result, nil
	}
	result.OnlyExternal()
	counted := check.Result{Summary: result.Summary} // its findings are among the rows
	err = check.AnswerExternal(ctx, Handle(a.Site), opt, &counted, answer)
	result.Summary = counted.Summary
	result.Summary.External = external.Summary
	result.Summary.Notes = append(result.Summary.Notes, external.Notes...)
	result.Summary.Notes = append(result.Summary.Notes, external.hints(a.Project.Docroot)...)
	return result, err
}

// askExternal asks other sites once: a second request would count as a second failure.
func (a *Audit) askExternal(ctx context.Context, opt check.Options) (links *ExternalLinks, err error) {
	if a.external == nil && a.opt.External != nil {
		a.external, err = a.opt.External(ctx, Handle(a.Site), opt, a.Baseline.addresses())
		return a.external, err
	}
	return cmp.Or(a.external, &ExternalLinks{}), nil
}

// maxHints is how many hints a report lists.
const maxHints = 20

// listed returns the hints that the report lists.
func (e *ExternalLinks) listed() []check.Finding { return e.Hints[:min(len(e.Hints), maxHints)] }

// hints returns a note for each hint, with the place of the link.
func (e *ExternalLinks) hints(docroot string) (notes []string) {
	for _, f := range e.listed() {
		at := check.Position{File: path.Join(filepath.ToSlash(docroot), f.Page), Line: f.Line, Column: f.Column}
		if f.Source != nil {
			at = *f.Source
		}
		notes = append(notes, fmt.Sprintf("look at %s, linked from %s:%d:%d: %s", f.Target, at.File, at.Line, at.Column, f.Message))
	}
	if rest := len(e.Hints) - maxHints; rest > 0 {
		notes = append(notes, fmt.Sprintf("and at %s more; the status cache has the hints of all", text.Thousands(rest)))
	}
	return notes
}

// Fails reports whether the findings fail the run at this level of fail-on
// (LL-108).
func Fails(failOn string, r *check.Result) bool {
	switch failOn {
	case "never":
		return false
	case "warning":
		return r.HasErrors() || r.HasWarnings()
	}
	return r.HasErrors()
}

// assets are the extensions of files that pages load and scripts name, and no author
// links to.
var assets = strings.Fields(`.css .scss .less .js .mjs .cjs .map .ts .json .wasm .woff .woff2 .ttf .otf .eot
	.png .jpg .jpeg .gif .svg .webp .avif .ico .bmp .cur .xml .txt .yaml .yml .toml .inv .idx .bin .gz .br .zst`)

// Extras returns what some reports show beside the findings: the pages and
// files that no page leads to.
func (a *Audit) Extras(ctx context.Context) (*report.Extras, error) {
	files, err := check.Orphans(ctx, Handle(a.Site), a.Project.Config.From)
	if err != nil {
		return nil, err
	}
	// Not nil: an empty list says that there is none.
	extras := &report.Extras{Orphans: []string{}, Unreachable: []string{}}
	for _, f := range files {
		switch {
		case f.Alias != "": // stands for an old address, and is meant to have no links
		case !f.IsPage && slices.Contains(assets, strings.ToLower(path.Ext(f.Path))):
		case f.Linked:
			extras.Unreachable = append(extras.Unreachable, f.Path)
		default:
			extras.Orphans = append(extras.Orphans, f.Path)
		}
	}
	return extras, nil
}

// Handle returns the public handle of a site, which package check takes.
func Handle(s *site.Site) *public.Site { return site.Wrap(s).(*public.Site) }
