package scan

import (
	"bytes"
	"unsafe"
)

// quickAttrs reads into s.attrs the attributes of the tag whose name ends at
// text[j], a white space, and returns the offset after the tag and the place
// in the index from which to go on. next is 0 when the tag has another form.
func (s *Scanner) quickAttrs(j, p int) (next, q int) {
	text, x, set := s.page.Text, s.index, &s.attrs
	base := unsafe.Pointer(unsafe.SliceData(text))
	safe := len(text) - quickMargin
	for j < safe {
		w := wordAt(base, j+1)
		k := letters(w)
		v := j + 1 + k
		c := byte(w >> (k * 8 & 63)) // after eight bytes a letter
		var a Attr
		switch {
		case k == 0:
			switch {
			case byteClass[c]&clsSpace != 0:
				j++
				continue
			case c == '>':
				return v + 1, p
			case c == '/' && text[v+1] == '>':
				return v + 2, p
			}
			return 0, 0
		case byteClass[c]&clsAttrEnd != 0:
			a = Attr(attrSlots.find((w | foldASCII) & nameMasks[k&15]))
		default:
			for c = text[v]; byteClass[c]&clsAttrEnd == 0; c = text[v] {
				if v++; v >= safe {
					return 0, 0
				}
			}
			a = attrAt(text, j+1, v)
		}
		value := span{uint32(v), uint32(v)} // none
		if c != '=' && byteClass[c]&clsSpace != 0 && byteClass[text[v+1]]&clsLetter == 0 && text[v+1] != '>' && text[v+1] != '/' {
			return 0, 0 // "=" may follow
		}
		if c == '=' {
			open, end := v+1, 0
			switch {
			case byteAt(base, open) == '"' && int(x.at[p]) == open:
				end = int(x.at[p+1])
				p += 2
				for ; end < safe && byteAt(base, end) != '"'; p++ {
					end = int(x.at[p])
				}
			case text[open] == '\'' && open < x.end:
				k := bytes.IndexByte(text[open+1:x.end], '\'')
				if k < 0 {
					return 0, 0 // the index knows nothing of the next chunk
				}
				end = open + 1 + k
				for int(x.at[p]) < end {
					p++
				}
			default:
				return 0, 0
			}
			if end >= safe {
				return 0, 0
			}
			value = span{uint32(open + 1), uint32(end)}
			v = end + 1
			c = byteAt(base, v)
		}
		// Kept whether it matters or not, which nobody could predict. Of
		// duplicates the first wins.
		if set.seen&(1<<(a&63))&^meaningless == 0 {
			set.seen |= 1 << (a & 63)
			set.val[a&63] = value
		}
		switch {
		case c == '>':
			return v + 1, p
		case byteClass[c]&clsSpace != 0:
			j = v
		case c == '/' && text[v+1] == '>':
			return v + 2, p
		default:
			return 0, 0
		}
	}
	return 0, 0
}

// quickEmit emits the anchor and the link of the tag at text[at], of whose
// attributes no others than id and href matter.
func (s *Scanner) quickEmit(at int, tag Tag) {
	set := &s.attrs
	if set.has(AttrID) {
		if sp := set.val[AttrID]; sp.start != sp.end {
			s.page.Anchors = append(s.page.Anchors, Anchor{Name: s.quickValue(sp), Off: sp.start, Kind: AnchorID})
		}
	}
	if tag == TagA {
		s.reg.started = true
		if set.has(AttrHref) {
			sp := set.val[AttrHref]
			s.page.Links = append(s.page.Links, Link{Value: s.quickValue(sp), Off: sp.start, TagOff: uint32(at), Tag: TagA,
				Attr: AttrHref, Kind: KindLink})
		}
	}
}

// quickValue is value, asking the index first.
func (s *Scanner) quickValue(sp span) []byte {
	if s.index.plain(int(sp.start), int(sp.end)) {
		return s.page.Text[sp.start:sp.end]
	}
	return s.value(sp)
}
