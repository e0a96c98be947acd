package scan

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/sitelink/sitelink/internal/scan/ascii"
)

// maxOutlineDepth bounds the elements that are open at once: golang.org/x/net/html
// takes no more than 512.
const maxOutlineDepth = 500

// Outliner reads pages into outlines. Its zero value is ready; it keeps its
// buffers from page to page and is not safe for concurrent use.
type Outliner struct {
	out    Outline
	text   []byte
	stack  []openElement
	open   [256]uint16 // how many elements of a kind are open
	mode   outlineMode
	unsure bool
	// standards: the page has the doctype of today's HTML; legacy: it has
	// another one, about which parsers may disagree.
	standards, legacy bool
}

type openElement struct {
	node    uint32
	kind    elementKind
	foreign bool
	// integrates: HTML may stand inside of this element of svg or math.
	integrates bool
}

// outlineMode is the insertion mode (HTML 13.2.4.1) as far as the stack of open
// elements does not tell it.
type outlineMode uint8

const (
	modeInitial outlineMode = iota
	modeBeforeHTML
	modeBeforeHead
	modeInHead
	modeAfterHead
	modeInBody
	modeAfterBody
	modeAfterAfterBody
)

// Read reads a page, as UTF-8 without byte order mark, as a browser that runs
// scripts does. ok is false where it is not sure that tree construction makes
// an element of each start tag, at its place: then golang.org/x/net/html has
// to decide. The outline is good until the next call, and while text is left
// alone.
//
// It implements the part of tree construction (HTML 13.2.6) that adds elements
// in the order of their tags: implied elements and end tags, but no element
// that is moved, copied, merged or dropped.
func (b *Outliner) Read(text []byte) (o *Outline, ok bool) {
	b.out = Outline{text: text, nodes: b.out.nodes[:0], attrs: b.out.attrs[:0]}
	b.text, b.stack, b.mode, b.unsure = text, b.stack[:0], modeInitial, false
	b.standards, b.legacy = false, false
	b.open = [256]uint16{}
	if len(text) > math.MaxInt32 || bytes.IndexByte(text, 0) >= 0 || bytes.HasPrefix(text, []byte("\xEF\xBB\xBF")) {
		return nil, false
	}
	for i := 0; i < len(text) && !b.unsure; {
		end := b.textEnd(i)
		if end > i {
			b.addText(i, end)
			if end == len(text) {
				break
			}
		}
		i = b.markup(end)
	}
	if b.unsure {
		return nil, false
	}
	b.needBody()
	for i := range b.stack {
		b.out.nodes[b.stack[i].node].end = uint32(len(b.out.nodes))
	}
	return &b.out, true
}

// textEnd returns where the text at i ends: at a "<" that begins markup.
func (b *Outliner) textEnd(i int) int {
	text := b.text
	for j := i; ; j++ {
		k := 8
		if j+8 <= len(text) {
			k = FirstByte(binary.LittleEndian.Uint64(text[j:]), '<'*Ones)
		}
		if k == 8 {
			if k = bytes.IndexByte(text[j:], '<'); k < 0 {
				return len(text)
			}
		}
		if j += k; j+1 >= len(text) {
			b.unsure = true
			return len(text)
		}
		if c := text[j+1]; Class[c]&ClassLetter != 0 || c == '/' || c == '!' || c == '?' {
			return j
		}
	}
}

// addText adds text[i:j] as a node, unless it is white space.
func (b *Outliner) addText(i, j int) {
	first := i
	for first < j && Class[b.text[first]]&ClassSpace != 0 {
		first++
	}
	if first == j {
		return
	}
	if b.mode != modeInBody {
		// A reference may be white space, for which no body begins.
		if b.mode > modeInBody || b.text[first] == '&' {
			b.unsure = true
			return
		}
		b.needBody()
	}
	if b.inTable() {
		b.unsure = true
		return
	}
	b.add(outlineNode{kind: kindText, attr: uint32(len(b.out.attrs)), span: Span{uint32(first), uint32(j)}}, false)
}

// markup reads what begins at text[i], "<" and one of a letter, "/", "!" and
// "?", and returns where to go on.
func (b *Outliner) markup(i int) int {
	text := b.text
	switch c := text[i+1]; {
	case Class[c]&ClassLetter != 0:
		return b.startTag(i)
	case c == '/':
		if i+2 < len(text) && Class[text[i+2]]&ClassLetter != 0 {
			return b.endTag(i)
		}
	case c == '!':
		return b.declaration(i)
	}
	// "</>" and "<?x>": comments to the parser.
	next := After(text, i+2, '>')
	b.unsure = b.unsure || text[next-1] != '>'
	return next
}

func (b *Outliner) declaration(i int) int {
	text := b.text
	switch rest := text[i+2:]; {
	case bytes.HasPrefix(rest, Dashes):
		next, closed := CommentEnd(text, i+4)
		b.unsure = b.unsure || !closed
		return next
	case len(rest) >= 7 && ascii.EqualFold(rest[:7], "doctype"):
		if b.mode != modeInitial {
			b.unsure = true
		}
		b.mode = modeBeforeHTML
		name, _, _ := bytes.Cut(rest[7:], []byte(">"))
		name = bytes.Trim(name, ascii.Space)
		b.standards = string(name) == "html"
		// golang.org/x/net/html takes HTML in capitals for quirks mode, unlike
		// browsers; a table in a paragraph is where it shows.
		b.legacy = !b.standards && !ascii.EqualFold(name, "html")
	case bytes.HasPrefix(rest, []byte("[CDATA[")):
		b.unsure = true // a comment in HTML, and text in svg
	}
	next := After(text, i+2, '>')
	b.unsure = b.unsure || text[next-1] != '>'
	return next
}

// startTag reads the start tag at text[i], and the text of an element that
// holds nothing else.
func (b *Outliner) startTag(i int) int {
	j, kind := b.name(i + 1)
	node := outlineNode{kind: kind, attr: uint32(len(b.out.attrs)), span: Span{uint32(i + 1), uint32(j)}}
	next, closing := b.attributes(j, b.inForeign() || elements[kind].rule == ruleForeign)
	if b.unsure {
		return next
	}
	if b.inForeign() {
		b.startForeign(node, closing)
		return next
	}
	if b.mode != modeInBody && b.beforeBody(node) {
		return b.content(kind, next)
	}
	if b.unsure {
		return next
	}
	b.startInBody(node, closing)
	return b.content(kind, next)
}

// name reads the tag name at text[i] and returns its end and its kind.
func (b *Outliner) name(i int) (end int, kind elementKind) {
	text := b.text
	if i+8 <= len(text) {
		w := binary.LittleEndian.Uint64(text[i:])
		if k := min(FirstByte(w, '>'*Ones), FirstByte(w, ' '*Ones)); k < 8 {
			name := (w | FoldASCII) & (1<<(8*uint(k)) - 1)
			if kind := elementSlot.Find(name); kind != kindOther && (kind < kindH1 || kind > kindH6) {
				return i + k, kind
			}
		}
	}
	j := i
	for j < len(text) && Class[text[j]]&ClassNameEnd == 0 {
		j++
	}
	return j, kindAt(text, i, j)
}

// content reads the text of the element that was just added, if it holds
// nothing but text, with its end tag.
func (b *Outliner) content(kind elementKind, i int) int {
	text := b.text
	rule := elements[kind].rule
	switch rule {
	case ruleMute, ruleFrame, ruleTitle, ruleArea:
	default:
		return i
	}
	if b.unsure {
		return i
	}
	var end int
	if kind == kindScript {
		end = ScriptEnd(text, i)
		// The parser differs from the standard in scripts with comments.
		b.unsure = b.unsure || bytes.Contains(text[i:end], []byte("<!--"))
	} else {
		end = RawEnd(text, i, elements[kind].name)
	}
	if end == len(text) {
		b.unsure = true
		return end
	}
	if content := bytes.TrimLeft(text[i:end], ascii.Space); len(content) > 0 {
		switch rule {
		case ruleFrame:
			b.unsure = true
		case ruleTitle, ruleArea:
			b.add(outlineNode{kind: kindText, attr: uint32(len(b.out.attrs)), span: Span{uint32(end - len(content)), uint32(end)}}, false)
		}
	}
	b.pop()
	next, _, ok := ReadAttrs(text, end+len("</")+len(elements[kind].name), nil)
	b.unsure = b.unsure || !ok
	return next
}

// add adds a node below the current one, and opens it if push is set.
func (b *Outliner) add(n outlineNode, push bool) {
	at := uint32(len(b.out.nodes))
	n.end = at + 1
	b.out.nodes = append(b.out.nodes, n)
	b.out.seen[n.kind] = true
	if push {
		b.stack = append(b.stack, openElement{node: at, kind: n.kind})
		b.open[n.kind]++
		b.unsure = b.unsure || len(b.stack) > maxOutlineDepth
	}
}

// imply opens an element that the page has no tag for, before the tag whose
// attributes begin at attr.
func (b *Outliner) imply(kind elementKind, attr uint32) {
	b.add(outlineNode{kind: kind, attr: attr}, true)
}

// top is the kind of the current node.
func (b *Outliner) top() elementKind { return b.stack[len(b.stack)-1].kind }

// pop closes the current node.
func (b *Outliner) pop() {
	n := len(b.stack) - 1
	b.out.nodes[b.stack[n].node].end = uint32(len(b.out.nodes))
	b.open[b.stack[n].kind]--
	b.stack = b.stack[:n]
}

// popTo closes all elements from stack[n] on without their end tags. What
// would be reopened, or is remembered elsewhere, makes the page unsure.
func (b *Outliner) popTo(n int) {
	for len(b.stack) > n {
		kind := b.top()
		switch elements[kind].rule {
		case ruleFormat, ruleMarker, ruleForm, ruleSelect, ruleButton, ruleTable:
			b.unsure = true
		}
		b.unsure = b.unsure || kind == kindCaption
		b.pop()
	}
}

// attributes reads the attributes of the tag whose name ends at text[i] and
// returns the offset after its ">"; closing is set if that was "/>". A page
// foreign says that it matters, as it does in svg and math. A page
// that ends before, or has what parsers disagree about, is unsure.
func (b *Outliner) attributes(i int, foreign bool) (next int, closing bool) {
	text := b.text
	n := len(text)
	for i < n {
		c := text[i]
		switch {
		case c == '>':
			return i + 1, false
		case Class[c]&ClassSpace != 0:
			i++
			continue
		case c == '/':
			if i+1 < n && text[i+1] == '>' {
				return i + 2, true
			}
			i++
			continue
		case c == '=':
			b.unsure = true
			return n, false
		}
		if i+16 <= n {
			// The common form, as in ReadAttrs.
			w := binary.LittleEndian.Uint64(text[i:])
			if k := FirstByte(w, '='*Ones); k > 0 && k < 8 && text[i+k+1] == '"' {
				if name := OutlineAttr(outlineAttrSlot.Find((w | FoldASCII) & (1<<(8*uint(k)) - 1))); name != outlineOther {
					from := i + k + 2
					end := bytes.IndexByte(text[from:], '"')
					if end < 0 {
						break
					}
					if name != outlineIgnored {
						b.out.attrs = append(b.out.attrs, outlineAttr{name, Span{uint32(from), uint32(from + end)}})
					}
					i = from + end + 1
					continue
				}
			}
		}
		from := i
		for i < n && Class[text[i]]&ClassAttrEnd == 0 {
			i++
		}
		name := outlineAttrAt(text, from, i)
		for i < n && Class[text[i]]&ClassSpace != 0 {
			i++
		}
		value := Span{uint32(i), uint32(i)}
		if i < n && text[i] == '=' {
			for i++; i < n && Class[text[i]]&ClassSpace != 0; i++ {
			}
			if i == n {
				break
			}
			switch c := text[i]; c {
			case '>': // no value
				value = Span{uint32(i), uint32(i)}
			case '"', '\'':
				k := bytes.IndexByte(text[i+1:], c)
				if k < 0 {
					b.unsure = true
					return n, false
				}
				value = Span{uint32(i + 1), uint32(i + 1 + k)}
				i += k + 2
			default:
				value.Start = uint32(i)
				for i < n && Class[text[i]]&ClassValueEnd == 0 {
					i++
				}
				value.End = uint32(i)
				// golang.org/x/net/html takes "/" at the end of a repeated
				// attribute's value for the tag's.
				b.unsure = b.unsure || i < n && text[i] == '>' && text[i-1] == '/' && foreign
			}
		}
		if name != outlineOther && name != outlineIgnored {
			b.out.attrs = append(b.out.attrs, outlineAttr{name, value})
		}
	}
	b.unsure = true
	return n, false
}

// inForeign tells whether the current node belongs to svg or math.
func (b *Outliner) inForeign() bool {
	return len(b.stack) > 0 && b.stack[len(b.stack)-1].foreign
}

// startForeign handles a start tag in svg or math (HTML 13.2.6.5).
func (b *Outliner) startForeign(n outlineNode, closing bool) {
	name := b.text[n.span.Start:n.span.End]
	if b.stack[len(b.stack)-1].integrates || breaksOut(name) || ascii.EqualFold(name, "annotation-xml") {
		b.unsure = true
		return
	}
	n.foreign = true
	b.add(n, !closing)
	if closing {
		return
	}
	top := &b.stack[len(b.stack)-1]
	top.foreign = true
	for _, in := range [...]string{"title", "desc", "foreignobject", "mi", "mo", "mn", "ms", "mtext"} {
		top.integrates = top.integrates || ascii.EqualFold(name, in)
	}
}

// endForeign handles an end tag in svg or math.
func (b *Outliner) endForeign(name Span) {
	if !b.sameName(name) {
		b.unsure = true
		return
	}
	b.pop()
}
