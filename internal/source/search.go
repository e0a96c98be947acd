package source

import (
	"bytes"
	"context"
	"html"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// hit is an occurrence of a text in a file.
type hit struct {
	file contentFile
	// around holds the surroundings of the links whose destination is here,
	// none if they are not known.
	around []surroundings
	// element is the element of the template that has the address as a link, "" if
	// there is none.
	element string
	// label is the text of the link, certain reports that the address is in
	// front matter or a parameter of a shortcode.
	label   string
	certain bool
	at      int
	line    int
	col     int
}

func (h hit) position() *Position { return h.file.position(h.line, h.col) }

// textSearch looks for many texts at once.
type textSearch struct {
	// byWord holds the texts by their first word, see eachWord.
	byWord map[string][]string
	hits   map[string][]hit
}

// maxTexts is how many texts with the same first word are looked for.
const maxTexts = 1000

func newTextSearch() textSearch {
	return textSearch{byWord: map[string][]string{}, hits: map[string][]hit{}}
}

func (w *textSearch) add(text string) {
	if word := searchWord(text); word != "" && len(w.byWord[word]) < maxTexts && !slices.Contains(w.byWord[word], text) {
		w.byWord[word] = append(w.byWord[word], text)
	}
}

// searchWord returns the first word of a text, "" if the text is not looked for.
func searchWord(text string) string {
	if len(text) < 2 || len(text) > maxValue {
		return ""
	}
	for i := range len(text) {
		if isWordEnd[text[i]] {
			return text[:i]
		}
	}
	return text
}

// search records where a file contains the texts as whole addresses.
func (w *textSearch) search(f contentFile, text []byte) {
	var l *lines
	eachWord(text, func(at int, word []byte) {
		texts := w.byWord[string(word)]
		for _, whole := range texts {
			end := at + len(whole)
			if !bytes.HasPrefix(text[at:], []byte(whole)) || end < len(text) && !isWordEnd[text[end]] {
				continue
			}
			if rest := text[end:]; bytes.HasPrefix(rest, []byte("{{")) && !blockEnds().Match(rest) {
				continue // an action writes the rest: /tags/ is not the address in href="/tags/{{ . }}"
			}
			if l == nil {
				made := newLines(text)
				l = &made
			}
			h := hit{file: f, at: at}
			h.line, h.col = l.at(at)
			w.hits[whole] = append(w.hits[whole], h)
		}
	})
}

// blockEnds matches the action of a template that ends a block.
var blockEnds = text.Regexp(`^\{\{-?\s*(?:end|else)\b`)

// spellings returns how a template or data file may write an address of a page,
// the most likely spelling first.
func (m *Map) spellings(l Link) []string {
	raw := strings.TrimSpace(l.Raw)
	a := m.address(raw, l.Page)
	all := []string{raw, html.EscapeString(raw), a.exact, a.local}
	if rest := strings.TrimPrefix(a.local, "/"); strings.ContainsAny(rest, "/.#") {
		all = append(all, rest)
	}
	if p, _, _ := strings.Cut(a.local, "#"); a.target != "/"+l.Page {
		all = append(all, a.target+a.local[len(p):])
	}
	var spellings []string
	for _, f := range all {
		if f != "" && !slices.Contains(spellings, f) {
			spellings = append(spellings, f)
		}
	}
	return spellings
}

// search looks for the links that are not in the content of their own page.
type search struct {
	m *Map
	// levels are the hits in templates, data and configuration: of the project,
	// and of themes and modules.
	levels  [2]textSearch
	content textSearch // the hits in content files
}

// locateRest looks for links that are not in the content of their own page:
// first in templates, data and configuration, then in the content of other
// pages, because lists show parts of them. A link that several files may have
// written gets no position. It stops when ctx ends.
func (m *Map) locateRest(ctx context.Context, positions []*Position, rest []unlocated) {
	var left []unlocated
	s := &search{m: m, levels: [2]textSearch{newTextSearch(), newTextSearch()}, content: newTextSearch()}
	for _, o := range rest {
		if o.own != nil && o.matter {
			positions[o.index] = o.own
			continue
		}
		left = append(left, o)
		for _, f := range m.spellings(o.link) {
			s.levels[0].add(f)
			s.levels[1].add(f)
		}
	}
	if len(left) == 0 {
		return
	}
	for _, f := range m.templates().files {
		if ctx.Err() != nil {
			return
		}
		f.search(&s.levels[f.level])
	}
	others := left[:0]
	for _, o := range left {
		p, several := s.fromTemplates(o)
		if positions[o.index] = p; p == nil && !several {
			others = append(others, o)
			for _, f := range m.spellings(o.link) {
				s.content.add(f)
			}
		}
	}
	if len(others) == 0 {
		return
	}
	files := m.content.files
	found := make([]map[string][]hit, len(files))
	parallel(ctx, len(files), func(_, i int) {
		f := files[i]
		text, _ := system.ReadFS(f.dir.fsys, f.name, maxContentFile)
		if !m.opt.Generator.Traits().Modules && isHTMLTemplate(f.name, text) {
			f.dir.kind = Template
		}
		of := textSearch{s.content.byWord, map[string][]hit{}}
		of.search(f, text)
		for text, hits := range of.hits {
			of.hits[text] = m.destinations(f, hits)
		}
		found[i] = of.hits
	})
	for _, hits := range found {
		for text := range hits {
			s.content.hits[text] = append(s.content.hits[text], hits[text]...)
		}
	}
	var page string
	var shown *visibleText // nil until needed
	for _, o := range others {
		if page != o.link.Page {
			page, shown = o.link.Page, nil
		}
		around := func() surroundings {
			if shown == nil {
				shown = &visibleText{}
				text, _ := system.ReadFS(m.docroot, page, maxSourcePage)
				shown.addHTML(0, text)
				shown.finish()
			}
			return shown.around(int(o.link.Offset))
		}
		p := s.fromContent(o, around)
		if p == nil {
			p = m.menuEntry(&o)
		}
		if p == nil && len(o.composed.by) == 1 {
			p = o.composed.by[0].position(o.link.Raw)
		}
		positions[o.index] = p
	}
}

// fromTemplates returns the position of a link in a template, data or
// configuration file. several reports that more than one file may have written
// it, so that content need not be searched.
func (s *search) fromTemplates(o unlocated) (p *Position, several bool) {
	c := &o.composed
	literal := len(c.by) > 0 && c.by[0].writes()
	if literal && len(c.by) == 1 {
		return c.by[0].position(o.link.Raw), false
	}
	hits := s.templateHits(o)
	switch {
	case len(hits) > 0 && !severalFiles(hits) && (len(c.by) == 0 || literal):
		return hits[min(o.nth, len(hits)-1)].position(), false
	case literal:
		return nil, true
	}
	if c.run != nil && c.nth >= 0 {
		if !c.run.placed {
			s.m.templates().placeRun(c.run)
		}
		if p := c.run.places[c.nth]; p != nil {
			return p, false
		}
	}
	if len(hits) == 1 && (len(c.by) == 0 || hits[0].file.dir.kind == Template || !o.isLink && len(c.run.links) < minEnds && s.isResource(&hits[0])) {
		return hits[0].position(), false
	}
	return nil, len(hits) > 0 && len(c.by) == 0
}

// isResource reports whether a value of a data or configuration file is no entry
// of a menu or list, which only links are made of.
func (s *search) isResource(h *hit) bool {
	for _, f := range s.m.templates().files {
		if f.display != h.file.display {
			continue
		}
		for _, r := range f.rows() {
			if r.at == h.at {
				return !menuKeys[r.key]
			}
		}
	}
	return false
}

// menuKeys are the keys of addresses in menus and lists of links.
var menuKeys = wordSet("url uri href link pageref path ref")

// templateHits returns where templates, data and configuration contain the
// address of a link, in the most likely spelling.
func (s *search) templateHits(o unlocated) []hit {
	for i := range s.levels {
		for _, f := range s.m.spellings(o.link) {
			if hits := filter(s.levels[i].hits[f], func(h *hit) bool { return s.mayWrite(h, &o) }); len(hits) > 0 {
				return hits
			}
		}
	}
	return nil
}

// mayWrite reports whether a link of a page can come from a place of a template: the
// template of a rule file, feed or JSON file writes no HTML page, and a link is the same
// element in both.
func (s *search) mayWrite(h *hit, o *unlocated) bool {
	if h.element != "" && o.element != "" && !strings.EqualFold(h.element, o.element) {
		return false
	}
	if !s.m.opt.Generator.Traits().Modules || h.file.dir.kind != Template {
		return true
	}
	ofPage, ofTemplate := isHTMLName(o.link.Page), isHTMLLike(h.file.display)
	// The items of a feed hold what shortcodes and partials wrote for the page.
	return ofPage == ofTemplate || !ofPage && strings.HasPrefix(templateKey(&templateFile{contentFile: h.file}), "_")
}

// What adds to the similarity of the surroundings, in bytes.
const (
	isIncluded = 24 // a shortcode in the page's content names the file
	isNear     = 8  // the page links to the page of the file
)

// fromContent returns the position of the address if exactly one content file
// has it as a destination, or if the surroundings identify one of several.
func (s *search) fromContent(o unlocated, around func() surroundings) *Position {
	var hits []hit
	for _, f := range s.m.spellings(o.link) {
		if hits = s.content.hits[f]; len(hits) > 0 {
			break
		}
	}
	if len(hits) == 0 && len(o.composed.by) == 0 {
		return o.own
	}
	included := func(h *hit) bool { return o.included[h.file.display] }
	near := func(h *hit) bool { return o.near[h.file.key] || o.own != nil && o.own.File == h.file.display }
	h := closest(hits, around(), func(h *hit) int {
		switch {
		case included(h):
			return isIncluded
		case near(h):
			return isNear
		}
		return 0
	})
	if h != nil {
		return h.position()
	}
	switch {
	case len(o.composed.by) > 0:
		// A template writes such links. Other pages may have the same address.
		hits = filter(hits, func(h *hit) bool { return included(h) || near(h) && h.certain })
	case !severalFiles(hits):
		// The only file with this address need not be where the page has it from.
		hits = filter(hits, func(h *hit) bool {
			return included(h) || near(h) || h.certain || h.label != "" && h.label == o.label
		})
	default:
		if few := filter(hits, included); len(few) > 0 {
			hits = few
		} else {
			hits = filter(hits, near)
		}
	}
	if len(hits) == 0 || severalFiles(hits) {
		return nil
	}
	return hits[min(o.nth, len(hits)-1)].position()
}

// filter returns the hits that keep accepts.
func filter(hits []hit, keep func(*hit) bool) (few []hit) {
	for i := range hits {
		if keep(&hits[i]) {
			few = append(few, hits[i])
		}
	}
	return few
}

// severalFiles reports whether the hits are in more than one file.
func severalFiles(hits []hit) bool {
	return slices.ContainsFunc(hits, func(h hit) bool { return h.file.display != hits[0].file.display })
}

// closest returns the hit whose surroundings are most similar to those of a
// link, nil if none is ahead of the others. bonus is added to the similarity.
func closest(hits []hit, around surroundings, bonus func(*hit) int) *hit {
	best, most, tie := -1, 0, false
	for i := range hits {
		for _, c := range hits[i].around {
			n := c.similarity(around)
			if n < minAround {
				continue
			}
			switch n += bonus(&hits[i]); {
			case n > most:
				best, most, tie = i, n, false
			case n == most && best != i:
				tie = true
			}
		}
	}
	if best < 0 || tie {
		return nil
	}
	return &hits[best]
}

// destinations returns the hits that are destinations of links and not just
// text.
func (m *Map) destinations(f contentFile, hits []hit) (kept []hit) {
	d := m.document(f)
	for _, h := range hits {
		is := slices.ContainsFunc(d.matter, func(v value) bool { return v.at == h.at && v.holdsLink() })
		h.certain = is
		for _, it := range d.links {
			if it.at == h.at {
				is, h.label, h.certain = true, it.label, h.certain || it.isGuess
				if d.visible != nil {
					h.around = append(h.around, d.visible.around(it.order))
				}
			}
		}
		if is {
			kept = append(kept, h)
		}
	}
	return kept
}
