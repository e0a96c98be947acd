package html

import (
	"bytes"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/ascii"
	"github.com/sitelink/sitelink/internal/scan/token"
)

// A Scanner reads HTML pages one after the other and reuses its buffers. The
// zero value is ready. It is not safe for concurrent use.
type Scanner struct {
	el    Elements
	reg   regularity
	index *index // nil before the first page

	careful    bool // for tests: read every tag without the quick path
	sawDoctype bool
}

// HTML reads an HTML document. It never fails: browsers show something for
// any bytes. text must stay unchanged while the page is in use, and be
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

// scan reads the page's text from offset i on by the fast path, and again by
// the slow path if that is necessary.
func (s *Scanner) read(i int) {
	s.sawDoctype = false
	s.reg.reset()
	s.tokens(i)
	if s.reg.irregular {
		s.slow(i)
	}
}

// Embedded is HTML in a value of another document, such as the content of a
// feed entry.
type Embedded struct {
	Text []byte
	// Off is the offset of Text in the document, if Text is a part of it.
	Off uint32
	// From otherwise holds the offset in the document for each byte of Text.
	From []uint32
	// Base is the base URL of the links, nil for none.
	Base []byte
}

// AddTo adds the links of e to the page of b. It reads e with s.
func (e *Embedded) AddTo(b *scan.Builder, s *Scanner, tags scan.Tags) {
	page := s.Scan(e.Text, scan.Options{Tags: tags, Charset: "utf-8"})
	b.AddEmbedded(page, func(off uint32) uint32 {
		switch {
		case e.From == nil:
			return e.Off + off
		case int(off) < len(e.From):
			return e.From[off]
		}
		return e.From[len(e.From)-1]
	}, e.Base)
}

// tag handles what begins with the "<" at text[i], whatever it is, and
// returns the offset where scanning goes on, or -1 when the text ends within.
func (s *Scanner) tag(i int) int {
	text := s.el.Page.Text
	if i+1 >= len(text) {
		return -1
	}
	c := text[i+1]
	switch {
	case token.Class[c]&token.ClassLetter != 0:
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
		if token.Class[text[i+2]]&token.ClassLetter == 0 {
			return token.After(text, i+2, '>') // </> is nothing, </x a comment
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
		return token.After(text, i+2, '>')
	}
	return i + 1
}

// startTag handles the start tag at text[i] and, for elements whose content
// is text, that content. It returns the offset where scanning goes on; ok is
// false when the file ends inside the tag.
func (s *Scanner) startTag(i int) (next int, ok bool) {
	text := s.el.Page.Text
	j, tag := token.NameAt(text, i+1)
	if j >= len(text) {
		return j, false
	}
	set := &s.el.Attrs
	set.Seen = 0
	selfClosing := false
	if text[j] == '>' {
		next = j + 1
	} else if next, selfClosing, ok = token.ReadAttrs(text, j, set); !ok {
		return next, false
	}
	return s.opened(tag, token.NewSpan(i, next), j, selfClosing), true
}

// opened handles the start tag at, whose name ends at text[j] and whose
// attributes are in s.el.Attrs, and for elements whose content is text that
// content. It returns the offset where scanning goes on.
func (s *Scanner) opened(tag scan.Tag, at token.Span, j int, selfClosing bool) int {
	text, set := s.el.Page.Text, &s.el.Attrs
	i := int(at.Start)
	r := &s.reg
	s.el.Inert = r.inert() // a template itself is not
	ns := HTML
	name := token.NewSpan(i+1, j)
	if len(r.foreign) > 0 {
		ns = r.foreign[len(r.foreign)-1].ns
		if !r.irregular {
			r.startForeign(text, name, selfClosing)
		}
	} else if tag != scan.TagOther {
		switch tag {
		case scan.TagSVG, scan.TagMath:
			ns = SVG
			if tag == scan.TagMath {
				ns = MathML
			}
			if !selfClosing && !r.irregular {
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
	} else if r.sel && !isOption(text[i+1:j]) {
		r.irregular = true
	}
	return s.element(tag, ns, at)
}

// isOption tells whether the element is one that every parser keeps inside a
// select without further rules.
func isOption(name []byte) bool {
	return ascii.EqualFold(name, "option") || ascii.EqualFold(name, "optgroup")
}

// element emits what the start tag defines, whose attributes are in s.el.Attrs,
// reads the text that belongs to it, and returns where scanning goes on.
func (s *Scanner) element(tag scan.Tag, ns Namespace, at token.Span) int {
	if s.el.Attrs.Seen != 0 {
		s.el.Emit(tag, ns, at)
	}
	next := int(at.End)
	if ns != HTML {
		if ns == SVG && tag == scan.TagStyle {
			s.el.StyleText(at, svgStyle(s.el.Page.Text, next))
		}
		return next
	}
	switch tag {
	case scan.TagScript, scan.TagStyle, scan.TagTitle, scan.TagTextarea, scan.TagXmp, scan.TagIframe, scan.TagNoembed, scan.TagNoframes, scan.TagPlaintext:
		return s.rawText(tag, at)
	}
	return next
}

// rawText handles the content of an element that holds text only.
func (s *Scanner) rawText(tag scan.Tag, at token.Span) int {
	text := s.el.Page.Text
	from := int(at.End)
	end := len(text)
	switch tag {
	case scan.TagPlaintext:
		return end
	case scan.TagScript:
		end = token.ScriptEnd(text, from)
	default:
		end = token.RawEnd(text, from, tag.String())
	}
	if end == len(text) {
		s.el.Fault(int(at.Start), scan.FaultElement, tag.String())
	}
	content := token.NewSpan(from, end)
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
	j, tag := token.NameAt(text, i+2)
	if j >= len(text) {
		return j, false
	}
	if text[j] == '>' {
		next = j + 1
	} else if next, _, ok = token.ReadAttrs(text, j, nil); !ok {
		return next, false
	}
	if r := &s.reg; len(r.foreign) > 0 {
		if !r.irregular {
			r.endForeign(text, token.NewSpan(i+2, j))
		}
	} else if tag != scan.TagOther {
		r.end(tag)
	}
	return next, true
}

// declaration handles "<!" at text[i]: comment, doctype, CDATA section or
// bogus comment.
func (s *Scanner) declaration(i int) int {
	text := s.el.Page.Text
	rest := text[i+2:]
	switch {
	case bytes.HasPrefix(rest, token.Dashes):
		next, closed := token.CommentEnd(text, i+4)
		if !closed {
			s.el.Fault(i, scan.FaultComment, "")
		}
		return next
	case len(s.reg.foreign) > 0 && bytes.HasPrefix(rest, []byte("[CDATA[")):
		if k := bytes.Index(rest, token.CDATAEnd); k >= 0 {
			return i + 2 + k + len(token.CDATAEnd)
		}
		return len(text)
	case len(rest) > 7 && ascii.EqualFold(rest[:7], "doctype"):
		end := token.After(text, i+2, '>')
		if !s.sawDoctype {
			s.sawDoctype = true
			if !onlyComments(text, i) {
				return end // too late: quirks mode is settled
			}
			doctype := text[i+2 : end]
			s.el.Page.Quirks = quirksDoctype(string(bytes.TrimSuffix(doctype, []byte(">"))))
		}
		return end
	}
	return token.After(text, i+2, '>')
}

// onlyComments tells whether nothing but comments and white space stands
// before text[i].
func onlyComments(text []byte, i int) bool { return skipComments(text, 0) == i }

// headFirst tells whether nothing but a doctype, comments, white space and
// the html tag stands before the head tag at text[i]: only then it is one.
func headFirst(text []byte, i int) bool {
	j := skipComments(text, 0)
	if j+9 < i && text[j] == '<' && text[j+1] == '!' && ascii.EqualFold(text[j+2:j+9], "doctype") {
		j = skipComments(text, token.After(text, j, '>'))
	}
	if j < i && text[j] == '<' && token.Named(text, j+1, "html") {
		j, _, _ = token.ReadAttrs(text, j+len("<html"), nil)
		j = skipComments(text, j)
	}
	return j == i
}

// skipComments returns the offset after the comments, bogus ones included,
// and the white space at text[j]; at the start also after a mark.
func skipComments(text []byte, j int) int {
	if j == 0 {
		_, j = scan.SniffBOM(text)
	}
	for j+1 < len(text) {
		switch {
		case token.Class[text[j]]&token.ClassSpace != 0:
			j++
		case bytes.HasPrefix(text[j:], []byte("<!--")):
			j, _ = token.CommentEnd(text, j+4)
		case text[j] == '<' && text[j+1] == '?':
			j = token.After(text, j, '>')
		case text[j] == '<' && text[j+1] == '!' && !(j+9 <= len(text) && ascii.EqualFold(text[j+2:j+9], "doctype")):
			j = token.After(text, j, '>')
		default:
			return j
		}
	}
	return j
}

// svgStyle returns the style sheet of an svg style element whose content
// begins at i: there it is ordinary text or a CDATA section.
func svgStyle(text []byte, i int) token.Span {
	j := i
	for j < len(text) && token.Class[text[j]]&token.ClassSpace != 0 {
		j++
	}
	if bytes.HasPrefix(text[j:], []byte("<![CDATA[")) {
		j += len("<![CDATA[")
		if k := bytes.Index(text[j:], token.CDATAEnd); k >= 0 {
			return token.NewSpan(j, j+k)
		}
		return token.NewSpan(j, len(text))
	}
	if k := bytes.IndexByte(text[i:], '<'); k >= 0 {
		return token.NewSpan(i, i+k)
	}
	return token.NewSpan(i, len(text))
}
