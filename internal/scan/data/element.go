package data

import (
	"bytes"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/text"
)

// element is an open element.
type element struct {
	name   scan.Span
	at     scan.Span // of the start tag
	bound  int       // number of namespace bindings outside it
	pieces int       // number of text pieces outside it
	tag    scan.Tag  // TagStyle or TagScript if its text matters, else 0

	template bool
	inert    bool
	exempt   *string // see [scan.Link]
	// Of a script: its type attribute, and whether it has a source.
	typ attribute
	src bool
	// rule is the meaning of the element in a feed or sitemap.
	rule *feedRule
}

// holdsText reports whether the element's text matters.
func (e *element) holdsText() bool { return e.tag != 0 || e.rule != nil && e.rule.text != textNone }

// textPiece is a piece of the text of an element.
type textPiece struct {
	at  scan.Span
	ref bool // a reference
}

// addText keeps text if the innermost element needs it.
func (x *reader) addText(from, to int, ref bool) {
	if n := len(x.open); from < to && n > 0 && x.open[n-1].holdsText() {
		x.pieces = append(x.pieces, textPiece{scan.NewSpan(from, to), ref})
	}
}

// element handles a complete start tag.
func (x *reader) element(name, at scan.Span, empty bool) {
	e := element{name: name, at: at, bound: x.ns.mark(), pieces: len(x.pieces)}
	local, uri := x.names(name)
	if x.failed {
		return
	}
	x.rooted = true
	if x.data != nil {
		x.data.start(&e, local, uri)
	} else {
		x.emit(&e, local, uri)
	}
	if len(x.open) >= maxDepth {
		x.fail(int(at.Start), "elements are nested too deep")
		return
	}
	x.open = append(x.open, e)
	if e.template {
		x.templates++
	}
	if empty {
		x.close()
	}
}

// close ends the innermost element.
func (x *reader) close() {
	n := len(x.open) - 1
	e := &x.open[n]
	if e.tag != 0 {
		x.elementText(e)
	}
	if x.data != nil {
		x.data.end(e)
	}
	x.pieces = x.pieces[:e.pieces]
	if e.template {
		x.templates--
	}
	x.ns.release(e.bound)
	x.open = x.open[:n]
}

// emit adds the links and anchors of a tag. It puts the attributes into the
// scanner's set, as the HTML scanner does.
func (x *reader) emit(e *element, local uint32, uri namespace) {
	s := x.s
	set := &s.el.Attrs
	set.Seen = 0
	decode := false
	for i := range x.attrs {
		a := &x.attrs[i]
		k := scan.AttrOther
		if !a.prefixed() {
			k = exactAttr(x.text, a.name)
		} else if a.uri == uriXLink && string(x.text[a.local:a.name.End]) == "href" {
			k = scan.AttrXlinkHref
		}
		if a.known = scan.AttrOther; k == scan.AttrOther || set.Has(k) {
			continue
		}
		a.known = k
		if uri == uriHTML || uri == uriSVG {
			switch k {
			case scan.AttrType:
				e.typ = *a
			case scan.AttrSrc, scan.AttrHref, scan.AttrXlinkHref:
				e.src = e.src || (k == scan.AttrSrc) == (uri == uriHTML)
			}
		}
		set.Seen |= 1 << k
		set.Val[k] = a.val
		decode = decode || a.decode
	}
	e.inert = x.templates > 0
	ns, known := html.HTML, true
	tag := exactTag(x.text, scan.Span{Start: local, End: e.name.End})
	switch uri {
	case uriHTML:
		if e.template = tag == scan.TagTemplate; tag == scan.TagImage {
			tag = scan.TagOther // only in the HTML syntax it is another name of img
		}
	case uriSVG:
		ns = html.SVG
	case uriMath:
		ns = html.MathML
	default:
		known = false
	}
	if ns != html.HTML && !html.HasLink(ns, x.text[local:e.name.End]) {
		set.Seen &^= 1<<scan.AttrHref | 1<<scan.AttrXlinkHref
	}
	if ns != html.MathML && known && (tag == scan.TagStyle || tag == scan.TagScript) {
		e.tag = tag
	}
	if n := len(x.open); n > 0 {
		e.exempt = x.open[n-1].exempt
	}
	if set.Seen == 0 {
		return
	}
	take := func() {
		s.el.Inert, s.el.Around = e.inert, e.exempt
		if known {
			s.el.Emit(tag, ns, e.at)
			e.exempt = s.el.Exemption()
		} else if set.Has(scan.AttrID) {
			s.el.Anchor(scan.AttrID, scan.AnchorID)
		}
	}
	if !decode {
		take()
		return
	}
	x.decoded.reset(true)
	for i := range x.attrs {
		if a := &x.attrs[i]; a.known != scan.AttrOther {
			set.Val[a.known] = x.decodeValue(a)
		}
	}
	s.el.WithText(x.decoded.buf, x.decoded.from, take)
}

// decodeValue decodes an attribute's value and returns its range in the decoded
// text.
func (x *reader) decodeValue(a *attribute) scan.Span {
	from := len(x.decoded.buf)
	x.decode(x.text[a.val.Start:a.val.End], int(a.val.Start), false, true)
	sp := scan.NewSpan(from, len(x.decoded.buf))
	x.decoded.end(a.val.End)
	return sp
}

// elementText handles the text of a style or script element at its end. The
// text of elements inside it does not belong to it (DOM, "child text content").
func (x *reader) elementText(e *element) {
	s := x.s
	pieces := x.pieces[e.pieces:]
	set := &s.el.Attrs
	set.Seen = 0
	if e.src {
		set.Seen |= 1 << scan.AttrSrc
	}
	if e.typ.val.Start > 0 {
		set.Seen |= 1 << scan.AttrType
		set.Val[scan.AttrType] = e.typ.val
	}
	content := scan.Span{Start: e.at.End, End: e.at.End}
	take := func() {
		s.el.Inert, s.el.Around = e.inert, e.exempt
		s.el.Exemption()
		if e.tag == scan.TagStyle {
			s.el.StyleText(e.at, content)
		} else {
			s.el.ScriptText(e.at, content)
		}
	}
	if len(pieces) <= 1 && !e.typ.decode && !(len(pieces) == 1 && pieces[0].ref) {
		if len(pieces) == 1 {
			content = pieces[0].at
		}
		take()
		return
	}
	x.decoded.reset(false)
	set.Val[scan.AttrType] = x.decodeValue(&e.typ)
	content.Start = uint32(len(x.decoded.buf))
	x.decodePieces(pieces)
	content.End = uint32(len(x.decoded.buf))
	x.decoded.end(e.at.End)
	s.el.WithText(x.decoded.buf, x.decoded.from, take)
}

// decodePieces appends the pieces of an element's text to x.decoded.
func (x *reader) decodePieces(pieces []textPiece) {
	for _, p := range pieces {
		b := x.text[p.at.Start:p.at.End]
		if p.ref {
			x.decode(b, int(p.at.Start), false, false)
			continue
		}
		x.decoded.buf = append(x.decoded.buf, b...)
		for i := p.at.Start; i < p.at.End; i++ {
			x.decoded.from = append(x.decoded.from, i)
		}
	}
}

// exactTag is scan.TagAt for names in exact letter case.
func exactTag(text []byte, name scan.Span) scan.Tag {
	t := scan.TagAt(text, int(name.Start), int(name.End))
	if string(text[name.Start:name.End]) != t.String() {
		return scan.TagOther
	}
	return t
}

// exactAttr is scan.AttrAt for names in exact letter case. Attributes that only
// the HTML parser knows, and names with a prefix, are scan.AttrOther.
func exactAttr(text []byte, name scan.Span) scan.Attr {
	a := scan.AttrAt(text, int(name.Start), int(name.End))
	if a == scan.AttrIgnored || a == scan.AttrXlinkHref || a == scan.AttrShadowrootmode ||
		string(text[name.Start:name.End]) != a.String() {
		return scan.AttrOther
	}
	return a
}

var (
	// classAttribute matches a class attribute, and singleClasses the selectors of
	// a rule that are only classes.
	classAttribute = text.Regexp(`class\s*=\s*(?:"([^"]*)"|'([^']*)')`)
	singleClasses  = text.Regexp(`^\s*\.[\w-]+(?:\s*,\s*\.[\w-]+)*\s*$`)
)

// dropUnused removes references such as fill:url(#a) in an SVG file's style
// sheet if their rule is for classes that no element has. Illustrator leaves
// hundreds of them behind, and nothing ever looks for their targets.
func (s *XMLScanner) dropUnused() {
	p := &s.el.Page
	var used map[string]bool
	p.Links = slices.DeleteFunc(p.Links, func(l scan.Link) bool {
		if l.Kind != scan.KindReference || l.Tag != scan.TagStyle || l.Attr != scan.AttrText {
			return false
		}
		selectors := selectorsAt(p.Text, int(l.Off))
		if !singleClasses().Match(selectors) {
			return false
		}
		if used == nil {
			used = map[string]bool{}
			for _, m := range classAttribute().FindAllSubmatch(p.Text, -1) {
				for _, name := range slices.Concat(bytes.Fields(m[1]), bytes.Fields(m[2])) {
					used[string(name)] = true
				}
			}
		}
		for _, name := range bytes.Split(selectors, []byte(",")) {
			if used[strings.TrimPrefix(string(bytes.TrimSpace(name)), ".")] {
				return false
			}
		}
		return true
	})
}

// maxSelectors is how many bytes before a reference its rule may begin.
const maxSelectors = 4 << 10

// selectorsAt returns the selectors of the rule around an offset of a style
// sheet, nil if they are not certain.
func selectorsAt(text []byte, off int) []byte {
	before := text[max(0, off-maxSelectors):off]
	end := bytes.LastIndexByte(before, '{')
	if end < 0 || bytes.IndexByte(before[end:], '}') >= 0 {
		return nil
	}
	start := bytes.LastIndexAny(before[:end], "{}>;/")
	if start < 0 {
		return nil
	}
	return before[start+1 : end]
}
