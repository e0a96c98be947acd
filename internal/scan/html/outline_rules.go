package html

import (
	"github.com/sitelink/sitelink/internal/scan"
)

// beforeBody handles a start tag before the body (HTML 13.2.6.4.1 to
// 13.2.6.4.6). done is false if the element belongs into the body, which is
// open then.
func (b *OutlineReader) beforeBody(n node) (done bool) {
	if b.mode > modeInBody {
		b.unsure = true
		return true
	}
	if b.mode <= modeBeforeHTML {
		b.mode = modeBeforeHead
		if n.kind == kindHTML {
			b.add(n, true)
			return true
		}
		b.imply(kindHTML, n.attr)
	}
	if b.mode == modeBeforeHead {
		b.mode = modeInHead
		if n.kind == kindHead {
			b.add(n, true)
			return true
		}
		b.imply(kindHead, n.attr)
	}
	rule := elements[n.kind].rule
	if b.mode == modeInHead {
		switch rule {
		case ruleHeadVoid:
			b.add(n, false)
			return true
		case ruleMute, ruleTitle:
			b.add(n, true)
			return true
		}
		if n.kind != kindBody && rule == ruleUnsure {
			b.unsure = true
			return true
		}
		b.pop()
	} else if rule == ruleHeadVoid || rule == ruleMute && n.kind != kindNoscript || rule == ruleTitle {
		b.unsure = true // the parser moves it back into head
		return true
	}
	b.mode = modeInBody
	if n.kind == kindBody {
		b.add(n, true)
		return true
	}
	b.imply(kindBody, n.attr)
	return false
}

// needBody opens the body that text, or the end of the page, implies.
func (b *OutlineReader) needBody() {
	attr := uint32(len(b.out.attrs))
	if b.mode <= modeBeforeHTML {
		b.imply(kindHTML, attr)
		b.mode = modeBeforeHead
	}
	if b.mode == modeBeforeHead {
		b.imply(kindHead, attr)
		b.mode = modeInHead
	}
	if b.mode == modeInHead {
		b.pop()
		b.mode = modeAfterHead
	}
	if b.mode == modeAfterHead {
		b.imply(kindBody, attr)
		b.mode = modeInBody
	}
}

// startInBody handles a start tag in body and in the elements inside body (HTML
// 13.2.6.4.7 to 13.2.6.4.15).
func (b *OutlineReader) startInBody(n node, closing bool) {
	rule := elements[n.kind].rule
	if b.inTable() && rule != ruleOther || rule == ruleTablePart {
		b.startTablePart(n)
		return
	}
	switch rule {
	case ruleOther:
		if b.inTable() {
			b.unsure = true
		}
	case ruleBlock, ruleHeading:
		b.closeP()
		if rule == ruleHeading && elements[b.top()].rule == ruleHeading {
			b.pop()
		}
	case ruleForm:
		b.unsure = b.unsure || b.open[kindForm] > 0
		b.closeP()
	case ruleItem:
		b.closeItem(n.kind)
		b.closeP()
	case ruleButton:
		b.unsure = b.unsure || b.open[kindButton] > 0
	case ruleFormat:
		if n.kind == kindA || n.kind == kindNobr {
			b.unsure = b.unsure || b.open[n.kind] > 0
		}
	case ruleTable:
		// In quirks mode a paragraph may contain a table.
		b.unsure = b.unsure || b.open[kindP] > 0 && b.legacy
		if b.standards {
			b.closeP()
		}
	case ruleVoid, ruleHeadVoid:
		b.add(n, false)
		return
	case ruleInput:
		b.unsure = b.unsure || b.open[kindSelect] > 0
		b.add(n, false)
		return
	case ruleRule:
		b.unsure = b.unsure || b.open[kindSelect] > 0
		b.closeP()
		b.add(n, false)
		return
	case ruleSelect:
		b.unsure = b.unsure || b.open[kindSelect] > 0
	case ruleOption:
		if b.top() == kindOption {
			b.pop()
		}
		b.unsure = b.unsure || b.open[kindSelect] > 0 && b.top() != kindSelect && b.top() != kindOptgroup
	case ruleOptgroup:
		for b.top() == kindOption || b.top() == kindOptgroup {
			b.pop()
		}
		b.unsure = b.unsure || b.top() != kindSelect
	case ruleRuby:
		if b.top() == kindRp || b.top() == kindRt {
			b.pop()
		}
		b.unsure = b.unsure || b.top() != kindRuby
	case ruleForeign:
		n.foreign = true
		b.add(n, !closing)
		if !closing {
			b.stack[len(b.stack)-1].foreign = true
		}
		return
	case ruleUnsure:
		b.unsure = true
	}
	b.add(n, true)
}

// closeP closes an open paragraph before a block.
func (b *openElements) closeP() {
	if i := b.paragraph(); i >= 0 {
		b.popTo(i)
	}
}

func (b *openElements) inParagraph() bool { return b.paragraph() >= 0 }

// paragraph returns the index in the stack of the open paragraph in button
// scope (HTML 13.2.4.2), or -1.
func (b *openElements) paragraph() int {
	if b.open[kindP] == 0 {
		return -1
	}
	for i := len(b.stack) - 1; i >= 0; i-- {
		switch kind := b.stack[i].kind; {
		case kind == kindP:
			return i
		case kind == kindButton || endsScope(kind):
			return -1
		}
	}
	return -1
}

// endsScope reports whether end tags have no effect beyond an element (HTML
// 13.2.4.2).
func endsScope(kind elementKind) bool {
	switch kind {
	case kindHTML, kindTable, kindTd, kindTh, kindCaption, kindSelect:
		return true
	}
	return elements[kind].rule == ruleMarker
}

// closeItem closes the item that the start of another item of its list ends.
func (b *openElements) closeItem(kind elementKind) {
	for i := len(b.stack) - 1; i >= 0; i-- {
		switch open := b.stack[i].kind; {
		case open == kind, kind != kindLi && (open == kindDd || open == kindDt):
			b.popTo(i)
			return
		case open == kindAddress, open == kindDiv, open == kindP:
		case elements[open].special:
			return
		}
	}
}

// closeImplied closes the innermost elements whose end tags may be omitted.
func (b *openElements) closeImplied() {
	for elements[b.top()].implied {
		b.pop()
	}
}

// endTag handles the end tag at text[i].
func (b *OutlineReader) endTag(i int) int {
	j, kind := b.name(i + 2)
	next, _, ok := scan.ReadAttrs(b.text, j, nil)
	if !ok {
		b.unsure = true
		return next
	}
	name := scan.NewSpan(i+2, j)
	switch {
	case b.inForeign():
		b.endForeign(name)
	case b.mode == modeInHead && kind == kindHead:
		b.pop()
		b.mode = modeAfterHead
	case b.mode == modeAfterBody && kind == kindHTML:
		b.mode = modeAfterAfterBody
	case b.mode != modeInBody:
		b.unsure = true
	default:
		b.endInBody(kind, name)
	}
	return next
}

// endInBody handles an end tag in body. It closes the current node, or one that
// contains only open elements with optional end tags.
func (b *OutlineReader) endInBody(kind elementKind, name scan.Span) {
	switch rule := elements[kind].rule; rule {
	case ruleTablePart, ruleTable:
		b.endTablePart(kind)
		return
	case ruleBlock, ruleForm, ruleButton, ruleSelect:
		if kind == kindP && !b.inParagraph() {
			b.unsure = b.unsure || b.inTable()
			b.add(node{kind: kindP, attr: uint32(len(b.out.attrs))}, false) // an empty paragraph
			return
		}
		if kind != kindP {
			b.closeImplied()
		}
	case ruleItem:
		for b.top() == kindP {
			b.pop()
		}
	case ruleOther:
		for kind == kindRuby && (b.top() == kindRp || b.top() == kindRt) {
			b.pop()
		}
	case ruleUnsure:
		if kind != kindBody && kind != kindHTML {
			break
		}
		for i := len(b.stack) - 1; b.stack[i].kind != kindBody; i-- {
			if !elements[b.stack[i].kind].implied {
				b.unsure = true
				return
			}
		}
		b.mode = modeAfterBody
		if kind == kindHTML {
			b.mode = modeAfterAfterBody
		}
		return
	}
	if b.top() != kind || kind == kindOther && !b.sameName(name) {
		b.unsure = true
		return
	}
	b.pop()
}

// sameName reports whether the current node has the name.
func (b *openElements) sameName(name scan.Span) bool {
	at := b.out.nodes[b.stack[len(b.stack)-1].node].span
	return scan.EqualFoldBytes(b.text[at.Start:at.End], b.text[name.Start:name.End])
}

// inTable reports whether the current node is a table, or a part of one that
// may contain only other parts.
func (b *openElements) inTable() bool {
	switch b.top() {
	case kindTable, kindTbody, kindThead, kindTfoot, kindTr, kindColgroup:
		return true
	}
	return false
}

// startTablePart handles the start tag of a part of a table, and any start tag
// in a table outside its cells (HTML 13.2.6.4.9 to 13.2.6.4.15).
func (b *OutlineReader) startTablePart(n node) {
	if !b.inTable() && !b.closeCell() {
		b.unsure = true
		return
	}
	switch n.kind {
	case kindTbody, kindThead, kindTfoot:
		b.closeTableParts(kindTable)
	case kindTr:
		b.needSection(n.attr)
	case kindTd, kindTh:
		if b.top() != kindTr {
			b.needSection(n.attr)
			b.imply(kindTr, n.attr)
		}
	case kindCaption, kindColgroup:
		b.unsure = b.unsure || b.top() != kindTable
	case kindCol:
		if b.top() == kindTable {
			b.imply(kindColgroup, n.attr)
		}
		b.unsure = b.unsure || b.top() != kindColgroup
		b.add(n, false)
		return
	default:
		// A table may contain scripts and styles. The parser moves all else
		// before it.
		if elements[n.kind].rule != ruleMute || n.kind == kindNoscript || b.top() == kindColgroup {
			b.unsure = true
		}
	}
	b.add(n, true)
}

// needSection closes open rows, and opens a tbody if no section is open.
func (b *openElements) needSection(attr uint32) {
	for b.top() == kindTr || b.top() == kindColgroup {
		b.pop()
	}
	if b.top() == kindTable {
		b.imply(kindTbody, attr)
	}
}

// closeCell closes the open cell. It returns false if there is none, or if a
// caption is open.
func (b *openElements) closeCell() bool {
	for i := len(b.stack) - 1; i >= 0; i-- {
		switch b.stack[i].kind {
		case kindTd, kindTh:
			b.popTo(i)
			return true
		case kindTable, kindCaption:
			return false
		}
	}
	return false
}

// closeTableParts closes rows and sections up to an element of the kind.
func (b *openElements) closeTableParts(kind elementKind) {
	for b.inTable() && b.top() != kind && b.top() != kindTable {
		b.pop()
	}
}

// endTablePart handles the end tag of a table or of a part of one.
func (b *OutlineReader) endTablePart(kind elementKind) {
	switch kind {
	case kindTd, kindTh:
		if b.inTable() || !b.closesCell(kind) {
			b.unsure = true
		}
		return
	case kindCaption, kindColgroup:
	case kindTr:
		b.unsure = b.unsure || !b.inTable() && !b.closeCell()
	case kindTbody, kindThead, kindTfoot, kindTable:
		b.unsure = b.unsure || !b.inTable() && !b.closeCell()
		b.closeTableParts(kind)
	}
	if b.top() != kind {
		b.unsure = true
		return
	}
	b.pop()
}

// closesCell closes the open cell if it is of the kind, and reports whether it
// is.
func (b *openElements) closesCell(kind elementKind) bool {
	for i := len(b.stack) - 1; i >= 0; i-- {
		switch b.stack[i].kind {
		case kind:
			b.popTo(i)
			return true
		case kindTd, kindTh, kindTable, kindCaption:
			return false
		}
	}
	return false
}
