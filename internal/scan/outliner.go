package scan

import (
	"bytes"
	"encoding/binary"
	"math"
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
			k = firstByte(binary.LittleEndian.Uint64(text[j:]), '<'*ones)
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
		if c := text[j+1]; byteClass[c]&clsLetter != 0 || c == '/' || c == '!' || c == '?' {
			return j
		}
	}
}

// addText adds text[i:j] as a node, unless it is white space.
func (b *Outliner) addText(i, j int) {
	first := i
	for first < j && byteClass[b.text[first]]&clsSpace != 0 {
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
	b.add(outlineNode{kind: kindText, attr: uint32(len(b.out.attrs)), span: span{uint32(first), uint32(j)}}, false)
}

// markup reads what begins at text[i], "<" and one of a letter, "/", "!" and
// "?", and returns where to go on.
func (b *Outliner) markup(i int) int {
	text := b.text
	switch c := text[i+1]; {
	case byteClass[c]&clsLetter != 0:
		return b.startTag(i)
	case c == '/':
		if i+2 < len(text) && byteClass[text[i+2]]&clsLetter != 0 {
			return b.endTag(i)
		}
	case c == '!':
		return b.declaration(i)
	}
	// "</>" and "<?x>": comments to the parser.
	next := after(text, i+2, '>')
	b.unsure = b.unsure || text[next-1] != '>'
	return next
}

func (b *Outliner) declaration(i int) int {
	text := b.text
	switch rest := text[i+2:]; {
	case bytes.HasPrefix(rest, dashes):
		next, closed := commentEnd(text, i+4)
		b.unsure = b.unsure || !closed
		return next
	case len(rest) >= 7 && foldEqual(rest[:7], "doctype"):
		if b.mode != modeInitial {
			b.unsure = true
		}
		b.mode = modeBeforeHTML
		name, _, _ := bytes.Cut(rest[7:], []byte(">"))
		name = bytes.Trim(name, asciiSpace)
		b.standards = string(name) == "html"
		// golang.org/x/net/html takes HTML in capitals for quirks mode, unlike
		// browsers; a table in a paragraph is where it shows.
		b.legacy = !b.standards && !foldEqual(name, "html")
	case bytes.HasPrefix(rest, []byte("[CDATA[")):
		b.unsure = true // a comment in HTML, and text in svg
	}
	next := after(text, i+2, '>')
	b.unsure = b.unsure || text[next-1] != '>'
	return next
}

// startTag reads the start tag at text[i], and the text of an element that
// holds nothing else.
func (b *Outliner) startTag(i int) int {
	j, kind := b.name(i + 1)
	node := outlineNode{kind: kind, attr: uint32(len(b.out.attrs)), span: span{uint32(i + 1), uint32(j)}}
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
		if k := min(firstByte(w, '>'*ones), firstByte(w, ' '*ones)); k < 8 {
			name := (w | foldASCII) & (1<<(8*uint(k)) - 1)
			if kind := elementSlot.find(name); kind != kindOther && (kind < kindH1 || kind > kindH6) {
				return i + k, kind
			}
		}
	}
	j := i
	for j < len(text) && byteClass[text[j]]&clsNameEnd == 0 {
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
		end = scriptEnd(text, i)
		// The parser differs from the standard in scripts with comments.
		b.unsure = b.unsure || bytes.Contains(text[i:end], []byte("<!--"))
	} else {
		end = rawEnd(text, i, elements[kind].name)
	}
	if end == len(text) {
		b.unsure = true
		return end
	}
	if content := bytes.TrimLeft(text[i:end], asciiSpace); len(content) > 0 {
		switch rule {
		case ruleFrame:
			b.unsure = true
		case ruleTitle, ruleArea:
			b.add(outlineNode{kind: kindText, attr: uint32(len(b.out.attrs)), span: span{uint32(end - len(content)), uint32(end)}}, false)
		}
	}
	b.pop()
	next, _, ok := readAttrs(text, end+len("</")+len(elements[kind].name), nil)
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
