// Package check judges every link of a loaded site. A *isite.Site and options
// enter, findings leave; it reads pages again only for what it reports, and
// writes nothing.
package check

import (
	"cmp"
	"context"
	"slices"
	"strings"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// Run judges every link of s and returns the findings, sorted by page, offset
// and code. Broken links are no error: an error means that the work could not
// be done, or that ctx was cancelled (its cause).
func Run(ctx context.Context, s *site.Site, opt Options) (*Result, error) {
	return checkSite(ctx, isite.Unwrap(s), opt)
}

func checkSite(ctx context.Context, s *isite.Site, opt Options) (*Result, error) {
	ignore, err := compileIgnores(opt.Ignore)
	if err != nil {
		return nil, err
	}
	if opt.scope, err = scopeOf(ctx, s, opt); err != nil {
		return nil, err
	}
	t, err := takeStock(ctx, s, opt)
	if err != nil {
		return nil, err
	}
	found, err := describe(ctx, s, opt, t)
	if err != nil {
		return nil, err
	}
	return conclude(ctx, s, opt, ignore, t, found)
}

// conclude makes the result of what was found about links, which it takes over.
func conclude(ctx context.Context, s *isite.Site, opt Options, ignore *ignores, t *stock, found []Finding) (*Result, error) {
	faults, err := siteFindings(ctx, s, opt)
	if err != nil {
		return nil, err
	}
	sum := &t.summary
	r := &Result{Findings: merge(found, faults)}
	if len(ignore.rules) > 0 {
		r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool {
			ignored := ignore.match(&f)
			if ignored {
				forget(sum, &f)
			}
			return ignored
		})
	}
	count(sum, r.Findings)
	sum.UnusedIgnores = ignore.unused()
	r.scripts = reportsScripts(sum, opt)
	r.Summary = *sum
	return r, nil
}

// merge sorts findings. Those of all, which may have room for more, are sorted
// as a rule: sorting them again would take as long as finding them.
func merge(all, more []Finding) []Finding {
	if !slices.IsSortedFunc(all, compareFindings) {
		slices.SortFunc(all, compareFindings)
	}
	slices.SortFunc(more, compareFindings)
	i, j := len(all), len(more)
	all = append(all, more...)
	for k := len(all) - 1; j > 0; k-- {
		if i > 0 && compareFindings(all[i-1], more[j-1]) > 0 {
			i--
			all[k] = all[i]
		} else {
			j--
			all[k] = more[j]
		}
	}
	return all
}

// reportsScripts tells whether fragments that only scripts can serve are left
// to warn of.
func reportsScripts(sum *Summary, opt Options) bool {
	return opt.ScriptFragments == ScriptWarn &&
		slices.ContainsFunc(sum.Reasons, func(r Reason) bool { return r.Code == ScriptFragment })
}

func compareFindings(a, b Finding) int {
	if c := strings.Compare(a.Page, b.Page); c != 0 || a.Offset != b.Offset {
		return cmp.Or(c, cmp.Compare(a.Offset, b.Offset))
	}
	return cmp.Or(strings.Compare(string(a.Code), string(b.Code)),
		strings.Compare(a.Target, b.Target), strings.Compare(a.Fragment, b.Fragment),
		cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Message, b.Message))
}

// forget takes an ignored finding out of the counts of links.
func forget(sum *Summary, f *Finding) {
	if isFileFault(f) {
		return // faults of files are counted afterwards
	}
	n := max(f.Count, 1)
	sum.Ignored += n
	switch {
	case f.Code == ScriptFragment:
		sum.Unchecked -= n
		addReason(sum, ScriptFragment, -n)
	case f.Verdict == Error:
		sum.Errors -= n
	case f.Verdict == Warning:
		sum.Warnings -= n
	}
}

// count adds the faults of files to the summary.
func count(sum *Summary, fs []Finding) {
	for i := range fs {
		f := &fs[i]
		if !isFileFault(f) {
			continue
		}
		if f.Verdict == Error {
			sum.FileErrors++
		} else {
			sum.FileWarnings++
		}
	}
}
