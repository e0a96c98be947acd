package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// scope is the part of a site whose links are judged, when the options leave
// something out. A nil scope is the whole site.
type scope struct {
	in []bool // by page
	// skipped are the pages that a link of a judged page leads to, or that
	// would have been judged, and that are left out, sorted by path.
	skipped []string
	// findings are about the linksets themselves, not about links.
	findings []Finding
	visits   []Visit
}

// has tells whether the links of a page are judged.
func (c *scope) has(id isite.PageID) bool { return c == nil || c.in[id] }

// Visit is one page or directory listing that the walk of --from came to, in
// the order in which it did.
type Visit struct {
	// Path is the site path by which it was reached.
	Path string
	// Kind says what the walk did with it.
	Kind VisitKind
}

// VisitKind says what became of a page.
type VisitKind uint8

const (
	VisitCheck  VisitKind = iota // its links are judged and followed
	VisitFollow                  // the page of a seed outside all linksets: its links are followed only (A-LL-1)
	VisitSkip                    // neither: outside the linksets, or in --skip
	VisitLimit                   // neither: the limit was reached
)

var visitNames = [...]string{"check", "follow", "skip", "limit"}

// String returns check, follow, skip or limit.
func (k VisitKind) String() string { return visitNames[k] }

// Walk returns the way that [Run] takes through the site under opt.From,
// opt.Skip and opt.Limit, without judging a link; no step when they leave
// nothing out.
func Walk(ctx context.Context, s *site.Site, opt Options) ([]Visit, error) {
	c, err := scopeOf(ctx, isite.Unwrap(s), opt)
	if c == nil || err != nil {
		return nil, err
	}
	return c.visits, nil
}

// scopeOf finds the pages whose links are judged. Without linksets these are
// all but those of --skip, in the order of their paths up to the limit; with
// linksets, those that links lead to from the seeds (LL-17): breadth first, in
// document order, so that a limit means the same in each run (A-LL-12).
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
	} else if err := w.seeds(ctx, seedsOf(from.all)); err != nil {
		return nil, err
	}
	return w.scope(), nil
}

// seedsOf returns the seeds of linksets, sorted, each once (LL-15).
func seedsOf(all []Linkset) []string {
	var seeds []string
	for _, l := range all {
		seeds = append(seeds, l.Seed())
	}
	slices.Sort(seeds)
	return slices.Compact(seeds)
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

// findings says which linksets found no page, and that the limit was reached:
// a check that was told to read less must not look like one that found nothing
// (A-LL-1, LL-23).
func (w *walker) findings() []Finding {
	var out []Finding
	if w.cut > 0 {
		out = append(out, Finding{Page: w.cutFirst, Verdict: Warning, Code: LimitReached, Count: 1,
			Message: fmt.Sprintf("--limit %d was reached here; pages left out by it: %d", w.limit, w.cut)})
	}
	if w.from == nil {
		return out
	}
	for i, l := range w.from.all {
		if w.used[i] {
			continue
		}
		f := Finding{Page: strings.TrimPrefix(l.text, "/"), Verdict: Warning, Code: UnmatchedLinkset, Count: 1, Target: l.Seed()}
		node, path, ok := w.seed(f.Target)
		switch a := w.s.Answer(f.Target); {
		case !ok && a.State.Answers():
			f.Message = fmt.Sprintf("the linkset %s names a file without links: there is nothing to check in it", l)
		case !ok:
			f.Verdict = Error
			f.Message = fmt.Sprintf("the linkset %s finds no page: nothing answers its seed %s", l, f.Target)
		case l.pattern == nil:
			f.Message = fmt.Sprintf("the linkset %s finds no page: %s goes by the address %s", l, w.s.Tree().Path(node), path)
			f.Suggestion = path
		default:
			f.Message = fmt.Sprintf("the linkset %s finds no page: no link that leads on from its seed %s goes to one of it", l, f.Target)
		}
		if w.count == 0 {
			f.Verdict = Error
		}
		out = append(out, f)
	}
	return out
}
