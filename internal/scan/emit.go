package scan

import (
	"bytes"
	"cmp"
	"slices"
)

// emit takes the links and anchors of the start tag at, whose attributes are
// in s.attrs. What it adds to the page is sorted by offset.
func (s *Scanner) emit(tag Tag, ns namespace, at span) {
	set := &s.attrs
	inert := s.inert
	if set.has(AttrID) && !inert && !s.isShadowRoot(tag) {
		s.anchor(AttrID, AnchorID)
	}
	first := len(s.page.Links)
	e := s.emitter(tag, at)
	switch {
	case s.opt.Tags == Linklint:
		if ns != nsHTML {
			return
		}
		e.rules(linklintTable[tag])
	case ns != nsHTML:
		e.tag = tagOther // svg has an image and an a of its own
		e.rules(foreignRules)
		if set.has(AttrStyle) {
			e.take(rule{AttrStyle, KindLink, shapeCSS})
		}
	default:
		e.rules(modernTable[tag])
		if set.has(AttrStyle) {
			e.take(rule{AttrStyle, KindLink, shapeCSS})
		}
	}
	if ns == nsHTML {
		e.special()
	}
	// Nearly always a handful, and in order already: insertion sort. Two long
	// lists in one tag would make that quadratic.
	if len(s.page.Links)-first > 32 {
		slices.SortStableFunc(s.page.Links[first:], func(a, b Link) int { return cmp.Compare(a.Off, b.Off) })
		return
	}
	for links, i := s.page.Links, first+1; i < len(links); i++ {
		for j := i; j > first && links[j].Off < links[j-1].Off; j-- {
			links[j], links[j-1] = links[j-1], links[j]
		}
	}
}

// isShadowRoot tells whether the tag is a declarative shadow root, which
// leaves no element (HTML 13.2.6.4.4).
func (s *Scanner) isShadowRoot(tag Tag) bool {
	if tag != TagTemplate || !s.attrs.has(AttrShadowrootmode) {
		return false
	}
	mode := s.raw(AttrShadowrootmode)
	return foldEqual(mode, "open") || foldEqual(mode, "closed")
}

func (s *Scanner) anchor(a Attr, kind AnchorKind) {
	sp := s.attrs.val[a]
	if sp.start == sp.end {
		return
	}
	s.page.Anchors = append(s.page.Anchors, Anchor{Name: s.value(sp), Off: sp.start, Kind: kind})
}

// emitter adds the links of one tag to the page.
type emitter struct {
	s     *Scanner
	tag   Tag
	at    span
	inert bool
}

// emitter returns the scanner's emitter, set up for a tag. It is part of the
// scanner because closures hold it: on its own it would be allocated for each
// tag (rust-doc: 100 MB).
func (s *Scanner) emitter(tag Tag, at span) *emitter {
	s.em = emitter{s: s, tag: tag, at: at, inert: s.inert}
	return &s.em
}

func (e *emitter) rules(rules []rule) {
	for _, r := range rules {
		if e.s.attrs.has(r.attr) {
			e.take(r)
		}
	}
}

func (e *emitter) add(value []byte, off uint32, attr Attr, kind Kind) {
	p := &e.s.page
	p.Links = append(p.Links, Link{Value: value, Off: off, TagOff: e.at.start, Tag: e.tag, Attr: attr,
		Kind: kind, Inert: e.inert})
}

// take adds the links in one attribute.
func (e *emitter) take(r rule) {
	s := e.s
	sp := s.attrs.val[r.attr]
	switch r.shape {
	case shapeURL:
		e.add(s.value(sp), sp.start, r.attr, r.kind)
	case shapeCSS:
		if bytes.IndexByte(s.page.Text[sp.start:sp.end], '(') < 0 {
			return // no url() without parenthesis
		}
		v, places := s.composite(sp)
		e.css(v, r.attr, r.kind, places)
	case shapeSrcset:
		v, places := s.composite(sp)
		srcset(v, func(start, end int) {
			e.add(v[start:end], places.at(start), r.attr, r.kind)
		})
	case shapeList, shapeCommas:
		v, places := s.composite(sp)
		for i := 0; i < len(v); {
			isEnd := func(c byte) bool {
				return byteClass[c]&clsSpace != 0 || c == ',' && r.shape == shapeCommas
			}
			if isEnd(v[i]) {
				i++
				continue
			}
			j := i
			for j < len(v) && !isEnd(v[j]) {
				j++
			}
			e.add(v[i:j], places.at(i), r.attr, r.kind)
			i = j
		}
	}
}

// css adds the URLs of a style sheet or declaration list.
func (e *emitter) css(text []byte, attr Attr, kind Kind, places places) {
	cssURLs(text, func(_ cssKind, start, end int, value []byte) {
		k := kind
		if len(value) > 0 && value[0] == '#' {
			k = KindReference
		}
		// value may lie in the parser's scratch space.
		if start != end && (len(value) != end-start || &value[0] != &text[start]) {
			value = e.s.keep(value)
		}
		e.add(value, places.at(start), attr, k)
	})
}

// keep copies b into the arena.
func (s *Scanner) keep(b []byte) []byte {
	from := len(s.arena)
	s.arena = append(s.arena, b...)
	return s.arena[from:len(s.arena):len(s.arena)]
}

// places maps offsets in a decoded value to offsets in the page's text.
type places struct {
	start uint32
	table []uint32 // nil: the value is its source text
}

func (p places) at(i int) uint32 {
	switch {
	case p.table == nil:
		return p.start + uint32(i)
	case i < len(p.table):
		return p.start + p.table[i]
	case len(p.table) > 0:
		return p.start + p.table[len(p.table)-1]
	}
	return p.start
}

// composite is value for attributes that hold several URLs: it also tells
// where each byte came from.
func (s *Scanner) composite(sp span) ([]byte, places) {
	v := s.value(sp)
	raw := s.page.Text[sp.start:sp.end]
	if len(raw) == 0 || len(v) == len(raw) && &v[0] == &raw[0] {
		return v, places{start: sp.start}
	}
	var table []uint32
	v = decodeRefs(nil, raw, &table)
	return v, places{start: sp.start, table: table}
}

// styleText adds the URLs of a style element's text.
func (s *Scanner) styleText(tag Tag, at, content span) {
	if s.opt.Tags == Linklint || content.start == content.end {
		return
	}
	text := s.page.Text[content.start:content.end]
	s.noteBytes(text)
	e := s.emitter(tag, at)
	e.css(text, AttrText, KindLink, places{start: content.start})
}

// noteBytes notes whether text, which is not taken by value, holds bytes
// above 0x7F.
func (s *Scanner) noteBytes(text []byte) {
	if s.sawNonASCI {
		return
	}
	for _, c := range text {
		if c >= 0x80 {
			s.sawNonASCI = true
			return
		}
	}
}

// Element returns the name of the element that holds l, in lower case: in
// XHTML and SVG without its prefix, in other XML with it. Where there are no
// elements it is what stands in their place, such as url in a style sheet.
func (p *Page) Element(l *Link) string {
	if l.element != 0 {
		return p.labels[l.element]
	}
	if l.Tag == TagImage {
		return "img"
	}
	if l.Tag != tagOther {
		return tagNames[l.Tag]
	}
	i := int(l.TagOff) + 1
	j := i
	for j < len(p.Text) && byteClass[p.Text[j]]&clsNameEnd == 0 {
		if j++; p.xml && p.Text[j-1] == ':' {
			i = j
		}
	}
	return string(AppendUTF8(nil, bytes.ToLower(p.Text[i:j])))
}
