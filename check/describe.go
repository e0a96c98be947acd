package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	isite "github.com/sitelink/sitelink/internal/site"
)

// describe reads the pages of all bad links again and says what is wrong with
// each. Its findings are not sorted. A link whose fragment turns out to name
// an a element of a quirks mode page in other letter case is fine after all.
func describe(ctx context.Context, s *isite.Site, opt Options, t *stock) ([]Finding, error) {
	examples := map[isite.PageID][]scriptTarget{}
	if opt.ScriptFragments == ScriptWarn {
		for _, st := range t.scripts {
			examples[st.example.page] = append(examples[st.example.page], st)
		}
	}
	pages := pagesOf(t.bad, examples)
	// Each page has its part of one slice: there may be millions of findings.
	starts := make([]int, len(pages)+1)
	for i, id := range pages {
		starts[i+1] = starts[i] + len(t.bad[id]) + len(examples[id])
	}
	all := make([]Finding, starts[len(pages)], starts[len(pages)]+spareFindings)
	opt.Memo.forget(s)
	ends := make([]int, len(pages))
	parts := make([]described, len(pages))
	var fine atomic.Int64
	gone := make([]bool, len(pages)) // changed meanwhile
	err := readersWith(ctx, s, opt, len(pages), func() *messageCache { return &messageCache{s: s} }, func(r *isite.Reader, messages *messageCache, i int) error {
		id := pages[i]
		part := all[starts[i]:starts[i]:starts[i+1]]
		bad, scripts := t.bad[id], examples[id]
		if d, ok := opt.Memo.find(id, bad, scripts); ok {
			fine.Add(int64(d.fine))
			parts[i], ends[i] = d, starts[i]+copy(all[starts[i]:], d.findings)
			return nil
		}
		want := make([]uint32, 0, len(bad)+len(scripts))
		for _, b := range bad {
			want = append(want, b.link)
		}
		for _, st := range scripts {
			want = append(want, st.example.link)
		}
		slices.Sort(want)
		fineHere := 0
		messages.open(id)
		err := r.Details(id, want, func(link int, d *isite.Detail) {
			for len(bad) > 0 && bad[0].link == uint32(link) {
				if bad[0].why == causeFragment && foundFolded(s, d) {
					fineHere++
				} else {
					part = append(part, messages.describe(d, judge(s, id, bad[0])))
				}
				bad = bad[1:]
			}
			for _, st := range scripts {
				if st.example.link == uint32(link) {
					part = append(part, scriptFinding(s, messages.path, d, st))
				}
			}
		})
		if err != nil {
			part = append(part[:0], changed(s, id, err))
			gone[i], fineHere = true, 0
		}
		fine.Add(int64(fineHere))
		ends[i] = starts[i] + len(part)
		parts[i] = described{bad: t.bad[id], scripts: scripts, fine: fineHere}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.summary.Errors -= int(fine.Load())
	t.summary.OK += int(fine.Load())
	for i, id := range pages {
		if gone[i] {
			t.summary.lose(s, id, t.bad[id])
		}
	}
	n := 0
	var fresh [][]Finding
	for i := range pages {
		if n != starts[i] {
			copy(all[n:], all[starts[i]:ends[i]])
		}
		starts[i], n = n, n+ends[i]-starts[i]
		if parts[i].findings == nil {
			fresh = append(fresh, all[starts[i]:n])
		}
	}
	clear(all[n:])
	all = all[:n]
	if err := suggest(ctx, s, opt, fresh); err != nil {
		return nil, err
	}
	if opt.Memo != nil {
		m := Memo{s.Generation(), t.total, make(map[isite.PageID]described, len(pages))}
		starts[len(pages)] = n
		for i, id := range pages {
			if gone[i] {
				continue
			}
			if parts[i].findings == nil {
				parts[i].findings = append([]Finding{}, all[starts[i]:starts[i+1]]...)
			}
			m.pages[id] = parts[i]
		}
		*opt.Memo = m
	}
	return all, nil
}

// spareFindings is room for those that come from elsewhere, see merge.
const spareFindings = 256

// lose takes the bad links of a page that changed out of the counts: they are
// not listed, and nobody knows whether they are still there.
func (sum *Summary) lose(s *isite.Site, id isite.PageID, bad []badLink) {
	for _, b := range bad {
		if judge(s, id, b).verdict == Error {
			sum.Errors--
		} else {
			sum.Warnings--
		}
	}
	if len(bad) > 0 {
		sum.Unchecked += len(bad)
		addReason(sum, Changed, len(bad))
	}
}

// pagesOf returns the pages of both maps, in order.
func pagesOf(bad map[isite.PageID][]badLink, examples map[isite.PageID][]scriptTarget) []isite.PageID {
	pages := slices.Collect(maps.Keys(bad))
	for id := range examples {
		if _, ok := bad[id]; !ok {
			pages = append(pages, id)
		}
	}
	slices.Sort(pages)
	return pages
}

// foundFolded tells whether a missing fragment is found as browsers compare
// names in quirks mode.
func foundFolded(s *isite.Site, d *isite.Detail) bool {
	target, ok := s.PageOf(d.Node)
	return ok && s.HasFolded(target, d.Fragment)
}

// readers runs n tasks through workers that each have a reader.
func readers(ctx context.Context, s *isite.Site, opt Options, n int, task func(r *isite.Reader, i int) error) error {
	return readersWith(ctx, s, opt, n, func() struct{} { return struct{}{} }, func(r *isite.Reader, _ struct{}, i int) error { return task(r, i) })
}

// readersWith is readers for workers that have something else of their own.
func readersWith[T any](ctx context.Context, s *isite.Site, opt Options, n int, own func() T, task func(r *isite.Reader, own T, i int) error) error {
	if n == 0 {
		return nil
	}
	return eachTask(ctx, n, jobs(opt, n), func(int) (func(int) error, func(), error) {
		r, err := s.NewReader()
		if err != nil {
			return nil, nil, err
		}
		own := own()
		return func(i int) error { return task(r, own, i) }, r.Close, nil
	})
}

// changed reports a page that could not be read a second time.
func changed(s *isite.Site, id isite.PageID, err error) Finding {
	f := Finding{Page: s.Path(id), Verdict: Error, Code: ReadError, Count: 1, Message: "cannot be read again: " + err.Error()}
	if errors.Is(err, isite.ErrChanged) {
		f.Code, f.Message = Changed, "the file changed while it was checked; check again"
	}
	return f
}

// finding describes one link, message included.
func finding(s *isite.Site, page string, d *isite.Detail, j judgement) Finding {
	l := linkOf(s, page, d, j)
	l.Message = message(s, d, &l)
	f := l.Finding()
	f.own()
	return f
}

// own gives a finding strings of its own: those of a detail last only until
// the next page is read.
func (f *Finding) own() {
	f.Raw, f.Fragment = strings.Clone(f.Raw), strings.Clone(f.Fragment)
}

// scriptFinding reports, once for its target page, the fragments that only
// scripts can serve.
func scriptFinding(s *isite.Site, page string, d *isite.Detail, st scriptTarget) Finding {
	l := linkOf(s, page, d, judgement{Warning, ScriptFragment})
	f := l.Finding()
	f.own()
	f.Count = st.missing
	more := "this link asks"
	if st.missing > 1 {
		more = fmt.Sprintf("%d links ask", st.missing)
	}
	f.Message = fmt.Sprintf("%s %s for fragments that only a script can serve, such as #%s; set script-fragments to error or silent", more,
		s.Path(st.target), d.Fragment)
	return f
}
