package scan

// xmlElement is an open element.
type xmlElement struct {
	name  span
	at    span // of the start tag
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
	at  span
	ref bool // a reference
}

// part notes text when the innermost element wants it.
func (x *xmlReader) part(from, to int, ref bool) {
	if n := len(x.open); from < to && n > 0 && x.open[n-1].holdsText() {
		x.parts = append(x.parts, xmlPart{span{uint32(from), uint32(to)}, ref})
	}
}

// element handles a complete start tag.
func (x *xmlReader) element(name, at span, empty bool) {
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
		x.fail(int(at.start), "elements are nested too deep")
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
	set := &s.attrs
	set.seen = 0
	decode := false
	for i := range x.attrs {
		a := &x.attrs[i]
		k := attrOther
		if !a.prefixed() {
			k = exactAttr(x.text, a.name)
		} else if a.uri == uriXLink && string(x.text[a.local:a.name.end]) == "href" {
			k = AttrXlinkHref
		}
		if a.known = attrOther; k == attrOther || set.has(k) {
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
		set.seen |= 1 << k
		set.val[k] = a.val
		decode = decode || a.decode
	}
	e.inert = x.templates > 0
	ns, known := nsHTML, true
	tag := exactTag(x.text, span{local, e.name.end})
	switch uri {
	case uriHTML:
		if e.template = tag == TagTemplate; tag == TagImage {
			tag = tagOther // only the HTML syntax has it as another name of img
		}
	case uriSVG:
		ns = nsSVG
	case uriMath:
		ns = nsMath
	default:
		known = false
	}
	if ns != nsMath && known && (tag == TagStyle || tag == TagScript) {
		e.tag = tag
	}
	if set.seen == 0 {
		return
	}
	take := func() {
		s.inert = e.inert
		if known {
			s.emit(tag, ns, e.at)
		} else if set.has(AttrID) && !e.inert {
			s.anchor(AttrID, AnchorID)
		}
	}
	if !decode {
		take()
		return
	}
	x.sink.reset(true)
	for i := range x.attrs {
		if a := &x.attrs[i]; a.known != attrOther {
			set.val[a.known] = x.decodeValue(a)
		}
	}
	x.through(take)
}

// decodeValue puts an attribute's value into the sink and returns its place
// there.
func (x *xmlReader) decodeValue(a *xmlAttr) span {
	from := len(x.sink.buf)
	x.decode(x.text[a.val.start:a.val.end], int(a.val.start), false, true)
	sp := span{uint32(from), uint32(len(x.sink.buf))}
	x.sink.end(a.val.end)
	return sp
}

// through calls take with the sink's text as the page's, and gives what it
// adds to the page its places in the real text.
func (x *xmlReader) through(take func()) {
	s, p := x.s, &x.s.page
	text, refs := p.Text, p.refs
	links, anchors, bases := len(p.Links), len(p.Anchors), len(p.Bases)
	p.Text, p.refs = s.keep(x.sink.buf), nil
	take()
	from := x.sink.from
	for i := range p.Links[links:] {
		p.Links[links+i].Off = from[p.Links[links+i].Off]
	}
	for i := range p.Anchors[anchors:] {
		p.Anchors[anchors+i].Off = from[p.Anchors[anchors+i].Off]
	}
	for i := range p.Bases[bases:] {
		p.Bases[bases+i].Off = from[p.Bases[bases+i].Off]
	}
	added := p.refs
	p.Text, p.refs = text, refs
	for off, ref := range added {
		s.setRef(from[off], ref)
	}
}

// elementText handles the text of a style or script element at its end. Text
// of elements inside is not part of it (DOM, "child text content").
func (x *xmlReader) elementText(e *xmlElement) {
	s := x.s
	parts := x.parts[e.parts:]
	set := &s.attrs
	set.seen = 0
	if e.src {
		set.seen |= 1 << AttrSrc
	}
	if e.typ.val.start > 0 {
		set.seen |= 1 << AttrType
		set.val[AttrType] = e.typ.val
	}
	content := span{e.at.end, e.at.end}
	take := func() {
		s.inert = e.inert
		if e.tag == TagStyle {
			s.styleText(TagStyle, e.at, content)
		} else {
			s.scriptText(e.at, content)
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
	set.val[AttrType] = x.decodeValue(&e.typ)
	content.start = uint32(len(x.sink.buf))
	for _, p := range parts {
		b := x.text[p.at.start:p.at.end]
		if p.ref {
			x.decode(b, int(p.at.start), false, false)
			continue
		}
		x.sink.buf = append(x.sink.buf, b...)
		for i := p.at.start; i < p.at.end; i++ {
			x.sink.from = append(x.sink.from, i)
		}
	}
	content.end = uint32(len(x.sink.buf))
	x.sink.end(e.at.end)
	x.through(take)
}

// exactTag is tagAt for a language that tells letter case apart.
func exactTag(text []byte, name span) Tag {
	t := tagAt(text, int(name.start), int(name.end))
	if string(text[name.start:name.end]) != tagNames[t] {
		return tagOther
	}
	return t
}

// exactAttr is attrAt likewise. Attributes that only the HTML parser heeds,
// and those of a prefix, are others.
func exactAttr(text []byte, name span) Attr {
	a := attrAt(text, int(name.start), int(name.end))
	if a == attrIgnored || a == AttrXlinkHref || a == AttrShadowrootmode ||
		string(text[name.start:name.end]) != attrNames[a] {
		return attrOther
	}
	return a
}
