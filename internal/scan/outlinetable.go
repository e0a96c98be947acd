package scan

// inTable tells whether the current node is a table or a part of one that
// holds nothing but other parts.
func (b *Outliner) inTable() bool {
	switch b.top() {
	case kindTable, kindTbody, kindThead, kindTfoot, kindTr, kindColgroup:
		return true
	}
	return false
}

// startPart handles the start tag of a part of a table, and whatever stands
// in one outside of its cells (HTML 13.2.6.4.9 to 13.2.6.4.15).
func (b *Outliner) startPart(n outlineNode) {
	if !b.inTable() && !b.closeCell() {
		b.unsure = true
		return
	}
	switch n.kind {
	case kindTbody, kindThead, kindTfoot:
		b.closeParts(kindTable)
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
		// Scripts and styles may stand there, all else is moved before the table.
		if elements[n.kind].rule != ruleMute || n.kind == kindNoscript || b.top() == kindColgroup {
			b.unsure = true
		}
	}
	b.add(n, true)
}

// needSection closes what is open in the table up to tbody and the like,
// and opens a tbody where there is none.
func (b *Outliner) needSection(attr uint32) {
	for b.top() == kindTr || b.top() == kindColgroup {
		b.pop()
	}
	if b.top() == kindTable {
		b.imply(kindTbody, attr)
	}
}

// closeCell closes the cell that is open; false if there is none, or a caption.
func (b *Outliner) closeCell() bool {
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

// closeParts closes rows and sections until the current node is of a kind.
func (b *Outliner) closeParts(kind elementKind) {
	for b.inTable() && b.top() != kind && b.top() != kindTable {
		b.pop()
	}
}

// endPart handles the end tag of a table or a part of one.
func (b *Outliner) endPart(kind elementKind) {
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
		b.closeParts(kind)
	}
	if b.top() != kind {
		b.unsure = true
		return
	}
	b.pop()
}

// closesCell closes the open cell if it is of the kind.
func (b *Outliner) closesCell(kind elementKind) bool {
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
