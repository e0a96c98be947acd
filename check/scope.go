package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// scope is the part of a site whose links are judged, when [Options.From], Skip
// or Limit leave something out. A nil scope is the whole site.
type scope struct {
	in []bool // by page
	// skipped are the pages that were left out although a judged page links to
	// them, or that would have been judged. They are sorted by path.
	skipped []string
	// findings are about the linksets themselves.
	findings []Finding
	visits   []Visit
}

// has reports whether the links of a page are judged.
func (c *scope) has(id isite.PageID) bool { return c == nil || c.in[id] }

// Visit is one page or directory listing that [Walk] came to.
type Visit struct {
	// Path is the site path by which it was reached.
	Path string
	// Kind says what happens to it.
	Kind VisitKind
}

// VisitKind says what happens to a page.
type VisitKind uint8

const (
	VisitCheck  VisitKind = iota // its links are judged and followed
	VisitFollow                  // the seed of a linkset, but in no linkset: its links are only followed (A-LL-1)
	VisitSkip                    // left out: in no linkset of From, or in one of Skip
	VisitLimit                   // left out: the limit was reached
)

var visitNames = [...]string{"check", "follow", "skip", "limit"}

// String returns check, follow, skip or limit.
func (k VisitKind) String() string { return visitNames[k] }

// Walk returns the pages and listings that [Run] comes to under opt.From,
// opt.Skip and opt.Limit, in order, without judging a link. It returns none when
// the three leave nothing out. The error is that of a linkset, or of ctx.
func Walk(ctx context.Context, s *site.Site, opt Options) ([]Visit, error) {
	c, err := scopeOf(ctx, isite.Unwrap(s), opt)
	if c == nil || err != nil {
		return nil, err
	}
	return c.visits, nil
}

// scopeOf finds the pages whose links are judged. Without linksets in From,
// these are all but those of Skip, in the order of their paths, up to the limit.
// With linksets, they are those that links lead to from the seeds (LL-17):
// breadth first and in document order, so that a limit means the same in each
// run (A-LL-12).
func scopeOf(ctx context.Context, s *isite.Site, opt Options) (*scope, error) {
	if len(opt.From) == 0 && len(opt.Skip) == 0 && opt.Limit <= 0 {
		return nil, nil
	}
	from, err := parseLinksets(opt.From)
	if err != nil {
		return nil, err
	}
	skip, err := parseLinksets(opt.Skip)
	if err != nil {
		return nil, err
	}
	w := newWalker(s)
	w.from, w.skip, w.limit = &from, &skip, opt.Limit
	defer w.close()
	if len(opt.From) == 0 {
		w.from = nil
		w.everything()
	} else if err := w.walk(ctx, from.seeds()); err != nil {
		return nil, err
	}
	return w.scope(), nil
}

// scope ends the walk.
func (w *walker) scope() *scope {
	c := &scope{in: w.in, visits: w.visits}
	for node := range w.left {
		path := w.s.Tree().Path(node)
		if _, page := w.s.PageOf(node); !page && path != "" {
			path += "/"
		}
		c.skipped = append(c.skipped, path)
	}
	slices.Sort(c.skipped)
	c.findings = w.findings()
	return c
}

// findings reports linksets that match no page, and that the limit was reached.
// A check that leaves pages out must not look like one that found nothing
// (A-LL-1, LL-23).
func (w *walker) findings() []Finding {
	var out []Finding
	if w.cut > 0 {
		out = append(out, Finding{Page: w.cutFirst, Verdict: Warning, Code: LimitReached, Count: 1,
			Message: fmt.Sprintf("--limit %d was reached at this page; pages left out: %d", w.limit, w.cut)})
	}
	if w.from == nil {
		return out
	}
	for i, l := range w.from.all {
		if w.used[i] {
			continue
		}
		f := Finding{Page: strings.TrimPrefix(l.text, "/"), Verdict: Warning, Code: UnmatchedLinkset, Count: 1, Target: l.Seed()}
		node, path, ok := w.find(f.Target)
		switch a := w.s.Answer(f.Target); {
		case !ok && a.State.Answers():
			f.Message = fmt.Sprintf("the linkset %s names a file without links, so there is nothing to check", l)
		case !ok:
			f.Verdict = Error
			f.Message = fmt.Sprintf("the linkset %s matches no page: nothing answers its seed %s", l, f.Target)
		case l.pattern == nil:
			f.Message = fmt.Sprintf("the linkset %s matches no page: the address of %s is %s", l, w.s.Tree().Path(node), path)
			f.Suggestion = path
		default:
			f.Message = fmt.Sprintf("the linkset %s matches no page that links from its seed %s lead to", l, f.Target)
		}
		if w.count == 0 {
			f.Verdict = Error
		}
		out = append(out, f)
	}
	return out
}
