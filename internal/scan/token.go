package scan

// This file reads the lexical level of HTML: tag names, attributes,
// comments, the text of script and similar elements, and character references
// (HTML Living Standard, section 13.2.5). It does not know the tree of
// elements.

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Span is a half-open range of a text.
type Span struct{ Start, End uint32 }

// NewSpan returns the range from start to end.
func NewSpan(start, end int) Span { return Span{uint32(start), uint32(end)} }

// Bits of Class.
const (
	ClassSpace    = 1 << iota // tab, LF, FF, CR, space
	ClassNameEnd              // ends a tag name: space, /, >
	ClassAttrEnd              // ends an attribute name: space, /, >, =
	ClassValueEnd             // ends an unquoted value: space, >
	ClassLetter
)

// Class holds the classes of each byte, for the inner loops of tokenizers.
var Class = func() (t [256]uint8) {
	for _, c := range Space {
		t[c] |= ClassSpace | ClassNameEnd | ClassAttrEnd | ClassValueEnd
	}
	t['/'] |= ClassNameEnd | ClassAttrEnd
	t['>'] |= ClassNameEnd | ClassAttrEnd | ClassValueEnd
	t['='] |= ClassAttrEnd
	for c := 'a'; c <= 'z'; c++ {
		t[c] |= ClassLetter
		t[c-'a'+'A'] |= ClassLetter
	}
	return t
}()

// Ones times a byte is a word with that byte in each place.
const Ones = 0x0101010101010101

// FirstByte returns the position, 0 to 7, of the first byte of w that equals
// the byte repeated in pattern, or 8.
func FirstByte(w, pattern uint64) int {
	x := w ^ pattern
	return bits.TrailingZeros64((x-Ones)&^x&(0x80*Ones)) >> 3
}

// AttrIgnored is the code of frequent attributes that never hold a link. The
// tokenizer finishes a name sooner if it is in the table.
const AttrIgnored = AttrText + 1

// Meaningless are the bits in [AttrSet] of attributes that no rule asks for.
const Meaningless = 1<<AttrOther | 1<<AttrIgnored

// AttrSet holds the known attributes of one tag. If an attribute is repeated,
// the first one counts (HTML 13.2.5.33).
type AttrSet struct {
	Seen uint64 // bit a is set if attribute a is present
	Val  [64]Span
}

// Has reports whether the tag has the attribute.
func (s *AttrSet) Has(a Attr) bool { return s.Seen&(1<<a) != 0 }

// ReadAttrs reads the attributes of the tag whose name ends at text[i] into set
// (HTML 13.2.5.32 to 13.2.5.40) and returns the offset after the tag's ">".
// Attributes that are already in set are kept. ok is false if the file ends
// inside the tag: then it is no tag. set may be nil.
func ReadAttrs(text []byte, i int, set *AttrSet) (next int, selfClosing, ok bool) {
	n := len(text)
	for i < n {
		c := text[i]
		if Class[c]&ClassSpace != 0 {
			i++
			continue
		}
		if c == '>' {
			return i + 1, false, true
		}
		if c == '/' {
			i++
			if i < n && text[i] == '>' {
				return i + 1, true, true
			}
			continue
		}
		if i+16 <= n {
			// A shortcut for the common form, name="value" with a name of up to
			// seven letters that is in the table.
			w := binary.LittleEndian.Uint64(text[i:])
			if k := FirstByte(w, '='*Ones); k > 0 && k < 8 && text[i+k+1] == '"' {
				if a := Attr(AttrSlots.Find((w | FoldASCII) & (1<<(8*uint(k)) - 1))); a != AttrOther {
					val := i + k + 2
					end := 0
					if val+8 <= n {
						end = FirstByte(binary.LittleEndian.Uint64(text[val:]), '"'*Ones)
					}
					if end == 8 || val+8 > n {
						q := bytes.IndexByte(text[val:], '"')
						if q < 0 {
							return n, false, false
						}
						end = q
					}
					if set != nil && a != AttrIgnored && set.Seen&(1<<a) == 0 {
						set.Seen |= 1 << a
						set.Val[a] = NewSpan(val, val+end)
					}
					i = val + end + 1
					continue
				}
			}
		}
		// A "=" at the start belongs to the attribute name.
		name := i
		i++
		for i < n && Class[text[i]]&ClassAttrEnd == 0 {
			i++
		}
		nameEnd := i
		for i < n && Class[text[i]]&ClassSpace != 0 {
			i++
		}
		if i >= n {
			break
		}
		val, valEnd := nameEnd, nameEnd
		if text[i] == '=' {
			i++
			for i < n && Class[text[i]]&ClassSpace != 0 {
				i++
			}
			if i >= n {
				break
			}
			switch c := text[i]; c {
			case '"', '\'':
				i++
				k := bytes.IndexByte(text[i:], c)
				if k < 0 {
					return n, false, false
				}
				val, valEnd = i, i+k
				i += k + 1
			case '>':
				val, valEnd = i, i
			default:
				val = i
				for i < n && Class[text[i]]&ClassValueEnd == 0 {
					i++
				}
				valEnd = i
			}
		}
		if set != nil {
			if a := AttrAt(text, name, nameEnd); a != AttrOther && a != AttrIgnored && set.Seen&(1<<a) == 0 {
				set.Seen |= 1 << a
				set.Val[a] = NewSpan(val, valEnd)
			}
		}
	}
	return n, false, false
}

// NameAt reads the tag name at text[i] and returns its end and its tag.
func NameAt(text []byte, i int) (end int, tag Tag) {
	if i+8 <= len(text) {
		w := binary.LittleEndian.Uint64(text[i:])
		if k := min(FirstByte(w, '>'*Ones), FirstByte(w, ' '*Ones)); k < 8 {
			name := (w | FoldASCII) & (1<<(8*uint(k)) - 1)
			h := name * TagSlots.Mul >> (64 - SlotBits)
			if TagSlots.Key[h] == name && k > 0 {
				return i + k, Tag(TagSlots.Code[h])
			}
		}
	}
	j := i
	for j < len(text) && Class[text[j]]&ClassNameEnd == 0 {
		j++
	}
	return j, TagAt(text, i, j)
}
