package html

import (
	"bytes"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/ascii"
	"github.com/sitelink/sitelink/internal/scan/token"
)

// Head is where the head of a page is, as the parser sees it. All places are
// offsets in the text.
type Head struct {
	// Start is where the content of the head begins: after the head tag, or,
	// where there is none, at the first byte that makes the parser open one.
	Start int
	// Charset is the offset after the first meta element in the head that
	// names the encoding; 0 for none.
	Charset int
	// End is where the head closes: at "</head>", or at the first byte that
	// cannot stand in it.
	End int
	// Body is where the body begins: at its tag, or at the first byte that
	// makes the parser open one. Elements for the head that stand between End
	// and Body are put into the head all the same (HTML 13.2.6.4.6).
	Body int
	// Tag tells whether a head tag is there, Markup whether any doctype or tag
	// is that begins a page: html, head, title or body. Without Markup the file
	// is a piece of a page, or plain text.
	Tag, Markup bool
	// XHTML tells whether the text says that it is XHTML: an XML declaration, a
	// document type of XHTML, or a namespace on the html tag.
	XHTML bool
	// Whole tells that the walk came to the body, or to the end. Without it,
	// End and Body are no less than where it stopped.
	Whole bool
}

// ReadHead finds the head of an HTML page (HTML 13.2.6.4.1 to 13.2.6.4.6, with
// scripting disabled) in text that is UTF-8 or agrees with ASCII. It is a pure
// function: it reads no more than it must, and not on from limit. With xml, an
// empty-element tag of any name has no content.
func ReadHead(text []byte, xml bool, limit int) Head {
	w := headWalk{text: text, xml: xml, limit: min(limit, len(text))}
	_, w.at = scan.SniffBOM(text)
	w.XHTML = bytes.HasPrefix(text[w.at:], []byte("<?xml"))
	w.run()
	return w.Head
}

// headMode is the parser's insertion mode.
type headMode uint8

const (
	headBefore headMode = iota // no head yet
	headIn
	headNoscript // in a noscript element of the head
	headAfter    // the head is closed, the body not open
	headDone
)

// headWalk is the walk over the tokens of a page's beginning.
type headWalk struct {
	Head
	text      []byte
	at, limit int
	xml       bool
	mode      headMode
}

func (w *headWalk) run() {
	for w.mode != headDone && w.at < w.limit {
		w.space()
		switch {
		case w.mode == headDone || w.at >= len(w.text):
		case w.at >= w.limit:
			return // not at the end of the text, and the body has not begun
		case w.at+1 < len(w.text) && token.Class[w.text[w.at+1]]&token.ClassLetter != 0:
			w.startTag()
		case w.text[w.at+1] == '/':
			w.endTag()
		case bytes.HasPrefix(w.text[w.at:], []byte("<!--")):
			w.at, _ = token.CommentEnd(w.text, w.at+4)
		default: // doctype, bogus comment
			from := w.at
			w.at = token.After(w.text, w.at+2, '>')
			if markup := w.text[from:w.at]; len(markup) > 9 && ascii.EqualFold(markup[2:9], "doctype") {
				w.Markup = true
				w.XHTML = w.XHTML || ascii.IndexFold(markup, "//dtd xhtml") >= 0
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

// space goes on to the next markup. Text other than white space opens the body.
func (w *headWalk) space() {
	from := w.at
	for w.at < len(w.text) {
		switch c := w.text[w.at]; {
		case token.Class[c]&token.ClassSpace != 0:
			w.at++
		case c == '<' && w.isMarkup():
			return
		case c == '&' && w.refsOfSpace():
		default:
			w.body(w.at)
			return
		}
		if w.at >= w.limit && w.at > from {
			return
		}
	}
}

// isMarkup tells whether the "<" at hand begins a tag, comment or the like.
func (w *headWalk) isMarkup() bool {
	if w.at+1 >= len(w.text) {
		return false
	}
	c := w.text[w.at+1]
	return token.Class[c]&token.ClassLetter != 0 || c == '!' || c == '?' || c == '/' && w.at+2 < len(w.text)
}

// refsOfSpace goes on over a run of text that is white space once its
// character references are decoded.
func (w *headWalk) refsOfSpace() bool {
	end := len(w.text)
	if k := bytes.IndexByte(w.text[w.at:], '<'); k >= 0 {
		end = w.at + k
	}
	const most = 256 // a longer run is no accident of white space
	if end-w.at > most || len(bytes.Trim(token.DecodeRefs(nil, w.text[w.at:end], nil), ascii.Space)) > 0 {
		return false
	}
	w.at = end
	return true
}

// body notes that the body begins at i.
func (w *headWalk) body(i int) {
	w.open(i)
	w.close(i)
	w.Body, w.mode, w.Whole = i, headDone, true
}

// open notes that what stands at i opens the head, if none is open.
func (w *headWalk) open(i int) {
	if w.mode == headBefore {
		w.Start, w.mode = i, headIn
	}
}

// close notes that the head ends at i, if it has not.
func (w *headWalk) close(i int) {
	if w.mode == headIn || w.mode == headNoscript {
		w.End, w.mode = i, headAfter
	}
}

// startTag handles the start tag at hand, and the content of elements that
// hold text only.
func (w *headWalk) startTag() {
	i := w.at
	end, tag := token.NameAt(w.text, i+1)
	var set token.AttrSet
	next, empty, ok := token.ReadAttrs(w.text, end, &set)
	if !ok { // the file ends inside the tag: there is none
		w.at = len(w.text)
		return
	}
	w.at = next
	empty = empty && w.xml
	switch {
	case tag == scan.TagHTML:
		w.Markup = true
		w.XHTML = w.XHTML || ascii.IndexFold(w.text[i:next], "http://www.w3.org/1999/xhtml") >= 0
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
		w.template(empty)
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

// isNamed tells whether the tag name text[i+1:end] is name.
func (w *headWalk) isNamed(i, end int, name string) bool {
	return ascii.EqualFold(w.text[i+1:end], name)
}

// skipText goes on to the end tag of an element that holds text only.
func (w *headWalk) skipText(tag scan.Tag, from int, empty bool) {
	switch {
	case empty:
	case tag == scan.TagScript:
		w.at = w.closed(token.ScriptEnd(w.text, from))
	default:
		w.at = w.closed(token.RawEnd(w.text, from, tag.String()))
	}
}

// closed returns the offset after the end tag at i.
func (w *headWalk) closed(i int) int {
	if i >= len(w.text) {
		return len(w.text)
	}
	j, _ := token.NameAt(w.text, i+2)
	next, _, ok := token.ReadAttrs(w.text, j, nil)
	if !ok {
		return len(w.text)
	}
	return next
}

// template goes on to the end of the template whose start tag was read.
func (w *headWalk) template(empty bool) {
	for depth := 1; !empty && depth > 0; {
		k := bytes.IndexByte(w.text[w.at:], '<')
		if k < 0 || w.at+k+1 >= len(w.text) {
			w.at = len(w.text)
			return
		}
		w.at += k
		switch c := w.text[w.at+1]; {
		case bytes.HasPrefix(w.text[w.at:], []byte("<!--")):
			w.at, _ = token.CommentEnd(w.text, w.at+4)
		case c == '!' || c == '?':
			w.at = token.After(w.text, w.at+2, '>')
		case c == '/' && w.at+2 < len(w.text) && token.Class[w.text[w.at+2]]&token.ClassLetter != 0:
			j, tag := token.NameAt(w.text, w.at+2)
			if tag == scan.TagTemplate {
				depth--
			}
			if next, _, ok := token.ReadAttrs(w.text, j, nil); ok {
				w.at = next
			} else {
				w.at = len(w.text)
			}
		case token.Class[c]&token.ClassLetter != 0:
			j, tag := token.NameAt(w.text, w.at+1)
			next, closes, ok := token.ReadAttrs(w.text, j, nil)
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

// endTag handles the end tag at hand.
func (w *headWalk) endTag() {
	i := w.at
	if token.Class[w.text[i+2]]&token.ClassLetter == 0 { // </> is nothing, </x a comment
		w.at = token.After(w.text, i+2, '>')
		return
	}
	end, tag := token.NameAt(w.text, i+2)
	next, _, ok := token.ReadAttrs(w.text, end, nil)
	if !ok {
		w.at = len(w.text)
		return
	}
	w.at = next
	isBreak := ascii.EqualFold(w.text[i+2:end], "br")
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

// declaresCharset tells whether a meta element with these attributes names the
// encoding of the page.
func declaresCharset(text []byte, set *token.AttrSet) bool {
	if set.Has(scan.AttrCharset) {
		return true
	}
	value := func(a scan.Attr) []byte { return text[set.Val[a].Start:set.Val[a].End] }
	return set.Has(scan.AttrHTTPEquiv) && set.Has(scan.AttrContent) &&
		ascii.EqualFold(value(scan.AttrHTTPEquiv), "content-type") && charsetOf(value(scan.AttrContent)) != nil
}
