package check

import "slices"

// judged is what was found of a page: its links and the file itself.
type judged struct {
	bad []badLink
	// links and faults are what was said of them, listed what of both is told:
	// no rule ignores it.
	links, faults, listed []Finding
	// fine counts bad links that turned out to be none.
	fine int
	// gone: the page could not be read again; its links are not known.
	gone bool
}

// example is what was said of the fragments of a page that only scripts serve.
type example struct {
	scriptTarget
	finding []Finding // one, or none when the page of the example is gone
	listed  []Finding
}

// account adds up what was told.
type account struct {
	ignore *ignores
	// sum holds what findings add to a summary, but for reasons.
	sum     Summary
	reasons map[Code]int
	// broken and doubtful count the findings by verdict.
	broken, doubtful int
}

// enter adds what was found of a page and sets what is listed of it.
func (a *account) enter(p *judged) {
	a.add(p, 1)
	all := p.links
	if len(p.faults) > 0 {
		all = slices.Concat(p.links, p.faults)
		slices.SortFunc(all, compareFindings)
	}
	p.listed = a.list(all, 1)
}

// leave takes it out again.
func (a *account) leave(p *judged) {
	a.add(p, -1)
	a.list(p.links, -1)
	a.list(p.faults, -1)
}

// add counts the links of a page n times.
func (a *account) add(p *judged, n int) {
	if p.gone { // nobody knows whether they are still there
		a.reasons[Changed] += n * len(p.bad)
		return
	}
	for _, b := range p.bad {
		if b.why.judgement().verdict == Error {
			a.sum.Errors += n
		} else {
			a.sum.Warnings += n
		}
	}
	a.sum.Errors -= n * p.fine
	a.sum.OK += n * p.fine
}

// list adds findings n times and returns those that no rule ignores.
func (a *account) list(fs []Finding, n int) []Finding {
	if len(a.ignore.rules) > 0 {
		fs = slices.DeleteFunc(slices.Clone(fs), func(f Finding) bool {
			ignored := a.ignore.count(&f, n)
			if ignored {
				a.forget(&f, n)
			}
			return ignored
		})
	}
	for i := range fs {
		f := &fs[i]
		isError := f.Verdict == Error
		if isError {
			a.broken += n
		} else {
			a.doubtful += n
		}
		switch {
		case !isFileFault(f):
		case isError:
			a.sum.FileErrors += n
		default:
			a.sum.FileWarnings += n
		}
	}
	return fs
}

// forget takes an ignored finding out of the counts of links n times.
func (a *account) forget(f *Finding, n int) {
	if isFileFault(f) {
		return
	}
	n *= max(f.Count, 1)
	a.sum.Ignored += n
	switch {
	case f.Code == ScriptFragment:
		a.reasons[ScriptFragment] -= n
	case f.Verdict == Error:
		a.sum.Errors -= n
	case f.Verdict == Warning:
		a.sum.Warnings -= n
	}
}

// difference collects what is told otherwise than before.
type difference struct{ before, after []Finding }

func (d *difference) add(before, after []Finding) {
	if d != nil && !sameFindings(before, after) {
		d.before, d.after = append(d.before, before...), append(d.after, after...)
	}
}

func (d *difference) compare() Difference {
	slices.SortFunc(d.before, compareFindings)
	slices.SortFunc(d.after, compareFindings)
	return Compare(d.before, d.after)
}
