package scan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// span is a half-open range of the page's text.
type span struct{ start, end uint32 }

// attrSet holds the attributes of one tag that the scanner knows. For
// duplicates the first wins (HTML 13.2.5.33).
type attrSet struct {
	seen uint64 // bit a: Attr a is there
	val  [64]span
}

// meaningless are the bits of attributes that no rule asks for.
const meaningless = 1<<attrOther | 1<<attrIgnored

func (s *attrSet) has(a Attr) bool { return s.seen&(1<<a) != 0 }

// byteClass drives the tokenizer's inner loops.
const (
	clsSpace    = 1 << iota // tab, LF, FF, CR, space
	clsNameEnd              // ends a tag name: space, /, >
	clsAttrEnd              // ends an attribute name: space, /, >, =
	clsValueEnd             // ends an unquoted value: space, >
	clsLetter
)

var byteClass = func() (t [256]uint8) {
	for _, c := range "\t\n\f\r " {
		t[c] |= clsSpace | clsNameEnd | clsAttrEnd | clsValueEnd
	}
	t['/'] |= clsNameEnd | clsAttrEnd
	t['>'] |= clsNameEnd | clsAttrEnd | clsValueEnd
	t['='] |= clsAttrEnd
	for c := 'a'; c <= 'z'; c++ {
		t[c] |= clsLetter
		t[c-'a'+'A'] |= clsLetter
	}
	return t
}()

// readAttrs reads the attributes of the tag whose name ends at text[i]
// (HTML 13.2.5.32 to 13.2.5.40) into set, keeping what is there already, and
// returns the offset after the tag's ">". ok is false when the file ends
// first: such a tag does not exist. set may be nil.
func readAttrs(text []byte, i int, set *attrSet) (next int, selfClosing, ok bool) {
	n := len(text)
	for i < n {
		c := text[i]
		if byteClass[c]&clsSpace != 0 {
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
			// The common form, name="value" with a name of up to seven letters
			// that the table knows, in a few steps.
			w := binary.LittleEndian.Uint64(text[i:])
			if k := firstByte(w, '='*ones); k > 0 && k < 8 && text[i+k+1] == '"' {
				if a := Attr(attrSlots.find((w | foldASCII) & (1<<(8*uint(k)) - 1))); a != attrOther {
					val := i + k + 2
					end := 0
					if val+8 <= n {
						end = firstByte(binary.LittleEndian.Uint64(text[val:]), '"'*ones)
					}
					if end == 8 || val+8 > n {
						q := bytes.IndexByte(text[val:], '"')
						if q < 0 {
							return n, false, false
						}
						end = q
					}
					if set != nil && a != attrIgnored && set.seen&(1<<a) == 0 {
						set.seen |= 1 << a
						set.val[a] = span{uint32(val), uint32(val + end)}
					}
					i = val + end + 1
					continue
				}
			}
		}
		// Attribute name; a leading "=" belongs to it.
		name := i
		i++
		for i < n && byteClass[text[i]]&clsAttrEnd == 0 {
			i++
		}
		nameEnd := i
		for i < n && byteClass[text[i]]&clsSpace != 0 {
			i++
		}
		if i >= n {
			break
		}
		val, valEnd := nameEnd, nameEnd
		if text[i] == '=' {
			i++
			for i < n && byteClass[text[i]]&clsSpace != 0 {
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
				for i < n && byteClass[text[i]]&clsValueEnd == 0 {
					i++
				}
				valEnd = i
			}
		}
		if set != nil {
			if a := attrAt(text, name, nameEnd); a != attrOther && a != attrIgnored && set.seen&(1<<a) == 0 {
				set.seen |= 1 << a
				set.val[a] = span{uint32(val), uint32(valEnd)}
			}
		}
	}
	return n, false, false
}

// ones times a byte is that byte in each place of a word.
const ones = 0x0101010101010101

// firstByte returns the place, 0 to 7, of the first byte of w that equals the
// byte repeated in pattern; 8 if none does.
func firstByte(w, pattern uint64) int {
	x := w ^ pattern
	return bits.TrailingZeros64((x-ones)&^x&(0x80*ones)) >> 3
}
