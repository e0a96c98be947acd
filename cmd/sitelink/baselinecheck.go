package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/check/baseline"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/site"
)

// acceptance is what `sitelink check` has been told to accept. nil accepts
// nothing.
type acceptance struct {
	name  string // of all sources, for the report
	list  *baseline.Baseline
	today baseline.Date
	seen  func(*baseline.Entry) bool
	// fixed: the list is not a file that the user can change now.
	fixed bool
	// before holds the fingerprints of the other build.
	before map[string]bool
	// places are the accepted findings, for the rows of --show all.
	places map[place]bool
}

// place is what tells two findings of a run apart.
type place struct {
	page   string
	offset int64
	code   check.Code
}

// acceptance reads what the configuration names. The other build is checked
// here, before the site is loaded: one site at a time is in memory.
func (a *app) acceptance(ctx context.Context, cfg *config.Config) (*acceptance, error) {
	if cfg.Baseline == "" && cfg.BaselineRef == "" && cfg.BaselineDocroot == "" {
		return nil, nil
	}
	acc := &acceptance{list: &baseline.Baseline{}, seen: seenBy(cfg)}
	var err error
	if acc.today, err = a.today(); err != nil {
		return nil, err
	}
	switch {
	case cfg.BaselineRef != "":
		acc.name, acc.fixed = baselineFile(cfg)+" at "+cfg.BaselineRef, true
		var missing bool
		if acc.list, missing, err = baselineAt(ctx, cfg.BaselineRef, baselineFile(cfg)); err != nil {
			return nil, err
		}
		if missing {
			a.ui.warning(fmt.Sprintf("no baseline %s: all findings are reported", acc.name))
		}
	case cfg.Baseline != "":
		acc.name = cfg.Baseline
		if acc.list, err = openBaseline(cfg.Baseline); err != nil {
			return nil, err
		}
	}
	if cfg.BaselineDocroot == "" {
		return acc, nil
	}
	if acc.name != "" {
		acc.name += ", "
	}
	acc.name += cfg.BaselineDocroot
	acc.before, err = a.fingerprintsOf(ctx, cfg.BaselineDocroot, cfg)
	return acc, err
}

// fingerprintsOf checks another build of the site by the same rules.
func (a *app) fingerprintsOf(ctx context.Context, docroot string, cfg *config.Config) (map[string]bool, error) {
	if err := lookAt(docroot); err != nil {
		return nil, err
	}
	s, err := loadSite(ctx, docroot, a.siteOf(cfg, docroot))
	if err != nil {
		return nil, explain(err)
	}
	result, err := check.Run(ctx, handle(s), checkOptions(cfg))
	if err != nil {
		return nil, err
	}
	before := make(map[string]bool, len(result.Findings))
	for _, id := range check.Fingerprints(result.Findings) {
		before[id] = true
	}
	return before, nil
}

// seenBy tells which entries a run with this configuration could have found.
func seenBy(cfg *config.Config) func(*baseline.Entry) bool {
	opt := checkOptions(cfg)
	part := len(opt.From) > 0 || len(opt.Skip) > 0 || opt.Limit > 0 // of the site
	return func(e *baseline.Entry) bool {
		switch e.Code {
		case check.MissingFragment, check.MissingMap:
			return !part && !opt.NoFragments
		case check.ScriptFragment:
			return !part && !opt.NoFragments && opt.ScriptFragments != check.ScriptSilent
		case check.Orphan, check.Unreachable:
			return !part && opt.Orphans
		}
		if strings.HasPrefix(string(e.Code), "endpoint-") {
			return !part && opt.More != nil
		}
		return !part
	}
}

// apply takes what is accepted out of a result.
func (acc *acceptance) apply(r *check.Result) {
	if acc == nil {
		return
	}
	m := acc.list.Match(r.Findings, acc.today, acc.seen)
	sum := &check.BaselineSummary{Name: acc.name}
	if !acc.fixed {
		for _, e := range m.Unneeded {
			sum.Unneeded = append(sum.Unneeded, fmt.Sprintf("%s:%d: %s", acc.name, e.Line, &e))
		}
	}
	for i, id := range m.IDs {
		f := &r.Findings[i]
		switch e := m.Expired[i]; {
		case acc.before[id]:
			m.Accepted[i] = true
		case e != nil:
			sum.Expired++
			sayExpired(f, e)
		}
		if m.Accepted[i] && acc.places != nil && f.Code != check.ScriptFragment {
			acc.places[place{f.Page, f.Offset, f.Code}] = true
		}
	}
	r.Summary.Baseline = sum
	r.Accept(m.Accepted)
}

// sayExpired adds to a finding that it was accepted once.
func sayExpired(f *check.Finding, e *baseline.Entry) {
	f.Message += "; the baseline accepted it until " + string(e.Expires)
	if e.Reason != "" {
		f.Message += " (" + e.Reason + ")"
	}
}

// links is [check.WriteLinks] with the rows and the result that are left when the
// accepted findings have been taken out. A finding is known by its number among
// its equals, so that all are found before the first row is written.
func (acc *acceptance) links(ctx context.Context, s *site.Site, opt check.Options, w check.LinkWriter) (*check.Result, error) {
	if acc == nil {
		return check.WriteLinks(ctx, handle(s), opt, check.Query{}, w)
	}
	acc.places = map[place]bool{}
	result, err := check.Run(ctx, handle(s), opt)
	if err != nil {
		return nil, err
	}
	acc.apply(result)
	render := w.Append
	w.Append = func(dst []byte, l *check.Link) []byte {
		if acc.places[place{l.Page, l.Offset, l.Code}] {
			l.Verdict, l.Code, l.Message = check.Unchecked, check.AcceptedByBaseline, ""
		}
		return render(dst, l)
	}
	rest, err := check.WriteLinks(ctx, handle(s), opt, check.Query{}, w)
	if err != nil {
		return nil, err
	}
	// The findings of rest are the faults of files.
	result.Findings = rest.Findings[:0]
	for _, f := range rest.Findings {
		if !acc.places[place{f.Page, f.Offset, f.Code}] {
			result.Findings = append(result.Findings, f)
		}
	}
	return result, nil
}

// warnUnneeded names the entries that serve no more, for reports that have no
// summary to do so.
func (a *app) warnUnneeded(b *check.BaselineSummary) {
	if b == nil {
		return
	}
	for _, entry := range b.Unneeded[:min(len(b.Unneeded), report.MaxUnneeded)] {
		a.ui.warning("baseline entry no longer needed: " + entry)
	}
	if rest := len(b.Unneeded) - report.MaxUnneeded; rest > 0 {
		a.ui.warning(fmt.Sprintf("and %s more; sitelink baseline update drops them", thousands(rest)))
	}
}
