package layout

import (
	"bytes"
	"strings"
)

// Pos is a place in a template.
type Pos struct {
	File   string
	Offset int
}

// tokenizer follows the HTML of a page piece by piece. It is a value, so that each
// branch of a template can start from the same state.
type tokenizer struct {
	state htmlState
	quote byte
	// raw is the name of the raw text element that is being skipped.
	raw string
	// seen is the text of the current tag, or of a possible end of a comment, up
	// to maxTagBytes.
	seen    string
	closing bool
	start   Pos
	// written counts the bytes of the page so far.
	written int
}

type htmlState uint8

const (
	inText htmlState = iota
	afterLess
	afterBang
	inComment
	inDeclaration
	inName
	inTag
	inValue
	inRaw
	inRawEnd
)

// unquoted is the quote of an attribute value without quotes.
const unquoted = 1

// maxTagBytes is how much of a tag is kept.
const maxTagBytes = 1024

// rawElements hold text that is not markup.
var rawElements = map[string]bool{
	"script": true, "style": true, "title": true, "textarea": true, "xmp": true,
	"iframe": true, "noembed": true, "noframes": true,
	// Raw text when scripts are enabled, as in most browsers.
	"noscript": true,
}

// tag is one tag.
type tag struct {
	name    string
	closing bool
	// text is the tag as written, without actions.
	text       string
	start, end Pos
	// before is the number of bytes of the page up to its end.
	before int
}

// inMarkup reports whether a brace starts an expression here in Astro.
func (t *tokenizer) inMarkup() bool {
	switch t.state {
	case inComment, inDeclaration, inRaw, inRawEnd:
		return false
	case inValue:
		return t.quote == 0
	}
	return true
}

// hole records that an action writes unknown text here.
func (t *tokenizer) hole() {
	switch t.state {
	case afterLess: // <{{ .Tag }}: a tag with an unknown name
		t.state, t.seen = inTag, "<?"
	case inName, inTag, inValue:
		t.note('?')
	case inRawEnd:
		t.state = inRaw
	}
}

func (t *tokenizer) note(c byte) {
	if len(t.seen) < maxTagBytes {
		t.seen += string(c)
	}
}

// feed reads text that starts at pos. It calls found for each tag, and words for
// text between tags that is not only white space.
func (t *tokenizer) feed(text []byte, pos Pos, found func(tag), words func(Pos)) {
	for i := 0; i < len(text); {
		at := Pos{pos.File, pos.Offset + i}
		t.written++
		switch {
		case t.state == inText:
			n := t.text(text[i:], at, words)
			t.written += n - 1
			i += n
		case t.step(text[i], at, found, words):
			i++
		default: // the byte belongs to the next state
			t.written--
		}
	}
}

// text reads text up to and including the next '<' and returns its length.
func (t *tokenizer) text(text []byte, at Pos, words func(Pos)) int {
	next := bytes.IndexByte(text, '<')
	run := text
	if next >= 0 {
		run = text[:next]
	}
	if trimmed := bytes.TrimLeft(bytes.TrimPrefix(run, []byte("\xef\xbb\xbf")), " \t\r\n\f"); len(trimmed) > 0 {
		words(Pos{at.File, at.Offset + len(run) - len(trimmed)})
	}
	if next < 0 {
		return len(run)
	}
	t.state, t.seen, t.closing, t.start = afterLess, "<", false, Pos{at.File, at.Offset + next}
	return next + 1
}

// step reads one byte of markup, which is at the offset at. It reports whether it
// consumed the byte.
func (t *tokenizer) step(c byte, at Pos, found func(tag), words func(Pos)) bool {
	end := Pos{at.File, at.Offset + 1}
	switch t.state {
	case afterLess:
		switch {
		case c == '/' && !t.closing:
			t.closing = true
			t.note(c)
		case isLetter(c):
			t.state = inName
			t.note(c)
		case c == '!' && !t.closing:
			t.state, t.seen = afterBang, ""
		case c == '?' || t.closing:
			t.state, t.seen = inDeclaration, string(c)
		default:
			t.state = inText
			words(t.start)
			return false
		}
	case afterBang:
		t.note(c)
		switch {
		case t.seen == "--":
			t.state, t.seen = inComment, "--"
		case t.seen == "-":
		default:
			t.state = inDeclaration
			if c == '>' {
				t.state = inText
			}
		}
	case inComment:
		t.comment(c)
	case inDeclaration:
		t.note(c)
		if c == '>' {
			t.state = inText
			found(tag{name: "!", text: t.seen, start: t.start, end: end, before: t.written})
		}
	case inName, inTag:
		t.note(c)
		switch {
		case c == '>':
			t.endTag(end, found)
		case t.state == inName && (isSpace(c) || c == '/'):
			t.state = inTag
		case t.state == inTag && c == '=':
			t.state, t.quote = inValue, 0
		}
	case inValue:
		t.note(c)
		switch {
		case t.quote == unquoted:
			if isSpace(c) {
				t.state = inTag
			} else if c == '>' {
				t.endTag(end, found)
			}
		case t.quote != 0:
			if c == t.quote {
				t.state = inTag
			}
		case c == '"' || c == '\'':
			t.quote = c
		case c == '>':
			t.endTag(end, found)
		case !isSpace(c):
			t.quote = unquoted
		}
	case inRaw:
		if c == '<' {
			t.state, t.seen, t.start = inRawEnd, "<", at
		}
	case inRawEnd:
		return t.rawEnd(c, end, found)
	}
	return true
}

// comment reads one byte of a comment. seen holds the hyphens that may end it,
// and an exclamation mark after them.
func (t *tokenizer) comment(c byte) {
	switch {
	case c == '-' && !strings.HasSuffix(t.seen, "!"):
		t.seen += "-"
		if len(t.seen) > 2 {
			t.seen = "--"
		}
	case c == '-':
		t.seen = "-"
	case c == '>' && strings.HasPrefix(t.seen, "--"):
		t.state = inText
	case c == '!' && t.seen == "--":
		t.seen = "--!"
	default:
		t.seen = ""
	}
}

// rawEnd reads one byte of what may be the end tag of a raw text element. It
// reports whether it consumed the byte.
func (t *tokenizer) rawEnd(c byte, end Pos, found func(tag)) bool {
	want := "</" + t.raw
	switch {
	case len(t.seen) == len(want):
		if !isSpace(c) && c != '/' && c != '>' {
			t.state = inRaw
			return true
		}
		t.note(c)
		t.closing, t.state = true, inTag
		if c == '>' {
			t.endTag(end, found)
		}
	case lower(c) == want[len(t.seen)]:
		t.seen += string(lower(c))
	default:
		t.state = inRaw
		return false
	}
	return true
}

// endTag reports the tag that ends at end.
func (t *tokenizer) endTag(end Pos, found func(tag)) {
	g := tag{closing: t.closing, text: t.seen, start: t.start, end: end, before: t.written}
	name := strings.TrimLeft(t.seen, "</")
	if i := strings.IndexAny(name, " \t\r\n\f/>"); i >= 0 {
		name = name[:i]
	}
	g.name = strings.ToLower(name)
	t.state = inText
	if rawElements[g.name] && !g.closing {
		t.state, t.raw = inRaw, g.name
	}
	found(g)
}

func isLetter(c byte) bool { return lower(c) >= 'a' && lower(c) <= 'z' }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
