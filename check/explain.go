package check

import (
	"context"
	"fmt"
	"path"
	"strings"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// Explanation says step by step why a link gets its verdict.
type Explanation struct {
	// Page is the docroot path of the page that holds the link.
	Page string
	// Steps lead from the value as written to the verdict, in order.
	Steps []Step
	// Link is the link with its verdict. Its place is that of the first
	// occurrence, or zero.
	Link Link
	// Suggestion is what the author most likely meant; empty when nothing similar
	// exists, or when the link is not an error.
	Suggestion string
	// Occurrences are the places of the page where a link has this value.
	Occurrences []Occurrence
	// Ignored is the ignore rule that accepts the finding, "" if none does.
	Ignored string
}

// Step is one step of an explanation.
type Step struct {
	// Rule names the rule that decided: a key of the profile, the file and line
	// of a redirect rule, or a part of the work such as url or fragment.
	Rule string
	// Text says what the rule did.
	Text string
}

// Occurrence is a line and column of a page, both counted from 1; Column in
// Unicode code points.
type Occurrence struct{ Line, Column int }

// Explain judges raw, the value of an attribute, as a link of a page, and
// records every step. The verdict is the one that [Run] gives to such a link.
// page is the page's path in the docroot; empty means the home page, or the
// first page of a site that has none.
//
// The error wraps [ErrNotFound] when there is no such page. Otherwise it is that
// of reading a page, or the cause for which ctx was cancelled.
func Explain(ctx context.Context, s *site.Site, opt Options, page, raw string) (*Explanation, error) {
	in := isite.Unwrap(s)
	id, err := pageNamed(in, page)
	if err != nil {
		return nil, err
	}
	ignore, err := newIgnoreRules(&opt)
	if err != nil {
		return nil, err
	}
	r, err := in.NewReader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	x, err := r.Explain(id, raw)
	if err != nil {
		return nil, err
	}
	e := &Explanation{Page: in.Path(id)}
	for _, st := range x.Steps {
		e.Steps = append(e.Steps, Step(st))
	}
	if x.Status != 0 {
		e.addStep("status", "%d", x.Status)
	}
	is := decisions[x.State]
	if is.verdict == OK || is.verdict == Warning && x.State.Answers() {
		fragment, err := e.fragment(ctx, in, x, opt)
		if err != nil {
			return nil, err
		}
		if fragment != (decision{}) {
			is = fragment
		}
	}
	d := &isite.Detail{Resolved: x.Resolved, Raw: raw, Attribute: "href"}
	if x.Detail != nil {
		d.Base, d.FeedRelative = x.Detail.Base, x.Detail.FeedRelative
		is = e.ofOccurrence(in, id, x, is)
	}
	for i, p := range x.Positions {
		e.Occurrences = append(e.Occurrences, Occurrence(p))
		if i == 0 {
			d.Line, d.Column = p.Line, p.Column
		}
	}
	f := linkFinding(in, e.Page, d, is)
	f.hasBase = in.Page(id).HasBase()
	if is.verdict == Error || is.code == Fallback {
		found := []Finding{f}
		if err := suggest(ctx, in, opt, [][]Finding{found}); err != nil {
			return nil, err
		}
		f = found[0]
	}
	e.Link, e.Suggestion = f.Link(), f.Suggestion
	if is.verdict == OK || is.verdict == Unchecked {
		e.Link.Message = ""
	} else {
		e.Ignored = ignore.first(&f)
	}
	return e, context.Cause(ctx)
}

// ofOccurrence returns the decision for a link that the page has, as a check
// judges it there: as an entry of a sitemap or feed, or as a link of a feed.
func (e *Explanation) ofOccurrence(s *isite.Site, id isite.PageID, x *isite.Explanation, is decision) decision {
	p := s.Page(id)
	l := &p.All()[x.Link]
	if l.IsEntry() {
		st := state(x.State)
		if entry := entryState(s, p.Kind(), l, x.State); entry != 0 {
			st = entry
		}
		switch by := decide(s, id, badLink{link: uint32(x.Link), state: st}); by.code {
		case SitemapEntry, FeedEntry, NoIndexInSitemap:
			e.addStep("entry", "the link is an entry of a %s", p.Kind())
			is = by
		}
	}
	relative := is.withDetail(x.Detail)
	if relative != is {
		e.addStep("feed", "relative to the feed, something answers; but feed readers resolve the link against %s", x.Detail.Base)
	}
	return relative
}

func (e *Explanation) addStep(rule, format string, args ...any) {
	e.Steps = append(e.Steps, Step{Rule: rule, Text: fmt.Sprintf(format, args...)})
}

// pageNamed finds a page by its path in the docroot, with or without a leading
// slash.
func pageNamed(s *isite.Site, name string) (isite.PageID, error) {
	if name == "" {
		for _, index := range s.IndexNames() {
			if id, ok := s.Lookup(index); ok {
				if page, ok := s.PageOf(id); ok {
					return page, nil
				}
			}
		}
		return 0, nil
	}
	id, ok := s.Lookup(strings.TrimPrefix(path.Clean("/"+name), "/"))
	if page, isPage := s.PageOf(id); ok && isPage {
		return page, nil
	}
	return 0, notFound(fmt.Errorf("%s is not a page of %s", name, s.Root()))
}

// fragment judges the fragment of a link whose path is answered. The zero
// decision means that the fragment changes nothing.
func (e *Explanation) fragment(ctx context.Context, s *isite.Site, x *isite.Explanation, opt Options) (decision, error) {
	if x.Fragment == "" {
		return decision{}, nil
	}
	if opt.NoFragments {
		e.addStep("fragment", "not checked: checking of fragments is turned off")
		return decision{}, nil
	}
	target, ok := s.PageOf(x.Node)
	if !ok || s.Page(target).Kind() == isite.PageMap {
		e.addStep("fragment", "not checked: #%s has no meaning in a file that is not a page", x.Fragment)
		return decision{Unchecked, NotHTML}, nil
	}
	if s.IsView(x.Fragment, x.Node) {
		e.addStep("fragment", "#%s describes a view of the SVG file", x.Fragment)
		return decision{}, nil
	}
	p := s.Page(target)
	if p.Error().Err != nil {
		e.addStep("fragment", "%s could not be read", s.Path(target))
		return decision{Unchecked, NotScanned}, nil
	}
	fragment, asks := s.ParseFragment(x.Fragment)
	if !asks {
		e.addStep("fragment", "#%s is the top of the page", x.Fragment)
		return decision{}, nil
	}
	if hasFragment(p, &fragment) || s.HasFolded(target, x.Fragment) {
		e.addStep("fragment", "#%s is on %s", x.Fragment, s.Path(target))
		return decision{}, nil
	}
	e.addStep("fragment", "#%s is not among the %d anchors of %s", x.Fragment, p.Anchors(), s.Path(target))
	m := newMiss(target, linkPlace{}, x.State, &fragment)
	a := newAttributor(s, &opt)
	a.texts[m.key()] = x.Fragment
	misses := []miss{m}
	if err := a.attribute(ctx, misses); err != nil {
		return decision{}, err
	}
	why := a.evidence[misses[0].evidence]
	if why.text == "" {
		return decision{Error, MissingFragment}, nil
	}
	e.addStep("script-fragments", "the fragment is left to a script: %s", why.text)
	if x.State.IsWarning() { // the path alone deserves one
		return decision{}, nil
	}
	if opt.ScriptFragments == ScriptSilent || why.stated {
		return decision{Unchecked, ScriptFragment}, nil
	}
	return decision{Warning, ScriptFragment}, nil
}

// String returns the steps, one on each line, aligned.
func (e *Explanation) String() string {
	width := 0
	for _, st := range e.Steps {
		width = max(width, len(st.Rule))
	}
	var b strings.Builder
	for _, st := range e.Steps {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, st.Rule, st.Text)
	}
	return b.String()
}
