package check

// Difference is what sets two results of one site apart.
type Difference struct {
	// New and Fixed are the findings of the later and of the earlier result
	// that the other does not have, in order.
	New, Fixed []Finding
}

// Compare tells which findings came and which went, by their fingerprints: one
// that only moved on its page is neither. Both must be in the order of
// [Result.Findings]. It costs little where few pages differ.
func Compare(before, after []Finding) Difference {
	if len(before) == 0 {
		return Difference{New: after}
	}
	before, after = differing(before, after)
	old, now := Fingerprints(before), Fingerprints(after)
	return Difference{New: missingFrom(old, after, now), Fixed: missingFrom(now, before, old)}
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
