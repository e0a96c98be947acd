package scan

import "bytes"

// xmlCursor reads the parts of a document type. After a failure it stays
// where it is.
type xmlCursor struct {
	x    *xmlReader
	from int // where the declaration begins
	i    int
}

func (c *xmlCursor) bad() {
	if c.i >= len(c.x.text) {
		c.x.cut(c.from, "the document type is never closed")
	} else {
		c.x.fail(c.i, "bad document type")
	}
}

func (c *xmlCursor) is(b byte) bool {
	return !c.x.failed && c.i < len(c.x.text) && c.x.text[c.i] == b
}

func (c *xmlCursor) word(w string) bool {
	return !c.x.failed && bytes.HasPrefix(c.x.text[c.i:], []byte(w))
}

func (c *xmlCursor) space() {
	if !c.x.failed {
		c.i = skipXMLSpace(c.x.text, c.i)
	}
}

func (c *xmlCursor) needSpace() {
	before := c.i
	if c.space(); c.i == before {
		c.bad()
	}
}

func (c *xmlCursor) expect(b byte) {
	if c.is(b) {
		c.i++
	} else {
		c.bad()
	}
}

func (c *xmlCursor) name() []byte {
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
func (c *xmlCursor) literal() []byte {
	if !c.is('"') && !c.is('\'') {
		c.bad()
		return nil
	}
	k := bytes.IndexByte(c.x.text[c.i+1:], c.x.text[c.i])
	if k < 0 {
		c.x.cut(c.i, "a literal in the document type is never closed")
		return nil
	}
	v := c.x.text[c.i+1 : c.i+1+k]
	c.i += k + 2
	return v
}

// externalID reads PUBLIC or SYSTEM and its identifiers (XML 4.2.2).
func (c *xmlCursor) externalID() (public []byte) {
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

// skip passes over a declaration whose contents do not matter.
func (c *xmlCursor) skip() {
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
