package report

import (
	"cmp"
	"slices"

	"github.com/sitelink/sitelink/check"
)

// group holds the findings below one heading.
type group struct {
	// label is the page, the target, the code or the owners; "" if a finding
	// has none.
	label string
	// code is set for groups of targets, because a target can be wrong in two
	// ways.
	code check.Code
	// findings are indexes into the findings of the result, in their order.
	findings                []int32
	errors, warnings, links int
	pages                   int
	last                    string // page counted last
}

// targetOf returns what f leads to as one text for headings, "" for a fault of
// a file or an empty link.
func targetOf(f *check.Finding) string {
	switch {
	case f.Target == "":
		return f.Raw // it is not a URL
	case f.Fragment != "" && (f.Code == check.MissingFragment || f.Code == check.MissingMap):
		return f.Target + "#" + f.Fragment
	}
	return f.Target
}

// groupFindings returns the findings below the headings that opt selects.
func groupFindings(findings []check.Finding, opt *Options) []*group {
	type key struct {
		label string
		code  check.Code
	}
	byKey := map[key]*group{}
	var groups []*group
	owners := map[string]string{}
	for i := range findings {
		f := &findings[i]
		var k key
		switch opt.GroupBy {
		case GroupTarget:
			k = key{targetOf(f), f.Code}
		case GroupCode:
			k.label = string(f.Code)
		case GroupOwner:
			k.label = opt.ownerOf(f, owners)
		default:
			k.label = f.Page
		}
		g := byKey[k]
		if g == nil {
			g = &group{label: k.label, code: k.code}
			byKey[k] = g
			groups = append(groups, g)
		}
		g.add(int32(i), f)
	}
	switch opt.GroupBy {
	case GroupTarget:
		slices.SortStableFunc(groups, func(a, b *group) int {
			return cmp.Or(bySeverity(a, b), lastIf(a.label == "", b.label == ""), cmp.Compare(b.pages, a.pages), cmp.Compare(b.links, a.links),
				cmp.Compare(a.label, b.label), cmp.Compare(a.code, b.code))
		})
	case GroupCode:
		slices.SortStableFunc(groups, func(a, b *group) int {
			return cmp.Or(bySeverity(a, b), cmp.Compare(len(b.findings), len(a.findings)), cmp.Compare(a.label, b.label))
		})
	case GroupOwner:
		slices.SortStableFunc(groups, func(a, b *group) int {
			return cmp.Or(lastIf(a.label == "", b.label == ""), cmp.Compare(len(b.findings), len(a.findings)), cmp.Compare(a.label, b.label))
		})
	}
	return groups
}

func (g *group) add(i int32, f *check.Finding) {
	g.findings = append(g.findings, i)
	g.links += max(1, f.Count)
	if f.Verdict == check.Error {
		g.errors++
	} else {
		g.warnings++
	}
	if g.pages == 0 || g.last != f.Page { // findings come sorted by page
		g.pages++
		g.last = f.Page
	}
}

// ownerOf returns the owners of f. seen caches them by file, because there are
// far fewer files than findings.
func (o *Options) ownerOf(f *check.Finding, seen map[string]string) string {
	if o.Owners == nil {
		return ""
	}
	file, _, _ := o.filePosition(f)
	owner, ok := seen[file]
	if !ok {
		owner = o.Owners(file)
		seen[file] = owner
	}
	return owner
}

// bySeverity sorts groups with an error first.
func bySeverity(a, b *group) int { return lastIf(a.errors == 0, b.errors == 0) }

// lastIf sorts what is true after what is false.
func lastIf(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
