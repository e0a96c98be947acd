package check

import (
	"context"
	"slices"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// siteFindings reports what no link is to blame for: faults of the pages that
// are judged and of directories, linksets that find nothing, and orphans.
func siteFindings(ctx context.Context, s *isite.Site, opt Options) ([]Finding, error) {
	out := fileFindings(s)
	if opt.More != nil {
		out = append(out, opt.More(isite.Wrap(s).(*site.Site))...)
	}
	if c := opt.scope; c != nil {
		out = slices.DeleteFunc(out, func(f Finding) bool {
			node, ok := s.Lookup(f.Page)
			id, isPage := s.PageOf(node)
			return ok && isPage && !c.has(id)
		})
		out = append(out, c.findings...)
	}
	if !opt.Orphans {
		return out, nil
	}
	files, err := orphans(ctx, s, opt.From)
	if err != nil {
		return nil, err
	}
	for i := range files {
		if f, ok := files[i].finding(); ok {
			out = append(out, f)
		}
	}
	return out, nil
}

// finding reports an orphan. Alias pages are meant to be one.
func (o *OrphanFile) finding() (Finding, bool) {
	f := Finding{Page: o.Path, Verdict: Warning, Code: Orphan, Count: 1}
	switch {
	case o.Alias != "":
		return Finding{}, false
	case o.Linked:
		f.Code = Unreachable
		f.Message = "pages link to this one, but no chain of links leads there from the start"
	case o.IsPage:
		f.Message = "no other page links to this one"
	default:
		f.Message = "no page links to this file"
	}
	return f, true
}
