package scan

// inForeign tells whether the current node belongs to svg or math.
func (b *Outliner) inForeign() bool {
	return len(b.stack) > 0 && b.stack[len(b.stack)-1].foreign
}

// startForeign handles a start tag in svg or math (HTML 13.2.6.5).
func (b *Outliner) startForeign(n outlineNode, closing bool) {
	name := b.text[n.span.start:n.span.end]
	if b.stack[len(b.stack)-1].integrates || breaksOut(name) || foldEqual(name, "annotation-xml") {
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
		top.integrates = top.integrates || foldEqual(name, in)
	}
}

// endForeign handles an end tag in svg or math.
func (b *Outliner) endForeign(name span) {
	if !b.sameName(name) {
		b.unsure = true
		return
	}
	b.pop()
}
