package scan

// xmlElement is an open element.
type xmlElement struct {
	name  Span
	at    Span // of the start tag
	bound int  // namespace bindings outside of it
	parts int  // text parts outside of it
	tag   Tag  // TagStyle and TagScript when its text matters, else 0

	template bool
	inert    bool
	// Of a script: its type attribute, and whether it has a source.
	typ xmlAttr
	src bool
	// rule is what the element means in a document that is no page.
	rule *dataRule
}

// holdsText tells whether the element's text matters.
func (e *xmlElement) holdsText() bool { return e.tag != 0 || e.rule != nil && e.rule.text != textNone }

// xmlPart is a piece of the text of a style or script element.
type xmlPart struct {
	at  Span
	ref bool // a reference
}

// part notes text when the innermost element wants it.
func (x *xmlReader) part(from, to int, ref bool) {
	if n := len(x.open); from < to && n > 0 && x.open[n-1].holdsText() {
		x.parts = append(x.parts, xmlPart{Span{uint32(from), uint32(to)}, ref})
	}
}

// element handles a complete start tag.
func (x *xmlReader) element(name, at Span, empty bool) {
	e := xmlElement{name: name, at: at, bound: x.ns.mark(), parts: len(x.parts)}
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
	if len(x.open) >= maxXMLDepth {
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
func (x *xmlReader) close() {
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
func (x *xmlReader) emit(e *xmlElement, local uint32, uri xmlURI) {
	s := x.s
	set := &s.el.Attrs
	set.Seen = 0
	decode := false
	for i := range x.attrs {
		a := &x.attrs[i]
		k := AttrOther
		if !a.prefixed() {
			k = exactAttr(x.text, a.name)
		} else if a.uri == uriXLink && string(x.text[a.local:a.name.End]) == "href" {
			k = AttrXlinkHref
		}
		if a.known = AttrOther; k == AttrOther || set.Has(k) {
			continue
		}
		a.known = k
		if uri == uriHTML || uri == uriSVG {
			switch k {
			case AttrType:
				e.typ = *a
			case AttrSrc, AttrHref, AttrXlinkHref:
				e.src = e.src || (k == AttrSrc) == (uri == uriHTML)
			}
		}
		set.Seen |= 1 << k
		set.Val[k] = a.val
		decode = decode || a.decode
	}
	e.inert = x.templates > 0
	ns, known := HTML, true
	tag := exactTag(x.text, Span{local, e.name.End})
	switch uri {
	case uriHTML:
		if e.template = tag == TagTemplate; tag == TagImage {
			tag = TagOther // only the HTML syntax has it as another name of img
		}
	case uriSVG:
		ns = SVG
	case uriMath:
		ns = MathML
	default:
		known = false
	}
	if ns != MathML && known && (tag == TagStyle || tag == TagScript) {
		e.tag = tag
	}
	if set.Seen == 0 {
		return
	}
	take := func() {
		s.el.Inert = e.inert
		if known {
			s.el.Emit(tag, ns, e.at)
		} else if set.Has(AttrID) && !e.inert {
			s.el.Anchor(AttrID, AnchorID)
		}
	}
	if !decode {
		take()
		return
	}
	x.sink.reset(true)
	for i := range x.attrs {
		if a := &x.attrs[i]; a.known != AttrOther {
			set.Val[a.known] = x.decodeValue(a)
		}
	}
	s.el.WithText(x.sink.buf, x.sink.from, take)
}

// decodeValue puts an attribute's value into the sink and returns its place
// there.
func (x *xmlReader) decodeValue(a *xmlAttr) Span {
	from := len(x.sink.buf)
	x.decode(x.text[a.val.Start:a.val.End], int(a.val.Start), false, true)
	sp := Span{uint32(from), uint32(len(x.sink.buf))}
	x.sink.end(a.val.End)
	return sp
}

// elementText handles the text of a style or script element at its end. Text
// of elements inside is not part of it (DOM, "child text content").
func (x *xmlReader) elementText(e *xmlElement) {
	s := x.s
	parts := x.parts[e.parts:]
	set := &s.el.Attrs
	set.Seen = 0
	if e.src {
		set.Seen |= 1 << AttrSrc
	}
	if e.typ.val.Start > 0 {
		set.Seen |= 1 << AttrType
		set.Val[AttrType] = e.typ.val
	}
	content := Span{e.at.End, e.at.End}
	take := func() {
		s.el.Inert = e.inert
		if e.tag == TagStyle {
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
	set.Val[AttrType] = x.decodeValue(&e.typ)
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
func exactTag(text []byte, name Span) Tag {
	t := TagAt(text, int(name.Start), int(name.End))
	if string(text[name.Start:name.End]) != t.String() {
		return TagOther
	}
	return t
}

// exactAttr is AttrAt likewise. Attributes that only the HTML parser heeds,
// and those of a prefix, are others.
func exactAttr(text []byte, name Span) Attr {
	a := AttrAt(text, int(name.Start), int(name.End))
	if a == AttrIgnored || a == AttrXlinkHref || a == AttrShadowrootmode ||
		string(text[name.Start:name.End]) != a.String() {
		return AttrOther
	}
	return a
}
