package check

import "slices"

// Baseline tells what a list of accepted findings did to a run.
type Baseline struct {
	// Name says where the list came from, for messages.
	Name string
	// Links is the number of links whose findings were accepted; no other
	// count of the summary holds them. Faults is the number of accepted faults
	// of files.
	Links, Faults int
	// Expired is the number of findings that are reported although they stand
	// in the list: their date has passed.
	Expired int
	// Unneeded names the entries that no finding needs any more.
	Unneeded []string
}

// Accept takes the findings out of r whose place in accepted is true, and
// counts them in Summary.Baseline, which must be set, in place of the counts
// that held them. accepted is as long as r.Findings. The order of the others
// stays.
func (r *Result) Accept(accepted []bool) {
	sum := &r.Summary
	left := r.Findings[:0]
	for i := range r.Findings {
		if accepted[i] {
			sum.accept(&r.Findings[i])
		} else {
			left = append(left, r.Findings[i])
		}
	}
	clear(r.Findings[len(left):])
	r.Findings = left
	r.scripts = r.scripts && slices.ContainsFunc(sum.Reasons, func(s Reason) bool { return s.Code == ScriptFragment })
}

// accept moves one finding from its own count to that of the baseline.
func (s *Summary) accept(f *Finding) {
	n := max(f.Count, 1)
	switch {
	case isFileFault(f):
		s.Baseline.Faults++
		if f.Verdict == Error {
			s.FileErrors--
		} else {
			s.FileWarnings--
		}
		return
	case f.Code == ScriptFragment:
		s.Unchecked -= n
		addReason(s, ScriptFragment, -n)
	case f.Verdict == Error:
		s.Errors -= n
	case f.Verdict == Warning:
		s.Warnings -= n
	}
	s.Baseline.Links += n
}
