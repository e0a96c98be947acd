package data

import (
	"bytes"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/scan"
)

// attribute is one attribute of a start tag.
type attribute struct {
	name, val scan.Span
	local     uint32    // offset of the local name, after the colon if there is one
	uri       namespace // of the prefix
	known     scan.Attr // the scanner's code for the attribute
	decode    bool      // the value differs from its source text
}

func (a *attribute) prefixed() bool { return a.local > a.name.Start }

// startTag reads a start tag or an empty-element tag (XML 3.1).
func (x *reader) startTag() {
	from := x.i
	if len(x.open) == 0 && x.rooted {
		x.fail(from, "a second root element")
		return
	}
	i := nameLen(x.text, from+1)
	if i == from+1 {
		x.fail(from, "\"<\" is not followed by a name")
		return
	}
	name := scan.NewSpan(from+1, i)
	x.attrs = x.attrs[:0]
	for {
		j := skipSpace(x.text, i)
		if j == len(x.text) {
			x.failUnclosed(from, "start tag <"+x.name(name)+"> is never closed")
			return
		}
		c := x.text[j]
		if c == '>' {
			x.i = j + 1
			x.element(name, scan.NewSpan(from, x.i), false)
			return
		}
		if c == '/' {
			switch {
			case j+1 == len(x.text):
				x.failUnclosed(from, "start tag <"+x.name(name)+"> is never closed")
			case x.text[j+1] != '>':
				x.fail(j, "\"/\" in start tag <"+x.name(name)+">")
			default:
				x.i = j + 2
				x.element(name, scan.NewSpan(from, x.i), true)
			}
			return
		}
		if j == i && nameLen(x.text, j) > j {
			x.fail(j, "no space before an attribute of <"+x.name(name)+">")
			return
		}
		if i = x.attribute(j, name); x.failed {
			return
		}
	}
}

// attribute reads the attribute at text[i] of the named element (XML 3.1, rules
// 10 and 41) and returns its end.
func (x *reader) attribute(i int, element scan.Span) int {
	j := nameLen(x.text, i)
	if j == i {
		x.fail(i, "bad attribute name in <"+x.name(element)+">")
		return i
	}
	a := attribute{name: scan.NewSpan(i, j), local: uint32(i)}
	k := skipSpace(x.text, j)
	if k < len(x.text) && x.text[k] != '=' {
		x.fail(i, "attribute "+x.name(a.name)+" has no value")
		return k
	}
	if k < len(x.text) {
		k = skipSpace(x.text, k+1)
	}
	if k == len(x.text) {
		x.failUnclosed(i, "the file ends inside attribute "+x.name(a.name))
		return k
	}
	end := -1
	switch c := x.text[k]; c {
	case '"', '\'':
		end = bytes.IndexByte(x.text[k+1:], c)
	default:
		x.fail(k, "the value of attribute "+x.name(a.name)+" is not quoted")
		return k
	}
	if end < 0 {
		if lt := bytes.IndexByte(x.text[k+1:], '<'); lt >= 0 {
			x.fail(k+1+lt, "\"<\" in attribute "+x.name(a.name))
		} else {
			x.failUnclosed(i, "the file ends inside attribute "+x.name(a.name))
		}
		return k
	}
	a.val = scan.NewSpan(k+1, k+1+end)
	a.decode = x.checkValue(a.val, a.name)
	x.attrs = append(x.attrs, a)
	return k + end + 2
}

// checkValue checks that an attribute's value is well-formed. It reports
// whether the value differs from its source text.
func (x *reader) checkValue(val, name scan.Span) (decode bool) {
	for i := int(val.Start); i < int(val.End); {
		switch x.text[i] {
		case '<':
			x.fail(i, "\"<\" in attribute "+x.name(name))
			return false
		case '&':
			decode = true
			n := x.checkRef(i, int(val.End), true)
			if x.failed {
				return false
			}
			i += n
			continue
		case '\t', '\n', '\r':
			decode = true
		}
		i++
	}
	return decode
}

// endTag reads an end tag (XML 3.1).
func (x *reader) endTag() {
	from := x.i
	j := nameLen(x.text, from+2)
	end := skipSpace(x.text, j)
	name := x.text[from+2 : j]
	n := len(x.open)
	switch {
	case end == len(x.text):
		x.failUnclosed(from, "end tag </"+shownName(name)+"> is never closed")
	case j == from+2 || x.text[end] != '>':
		x.fail(from, "bad end tag")
	case n == 0:
		x.fail(from, "end tag </"+shownName(name)+"> without start tag")
	case !bytes.Equal(name, x.text[x.open[n-1].name.Start:x.open[n-1].name.End]):
		x.fail(from, "mismatched end tag </"+shownName(name)+"> of <"+x.name(x.open[n-1].name)+">")
	default:
		x.i = end + 1
		x.close()
	}
}

// nameByte has bit 0 set for ASCII bytes that begin a name, and bit 1 for those
// that continue it.
var nameByte = func() (t [utf8.RuneSelf]uint8) {
	for c := range t {
		if scan.Class[c]&scan.ClassLetter != 0 || c == '_' || c == ':' {
			t[c] = 3
		}
	}
	for _, c := range "0123456789-." {
		t[c] = 2
	}
	return t
}()

// nameLen returns the end of the name at text[i] (XML 2.3, rules 4 to 5), or i
// if there is no name.
func nameLen(text []byte, i int) int {
	want := uint8(1)
	for i < len(text) {
		n := 1
		if c := text[i]; c < utf8.RuneSelf {
			if nameByte[c]&want == 0 {
				return i
			}
		} else {
			var r rune
			if r, n = utf8.DecodeRune(text[i:]); !isNameRune(r, want == 1) {
				return i
			}
		}
		want = 2
		i += n
	}
	return i
}

// isNameRune reports whether a name may contain r, which is not ASCII.
func isNameRune(r rune, first bool) bool {
	if !first && (r == 0xB7 || r >= 0x300 && r <= 0x36F || r == 0x203F || r == 0x2040) {
		return true
	}
	switch {
	case r < 0xC0 || r == 0xD7 || r == 0xF7 || r >= 0x300 && r < 0x370 || r == 0x37E:
		return false
	case r < 0x2000:
		return true
	}
	return r == 0x200C || r == 0x200D || r >= 0x2070 && r <= 0x218F || r >= 0x2C00 && r <= 0x2FEF ||
		r >= 0x3001 && r <= 0xD7FF || r >= 0xF900 && r <= 0xFDCF || r >= 0xFDF0 && r <= 0xFFFD ||
		r >= 0x10000 && r <= 0xEFFFF
}

// hasNameAt reports whether text[i:] is word followed by a byte that ends a
// name.
func hasNameAt(text []byte, i int, word string) bool {
	j := i + len(word)
	return j < len(text) && string(text[i:j]) == word && isSpace(text[j])
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func skipSpace(text []byte, i int) int {
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	return i
}
