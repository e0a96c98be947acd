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

// tokenizer follows the HTML of a page piece by piece. It is a value, so that a
// branch of a template can go on from where the other one began.
type tokenizer struct {
	state htmlState
	quote byte
	// raw is the element whose text is being skipped.
	raw string
	// seen is what has been read of a tag or of what may end a comment, at most
	// maxTagBytes.
	seen    string
	closing bool
	start   Pos
	// written counts the bytes of text since the page began.
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

// maxTagBytes is how much of a tag is looked at.
const maxTagBytes = 1024

// rawElements hold text that is not markup.
var rawElements = map[string]bool{
	"script": true, "style": true, "title": true, "textarea": true, "xmp": true,
	"iframe": true, "noembed": true, "noframes": true,
	// Where scripts run, which is where pages are read most.
	"noscript": true,
}

// tag is a tag as it was found.
type tag struct {
	name    string
	closing bool
	// text is the tag as written, actions left out.
	text       string
	start, end Pos
	// before is how many bytes of text stand before its end.
	before int
}

// inMarkup tells whether a brace there begins an expression in Astro.
func (t *tokenizer) inMarkup() bool {
	switch t.state {
	case inComment, inDeclaration, inRaw, inRawEnd:
		return false
	case inValue:
		return t.quote == 0
	}
	return true
}

// hole notes that an action writes something here.
func (t *tokenizer) hole() {
	switch t.state {
	case afterLess: // <{{ .Tag }}: a tag without a name that is known
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

// feed reads text that begins at pos, and calls found for each tag and
// words when text that is not white space stands between tags.
func (t *tokenizer) feed(text []byte, pos Pos, found func(tag), words func(Pos)) {
	base := pos.Offset
	for i := 0; i < len(text); i++ {
		c := text[i]
		t.written++
		switch t.state {
		case inText:
			next := bytes.IndexByte(text[i:], '<')
			run := text[i:]
			if next >= 0 {
				run = text[i : i+next]
			}
			if trimmed := bytes.TrimLeft(bytes.TrimPrefix(run, []byte("\xef\xbb\xbf")), " \t\r\n\f"); len(trimmed) > 0 {
				words(Pos{pos.File, base + i + len(run) - len(trimmed)})
			}
			if next < 0 {
				t.written += len(run) - 1
				return
			}
			i += next
			t.written += next
			t.state, t.seen, t.closing, t.start = afterLess, "<", false, Pos{pos.File, base + i}
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
				i--
				t.written--
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
			// seen holds the hyphens, and perhaps the ! behind them.
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
		case inDeclaration:
			t.note(c)
			if c == '>' {
				t.state = inText
				found(tag{name: "!", text: t.seen, start: t.start, end: Pos{pos.File, base + i + 1}, before: t.written})
			}
		case inName, inTag:
			t.note(c)
			switch {
			case c == '>':
				t.endTag(Pos{pos.File, base + i + 1}, found)
			case t.state == inName && (isSpace(c) || c == '/'):
				t.state = inTag
			case t.state == inTag && c == '=':
				t.state, t.quote = inValue, 0
			}
		case inValue:
			t.note(c)
			switch {
			case t.quote == 1: // unquoted
				if isSpace(c) {
					t.state = inTag
				} else if c == '>' {
					t.endTag(Pos{pos.File, base + i + 1}, found)
				}
			case t.quote != 0:
				if c == t.quote {
					t.state = inTag
				}
			case c == '"' || c == '\'':
				t.quote = c
			case c == '>':
				t.endTag(Pos{pos.File, base + i + 1}, found)
			case !isSpace(c):
				t.quote = 1
			}
		case inRaw:
			if c == '<' {
				t.state, t.seen, t.start = inRawEnd, "<", Pos{pos.File, base + i}
			}
		case inRawEnd:
			want := "</" + t.raw
			switch {
			case len(t.seen) == len(want):
				if !isSpace(c) && c != '/' && c != '>' {
					t.state = inRaw
					break
				}
				t.note(c)
				t.closing, t.state = true, inTag
				if c == '>' {
					t.endTag(Pos{pos.File, base + i + 1}, found)
				}
			case lower(c) == want[len(t.seen)]:
				t.seen += string(lower(c))
			default:
				t.state = inRaw
				i--
				t.written--
			}
		}
	}
}

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
