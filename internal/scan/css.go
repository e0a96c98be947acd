package scan

// This file finds the URLs in style sheets and style attributes.

import (
	"bytes"
)

// A CSSScanner reads style sheets one after the other and reuses its buffers. The
// zero value is ready to use. A CSSScanner must not be used concurrently.
type CSSScanner struct{ b Builder }

// Scan reads a style sheet and reports the URLs that [CSSURLs] finds. Their
// element is "url" or "@import", and their attribute is empty. The encoding
// comes from a byte order mark or from @charset, and otherwise is UTF-8 (CSS
// Syntax 3, 3.2). Ill-formed bytes become U+FFFD. text must not change while
// the page is in use, and must be shorter than 4 GiB.
//
// The URL of a source map is in a comment and so not a link.
func (s *CSSScanner) Scan(text []byte, _ Options) *Page {
	enc, bom := SniffBOM(text)
	if enc == "" {
		enc = DeclaredCharset(sheetCharset(text))
	}
	if enc == "" || enc == "utf-8" {
		s.b.Reset(text, "utf-8")
	} else {
		s.b.Convert(text[bom:], bom, enc)
		bom = 0
	}
	s.b.Page.Quirks = false
	sheet := s.b.Page.Text
	c := parser{text: sheet[bom:], emit: func(kind CSSKind, start, end int, value []byte) {
		start += bom
		element := "url"
		if kind == Import {
			element = "@import"
		}
		s.b.Add(s.b.Value(sheet, start, end+bom, value), uint32(start), kind.Kind(), element, "")
	}}
	if c.scan(); c.fault.reason != "" {
		s.b.Fault(c.fault.off+bom, FaultCSS, c.fault.reason)
	}
	s.b.RepairUTF8()
	return &s.b.Page
}

// sheetCharset returns the label of an @charset rule. The rule must be at the
// very beginning of the file.
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

// CSSKind is the purpose of a URL in CSS.
type CSSKind uint8

const (
	CSSURL  CSSKind = iota // an image, a font or the like
	Import                 // a style sheet, by @import
	Picture                // an image with a fragment, or an SVG font beside other fonts
	Font                   // an SVG font that is the only source
)

// LinkKind returns the kind of the link.
func (k CSSKind) Kind() LinkKind {
	switch k {
	case Picture:
		return KindPicture
	case Font:
		return KindFont
	}
	return KindLink
}

// CSSURLs calls emit for each URL in text, in order: url() with or without quotes,
// @import with a string or url(), and strings in image-set(). text is a style
// sheet, the content of a style element, or a style attribute with its
// character references decoded. It may hold any bytes. start and end are the
// range of the URL as written, without quotes and white space around it. value
// is the URL with its CSS escapes decoded. It aliases text or, if there are
// escapes, a buffer that is reused, and is valid during the call only. CSSURLs
// takes linear time and allocates only for the first URL with escapes.
//
// CSSURLs leaves out what browsers do not fetch: empty URLs, bad-url and
// bad-string tokens, and the URLs in @namespace, @document and @supports
// conditions, which browsers only compare or test, and an @import after or
// inside other valid rules. It includes rules that browsers drop for other
// reasons.
//
// The text is not split into single tokens. The loop stops only at bytes that
// may begin or end something of interest, and reads names backwards from the
// parenthesis. FuzzCSS compares the result with a complete tokenizer.
//
// Spec: CSS Syntax 3, https://www.w3.org/TR/css-syntax-3/#tokenization; CSS
// Values 4, https://www.w3.org/TR/css-values-4/#urls
func CSSURLs(text []byte, emit func(kind CSSKind, start, end int, value []byte)) {
	s := parser{text: text, emit: emit}
	s.scan()
}

// A fault is the first syntax error that makes browsers drop a part of a sheet.
// off is the offset of the token. reason is "" if there is no fault.
type fault struct {
	off    int
	reason string
}

// fail records a fault. The first one counts.
func (s *parser) fail(off int, reason string) {
	if s.fault.reason == "" {
		s.fault = fault{off, reason}
	}
}

// A parser is the state of CSSURLs.
type parser struct {
	text    []byte
	emit    func(kind CSSKind, start, end int, value []byte)
	scratch []byte // for values with escapes
	fault   fault
	// floor is the end of the last token that was read completely. No name
	// begins before it.
	floor int
	// depth counts the open parentheses from that of the outermost image-set()
	// on. Bit depth-1 of sets is set if the innermost one is that of an
	// image-set().
	depth int
	sets  uint64
	// condition means that the URLs up to the end of the at-rule's prelude are
	// not loaded.
	condition bool
	// late means that a rule came after which no @import counts. Until then,
	// start is where the open rule begins, rule its meaning, and braces counts
	// its open blocks. imported means that there was an @import.
	late, imported bool
	start, braces  int
	rule           rule
	// face means that the block of @font-face is open. sources are its URLs.
	face    bool
	sources []literal
}

// rule is the meaning of a rule for the @import rules after it (CSS Cascade 5,
// 2): browsers ignore invalid rules, and any other valid rule ends them.
type rule uint8

const (
	noRule        rule = iota // only blanks so far
	qualifiedRule             // ends them if its selector is valid
	unknownRule               // no effect
	importRule                // a statement
	layerRule                 // before the first @import, a statement has no effect
	namespaceRule             // a statement ends them
	blockRule                 // a block ends them
)

// ruleOf returns the meaning of an at-rule.
func ruleOf(name []byte) rule {
	switch {
	case EqualFold(name, "import"):
		return importRule
	case EqualFold(name, "layer"):
		return layerRule
	case EqualFold(name, "namespace"):
		return namespaceRule
	}
	for _, known := range [...]string{"media", "font-face", "supports", "keyframes", "-webkit-keyframes", "page", "property", "container", "counter-style",
		"font-feature-values", "font-palette-values", "scope", "starting-style", "view-transition", "position-try"} {
		if EqualFold(name, known) {
			return blockRule
		}
	}
	return unknownRule
}

// Bits of byteClass.
const (
	classStop      = 1 << iota // begins a token that scan must handle
	classBlockStop             // the same inside image-set() and conditions
	className                  // a name code point, or a byte of one
	classURLStop               // may end an unquoted URL or be an error in it
)

// byteClass holds the classes of each byte. Bytes from 0x80 on count as
// letters, as in browsers, and so does NUL, which CSS reads as U+FFFD.
var byteClass = func() (class [256]uint8) {
	for c := range class {
		switch {
		case c >= 0x80, c == 0, c == '-', c == '_', IsDigit(byte(c)), c|0x20 >= 'a' && c|0x20 <= 'z':
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
	text, stops := s.text, uint8(classBlockStop)
	for i := 0; ; {
		for i < len(text) && byteClass[text[i]]&stops == 0 {
			i++
		}
		if i == len(text) {
			s.endFace()
			return
		}
		switch text[i] {
		case '"', '\'':
			str := s.str(i)
			if s.inSet() {
				s.found(CSSURL, str)
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
			// An open parenthesis would extend over what follows, and the
			// browser drops all of it. Read the next rule as if it were closed.
			s.depth, s.condition = 0, false
			if text[i] == '}' {
				s.endFace()
			}
			if !s.late {
				s.punctuate(i)
			}
			i++
		}
		stops = classStop
		if s.depth > 0 || s.condition || !s.late || s.face {
			stops = classBlockStop
		}
	}
}

// found reports a URL if it is valid and loaded.
func (s *parser) found(kind CSSKind, v literal) {
	if v.bad || s.condition || v.start == v.end {
		return
	}
	if s.face && kind == CSSURL {
		s.sources = append(s.sources, v)
		return
	}
	value := s.text[v.start:v.end]
	if v.escaped {
		s.scratch = unescapeCSS(s.scratch[:0], value)
		if value = s.scratch; len(value) == 0 {
			return // the value is only "\" and a line end
		}
	}
	if hash := bytes.IndexByte(value, '#'); kind == CSSURL && hash > 0 && !s.refers(v.start) {
		kind = Picture
	}
	s.emit(kind, v.start, v.end, value)
}

// endFace reports the sources of a font. Of those, no browser but old versions of Safari
// loads an SVG font, and these prefer the others.
func (s *parser) endFace() {
	s.face = false
	isSVG := func(v literal) bool {
		path := s.text[v.start:v.end]
		if end := bytes.IndexAny(path, "?#"); end >= 0 {
			path = path[:end]
		}
		return len(path) > 4 && EqualFold(path[len(path)-4:], ".svg")
	}
	kind := Font
	for _, v := range s.sources {
		if !isSVG(v) {
			kind = Picture
		}
	}
	for _, v := range s.sources {
		if isSVG(v) {
			s.found(kind, v)
		} else {
			s.found(CSSURL, v)
		}
	}
	s.sources = s.sources[:0]
}

// refers reports whether the declaration with the URL at i has a property that refers to
// an element of a document, such as a filter. Others show all of an SVG file if it lacks
// the fragment.
func (s *parser) refers(i int) bool {
	from := bytes.LastIndexAny(s.text[:i], ";{}") + 1
	name, _, ok := bytes.Cut(s.text[s.skipBlank(from, i):i], []byte(":"))
	if !ok {
		return false
	}
	name = bytes.ToLower(Trim(name))
	name = bytes.TrimPrefix(name, []byte("-webkit-"))
	switch string(name) {
	case "filter", "backdrop-filter", "clip-path", "mask", "fill", "stroke", "marker", "marker-start", "marker-mid", "marker-end":
		return true
	}
	return false
}

// A function is the meaning of a name before a parenthesis.
type function uint8

const (
	otherFunction function = iota
	urlFunction
	imageSetFunction
)

// functionOf returns the meaning of a function name in any letter case.
func functionOf(name []byte) function {
	switch {
	case EqualFold(name, "url"):
		return urlFunction
	case EqualFold(name, "image-set"), EqualFold(name, "-webkit-image-set"):
		return imageSetFunction
	}
	return otherFunction
}

// maxName is the length of the longest name of interest,
// "font-feature-values".
const maxName = 19

// nameBefore returns the meaning of the name that ends at the parenthesis at i
// and has no escapes. Numbers with a unit and the names of at-rules, which are
// before floor, never match.
func (s *parser) nameBefore(i int) function {
	if i == s.floor {
		return otherFunction
	}
	switch s.text[i-1] | 0x20 {
	case 'l', 't': // the last letter of url and image-set
	default:
		return otherFunction
	}
	start, known := s.nameStart(i)
	if !known {
		return otherFunction
	}
	return functionOf(s.text[start:i])
}

// nameStart returns where the name around i begins. known is false if it cannot
// be a function of interest because it is longer, or a hash.
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

// escapedName reads the name with the backslash at i, and the parenthesis after
// it if there is one. It returns the offset after them.
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

// function reads the parenthesis at i, which belongs to f.
func (s *parser) function(i int, f function) int {
	if f == urlFunction {
		return s.url(CSSURL, i+1)
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
	// No real image-set() is nested deeper than sets has bits.
	if bit := uint64(1) << min(s.depth-1, 63); f == imageSetFunction && s.depth < 64 {
		s.sets |= bit
	} else {
		s.sets &^= bit
	}
}

// inSet reports whether the innermost open parenthesis belongs to image-set().
func (s *parser) inSet() bool {
	return s.depth > 0 && s.sets>>min(s.depth-1, 63)&1 != 0
}

// atRule reads the at-keyword at i, and for @import also the URL after it. It
// returns the offset after them.
func (s *parser) atRule(i int) int {
	if !s.nameBegins(i + 1) {
		return i + 1
	}
	next, name := s.name(i+1, i+1)
	s.floor = next
	rule := name.bytes()
	begins := !s.late && s.begins(i)
	if begins {
		s.rule = ruleOf(rule)
	}
	switch {
	case EqualFold(rule, "font-face"):
		s.face = true
	case EqualFold(rule, "import"):
		if !begins {
			s.condition = true
			return next
		}
		return s.importURL(next)
	case EqualFold(rule, "namespace"), EqualFold(rule, "supports"),
		EqualFold(rule, "document"), EqualFold(rule, "-moz-document"):
		s.condition = true
	}
	return next
}

// begins reports whether what is at i begins a rule. Otherwise it is a part of
// one.
func (s *parser) begins(i int) bool {
	if s.rule == noRule && !s.blank(s.start, i) {
		s.rule = qualifiedRule
	}
	return s.rule == noRule
}

// punctuate follows the rules at the start of the sheet with the ";", "{" or
// "}" at i.
func (s *parser) punctuate(i int) {
	block := true
	switch c := s.text[i]; {
	case c == '{':
		if s.braces++; s.begins(i) || s.rule == qualifiedRule && s.braces == 1 && !isSelector(s.text[s.start:i]) {
			s.rule = unknownRule
		}
		return
	case c == '}' && s.braces > 1:
		s.braces--
		return
	case c == ';' && (s.braces > 0 || s.begins(i) || s.rule == qualifiedRule), c == '}' && s.braces == 0:
		if s.rule == noRule {
			s.rule = qualifiedRule
		}
		return
	case c == ';':
		block = false
	}
	switch s.rule {
	case importRule:
		s.imported = s.imported || !block
	case layerRule:
		s.late = block || s.imported
	case namespaceRule:
		s.late = !block
	case blockRule, qualifiedRule:
		s.late = block
	}
	s.start, s.braces, s.rule = i+1, 0, noRule
}

// isSelector reports whether a browser may accept the text before a block as a
// list of selectors: each part begins as it must, and none is missing.
func isSelector(text []byte) bool {
	s := parser{text: text}
	missing := true // a selector must follow
	for i := s.skipBlank(0, len(text)); i < len(text); i = s.skipBlank(i, len(text)) {
		switch c := text[i]; c {
		case ',', '>', '+', '~':
			if missing {
				return false
			}
			missing = true
			i++
			continue
		case '.', '#', ':':
			if i++; c == ':' && i < len(text) && text[i] == ':' {
				i++
			}
			if !s.nameBegins(i) {
				return false
			}
		case '[', '(':
			for depth := 0; i < len(text); i++ {
				switch c := text[i]; c {
				case '[', '(':
					depth++
				case ']', ')':
					depth--
				case '"', '\'':
					i = s.str(i).next - 1
				}
				if depth == 0 {
					i++
					break
				}
			}
		case '*', '|', '&':
			i++
		default:
			if !s.nameBegins(i) {
				return false
			}
			i, _ = s.name(i, i)
		}
		missing = false
	}
	return !missing
}

// blank reports whether text[i:end] has nothing but white space, comments,
// "<!--" and "-->".
func (s *parser) blank(i, end int) bool { return s.skipBlank(i, end) == end }

// skipBlank returns the offset of the first byte of text[i:end] that is nothing
// of these, or end.
func (s *parser) skipBlank(i, end int) int {
	for i < end {
		switch rest := s.text[i:end]; {
		case IsSpace(rest[0]):
			i++
		case bytes.HasPrefix(rest, []byte("<!--")):
			i += len("<!--")
		case bytes.HasPrefix(rest, []byte("-->")):
			i += len("-->")
		default:
			next := s.comment(i)
			if next == i {
				return i
			}
			i = next
		}
	}
	return i
}

// importURL reads the URL that follows @import at i. The rest of the rule is
// the condition under which the sheet applies.
func (s *parser) importURL(i int) int {
	for {
		i = SkipSpace(s.text, i)
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

// url reads what follows "url(" from i on and returns the offset after it. A
// quoted URL is a function with a string, so its parenthesis closes later.
func (s *parser) url(kind CSSKind, i int) int {
	i = SkipSpace(s.text, i)
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
