package scan

import "bytes"

// declaration reads the XML declaration (XML 2.8). Chromium accepts any
// version 1.x.
func (x *xmlReader) declaration() {
	from := x.i
	end := bytes.Index(x.text[from:], []byte("?>"))
	if end < 0 {
		x.cut(from, "the XML declaration is never closed")
		return
	}
	decl := x.text[:from+end]
	x.i = from + end + len("?>")
	i, turn := from+len("<?xml"), 0
	for {
		name, val, next, ok := pseudoAttr(decl, i)
		if !ok || !isXMLSpace(decl[i]) {
			break
		}
		v := string(decl[val.start:val.end])
		switch known := string(decl[name.start:name.end]); {
		case turn == 0 && known == "version":
			if len(v) < 3 || v[:2] != "1." || !isAllOf(v[2:], "0123456789") {
				x.fail(int(val.start), "unsupported XML version "+shownName([]byte(v)))
				return
			}
			turn = 1
		case turn == 1 && known == "encoding" && isEncodingName(v):
			turn = 2
		case (turn == 1 || turn == 2) && known == "standalone" && (v == "yes" || v == "no"):
			x.standalone = v == "yes"
			turn = 3
		default:
			x.fail(int(name.start), "bad XML declaration")
			return
		}
		i = next
	}
	if turn == 0 || skipXMLSpace(decl, i) < len(decl) {
		x.fail(i, "bad XML declaration")
	}
}

// isEncodingName is rule 81 of XML 4.3.3.
func isEncodingName(v string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return v != "" && isAllOf(v[:1], letters) && isAllOf(v, letters+"0123456789._-")
}

func isAllOf(s, set string) bool {
	for i := range len(s) {
		if bytes.IndexByte([]byte(set), s[i]) < 0 {
			return false
		}
	}
	return true
}

// instruction reads the processing instruction at hand.
func (x *xmlReader) instruction() {
	from := x.i
	name, end, ok := x.readPI(from)
	if !ok {
		return
	}
	x.i = end
	if target := x.text[name.start:name.end]; string(target) == "xml-stylesheet" && !x.rooted {
		x.stylesheet(span{uint32(from), uint32(end)}, int(name.end))
	}
}

// readPI reads a processing instruction (XML 2.6): its target, and where it
// ends.
func (x *xmlReader) readPI(from int) (name span, end int, ok bool) {
	j := nameLen(x.text, from+2)
	name = span{uint32(from + 2), uint32(j)}
	k := bytes.Index(x.text[j:], []byte("?>"))
	switch {
	case k < 0:
		x.cut(from, "a processing instruction is never closed")
	case j == from+2:
		x.fail(from, "\"<?\" is not followed by a name")
	case foldEqual(x.text[from+2:j], "xml"):
		x.fail(from, "an XML declaration that does not begin the document")
	case k > 0 && !isXMLSpace(x.text[j]):
		x.fail(j, "no space after the name of a processing instruction")
	}
	return name, j + k + len("?>"), !x.failed
}

// stylesheet takes the link of an xml-stylesheet instruction, whose data
// begins at i: its element is called "?xml-stylesheet". One that cannot be
// parsed links to nothing.
//
// Spec: https://www.w3.org/TR/xml-stylesheet/
func (x *xmlReader) stylesheet(at span, i int) {
	s := x.s
	data := x.text[:at.end-uint32(len("?>"))]
	var href span
	linked := false
	for i < len(data) && skipXMLSpace(data, i) < len(data) {
		name, val, next, ok := pseudoAttr(data, i)
		if !ok || !isXMLSpace(data[i]) {
			return
		}
		if string(data[name.start:name.end]) == "href" && !linked {
			href, linked = val, true
		}
		i = next
	}
	if !linked || s.opt.Tags == Linklint {
		return
	}
	// References are the predefined and the numeric ones only.
	x.sink.reset(false)
	for i := int(href.start); i < int(href.end); {
		b := x.text[i:href.end]
		if b[0] != '&' {
			x.sink.put(i, b[0])
			i++
			continue
		}
		lit, n := plainRef(b, &x.char)
		if lit == nil {
			return
		}
		x.sink.put(i, lit...)
		i += n
	}
	s.inert = false
	s.emitter(tagOther, at).add(s.keep(x.sink.buf), href.start, AttrHref, KindLink)
}

// pseudoAttr reads name="value" after white space at text[i].
func pseudoAttr(text []byte, i int) (name, val span, next int, ok bool) {
	i = skipXMLSpace(text, i)
	j := nameLen(text, i)
	k := skipXMLSpace(text, j)
	if j == i || k == len(text) || text[k] != '=' {
		return span{}, span{}, 0, false
	}
	k = skipXMLSpace(text, k+1)
	if k == len(text) || text[k] != '"' && text[k] != '\'' {
		return span{}, span{}, 0, false
	}
	n := bytes.IndexByte(text[k+1:], text[k])
	if n < 0 {
		return span{}, span{}, 0, false
	}
	return span{uint32(i), uint32(j)}, span{uint32(k + 1), uint32(k + 1 + n)}, k + n + 2, true
}
