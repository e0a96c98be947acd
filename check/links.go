package check

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sync"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// Links judges every link of s and writes them all to w, sorted by page and
// offset. render appends one row to dst; it is called from several goroutines
// at once, and f is valid only during the call. The findings of the result
// are the faults of files; those of links are among the rows. The first error
// of w ends the work and is returned.
func Links(ctx context.Context, s *site.Site, opt Options, render func(dst []byte, f *Finding) []byte, w io.Writer) (*Result, error) {
	return links(ctx, isite.Unwrap(s), opt, nil, render, w)
}

// links is Links for those of a selection, nil for all. With a selection only
// the pages that may hold one are read, and the result has no faults of files
// but pages that changed.
func links(ctx context.Context, s *isite.Site, opt Options, sel *selection, render func(dst []byte, f *Finding) []byte, w io.Writer) (*Result, error) {
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
	t.script = scriptLinks(t.scriptMisses).byPage(s.Pages())
	r := &Result{Summary: t.summary}
	sum := &r.Summary
	if err := t.quietScripts(ctx, s, opt, ignore, sum); err != nil {
		return nil, err
	}
	out := newSequence(w)
	defer context.AfterFunc(ctx, out.wake)()
	var mu sync.Mutex // guards ignore, sum and the findings of r
	err = readers(ctx, s, opt, s.Pages(), func(reader *isite.Reader, i int) error {
		buf, err := out.buffer(ctx, i)
		if err != nil {
			return err
		}
		id := isite.PageID(i)
		want, n := sel.links(s, id)
		if n > 0 && opt.scope.has(id) {
			buf = slices.Grow(buf, n*rowBytes)
			var lost []badLink
			buf, lost, err = t.rows(s, id, reader, opt, want, func(f *Finding) {
				mu.Lock()
				defer mu.Unlock()
				if f.Verdict == OK {
					sum.Errors--
					sum.OK++
				} else if ignore.match(f) {
					forget(sum, f)
					f.Verdict, f.Code = Unchecked, IgnoredByRule
				}
			}, sel.render(render), buf)
			if err != nil {
				mu.Lock()
				r.Findings = append(r.Findings, changed(s, id, err))
				sum.lose(s, id, lost)
				mu.Unlock()
			}
		}
		return out.put(i, buf)
	})
	if err != nil {
		return nil, err
	}
	if sel == nil {
		faults, err := siteFindings(ctx, s, opt)
		if err != nil {
			return nil, err
		}
		for _, f := range faults {
			if !ignore.match(&f) {
				r.Findings = append(r.Findings, f)
			}
		}
	}
	slices.SortFunc(r.Findings, compareFindings)
	count(sum, r.Findings)
	sum.UnusedIgnores = ignore.unused()
	r.scripts = reportsScripts(sum, opt)
	return r, nil
}

// quietScripts applies the ignore rules to the fragments that only scripts can
// serve, which are one finding for each target: the same as [Run] reports.
func (t *stock) quietScripts(ctx context.Context, s *isite.Site, opt Options, ignore *ignores, sum *Summary) error {
	t.quiet = map[isite.PageID]bool{}
	if len(opt.Ignore) == 0 {
		return nil
	}
	found, err := describe(ctx, s, opt, &stock{scripts: t.scripts})
	for i := range found {
		if ignore.match(&found[i]) {
			forget(sum, &found[i])
			target, _ := s.PageOf(found[i].node)
			t.quiet[target] = true
		}
	}
	return err
}

// rows appends the rows of one page, or of those links of it whose numbers are
// in want, which ascends, when that is not nil; it returns the bad links that have
// none because the page changed. settle is called for those that are a finding, or
// were one until their text was seen (then with Verdict OK).
func (t *stock) rows(s *isite.Site, id isite.PageID, reader *isite.Reader, opt Options, want []uint32, settle func(*Finding), render func([]byte, *Finding) []byte, buf []byte) (out []byte, lost []badLink, err error) {
	bad, script := t.bad[id], t.script[id]
	path, links := s.Path(id), s.Page(id).All()
	var f Finding
	err = reader.Details(id, want, func(i int, d *isite.Detail) {
		l := &links[i]
		for len(bad) > 0 && bad[0].link < uint32(i) {
			bad = bad[1:]
		}
		for len(script) > 0 && script[0].link < uint32(i) {
			script = script[1:]
		}
		j := judgementOf[s.State(l)]
		isBad := len(bad) > 0 && bad[0].link == uint32(i)
		isScript := len(script) > 0 && script[0].link == uint32(i)
		switch {
		case isBad:
			if j = judge(s, id, bad[0]); bad[0].why == causeFragment && foundFolded(s, d) {
				j = judgement{}
			}
			bad = bad[1:]
		case isScript:
			j = judgement{Unchecked, ScriptFragment}
			if target, _ := s.PageOf(l.Node); t.quiet[target] {
				j.code = IgnoredByRule
			}
			script = script[1:]
		case l.Asks() && j.verdict == OK && !opt.NoFragments:
			if code := uncheckedFragment(s, l, opt); code != "" {
				j = judgement{Unchecked, code}
			}
		}
		f = row(s, path, d, j)
		if isBad {
			f.Message = message(s, d, &f)
			settle(&f)
		}
		buf = render(buf, &f)
	})
	return buf, bad, err
}

// sequence writes what workers make in any order in the order of their
// numbers. The window bounds how far a worker may run ahead, and so the
// memory.
type sequence struct {
	mu    sync.Mutex
	room  *sync.Cond
	w     io.Writer
	next  int
	ready map[int][]byte
	free  [][]byte
	err   error
}

const window = 64

// rowBytes is about what a row takes as JSON; buffers grow to fit.
const rowBytes = 280

func newSequence(w io.Writer) *sequence {
	q := &sequence{w: w, ready: map[int][]byte{}}
	q.room = sync.NewCond(&q.mu)
	return q
}

// buffer waits until number i is near its turn and returns an empty buffer.
func (q *sequence) buffer(ctx context.Context, i int) ([]byte, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.err == nil && i >= q.next+window && ctx.Err() == nil {
		q.room.Wait()
	}
	if err := cmp.Or(q.err, context.Cause(ctx)); err != nil {
		return nil, err
	}
	if n := len(q.free); n > 0 {
		b := q.free[n-1]
		q.free = q.free[:n-1]
		return b[:0], nil
	}
	return nil, nil
}

// wake lets the waiting workers see that the work was cancelled.
func (q *sequence) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.room.Broadcast()
}

// put hands in the bytes of number i, and writes all that is due.
func (q *sequence) put(i int, b []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ready[i] = b
	for q.err == nil {
		b, ok := q.ready[q.next]
		if !ok {
			break
		}
		if len(b) > 0 {
			_, q.err = q.w.Write(b)
		}
		delete(q.ready, q.next)
		if cap(b) <= 1<<20 {
			q.free = append(q.free, b)
		}
		q.next++
	}
	q.room.Broadcast()
	return q.err
}
