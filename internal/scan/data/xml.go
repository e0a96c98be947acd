package data

// This file finds the links and anchors of XML files: XHTML and SVG pages,
// feeds, sitemaps, OPML lists and OpenSearch descriptions.

import (
	"bytes"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
)

// maxDepth limits how deep elements may be nested. Chromium has the same limit.
const maxDepth = 5000

// A reader reads one XML document as Chromium does: up to the first
// well-formedness error. It does not read external entities. Elements inside
// entities of the internal subset are not reported. Errors inside the document type,
// its default attributes, and the depth of its entities have no effect.
//
// Specs: XML 1.0, fifth edition, https://www.w3.org/TR/xml/ ; Namespaces in XML
// 1.0, https://www.w3.org/TR/xml-names/ ; for the entities of XHTML, HTML 14.2
// ("Parsing XML documents").
type reader struct {
	s    *XMLScanner
	data *feedReader // nil for pages

	// How far the document has been read, and what was wrong.
	el     *html.Elements
	text   []byte // the page's text up to the first character that XML forbids
	bad    string // the error about that character, or ""
	i      int    // offset where reading continues
	svg    bool   // apply the stricter rules for SVG files
	failed bool   // there was a well-formedness error, so the rest does not count
	warned bool   // a fault that does not end the document was reported

	// What the references of the document mean.
	sawDoctype bool
	standalone bool
	dtd        documentType
	decoded    decodedText
	char       [utf8.UTFMax]byte // buffer for the character of a numeric reference

	rooted    bool // there was a root element
	templates int  // number of open template elements
	open      []element
	pieces    []textPiece // text of the open style and script elements
	attrs     []attribute // of the current tag
	order     []int32     // buffer of duplicate
	ns        namespaces
}

// An XMLScanner reads XML documents one after the other and reuses its buffers. The
// zero value is ready to use. An XMLScanner must not be used concurrently.
type XMLScanner struct {
	el    html.Elements
	inner html.Scanner // reads HTML in feeds
}

// XHTML reads an XML document, usually XHTML. It reports the links and anchors
// of the HTML table in the XHTML namespace, those of svg and math in theirs,
// and the id of any element. Browsers ignore everything after a well-formedness
// error. So does XHTML, and reports a [scan.FaultXML]. The encoding comes from
// a byte order mark, from opt.Charset or from the XML declaration, and
// otherwise is UTF-8; opt.DefaultCharset is ignored. text must not change while
// the page is in use, and must be shorter than 4 GiB. Time and memory are
// linear in its length, however much its entities expand to.
func (s *XMLScanner) XHTML(text []byte, opt scan.Options) *scan.Page {
	return s.read(text, opt, false, nil)
}

// SVG is [XMLScanner.XHTML] for SVG files. Chromium reads these with another
// parser: undeclared prefixes and entities always end the document.
func (s *XMLScanner) SVG(text []byte) *scan.Page {
	return s.read(text, scan.Options{}, true, nil)
}

func (s *XMLScanner) read(text []byte, opt scan.Options, svg bool, data *feedReader) *scan.Page {
	s.el.Tags = opt.Tags
	from := s.decode(text, opt)
	s.el.Page.Quirks, s.el.Page.Prefixed = false, true
	x := reader{s: s, data: data, el: &s.el, text: s.el.Page.Text, i: from, svg: svg}
	if data != nil {
		data.x = &x
	}
	if at, why := badChar(x.text, s.el.Page.Charset()); why != "" {
		x.text, x.bad = x.text[:at], why
	}
	x.document()
	p := &s.el.Page
	// The text of a style element is known only at its end tag, after the
	// elements inside it.
	s.el.SortLinks()
	s.el.RepairUTF8()
	// A script may set classes.
	if svg && len(p.Scripts) == 0 {
		s.dropUnused()
	}
	return p
}

// document reads the whole document (XML 2.1).
func (x *reader) document() {
	begin := x.i
	if x.i == len(x.text) && x.bad == "" {
		return // browsers report no error for an empty file
	}
	if j := skipSpace(x.text, x.i); x.data != nil && j > x.i && hasNameAt(x.text, j, "<?xml") {
		// Feed readers and search engines differ, so the entries are read.
		x.el.Fault(x.i, scan.FaultXMLSpace, "white space before the XML declaration")
		x.i = j
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
			x.failUnclosed(x.i, "the file ends inside a tag")
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
			x.fail(x.i, "unexpected \"<!\"")
		}
	}
	switch n := len(x.open); {
	case x.failed:
	case x.bad != "":
		x.failUnclosed(len(x.text), "")
	case n > 0:
		e := &x.open[n-1]
		x.fail(int(e.at.Start), "element <"+x.name(e.name)+"> is never closed")
	case !x.rooted:
		x.fail(begin, "there is no root element")
	}
}

// fail records the error that ends the document.
func (x *reader) fail(off int, reason string) {
	if !x.failed {
		x.failed = true
		x.el.Fault(off, scan.FaultXML, reason)
	}
}

// failUnclosed is fail for a construct without an end. If the text ends because
// of a forbidden character, it reports that error instead.
func (x *reader) failUnclosed(off int, reason string) {
	if x.bad != "" {
		off, reason = len(x.text), x.bad
	}
	x.fail(off, reason)
}

// warn records an error that browsers ignore. Only the first one is reported.
func (x *reader) warn(off int, reason string) {
	if !x.warned {
		x.warned = true
		x.el.Fault(off, scan.FaultXML, reason)
	}
}

// maxNameShown limits the length of names in error messages.
const maxNameShown = 40

// name returns a name for an error message.
func (x *reader) name(sp scan.Span) string { return shownName(x.text[sp.Start:sp.End]) }

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
			x.fail(j, "text outside the root element")
		}
		x.i = end
		return
	}
	for x.i < end && !x.failed {
		plain := end
		if k := bytes.IndexByte(x.text[x.i:end], '&'); k >= 0 {
			plain = x.i + k
		}
		if k := bytes.Index(x.text[x.i:plain], scan.CDATAEnd); k >= 0 {
			x.fail(x.i+k, "\"]]>\" in text")
			return
		}
		x.addText(x.i, plain, false)
		if x.i = plain; x.i < end {
			n := x.checkRef(x.i, end, false)
			x.addText(x.i, x.i+n, true)
			x.i += n
		}
	}
}

// comment reads the comment at text[i] (XML 2.5) and returns its end.
func (x *reader) comment(i int) int {
	k := bytes.Index(x.text[i+4:], scan.Dashes)
	end := i + 4 + k + len(scan.Dashes)
	switch {
	case k < 0 || end == len(x.text):
		x.failUnclosed(i, "a comment is never closed")
		return len(x.text)
	case x.text[end] != '>':
		x.fail(end-len(scan.Dashes), "\"--\" in a comment")
	}
	return end + 1
}

// cdata reads a CDATA section (XML 2.7).
func (x *reader) cdata() {
	from := x.i + len("<![CDATA[")
	k := bytes.Index(x.text[from:], scan.CDATAEnd)
	if k < 0 {
		x.failUnclosed(x.i, "a CDATA section is never closed")
		return
	}
	x.addText(from, from+k, false)
	x.i = from + k + len(scan.CDATAEnd)
}
