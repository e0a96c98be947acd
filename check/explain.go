package check

import (
	"context"
	"fmt"
	"path"
	"strings"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// Explanation says why a link gets its verdict.
type Explanation struct {
	// Steps lead from the value as written to the verdict, in order.
	Steps []Step
	// Finding is the verdict, with the code, the target and the message. Its
	// place is that of the first link of this value on the page, or zero.
	Finding Finding
	// Page is the docroot path of the page that holds the link.
	Page string
	// Occurrences are the places of the page where a link has this value.
	Occurrences []Occurrence
	// Ignored names the ignore rule that accepts the finding, empty if none.
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

// Explain judges raw, the value of an attribute, as a link of a page and says
// how each step comes about. The verdict is the one that [Run] gives to such a
// link. page is the page's path in the docroot; empty stands for the home page,
// or for the first page where there is none.
//
// The error wraps [ErrNotFound] when there is no such page. Otherwise it is
// that of reading a page, or the cause that ended ctx.
func Explain(ctx context.Context, handle *site.Site, opt Options, page, raw string) (*Explanation, error) {
	s := isite.Unwrap(handle)
	from, err := pageNamed(s, page)
	if err != nil {
		return nil, err
	}
	ignore, err := compileIgnores(opt.Ignore)
	if err != nil {
		return nil, err
	}
	r, err := s.NewReader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	x, err := r.Explain(from, raw)
	if err != nil {
		return nil, err
	}
	e := &Explanation{Page: s.Path(from)}
	for _, st := range x.Steps {
		e.Steps = append(e.Steps, Step(st))
	}
	for _, p := range x.Positions {
		e.Occurrences = append(e.Occurrences, Occurrence(p))
	}
	say := func(rule, format string, args ...any) {
		e.Steps = append(e.Steps, Step{Rule: rule, Text: fmt.Sprintf(format, args...)})
	}
	if x.Status != 0 {
		say("status", "%d", x.Status)
	}
	j := judgementOf[x.State]
	if j.verdict == OK || j.verdict == Warning && x.State.Answers() {
		if found := e.fragment(s, x, opt, say); found != (judgement{}) {
			j = found
		}
	}
	d := &isite.Detail{Resolved: x.Resolved, Raw: raw, Attribute: "href"}
	if len(x.Positions) > 0 {
		d.Line, d.Column = x.Positions[0].Line, x.Positions[0].Column
	}
	e.Finding = finding(s, s.Path(from), d, j)
	f := []Finding{e.Finding}
	f[0].based = s.Page(from).HasBase()
	if j.verdict == Error {
		if err := suggest(ctx, s, opt, [][]Finding{f}); err != nil {
			return nil, err
		}
	}
	e.Finding = f[0]
	if j.verdict == OK || j.verdict == Unchecked {
		e.Finding.Message = ""
	} else {
		e.Ignored = ignore.first(&f[0])
	}
	return e, context.Cause(ctx)
}

// pageNamed finds a page by its path in the docroot, with or without a slash in
// front.
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
	return 0, notFound(fmt.Errorf("%s is no page of %s", name, s.Root()))
}

// fragment judges the fragment of a link whose path is answered. The zero
// judgement means that it changes nothing.
func (e *Explanation) fragment(s *isite.Site, x *isite.Explanation, opt Options, say func(rule, format string, args ...any)) judgement {
	if x.Fragment == "" {
		return judgement{}
	}
	if opt.NoFragments {
		say("fragment", "not looked for: fragments are off")
		return judgement{}
	}
	target, ok := s.PageOf(x.Node)
	switch {
	case !ok || s.Page(target).Kind() == isite.PageMap:
		say("fragment", "#%s means nothing on a file that is no page", x.Fragment)
		return judgement{Unchecked, NotHTML}
	case s.Page(target).Error().Err != nil:
		say("fragment", "%s could not be read", s.Path(target))
		return judgement{Unchecked, NotScanned}
	}
	ask, asks := s.ParseFragment(x.Fragment)
	p := s.Page(target)
	if !asks {
		say("fragment", "#%s is the top of any page", x.Fragment)
		return judgement{}
	}
	why := find(p, &ask)
	if why == found || s.HasFolded(target, x.Fragment) {
		say("fragment", "#%s is on %s", x.Fragment, s.Path(target))
		return judgement{}
	}
	say("fragment", "#%s is not among the %d anchors of %s", x.Fragment, p.Anchors(), s.Path(target))
	demands := demandOn(s, target)
	if onlyScripts(s, target, why, demands, opt.ScriptFragments) {
		say("script-fragments", "links ask %s for %d fragments and %d are there: a script serves the others", s.Path(target), demands.asked, demands.found)
		if opt.ScriptFragments == ScriptSilent {
			return judgement{Unchecked, ScriptFragment}
		}
		return judgement{Warning, ScriptFragment}
	}
	return judgement{Error, MissingFragment}
}

// demandOn counts what the site's links ask of one page.
func demandOn(s *isite.Site, target isite.PageID) (d demand) {
	p := s.Page(target)
	for i := range s.Pages() {
		page := s.Page(isite.PageID(i))
		asks := page.Fragments()
		links := page.All()
		for k := range links {
			l := &links[k]
			if !l.HasFragment() {
				continue
			}
			ask := asks.Next(l)
			if to, ok := s.PageOf(l.Node); !ok || to != target || l.IsMap() || !s.State(l).Answers() {
				continue
			}
			switch find(p, &ask) {
			case found:
				d.found++
				d.asked++
			case missing:
				d.asked++
			}
		}
	}
	return d
}

// String writes the steps, one a line, aligned.
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
