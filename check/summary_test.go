package check

import (
	"slices"
	"testing"
)

// TestAccept: whichever findings are accepted, the counts add up, the remaining
// findings keep their order, and accepted findings do not fail the run.
func TestAccept(t *testing.T) {
	for _, x := range append(slices.Clone(fixtures),
		fixture{name: "script", files: asking(readsHash, routes(12)...)}, fixture{name: "script_and_bad", files: asking(readsHash, append(routes(12), "m1")...)}) {
		if x.change != nil || x.make != nil {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			s := x.load(t)
			for _, accept := range []func(i int) bool{
				func(int) bool { return false }, func(int) bool { return true }, func(i int) bool { return i%2 == 0 },
			} {
				r := run(t, s, x.opt)
				before := slices.Clone(r.Findings)
				var left []Finding
				mask := make([]bool, len(before))
				links, faults := 0, 0
				for i, f := range before {
					switch mask[i] = accept(i); {
					case !mask[i]:
						left = append(left, f)
					case isFileFault(&f):
						faults++
					default:
						links += f.Count
					}
				}
				r.Summary.Baseline = &BaselineSummary{}
				r.Accept(mask)
				addsUp(t, &r.Summary)
				if got, want := briefs(r.Findings), briefs(left); !slices.Equal(got, want) {
					t.Errorf("left\n\t%q\nwant\n\t%q", got, want)
				}
				if b := r.Summary.Baseline; b.Links != links || b.Faults != faults {
					t.Errorf("accepted %d links and %d faults, want %d and %d", b.Links, b.Faults, links, faults)
				}
				has := func(v Verdict) bool {
					return slices.ContainsFunc(left, func(f Finding) bool { return f.Verdict == v })
				}
				if r.HasErrors() != has(Error) || r.HasWarnings() != has(Warning) {
					t.Errorf("errors %v, warnings %v; left are %q", r.HasErrors(), r.HasWarnings(), briefs(left))
				}
			}
		})
	}
}

// TestAcceptRules: a fault of a redirect rule is identified by the rule, not by
// its line in the file.
func TestAcceptRules(t *testing.T) {
	prints := func(rules string) []string {
		s := load(t, tempDocroot(t, files{"p.html": plain}), ruled(rules))
		r := run(t, s, Options{})
		if !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Page == "_redirects" }) {
			t.Fatalf("not a fault of a rule: %q", briefs(r.Findings))
		}
		return Fingerprints(r.Findings)
	}
	both := prints("/a /gone-a 301\n/b /gone-b 301\n")
	second := prints("# a comment\n\n/b /gone-b 301\n")
	other := prints("/a /gone-a 301\n/c /gone-c 301\n")
	if len(both) != 2 || !slices.Equal(second, both[1:]) {
		t.Errorf("both rules %q, the second alone %q", both, second)
	}
	if len(other) != 2 || other[0] != both[0] || other[1] == both[1] {
		t.Errorf("rules a and b %q, a and c %q", both, other)
	}
}
