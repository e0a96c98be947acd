package check

// Difference is what sets two results of one site apart.
type Difference struct {
	// New and Fixed are the findings of the later and of the earlier result
	// that the other does not have, in order.
	New, Fixed []Finding

	// before and after are the findings among which they are: of whole pages.
	before, after []Finding
}

// Compare tells which findings came and which went, by their fingerprints: one
// that only moved on its page is neither. Both must be in the order of
// [Result.Findings]. It costs little where few pages differ.
func Compare(before, after []Finding) Difference {
	if len(before) == 0 {
		return Difference{New: after, after: after}
	}
	before, after = differing(before, after)
	d := Difference{before: before, after: after}
	old, now := Fingerprints(before), Fingerprints(after)
	d.New, d.Fixed = missingFrom(old, after, now), missingFrom(now, before, old)
	return d
}

// Without returns d without the findings that accepted takes, and how many
// errors and warnings it takes of the later result more than of the earlier one.
// accepted is asked for each finding that may differ, with its fingerprint; it
// has to say the same of the same fingerprint, and may change the finding.
func (d Difference) Without(accepted func(id string, f *Finding) bool) (rest Difference, errors, warnings int) {
	old, now := Fingerprints(d.before), Fingerprints(d.after)
	left := func(fs []Finding, ids []string, n int) (out []Finding, outIDs []string) {
		for i, f := range fs {
			switch {
			case !accepted(ids[i], &f):
				out, outIDs = append(out, f), append(outIDs, ids[i])
			case f.Verdict == Error:
				errors += n
			default:
				warnings += n
			}
		}
		return out, outIDs
	}
	rest.before, old = left(d.before, old, -1)
	rest.after, now = left(d.after, now, 1)
	rest.New, rest.Fixed = missingFrom(old, rest.after, now), missingFrom(now, rest.before, old)
	return rest, errors, warnings
}

// differing leaves out the findings of pages on which nothing differs. Those
// that are reported once for a target stay: a fingerprint of theirs does not
// know the page.
func differing(a, b []Finding) (x, y []Finding) {
	for len(a) > 0 || len(b) > 0 {
		var page string
		if len(b) == 0 || len(a) > 0 && a[0].Page <= b[0].Page {
			page = a[0].Page
		} else {
			page = b[0].Page
		}
		i, j := pageEnd(a, page), pageEnd(b, page)
		all := !sameFindings(a[:i], b[:j])
		x, y = pickFindings(x, a[:i], all), pickFindings(y, b[:j], all)
		a, b = a[i:], b[j:]
	}
	return x, y
}

// pageEnd returns how many findings at the start are of that page.
func pageEnd(fs []Finding, page string) int {
	n := 0
	for n < len(fs) && fs[n].Page == page {
		n++
	}
	return n
}

func sameFindings(a, b []Finding) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Offset != b[i].Offset || a[i].Code != b[i].Code || a[i].Target != b[i].Target {
			return false // most differences show here
		}
		x := a[i]
		if x.node = b[i].node; x != b[i] { // nodes have other numbers when names come and go
			return false
		}
	}
	return true
}

func pickFindings(dst, fs []Finding, all bool) []Finding {
	for i := range fs {
		if all || fs[i].Code == ScriptFragment {
			dst = append(dst, fs[i])
		}
	}
	return dst
}

// missingFrom returns the findings, of these fingerprints, that are not in have.
func missingFrom(have []string, fs []Finding, ids []string) []Finding {
	has := make(map[string]bool, len(have))
	for _, id := range have {
		has[id] = true
	}
	var out []Finding
	for i, id := range ids {
		if !has[id] {
			out = append(out, fs[i])
		}
	}
	return out
}
