package check

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"

	isite "github.com/sitelink/sitelink/internal/site"
)

// MaxFindings keeps the first errors, then the first warnings, and changes no count.
// That holds for any number of workers, and within one page.
func TestMaxFindings(t *testing.T) {
	site := files{}
	for i := range 40 {
		var p strings.Builder
		p.WriteString(plain)
		for k := range i % 5 {
			fmt.Fprintf(&p, "<a href=gone%d>x</a><a href='../p00.html?%d'>y</a>\n", k, k)
		}
		site[fmt.Sprintf("p%02d.html", i)] = p.String()
	}
	s := load(t, tempDocroot(t, site), isite.Options{})
	for _, rules := range [][]Ignore{nil, {{URL: "gone2", Origin: "x"}}} {
		all := run(t, s, Options{Ignore: rules})
		var errors, warnings []Finding
		for _, f := range all.Findings {
			if f.Verdict == Error {
				errors = append(errors, f)
			} else {
				warnings = append(warnings, f)
			}
		}
		if len(errors) < 50 || len(warnings) < 50 {
			t.Fatalf("%d errors, %d warnings", len(errors), len(warnings))
		}
		for _, most := range []int{1, 2, 7, len(errors) - 1, len(errors), len(errors) + 3, len(all.Findings) - 1, len(all.Findings), 1 << 20} {
			want := slices.Clone(errors[:min(most, len(errors))])
			want = append(want, warnings[:min(most-len(want), len(warnings))]...)
			slices.SortFunc(want, compareFindings)
			for _, jobs := range []int{1, 4} {
				got := run(t, s, Options{Ignore: rules, MaxFindings: most, Jobs: jobs})
				if !slices.Equal(got.Findings, want) {
					t.Errorf("at most %d findings, %d workers: %v\nwant %v", most, jobs, briefs(got.Findings), briefs(want))
				}
				sum := got.Summary
				beyond := max(0, len(errors)-most)
				if sum.UnlistedErrors != beyond || sum.UnlistedWarnings != len(all.Findings)-len(want)-beyond {
					t.Errorf("at most %d findings: %d errors and %d warnings are unlisted, want %d and %d", most, sum.UnlistedErrors, sum.UnlistedWarnings,
						beyond, len(all.Findings)-len(want)-beyond)
				}
				if sum.UnlistedErrors, sum.UnlistedWarnings = 0, 0; fmt.Sprint(sum) != fmt.Sprint(all.Summary) {
					t.Errorf("at most %d findings: the summary is\n%+v\nwant\n%+v", most, sum, all.Summary)
				}
			}
		}
	}
}

// The bad links beyond MaxFindings are counted, not kept. The findings depend neither on
// the number of workers nor on the number of links, and a check of 300,000 broken links
// keeps no more than a check of 3,000.
func TestMaxFindingsMemory(t *testing.T) {
	testkit.Long(t)
	const most = 1000
	site := files{}
	for p := range 10 {
		site[fmt.Sprintf("p%02d.html", p)] = plain + strings.Repeat("<a href=gone>x</a>\n", 10_000)
	}
	s := load(t, tempDocroot(t, site), isite.Options{})
	for _, jobs := range []int{1, 4} {
		opt := Options{MaxFindings: most, Jobs: jobs}
		j := testkit.Must(judgeLinks(t.Context(), s, opt))(t)
		kept := 0
		for _, bad := range j.bad {
			kept += len(bad)
		}
		if kept != most || j.summary.Errors != 100_000 || j.summary.UnlistedErrors != 100_000-most {
			t.Errorf("%d workers: %d links are kept of %d errors, of which %d are unlisted", jobs, kept, j.summary.Errors, j.summary.UnlistedErrors)
		}
	}
}

// TestSpill: workers hand over parts of what is large, and all of it is in the order of
// the numbers.
func TestSpill(t *testing.T) {
	var got []byte
	largest := 0
	seq := newSequence(func(part []byte) error {
		got, largest = append(got, part...), max(largest, len(part))
		return nil
	})
	const tasks, chunk, chunks = 8, 300_000, 10
	var workers sync.WaitGroup
	for i := range tasks {
		workers.Go(func() {
			buf, err := seq.buffer(t.Context(), i)
			for range chunks {
				if err == nil {
					buf, err = seq.spill(t.Context(), i, append(buf, bytes.Repeat([]byte{'a' + byte(i)}, chunk)...))
				}
			}
			if err := errors.Join(err, seq.put(i, buf)); err != nil {
				t.Error(err)
			}
		})
	}
	workers.Wait()
	var want []byte
	for i := range tasks {
		want = append(want, bytes.Repeat([]byte{'a' + byte(i)}, chunk*chunks)...)
	}
	if !bytes.Equal(got, want) || largest > seq.much+chunk {
		t.Errorf("%d bytes in parts of at most %d, want %d", len(got), largest, len(want))
	}
}

// The search for suggestions is bounded: what most links ask for comes first, a note says
// what is left, and the number of workers changes nothing.
func TestSuggestionsAreBounded(t *testing.T) {
	site := files{"guide/start.html": plain}
	for i := range 40 {
		for k := range 40 {
			site["a"+strings.Repeat("-", i)+"b/a"+strings.Repeat("-", k)+"b.html"] = ""
		}
	}
	var p strings.Builder
	p.WriteString(plain)
	for i := range 300 {
		fmt.Fprintf(&p, "<a href='/A_B/A_B.html?%d'>x</a>\n", i)
	}
	p.WriteString(strings.Repeat("<a href=/gide/start.html>x</a>\n", 301))
	site["index.html"] = p.String()
	s := load(t, tempDocroot(t, site), isite.Options{})
	var before string
	for _, jobs := range []int{1, 4} {
		got := run(t, s, Options{Jobs: jobs})
		suggested, first := 0, 0
		for _, f := range got.Findings {
			if f.Suggestion == "/guide/start.html" {
				first++
			} else if f.Suggestion != "" {
				suggested++
			}
		}
		note := strings.Join(got.Summary.Notes, "\n")
		if first != 301 || suggested != 0 || !strings.Contains(note, " findings may lack a suggestion: this site has so many similar names") {
			t.Errorf("%d workers: %d and %d suggestions, notes %q", jobs, first, suggested, note)
		}
		if before != "" && note != before {
			t.Errorf("%d workers: %q, not %q", jobs, note, before)
		}
		before = note
	}
}

// The same for ids of one page.
func TestSuggestedIdsAreBounded(t *testing.T) {
	var p strings.Builder
	p.WriteString(plain)
	for i := range 4000 {
		fmt.Fprintf(&p, "<p id=name-of-section-%d><a href=#title-of-part-%d>x</a>\n", i, i)
	}
	p.WriteString(strings.Repeat("<a href=#nmae-of-section-7>x</a>\n", 2))
	got := run(t, load(t, tempDocroot(t, files{"index.html": p.String()}), isite.Options{}), Options{})
	if last := got.Findings[len(got.Findings)-1]; last.Suggestion != "#name-of-section-7" || !strings.Contains(strings.Join(got.Summary.Notes, "\n"), "may lack a suggestion") {
		t.Errorf("the last of %d has %q; notes %q", len(got.Findings), last.Suggestion, got.Summary.Notes)
	}
}

// A long target takes the place of several findings.
func TestLongTargetsTakeMore(t *testing.T) {
	var p strings.Builder
	p.WriteString(plain)
	for i := range 100 {
		fmt.Fprintf(&p, "<a href=%s%d>x</a>\n", strings.Repeat("long/", 200), i)
	}
	got := run(t, load(t, tempDocroot(t, files{"index.html": p.String()}), isite.Options{}), Options{MaxFindings: 100})
	if len(got.Findings) != 25 || got.Summary.UnlistedErrors != 75 || got.Summary.Errors != 100 {
		t.Errorf("of %d errors, %d are listed and %d not", got.Summary.Errors, len(got.Findings), got.Summary.UnlistedErrors)
	}
}

// What could be the base path is looked up for so many bytes of addresses: a target may
// have thousands of slashes.
func TestBaseLookupsAreBounded(t *testing.T) {
	s := load(t, tempDocroot(t, files{"index.html": plain, "x.html": plain}), isite.Options{})
	room := 100
	if base := baseOf(s, "/manual/x.html", &room); base != "/manual" || room != 86 {
		t.Errorf("%q, and %d bytes are left", base, room)
	}
	if base := baseOf(s, strings.Repeat("/manual", 20)+"/x.html", &room); base != "" || room >= 0 {
		t.Errorf("%q, and %d bytes are left", base, room)
	}
}
