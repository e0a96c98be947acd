package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/sitelink/sitelink/internal/site"
)

// Explanation says why a link gets its verdict.
type Explanation struct {
	// Steps lead from the value as written to the verdict, in order.
	Steps []site.Step
	// Finding is the verdict, with the code, the target and the message. Its
	// place is that of the first link of this value on the page, or zero.
	Finding Finding
	// Places are the line and column of every link of the page that has this
	// value.
	Places []site.Place
	// Ignored names the ignore rule that accepts the finding, empty if none.
	Ignored string
}

// Explain judges a value as a link of the page from. What [Run] would say of
// such a link is said here, with every step. The error is that of reading the
// page, or the cause that ended ctx.
func Explain(ctx context.Context, s *site.Site, opt Options, from site.PageID, raw string) (*Explanation, error) {
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
	e := &Explanation{Steps: x.Steps, Places: x.Places}
	say := func(rule, format string, args ...any) {
		e.Steps = append(e.Steps, site.Step{Rule: rule, Text: fmt.Sprintf(format, args...)})
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
	d := &site.Detail{Resolved: x.Resolved, Raw: raw, Attribute: "href"}
	if len(x.Places) > 0 {
		d.Line, d.Column = x.Places[0].Line, x.Places[0].Column
	}
	e.Finding = finding(s, s.Path(from), d, j)
	f := []Finding{e.Finding}
	f[0].based = s.Page(from).HasBase()
	if j.verdict == Error {
		if err := advise(ctx, s, opt, [][]Finding{f}); err != nil {
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

// fragment judges the fragment of a link whose path is answered. The zero
// judgement means that it changes nothing.
func (e *Explanation) fragment(s *site.Site, x *site.Explanation, opt Options, say func(rule, format string, args ...any)) judgement {
	if x.Fragment == "" {
		return judgement{}
	}
	if opt.NoFragments {
		say("fragment", "not looked for: fragments are off")
		return judgement{}
	}
	target, ok := s.PageOf(x.Node)
	switch {
	case !ok || s.Page(target).Kind() == site.PageMap:
		say("fragment", "#%s means nothing on a file that is no page", x.Fragment)
		return judgement{Unchecked, NotHTML}
	case s.Page(target).Error().Err != nil:
		say("fragment", "%s could not be read", s.Path(target))
		return judgement{Unchecked, NotScanned}
	}
	ask, asks := s.Ask(x.Fragment)
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
func demandOn(s *site.Site, target site.PageID) (d demand) {
	p := s.Page(target)
	for i := range s.Pages() {
		page := s.Page(site.PageID(i))
		asks := page.Asks()
		links := page.All()
		for k := range links {
			l := &links[k]
			if !l.Asks() {
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
