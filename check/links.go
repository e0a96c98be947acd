package check

import (
	"cmp"
	"context"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sitelink/sitelink/internal/docroot"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// Link is one link of a page with its verdict: a row of `check --show all`. Its
// fields up to Final are a contract, see docs/reference/formats.md.
type Link struct {
	// Page is the docroot-relative slash path of the file that holds the link.
	Page string
	// Line and Column count from 1, Column in Unicode code points. They are the
	// place of the first character of the attribute's value.
	Line, Column int
	// Offset counts bytes from the start of the file.
	Offset int64
	// Element and Attribute are lower case. Attribute is empty where the text of
	// the element holds the link, as in style elements and JSON-LD.
	Element, Attribute string
	// Raw is the value as the DOM has it: with character references decoded, not
	// trimmed, and for srcset the URL of one candidate.
	Raw string
	// Target is the site path as a browser would request it, percent-encoded,
	// with its query, such as /a/b.html?q. For an external link it is the
	// absolute URL. It is empty if the value is not a URL.
	Target string
	// Fragment is the part of the resolved URL after #.
	Fragment string
	Verdict  Verdict
	// Code says why; it is empty when the link is fine.
	Code Code
	// Status is the HTTP status of the host's final answer, 0 when not known.
	Status int
	// Final is the site path that answers after the host's redirects, when it
	// is not Target.
	Final string

	// File is the docroot path of the file that answers, if Target or Final is
	// the path of a directory; else it is empty (LL-85).
	File string
	// Message says in one line what is wrong; it is empty for a link that is
	// fine or was not checked.
	Message string
	// Evidence says which script serves the fragment of a link that was not
	// checked for that reason, or which rule of the configuration says so; and the
	// reason of an attribute that exempts the link.
	Evidence string
	// Remote is what is remembered of a link to another site that was asked for, else
	// nil.
	Remote *Remote

	node     docroot.NodeID // the file that answers or was meant
	linkCode Code           // see Finding
	meant    string         // see Finding
}

// AnsweringFile returns the docroot path of the file that the host sends for
// the link, or of the directory if it sends a listing, or "". s is the site
// that was checked.
func (l *Link) AnsweringFile(s *site.Site) string { return answeringFile(s, l.Status, l.node) }

// Finding returns the link as a finding, without suggestion.
func (l *Link) Finding() Finding {
	return Finding{
		Page: l.Page, Line: l.Line, Column: l.Column, Offset: l.Offset, Element: l.Element, Attribute: l.Attribute,
		Raw: l.Raw, Target: l.Target, Fragment: l.Fragment, Verdict: l.Verdict, Code: l.Code, Status: l.Status, Final: l.Final,
		File: l.File, Message: l.Message, Remote: l.Remote, Count: 1, node: l.node, linkCode: l.linkCode, meant: l.meant,
	}
}

// linkOf describes a link of a page, without message. Its Raw and Fragment last
// as long as those of d.
func linkOf(s *isite.Site, page string, d *isite.Detail, is decision) Link {
	l := Link{
		Page: page, Line: d.Line, Column: d.Column, Offset: d.Offset, Element: d.Element, Attribute: d.Attribute,
		Raw: d.Raw, Target: d.Target, Fragment: d.Fragment, Verdict: is.verdict, Code: is.code, Status: d.Status, Final: d.Final,
		node: d.Node, linkCode: linkCode(d, is.code), meant: d.Meant,
	}
	path, _, _ := strings.Cut(cmp.Or(d.Final, d.Target), "?")
	if d.State.Answers() && d.Node != docroot.NoNode && strings.HasSuffix(path, "/") {
		l.File = s.Tree().Path(d.Node)
	}
	return l
}

// own gives a link strings of its own: those of a detail last only until the
// next page is read.
func (l *Link) own() { l.Raw, l.Fragment = strings.Clone(l.Raw), strings.Clone(l.Fragment) }

// Links judges every link of s that q selects and calls visit for each, in the
// order of pages and offsets. Calls do not overlap, but they come from several
// goroutines. l points to memory that is used again; copy *l to keep the link.
// An error of visit ends the work and is returned.
//
// The findings of the result are those about files; findings about links are
// among the links. When q selects only some links, Links reads only the pages
// that may hold one, and the result has no findings but pages that changed
// during the call. The summary is about the whole site in any case.
//
// The error wraps [ErrNotFound] when q names something that the site does not
// have. Otherwise it is an error of [Run], or that of visit.
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

// WriteLinks is [Links] for writing millions of links: each worker turns its
// links into text.
func WriteLinks(ctx context.Context, s *site.Site, opt Options, q Query, w LinkWriter) (*Result, error) {
	return list(ctx, isite.Unwrap(s), opt, q, output[byte]{
		add: w.Append,
		emit: func(text []byte) error {
			_, err := w.W.Write(text)
			return err
		},
	})
}

// output is where links go: add appends a link to the others of its page, emit
// takes a page.
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
	var findings []Finding
	seq := newSequence(out.emit)
	defer context.AfterFunc(ctx, seq.wake)()
	err = readers(ctx, s, opt, s.Pages(), func(reader *isite.Reader, i int) error {
		buf, err := seq.buffer(ctx, i)
		if err != nil {
			return err
		}
		id := isite.PageID(i)
		if want, n := sel.links(s, id); n > 0 && ls.opt.scope.has(id) {
			var spilled error
			lost, err := ls.page(id, reader, want, func(l *Link) {
				if spilled == nil && (sel.fit == nil || sel.fit(l)) {
					buf, spilled = seq.spill(ctx, i, out.add(buf, l))
				}
			})
			if spilled != nil {
				return spilled
			}
			if err != nil {
				ls.mu.Lock()
				findings = append(findings, rereadFinding(s, id, err))
				ls.sum.dropPage(s, id, lost)
				ls.mu.Unlock()
			}
		}
		return seq.put(i, buf)
	})
	if err != nil {
		return nil, err
	}
	if q == (Query{}) {
		more, err := fileFindings(ctx, s, ls.opt, ls.sum)
		if err != nil {
			return nil, err
		}
		for _, f := range more {
			if !ls.ignore.match(&f) {
				findings = append(findings, f)
			}
		}
	}
	slices.SortFunc(findings, compareFindings)
	return conclude(findings, ls.sum, ls.ignore, opt), nil
}

// lister judges the links of pages one by one. The verdict on a link may depend
// on all others, so all links are judged before the first is listed.
type lister struct {
	s   *isite.Site
	opt Options
	// bad are the links to report, and script the links with a fragment that is
	// left to a script, both by page and in order. evidence says why.
	bad, script map[isite.PageID][]badLink
	evidence    []evidence
	// ignoredScripts are the targets of script that an ignore rule accepts.
	ignoredScripts map[isite.PageID]bool

	mu     sync.Mutex // guards ignore and sum
	ignore *ignoreRules
	sum    *Summary
}

func newLister(ctx context.Context, s *isite.Site, opt Options) (*lister, error) {
	ignore, err := newIgnoreRules(&opt)
	if err != nil {
		return nil, err
	}
	if opt.scope, err = scopeOf(ctx, s, opt); err != nil {
		return nil, err
	}
	opt.MaxFindings = 0 // all links are wanted
	j, err := judgeLinks(ctx, s, opt)
	if err != nil {
		return nil, err
	}
	scripts := make([]pageLink, len(j.scriptMisses))
	for i, m := range j.scriptMisses {
		scripts[i] = pageLink{m.page, badLink{link: m.link, evidence: m.evidence}}
	}
	ls := &lister{
		s: s, opt: opt, bad: j.bad, script: groupByPage(scripts, s.Pages()), evidence: j.evidence,
		ignoredScripts: map[isite.PageID]bool{}, ignore: ignore, sum: &j.summary,
	}
	if len(opt.Ignore) == 0 {
		return ls, nil
	}
	// Fragments that only scripts can serve are one finding for each target, and
	// the rules apply to that, as in Run.
	found, err := describe(ctx, s, opt, &judged{scripts: j.scripts}, ignore)
	for i := range found {
		if ignore.match(&found[i]) {
			ls.sum.ignore(&found[i], ignore.endpoint)
			target, _ := s.PageOf(found[i].node)
			ls.ignoredScripts[target] = true
		}
	}
	return ls, err
}

// page calls add for the links of one page. If want is not nil, it has the
// ascending numbers of the links to call add for. If the page has changed, lost
// are the links to report that page could not pass to add.
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
		is, why := decisions[s.State(l)], ""
		isBad := len(bad) > 0 && bad[0].link == uint32(i)
		switch {
		case l.IsExempt():
			is, why = decision{Unchecked, Exempted}, *cmp.Or(d.Exempt, new(string))
		case isBad:
			if is = decide(s, id, bad[0]).withDetail(d); bad[0].state == stateNoFragment && foundFolded(s, d) {
				is = decision{}
			}
			bad = bad[1:]
		case len(script) > 0 && script[0].link == uint32(i):
			is = decision{Unchecked, ScriptFragment}
			if target, _ := s.PageOf(l.Node); ls.ignoredScripts[target] {
				is.code = IgnoredByRule
			} else {
				why = ls.evidence[script[0].evidence].text
			}
			script = script[1:]
		case l.HasFragment() && is.verdict == OK && !ls.opt.NoFragments:
			if code := uncheckedFragment(s, l.Node, &ls.opt); code != "" {
				is = decision{Unchecked, code}
			}
		}
		row = linkOf(s, path, d, is)
		row.Evidence = why
		if isBad {
			row.Message = message(s, d, &row)
			ls.correct(&row)
		}
		add(&row)
	})
	return bad, err
}

// correct applies the ignore rules to a link that counts as an error or a
// warning. If the fragment of a link turned out to be there, it counts the link
// as fine.
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
		ls.sum.ignore(&f, ls.ignore.endpoint)
		l.Verdict, l.Code, l.Message = Unchecked, IgnoredByRule, ""
	}
}

// Remote is what is remembered of a link to another site.
type Remote struct {
	// Reason says why the last answer was not good, such as not-found; it is empty after
	// a good one.
	Reason string
	// Strikes is the number of failures in a row that count, and Since the time of the
	// first; zero after a good answer.
	Strikes int
	Since   time.Time
	// Change is [Died] or [Recovered] if this run found that out, else empty.
	Change string
}

// What a run can find out about a link that earlier runs have asked for.
const (
	Died      = "died"      // it is dead now, and was not before
	Recovered = "recovered" // it was dead, and works again
)

// ExternalAnswer is what is known of a link to another site.
type ExternalAnswer struct {
	// Verdict and Code replace those of the link. Message is needed for an error or a
	// warning.
	Verdict Verdict
	Code    Code
	Message string
	// Status and Final are what the other site answered, and where, if not at the
	// link's target. Suggestion is the better address.
	Status            int
	Final, Suggestion string
	// Remote is that of the link.
	Remote *Remote
}

// Give gives the answer to a link.
func (a *ExternalAnswer) Give(l *Link) {
	l.Verdict, l.Code, l.Message, l.Status, l.Final, l.Remote = a.Verdict, a.Code, a.Message, a.Status, a.Final, a.Remote
}

// externalSum collects what the answers for links to other sites mean for a result.
type externalSum struct {
	ignore *ignoreRules
	sum    *Summary
	found  []Finding
}

func (x *externalSum) add(l *Link, a ExternalAnswer) {
	row := *l
	a.Give(&row)
	switch row.Verdict {
	case OK:
		x.sum.OK++
	case Unchecked:
		x.sum.addUnchecked(row.Code, 1)
	default:
		f := row.Finding()
		f.own()
		f.Suggestion = a.Suggestion
		if row.Verdict == Error {
			x.sum.Errors++
		} else {
			x.sum.Warnings++
		}
		if x.ignore.match(&f) {
			x.sum.ignore(&f, x.ignore.endpoint)
		} else {
			x.found = append(x.found, f)
		}
	}
}

// AnswerExternal gives the links to other sites the verdicts that answer returns: it
// adds findings to r, applies the ignore rules to them, and corrects the summary. opt
// are the options of the check. answer is called for each such link.
func AnswerExternal(ctx context.Context, s *site.Site, opt Options, r *Result, answer func(l *Link) ExternalAnswer) error {
	ignore, err := newIgnoreRules(&opt)
	if err != nil {
		return err
	}
	all := opt
	all.Ignore = nil
	x := externalSum{ignore: ignore, sum: &r.Summary}
	_, err = Links(ctx, s, all, Query{External: true}, func(l *Link) error {
		if l.Code == External {
			r.Summary.addUnchecked(External, -1)
			x.add(l, answer(l))
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.Findings = mergeFindings(r.Findings, x.found)
	unused := ignore.unused()
	r.Summary.UnusedIgnores = slices.DeleteFunc(r.Summary.UnusedIgnores, func(rule string) bool { return !slices.Contains(unused, rule) })
	return nil
}

// ExternalList returns the result for links to other sites that no site holds, such as
// the lines of a list, with the verdicts that answer returns. The findings have the
// order of the links. Of opt, the ignore rules count. A link is not used after the next.
func ExternalList(links iter.Seq[*Link], opt Options, answer func(l *Link) ExternalAnswer) (*Result, error) {
	ignore, err := newIgnoreRules(&opt)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	x := externalSum{ignore: ignore, sum: &r.Summary}
	for l := range links {
		r.Summary.Links++
		x.add(l, answer(l))
	}
	r.Findings = x.found
	return r, nil
}

// OnlyExternal reduces a result to the links to other sites, which have no verdict
// yet, for a report about them alone.
func (r *Result) OnlyExternal() {
	n := 0
	for _, reason := range r.Summary.Reasons {
		if reason.Code == External {
			n = reason.Count
		}
	}
	s := &r.Summary
	r.Findings, r.scripts = nil, false
	*s = Summary{
		Docroot: s.Docroot, Profile: s.Profile, ProfileFrom: s.ProfileFrom, Files: s.Files, Pages: s.Pages, Bytes: s.Bytes,
		Links: n, Unchecked: n,
	}
	if n > 0 {
		s.Reasons = []CodeCount{{External, n}}
	}
}
