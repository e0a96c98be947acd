package read

import (
	"bytes"
	"html"
	"slices"
	"sort"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
)

// Outline is the start tags of an HTML text and how they are nested. The text
// may be a page, or a template with masked actions, see maskActions. Outline
// follows tags without building a tree. A browser may read them differently,
// but two texts that are read in the same way can be compared.
type Outline struct {
	Text []byte
	Tags []tag // by start
}

// tag is a start tag.
type tag struct {
	Start, End int // of the text from < to after >
	nameEnd    int
	Parent     int // index of the element around it, -1 for none
}

// These bytes replace an action in a template. Actions that print nothing have their own,
// because text behind them may be missing on the page.
const (
	prints  = 0x01
	opens   = 0x02 // a condition
	closes  = 0x03
	between = 0x04 // two texts of a condition, and what only sets a variable
)

// IsAction reports whether a byte stands for one of an action.
func IsAction(c byte) bool { return prints <= c && c <= between }

// actions finds what IsAction reports, one match for actions that touch.
var actions = text.Regexp(`[\x01-\x04]+`)

// tagRule says what a start tag means for the tags around it.
type tagRule struct {
	isVoid, isRaw bool // it has no content, or no tags in it
	endsParagraph bool
	// closes are the elements that it ends, because minifiers leave out their end tags, up
	// to one of within. Example: <li> ends the <p> and the <li> before it, but nothing
	// outside of its <ul>.
	closes, within string
}

func ruleOf(name []byte) (r tagRule) {
	switch string(name) {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		r.isVoid = true
	case "script", "style", "textarea":
		r.isRaw = true
	case "div", "ul", "ol", "p", "table", "section", "nav", "h1", "h2", "h3", "h4", "h5", "h6", "footer", "pre", "blockquote":
		r.endsParagraph = true
	case "li":
		r.closes, r.within = " li p ", " ul ol menu "
	case "dt", "dd":
		r.closes, r.within = " dt dd p ", " dl "
	case "tr":
		r.closes, r.within = " tr td th ", " table "
	case "td", "th":
		r.closes, r.within = " td th ", " tr table "
	case "option":
		r.closes, r.within = " option ", " select "
	}
	return r
}

// MaxDepth is how many elements around another are looked at; browsers nest as many.
const MaxDepth = 512

// NewOutline reads the tags of a text.
func NewOutline(text []byte) *Outline {
	o := &Outline{Text: text}
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
			for t, n := top, 0; t >= 0 && n < MaxDepth; t, n = o.Tags[t].Parent, n+1 {
				if bytes.EqualFold(o.Name(t), name) {
					top = o.Tags[t].Parent
					break
				}
			}
			i = end
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			t := tag{Start: i, nameEnd: nameEnd(text, i+1), End: tagEnd(text, i)}
			name := text[i+1 : t.nameEnd]
			if c < 'a' {
				name = bytes.ToLower(name)
			}
			rule := ruleOf(name)
			if top >= 0 && rule.endsParagraph && bytes.EqualFold(o.Name(top), []byte("p")) {
				top = o.Tags[top].Parent
			}
			if rule.closes != "" {
				for t, n := top, 0; t >= 0 && n < MaxDepth; t, n = o.Tags[t].Parent, n+1 {
					of := " " + strings.ToLower(string(o.Name(t))) + " "
					if strings.Contains(rule.within, of) {
						break
					}
					if strings.Contains(rule.closes, of) {
						top = o.Tags[t].Parent
					}
				}
			}
			t.Parent = top
			o.Tags = append(o.Tags, t)
			i = t.End
			if rule.isRaw && !open[string(name)] {
				n := bytes.Index(text[i:], []byte("</"+string(name)))
				open[string(name)] = n < 0
				i += max(0, n)
			}
			if !rule.isVoid && text[t.End-2] != '/' {
				top = len(o.Tags) - 1
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
	for i < len(text) && !isSpace(text[i]) && text[i] != '>' && text[i] != '/' && !IsAction(text[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// tagEnd returns the offset after the > of the tag that starts at i.
func tagEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch c := text[i]; {
		case c == '>':
			return i + 1
		case (c == '"' || c == '\'') && text[i-1] == '=':
			n := bytes.IndexByte(text[i+1:], c)
			if n < 0 {
				return len(text)
			}
			i += n + 1
		}
	}
	return len(text)
}

func (o *Outline) Name(t int) []byte { return o.Text[o.Tags[t].Start+1 : o.Tags[t].nameEnd] }

// At returns the last tag that begins at or before an offset. It returns -1 if no tag does.
func (o *Outline) At(off int) int {
	return sort.Search(len(o.Tags), func(i int) bool { return o.Tags[i].Start > off }) - 1
}

// Attribute is an attribute of a tag.
type Attribute struct {
	Name     string // in lower case
	From, To int    // of the value, without its quotes
	// After reports that an action is before the attribute, so that it may be
	// written under a condition.
	After bool
}

// Attributes returns the attributes of a tag. open reports that an action
// between them may write more of them.
func (o *Outline) Attributes(t int) (all []Attribute, open bool) {
	text := o.Text[:o.Tags[t].End-1]
	depth := 0 // of conditions in values
	for i := o.Tags[t].nameEnd; i < len(text); {
		switch c := text[i]; {
		case IsAction(c):
			open = true
			i++
			continue
		case isSpace(c) || c == '/' || c == '}':
			i++
			continue
		}
		start := i
		for i < len(text) && !isSpace(text[i]) && text[i] != '=' && !IsAction(text[i]) {
			i++
		}
		a := Attribute{Name: strings.ToLower(string(text[start:i])), From: i, To: i, After: open || depth > 0}
		next := i
		for next < len(text) && isSpace(text[next]) {
			next++
		}
		if next < len(text) && text[next] == '=' {
			i = next + 1
			for i < len(text) && isSpace(text[i]) {
				i++
			}
			if bytes.HasPrefix(text[i:], []byte("{`")) {
				i++ // a template literal of Astro or Svelte
			}
			if i < len(text) && (text[i] == '"' || text[i] == '\'' || text[i] == '`') {
				a.From = i + 1
				n := bytes.IndexByte(text[a.From:], text[i])
				if n < 0 {
					n = len(text) - a.From
				}
				a.To = a.From + n
				i = min(a.To+1, len(text))
			} else {
				a.From = i
				for i < len(text) && !isSpace(text[i]) {
					i++
				}
				a.To = i
			}
		}
		if a.Name == "" {
			i++
			continue
		}
		for k := a.From; k < a.To; k++ {
			if c := text[k]; c != text[k-1] && c == opens {
				depth++
			} else if c != text[k-1] && c == closes {
				depth = max(0, depth-1)
			}
		}
		all = append(all, a)
	}
	return all, open
}

// AttributeAt returns the attribute of a tag that has an offset in its value.
func (o *Outline) AttributeAt(t, off int) (a Attribute, ok bool) {
	all, _ := o.Attributes(t)
	for _, a := range all {
		if a.From <= off && off < a.To {
			return a, true
		}
	}
	return a, false
}

// OnlyConditions reports that the actions of a value print nothing.
func (o *Outline) OnlyConditions(from, to int) bool {
	return bytes.IndexByte(o.Text[from:to], prints) < 0
}

// Pieces returns the text of a value between its actions. There is one piece
// more than actions.
func (o *Outline) Pieces(from, to int) (all []string) {
	piece := from
	for i := from; i < to; i++ {
		if !IsAction(o.Text[i]) {
			continue
		}
		all = append(all, html.UnescapeString(string(o.Text[piece:i])))
		for i+1 < to && IsAction(o.Text[i+1]) {
			i++
		}
		piece = i + 1
	}
	return append(all, html.UnescapeString(string(o.Text[piece:to])))
}

// quiet are the first words of actions that print nothing, in Go, Liquid and Jinja.
var (
	quiet = map[string]byte{
		"if": opens, "unless": opens, "with": opens, "end": closes, "endif": closes, "endunless": closes,
		"else": between, "elif": between, "elsif": between, "set": between, "assign": between,
	}
	firstWord = text.Regexp(`^\{[{%][-+]?\s*(if|unless|with|end|endif|endunless|else|elif|elsif|set|assign)\b`)
)

// actionEnds are the delimiters of actions in template languages: Go,
// Liquid, Jinja, ERB and EJS, and template literals of Astro and Svelte.
var actionEnds = []struct{ open, end string }{{"{{", "}}"}, {"{%", "%}"}, {"{#", "#}"}, {"<%", "%>"}, {"${", "}"}}

// MaskActions returns a copy of a template in which every byte of an action, and of the
// front matter, is masked.
func MaskActions(text []byte) []byte {
	out := slices.Clone(text)
	for i := range FrontMatter(text) {
		out[i] = prints
	}
	var last [5]int // where the last action of a language ends
	for k, a := range actionEnds {
		last[k] = bytes.LastIndex(text, []byte(a.end))
	}
	for i := 0; i+1 < len(text); {
		n := bytes.IndexAny(text[i:], "{<$")
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
		mask := byte(prints)
		if word := firstWord().FindSubmatch(text[i:end]); word != nil {
			mask = quiet[string(word[1])]
		}
		for k := i; k < end; k++ {
			out[k] = mask
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
	if n := closing(rest[:min(len(rest), FarAround)], []byte(end)); n >= 0 {
		return i + 2 + n + len(end)
	}
	if n := bytes.Index(rest, []byte(end)); n >= 0 { // a quote that starts no string
		return i + 2 + n + len(end)
	}
	return -1
}

// FarAround is how far text is from a tag at most, and how long an action with strings: a
// template of a megabyte may hold nothing else.
const FarAround = 4 << 10

// Before returns the text before a tag, and after that from its end on, at most
// maxAround bytes each, without tags and white space. They stop at an action or component.
func (o *Outline) Before(t int) string {
	var back []byte
	first := max(0, o.Tags[t].Start-FarAround)
	for i := o.Tags[t].Start - 1; i >= first && len(back) < MaxAround; i-- {
		switch c := o.Text[i]; {
		case endsText(c):
			i = -1
		case c == '>':
			open := []byte("<")
			if bytes.HasSuffix(o.Text[:i+1], []byte("-->")) {
				open = []byte("<!--")
			}
			if i = first + bytes.LastIndex(o.Text[first:i], open); i >= 0 && IsComponent(o.Text[i+1:]) {
				i = -1
			}
		case isShown(c):
			back = append(back, c)
		}
	}
	slices.Reverse(back)
	return string(back)
}

func (o *Outline) After(t int) string {
	var all []byte
	for i := o.Tags[t].End; i < min(len(o.Text), o.Tags[t].End+FarAround) && len(all) < MaxAround; i++ {
		switch c := o.Text[i]; {
		case endsText(c), c == '<' && IsComponent(o.Text[i+1:]):
			return string(all)
		case c == '<':
			if bytes.HasPrefix(o.Text[i:], []byte("<!")) {
				i = afterMarkup(o.Text, i) - 1
			} else {
				i = tagEnd(o.Text, i) - 1
			}
		case isShown(c):
			all = append(all, c)
		}
	}
	return string(all)
}

// endsText reports whether a byte is one of an action, or of an expression of Astro or Svelte.
func endsText(c byte) bool { return IsAction(c) || c == '{' || c == '}' }

// IsComponent reports whether a name after < is that of what other files write.
func IsComponent(name []byte) bool {
	name = bytes.TrimPrefix(name, []byte("/"))
	return len(name) > 0 && 'A' <= name[0] && name[0] <= 'Z' || bytes.HasPrefix(name, []byte("slot"))
}

// isShown reports whether a byte of text is compared. Minifiers change white
// space, quotes and character references.
func isShown(c byte) bool { return c > ' ' && strings.IndexByte("&;\"'#", c) < 0 }

// IsFirst reports whether only white space is between a tag and the start tag
// of the element around it.
func (o *Outline) IsFirst(t int) bool {
	p := o.Tags[t].Parent
	return p >= 0 && o.Tags[t].Start-o.Tags[p].End < FarAround && len(bytes.TrimSpace(o.Text[o.Tags[p].End:o.Tags[t].Start])) == 0
}

// TemplateLink is a link in a template: an attribute with text, actions or both as
// its value. If no file contains a link of a page as it is, a TemplateLink composed
// it. The surroundings show which: the attributes of its tag, the elements around it
// in the template, and the text around it up to the next action.
type TemplateLink struct {
	Element string // in lower case
	Tag     int
	Attr    Attribute
	Attrs   []Attribute // all of the tag
	Open    bool        // an action may write more attributes
	Pieces  []string    // of the value, between its actions
	// Constant is the address in an expression that only turns one address into
	// another form, such as {{ "css/a.css" | relURL }}.
	Constant      string
	Before, After string // text up to the next action
	First         bool   // it is the first thing in the element around it
	Scope         string // the loops and the like around it: range site.Menus.main
}

// MaxAttributes is how many attributes of a tag are compared.
const MaxAttributes = 100

// LinkAttributes are the attributes of templates that are compared with links.
var LinkAttributes = map[string]bool{
	"href": true, "src": true, "srcset": true, "imagesrcset": true, "action": true, "formaction": true, "poster": true, "data": true,
	"content": true, "cite": true, "background": true, "xlink:href": true, "longdesc": true, "usemap": true, "data-src": true,
}

// constantAction matches an action that writes an address in another form.
var constantAction = text.Regexp(`^\{\{-?\s*(?:[a-zA-Z.]+URL\s+)?["` + "`" + `']([^"` + "`" + `']+)["` + "`" + `']\s*(?:\|\s*[\w.]+\s*)*-?\}\}$`)

// block matches the start of a block, with its words if they may name data, or its end.
var block = text.Regexp(`\{[{%]-?\s*(?:(if|unless|define|block|(?:with|range|for)\b([^{}]*))|end(?:if|unless|block|with|for)?)\b`)

// TemplateLinks returns the outline of a template with its actions masked, and the links
// in it.
func TemplateLinks(text []byte) (o *Outline, all []TemplateLink) {
	o = NewOutline(MaskActions(text))
	blocks := block().FindAllSubmatchIndex(text, -1)
	scopes := []string{""} // of the blocks around a tag
	for t := range o.Tags {
		for ; len(blocks) > 0 && blocks[0][0] < o.Tags[t].Start; blocks = blocks[1:] {
			switch b, last := blocks[0], scopes[len(scopes)-1]; {
			case b[2] < 0: // the end of one
				scopes = scopes[:max(1, len(scopes)-1)]
			case b[4] < 0: // a condition
				scopes = append(scopes, last)
			default:
				scopes = append(scopes, last+string(text[b[4]:b[5]])+" ")
			}
		}
		var attrs []Attribute
		var open bool
		if attrs, open = o.Attributes(t); len(attrs) == 0 || len(attrs) > MaxAttributes {
			continue
		}
		for _, a := range attrs {
			if !LinkAttributes[a.Name] || a.From == a.To {
				continue
			}
			w := TemplateLink{Element: strings.ToLower(string(o.Name(t))), Tag: t, Attr: a, Attrs: attrs, Open: open, Pieces: o.Pieces(a.From, a.To), Scope: scopes[len(scopes)-1]}
			if c := constantAction().FindSubmatch(bytes.TrimSpace(text[a.From:a.To])); c != nil {
				w.Constant = string(c[1])
			}
			w.Before, w.After, w.First = o.Before(t), o.After(t), o.IsFirst(t)
			all = append(all, w)
		}
	}
	return o, all
}

// IsLiteral reports whether no action writes a part of the value.
func (w *TemplateLink) IsLiteral() bool { return len(w.Pieces) == 1 }

// Writes reports whether the template has the whole address: as text, or in an
// expression that only changes its form.
func (w *TemplateLink) Writes() bool { return w.IsLiteral() || w.Constant != "" }
