package check

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
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
// page is the page's path in the docroot, or its address; empty means the home
// page, or the first page of a site that has none.
//
// The error wraps [ErrNotFound] when there is no such page. Otherwise it comes
// from reading a page, or is the cause of ctx.
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
	r := in.NewReader()
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
		found, err := besides(in, r, id, f)
		if err != nil {
			return nil, err
		}
		suggestAtOnce(in, &found[0])
		if _, err := suggest(ctx, in, opt, found); err != nil {
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
// slash, by its site path or its address.
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
	for _, text := range []string{strings.TrimPrefix(path.Clean("/"+name), "/"), name} {
		to, err := resolveName(s, text)
		if page, ok := s.PageOf(to.Node); ok && err == nil && (to.State == host.StateOK || to.State == host.StateRedirect) {
			return page, nil
		}
	}
	return 0, notFound(fmt.Errorf("%s is not a page of %s", name, s.Root()))
}

// fragment judges the fragment of a link to a path that the host answers. The
// zero decision means that the fragment changes nothing.
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
	if p.Kind() == isite.PagePointer {
		e.addStep("fragment", "%s is a pointer of git-lfs, which has not fetched the file", s.Path(target))
		return decision{Unchecked, NotScanned}, nil
	}
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

// Judge judges values as links of pages, as [Explain] does, for programs that ask
// about many of them, such as an editor. It reads a page only for what it cannot
// know otherwise, and remembers that. It is safe for concurrent use.
type Judge struct {
	s       *site.Site
	in      *isite.Site
	opt     Options
	ignore  *ignoreRules
	mu      sync.Mutex
	missing map[missingFragment]decision
	files   *fileIndex
	repairs *repairer
	anchors map[isite.PageID]*anchorNames
}

// missingFragment is a fragment that a page does not define.
type missingFragment struct {
	node     docroot.NodeID
	fragment string
	warned   bool // the path alone deserves a warning
}

// Judgement is a link with its verdict.
type Judgement struct {
	Link
	// Ignored is the ignore rule that accepts the finding, "" if none does.
	Ignored string
}

// NewJudge returns a Judge of the links of a site. The error says that opt has an
// invalid ignore rule.
func NewJudge(s *site.Site, opt Options) (*Judge, error) {
	ignore, err := newIgnoreRules(&opt)
	if err != nil {
		return nil, err
	}
	return &Judge{s: s, in: isite.Unwrap(s), opt: opt, ignore: ignore, missing: map[missingFragment]decision{}, anchors: map[isite.PageID]*anchorNames{}}, nil
}

// Link judges raw, the value of an attribute, as a link of a page. element is the
// element that holds it, such as a or img. The link has no place. The errors are
// those of [Explain].
func (j *Judge) Link(ctx context.Context, page, element, raw string) (Judgement, error) {
	id, err := pageNamed(j.in, page)
	if err != nil {
		return Judgement{}, err
	}
	resolved, err := j.in.Follow(id, raw)
	if strings.TrimSpace(raw) == "" && addressAttribute(element) == "src" {
		resolved, err = host.Resolved{State: host.StateEmptyLink, Node: docroot.NoNode}, nil
	} else if err != nil || raw == "" || j.in.Page(id).HasBase() {
		e, err := Explain(ctx, j.s, j.opt, page, raw)
		if err != nil {
			return Judgement{}, err
		}
		return Judgement{e.Link, e.Ignored}, nil
	}
	is := decisions[resolved.State]
	if is.verdict == OK || is.verdict == Warning && resolved.State.Answers() {
		fragment, err := j.fragment(ctx, &isite.Explanation{Resolved: resolved})
		if err != nil {
			return Judgement{}, err
		}
		if fragment != (decision{}) {
			is = fragment
		}
	}
	d := &isite.Detail{Resolved: resolved, Raw: raw, Element: element, Attribute: addressAttribute(element)}
	f := linkFinding(j.in, j.in.Path(id), d, is)
	judged := Judgement{Link: f.Link()}
	if is.verdict == OK || is.verdict == Unchecked {
		judged.Message = ""
	} else {
		judged.Ignored = j.ignore.first(&f)
	}
	return judged, nil
}

// addressAttribute returns the attribute of an element that holds its address.
func addressAttribute(element string) string {
	switch element {
	case "img", "script", "iframe", "video", "audio", "source", "embed", "track", "input", "frame":
		return "src"
	case "object":
		return "data"
	case "form":
		return "action"
	}
	return "href"
}

// Forget frees what the Judge remembers. It can be used as before.
func (j *Judge) Forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	clear(j.missing)
	clear(j.anchors)
	j.files, j.repairs = nil, nil
}

// besides returns a finding, and behind it those about the other links of the page for
// ids that the same target lacks: the suggestion depends on all of them.
func besides(in *isite.Site, r *isite.Reader, id isite.PageID, f Finding) ([]Finding, error) {
	found := []Finding{f}
	target, ok := in.PageOf(f.node)
	if f.Code != MissingFragment || !ok || strings.HasPrefix(f.Raw, "#") {
		return found, nil
	}
	var want []uint32
	links := in.Page(id).All()
	for i := range links {
		if l := &links[i]; l.Node == f.node && l.State.Answers() && l.HasFragment() {
			want = append(want, uint32(i))
		}
	}
	page := in.Page(target)
	err := r.Details(id, want, func(_ int, d *isite.Detail) {
		if fragment, asks := in.ParseFragment(d.Fragment); asks && !hasFragment(page, &fragment) {
			other := f // its target, and what decided
			other.Raw, other.Fragment = strings.Clone(d.Raw), strings.Clone(d.Fragment)
			found = append(found, other)
		}
	})
	return found, err
}

// fragment is [Explanation.fragment] that asks once about each fragment that its
// page lacks: the scripts of the page decide then.
func (j *Judge) fragment(ctx context.Context, x *isite.Explanation) (decision, error) {
	if x.Fragment == "" {
		return decision{}, nil
	}
	if target, ok := j.in.PageOf(x.Node); ok {
		p := j.in.Page(target)
		if fragment, asks := j.in.ParseFragment(x.Fragment); !asks || p.Error().Err == nil && hasFragment(p, &fragment) {
			if !j.opt.NoFragments && p.Kind() != isite.PageMap {
				return decision{}, nil
			}
		}
	}
	key := missingFragment{x.Node, x.Fragment, x.State.IsWarning()}
	j.mu.Lock()
	defer j.mu.Unlock()
	if known, ok := j.missing[key]; ok {
		return known, nil
	}
	is, err := new(Explanation).fragment(ctx, j.in, x, j.opt)
	if err == nil {
		j.missing[key] = is
	}
	return is, err
}

// Suggestion returns what the author of a link that Link judged most likely
// meant; empty when nothing similar exists.
func (j *Judge) Suggestion(ctx context.Context, l *Link) (string, error) {
	f := l.Finding()
	id, err := pageNamed(j.in, l.Page)
	if err != nil {
		return "", err
	}
	if r, err := j.in.Follow(id, l.Raw); err == nil {
		f.node, f.meant, f.temporary = r.Node, r.Meant, r.Temporary
	}
	f.hasBase = j.in.Page(id).HasBase()
	j.mu.Lock()
	defer j.mu.Unlock()
	switch f.plainCode() {
	case ViaRedirect, ServerDependent, MissingBase, WrongHost, DeadScheme, MixedContent:
		suggestAtOnce(j.in, &f)
	case MissingFile, MissingDirectory, MissingIndex, WrongCase, Fallback:
		if j.files == nil {
			j.files = newFileIndex(j.in)
		}
		j.files.budget = allow(1)
		f.Suggestion = j.files.suggestion(&f)
	case MissingFragment, MissingMap, UnresolvedRef:
		target, ok := j.in.PageOf(f.node)
		if !ok {
			return "", nil
		}
		names := j.anchors[target]
		if names == nil {
			r := j.in.NewReader()
			defer r.Close()
			if names, err = readAnchors(j.in, r, target); err != nil {
				return "", err
			}
			j.anchors[target] = names
		}
		f.Suggestion = meantAnchor(j.in, &f)
		if nearest := names.near(&f); nearest != "" && f.Suggestion == "" {
			f.Suggestion = withFragment(j.in, &f, "", encodeFragment(nearest))
		}
	}
	return f.Suggestion, context.Cause(ctx)
}
