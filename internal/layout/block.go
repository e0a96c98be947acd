package layout

// skipDefine returns the offset behind the end that matches a define.
func (l Language) skipDefine(src []byte, offset int) int {
	_, after := l.defineEnd(src, offset)
	return after
}

// defineEnd returns where the inside of a define ends, and where its end does.
func (l Language) defineEnd(src []byte, offset int) (end, after int) {
	for depth := 1; offset < len(src); {
		seg := l.next(src, offset, true)
		offset = seg.end
		if !seg.isAction || seg.code == "" {
			continue
		}
		switch l.action(seg.code).kind {
		case opens, rebinds, guards, blocks, defines:
			depth++
		case closes:
			if depth--; depth == 0 {
				return seg.start, seg.end
			}
		}
	}
	return len(src), len(src)
}

// IsEmpty tells whether a template writes nothing: it holds white space and
// comments, of the template's language or of HTML, alone.
func IsEmpty(s Source) bool {
	w := &walker{doc: &Doc{}, load: func(string, string) (Source, bool) { return Source{}, false }}
	for i := 0; i < len(s.Text); {
		seg := s.Lang.next(s.Text, i, true)
		i = seg.end
		if seg.isAction && seg.code != "" {
			return false
		}
		if !seg.isAction {
			empty := true
			w.html.feed(s.Text[seg.start:seg.end], Pos{s.File, seg.start}, func(g tag) { empty = false }, func(Pos) { empty = false })
			if !empty {
				return false
			}
		}
	}
	return w.html.state == inText
}

// Block returns the offsets of the inside of the first block of that name.
func (l Language) Block(src []byte, name string) (start, end int, ok bool) {
	for i := 0; i < len(src); {
		seg := l.next(src, i, true)
		i = seg.end
		if !seg.isAction || seg.code == "" {
			continue
		}
		if a := l.action(seg.code); a.kind == blocks && a.name == name {
			end, _ := l.defineEnd(src, i)
			return i, end, true
		}
	}
	return 0, 0, false
}
