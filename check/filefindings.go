package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/site"
)

// fileFindings returns the findings that are not about one link: faults of
// files, directories and redirect rules, what [Options.More] adds, linksets that
// match no page, and orphans. Faults of pages outside the scope are left out. What
// only the generator can repair is a note of sum instead.
func fileFindings(ctx context.Context, s *isite.Site, opt Options, sum *Summary) ([]Finding, error) {
	var out []Finding
	for _, f := range s.Faults() {
		out = append(out, Finding{Page: f.Path, Verdict: Warning, Code: ReadError, Count: 1, Message: "cannot be read: " + f.Err.Error()})
	}
	for _, c := range s.Cuts() {
		path, _, _ := strings.Cut(c.Pattern, "?")
		message := fmt.Sprintf("the server has more than %s like %s, and was not asked for the others; --skip '%s' follows none of their links", text.Count(c.Asked, "address"), c.Pattern, path)
		if strings.HasPrefix(c.Pattern, "--") {
			message = c.Pattern + " was reached at this page; links of further pages were not followed"
		}
		out = append(out, Finding{Page: c.Page, Verdict: Warning, Code: LimitReached, Count: 1, Message: message})
	}
	faults := s.RuleFaults()
	if err := s.Rules().TooCostly(); err != nil {
		return nil, err
	}
	for _, f := range faults {
		v := Error
		if f.IsWarning() {
			v = Warning
		}
		message := f.Message
		if f.Text != "" {
			message += ": " + f.Text
		}
		out = append(out, Finding{Page: f.File, Line: f.Line, Column: min(f.Line, 1), Verdict: v, Code: Code(f.Code), Count: 1, Message: message, about: f.Text})
	}
	w := faultFinder{s: s, reader: s.NewReader()}
	defer w.reader.Close()
	for i := range s.Pages() {
		if id := isite.PageID(i); opt.scope.has(id) {
			w.page(id)
		}
	}
	if err := w.outsideBase(ctx, opt.scope); err != nil {
		return nil, err
	}
	out = append(out, w.found...)
	sum.Notes = append(sum.Notes, w.notes...)
	if w.lead != "" {
		sum.lead(w.lead)
	}
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

// faultFinder collects the faults of pages as files. It reads again only pages
// with faults that have a place.
type faultFinder struct {
	s      *isite.Site
	reader *isite.Reader
	found  []Finding
	notes  []string
	lead   string // see [Summary.Lead]
	hugo   bool   // the note about Hugo's sitemaps is there
}

// add notes a fault of a page that concerns the whole file.
func (w *faultFinder) add(id isite.PageID, v Verdict, code Code, message string) *Finding {
	w.found = append(w.found, Finding{Page: w.s.Path(id), Verdict: v, Code: code, Count: 1, Message: message})
	return &w.found[len(w.found)-1]
}

// addAt notes a fault at an offset of the page's text. It has no place if the
// page cannot be read again.
func (w *faultFinder) addAt(id isite.PageID, offset uint32, code Code, message string) {
	f := w.add(id, Warning, code, message)
	if line, column, at, err := w.reader.Position(id, offset); err == nil {
		f.Line, f.Column, f.Offset = line, column, at
	}
}

// page notes the faults of one page.
func (w *faultFinder) page(id isite.PageID) {
	p := w.s.Page(id)
	if e := p.Error(); e.Err != nil {
		switch {
		case errors.Is(e.Err, isite.ErrSitemapSize):
			w.add(id, Warning, SitemapLimit, "the sitemap was not read: "+e.Err.Error())
		case e.TooLarge:
			w.add(id, Warning, TooLarge, "the file was not read: "+e.Err.Error()+"; raise max-page-size to read it")
		default:
			w.add(id, Error, ReadError, "cannot be read: "+e.Err.Error())
		}
	}
	if p.BaseDiffers() {
		w.add(id, Warning, BaseDiffers, "the page has a second <base href>, or a link before the first one: browsers apply the first to all links of the page, but request style sheets and scripts above it without it; older programs apply each to what follows it")
	}
	for _, line := range p.BadLines() {
		f := w.add(id, Warning, BadMapFile, "this line of the image map is neither in NCSA nor in CERN format")
		f.Line, f.Column = line, 1
	}
	for _, fault := range p.Faults() {
		if fault.Kind == scan.FaultXMLSpace && w.isHugoSitemap(id) {
			continue
		}
		code, message := faultMessage(p.Kind(), fault)
		w.addAt(id, fault.Off, code, message)
	}
	if p.Error().Err == nil && (p.Kind() == isite.PageSitemap || p.Kind() == isite.PageIndex) {
		w.sitemap(id)
	}
}

// sitemap notes the faults of a sitemap or sitemap index as a whole.
func (w *faultFinder) sitemap(id isite.PageID) {
	p := w.s.Page(id)
	entries, foreign, first := 0, 0, 0
	var redirected []uint32 // the entries that the host redirects
	for i := range p.All() {
		l := &p.All()[i]
		if !l.IsEntry() {
			continue
		}
		entries++
		if l.State.Leaves() {
			if foreign++; foreign == 1 {
				first = i
			}
		}
		if w.s.State(l) == host.StateRedirect {
			redirected = append(redirected, uint32(i))
		}
	}
	if entries > isite.MaxSitemapEntries {
		w.add(id, Warning, SitemapLimit, fmt.Sprintf("the sitemap has %d entries; the protocol allows %d", entries, isite.MaxSitemapEntries))
	}
	if p.Size() > isite.MaxSitemapBytes {
		w.add(id, Warning, SitemapLimit, fmt.Sprintf("the sitemap has %d bytes; the protocol allows %d", p.Size(), isite.MaxSitemapBytes))
	}
	switch {
	case foreign == 0 || !w.s.Published():
	case foreign == entries && w.s.Sent(p.Node()) != nil: // a preview has the addresses of the published site
		_ = w.reader.Details(id, []uint32{uint32(first)}, func(_ int, d *isite.Detail) { // a page that changed has a finding
			w.notes = append(w.notes, fmt.Sprintf("all entries of %s are addresses of another site, such as %s: with --base-url, its addresses count as those of the server", w.s.Path(id), d.Target))
		})
	default:
		w.addAt(id, p.All()[first].Off, SitemapEntry, fmt.Sprintf("%d of %d entries, this one first, are not below a base URL; search engines drop them", foreign, entries))
	}
	if len(redirected) > 0 {
		// One setting of the generator, or one template, writes all of them.
		_ = w.reader.Details(id, redirected[:1], func(_ int, d *isite.Detail) { // a page that changed has a finding
			from, _, _ := strings.Cut(d.Target, "?")
			generator, _ := w.s.Advice()
			switch {
			case generator == "docusaurus" && d.Final == from+"/":
				w.notes = append(w.notes, fmt.Sprintf("the host redirects %d of %d addresses in %s, such as %s to %s, because trailingSlash is not set: set it to true in the configuration of Docusaurus",
					len(redirected), entries, w.s.Path(id), from, d.Final))
			case len(redirected) == 1:
				w.addAt(id, p.All()[redirected[0]].Off, SitemapEntry, fmt.Sprintf("the sitemap lists %s, which redirects to %s", from, d.Final))
			default:
				w.addAt(id, p.All()[redirected[0]].Off, SitemapEntry, fmt.Sprintf("the host redirects %d of %d entries, such as this one from %s to %s; search engines want the final addresses",
					len(redirected), entries, from, d.Final))
			}
		})
	}
}

// hugoSitemap is how sitemaps begin that Hugo's own template writes (0.162). Earlier
// versions wrote no empty line.
const hugoSitemap = "\n<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"yes\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"\n  xmlns:xhtml="

// isHugoSitemap reports whether Hugo's own template wrote a sitemap, and notes it
// the first time.
func (w *faultFinder) isHugoSitemap(id isite.PageID) bool {
	if w.s.Page(id).Kind() != isite.PageSitemap {
		return false
	}
	text, err := w.reader.Text(id)
	if err != nil || !bytes.HasPrefix(text, []byte(hugoSitemap)) {
		return false
	}
	if !w.hugo {
		w.hugo = true
		w.notes = append(w.notes, w.s.Path(id)+" begins with an empty line, which strict programs reject: Hugo's own template writes it, and one of your own, layouts/sitemap.xml, replaces it")
	}
	return true
}

// Links outside the base path.
const (
	fewOutside      = 3    // that content may have without a warning
	maxOutsidePages = 200  // that are read to tell those of content from those of templates
	maxOutsideLinks = 5000 // of pages at the top of a host
)

// outsideBase warns once if the base URL may be wrong. The sign is links to the site's own
// host that are not checked because they lead outside the base path. There are three
// reasons to warn: another base path would lead several of them to files, content has more
// than a few, or they are most of the links by path in templates. Links that name the host
// count for the first reason only: their authors mean another part of the host. With the
// base path /docs, outsideBase warns of four different links such as /a/ in content, but
// not of three. It warns of links such as /manual/x.html if the docroot has x.html and the
// files of most of the others.
func (w *faultFinder) outsideBase(ctx context.Context, c *scope) error {
	s := w.s
	top := s.BasePath() == "" && !s.Rooted() // a link that was built for a base path has no file
	astray := func(st host.State) bool {
		switch st {
		case host.StateMissingFile, host.StateMissingDirectory:
			return top
		}
		return st == host.StateOutsideBase || st == host.StateMissingBase || st == host.StateGluedBase
	}
	total, read, pages := 0, 0, []isite.PageID(nil)
	for i := range s.Pages() {
		p, before := s.Page(isite.PageID(i)), len(pages)
		if p.Kind() == isite.PageSitemap || p.Kind() == isite.PageIndex || !c.has(isite.PageID(i)) {
			continue // sitemap reports those of sitemaps
		}
		read++
		for _, l := range p.All() {
			if l.State <= host.StateRedirect || l.State == host.StateExternal { // most
				continue
			}
			if l.State == host.StateOutsideBase {
				total++
			}
			if len(pages) == before && astray(l.State) {
				pages = append(pages, isite.PageID(i))
			}
		}
	}
	most := 2*len(pages) > read
	if total == 0 && !most {
		return nil
	}
	if top { // few pages say enough, for their links are wrong for one reason
		links := 0
		pages = pages[:min(len(pages), maxOutsidePages/10)]
		for i, id := range pages {
			if links += len(s.Page(id).All()); links > maxOutsideLinks {
				pages = pages[:i+1]
				break
			}
		}
	}
	pages = pages[:min(len(pages), maxOutsidePages)]

	type target struct {
		outside      bool
		links, pages int
		page         isite.PageID // the last of them
	}
	room := maxBaseBytes
	paths, all, bases := map[string]*target{}, map[string]bool{}, map[string]int{}
	var byPath, byName Finding       // the first link of each manner
	rooted, lost, lacking := 0, 0, 0 // links from the root
	targets := map[string]bool{}     // of those that are lost: a template may have a few
	for _, id := range pages {
		if w.reader.Open() != nil {
			return nil
		}
		err := w.reader.Details(id, nil, func(_ int, d *isite.Detail) {
			outside, raw := d.State == host.StateOutsideBase, strings.TrimSpace(d.Raw)
			if strings.HasPrefix(raw, "/") && !strings.HasPrefix(raw, "//") {
				if rooted++; astray(d.State) {
					lost++
					targets[d.Target] = true
				}
				if d.State == host.StateMissingBase {
					lacking++
				}
			}
			if (outside || top && astray(d.State)) && room > 0 && !all[d.Target] {
				all[d.Target] = true
				room -= len(d.Target)
				if base := baseOf(s, d.Target, &room); base != "" {
					bases[base]++
				}
			}
			first := &byPath
			if strings.Contains(raw, "//") {
				first = &byName
			}
			if outside && first.Page == "" {
				*first = Finding{Page: s.Path(id), Line: d.Line, Column: d.Column, Offset: d.Offset, Target: d.Target}
			}
			if first == &byName || !outside && !isRooted(raw) {
				return
			}
			t := paths[d.Target]
			if t == nil {
				t = &target{outside: outside, page: id, pages: 1}
				paths[d.Target] = t
			}
			if t.links++; t.page != id {
				t.page, t.pages = id, t.pages+1
			}
		})
		if err != nil && !errors.Is(err, isite.ErrChanged) {
			return nil // the page itself is a finding
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}

	content, ofTemplates, outside := 0, 0, 0
	for _, t := range paths {
		inTemplate := len(pages) > 2 && 2*t.pages > len(pages)
		switch {
		case inTemplate && t.outside:
			outside++
			ofTemplates++
		case inTemplate:
			ofTemplates++
		case t.outside:
			content += t.links
		}
	}
	better, votes := "", 0
	for _, base := range slices.Sorted(maps.Keys(bases)) {
		if bases[base] > votes {
			better, votes = base, bases[base]
		}
	}
	isWrong := votes > 1 && 2*votes > len(all)
	most = most && len(targets) > fewOutside && 2*lost > rooted
	switch {
	case most && 2*lacking > lost:
		w.lead = fmt.Sprintf("%s of %s from the root lack the base path %s/: build the site for its base URL, or correct base-url if it is published elsewhere",
			text.Thousands(lacking), text.Count(rooted, "link"), s.BasePath())
	case isWrong && (most || !top):
		verb := "correct"
		if s.BaseURL() == "" {
			verb = "set"
		}
		w.lead = fmt.Sprintf("the pages were built for the base path %s/, and not for %s/: build the site for its base URL, or %s base-url", better, s.BasePath(), verb)
	case most && !top:
		w.lead = fmt.Sprintf("%s of %s from the root lead outside of the base path %s/: build the site for its base URL, or correct base-url",
			text.Thousands(lost), text.Count(rooted, "link"), s.BasePath())
	}
	if total == 0 || !isWrong && content <= fewOutside && (outside <= fewOutside || 2*outside <= ofTemplates) {
		return nil
	}
	f := byPath
	if f.Page == "" {
		f = byName
	}
	f.Verdict, f.Code, f.Count = Warning, OutsideBase, 1
	f.Message = fmt.Sprintf("%s lead to the site's host, but not below its base URL, such as %s, and are not checked; ", text.Count(total, "link"), f.Target)
	if isWrong {
		f.Message += fmt.Sprintf("with the base path %s/, they would lead to files of the site: correct base-url", better)
	} else {
		f.Message += "if all links of the site look like this one, base-url is wrong; if other sites of the host answer them, ignore this code"
	}
	f.Target = ""
	w.found = append(w.found, f)
	return nil
}

// maxBaseBytes bounds what baseOf looks up: a target can have thousands of slashes.
const maxBaseBytes = 32 << 20

// baseOf returns the base path that would lead a target outside the site's base path
// to a file other than the home page: /manual for /manual/x.html, if the docroot has
// x.html. It returns "" if no base path does. room is how many bytes of addresses may
// still be looked up.
func baseOf(s *isite.Site, target string, room *int) string {
	if s.Rooted() {
		return ""
	}
	for i := 1; i < len(target); i++ {
		if target[i] != '/' {
			continue
		}
		if *room -= len(target); *room < 0 {
			return ""
		}
		if r, err := s.Request(s.BasePath() + target[i:]); err == nil && r.State.Answers() && r.State != host.StateFallback && !host.IsHome(s.Host, r.Node) {
			return target[:i]
		}
	}
	return ""
}

// faultMessage describes a fault of a page's text.
func faultMessage(kind isite.PageKind, f scan.Fault) (Code, string) {
	switch f.Kind {
	case scan.FaultComment:
		return UnclosedComment, "the comment is never closed, so browsers hide the rest of the page"
	case scan.FaultElement:
		return UnclosedElement, fmt.Sprintf("<%s> is never closed, so browsers treat the rest of the page as its text", f.Name)
	case scan.FaultXML:
		if !kind.HasAnchors() {
			return NotWellFormed, "not well-formed XML: " + f.Name + "; programs stop reading here"
		}
		return NotWellFormed, "not well-formed XML: " + f.Name + "; browsers show an error instead of the page"
	case scan.FaultXMLSpace:
		return NotWellFormed, "white space precedes the XML declaration, so strict programs reject the whole file; remove it from the template that writes the file"
	case scan.FaultCSS:
		return NotWellFormed, "invalid CSS: " + f.Name + "; browsers drop the rest of the rule or style sheet"
	case scan.FaultJSON:
		return NotWellFormed, "invalid JSON: " + f.Name + "; programs reject the whole file"
	case scan.FaultScript:
		return NotWellFormed, f.Name + "; browsers ignore all of it"
	case scan.FaultMarkdown:
		return TooLarge, "the text from here on has too many brackets, emphasis marks or nested quotes in one paragraph or line, so links of the file are not checked"
	case scan.FaultTree:
		return TooLarge, "the page has misnested markup and is " + f.Name + ", so some of its links may be missing or read wrongly; correct the markup or split the page"
	}
	return UnclosedTag, "the file ends inside a tag, which browsers drop"
}

// finding reports an orphan. Alias pages are meant to have no links to them.
func (o *OrphanFile) finding() (Finding, bool) {
	f := Finding{Page: o.Path, Verdict: Warning, Code: Orphan, Count: 1}
	switch {
	case o.Alias != "":
		return Finding{}, false
	case o.Linked:
		f.Code = Unreachable
		f.Message = "pages link to this page, but no chain of links from the start leads here"
	case o.IsPage:
		f.Message = "no other page links to this page"
	default:
		f.Message = "no page links to this file"
	}
	return f, true
}
