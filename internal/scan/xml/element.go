package xml

import (
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/scan/token"
)

// xmlElement is an open element.
type element struct {
	name  token.Span
	at    token.Span // of the start tag
	bound int        // namespace bindings outside of it
	parts int        // text parts outside of it
	tag   scan.Tag   // TagStyle and TagScript when its text matters, else 0

	template bool
	inert    bool
	// Of a script: its type attribute, and whether it has a source.
	typ attribute
	src bool
	// rule is what the element means in a document that is no page.
	rule *feedRule
}

// holdsText tells whether the element's text matters.
func (e *element) holdsText() bool { return e.tag != 0 || e.rule != nil && e.rule.text != textNone }

// xmlPart is a piece of the text of a style or script element.
type textPart struct {
	at  token.Span
	ref bool // a reference
}

// part notes text when the innermost element wants it.
func (x *reader) part(from, to int, ref bool) {
	if n := len(x.open); from < to && n > 0 && x.open[n-1].holdsText() {
		x.parts = append(x.parts, textPart{token.NewSpan(from, to), ref})
	}
}

// element handles a complete start tag.
func (x *reader) element(name, at token.Span, empty bool) {
	e := element{name: name, at: at, bound: x.ns.mark(), parts: len(x.parts)}
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
	x.parts = x.parts[:e.parts]
	if e.template {
		x.templates--
	}
	x.ns.release(e.bound)
	x.open = x.open[:n]
}

// emit takes the links and anchors of a tag: its attributes are put into the
// scanner's set, as if HTML had been read.
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
	tag := exactTag(x.text, token.Span{Start: local, End: e.name.End})
	switch uri {
	case uriHTML:
		if e.template = tag == scan.TagTemplate; tag == scan.TagImage {
			tag = scan.TagOther // only the HTML syntax has it as another name of img
		}
	case uriSVG:
		ns = html.SVG
	case uriMath:
		ns = html.MathML
	default:
		known = false
	}
	if ns != html.MathML && known && (tag == scan.TagStyle || tag == scan.TagScript) {
		e.tag = tag
	}
	if set.Seen == 0 {
		return
	}
	take := func() {
		s.el.Inert = e.inert
		if known {
			s.el.Emit(tag, ns, e.at)
		} else if set.Has(scan.AttrID) && !e.inert {
			s.el.Anchor(scan.AttrID, scan.AnchorID)
		}
	}
	if !decode {
		take()
		return
	}
	x.sink.reset(true)
	for i := range x.attrs {
		if a := &x.attrs[i]; a.known != scan.AttrOther {
			set.Val[a.known] = x.decodeValue(a)
		}
	}
	s.el.WithText(x.sink.buf, x.sink.from, take)
}

// decodeValue puts an attribute's value into the sink and returns its place
// there.
func (x *reader) decodeValue(a *attribute) token.Span {
	from := len(x.sink.buf)
	x.decode(x.text[a.val.Start:a.val.End], int(a.val.Start), false, true)
	sp := token.NewSpan(from, len(x.sink.buf))
	x.sink.end(a.val.End)
	return sp
}

// elementText handles the text of a style or script element at its end. Text
// of elements inside is not part of it (DOM, "child text content").
func (x *reader) elementText(e *element) {
	s := x.s
	parts := x.parts[e.parts:]
	set := &s.el.Attrs
	set.Seen = 0
	if e.src {
		set.Seen |= 1 << scan.AttrSrc
	}
	if e.typ.val.Start > 0 {
		set.Seen |= 1 << scan.AttrType
		set.Val[scan.AttrType] = e.typ.val
	}
	content := token.Span{Start: e.at.End, End: e.at.End}
	take := func() {
		s.el.Inert = e.inert
		if e.tag == scan.TagStyle {
			s.el.StyleText(e.at, content)
		} else {
			s.el.ScriptText(e.at, content)
		}
	}
	if len(parts) <= 1 && !e.typ.decode && !(len(parts) == 1 && parts[0].ref) {
		if len(parts) == 1 {
			content = parts[0].at
		}
		take()
		return
	}
	x.sink.reset(false)
	set.Val[scan.AttrType] = x.decodeValue(&e.typ)
	content.Start = uint32(len(x.sink.buf))
	for _, p := range parts {
		b := x.text[p.at.Start:p.at.End]
		if p.ref {
			x.decode(b, int(p.at.Start), false, false)
			continue
		}
		x.sink.buf = append(x.sink.buf, b...)
		for i := p.at.Start; i < p.at.End; i++ {
			x.sink.from = append(x.sink.from, i)
		}
	}
	content.End = uint32(len(x.sink.buf))
	x.sink.end(e.at.End)
	s.el.WithText(x.sink.buf, x.sink.from, take)
}

// exactTag is TagAt for a language that tells letter case apart.
func exactTag(text []byte, name token.Span) scan.Tag {
	t := token.TagAt(text, int(name.Start), int(name.End))
	if string(text[name.Start:name.End]) != t.String() {
		return scan.TagOther
	}
	return t
}

// exactAttr is AttrAt likewise. Attributes that only the HTML parser heeds,
// and those of a prefix, are others.
func exactAttr(text []byte, name token.Span) scan.Attr {
	a := token.AttrAt(text, int(name.Start), int(name.End))
	if a == token.AttrIgnored || a == scan.AttrXlinkHref || a == scan.AttrShadowrootmode ||
		string(text[name.Start:name.End]) != a.String() {
		return scan.AttrOther
	}
	return a
}
