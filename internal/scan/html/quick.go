package html

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/sitelink/sitelink/internal/scan"
)

// The quick path reads the tags of HTML content outside select, template, svg
// and math if they have the usual form: a name that is in the table, and
// attributes with quoted values or none, with white space between them. It
// takes the positions of quotes from the index and compares names as words of
// eight bytes. It leaves tags of any other form to Scanner.tag, which can read
// everything.

// quickUse is how the quick path treats the tags of a name.
type quickUse uint8

const (
	// quickStart means that a start tag matters only through its attributes.
	quickStart quickUse = 1 << iota
	// quickEnd means that an end tag has no effect.
	quickEnd
	// quickNever means that the quick path leaves the tags to Scanner.tag.
	quickNever
)

// quickUses holds the use for each slot of TagSlots.
var quickUses = func() (t [scan.SlotCount]quickUse) {
	for h, key := range scan.TagSlots.Key {
		switch scan.Tag(scan.TagSlots.Code[h]) {
		case scan.TagOther, scan.TagA:
			t[h] = quickStart | quickEnd
		case scan.TagTemplate, scan.TagSelect, scan.TagForm, scan.TagNoscript, scan.TagTable, scan.TagTd, scan.TagTh,
			scan.TagCaption, scan.TagTr, scan.TagTbody, scan.TagThead, scan.TagTfoot, scan.TagCol, scan.TagColgroup:
			// regularity needs their tags
		case scan.TagSVG, scan.TagMath:
			t[h] = quickNever
		default:
			t[h] = quickEnd
		}
		if key == 0 {
			t[h] = quickNever
		}
	}
	return t
}()

// letterBit is set in all ASCII letters, and in none of the bytes that end a
// name: white space, "/", ">", "=" and quotes.
const letterBit = 0x40 * scan.Ones

// letters returns how many bytes at the start of w, up to 8, may be letters.
func letters(w uint64) int { return bits.TrailingZeros64(^w&letterBit) >> 3 }

// alphanumerics is letters for tag names, which may also have the digits 0 to
// 7.
func alphanumerics(w uint64) int {
	digits := w << 1 & (w << 2) &^ (w << 3) // 0011 0xxx
	return bits.TrailingZeros64(^(w|digits)&letterBit) >> 3
}

// quickMargin is the number of bytes after a "<", or after an attribute, that
// the quick path reads without checking that the text is long enough.
const quickMargin = 32

// byteAt and wordAt read the text that begins at base without a bounds check.
// The caller has checked that at least quickMargin bytes follow offset i. The
// compiler's checks would be a third of the instructions of the quick path.
func byteAt(base unsafe.Pointer, i int) byte { return *(*byte)(unsafe.Add(base, i)) }

func wordAt(base unsafe.Pointer, i int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(base, i))[:])
}

// nameMasks[k] covers the first k bytes of a word.
var nameMasks = [16]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, 1<<64 - 1}

// scanTags is the fast path. It goes from "<" to "<" (HTML 13.2.5), reads the
// attributes of every start tag, and adds the links and anchors of the tags
// that count. Once the page is known to be irregular, it continues only for
// what the slow path does not find: faults, doctype and encoding.
func (s *Scanner) scanTags(i int) {
	text := s.el.Page.Text
	if s.index == nil {
		s.index = new(index)
	}
	x := s.index
	x.fill(text, i)
	set := &s.el.Attrs
	base := unsafe.Pointer(unsafe.SliceData(text))
	quick := s.quickEnd() // offset before which tags may have the usual form
	for p := 0; ; {
		at := int(x.at[p])
		p++
		if at < i {
			continue
		}
		if at == atEnd {
			if i = max(i, x.end); i >= len(text) {
				return
			}
			x.fill(text, i)
			p = 0
			continue
		}
		if at < quick {
			if byteAt(base, at) != '<' {
				continue
			}
			end := 0
			if byteAt(base, at+1) == '/' {
				end = 1
			}
			j := at + 1 + end
			w := wordAt(base, j)
			k := alphanumerics(w)
			name := (w | scan.FoldASCII) & nameMasks[k&15]
			slot := name * scan.TagSlots.Mul >> (64 - scan.SlotBits)
			use := quickUses[slot]
			j += k
			c := byte(w >> (k * 8 & 63)) // after eight bytes this is a letter, which is left to tag
			switch {
			case scan.TagSlots.Key[slot] != name || use&quickNever != 0:
			case c == '>' && use>>end&1 != 0:
				i = j + 1
				continue
			case end != 0:
				if c == '>' {
					s.reg.end(scan.Tag(scan.TagSlots.Code[slot]))
					i, quick = j+1, s.quickEnd()
					continue
				}
			default:
				set.Seen = 0
				next := j + 1
				if c != '>' {
					if scan.Class[c]&scan.ClassSpace == 0 {
						break
					}
					var q int
					if next, q = s.quickAttrs(j, p); next == 0 {
						break
					}
					p = q
					set.Seen &^= scan.Meaningless
				}
				tag := scan.Tag(scan.TagSlots.Code[slot])
				if use&quickStart != 0 && set.Seen&^(1<<scan.AttrID|1<<scan.AttrHref) == 0 {
					s.quickEmit(at, tag)
					i = next
					continue
				}
				i = s.startElement(tag, scan.NewSpan(at, next), j, false)
				quick = s.quickEnd()
				continue
			}
		}
		if text[at] != '<' {
			continue
		}
		if i = s.tag(at); i < 0 {
			return
		}
		quick = s.quickEnd()
	}
}

// quickEnd returns the offset before which the quick path may read the next
// tags.
func (s *Scanner) quickEnd() int {
	if !s.reg.plain() || s.careful {
		return 0
	}
	return len(s.el.Page.Text) - quickMargin
}

// quickAttrs reads the attributes of a tag into s.el.Attrs. The tag's name ends
// at text[j], a white space. It returns the offset after the tag, and the
// position in the index where scanning continues. next is 0 if the tag has
// another form.
func (s *Scanner) quickAttrs(j, p int) (next, q int) {
	text, x, set := s.el.Page.Text, s.index, &s.el.Attrs
	base := unsafe.Pointer(unsafe.SliceData(text))
	safe := len(text) - quickMargin
	for j < safe {
		w := wordAt(base, j+1)
		k := letters(w)
		v := j + 1 + k
		c := byte(w >> (k * 8 & 63)) // after eight bytes this is a letter
		var a scan.Attr
		switch {
		case k == 0:
			switch {
			case scan.Class[c]&scan.ClassSpace != 0:
				j++
				continue
			case c == '>':
				return v + 1, p
			case c == '/' && text[v+1] == '>':
				return v + 2, p
			}
			return 0, 0
		case scan.Class[c]&scan.ClassAttrEnd != 0:
			a = scan.Attr(scan.AttrSlots.Find((w | scan.FoldASCII) & nameMasks[k&15]))
		default:
			for c = text[v]; scan.Class[c]&scan.ClassAttrEnd == 0; c = text[v] {
				if v++; v >= safe {
					return 0, 0
				}
			}
			a = scan.AttrAt(text, j+1, v)
		}
		value := scan.NewSpan(v, v) // no value
		if c != '=' && scan.Class[c]&scan.ClassSpace != 0 && scan.Class[text[v+1]]&scan.ClassLetter == 0 && text[v+1] != '>' && text[v+1] != '/' {
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
					return 0, 0 // the index ends with this chunk
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
			value = scan.NewSpan(open+1, end)
			v = end + 1
			c = byteAt(base, v)
		}
		// Keep the value even if it does not matter: that branch would be
		// unpredictable. If an attribute is repeated, the first one counts.
		if set.Seen&(1<<(a&63))&^scan.Meaningless == 0 {
			set.Seen |= 1 << (a & 63)
			set.Val[a&63] = value
		}
		switch {
		case c == '>':
			return v + 1, p
		case scan.Class[c]&scan.ClassSpace != 0:
			j = v
		case c == '/' && text[v+1] == '>':
			return v + 2, p
		default:
			return 0, 0
		}
	}
	return 0, 0
}

// quickEmit adds the anchor and the link of the tag at text[at]. Only its
// attributes id and href matter.
func (s *Scanner) quickEmit(at int, tag scan.Tag) {
	set := &s.el.Attrs
	if set.Has(scan.AttrID) {
		if sp := set.Val[scan.AttrID]; sp.Start != sp.End {
			s.el.Page.Anchors = append(s.el.Page.Anchors, scan.Anchor{Name: s.quickValue(sp), Off: sp.Start, Kind: scan.AnchorID})
		}
	}
	if tag == scan.TagA {
		s.reg.started = true
		if set.Has(scan.AttrHref) {
			sp := set.Val[scan.AttrHref]
			s.el.Page.Links = append(s.el.Page.Links, scan.Link{Value: s.quickValue(sp), Off: sp.Start, TagOff: uint32(at), Tag: scan.TagA,
				Attr: scan.AttrHref, Kind: scan.KindLink})
		}
	}
}

// quickValue returns the value at sp. It asks the index first.
func (s *Scanner) quickValue(sp scan.Span) []byte {
	if s.index.plain(int(sp.Start), int(sp.End)) {
		return s.el.Page.Text[sp.Start:sp.End]
	}
	return s.el.value(sp)
}
