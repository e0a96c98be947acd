package css

import (
	"bytes"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/ascii"
)

// A CSSScanner reads style sheets one after the other and reuses its buffers.
type Scanner struct{ b scan.Builder }

// CSS reads a style sheet: the URLs that [Scanner.HTML] finds in a style
// element. Their element is "url" or "@import", their attribute empty. The
// encoding is that of a byte order mark, of @charset, or else UTF-8 (CSS Syntax
// 3, 3.2); what does not fit counts as U+FFFD. text must stay
// unchanged while the page is in use, and be shorter than 4 GiB.
//
// The URL of a source map stands in a comment and is no link.
func (s *Scanner) Scan(text []byte, _ scan.Options) *scan.Page {
	enc, bom := scan.SniffBOM(text)
	if enc == "" {
		enc = scan.DeclaredCharset(sheetCharset(text))
	}
	if enc == "" || enc == "utf-8" {
		s.b.Reset(text, "utf-8")
	} else {
		s.b.Convert(text[bom:], bom, enc)
		bom = 0
	}
	s.b.Page.Quirks = false
	sheet := s.b.Page.Text
	c := parser{text: sheet[bom:], emit: func(kind Kind, start, end int, value []byte) {
		start += bom
		element := "url"
		if kind == Import {
			element = "@import"
		}
		s.b.Add(s.b.Value(sheet, start, end+bom, value), uint32(start), scan.KindLink, element, "")
	}}
	if c.scan(); c.fault.reason != "" {
		s.b.Fault(c.fault.off+bom, scan.FaultCSS, c.fault.reason)
	}
	s.b.RepairUTF8()
	return &s.b.Page
}

// sheetCharset returns the label of an @charset rule, which must begin the
// file byte for byte.
func sheetCharset(text []byte) string {
	const rule = `@charset "`
	if !bytes.HasPrefix(text, []byte(rule)) {
		return ""
	}
	text = text[len(rule):min(len(text), 1024)]
	end := bytes.IndexByte(text, '"')
	if end < 0 || end+1 == len(text) || text[end+1] != ';' {
		return ""
	}
	return string(text[:end])
}

// A cssKind says what a URL in CSS is for.
type Kind uint8

const (
	URL    Kind = iota // an image, a font or the like
	Import             // a style sheet, by @import
)

// cssURLs calls emit for each URL in text, in order: url() quoted or not,
// @import with a string or url(), and strings in image-set(). Text is a style
// sheet, the contents of a style element or a style attribute with its
// character references decoded; any bytes will do. start and end is the range
// of the URL as written, without quotes and the white space around it. value
// has its CSS escapes resolved; it aliases text, or when it has escapes a
// buffer that is reused: it is valid during the call only. It takes time
// linear in len(text) and allocates only for the first URL with escapes.
//
// Left out is what no browser fetches: the empty URL, bad-url and bad-string
// tokens, and the URLs of @namespace, @document and @supports conditions,
// which are compared or tried, not loaded. Rules that a browser drops for
// another reason, such as an @import that comes too late, are read.
//
// The text is not split into tokens one by one. Only the bytes that may begin
// or end something of interest stop the loop; identifiers are read backwards
// from the parenthesis. FuzzCSS holds the result against a tokenizer that goes
// by the book.
//
// Spec: CSS Syntax 3, https://www.w3.org/TR/css-syntax-3/#tokenization;
// CSS Values 4, https://www.w3.org/TR/css-values-4/#urls
func URLs(text []byte, emit func(kind Kind, start, end int, value []byte)) {
	s := parser{text: text, emit: emit}
	s.scan()
}

// cssFault is the first breach of the syntax that makes browsers drop a part
// of a sheet; its offset is that of the token. reason is "" when there is none.
type fault struct {
	off    int
	reason string
}

// fail notes a fault; the first one counts.
func (s *parser) fail(off int, reason string) {
	if s.fault.reason == "" {
		s.fault = fault{off, reason}
	}
}

// A cssScanner holds where a scan of text stands.
type parser struct {
	text    []byte
	emit    func(kind Kind, start, end int, value []byte)
	scratch []byte // for values with escapes
	fault   fault
	// floor is the end of the last token that was read as a whole: a name
	// cannot begin before it.
	floor int
	// depth counts the open parentheses from image-set( on, that one included.
	// Bit depth-1 of sets says whether the innermost is an image-set itself.
	depth int
	sets  uint64
	// condition: in the prelude of an at-rule whose URLs are not loaded.
	condition bool
}

// Bits of cssClass.
const (
	classStop      = 1 << iota // begins a token that scan must see
	classBlockStop             // likewise within image-set() and conditions
	className                  // a name code point, or a byte of one
	classURLStop               // may end an unquoted URL or be an error in it
)

// cssClass sorts the bytes. Those from 0x80 on are taken for letters, as
// browsers do, and so is NUL, which CSS reads as U+FFFD.
var byteClass = func() (class [256]uint8) {
	for c := range class {
		switch {
		case c >= 0x80, c == 0, c == '-', c == '_', ascii.IsDigit(byte(c)), c|0x20 >= 'a' && c|0x20 <= 'z':
			class[c] |= className
		}
		if c <= ' ' && c != 0 || c == 0x7f {
			class[c] |= classURLStop
		}
	}
	for _, c := range `"'/\(@` {
		class[c] |= classStop | classBlockStop
	}
	for _, c := range `);{}` {
		class[c] |= classBlockStop
	}
	for _, c := range `"'()\` {
		class[c] |= classURLStop
	}
	return class
}()

func (s *parser) scan() {
	text, stops := s.text, uint8(classStop)
	for i := 0; ; {
		for i < len(text) && byteClass[text[i]]&stops == 0 {
			i++
		}
		if i == len(text) {
			return
		}
		switch text[i] {
		case '"', '\'':
			str := s.str(i)
			if s.inSet() {
				s.found(URL, str)
			}
			i, s.floor = str.next, str.next
		case '/':
			if next := s.comment(i); next > i {
				i, s.floor = next, next
			} else {
				i++
			}
		case '\\':
			i = s.escapedName(i)
		case '(':
			i = s.function(i, s.nameBefore(i))
		case '@':
			i = s.atRule(i)
		case ')':
			s.depth = max(s.depth-1, 0)
			i++
		case ';', '{', '}':
			// A parenthesis left open swallows what follows, and the browser
			// drops it all. The next rule is looked at afresh instead.
			s.depth, s.condition = 0, false
			i++
		}
		stops = classStop
		if s.depth > 0 || s.condition {
			stops = classBlockStop
		}
	}
}

// found passes on a URL that is one and is loaded.
func (s *parser) found(kind Kind, v literal) {
	if v.bad || s.condition || v.start == v.end {
		return
	}
	value := s.text[v.start:v.end]
	if v.escaped {
		s.scratch = unescape(s.scratch[:0], value)
		if value = s.scratch; len(value) == 0 {
			return // "\" and a line end
		}
	}
	s.emit(kind, v.start, v.end, value)
}

// A cssFunction is what a name before a parenthesis means here.
type function uint8

const (
	otherFunction function = iota
	urlFunction
	imageSetFunction
)

// cssFunctionOf returns the meaning of the function name, in any case.
func functionOf(name []byte) function {
	switch {
	case ascii.EqualFold(name, "url"):
		return urlFunction
	case ascii.EqualFold(name, "image-set"), ascii.EqualFold(name, "-webkit-image-set"):
		return imageSetFunction
	}
	return otherFunction
}

// cssNameMax is the length of the longest name of interest,
// "-webkit-image-set".
const maxName = 17

// nameBefore returns the meaning of the name that ends at the parenthesis at
// i and has no escapes. What begins with a digit is a number with its unit,
// and the names of at-rules lie before floor: both match nothing here.
func (s *parser) nameBefore(i int) function {
	if i == s.floor {
		return otherFunction
	}
	switch s.text[i-1] | 0x20 {
	case 'l', 't': // urL, image-seT
	default:
		return otherFunction
	}
	start, known := s.nameStart(i)
	if !known {
		return otherFunction
	}
	return functionOf(s.text[start:i])
}

// nameStart returns where the name begins that ends or goes on at i. known is
// false when it can be no function of interest: it is longer, or a hash.
func (s *parser) nameStart(i int) (start int, known bool) {
	start = i
	least := max(s.floor, i-maxName)
	for start > least && byteClass[s.text[start-1]]&className != 0 {
		start--
	}
	if start == s.floor {
		return start, true
	}
	c := s.text[start-1]
	return start, c != '#' && byteClass[c]&className == 0
}

// escapedName reads the name in which the backslash at i stands, with the
// parenthesis behind it if there is one, and returns the offset behind.
func (s *parser) escapedName(i int) int {
	if !s.validEscape(i) {
		return i + 1
	}
	start, known := s.nameStart(i)
	next, name := s.name(start, i)
	s.floor = next
	if !known || next == len(s.text) || s.text[next] != '(' {
		return next
	}
	return s.function(next, functionOf(name.bytes()))
}

// function reads on behind the parenthesis at i, whose function is f.
func (s *parser) function(i int, f function) int {
	if f == urlFunction {
		return s.url(URL, i+1)
	}
	s.open(f)
	s.floor = i + 1
	return i + 1
}

// open counts the parenthesis of f.
func (s *parser) open(f function) {
	if s.depth == 0 && f != imageSetFunction {
		return
	}
	s.depth++
	// What lies deeper than sets has bits is in no image-set anybody wrote.
	if bit := uint64(1) << min(s.depth-1, 63); f == imageSetFunction && s.depth < 64 {
		s.sets |= bit
	} else {
		s.sets &^= bit
	}
}

// inSet tells whether the innermost open parenthesis is that of image-set().
func (s *parser) inSet() bool {
	return s.depth > 0 && s.sets>>min(s.depth-1, 63)&1 != 0
}

// atRule reads the at-keyword at i, for @import also the URL behind it, and
// returns the offset behind.
func (s *parser) atRule(i int) int {
	if !s.nameBegins(i + 1) {
		return i + 1
	}
	next, name := s.name(i+1, i+1)
	s.floor = next
	switch rule := name.bytes(); {
	case ascii.EqualFold(rule, "import"):
		return s.importURL(next)
	case ascii.EqualFold(rule, "namespace"), ascii.EqualFold(rule, "supports"),
		ascii.EqualFold(rule, "document"), ascii.EqualFold(rule, "-moz-document"):
		s.condition = true
	}
	return next
}

// importURL reads the URL that follows @import at i. What follows it up to the
// semicolon says when the sheet applies.
func (s *parser) importURL(i int) int {
	for {
		i = ascii.SkipSpace(s.text, i)
		next := s.comment(i)
		if next == i {
			break
		}
		i = next
	}
	s.floor = i
	if i == len(s.text) {
		return i
	}
	if c := s.text[i]; c == '"' || c == '\'' {
		str := s.str(i)
		s.found(Import, str)
		s.floor, s.condition = str.next, true
		return str.next
	}
	if s.nameBegins(i) {
		next, name := s.name(i, i)
		if next < len(s.text) && s.text[next] == '(' && functionOf(name.bytes()) == urlFunction {
			next = s.url(Import, next+1)
			s.condition = true
			return next
		}
	}
	return i
}

// url reads what follows "url(" up to i and returns the offset behind it. A
// quoted URL is a function with a string, whose parenthesis closes later.
func (s *parser) url(kind Kind, i int) int {
	i = ascii.SkipSpace(s.text, i)
	if i < len(s.text) && (s.text[i] == '"' || s.text[i] == '\'') {
		s.open(urlFunction)
		v := s.str(i)
		s.found(kind, v)
		s.floor = v.next
		return v.next
	}
	v := s.unquoted(i)
	s.found(kind, v)
	s.floor = v.next
	return v.next
}
