package check

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// Links judges every link of s that q selects and calls visit for each, in the
// order of pages and offsets. Calls do not overlap, but they come from several
// goroutines. The Link is valid during the call only; a copy of it lasts. An
// error of visit ends the work and is returned.
//
// The findings of the result are the faults of files, and pages that changed
// while they were checked; those of links are among the links. When q selects
// only some links, Links reads only the pages that may hold one, and reports
// only the changed pages. The summary is about the whole site in any case.
//
// The error wraps [ErrNotFound] when q names a page or target that makes no
// sense for this site. Otherwise it is one of [Run], or that of visit.
func Links(ctx context.Context, s *site.Site, opt Options, q Query, visit func(l *Link) error) (*Result, error) {
	return list(ctx, isite.Unwrap(s), opt, q, output[Link]{
		add: func(dst []Link, l *Link) []Link {
			dst = append(dst, *l)
			dst[len(dst)-1].own()
			return dst
		},
		emit: func(page []Link) error {
			for i := range page {
				if err := visit(&page[i]); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// LinkWriter writes links as text.
type LinkWriter struct {
	// W receives the text, in the order of the links.
	W io.Writer
	// Append appends the text of one link to dst. Several goroutines call it at
	// once. The Link is valid during the call only, and so are its strings.
	Append func(dst []byte, l *Link) []byte
}

// WriteLinks is [Links] for those who write millions of links: the workers turn
// them into text, each its own.
func WriteLinks(ctx context.Context, s *site.Site, opt Options, q Query, w LinkWriter) (*Result, error) {
	return list(ctx, isite.Unwrap(s), opt, q, output[byte]{
		add: w.Append,
		emit: func(text []byte) error {
			_, err := w.W.Write(text)
			return err
		},
	})
}

// output is where the links of pages go: add appends a link to what is known of
// its page, emit takes a page.
type output[E any] struct {
	add  func(dst []E, l *Link) []E
	emit func(page []E) error
}

// list does the work of [Links].
func list[E any](ctx context.Context, s *isite.Site, opt Options, q Query, out output[E]) (*Result, error) {
	sel, err := q.selection(s)
	if err != nil {
		return nil, err
	}
	ls, err := newLister(ctx, s, opt)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	seq := newSequence(out.emit)
	defer context.AfterFunc(ctx, seq.wake)()
	err = readers(ctx, s, opt, s.Pages(), func(reader *isite.Reader, i int) error {
		buf, err := seq.buffer(ctx, i)
		if err != nil {
			return err
		}
		id := isite.PageID(i)
		if want, n := sel.links(s, id); n > 0 && ls.opt.scope.has(id) {
			lost, err := ls.page(id, reader, want, func(l *Link) {
				if sel.fits(l) {
					buf = out.add(buf, l)
				}
			})
			if err != nil {
				ls.mu.Lock()
				r.Findings = append(r.Findings, changed(s, id, err))
				ls.sum.lose(s, id, lost)
				ls.mu.Unlock()
			}
		}
		return seq.put(i, buf)
	})
	if err != nil {
		return nil, err
	}
	if q == (Query{}) {
		faults, err := siteFindings(ctx, s, ls.opt)
		if err != nil {
			return nil, err
		}
		for _, f := range faults {
			if !ls.ignore.match(&f) {
				r.Findings = append(r.Findings, f)
			}
		}
	}
	slices.SortFunc(r.Findings, compareFindings)
	count(ls.sum, r.Findings)
	ls.sum.UnusedIgnores = ls.ignore.unused()
	r.Summary = *ls.sum
	r.scripts = reportsScripts(&r.Summary, opt)
	return r, nil
}

// lister judges the links of pages one by one. What a link is may depend on all
// others, so that they are judged before the first is listed.
type lister struct {
	s   *isite.Site
	opt Options
	// bad and script are the links to report, and those whose fragment only a
	// script can serve, by page and in order.
	bad, script map[isite.PageID][]badLink
	// ignoredScripts are the targets of script for which an ignore rule accepts
	// them.
	ignoredScripts map[isite.PageID]bool

	mu     sync.Mutex // guards ignore and sum
	ignore *ignores
	sum    *Summary
}

func newLister(ctx context.Context, s *isite.Site, opt Options) (*lister, error) {
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
	ls := &lister{
		s: s, opt: opt, bad: t.bad, script: scriptLinks(t.scriptMisses).byPage(s.Pages()),
		ignoredScripts: map[isite.PageID]bool{}, ignore: ignore, sum: &t.summary,
	}
	return ls, ls.ignoreScripts(ctx, t)
}

// ignoreScripts applies the ignore rules to the fragments that only scripts can
// serve. They are one finding for each target, as [Run] reports them.
func (ls *lister) ignoreScripts(ctx context.Context, t *stock) error {
	if len(ls.opt.Ignore) == 0 {
		return nil
	}
	found, err := describe(ctx, ls.s, ls.opt, &stock{scripts: t.scripts})
	for i := range found {
		if ls.ignore.match(&found[i]) {
			forget(ls.sum, &found[i])
			target, _ := ls.s.PageOf(found[i].node)
			ls.ignoredScripts[target] = true
		}
	}
	return err
}

// page calls add for the links of one page, or for those whose numbers are in
// want, which ascends, when that is not nil. When the page has changed, lost are
// the links to report for which add was not called.
func (ls *lister) page(id isite.PageID, reader *isite.Reader, want []uint32, add func(*Link)) (lost []badLink, err error) {
	s := ls.s
	bad, script := ls.bad[id], ls.script[id]
	path, links := s.Path(id), s.Page(id).All()
	var row Link
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
		switch {
		case isBad:
			if j = judge(s, id, bad[0]); bad[0].why == causeFragment && foundFolded(s, d) {
				j = judgement{}
			}
			bad = bad[1:]
		case len(script) > 0 && script[0].link == uint32(i):
			j = judgement{Unchecked, ScriptFragment}
			if target, _ := s.PageOf(l.Node); ls.ignoredScripts[target] {
				j.code = IgnoredByRule
			}
			script = script[1:]
		case l.HasFragment() && j.verdict == OK && !ls.opt.NoFragments:
			if code := uncheckedFragment(s, l, ls.opt); code != "" {
				j = judgement{Unchecked, code}
			}
		}
		row = linkOf(s, path, d, j)
		if isBad {
			row.Message = message(s, d, &row)
			ls.correct(&row)
		}
		add(&row)
	})
	return bad, err
}

// correct applies the ignore rules to a link that was counted as an error or a
// warning, and counts one as fine whose fragment turned out to be there.
func (ls *lister) correct(l *Link) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l.Verdict == OK {
		l.Message = ""
		ls.sum.Errors--
		ls.sum.OK++
		return
	}
	f := l.Finding()
	if ls.ignore.match(&f) {
		forget(ls.sum, &f)
		l.Verdict, l.Code, l.Message = Unchecked, IgnoredByRule, ""
	}
}

// own gives a link strings of its own: those of a detail last only until the
// next page is read.
func (l *Link) own() { l.Raw, l.Fragment = strings.Clone(l.Raw), strings.Clone(l.Fragment) }
