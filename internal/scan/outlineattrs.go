package scan

import (
	"bytes"
	"encoding/binary"
)

// attributes reads the attributes of the tag whose name ends at text[i] and
// returns the offset after its ">"; closing is set if that was "/>". A page
// foreign says that it matters, as it does in svg and math. A page
// that ends before, or has what parsers disagree about, is unsure.
func (b *Outliner) attributes(i int, foreign bool) (next int, closing bool) {
	text := b.text
	n := len(text)
	for i < n {
		c := text[i]
		switch {
		case c == '>':
			return i + 1, false
		case byteClass[c]&clsSpace != 0:
			i++
			continue
		case c == '/':
			if i+1 < n && text[i+1] == '>' {
				return i + 2, true
			}
			i++
			continue
		case c == '=':
			b.unsure = true
			return n, false
		}
		if i+16 <= n {
			// The common form, as in readAttrs.
			w := binary.LittleEndian.Uint64(text[i:])
			if k := firstByte(w, '='*ones); k > 0 && k < 8 && text[i+k+1] == '"' {
				if name := OutlineAttr(outlineAttrSlot.find((w | foldASCII) & (1<<(8*uint(k)) - 1))); name != outlineOther {
					from := i + k + 2
					end := bytes.IndexByte(text[from:], '"')
					if end < 0 {
						break
					}
					if name != outlineIgnored {
						b.out.attrs = append(b.out.attrs, outlineAttr{name, span{uint32(from), uint32(from + end)}})
					}
					i = from + end + 1
					continue
				}
			}
		}
		from := i
		for i < n && byteClass[text[i]]&clsAttrEnd == 0 {
			i++
		}
		name := outlineAttrAt(text, from, i)
		for i < n && byteClass[text[i]]&clsSpace != 0 {
			i++
		}
		value := span{uint32(i), uint32(i)}
		if i < n && text[i] == '=' {
			for i++; i < n && byteClass[text[i]]&clsSpace != 0; i++ {
			}
			if i == n {
				break
			}
			switch c := text[i]; c {
			case '>': // no value
				value = span{uint32(i), uint32(i)}
			case '"', '\'':
				k := bytes.IndexByte(text[i+1:], c)
				if k < 0 {
					b.unsure = true
					return n, false
				}
				value = span{uint32(i + 1), uint32(i + 1 + k)}
				i += k + 2
			default:
				value.start = uint32(i)
				for i < n && byteClass[text[i]]&clsValueEnd == 0 {
					i++
				}
				value.end = uint32(i)
				// golang.org/x/net/html takes "/" at the end of a repeated
				// attribute's value for the tag's.
				b.unsure = b.unsure || i < n && text[i] == '>' && text[i-1] == '/' && foreign
			}
		}
		if name != outlineOther && name != outlineIgnored {
			b.out.attrs = append(b.out.attrs, outlineAttr{name, value})
		}
	}
	b.unsure = true
	return n, false
}
