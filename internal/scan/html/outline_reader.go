package html

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/sitelink/sitelink/internal/scan"
)

// maxDepth limits the number of open elements. golang.org/x/net/html allows
// 512.
const maxDepth = 500

// An OutlineReader reads pages into outlines and reuses its buffers. The zero value is
// ready to use. An OutlineReader must not be used concurrently.
type OutlineReader struct {
	openElements
	mode insertionMode
	// standards means that the page has the doctype of today's HTML. legacy
	// means that it has another one, which parsers may treat differently.
	standards, legacy bool
}

// openElements is the outline so far, with the elements that the next node is in.
type openElements struct {
	out    Outline
	text   []byte
	stack  []openElement
	open   [256]uint16 // number of open elements of each kind
	unsure bool        // see [OutlineReader.Read]
}

type openElement struct {
	node    uint32
	kind    elementKind
	foreign bool
	// integrates means that this element of svg or math may contain HTML.
	integrates bool
}

// insertionMode is the part of the insertion mode (HTML 13.2.4.1) that does not
// follow from the stack of open elements.
type insertionMode uint8

const (
	modeInitial insertionMode = iota
	modeBeforeHTML
	modeBeforeHead
	modeInHead
	modeAfterHead
	modeInBody
	modeAfterBody
	modeAfterAfterBody
)

// Read reads a page like a browser that runs scripts. text must be UTF-8
// without byte order mark. ok is false if Read is not sure that tree
// construction makes one element of each start tag, in the place of the tag. In
// that case parse the page with golang.org/x/net/html and use [OutlineOf]. The
// outline is valid until the next call, and as long as text does not change.
//
// Read implements the part of tree construction (HTML 13.2.6) that adds
// elements in the order of their tags. That includes implied elements and end
// tags, but no element that is moved, copied, merged or dropped.
func (b *OutlineReader) Read(text []byte) (o *Outline, ok bool) {
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

// textEnd returns the end of the text at i: the offset of a "<" that begins
// markup, or len(text).
func (b *OutlineReader) textEnd(i int) int {
	text := b.text
	for j := i; ; j++ {
		k := 8
		if j+8 <= len(text) {
			k = scan.FirstByte(binary.LittleEndian.Uint64(text[j:]), '<'*scan.Ones)
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
		if c := text[j+1]; scan.Class[c]&scan.ClassLetter != 0 || c == '/' || c == '!' || c == '?' {
			return j
		}
	}
}

// addText adds text[i:j] as a node unless it is white space.
func (b *OutlineReader) addText(i, j int) {
	first := i
	for first < j && scan.Class[b.text[first]]&scan.ClassSpace != 0 {
		first++
	}
	if first == j {
		return
	}
	if b.mode != modeInBody {
		// The reference may be white space, which does not open the body.
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
	b.add(node{kind: kindText, attr: uint32(len(b.out.attrs)), span: scan.NewSpan(first, j)}, false)
}

// markup reads the markup at text[i]: "<" and a letter, "/", "!" or "?". It
// returns the offset where reading continues.
func (b *OutlineReader) markup(i int) int {
	text := b.text
	switch c := text[i+1]; {
	case scan.Class[c]&scan.ClassLetter != 0:
		return b.startTag(i)
	case c == '/':
		if i+2 < len(text) && scan.Class[text[i+2]]&scan.ClassLetter != 0 {
			return b.endTag(i)
		}
	case c == '!':
		return b.declaration(i)
	}
	// "</>" and "<?x>" are comments to the parser.
	next := scan.After(text, i+2, '>')
	b.unsure = b.unsure || text[next-1] != '>'
	return next
}

func (b *OutlineReader) declaration(i int) int {
	text := b.text
	switch rest := text[i+2:]; {
	case bytes.HasPrefix(rest, scan.Dashes):
		next, closed := scan.CommentEnd(text, i+4)
		b.unsure = b.unsure || !closed
		return next
	case len(rest) >= 7 && scan.EqualFold(rest[:7], "doctype"):
		if b.mode != modeInitial {
			b.unsure = true
		}
		b.mode = modeBeforeHTML
		name, _, _ := bytes.Cut(rest[7:], []byte(">"))
		name = scan.Trim(name)
		b.standards = string(name) == "html"
		// golang.org/x/net/html, unlike browsers, takes HTML in capitals for
		// quirks mode. That makes a difference for a table in a paragraph.
		b.legacy = !b.standards && !scan.EqualFold(name, "html")
	case bytes.HasPrefix(rest, []byte("[CDATA[")):
		b.unsure = true // a comment in HTML, but text in svg
	}
	next := scan.After(text, i+2, '>')
	b.unsure = b.unsure || text[next-1] != '>'
	return next
}

// startTag reads the start tag at text[i], and the content of the element if
// that is text only.
func (b *OutlineReader) startTag(i int) int {
	j, kind := b.name(i + 1)
	node := node{kind: kind, attr: uint32(len(b.out.attrs)), span: scan.NewSpan(i+1, j)}
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
func (b *OutlineReader) name(i int) (end int, kind elementKind) {
	text := b.text
	if i+8 <= len(text) {
		w := binary.LittleEndian.Uint64(text[i:])
		if k := min(scan.FirstByte(w, '>'*scan.Ones), scan.FirstByte(w, ' '*scan.Ones)); k < 8 {
			name := (w | scan.FoldASCII) & (1<<(8*uint(k)) - 1)
			if kind := elementSlot.Find(name); kind != kindOther && (kind < kindH1 || kind > kindH6) {
				return i + k, kind
			}
		}
	}
	j := i
	for j < len(text) && scan.Class[text[j]]&scan.ClassNameEnd == 0 {
		j++
	}
	return j, kindAt(text, i, j)
}

// content reads the content of the new element, and its end tag, if it holds
// text only.
func (b *OutlineReader) content(kind elementKind, i int) int {
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
		end = scan.ScriptEnd(text, i)
		// The parser differs from the standard for scripts with comments.
		b.unsure = b.unsure || bytes.Contains(text[i:end], []byte("<!--"))
	} else {
		end = scan.RawEnd(text, i, elements[kind].name)
	}
	if end == len(text) {
		b.unsure = true
		return end
	}
	if content := bytes.TrimLeft(text[i:end], scan.Space); len(content) > 0 {
		switch rule {
		case ruleFrame:
			b.unsure = true
		case ruleTitle, ruleArea:
			b.add(node{kind: kindText, attr: uint32(len(b.out.attrs)), span: scan.NewSpan(end-len(content), end)}, false)
		}
	}
	b.pop()
	next, _, ok := scan.ReadAttrs(text, end+len("</")+len(elements[kind].name), nil)
	b.unsure = b.unsure || !ok
	return next
}

// add adds a node below the current one, and opens it if push is set.
func (b *openElements) add(n node, push bool) {
	at := uint32(len(b.out.nodes))
	n.end = at + 1
	b.out.nodes = append(b.out.nodes, n)
	b.out.seen[n.kind] = true
	if push {
		b.stack = append(b.stack, openElement{node: at, kind: n.kind})
		b.open[n.kind]++
		b.unsure = b.unsure || len(b.stack) > maxDepth
	}
}

// imply opens an element without a tag, before the tag whose attributes begin
// at attr.
func (b *openElements) imply(kind elementKind, attr uint32) {
	b.add(node{kind: kind, attr: attr}, true)
}

// top returns the kind of the current node.
func (b *openElements) top() elementKind { return b.stack[len(b.stack)-1].kind }

// pop closes the current node.
func (b *openElements) pop() {
	n := len(b.stack) - 1
	b.out.nodes[b.stack[n].node].end = uint32(len(b.out.nodes))
	b.open[b.stack[n].kind]--
	b.stack = b.stack[:n]
}

// popTo closes all elements from stack[n] on without their end tags. If that
// has further effects, such as reopening an element, the page is unsure.
func (b *openElements) popTo(n int) {
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

// attributes reads the attributes of the tag whose name ends at text[i]. It
// returns the offset after its ">", and whether the tag ends in "/>". foreign
// means that this matters because the tag is in svg or math. The page is unsure
// if it ends inside the tag, or if parsers disagree about the tag.
func (b *OutlineReader) attributes(i int, foreign bool) (next int, closing bool) {
	text := b.text
	n := len(text)
	for i < n {
		c := text[i]
		switch {
		case c == '>':
			return i + 1, false
		case scan.Class[c]&scan.ClassSpace != 0:
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
			// A shortcut for the common form, as in scan.ReadAttrs.
			w := binary.LittleEndian.Uint64(text[i:])
			if k := scan.FirstByte(w, '='*scan.Ones); k > 0 && k < 8 && text[i+k+1] == '"' {
				if name := Attr(attrSlots.Find((w | scan.FoldASCII) & (1<<(8*uint(k)) - 1))); name != attrOther {
					from := i + k + 2
					end := bytes.IndexByte(text[from:], '"')
					if end < 0 {
						break
					}
					if name != attrIgnored {
						b.out.attrs = append(b.out.attrs, attr{name, scan.NewSpan(from, from+end)})
					}
					i = from + end + 1
					continue
				}
			}
		}
		from := i
		for i < n && scan.Class[text[i]]&scan.ClassAttrEnd == 0 {
			i++
		}
		name := attrAt(text, from, i)
		for i < n && scan.Class[text[i]]&scan.ClassSpace != 0 {
			i++
		}
		value := scan.NewSpan(i, i)
		if i < n && text[i] == '=' {
			for i++; i < n && scan.Class[text[i]]&scan.ClassSpace != 0; i++ {
			}
			if i == n {
				break
			}
			switch c := text[i]; c {
			case '>': // no value
				value = scan.NewSpan(i, i)
			case '"', '\'':
				k := bytes.IndexByte(text[i+1:], c)
				if k < 0 {
					b.unsure = true
					return n, false
				}
				value = scan.NewSpan(i+1, i+1+k)
				i += k + 2
			default:
				value.Start = uint32(i)
				for i < n && scan.Class[text[i]]&scan.ClassValueEnd == 0 {
					i++
				}
				value.End = uint32(i)
				// golang.org/x/net/html takes "/" at the end of a repeated
				// attribute's value for the end of the tag.
				b.unsure = b.unsure || i < n && text[i] == '>' && text[i-1] == '/' && foreign
			}
		}
		if name != attrOther && name != attrIgnored {
			b.out.attrs = append(b.out.attrs, attr{name, value})
		}
	}
	b.unsure = true
	return n, false
}

// inForeign reports whether the current node belongs to svg or math.
func (b *openElements) inForeign() bool {
	return len(b.stack) > 0 && b.stack[len(b.stack)-1].foreign
}

// startForeign handles a start tag in svg or math (HTML 13.2.6.5).
func (b *OutlineReader) startForeign(n node, closing bool) {
	name := b.text[n.span.Start:n.span.End]
	if b.stack[len(b.stack)-1].integrates || scan.BreaksOut(name) || scan.EqualFold(name, "annotation-xml") {
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
		top.integrates = top.integrates || scan.EqualFold(name, in)
	}
}

// endForeign handles an end tag in svg or math.
func (b *OutlineReader) endForeign(name scan.Span) {
	if !b.sameName(name) {
		b.unsure = true
		return
	}
	b.pop()
}
