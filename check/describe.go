package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// describe reads the pages of all bad links again and returns the findings about
// them, in the order of pages and links, with suggestions. It corrects the
// summary of j, because pages may have changed, and because a fragment may name
// an a element of a quirks mode page in other letter case, which is fine. If the
// number of findings is limited, it leaves out those that are ignored, and counts
// those beyond the limit.
func describe(ctx context.Context, s *isite.Site, opt Options, j *judged, ignore *ignoreRules) ([]Finding, error) {
	scripts := map[isite.PageID][]scriptTarget{}
	if opt.ScriptFragments == ScriptWarn {
		for _, st := range j.scripts {
			scripts[st.page] = append(scripts[st.page], st)
		}
	}
	pages := slices.Collect(maps.Keys(j.bad))
	for id := range scripts {
		if _, ok := j.bad[id]; !ok {
			pages = append(pages, id)
		}
	}
	slices.Sort(pages)
	limit := findingLimit{most: opt.MaxFindings, ignore: ignore, sum: &j.summary}
	perPage := opt.MaxFindings
	if len(ignore.rules) > 0 { // they have to see all
		perPage = 0
	}
	described := make([]describedPage, 0, len(pages))
	seq := newSequence(func(pages []describedPage) error {
		for _, d := range pages {
			j.summary.Errors -= d.fine
			j.summary.OK += d.fine
			if d.unreadable {
				j.summary.dropPage(s, d.id, j.bad[d.id])
			}
			limit.apply(&d)
			described = append(described, d)
		}
		return nil
	})
	defer context.AfterFunc(ctx, seq.wake)()
	err := readersWith(ctx, s, opt, len(pages), func(r *isite.Reader) func(i int) error {
		w := &describer{s: s, reader: r, most: perPage}
		return func(i int) error {
			buf, err := seq.buffer(ctx, i)
			if err != nil {
				return err
			}
			id := pages[i]
			return seq.put(i, append(buf, w.describe(id, j.bad[id], scripts[id])))
		}
	})
	if err != nil {
		return nil, err
	}
	// The last warnings go until errors and warnings together keep to the limit.
	over := limit.errors + limit.warnings - limit.most
	for i := len(described) - 1; i >= 0 && over > 0 && limit.most > 0; i-- {
		d := &described[i]
		for k := len(d.findings) - 1; k >= 0 && over > 0; k-- {
			if f := &d.findings[k]; f.Verdict == Warning {
				over -= places(len(f.Target))
				limit.sum.UnlistedWarnings++
				d.findings = slices.Delete(d.findings, k, k+1)
			}
		}
	}
	n := 0
	for i := range described {
		n += len(described[i].findings)
	}
	all := make([]Finding, 0, n+spareFindings)
	for i := range described {
		all = append(all, described[i].findings...)
		described[i].findings = nil // there may be millions of findings
	}
	left, err := suggest(ctx, s, opt, all)
	if left > 0 {
		j.summary.Notes = append(j.summary.Notes, text.Count(left, "finding")+" may lack a suggestion: this site has so many similar names that sitelink compared them only for the links that most findings are about")
	}
	return all, err
}

// findingLimit bounds the findings about links that are kept in memory: the first
// errors in the order of pages, then the first warnings. It belongs to one
// goroutine.
type findingLimit struct {
	most             int // 0 for no limit
	ignore           *ignoreRules
	sum              *Summary
	errors, warnings int // places taken so far
}

// places returns how many findings of usual size take as much memory as one with
// a target of n bytes.
func places(n int) int { return 1 + n/256 }

// apply takes the findings that are ignored or beyond the limit from a page.
func (l *findingLimit) apply(d *describedPage) {
	if l.most == 0 {
		return
	}
	l.sum.UnlistedErrors += d.unlistedErrors
	l.sum.UnlistedWarnings += d.unlistedWarnings
	kept := slices.DeleteFunc(d.findings, func(f Finding) bool {
		if l.ignore.match(&f) {
			l.sum.ignore(&f, l.ignore.endpoint)
			return true
		}
		n, beyond := &l.errors, &l.sum.UnlistedErrors
		if f.Verdict == Warning {
			n, beyond = &l.warnings, &l.sum.UnlistedWarnings
		}
		if *n += places(len(f.Target)); *n > l.most {
			*n = l.most
			*beyond++
			return true
		}
		return false
	})
	if d.findings = kept; len(kept) < cap(kept)/2 {
		d.findings = slices.Clone(kept)
	}
}

// spareFindings is the capacity for findings about files, see mergeFindings.
const spareFindings = 256

// describedPage is what describe makes of the bad links of a page.
type describedPage struct {
	id       isite.PageID
	findings []Finding
	// fine counts the links that turned out to work.
	fine int
	// unreadable: the page could not be read again.
	unreadable bool
	// unlistedErrors and unlistedWarnings count the links beyond describer.most.
	unlistedErrors, unlistedWarnings int
}

// describer describes the links of one page at a time. It belongs to one
// goroutine.
type describer struct {
	s      *isite.Site
	reader *isite.Reader
	page   *isite.Page
	path   string // of page
	// most is the number of places of errors, and of warnings, above which the links of
	// a page are only counted, 0 for none.
	most int
	// redirected has the suggestion for each value that leads to a redirect, in the pages of
	// a directory with addresses below one path, both in dir. Such pages repeat each other's
	// links: rust-doc has 39,687 links to redirects, and 1,965 values in its directories.
	dir        string
	redirected map[string]string
}

// describe returns the findings about one page. bad and scripts are in the order
// of links.
func (w *describer) describe(id isite.PageID, bad []badLink, scripts []scriptTarget) describedPage {
	s := w.s
	w.page, w.path = s.Page(id), s.Path(id)
	address := s.PageAddress(w.page.Node()) // a host may move the page to another directory
	if dir := path.Dir(w.path) + " " + address[:strings.LastIndexByte(address, '/')+1]; dir != w.dir {
		w.dir, w.redirected = dir, map[string]string{}
	}
	room := len(bad) + len(scripts)
	if w.most > 0 {
		room = min(room, 2*w.most)
	}
	out := describedPage{id: id, findings: make([]Finding, 0, room)}
	errors, warnings := 0, 0
	want := make([]uint32, 0, len(bad)+len(scripts))
	for _, b := range bad {
		want = append(want, b.link)
	}
	for _, st := range scripts {
		want = append(want, st.link)
	}
	slices.Sort(want)
	err := w.reader.Details(id, want, func(link int, d *isite.Detail) {
		for ; len(bad) > 0 && bad[0].link == uint32(link); bad = bad[1:] {
			if bad[0].state == stateNoFragment && foundFolded(s, d) {
				out.fine++
				continue
			}
			is := decide(s, id, bad[0]).withDetail(d)
			n, beyond := &errors, &out.unlistedErrors
			if is.verdict == Warning {
				n, beyond = &warnings, &out.unlistedWarnings
			}
			if *n += places(len(d.Target)); w.most > 0 && *n > w.most {
				*beyond++
			} else {
				out.findings = append(out.findings, w.finding(d, is))
			}
		}
		for _, st := range scripts {
			if st.link == uint32(link) {
				// The fragments that are left to scripts are reported once for their target.
				l := linkOf(s, w.path, d, decision{Warning, ScriptFragment})
				f := l.Finding()
				f.own()
				f.Count, f.evidence = st.missing, st.evidence
				what := fmt.Sprintf("the fragment #%s of %s is left to a script", d.Fragment, s.Path(st.target))
				if st.fragments > 1 {
					what = fmt.Sprintf("%d fragments of %s, such as #%s, are left to a script", st.fragments, s.Path(st.target), d.Fragment)
				}
				f.Message = what + ": " + st.evidence + "; set script-fragments to silent if that is right, or to error to check them"
				out.findings = append(out.findings, f)
			}
		}
	})
	if err != nil {
		out.findings = append(out.findings[:0], rereadFinding(s, id, err))
		out.unreadable, out.fine, out.unlistedErrors, out.unlistedWarnings = true, 0, 0, 0
	}
	return out
}

// finding returns the finding about a link, with its suggestion if that takes no
// search.
func (w *describer) finding(d *isite.Detail, is decision) Finding {
	f := linkFinding(w.s, w.path, d, is)
	f.hasBase, f.isFeed = w.page.HasBase(), w.page.Kind().IsFeed()
	if f.Code != ViaRedirect || f.hasBase || f.isFeed || w.page.Alias() != "" { // what the link means depends on the page
		suggestAtOnce(w.s, &f)
		return f
	}
	known := false
	if f.Suggestion, known = w.redirected[f.Raw]; !known {
		suggestAtOnce(w.s, &f)
		w.redirected[f.Raw] = f.Suggestion
	}
	return f
}

// linkFinding describes one link, message included.
func linkFinding(s *isite.Site, page string, d *isite.Detail, is decision) Finding {
	l := linkOf(s, page, d, is)
	l.Message = message(s, d, &l)
	f := l.Finding()
	f.context, f.temporary = d.Context, d.Temporary
	f.own()
	if f.Code == MissingFile || f.Code == MissingDirectory {
		f.lacking = lacking(s, f.Target)
	}
	if f.Code == ViaRedirect {
		f.evidence = d.Note
	}
	return f
}

// lacking returns the length of the first part of a target that the docroot lacks:
// that of /guides/ in /guides/b/c.html, if there is no directory guides.
func lacking(s *isite.Site, target string) int {
	path, _, _ := strings.Cut(target, "?")
	at := docroot.NodeID(0)
	for end := len(s.BasePath()) + 1; end <= len(path); end++ {
		n := strings.IndexByte(path[end:], '/')
		if n < 0 {
			break
		}
		name := path[end : end+n]
		end += n
		if strings.Contains(name, "%") {
			name = string(weburl.PercentDecode(nil, name))
		}
		if id, ok := s.LookupIn(at, name); ok {
			at = id
		} else {
			return end + 1
		}
	}
	return len(path)
}

// joinFeedRelative replaces the findings about links that are relative to their
// feed by one: one setting of the generator writes all of them.
func joinFeedRelative(all []Finding, relativeURLs bool) []Finding {
	first, links, feeds, page := -1, 0, 0, ""
	left := all[:0]
	for i := range all {
		f := all[i]
		if f.Code == FeedRelative {
			links++
			if f.Page != page {
				feeds++
				page = f.Page
			}
			if first >= 0 {
				continue
			}
			first = len(left)
		}
		left = append(left, f)
	}
	if first < 0 {
		return all
	}
	clear(all[len(left):])
	f := &left[first]
	f.Count, f.Suggestion = links, ""
	f.Message = feedRelativeMessage(links, feeds, f.Message, relativeURLs)
	return left
}

// rereadFinding reports a page that could not be read a second time.
func rereadFinding(s *isite.Site, id isite.PageID, err error) Finding {
	f := Finding{Page: s.Path(id), Verdict: Error, Code: ReadError, Count: 1, Message: "the file could be read at first, but not again: " + err.Error()}
	if errors.Is(err, isite.ErrChanged) {
		f.Code, f.Message = Changed, "the file changed during the check; check again when the build has finished"
	}
	return f
}
