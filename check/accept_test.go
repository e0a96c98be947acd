package check

import (
	"slices"
	"testing"
)

// TestIssue4Item5Accept: whatever part of the findings is accepted, the counts
// add up, what is left keeps its order, and nothing of what was accepted fails
// the run.
func TestIssue4Item5Accept(t *testing.T) {
	for _, x := range append(slices.Clone(fixtures),
		fixture{name: "script", files: asking(script, 1, 12)}, fixture{name: "script_and_bad", files: asking(script, 3, 12)}) {
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
					case isFileFault(f.Code):
						faults++
					default:
						links += f.Count
					}
				}
				r.Summary.Baseline = &Baseline{}
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
