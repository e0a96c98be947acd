// Package html finds the links and anchors of HTML pages, as the HTML Living
// Standard (section 13.2) and so a browser reads them: which tags become
// elements, which are only text, comment or inert, and what the value of an
// attribute is.
//
// [Scanner] reads a page in one pass by a fast path that follows just enough of
// tree construction to know when it is right (quick.go, scan.go, regular.go).
// If a page has a construct that can change which tags count, the slow path
// (slow.go) reads it again with golang.org/x/net/html and reports the same
// positions.
//
// [Elements] finds the links of single elements; the XML scanner uses it for
// XHTML and SVG. [ReadHead] finds the head of a page, for tools that insert
// elements.
package html

import (
	"bytes"
	"slices"
	"sort"

	"github.com/sitelink/sitelink/internal/scan"
)

// A Scanner reads HTML pages one after the other and reuses its buffers. The
// zero value is ready to use. A Scanner must not be used concurrently.
type Scanner struct {
	el    Elements
	reg   regularity
	index *index // nil before the first page

	careful    bool // read every tag without the quick path, for tests
	sawDoctype bool
	noscript   []scan.Span // the contents of noscript elements
}

// Scan reads an HTML document. It never fails, because browsers show something
// for any bytes. text must not change while the page is in use, and must be
// shorter than 4 GiB.
func (s *Scanner) Scan(text []byte, opt scan.Options) *scan.Page {
	s.el.Tags = opt.Tags
	enc, bom := scan.SniffBOM(text)
	switch {
	case enc == "utf-8":
		s.el.Reset(text, enc)
	case enc != "":
		return s.converted(text[bom:], bom, enc)
	default:
		s.el.Reset(text, scan.HeaderCharset(opt.Charset))
	}
	s.read(bom)
	if name, convert := s.el.SettleCharset(opt.DefaultCharset); convert {
		return s.converted(text[bom:], bom, name)
	}
	s.el.RepairUTF8()
	return &s.el.Page
}

// converted reads text, which is in the named encoding and follows the first
// skipped bytes of the file, again as UTF-8.
func (s *Scanner) converted(text []byte, skipped int, name string) *scan.Page {
	s.el.Convert(text, skipped, name)
	s.read(0)
	s.el.RepairUTF8()
	return &s.el.Page
}

// read reads the page's text from offset i on by the fast path, and again by
// the slow path if that is necessary.
func (s *Scanner) read(i int) {
	s.sawDoctype, s.el.Shadow, s.el.Around = false, false, nil
	s.noscript = s.noscript[:0]
	s.reg.reset()
	s.scanTags(i)
	if s.reg.irregular {
		s.noscript = s.noscript[:0]
		s.slow(i)
	}
	s.runScripts()
}

// runScripts removes the anchors inside noscript elements, because browsers with scripts
// read them as text (HTML 13.2.6.4.4). The links inside count, for other readers. Links to
// a removed anchor lose their fragment.
func (s *Scanner) runScripts() {
	page := &s.el.Page
	if len(s.noscript) == 0 || len(page.Anchors) == 0 {
		return
	}
	inside := func(off uint32) bool {
		i := sort.Search(len(s.noscript), func(i int) bool { return s.noscript[i].End > off })
		return i < len(s.noscript) && s.noscript[i].Start <= off
	}
	var gone [][]byte
	page.Anchors = slices.DeleteFunc(page.Anchors, func(a scan.Anchor) bool {
		out := a.Kind != scan.AnchorMap && inside(a.Off)
		if out {
			gone = append(gone, a.Name)
		}
		return out
	})
	for i := range page.Links {
		l := &page.Links[i]
		if len(gone) > 0 && len(l.Value) > 0 && l.Value[0] == '#' && inside(l.Off) && slices.ContainsFunc(gone, func(name []byte) bool { return bytes.Equal(name, l.Value[1:]) }) {
			s.el.SetRef(l.Off, []byte("#"))
		}
	}
}

// tag handles the markup that begins with the "<" at text[i]. It returns the
// offset where scanning continues, or -1 if the text ends inside the markup.
func (s *Scanner) tag(i int) int {
	text := s.el.Page.Text
	if i+1 >= len(text) {
		return -1
	}
	c := text[i+1]
	switch {
	case scan.Class[c]&scan.ClassLetter != 0:
		next, ok := s.startTag(i)
		if !ok {
			s.el.Fault(i, scan.FaultTag, "")
			return -1
		}
		return next
	case c == '/':
		if i+2 >= len(text) {
			return -1
		}
		if scan.Class[text[i+2]]&scan.ClassLetter == 0 {
			return scan.After(text, i+2, '>') // </> is ignored, </x is a comment if x is not a letter
		}
		next, ok := s.endTag(i)
		if !ok {
			s.el.Fault(i, scan.FaultTag, "")
			return -1
		}
		return next
	case c == '!':
		return s.declaration(i)
	case c == '?':
		return scan.After(text, i+2, '>')
	}
	return i + 1
}

// startTag handles the start tag at text[i], and the content of the element if
// that is text only. It returns the offset where scanning continues. ok is
// false if the file ends inside the tag.
func (s *Scanner) startTag(i int) (next int, ok bool) {
	text := s.el.Page.Text
	j, tag := scan.NameAt(text, i+1)
	if j >= len(text) {
		return j, false
	}
	set := &s.el.Attrs
	set.Seen = 0
	selfClosing := false
	if text[j] == '>' {
		next = j + 1
	} else if next, selfClosing, ok = scan.ReadAttrs(text, j, set); !ok {
		return next, false
	}
	return s.startElement(tag, scan.NewSpan(i, next), j, selfClosing), true
}

// startElement handles the start tag at the span at, and the content of the
// element if that is text only. The name of the tag ends at text[j], and its
// attributes are in s.el.Attrs. It returns the offset where scanning continues.
func (s *Scanner) startElement(tag scan.Tag, at scan.Span, j int, selfClosing bool) int {
	text, set := s.el.Page.Text, &s.el.Attrs
	i := int(at.Start)
	r := &s.reg
	s.el.Inert = r.inert() // false for the template itself
	ns := HTML
	name := scan.NewSpan(i+1, j)
	if len(r.foreign) > 0 {
		ns = r.foreign[len(r.foreign)-1].ns
		if !r.irregular || r.loose {
			r.startForeign(text, name, selfClosing)
			if len(r.foreign) == 0 { // a loose reading ended it
				ns = HTML
			}
		}
	} else if tag != scan.TagOther {
		switch tag {
		case scan.TagSVG, scan.TagMath:
			ns = SVG
			if tag == scan.TagMath {
				ns = MathML
			}
			if !selfClosing && (!r.irregular || r.loose) {
				r.enterForeign(name, ns)
			}
		case scan.TagHead:
			if set.Seen != 0 && (r.head || !headFirst(text, i)) {
				r.irregular = true
			}
			if r.head && !s.el.Inert && s.el.Page.SecondHead == 0 {
				s.el.Page.SecondHead = uint32(i) + 1
			}
			r.head = true
			r.start(tag, set)
		default:
			r.start(tag, set)
		}
	} else if name := text[i+1 : j]; r.sel && !scan.EqualFold(name, "option") && !scan.EqualFold(name, "optgroup") { // not kept there by every parser
		r.irregular = true
	}
	return s.element(tag, ns, at)
}

// element adds the links and anchors of the start tag with the attributes in
// s.el.Attrs. It reads the text that belongs to the element, and returns the
// offset where scanning continues.
func (s *Scanner) element(tag scan.Tag, ns Namespace, at scan.Span) int {
	next := int(at.End)
	if s.el.exempt = s.el.Around; s.el.Attrs.Seen != 0 {
		s.el.Emit(tag, ns, at)
		if s.el.Attrs.Has(scan.AttrExempt) && s.mayContain(tag, next) {
			s.reg.irregular = true // the tree says which elements are inside
		}
	}
	if ns != HTML {
		if ns == SVG && tag == scan.TagStyle {
			s.el.StyleText(at, svgStyle(s.el.Page.Text, next))
		}
		return next
	}
	switch tag {
	case scan.TagNoscript:
		if n := len(s.noscript); !s.el.Inert && (n == 0 || s.noscript[n-1].End <= at.Start) {
			s.noscript = append(s.noscript, scan.NewSpan(next, scan.RawEnd(s.el.Page.Text, next, "noscript")))
		}
	case scan.TagScript, scan.TagStyle, scan.TagTitle, scan.TagTextarea, scan.TagXmp, scan.TagIframe,
		scan.TagNoembed, scan.TagNoframes, scan.TagPlaintext:
		return s.rawText(tag, at)
	}
	return next
}

// mayContain reports whether the element with the start tag that ends at text[next] may
// contain others. It does in <p data-sitelink-ignore><a href="x">, but not in <a
// data-sitelink-ignore href="x">text</a>. If the page is too large for the slow path,
// mayContain returns false.
func (s *Scanner) mayContain(tag scan.Tag, next int) bool {
	text := s.el.Page.Text
	switch tag {
	case scan.TagImg, scan.TagLink, scan.TagScript, scan.TagStyle, scan.TagIframe, scan.TagSource, scan.TagArea, scan.TagInput, scan.TagEmbed, scan.TagMeta:
		return false
	}
	k := bytes.IndexByte(text[next:], '<')
	closed := k >= 0 && tag == scan.TagA && bytes.HasPrefix(text[next+k:], []byte("</")) && scan.Named(text, next+k+2, "a")
	return !closed && len(text) <= maxSlowBytes
}

// rawText handles the content of an element that holds text only.
func (s *Scanner) rawText(tag scan.Tag, at scan.Span) int {
	text := s.el.Page.Text
	from := int(at.End)
	end := len(text)
	switch tag {
	case scan.TagPlaintext:
		return end
	case scan.TagScript:
		end = scan.ScriptEnd(text, from)
	default:
		end = scan.RawEnd(text, from, tag.String())
	}
	if end == len(text) {
		s.el.Fault(int(at.Start), scan.FaultElement, tag.String())
	}
	content := scan.NewSpan(from, end)
	switch tag {
	case scan.TagStyle:
		s.el.StyleText(at, content)
	case scan.TagScript:
		s.el.ScriptText(at, content)
	}
	return end
}

// endTag handles the end tag at text[i].
func (s *Scanner) endTag(i int) (next int, ok bool) {
	text := s.el.Page.Text
	j, tag := scan.NameAt(text, i+2)
	if j >= len(text) {
		return j, false
	}
	if text[j] == '>' {
		next = j + 1
	} else if next, _, ok = scan.ReadAttrs(text, j, nil); !ok {
		return next, false
	}
	if r := &s.reg; len(r.foreign) > 0 {
		if !r.irregular || r.loose {
			r.endForeign(text, scan.NewSpan(i+2, j))
		}
	} else if tag != scan.TagOther {
		r.end(tag)
	}
	return next, true
}

// declaration handles "<!" at text[i], which begins a comment, a doctype, a
// CDATA section or a bogus comment.
func (s *Scanner) declaration(i int) int {
	text := s.el.Page.Text
	rest := text[i+2:]
	switch {
	case bytes.HasPrefix(rest, scan.Dashes):
		next, closed := scan.CommentEnd(text, i+4)
		if !closed {
			s.el.Fault(i, scan.FaultComment, "")
		}
		return next
	case len(s.reg.foreign) > 0 && bytes.HasPrefix(rest, []byte("[CDATA[")):
		if k := bytes.Index(rest, scan.CDATAEnd); k >= 0 {
			return i + 2 + k + len(scan.CDATAEnd)
		}
		return len(text)
	case len(rest) > 7 && scan.EqualFold(rest[:7], "doctype"):
		end := scan.After(text, i+2, '>')
		if !s.sawDoctype {
			s.sawDoctype = true
			if !onlyComments(text, i) {
				return end // too late to change quirks mode
			}
			doctype := text[i+2 : end]
			s.el.Page.Quirks = quirksDoctype(string(bytes.TrimSuffix(doctype, []byte(">"))))
		}
		return end
	}
	return scan.After(text, i+2, '>')
}

// onlyComments reports whether there is nothing but comments and white space
// before text[i].
func onlyComments(text []byte, i int) bool { return skipComments(text, 0) == i }

// headFirst reports whether there is nothing but a doctype, comments, white
// space and the html tag before the head tag at text[i]. Other head tags are
// ignored.
func headFirst(text []byte, i int) bool {
	j := skipComments(text, 0)
	if j+9 < i && text[j] == '<' && text[j+1] == '!' && scan.EqualFold(text[j+2:j+9], "doctype") {
		j = skipComments(text, scan.After(text, j, '>'))
	}
	if j < i && text[j] == '<' && scan.Named(text, j+1, "html") {
		j, _, _ = scan.ReadAttrs(text, j+len("<html"), nil)
		j = skipComments(text, j)
	}
	return j == i
}

// skipComments returns the offset after the white space and comments, including
// bogus ones, at text[j]. At the start of the text it also skips a byte order
// mark.
func skipComments(text []byte, j int) int {
	if j == 0 {
		_, j = scan.SniffBOM(text)
	}
	for j+1 < len(text) {
		switch {
		case scan.Class[text[j]]&scan.ClassSpace != 0:
			j++
		case bytes.HasPrefix(text[j:], []byte("<!--")):
			j, _ = scan.CommentEnd(text, j+4)
		case text[j] == '<' && text[j+1] == '?':
			j = scan.After(text, j, '>')
		case text[j] == '<' && text[j+1] == '!' && !(j+9 <= len(text) && scan.EqualFold(text[j+2:j+9], "doctype")):
			j = scan.After(text, j, '>')
		default:
			return j
		}
	}
	return j
}

// svgStyle returns the style sheet of an svg style element whose content begins
// at i. In svg that is ordinary text or a CDATA section.
func svgStyle(text []byte, i int) scan.Span {
	j := i
	for j < len(text) && scan.Class[text[j]]&scan.ClassSpace != 0 {
		j++
	}
	if bytes.HasPrefix(text[j:], []byte("<![CDATA[")) {
		j += len("<![CDATA[")
		if k := bytes.Index(text[j:], scan.CDATAEnd); k >= 0 {
			return scan.NewSpan(j, j+k)
		}
		return scan.NewSpan(j, len(text))
	}
	if k := bytes.IndexByte(text[i:], '<'); k >= 0 {
		return scan.NewSpan(i, i+k)
	}
	return scan.NewSpan(i, len(text))
}
