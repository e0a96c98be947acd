package scan

import (
	"bytes"
	"encoding/binary"
)

// tag handles what begins with the "<" at text[i], whatever it is, and
// returns the offset where scanning goes on, or -1 when the text ends within.
func (s *Scanner) tag(i int) int {
	text := s.page.Text
	if i+1 >= len(text) {
		return -1
	}
	c := text[i+1]
	switch {
	case byteClass[c]&clsLetter != 0:
		next, ok := s.startTag(i)
		if !ok {
			s.fault(i, FaultTag, "")
			return -1
		}
		return next
	case c == '/':
		if i+2 >= len(text) {
			return -1
		}
		if byteClass[text[i+2]]&clsLetter == 0 {
			return after(text, i+2, '>') // </> is nothing, </x a comment
		}
		next, ok := s.endTag(i)
		if !ok {
			s.fault(i, FaultTag, "")
			return -1
		}
		return next
	case c == '!':
		return s.declaration(i)
	case c == '?':
		return after(text, i+2, '>')
	}
	return i + 1
}

// startTag handles the start tag at text[i] and, for elements whose content
// is text, that content. It returns the offset where scanning goes on; ok is
// false when the file ends inside the tag.
func (s *Scanner) startTag(i int) (next int, ok bool) {
	text := s.page.Text
	j, tag := nameAt(text, i+1)
	if j >= len(text) {
		return j, false
	}
	set := &s.attrs
	set.seen = 0
	selfClosing := false
	if text[j] == '>' {
		next = j + 1
	} else if next, selfClosing, ok = readAttrs(text, j, set); !ok {
		return next, false
	}
	return s.opened(tag, span{uint32(i), uint32(next)}, j, selfClosing), true
}

// opened handles the start tag at, whose name ends at text[j] and whose
// attributes are in s.attrs, and for elements whose content is text that
// content. It returns the offset where scanning goes on.
func (s *Scanner) opened(tag Tag, at span, j int, selfClosing bool) int {
	text, set := s.page.Text, &s.attrs
	i := int(at.start)
	r := &s.reg
	s.inert = r.inert() // a template itself is not
	ns := nsHTML
	name := span{uint32(i + 1), uint32(j)}
	if len(r.foreign) > 0 {
		ns = r.foreign[len(r.foreign)-1].ns
		if !r.irregular {
			r.startForeign(text, name, selfClosing)
		}
	} else if tag != tagOther {
		switch tag {
		case TagSVG, TagMath:
			ns = nsSVG
			if tag == TagMath {
				ns = nsMath
			}
			if !selfClosing && !r.irregular {
				r.enterForeign(name, ns)
			}
		case TagHead:
			if set.seen != 0 && (r.head || !headFirst(text, i)) {
				r.irregular = true
			}
			if r.head && !s.inert && s.page.SecondHead == 0 {
				s.page.SecondHead = uint32(i) + 1
			}
			r.head = true
			r.start(tag, set)
		default:
			r.start(tag, set)
		}
	} else if r.sel && !isOption(text[i+1:j]) {
		r.irregular = true
	}
	return s.element(tag, ns, at)
}

// nameAt reads the tag name at text[i] and returns its end and what it names.
func nameAt(text []byte, i int) (end int, tag Tag) {
	if i+8 <= len(text) {
		w := binary.LittleEndian.Uint64(text[i:])
		if k := min(firstByte(w, '>'*ones), firstByte(w, ' '*ones)); k < 8 {
			name := (w | foldASCII) & (1<<(8*uint(k)) - 1)
			h := name * tagSlots.mul >> (64 - slotBits)
			if tagSlots.key[h] == name && k > 0 {
				return i + k, tagSlots.code[h]
			}
		}
	}
	j := i
	for j < len(text) && byteClass[text[j]]&clsNameEnd == 0 {
		j++
	}
	return j, tagAt(text, i, j)
}

// isOption tells whether the element is one that every parser keeps inside a
// select without further rules.
func isOption(name []byte) bool {
	return foldEqual(name, "option") || foldEqual(name, "optgroup")
}

// element emits what the start tag defines, whose attributes are in s.attrs,
// reads the text that belongs to it, and returns where scanning goes on.
func (s *Scanner) element(tag Tag, ns namespace, at span) int {
	if s.attrs.seen != 0 {
		s.emit(tag, ns, at)
	}
	next := int(at.end)
	if ns != nsHTML {
		if ns == nsSVG && tag == TagStyle {
			s.styleText(tag, at, svgStyle(s.page.Text, next))
		}
		return next
	}
	switch tag {
	case TagScript, TagStyle, TagTitle, TagTextarea, TagXmp, TagIframe, TagNoembed, TagNoframes, TagPlaintext:
		return s.rawText(tag, at)
	}
	return next
}

// rawText handles the content of an element that holds text only.
func (s *Scanner) rawText(tag Tag, at span) int {
	text := s.page.Text
	from := int(at.end)
	end := len(text)
	switch tag {
	case TagPlaintext:
		return end
	case TagScript:
		end = scriptEnd(text, from)
	default:
		end = rawEnd(text, from, tagNames[tag])
	}
	if end == len(text) {
		s.fault(int(at.start), FaultElement, tagNames[tag])
	}
	content := span{uint32(from), uint32(end)}
	switch tag {
	case TagStyle:
		s.styleText(tag, at, content)
	case TagScript:
		s.scriptText(at, content)
	}
	return end
}

// endTag handles the end tag at text[i].
func (s *Scanner) endTag(i int) (next int, ok bool) {
	text := s.page.Text
	j, tag := nameAt(text, i+2)
	if j >= len(text) {
		return j, false
	}
	if text[j] == '>' {
		next = j + 1
	} else if next, _, ok = readAttrs(text, j, nil); !ok {
		return next, false
	}
	if r := &s.reg; len(r.foreign) > 0 {
		if !r.irregular {
			r.endForeign(text, span{uint32(i + 2), uint32(j)})
		}
	} else if tag != tagOther {
		r.end(tag)
	}
	return next, true
}

// declaration handles "<!" at text[i]: comment, doctype, CDATA section or
// bogus comment.
func (s *Scanner) declaration(i int) int {
	text := s.page.Text
	rest := text[i+2:]
	switch {
	case bytes.HasPrefix(rest, dashes):
		next, closed := commentEnd(text, i+4)
		if !closed {
			s.fault(i, FaultComment, "")
		}
		return next
	case len(s.reg.foreign) > 0 && bytes.HasPrefix(rest, []byte("[CDATA[")):
		if k := bytes.Index(rest, cdataEnd); k >= 0 {
			return i + 2 + k + len(cdataEnd)
		}
		return len(text)
	case len(rest) > 7 && foldEqual(rest[:7], "doctype"):
		end := after(text, i+2, '>')
		if !s.sawDoctype {
			s.sawDoctype = true
			if !onlyComments(text, i) {
				return end // too late: quirks mode is settled
			}
			doctype := text[i+2 : end]
			s.page.Quirks = quirksDoctype(string(bytes.TrimSuffix(doctype, []byte(">"))))
		}
		return end
	}
	return after(text, i+2, '>')
}

func (s *Scanner) fault(off int, kind FaultKind, name string) {
	s.page.Faults = append(s.page.Faults, Fault{Off: uint32(off), Kind: kind, Name: name})
}

// onlyComments tells whether nothing but comments and white space stands
// before text[i].
func onlyComments(text []byte, i int) bool { return skipComments(text, 0) == i }

// headFirst tells whether nothing but a doctype, comments, white space and
// the html tag stands before the head tag at text[i]: only then it is one.
func headFirst(text []byte, i int) bool {
	j := skipComments(text, 0)
	if j+9 < i && text[j] == '<' && text[j+1] == '!' && foldEqual(text[j+2:j+9], "doctype") {
		j = skipComments(text, after(text, j, '>'))
	}
	if j < i && text[j] == '<' && named(text, j+1, "html") {
		j, _, _ = readAttrs(text, j+len("<html"), nil)
		j = skipComments(text, j)
	}
	return j == i
}

// skipComments returns the offset after the comments, bogus ones included,
// and the white space at text[j]; at the start also after a mark.
func skipComments(text []byte, j int) int {
	if j == 0 {
		_, j = sniffBOM(text)
	}
	for j+1 < len(text) {
		switch {
		case byteClass[text[j]]&clsSpace != 0:
			j++
		case bytes.HasPrefix(text[j:], []byte("<!--")):
			j, _ = commentEnd(text, j+4)
		case text[j] == '<' && text[j+1] == '?':
			j = after(text, j, '>')
		case text[j] == '<' && text[j+1] == '!' && !(j+9 <= len(text) && foldEqual(text[j+2:j+9], "doctype")):
			j = after(text, j, '>')
		default:
			return j
		}
	}
	return j
}

// svgStyle returns the style sheet of an svg style element whose content
// begins at i: there it is ordinary text or a CDATA section.
func svgStyle(text []byte, i int) span {
	j := i
	for j < len(text) && byteClass[text[j]]&clsSpace != 0 {
		j++
	}
	if bytes.HasPrefix(text[j:], []byte("<![CDATA[")) {
		j += len("<![CDATA[")
		if k := bytes.Index(text[j:], cdataEnd); k >= 0 {
			return span{uint32(j), uint32(j + k)}
		}
		return span{uint32(j), uint32(len(text))}
	}
	if k := bytes.IndexByte(text[i:], '<'); k >= 0 {
		return span{uint32(i), uint32(i + k)}
	}
	return span{uint32(i), uint32(len(text))}
}
