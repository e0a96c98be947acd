package source

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source/read"
)

// A rule says where a link is written. It compares the link with one kind of evidence, and
// answers in one of three ways: a place, that no place is certain, or the zero answer,
// which leaves the link to the next rule.
type rule struct {
	name string
	// ofPage looks at the page and the file that it was made of, before any rule with
	// inFiles, which looks in all files of the project for what is left.
	ofPage  func(p *locatedPage, l *openLink) answer
	inFiles func(s *search, l *openLink) answer
}

// rules are all rules, in their order: the first that answers wins.
var rules = []rule{
	{name: "copy", ofPage: inCopy},
	{name: "host rule", ofPage: inHostRule},
	{name: "element", ofPage: inElement},
	{name: "marked", ofPage: marked},
	{name: "item", ofPage: inItem},
	{name: "sitemap entry", ofPage: inSitemap},
	{name: "own content", ofPage: inOwnContent},
	{name: "front matter", ofPage: inFrontMatter},
	{name: "template", inFiles: inTemplate},
	{name: "data", inFiles: inData},
	{name: "listed content", inFiles: inListedContent},
	{name: "menu", inFiles: inMenu},
	{name: "other form", inFiles: inOtherForm},
	{name: "composed", inFiles: inComposing},
}

// inCopy: the page is the copy of a file of the project, so places in both are the same.
// Example: public/a.html has the bytes of static/a.html.
func inCopy(p *locatedPage, l *openLink) answer {
	if p.copyOf == nil {
		return answer{}
	}
	if p.lines == nil {
		made := read.NewLines(p.text)
		p.lines = &made
	}
	line, column := p.lines.At(int(min(l.link.Offset, int64(len(p.text)))))
	if l.link.Line > 0 {
		line = l.link.Line
	}
	return answer{at: p.copyOf.position(line, column), source: l.link.Raw}
}

// inHostRule: a line of _redirects is a line of its template with the same first field, or
// an alias of a page. Example: "/old/ /new/ 301" is in layouts/index.redir, or comes from
// "aliases: [/old/]" in the front matter of content/new.md.
func inHostRule(p *locatedPage, l *openLink) answer {
	if path.Base(p.name) != ruleFile {
		return answer{}
	}
	lines := read.NewLines(p.text)
	from, to, _ := lines.Span(l.link.Line)
	line := p.text[from:to]
	at := p.m.content.ruleAt(p.m.rules(), line, p.m.basePath)
	return answer{at: at, none: at == nil, source: string(bytes.TrimSpace(line))}
}

// inElement: a fault is about an element of the page, which one template writes. Example:
// <base href="/b/"> is in layouts/baseof.html alone.
func inElement(p *locatedPage, l *openLink) answer {
	switch {
	case l.link.Raw == "" && l.link.Element != "":
		at := p.elementAt(l.link.Element)
		return answer{at: at, none: at == nil, source: "<" + l.link.Element + ">"}
	case l.on == nil: // a fault of the file, or the page has changed
		return answer{none: true}
	}
	return answer{}
}

// marked: the comment before the link names its file, or its line as well. Example:
// <!-- sitelink:source content/a.md:3:7 --><a href="/gone/">.
func marked(p *locatedPage, l *openLink) answer {
	all := p.markers.comments
	var by *marker
	if i := sort.Search(len(all), func(i int) bool { return int64(all[i].at) > l.on.offset }); i > 0 {
		by = &all[i-1]
	}
	if by == nil || by.line > 0 && l.nthOnPage > 0 && p.links[l.nthOnPage-1].offset >= int64(by.at) {
		return answer{}
	}
	f, ok := p.m.content.named(by.file)
	if !ok {
		return answer{}
	}
	doc := p.m.document(f)
	if by.line == 0 {
		at, _, ok := doc.onlyMatch(&l.on.addr, p.m.addresses(doc.Links, p.name), p.m.frontMatterAddresses(doc, p.name))
		if !ok {
			return answer{}
		}
		return answer{at: doc.position(at), source: by.file}
	}
	// The marker has the position of the link. Look for the destination from there.
	from, to, ok := doc.Lines.Span(by.line)
	if !ok {
		return answer{}
	}
	best := -1
	for _, it := range doc.Links {
		src := p.m.address(it.Value, p.name)
		if it.Order < from || it.Order >= to || matchScore(&src, &l.on.addr) == noMatch {
			continue
		}
		_, column := doc.Lines.At(it.Order)
		if best < 0 || column <= by.column {
			best = it.At
		}
	}
	at := f.position(by.line, max(1, by.column))
	if best >= 0 {
		at = doc.position(best)
	}
	return answer{at: at, source: fmt.Sprintf("%s:%d", by.file, by.line)}
}

// inItem: an item of a feed, or a chapter on the page with all of them, shows a page, so its
// links are aligned with the file of that page. Example: the item with <link>/post/a/</link>
// has the links of content/post/a.md.
func inItem(p *locatedPage, l *openLink) answer {
	if p.ofItems == nil || p.ofItems[l.nthOnPage].at == nil {
		return answer{}
	}
	return p.ofItems[l.nthOnPage]
}

// inSitemap: an entry of a sitemap is the page of one content file. Example:
// <loc>/post/a/</loc> is content/post/a.md.
func inSitemap(p *locatedPage, l *openLink) answer {
	if l.on.element != "loc" {
		return answer{}
	}
	if makers := p.m.content.makersOf(PageKey(l.on.addr.target)); len(makers) == 1 && l.on.addr.target != "" {
		f := &p.m.content.files[makers[0]]
		return answer{at: f.position(1, 1), source: f.display}
	}
	return answer{none: true}
}

// inOwnContent: the destinations of the file of the page, and of the files that its
// shortcodes include, align with the links of the page in their order. Example: of
// "[a](b.md) [c](/gone/)" and the page's /nav/, /b/, /gone/, the third is the second.
func inOwnContent(p *locatedPage, l *openLink) answer {
	if p.doc == nil || p.pairs[l.nthOnPage] < 0 {
		return answer{}
	}
	i := p.pairs[l.nthOnPage]
	return answer{at: p.owners[i].position(p.written[i].At), source: p.written[i].Value}
}

// inFrontMatter: one value of the front matter of the page's file leads where the link
// leads. Example: "cover: /img/a.png" and <img src="/img/a.png">.
func inFrontMatter(p *locatedPage, l *openLink) answer {
	if p.doc == nil {
		return answer{}
	}
	at, inMatter, ok := p.doc.onlyMatch(&l.on.addr, p.addrs, p.matter)
	switch {
	case !ok:
		return answer{}
	case inMatter:
		return answer{at: p.doc.position(at), source: p.doc.file.display}
	}
	l.own = p.doc.position(at) // the source of another link, which a later rule may need
	return answer{}
}

// inTemplate: one template has the whole address, as text or in an expression that only
// changes its form, or a single file that writes into pages has it as a word. Example:
// layouts/nav.html has <a class="x" href="/gone/">, and the page the same tag between the
// same elements. Two templates that fit equally well disagree.
func inTemplate(s *search, l *openLink) answer {
	by := l.composed.by
	literal := len(by) > 0 && by[0].Writes()
	if literal && len(by) == 1 {
		return by[0].answer(l.link.Raw)
	}
	l.hits, l.otherForm = s.templateHits(l)
	l.otherForm = l.otherForm && len(by) == 0
	switch {
	case l.otherForm:
	case len(l.hits) > 0 && !severalFiles(l.hits) && (len(by) == 0 || literal):
		return l.hits[min(l.nth, len(l.hits)-1)].answer()
	case literal:
		return answer{none: true, source: by[0].file.display + " and " + by[1].file.display}
	}
	return answer{}
}

// inData: a template loops over the entries of a data or configuration file. Example:
// <a href="{{ .url | relURL }}">{{ .name }}</a> wrote /a/ and /b/ with the names A and B,
// and data/menu.yml has "url: a" below "name: A".
func inData(s *search, l *openLink) answer {
	c := &l.composed
	if c.run != nil && c.nth >= 0 {
		if !c.run.placed {
			s.m.templates().placeRun(c.run)
		}
		if p := c.run.places[c.nth]; p != nil {
			return answer{at: p, source: c.run.links[c.nth].hole}
		}
	}
	switch hits := l.hits; {
	case l.otherForm && !severalFiles(hits): // see inOtherForm
	case len(hits) == 1 && (len(c.by) == 0 || hits[0].file.dir.kind == read.Template || !l.isLink() && len(c.run.links) < minEnds && s.isResource(&hits[0])):
		return hits[0].answer()
	case len(hits) > 0 && len(c.by) == 0:
		return answer{none: true, source: hits[0].file.display + " and other files"}
	}
	return answer{}
}

// inListedContent: the page shows a part of another page, and the file of that page has the
// destination. The text around the link decides between several files. Without such text, a
// file counts if the page includes it or links to its page. Example: /posts/ shows the
// summary of content/posts/a.md, and links to /posts/a/. A menu may be made of content,
// too: its entry /guide/gone.md is [Gone](gone.md) in docs/guide/README.md.
func inListedContent(s *search, l *openLink) answer {
	var hits []hit
	spellings, literal := s.m.spellings(l.link, false)
	if l.otherForm {
		spellings = spellings[:literal]
	}
	for _, f := range spellings {
		if hits = s.content.hits[f]; len(hits) > 0 {
			break
		}
	}
	composed := len(l.composed.by) > 0
	if target := l.menuTarget(); len(hits) == 0 && target != "" {
		hits = s.content.hits[target]
	}
	if len(hits) == 0 && !composed && !l.otherForm {
		return answer{at: l.own, source: l.link.Raw}
	}
	included := func(h *hit) bool { return l.page.doc != nil && l.page.doc.included[h.file.display] }
	near := func(h *hit) bool { return l.page.near[h.file.key] || l.own != nil && l.own.File == h.file.display }
	h := closest(hits, l.page.around(l.link.Offset), func(h *hit) int {
		switch {
		case included(h):
			return isIncluded
		case near(h):
			return isNear
		}
		return 0
	})
	if h != nil {
		return h.answer()
	}
	switch {
	case composed:
		// A template writes such links. Other pages may have the same address.
		few := filter(hits, func(h *hit) bool {
			return included(h) || near(h) && h.certain || h.relative && h.label != "" && h.label == l.on.label
		})
		if len(hits) > 0 && hits[0].relative && (len(few) == 0 || severalFiles(few)) {
			return answer{none: true, source: hits[0].file.display + " and " + l.composed.by[0].file.display}
		}
		hits = few
	case !severalFiles(hits):
		// The only file with this address need not be where the page has it from.
		hits = filter(hits, func(h *hit) bool {
			return included(h) || near(h) || h.certain || h.label != "" && h.label == l.on.label
		})
	default:
		if few := filter(hits, included); len(few) > 0 {
			hits = few
		} else {
			hits = filter(hits, near)
		}
	}
	if len(hits) == 0 || severalFiles(hits) {
		return answer{}
	}
	return hits[min(l.nth, len(hits)-1)].answer()
}

// What adds to the similarity of the surroundings, in bytes.
const (
	isIncluded = 24 // a shortcode in the page's content names the file
	isNear     = 8  // the page links to the page of the file
)

// inMenu: the front matter of a page that is not published puts it into a menu. Example:
// "menu: main" in content/a.md with "draft: true", and <a href="/a/">Title of a</a>.
func inMenu(s *search, l *openLink) answer {
	a := &l.on.addr
	if !s.m.opt.Generator.Traits().Modules || !l.isLink() || a.target == "" || s.m.pageOf(a) != "" {
		return answer{}
	}
	makers := s.m.content.makersOf(PageKey(a.target))
	if len(makers) != 1 {
		return answer{}
	}
	d := s.m.document(s.m.content.files[makers[0]])
	named := slices.ContainsFunc(d.Matter, func(v read.Value) bool { return nameKeys[v.Key] && read.PlainLabel(v.Text) == l.on.label })
	text, off := d.Lines.Text, 0
	var entry *Position
	for line := range bytes.Lines(text[:read.FrontMatter(text)]) {
		if k := read.KeyOnLine().FindSubmatchIndex(line); k != nil {
			key := strings.ToLower(string(line[k[2]:k[3]]))
			named = named || nameKeys[key] && read.PlainLabel(string(line[k[3]:])) == l.on.label
			if entry == nil && k[2] <= 1 && menuOf[key] {
				entry = d.position(off + k[2])
			}
		}
		off += len(line)
	}
	if !named {
		return answer{}
	}
	return answer{at: entry, source: d.file.display}
}

// menuOf are the keys of front matter that put a page into a menu, and nameKeys
// those with its name there.
var (
	menuOf   = read.WordSet("menu menus")
	nameKeys = read.WordSet("title linktitle name")
)

// inOtherForm: a single file that writes into pages has the address in another form. No
// content has the address as it is on the page, and the page's own file has it in no form.
// Example: "url: /a/" in data/menu.yml, and <a href="https://example.org/a/">. But a post
// with [x](https://example.org/a/) disagrees with "to: '/a/'" in docusaurus.config.js,
// which the generator may turn into /a.
func inOtherForm(s *search, l *openLink) answer {
	if !l.otherForm {
		return answer{}
	}
	spellings, literal := s.m.spellings(l.link, false)
	for i, f := range spellings {
		for _, h := range s.content.hits[f] {
			if i < literal || l.page.doc != nil && l.page.doc.file.display == h.file.display {
				return answer{none: true, source: h.file.display + " and " + l.hits[0].file.display}
			}
		}
	}
	return l.hits[min(l.nth, len(l.hits)-1)].answer()
}

// inComposing: one template composes the link of parts that are in no file. Example:
// <a href="/tags/{{ . }}/">.
func inComposing(_ *search, l *openLink) answer {
	if len(l.composed.by) != 1 {
		return answer{}
	}
	return l.composed.by[0].answer(l.link.Raw)
}

// around returns the text around an offset of the page.
func (p *locatedPage) around(offset int64) read.Surroundings {
	if p.shown == nil {
		p.shown = &read.VisibleText{}
		p.shown.AddHTML(0, p.m.built(p.m.readers[0], p.name))
		p.shown.Finish()
	}
	return p.shown.Around(int(offset))
}

// answer says that a link is written there.
func (w *written) answer(raw string) answer {
	return answer{at: w.position(raw), source: string(w.file.text[w.Attr.From:w.Attr.To])}
}

// locatePage places links of one page, sorted by offset, by the rules that look at the
// page, and returns those that are left.
func (c *composer) locatePage(r *site.Reader, links []BuiltLink, places []Place) (rest []*openLink) {
	p := c.readPage(r, links)
	seen := map[string]int{}
	for i, link := range links {
		l := &openLink{page: p, link: link, place: &places[i], nth: seen[link.Raw]}
		j := sort.Search(len(p.links), func(j int) bool { return p.links[j].offset >= link.Offset })
		for j < len(p.links) && p.links[j].offset == link.Offset && p.links[j].raw != link.Raw {
			j++
		}
		if j < len(p.links) && p.links[j].offset == link.Offset {
			l.on, l.nthOnPage = &p.links[j], j
		}
		done := false
		for _, rule := range rules {
			if rule.ofPage == nil {
				continue
			}
			if a := rule.ofPage(p, l); a.at != nil || a.none {
				places[i], done = Place{a.at, rule.name, a.source}, true
				break
			}
		}
		if done && places[i].Rule != "front matter" {
			continue
		}
		seen[link.Raw]++
		if !done {
			l.composed = p.composed(l.on)
			rest = append(rest, l)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	near := map[string]bool{}
	for i := range p.links {
		if t := p.links[i].addr.target; t != "" {
			near[PageKey(strings.TrimPrefix(t, "/"))] = true
		}
	}
	// The other rules need little of the page.
	few := &locatedPage{m: c, name: p.name, doc: p.doc, near: near}
	for _, l := range rest {
		on := *l.on
		l.on, l.page = &on, few
	}
	return rest
}

// readPage reads a page, and finds the file that it was made of.
func (c *composer) readPage(r *site.Reader, links []BuiltLink) *locatedPage {
	p := &locatedPage{m: c, name: links[0].Page}
	p.text = c.built(r, p.name)
	p.markers = findMarkers(p.text)
	if p.markers.file == "" && p.markers.comments == nil {
		p.copyOf = c.content.copyOf(c.docroot, p.name, p.text)
	}
	if p.copyOf != nil || path.Base(p.name) == ruleFile {
		return p
	}
	p.links, p.left = c.pageLinks(r, p.name, p.text), c.perPage+32*len(p.text)
	if p.doc = c.fileOf(p.name, p.text, p.markers.file, p.links); p.doc != nil {
		p.addrs, p.matter = c.addressesIn(p.doc, p.name), c.frontMatterAddresses(p.doc, p.name)
		addresses := p.addrs
		if p.written, p.owners = c.withIncluded(p.doc); len(p.written) > len(p.addrs) {
			addresses = c.addresses(p.written, p.name)
		}
		p.pairs, _ = align(p.written, addresses, p.links)
	}
	p.ofItems = c.itemPairs(r, p.name, p.text, p.links, links)
	return p
}

// locateRest places the links that the rules of their pages left, by the rules that look
// in all files: first in templates, data and configuration, then in the content of other
// pages. It stops when ctx ends.
func (c *composer) locateRest(ctx context.Context, rest []*openLink) {
	s := &search{m: c, levels: [2]textSearch{newTextSearch(), newTextSearch()}, content: newTextSearch()}
	s.levels[1].byWord = s.levels[0].byWord
	for _, rule := range rules {
		if rule.inFiles == nil || len(rest) == 0 {
			continue
		}
		switch rule.name {
		case "template":
			s.readTemplates(ctx, rest)
		case "listed content":
			s.readContent(ctx, rest)
		}
		if ctx.Err() != nil {
			return
		}
		left := rest[:0]
		for _, l := range rest {
			if a := rule.inFiles(s, l); a.at != nil || a.none {
				*l.place = Place{a.at, rule.name, a.source}
			} else {
				left = append(left, l)
			}
		}
		rest = left
	}
}
