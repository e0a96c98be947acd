package xml

import (
	"bytes"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/scan/token"
)

// maxXMLDepth is how deep elements may be nested: where Chromium stops.
const maxDepth = 5000

// xmlReader reads one XML document as Chromium does: up to the first
// well-formedness error. It knows no external entities, and entities of the
// internal subset that hold markup are passed over: their elements are not
// seen.
//
// Specs: XML 1.0, fifth edition, https://www.w3.org/TR/xml/ ; Namespaces in
// XML 1.0, https://www.w3.org/TR/xml-names/ ; for the entities of XHTML,
// HTML 14.2 ("Parsing XML documents").
type reader struct {
	s    *Scanner
	text []byte // the page's text up to the first character that XML forbids
	bad  string // what is wrong with that character; "" when there is none
	i    int    // where reading goes on
	svg  bool   // read by the stricter rules for SVG files

	failed     bool // a well-formedness error: what follows does not count
	warned     bool // a fault that does not end the document was noted
	rooted     bool // the root element was seen
	sawDoctype bool
	standalone bool
	templates  int // open template elements

	open  []element
	parts []textPart  // text of the open style and script elements
	attrs []attribute // of the tag at hand
	order []int32     // scratch space of duplicate
	ns    namespaces
	dtd   documentType
	sink  decodedText
	data  *feedReader       // nil in pages
	char  [utf8.UTFMax]byte // what a numeric reference stands for
}

// An XMLScanner reads XML documents one after the other and reuses its buffers.
type Scanner struct {
	el    html.Elements
	inner html.Scanner // reads HTML in feeds
}

// XML reads an XML document, in the first place XHTML: links and anchors of
// the HTML table in the XHTML namespace, those of svg and math in theirs, and
// the id of any element. What comes after a well-formedness error is not
// there to browsers; it is noted as a [FaultXML]. The encoding is that of a
// byte order mark, of opt.Charset, of the XML declaration, or else UTF-8;
// opt.DefaultCharset has no say. text must stay unchanged while the page is in
// use, and be shorter than 4 GiB. Time and memory are linear in its length,
// whatever its entities expand to.
func (s *Scanner) XHTML(text []byte, opt scan.Options) *scan.Page {
	return s.read(text, opt, false, nil)
}

// SVG is [Scanner.XML] for SVG files, which Chromium reads by another parser:
// undeclared prefixes and entities end the document in all cases.
func (s *Scanner) SVG(text []byte) *scan.Page {
	return s.read(text, scan.Options{}, true, nil)
}

func (s *Scanner) read(text []byte, opt scan.Options, svg bool, data *feedReader) *scan.Page {
	s.el.Tags = opt.Tags
	from := s.decode(text, opt)
	s.el.Page.Quirks, s.el.Page.Prefixed = false, true
	x := reader{s: s, text: s.el.Page.Text, i: from, svg: svg, data: data}
	if data != nil {
		data.x = &x
	}
	if at, why := badChar(x.text, s.el.Page.Charset()); why != "" {
		x.text, x.bad = x.text[:at], why
	}
	x.document()
	p := &s.el.Page
	// The text of a style element is known at its end tag, after what stands
	// inside.
	s.el.SortLinks()
	s.el.RepairUTF8()
	return p
}

// document reads all (XML 2.1).
func (x *reader) document() {
	begin := x.i
	if x.i == len(x.text) && x.bad == "" {
		return // an empty file: browsers complain about none
	}
	if hasNameAt(x.text, x.i, "<?xml") {
		x.declaration()
	}
	for !x.failed && x.i < len(x.text) {
		if x.text[x.i] != '<' {
			x.charData()
			continue
		}
		rest := x.text[x.i:]
		switch {
		case len(rest) == 1:
			x.cut(x.i, "the file ends in a tag")
		case rest[1] == '/':
			x.endTag()
		case rest[1] == '?':
			x.instruction()
		case rest[1] != '!':
			x.startTag()
		case bytes.HasPrefix(rest, []byte("<!--")):
			x.i = x.comment(x.i)
		case bytes.HasPrefix(rest, []byte("<![CDATA[")) && len(x.open) > 0:
			x.cdata()
		case bytes.HasPrefix(rest, []byte("<!DOCTYPE")) && !x.rooted && !x.sawDoctype:
			x.doctype()
		default:
			x.fail(x.i, "\"<!\" begins nothing that may stand here")
		}
	}
	switch n := len(x.open); {
	case x.failed:
	case x.bad != "":
		x.cut(len(x.text), "")
	case n > 0:
		e := &x.open[n-1]
		x.fail(int(e.at.Start), "element <"+x.name(e.name)+"> is never closed")
	case !x.rooted:
		x.fail(begin, "there is no root element")
	}
}

// fail notes the error that ends the document.
func (x *reader) fail(off int, reason string) {
	if !x.failed {
		x.failed = true
		x.s.el.Fault(off, scan.FaultXML, reason)
	}
}

// cut is fail for what has no end: it is to blame only when the text goes to
// the end of the file.
func (x *reader) cut(off int, reason string) {
	if x.bad != "" {
		off, reason = len(x.text), x.bad
	}
	x.fail(off, reason)
}

// warn notes an error that browsers read past; the first is enough.
func (x *reader) warn(off int, reason string) {
	if !x.warned {
		x.warned = true
		x.s.el.Fault(off, scan.FaultXML, reason)
	}
}

// maxNameShown bounds the names that reasons repeat.
const maxNameShown = 40

// name returns a name for use in a reason.
func (x *reader) name(sp token.Span) string { return shownName(x.text[sp.Start:sp.End]) }

func shownName(b []byte) string {
	if len(b) <= maxNameShown {
		return string(b)
	}
	n := maxNameShown
	for !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n]) + "..."
}

// charData reads text up to the next tag (XML 2.4).
func (x *reader) charData() {
	end := len(x.text)
	if k := bytes.IndexByte(x.text[x.i:], '<'); k >= 0 {
		end = x.i + k
	}
	if len(x.open) == 0 {
		if j := skipSpace(x.text[:end], x.i); j < end {
			x.fail(j, "text outside of the root element")
		}
		x.i = end
		return
	}
	for x.i < end && !x.failed {
		plain := end
		if k := bytes.IndexByte(x.text[x.i:end], '&'); k >= 0 {
			plain = x.i + k
		}
		if k := bytes.Index(x.text[x.i:plain], token.CDATAEnd); k >= 0 {
			x.fail(x.i+k, "\"]]>\" in text")
			return
		}
		x.part(x.i, plain, false)
		if x.i = plain; x.i < end {
			n := x.checkRef(x.i, end, false)
			x.part(x.i, x.i+n, true)
			x.i += n
		}
	}
}

// comment reads the comment at text[i] (XML 2.5) and returns its end.
func (x *reader) comment(i int) int {
	k := bytes.Index(x.text[i+4:], token.Dashes)
	end := i + 4 + k + len(token.Dashes)
	switch {
	case k < 0 || end == len(x.text):
		x.cut(i, "a comment is never closed")
		return len(x.text)
	case x.text[end] != '>':
		x.fail(end-len(token.Dashes), "\"--\" in a comment")
	}
	return end + 1
}

// cdata reads a CDATA section (XML 2.7).
func (x *reader) cdata() {
	from := x.i + len("<![CDATA[")
	k := bytes.Index(x.text[from:], token.CDATAEnd)
	if k < 0 {
		x.cut(x.i, "a CDATA section is never closed")
		return
	}
	x.part(from, from+k, false)
	x.i = from + k + len(token.CDATAEnd)
}
