package data

import (
	"bytes"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/scan"
)

// Limits on entities. They are those of libxml2, so that everything that a
// browser shows is read.
const (
	// freeExpansion and expansionFactor limit the number of bytes that all
	// references of a document expand to: freeExpansion plus the factor times
	// the document's length.
	freeExpansion   = 1 << 20
	expansionFactor = 5
)

// entity is a general entity of the internal subset.
type entity struct {
	text     []byte // replacement text (XML 4.5)
	external bool   // in a file of its own, which browsers do not read

	resolved  bool // the fields below are set
	resolving bool
	size      int64 // bytes of its expansion
	markup    bool  // the expansion contains "<"
	outside   bool  // the expansion contains an external entity
}

// checkRef checks the reference at text[i], which must end before end, and
// returns its length.
func (x *reader) checkRef(i, end int, inAttr bool) int {
	_, e, n := x.ref(x.text[i:end], i)
	if e == nil || x.failed {
		return n
	}
	if x.resolve(e, i); x.failed {
		return n
	}
	name := "&" + shownName(x.text[i+1:i+n-1]) + ";"
	switch x.dtd.expanded += e.size; {
	case x.dtd.expanded > freeExpansion+expansionFactor*int64(len(x.text)):
		x.fail(i, "entity "+name+" expands to too much text")
	case inAttr && e.markup:
		x.fail(i, "entity "+name+" holds \"<\" in an attribute")
	case inAttr && e.outside:
		x.fail(i, "external entity "+name+" in an attribute")
	}
	return n
}

// ref reads the reference at the start of b ("&..."), whose offset in the page
// is at. The reference stands for the characters lit, for the entity e, or for
// nothing.
func (x *reader) ref(b []byte, at int) (lit []byte, e *entity, n int) {
	if lit, n = plainRef(b, &x.char); n > 0 {
		return lit, nil, n
	}
	j := nameLen(b, 1)
	if j == 1 || j == len(b) || b[j] != ';' {
		if len(b) > 1 && b[1] == '#' {
			x.fail(at, "bad character reference")
		} else {
			x.fail(at, "\"&\" does not begin a reference")
		}
		return nil, nil, 1
	}
	name := b[1:j]
	n = j + 1
	if e = x.dtd.entities[string(name)]; e != nil {
		return nil, e, n
	}
	if x.dtd.xhtml {
		if lit, used := scan.Reference(b[:n]); used == n {
			return lit, nil, n
		}
	}
	// With an external subset the name may be declared where browsers do not
	// look (XML 4.1, "Entity Declared"). Then it stands for nothing.
	if x.svg || x.standalone || !x.dtd.external {
		x.fail(at, "entity &"+shownName(name)+"; is not declared")
	}
	return nil, nil, n
}

// plainRef decodes a numeric or predefined reference at the start of b into
// buf. n is 0 without one.
func plainRef(b []byte, buf *[utf8.UTFMax]byte) (lit []byte, n int) {
	if len(b) > 2 && b[1] == '#' {
		i, base := 2, rune(10)
		if b[2] == 'x' {
			i, base = 3, 16
		}
		first, r := i, rune(0)
		for ; i < len(b); i++ {
			d, ok := scan.HexDigit(b[i])
			if !ok || rune(d) >= base {
				break
			}
			if r <= utf8.MaxRune {
				r = r*base + rune(d)
			}
		}
		if i == first || i == len(b) || b[i] != ';' || !isChar(r) {
			return nil, 0
		}
		return utf8.AppendRune(buf[:0], r), i + 1
	}
	for _, p := range [...]struct{ ref, lit string }{
		{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"},
	} {
		if len(b) >= len(p.ref) && string(b[:len(p.ref)]) == p.ref {
			return append(buf[:0], p.lit...), len(p.ref)
		}
	}
	return nil, 0
}

// resolve determines size and content of an entity's expansion without
// expanding it. at is the offset of the reference, for error messages.
func (x *reader) resolve(e *entity, at int) {
	switch {
	case e.resolved:
		return
	case e.resolving:
		x.fail(at, "an entity refers to itself")
		return
	}
	e.resolving = true
	e.size, e.outside = int64(len(e.text)), e.external
	e.markup = bytes.IndexByte(e.text, '<') >= 0
	for i := 0; ; {
		k := bytes.IndexByte(e.text[i:], '&')
		if k < 0 {
			break
		}
		i += k
		_, inner, n := x.ref(e.text[i:], at)
		if x.failed {
			return
		}
		i += n
		if inner == nil {
			continue
		}
		if x.resolve(inner, at); x.failed {
			return
		}
		// Beyond every limit the exact sum does not matter, but it must not
		// overflow.
		e.size = min(e.size+inner.size, 1<<40)
		e.markup, e.outside = e.markup || inner.markup, e.outside || inner.outside
	}
	e.resolving, e.resolved = false, true
}

// decode appends the meaning of b to x.decoded. The references in b were
// checked. b begins at offset at of the page. If inside is set, b is the text
// of an entity, and the reference to the entity is at that offset.
func (x *reader) decode(b []byte, at int, inside, inAttr bool) {
	for i := 0; i < len(b); i++ {
		pos := at
		if !inside {
			pos += i
		}
		switch c := b[i]; {
		case c == '&':
			lit, e, n := x.ref(b[i:], pos)
			x.decoded.put(pos, lit...)
			if e != nil && !e.markup {
				x.decode(e.text, pos, true, inAttr)
			}
			i += n - 1
		case inAttr && isSpace(c):
			// XML 3.3.3. CRLF is one character (2.11), unless it comes from
			// references in an entity.
			if c == '\r' && !inside && i+1 < len(b) && b[i+1] == '\n' {
				i++
			}
			x.decoded.put(pos, ' ')
		default:
			x.decoded.put(pos, c)
		}
	}
}

// decodedText holds decoded text, and the offset in the page for each byte.
type decodedText struct {
	buf  []byte
	from []uint32
	// escape means that the text is escaped again, so that decoding it by the
	// HTML rules for attribute values gives the decoded text. The code that
	// reads HTML decodes all values.
	escape bool
}

func (k *decodedText) reset(escape bool) {
	k.buf, k.from, k.escape = k.buf[:0], k.from[:0], escape
}

func (k *decodedText) put(at int, b ...byte) {
	for _, c := range b {
		before := len(k.buf)
		switch {
		case k.escape && c == '&':
			k.buf = append(k.buf, "&amp;"...)
		case k.escape && c == '\r':
			k.buf = append(k.buf, "&#13;"...)
		default:
			k.buf = append(k.buf, c)
		}
		for range len(k.buf) - before {
			k.from = append(k.from, uint32(at))
		}
	}
}

// end adds a byte that belongs to no value, so that an empty value has an
// offset.
func (k *decodedText) end(at uint32) {
	k.buf, k.from = append(k.buf, ' '), append(k.from, at)
}
