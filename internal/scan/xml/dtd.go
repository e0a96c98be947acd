package xml

import (
	"bytes"

	"github.com/sitelink/sitelink/internal/scan/token"
)

// documentType holds the declarations of the document type that affect the
// result.
type documentType struct {
	// xhtml means that the public identifier is one of XHTML, so that browsers
	// know the named references of HTML.
	xhtml bool
	// external means that names may be declared in files that browsers do not
	// read.
	external bool
	entities map[string]*entity
	expanded int64 // bytes of all references so far
	// defaults are the namespace declarations with a default value, by element.
	// Other default values are ignored.
	defaults     map[string][]attribute
	defaultCount int
}

// maxDefaults limits the namespace declarations in the document type, because
// each takes time at every element of its name.
const maxDefaults = 16

// xhtmlPublicIDs are those of HTML 14.2, and later ones by WAPFORUM that
// Chromium knows too.
var xhtmlPublicIDs = map[string]bool{
	"-//W3C//DTD XHTML 1.0 Transitional//EN":                 true,
	"-//W3C//DTD XHTML 1.1//EN":                              true,
	"-//W3C//DTD XHTML 1.0 Strict//EN":                       true,
	"-//W3C//DTD XHTML 1.0 Frameset//EN":                     true,
	"-//W3C//DTD XHTML Basic 1.0//EN":                        true,
	"-//W3C//DTD XHTML 1.1 plus MathML 2.0//EN":              true,
	"-//W3C//DTD XHTML 1.1 plus MathML 2.0 plus SVG 1.1//EN": true,
	"-//W3C//DTD MathML 2.0//EN":                             true,
	"-//WAPFORUM//DTD XHTML Mobile 1.0//EN":                  true,
	"-//WAPFORUM//DTD XHTML Mobile 1.1//EN":                  true,
	"-//WAPFORUM//DTD XHTML Mobile 1.2//EN":                  true,
}

// doctype reads the document type declaration (XML 2.8).
func (x *reader) doctype() {
	from := x.i
	x.sawDoctype = true
	c := dtdCursor{x: x, from: from, i: from + len("<!DOCTYPE")}
	c.needSpace()
	c.name()
	if c.space(); c.word("PUBLIC") || c.word("SYSTEM") {
		public := c.externalID()
		x.dtd.external = true
		x.dtd.xhtml = !x.svg && xhtmlPublicIDs[string(public)]
		c.space()
	}
	if c.is('[') {
		c.i++
		x.subset(&c)
		c.space()
	}
	c.expect('>')
	x.i = c.i
}

// subset reads the internal subset including its "]".
func (x *reader) subset(c *dtdCursor) {
	for !x.failed {
		c.space()
		rest := x.text[c.i:]
		switch {
		case len(rest) == 0:
			x.failUnclosed(c.from, "the document type is never closed")
		case rest[0] == ']':
			c.i++
			return
		case rest[0] == '%':
			c.i++
			c.name()
			c.expect(';')
			x.dtd.external = true // its replacement is not read
		case bytes.HasPrefix(rest, []byte("<!--")):
			c.i = x.comment(c.i)
		case bytes.HasPrefix(rest, []byte("<?")):
			_, c.i, _ = x.readPI(c.i)
		case hasNameAt(x.text, c.i, "<!ENTITY"):
			c.i += len("<!ENTITY")
			x.entityDecl(c)
		case hasNameAt(x.text, c.i, "<!ATTLIST"):
			c.i += len("<!ATTLIST")
			x.attlistDecl(c)
		case hasNameAt(x.text, c.i, "<!ELEMENT"), hasNameAt(x.text, c.i, "<!NOTATION"):
			c.skip()
		default:
			x.fail(c.i, "bad declaration in the document type")
		}
	}
}

// entityDecl reads an entity declaration (XML 4.2). Of several with the same
// name the first one counts. Parameter entities are not kept.
func (x *reader) entityDecl(c *dtdCursor) {
	c.needSpace()
	parameter := false
	if c.is('%') {
		parameter = true
		c.i++
		c.needSpace()
	}
	name := c.name()
	c.needSpace()
	e := &entity{}
	if c.word("SYSTEM") || c.word("PUBLIC") {
		e.external = true
		c.externalID()
		if c.space(); c.word("NDATA") {
			c.i += len("NDATA")
			c.needSpace()
			c.name()
			e.unparsed = true
		}
	} else if at := c.i + 1; !parameter {
		e.text = x.entityText(c.literal(), at)
	} else {
		c.literal()
	}
	c.space()
	c.expect('>')
	if x.failed || parameter || x.dtd.entities[string(name)] != nil {
		return
	}
	if x.dtd.entities == nil {
		x.dtd.entities = map[string]*entity{}
	}
	x.dtd.entities[string(name)] = e
}

// entityText returns the replacement text of a literal (XML 4.5), in which
// numeric references are decoded and others are not. at is the literal's
// offset.
func (x *reader) entityText(literal []byte, at int) []byte {
	if bytes.IndexByte(literal, '&') < 0 && bytes.IndexByte(literal, '\r') < 0 && bytes.IndexByte(literal, '%') < 0 {
		return literal
	}
	var out []byte
	for i := 0; i < len(literal); {
		switch c := literal[i]; {
		case c == '%':
			// A parameter entity is not allowed here. Chromium uses the text
			// before it.
			return out
		case c == '\r':
			if i++; i == len(literal) || literal[i] != '\n' {
				out = append(out, '\n')
			}
			continue
		case c == '&':
			b := literal[i:]
			if lit, n := plainRef(b, &x.char); n > 0 && b[1] == '#' {
				out = append(out, lit...)
				i += n
				continue
			}
			j := nameLen(b, 1)
			if j == 1 || j == len(b) || b[j] != ';' {
				x.fail(at+i, "\"&\" does not begin a reference")
				return nil
			}
			out = append(out, b[:j+1]...)
			i += j + 1
			continue
		default:
			out = append(out, c)
		}
		i++
	}
	return out
}

// attlistDecl reads an attribute list declaration (XML 3.3).
func (x *reader) attlistDecl(c *dtdCursor) {
	c.needSpace()
	element := c.name()
	for !x.failed {
		if c.space(); c.is('>') {
			c.i++
			return
		}
		a := attribute{name: token.Span{Start: uint32(c.i)}, local: uint32(c.i)}
		c.name()
		a.name.End = uint32(c.i)
		c.needSpace()
		if !c.is('(') {
			c.name() // NOTATION is followed by a group
			c.needSpace()
		}
		if c.is('(') {
			c.i = token.After(x.text, c.i, ')')
			c.space()
		}
		if c.is('#') {
			c.i++
			if string(c.name()) != "FIXED" {
				continue
			}
			c.space()
		}
		v := c.literal()
		a.val = token.NewSpan(c.i-1-len(v), c.i-1)
		x.keepDefault(element, a)
	}
}

// keepDefault keeps a default value that declares a namespace.
func (x *reader) keepDefault(element []byte, a attribute) {
	d := &x.dtd
	name := x.text[a.name.Start:a.name.End]
	prefix, declares := bytes.CutPrefix(name, []byte("xmlns"))
	if x.failed || !declares || len(prefix) == 1 || len(prefix) > 0 && prefix[0] != ':' || d.defaultCount == maxDefaults {
		return
	}
	if len(prefix) > 0 {
		a.local += uint32(len("xmlns:"))
	}
	if a.decode = x.checkValue(a.val, a.name); x.failed {
		return
	}
	if d.defaults == nil {
		d.defaults = map[string][]attribute{}
	}
	d.defaultCount++
	d.defaults[string(element)] = append(d.defaults[string(element)], a)
}

// dtdCursor reads the parts of a document type. After an error it does not
// move.
type dtdCursor struct {
	x    *reader
	from int // offset of the declaration
	i    int
}

func (c *dtdCursor) bad() {
	if c.i >= len(c.x.text) {
		c.x.failUnclosed(c.from, "the document type is never closed")
	} else {
		c.x.fail(c.i, "bad document type")
	}
}

func (c *dtdCursor) is(b byte) bool {
	return !c.x.failed && c.i < len(c.x.text) && c.x.text[c.i] == b
}

func (c *dtdCursor) word(w string) bool {
	return !c.x.failed && bytes.HasPrefix(c.x.text[c.i:], []byte(w))
}

func (c *dtdCursor) space() {
	if !c.x.failed {
		c.i = skipSpace(c.x.text, c.i)
	}
}

func (c *dtdCursor) needSpace() {
	before := c.i
	if c.space(); c.i == before {
		c.bad()
	}
}

func (c *dtdCursor) expect(b byte) {
	if c.is(b) {
		c.i++
	} else {
		c.bad()
	}
}

func (c *dtdCursor) name() []byte {
	if c.x.failed {
		return nil
	}
	j := nameLen(c.x.text, c.i)
	if j == c.i {
		c.bad()
	}
	name := c.x.text[c.i:j]
	c.i = j
	return name
}

// literal reads a quoted string.
func (c *dtdCursor) literal() []byte {
	if !c.is('"') && !c.is('\'') {
		c.bad()
		return nil
	}
	k := bytes.IndexByte(c.x.text[c.i+1:], c.x.text[c.i])
	if k < 0 {
		c.x.failUnclosed(c.i, "a literal in the document type is never closed")
		return nil
	}
	v := c.x.text[c.i+1 : c.i+1+k]
	c.i += k + 2
	return v
}

// externalID reads PUBLIC or SYSTEM with its identifiers (XML 4.2.2).
func (c *dtdCursor) externalID() (public []byte) {
	isPublic := c.word("PUBLIC")
	c.i += len("PUBLIC")
	c.needSpace()
	if isPublic {
		public = c.literal()
		c.needSpace()
	}
	c.literal()
	return public
}

// skip skips a declaration that does not matter.
func (c *dtdCursor) skip() {
	for c.i < len(c.x.text) && !c.x.failed {
		switch c.x.text[c.i] {
		case '>':
			c.i++
			return
		case '"', '\'':
			c.literal()
		default:
			c.i++
		}
	}
	c.bad()
}
