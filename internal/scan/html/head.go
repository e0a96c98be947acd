package html

import (
	"bytes"

	"github.com/sitelink/sitelink/internal/scan"
)

// Head describes where the head of a page is, as a browser parses it. All
// positions are offsets in the text.
type Head struct {
	// Start is where the content of the head begins: after the head tag or,
	// without one, at the first byte that makes the parser open the head.
	Start int
	// Charset is the offset after the first meta element in the head that
	// declares the encoding, or 0.
	Charset int
	// End is where the head closes: at "</head>", or at the first byte that
	// cannot be in the head.
	End int
	// Body is where the body begins: at its tag, or at the first byte that
	// makes the parser open the body. The parser moves head elements between
	// End and Body into the head (HTML 13.2.6.4.6).
	Body int
	// Tag reports whether there is a head tag. Markup reports whether there is
	// a doctype or one of the tags html, head, title and body. Without Markup
	// the file is a part of a page, or plain text.
	Tag, Markup bool
	// XHTML reports whether the text declares itself as XHTML, by an XML
	// declaration, an XHTML doctype or a namespace on the html tag.
	XHTML bool
	// Whole reports whether ReadHead reached the body or the end of the text.
	// If not, End and Body are at least the offset where it stopped.
	Whole bool
}

// ReadHead finds the head of an HTML page (HTML 13.2.6.4.1 to 13.2.6.4.6, with
// scripting disabled). text must be UTF-8 or another encoding that extends
// ASCII. ReadHead reads no more than necessary and stops at limit. If xml is
// set, every empty-element tag has no content.
func ReadHead(text []byte, xml bool, limit int) Head {
	w := headParser{text: text, xml: xml, limit: min(limit, len(text))}
	_, w.at = scan.SniffBOM(text)
	w.XHTML = bytes.HasPrefix(text[w.at:], []byte("<?xml"))
	w.run()
	return w.Head
}

// headMode is the insertion mode of the parser.
type headMode uint8

const (
	headBefore headMode = iota // no head yet
	headIn
	headNoscript // in a noscript element of the head
	headAfter    // the head is closed, the body is not open
	headDone
)

// headParser reads the tags at the beginning of a page.
type headParser struct {
	Head
	text      []byte
	at, limit int
	xml       bool
	mode      headMode
}

func (w *headParser) run() {
	for w.mode != headDone && w.at < w.limit {
		w.space()
		switch {
		case w.mode == headDone || w.at >= len(w.text):
		case w.at >= w.limit:
			return // before the end of the text, and the body has not begun
		case w.at+1 < len(w.text) && scan.Class[w.text[w.at+1]]&scan.ClassLetter != 0:
			w.startTag()
		case w.text[w.at+1] == '/':
			w.endTag()
		case bytes.HasPrefix(w.text[w.at:], []byte("<!--")):
			w.at, _ = scan.CommentEnd(w.text, w.at+4)
		default: // doctype or bogus comment
			from := w.at
			w.at = scan.After(w.text, w.at+2, '>')
			if markup := w.text[from:w.at]; len(markup) > 9 && scan.EqualFold(markup[2:9], "doctype") {
				w.Markup = true
				w.XHTML = w.XHTML || scan.IndexFold(markup, "//dtd xhtml") >= 0
			}
		}
	}
	if w.mode != headDone && w.at >= len(w.text) {
		w.at = len(w.text)
		w.body(w.at)
	} else if w.mode != headDone {
		w.Body = w.at
		if w.mode != headAfter {
			w.End = w.at
		}
		if w.mode == headBefore {
			w.Start = w.at
		}
	}
}

// space skips to the next markup. Text other than white space opens the body.
func (w *headParser) space() {
	from := w.at
	for w.at < len(w.text) {
		switch c := w.text[w.at]; {
		case scan.Class[c]&scan.ClassSpace != 0:
			w.at++
		case c == '<' && w.isMarkup():
			return
		case c == '&' && w.skipSpaceRefs():
		default:
			w.body(w.at)
			return
		}
		if w.at >= w.limit && w.at > from {
			return
		}
	}
}

// isMarkup reports whether the current "<" begins a tag, a comment or the like.
func (w *headParser) isMarkup() bool {
	if w.at+1 >= len(w.text) {
		return false
	}
	c := w.text[w.at+1]
	return scan.Class[c]&scan.ClassLetter != 0 || c == '!' || c == '?' || c == '/' && w.at+2 < len(w.text)
}

// skipSpaceRefs skips text that is white space once its character references
// are decoded. It reports whether there was such text.
func (w *headParser) skipSpaceRefs() bool {
	end := len(w.text)
	if k := bytes.IndexByte(w.text[w.at:], '<'); k >= 0 {
		end = w.at + k
	}
	const most = 256 // longer text is not just white space
	if end-w.at > most || len(scan.Trim(scan.DecodeRefs(nil, w.text[w.at:end], nil))) > 0 {
		return false
	}
	w.at = end
	return true
}

// body records that the body begins at i.
func (w *headParser) body(i int) {
	w.open(i)
	w.close(i)
	w.Body, w.mode, w.Whole = i, headDone, true
}

// open records that the head opens at i unless it is open already.
func (w *headParser) open(i int) {
	if w.mode == headBefore {
		w.Start, w.mode = i, headIn
	}
}

// close records that the head ends at i unless it ended already.
func (w *headParser) close(i int) {
	if w.mode == headIn || w.mode == headNoscript {
		w.End, w.mode = i, headAfter
	}
}

// startTag handles the current start tag, and the content of the element if
// that is text only.
func (w *headParser) startTag() {
	i := w.at
	end, tag := scan.NameAt(w.text, i+1)
	var set scan.AttrSet
	next, empty, ok := scan.ReadAttrs(w.text, end, &set)
	if !ok { // the file ends inside the tag, so there is no tag
		w.at = len(w.text)
		return
	}
	w.at = next
	empty = empty && w.xml
	switch {
	case tag == scan.TagHTML:
		w.Markup = true
		w.XHTML = w.XHTML || scan.IndexFold(w.text[i:next], "http://www.w3.org/1999/xhtml") >= 0
		return
	case tag == scan.TagHead:
		w.Markup = true
		if w.mode == headBefore {
			w.Tag, w.Start, w.mode = true, next, headIn
			if empty {
				w.close(next)
			}
		}
		return
	case w.mode == headNoscript:
		switch {
		case tag == scan.TagLink, tag == scan.TagMeta, tag == scan.TagBgsound, w.isNamed(i, end, "basefont"):
			return
		case tag == scan.TagStyle, tag == scan.TagNoframes:
			w.skipText(tag, next, empty)
			return
		case tag == scan.TagNoscript:
			return
		}
		w.mode = headIn // the noscript element ends here
	}
	switch {
	case tag == scan.TagMeta:
		w.open(i)
		if w.Charset == 0 && declaresCharset(w.text, &set) {
			w.Charset = next
		}
	case tag == scan.TagLink, tag == scan.TagBase, tag == scan.TagBgsound, w.isNamed(i, end, "basefont"):
		w.open(i)
	case tag == scan.TagTitle, tag == scan.TagScript, tag == scan.TagStyle, tag == scan.TagNoframes:
		w.Markup = w.Markup || tag == scan.TagTitle
		w.open(i)
		w.skipText(tag, next, empty)
	case tag == scan.TagTemplate:
		w.open(i)
		w.skipTemplate(empty)
	case tag == scan.TagNoscript && w.mode != headAfter:
		w.open(i)
		if !empty {
			w.mode = headNoscript
		}
	default:
		w.Markup = w.Markup || tag == scan.TagBody
		w.body(i)
	}
}

// isNamed reports whether the tag name text[i+1:end] is name.
func (w *headParser) isNamed(i, end int, name string) bool {
	return scan.EqualFold(w.text[i+1:end], name)
}

// skipText skips to the end tag of an element that holds text only.
func (w *headParser) skipText(tag scan.Tag, from int, empty bool) {
	switch {
	case empty:
	case tag == scan.TagScript:
		w.at = w.afterEndTag(scan.ScriptEnd(w.text, from))
	default:
		w.at = w.afterEndTag(scan.RawEnd(w.text, from, tag.String()))
	}
}

// afterEndTag returns the offset after the end tag at i.
func (w *headParser) afterEndTag(i int) int {
	if i >= len(w.text) {
		return len(w.text)
	}
	j, _ := scan.NameAt(w.text, i+2)
	next, _, ok := scan.ReadAttrs(w.text, j, nil)
	if !ok {
		return len(w.text)
	}
	return next
}

// skipTemplate skips to the end of the current template.
func (w *headParser) skipTemplate(empty bool) {
	for depth := 1; !empty && depth > 0; {
		k := bytes.IndexByte(w.text[w.at:], '<')
		if k < 0 || w.at+k+1 >= len(w.text) {
			w.at = len(w.text)
			return
		}
		w.at += k
		switch c := w.text[w.at+1]; {
		case bytes.HasPrefix(w.text[w.at:], []byte("<!--")):
			w.at, _ = scan.CommentEnd(w.text, w.at+4)
		case c == '!' || c == '?':
			w.at = scan.After(w.text, w.at+2, '>')
		case c == '/' && w.at+2 < len(w.text) && scan.Class[w.text[w.at+2]]&scan.ClassLetter != 0:
			j, tag := scan.NameAt(w.text, w.at+2)
			if tag == scan.TagTemplate {
				depth--
			}
			if next, _, ok := scan.ReadAttrs(w.text, j, nil); ok {
				w.at = next
			} else {
				w.at = len(w.text)
			}
		case scan.Class[c]&scan.ClassLetter != 0:
			j, tag := scan.NameAt(w.text, w.at+1)
			next, closes, ok := scan.ReadAttrs(w.text, j, nil)
			if !ok {
				w.at = len(w.text)
				return
			}
			w.at = next
			switch tag {
			case scan.TagTemplate:
				if !(closes && w.xml) {
					depth++
				}
			case scan.TagTitle, scan.TagScript, scan.TagStyle, scan.TagNoframes, scan.TagTextarea, scan.TagXmp, scan.TagIframe, scan.TagNoembed:
				w.skipText(tag, next, closes && w.xml)
			case scan.TagPlaintext:
				w.at = len(w.text)
			}
		default:
			w.at++
		}
	}
}

// endTag handles the current end tag.
func (w *headParser) endTag() {
	i := w.at
	if scan.Class[w.text[i+2]]&scan.ClassLetter == 0 { // </> is ignored, </x is a comment if x is not a letter
		w.at = scan.After(w.text, i+2, '>')
		return
	}
	end, tag := scan.NameAt(w.text, i+2)
	next, _, ok := scan.ReadAttrs(w.text, end, nil)
	if !ok {
		w.at = len(w.text)
		return
	}
	w.at = next
	isBreak := scan.EqualFold(w.text[i+2:end], "br")
	if w.mode == headNoscript {
		switch {
		case tag == scan.TagNoscript:
			w.mode = headIn
			return
		case !isBreak:
			return
		}
		w.mode = headIn
	}
	switch {
	case tag == scan.TagHead:
		w.open(i)
		w.close(i)
	case tag == scan.TagBody, tag == scan.TagHTML, isBreak:
		w.body(i)
	}
}

// declaresCharset reports whether a meta element with these attributes declares
// the encoding of the page.
func declaresCharset(text []byte, set *scan.AttrSet) bool {
	if set.Has(scan.AttrCharset) {
		return true
	}
	value := func(a scan.Attr) []byte { return text[set.Val[a].Start:set.Val[a].End] }
	return set.Has(scan.AttrHTTPEquiv) && set.Has(scan.AttrContent) &&
		scan.EqualFold(value(scan.AttrHTTPEquiv), "content-type") && charsetOf(value(scan.AttrContent)) != nil
}
