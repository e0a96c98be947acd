package source

import (
	"bytes"
	"html"
	"slices"
	"sort"
	"strings"
)

// outline is the start tags of an HTML text and how they are nested. The text
// may be a page or a template whose actions are masked, see maskActions. It
// follows tags without building a tree: two texts that are read in the same way
// can be compared, whatever a browser would make of them.
type outline struct {
	text []byte
	tags []tag // by start
}

// tag is a start tag.
type tag struct {
	start, end int // of the text from < to after >
	nameEnd    int
	parent     int // index of the element around it, -1 for none
}

// masked stands for the bytes of an action in a template.
const masked = 0x01

var (
	voidTags    = wordSet("area base br col embed hr img input link meta param source track wbr")
	rawTextTags = wordSet("script style textarea")
	// impliedEnds are the elements that a start tag ends, because minifiers leave out
	// their end tags, up to one of the elements within. Example: <li> ends the <p> and
	// the <li> before it, but nothing outside of its <ul>.
	impliedEnds = map[string]struct{ closes, within map[string]bool }{
		"li":     {wordSet("li p"), wordSet("ul ol menu")},
		"dt":     {wordSet("dt dd p"), wordSet("dl")},
		"dd":     {wordSet("dt dd p"), wordSet("dl")},
		"tr":     {wordSet("tr td th"), wordSet("table")},
		"td":     {wordSet("td th"), wordSet("tr table")},
		"th":     {wordSet("td th"), wordSet("tr table")},
		"option": {wordSet("option"), wordSet("select")},
	}
	endParagraph = wordSet("div ul ol p table section nav h1 h2 h3 h4 h5 h6 footer pre blockquote")
)

// maxDepth is how many elements around another are looked at; browsers nest as many.
const maxDepth = 512

// newOutline reads the tags of a text.
func newOutline(text []byte) *outline {
	o := &outline{text: text}
	top := -1
	open := map[string]bool{} // elements of raw text of which none ends any more
	for i := 0; i < len(text); {
		n := bytes.IndexByte(text[i:], '<')
		if n < 0 || i+n+1 >= len(text) {
			break
		}
		i += n
		switch c := text[i+1]; {
		case c == '!' || c == '?':
			i = afterMarkup(text, i)
		case c == '/':
			end := tagEnd(text, i)
			name := text[i+2 : nameEnd(text, i+2)]
			for t, n := top, 0; t >= 0 && n < maxDepth; t, n = o.tags[t].parent, n+1 {
				if bytes.EqualFold(o.name(t), name) {
					top = o.tags[t].parent
					break
				}
			}
			i = end
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			t := tag{start: i, nameEnd: nameEnd(text, i+1), end: tagEnd(text, i)}
			name := strings.ToLower(string(text[i+1 : t.nameEnd]))
			if top >= 0 && endParagraph[name] && bytes.EqualFold(o.name(top), []byte("p")) {
				top = o.tags[top].parent
			}
			if implied, ok := impliedEnds[name]; ok {
				for t, n := top, 0; t >= 0 && n < maxDepth; t, n = o.tags[t].parent, n+1 {
					of := strings.ToLower(string(o.name(t)))
					if implied.within[of] {
						break
					}
					if implied.closes[of] {
						top = o.tags[t].parent
					}
				}
			}
			t.parent = top
			o.tags = append(o.tags, t)
			i = t.end
			if rawTextTags[name] && !open[name] {
				n := bytes.Index(text[i:], []byte("</"+name))
				open[name] = n < 0
				i += max(0, n)
			}
			if !voidTags[name] && text[t.end-2] != '/' {
				top = len(o.tags) - 1
			}
		default:
			i++
		}
	}
	return o
}

// afterMarkup returns the offset after a comment, a declaration or a processing
// instruction.
func afterMarkup(text []byte, i int) int {
	end := []byte(">")
	if bytes.HasPrefix(text[i:], []byte("<!--")) {
		end = []byte("-->")
	}
	if n := bytes.Index(text[i:], end); n >= 0 {
		return i + n + len(end)
	}
	return len(text)
}

// nameEnd returns the end of a tag's name.
func nameEnd(text []byte, i int) int {
	for i < len(text) && !isSpace(text[i]) && text[i] != '>' && text[i] != '/' && text[i] != masked {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// tagEnd returns the offset after the > of the tag that starts at i.
func tagEnd(text []byte, i int) int {
	var quote byte
	for i++; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '>':
			return i + 1
		case (c == '"' || c == '\'') && text[i-1] == '=':
			quote = c
		}
	}
	return len(text)
}

func (o *outline) name(t int) []byte { return o.text[o.tags[t].start+1 : o.tags[t].nameEnd] }

// at returns the last tag that begins at or before an offset. It returns -1 if no tag does.
func (o *outline) at(off int) int {
	return sort.Search(len(o.tags), func(i int) bool { return o.tags[i].start > off }) - 1
}

// attribute is an attribute of a tag.
type attribute struct {
	name     string // in lower case
	from, to int    // of the value, without its quotes
	// after reports that an action is before the attribute, so that it may be
	// written under a condition.
	after bool
}

// attributes returns the attributes of a tag. open reports that an action
// between them may write more of them.
func (o *outline) attributes(t int) (all []attribute, open bool) {
	text := o.text[:o.tags[t].end-1]
	for i := o.tags[t].nameEnd; i < len(text); {
		switch c := text[i]; {
		case c == masked:
			open = true
			i++
			continue
		case isSpace(c) || c == '/':
			i++
			continue
		}
		start := i
		for i < len(text) && !isSpace(text[i]) && text[i] != '=' && text[i] != masked {
			i++
		}
		a := attribute{name: strings.ToLower(string(text[start:i])), from: i, to: i, after: open}
		next := i
		for next < len(text) && isSpace(text[next]) {
			next++
		}
		if next < len(text) && text[next] == '=' {
			i = next + 1
			for i < len(text) && isSpace(text[i]) {
				i++
			}
			if i < len(text) && (text[i] == '"' || text[i] == '\'') {
				a.from = i + 1
				n := bytes.IndexByte(text[a.from:], text[i])
				if n < 0 {
					n = len(text) - a.from
				}
				a.to = a.from + n
				i = min(a.to+1, len(text))
			} else {
				a.from = i
				for i < len(text) && !isSpace(text[i]) {
					i++
				}
				a.to = i
			}
		}
		if a.name == "" {
			i++
			continue
		}
		all = append(all, a)
	}
	return all, open
}

// attributeAt returns the attribute of a tag whose value includes an offset.
func (o *outline) attributeAt(t, off int) (a attribute, ok bool) {
	all, _ := o.attributes(t)
	for _, a := range all {
		if a.from <= off && off < a.to {
			return a, true
		}
	}
	return a, false
}

// pieces returns the text of a value between its actions. There is one piece
// more than actions.
func (o *outline) pieces(from, to int) (all []string) {
	piece := from
	for i := from; i < to; i++ {
		if o.text[i] != masked {
			continue
		}
		all = append(all, html.UnescapeString(string(o.text[piece:i])))
		for i+1 < to && o.text[i+1] == masked {
			i++
		}
		piece = i + 1
	}
	return append(all, html.UnescapeString(string(o.text[piece:to])))
}

// actionEnds are the delimiters of actions in template languages: Go,
// Liquid, Jinja, ERB and EJS.
var actionEnds = []struct{ open, end string }{{"{{", "}}"}, {"{%", "%}"}, {"{#", "#}"}, {"<%", "%>"}}

// maskActions returns a copy of a template in which every byte of an action is
// masked.
func maskActions(text []byte) []byte {
	out := slices.Clone(text)
	var last [4]int // where the last action of a language ends
	for k, a := range actionEnds {
		last[k] = bytes.LastIndex(text, []byte(a.end))
	}
	for i := 0; i+1 < len(text); {
		n := bytes.IndexAny(text[i:], "{<")
		if n < 0 {
			break
		}
		i += n
		end := -1
		for k, a := range actionEnds {
			if bytes.HasPrefix(text[i:], []byte(a.open)) && i+2 <= last[k] {
				end = actionEnd(text, i, a.end)
				break
			}
		}
		if end < 0 {
			i++
			continue
		}
		for k := i; k < end; k++ {
			out[k] = masked
		}
		i = end
	}
	return out
}

// actionEnd returns the offset after the action that starts at i, outside of
// its strings, -1 if it has no end.
func actionEnd(text []byte, i int, end string) int {
	rest := text[i+2:]
	if c := bytes.TrimLeft(rest, "- \t\r\n"); bytes.HasPrefix(c, []byte("/*")) {
		n := max(0, bytes.Index(rest, []byte("*/")))
		if e := bytes.Index(rest[n:], []byte(end)); e >= 0 {
			return i + 2 + n + e + len(end)
		}
		return -1
	}
	var quote byte
	for k := 0; k < min(len(rest), farAround); k++ {
		switch c := rest[k]; {
		case quote != 0:
			if c == '\\' && quote == '"' {
				k++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '`':
			quote = c
		case bytes.HasPrefix(rest[k:], []byte(end)):
			return i + 2 + k + len(end)
		}
	}
	if n := bytes.Index(rest, []byte(end)); n >= 0 { // a quote that starts no string
		return i + 2 + n + len(end)
	}
	return -1
}

// farAround is how far text is from a tag at most, and how long an action with strings: a
// template of a megabyte may hold nothing else.
const farAround = 4 << 10

// before returns the text before a tag, and after that from its end on, at most
// maxAround bytes each, without tags and white space. They stop at an action.
func (o *outline) before(t int) string {
	var back []byte
	first := max(0, o.tags[t].start-farAround)
	for i := o.tags[t].start - 1; i >= first && len(back) < maxAround; i-- {
		switch c := o.text[i]; {
		case c == masked:
			i = -1
		case c == '>':
			open := []byte("<")
			if bytes.HasSuffix(o.text[:i+1], []byte("-->")) {
				open = []byte("<!--")
			}
			i = first + bytes.LastIndex(o.text[first:i], open)
		case isShown(c):
			back = append(back, c)
		}
	}
	slices.Reverse(back)
	return string(back)
}

func (o *outline) after(t int) string {
	var all []byte
	for i := o.tags[t].end; i < min(len(o.text), o.tags[t].end+farAround) && len(all) < maxAround; i++ {
		switch c := o.text[i]; {
		case c == masked:
			return string(all)
		case c == '<':
			if bytes.HasPrefix(o.text[i:], []byte("<!")) {
				i = afterMarkup(o.text, i) - 1
			} else {
				i = tagEnd(o.text, i) - 1
			}
		case isShown(c):
			all = append(all, c)
		}
	}
	return string(all)
}

// isShown reports whether a byte of text is compared. Minifiers change white
// space, quotes and character references.
func isShown(c byte) bool { return c > ' ' && strings.IndexByte("&;\"'#", c) < 0 }

// isFirst reports whether only white space is between a tag and the start tag
// of the element around it.
func (o *outline) isFirst(t int) bool {
	p := o.tags[t].parent
	return p >= 0 && o.tags[t].start-o.tags[p].end < farAround && len(bytes.TrimSpace(o.text[o.tags[p].end:o.tags[t].start])) == 0
}
