package data

import "bytes"

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
}

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

// doctype reads the document type declaration (XML 2.8) for its public identifier and
// its entities. Other declarations are skipped, whatever is in them.
func (x *reader) doctype() {
	from, i := x.i, x.i+len("<!DOCTYPE")
	x.sawDoctype = true
	public := false // the next literal is a public identifier
	for !x.failed {
		i = skipSpace(x.text, i)
		rest := x.text[i:]
		switch {
		case len(rest) == 0:
			x.failUnclosed(from, "the document type is never closed")
		case rest[0] == '>':
			x.i = i + 1
			return
		case rest[0] == '%': // its replacement is not read
			x.dtd.external = true
			i++
		case rest[0] == '"' || rest[0] == '\'':
			end := x.literalEnd(i)
			if public && !x.failed {
				x.dtd.xhtml = !x.svg && xhtmlPublicIDs[string(x.text[i+1:end-1])]
			}
			public, i = false, end
		case bytes.HasPrefix(rest, []byte("<!--")):
			i = x.comment(i)
		case bytes.HasPrefix(rest, []byte("<?")):
			_, i, _ = x.readPI(i)
		case hasNameAt(x.text, i, "<!ENTITY"):
			i = x.entityDecl(i + len("<!ENTITY"))
		case rest[0] == '<':
			i = x.declarationEnd(i)
		default: // a name or a bracket
			if hasNameAt(x.text, i, "PUBLIC") || hasNameAt(x.text, i, "SYSTEM") {
				x.dtd.external, public = true, rest[0] == 'P'
			}
			i = max(nameLen(x.text, i), i+1)
		}
	}
}

// literalEnd returns the end of the quoted string at i.
func (x *reader) literalEnd(i int) int {
	n := bytes.IndexByte(x.text[i+1:], x.text[i])
	if n < 0 {
		x.failUnclosed(i, "a literal in the document type is never closed")
		return len(x.text)
	}
	return i + n + 2
}

// declarationEnd returns the offset after the ">" of the declaration that i is in.
func (x *reader) declarationEnd(i int) int {
	for from := i; ; {
		switch {
		case i == len(x.text):
			x.failUnclosed(from, "the document type is never closed")
			return i
		case x.text[i] == '>':
			return i + 1
		case x.text[i] == '"' || x.text[i] == '\'':
			i = x.literalEnd(i)
		default:
			i++
		}
	}
}

// entityDecl reads an entity declaration (XML 4.2) from the end of "<!ENTITY", and returns
// its end. Of several with the same name the first one counts. Parameter entities are not
// kept.
func (x *reader) entityDecl(i int) int {
	i = skipSpace(x.text, i)
	from, j := i, nameLen(x.text, i)
	i = skipSpace(x.text, j)
	e := &entity{external: true}
	if i < len(x.text) && (x.text[i] == '"' || x.text[i] == '\'') {
		end := x.literalEnd(i)
		if x.failed {
			return end
		}
		e = &entity{text: x.entityText(x.text[i+1 : end-1])}
	}
	name := string(x.text[from:j])
	if x.dtd.entities == nil {
		x.dtd.entities = map[string]*entity{}
	}
	if name != "" && x.dtd.entities[name] == nil {
		x.dtd.entities[name] = e
	}
	return x.declarationEnd(i)
}

// entityText returns the replacement text of a literal (XML 4.5), in which numeric
// references are decoded and others are not.
func (x *reader) entityText(literal []byte) (out []byte) {
	literal = bytes.ReplaceAll(literal, []byte("\r\n"), []byte("\n"))
	for i := 0; i < len(literal); i++ {
		if lit, n := plainRef(literal[i:], &x.char); literal[i] == '&' && n > 0 && literal[i+1] == '#' {
			out = append(out, lit...)
			i += n - 1
			continue
		}
		out = append(out, literal[i])
	}
	return out
}
