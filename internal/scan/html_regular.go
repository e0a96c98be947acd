package scan

import "github.com/sitelink/sitelink/internal/scan/ascii"

// regularity follows just enough of tree construction (HTML 13.2.6) to tell
// whether every start tag of the page becomes an element, and in which
// namespace. As soon as it cannot tell, the page is irregular and the slow
// path decides. It must never be wrong the other way: FuzzPage holds it
// against x/net/html.
type regularity struct {
	irregular bool
	// tables holds, for each open table, whether the last table tag of it
	// opened a cell or caption: only there may another table begin.
	tables []bool
	// foreign holds the names of the open elements of an svg or math subtree.
	foreign []foreignElement
	// templates holds, for each open template, the number of tables open
	// outside of it.
	templates []int
	form      bool // a form is open
	sel       bool // a select is open
	noscript  bool
	head      bool // a head tag was seen
	body      bool // a body tag was seen
	html      bool // an html tag was seen
	started   bool // a start tag other than html was seen
}

type foreignElement struct {
	name       Span
	ns         Namespace
	integrates bool // HTML may stand inside
}

func (r *regularity) reset() {
	*r = regularity{tables: r.tables[:0], foreign: r.foreign[:0], templates: r.templates[:0]}
}

func (r *regularity) inert() bool { return len(r.templates) > 0 }

// plain tells whether every start tag becomes an element here that counts.
func (r *regularity) plain() bool { return !r.sel && len(r.foreign)+len(r.templates) == 0 }

// start notes a start tag in HTML content.
func (r *regularity) start(t Tag, attrs *AttrSet) {
	if r.inert() {
		// What stands in a template defines nothing, so only the template's
		// end must be found.
		switch t {
		case TagTemplate:
			r.templates = append(r.templates, len(r.tables))
		case TagSelect, TagFrameset, TagCol, TagColgroup:
			r.irregular = true
		}
		return
	}
	if r.sel {
		r.irregular = true
		return
	}
	switch t {
	case TagTable:
		if n := len(r.tables); n > 0 && !r.tables[n-1] {
			r.irregular = true
		}
		r.tables = append(r.tables, false)
	case TagTd, TagTh, TagCaption:
		if n := len(r.tables); n > 0 {
			r.tables[n-1] = true
		} else {
			r.irregular = true
		}
	case TagTr, TagTbody, TagThead, TagTfoot, TagCol, TagColgroup:
		if n := len(r.tables); n > 0 {
			r.tables[n-1] = false
		} else {
			r.irregular = true
		}
	case TagForm:
		if r.form {
			r.irregular = true
		}
		r.form = true
	case TagSelect:
		r.sel = true
	case TagTemplate:
		r.templates = append(r.templates, len(r.tables))
	case TagFrame, TagFrameset:
		r.irregular = true
	case TagNoscript:
		if r.noscript {
			r.irregular = true
		}
		r.noscript = true
	case TagHead:
		if r.started && attrs.Seen != 0 {
			r.irregular = true
		}
	case TagBody:
		if r.body && attrs.Seen != 0 {
			r.irregular = true
		}
		r.body = true
	case TagHTML:
		if r.html && attrs.Seen != 0 {
			r.irregular = true
		}
		r.html = true
		return
	}
	r.started = true
}

// end notes an end tag in HTML content.
func (r *regularity) end(t Tag) {
	if t == TagTemplate {
		if n := len(r.templates); n > 0 {
			r.tables = r.tables[:r.templates[n-1]]
			r.templates = r.templates[:n-1]
		}
		return
	}
	if r.inert() {
		return
	}
	switch t {
	case TagSelect:
		r.sel = false
	case TagForm:
		r.form = false
	case TagNoscript:
		r.noscript = false
	case TagTable:
		if r.sel {
			r.irregular = true
		}
		if n := len(r.tables); n > 0 {
			r.tables = r.tables[:n-1]
		}
	case TagTd, TagTh, TagCaption, TagTr, TagTbody, TagThead, TagTfoot, TagCol, TagColgroup:
		if r.sel {
			r.irregular = true
		}
		if n := len(r.tables); n > 0 {
			r.tables[n-1] = false
		}
	}
}

// enterForeign notes <svg> or <math> in HTML content.
func (r *regularity) enterForeign(name Span, ns Namespace) {
	r.foreign = append(r.foreign, foreignElement{name: name, ns: ns})
}

// startForeign notes a start tag inside svg or math.
func (r *regularity) startForeign(text []byte, name Span, selfClosing bool) {
	top := r.foreign[len(r.foreign)-1]
	b := text[name.Start:name.End]
	if top.integrates || breaksOut(b) {
		r.irregular = true
		return
	}
	if selfClosing {
		return
	}
	e := foreignElement{name: name, ns: top.ns}
	if top.ns == SVG {
		e.integrates = ascii.EqualFold(b, "title") || ascii.EqualFold(b, "desc") || ascii.EqualFold(b, "foreignobject")
	} else {
		switch {
		case ascii.EqualFold(b, "mi"), ascii.EqualFold(b, "mo"), ascii.EqualFold(b, "mn"), ascii.EqualFold(b, "ms"), ascii.EqualFold(b, "mtext"):
			e.integrates = true
		case ascii.EqualFold(b, "annotation-xml"):
			r.irregular = true
		}
	}
	r.foreign = append(r.foreign, e)
}

// endForeign notes an end tag inside svg or math.
func (r *regularity) endForeign(text []byte, name Span) {
	n := len(r.foreign) - 1
	top := r.foreign[n].name
	if !equalFold(text[top.Start:top.End], text[name.Start:name.End]) {
		r.irregular = true
		return
	}
	r.foreign = r.foreign[:n]
}

func equalFold(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		if Class[x]&ClassLetter != 0 {
			x |= 0x20
		}
		if Class[y]&ClassLetter != 0 {
			y |= 0x20
		}
		if x != y {
			return false
		}
	}
	return true
}

// breaksOut tells whether an HTML element of this name ends an svg or math
// subtree (HTML 13.2.6.5). font does so only with some attributes; it counts
// here because the page is then judged by the slow path, which knows.
func breaksOut(name []byte) bool {
	if len(name) > len("blockquote") {
		return false
	}
	var buf [len("blockquote")]byte
	for i, c := range name {
		if Class[c]&ClassLetter != 0 {
			c |= 0x20
		}
		buf[i] = c
	}
	return breakoutNames[string(buf[:len(name)])]
}

var breakoutNames = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range []string{"b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt",
		"em", "embed", "font", "h1", "h2", "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu",
		"meta", "nobr", "ol", "p", "pre", "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table",
		"tt", "u", "ul", "var"} {
		m[n] = true
	}
	return m
}()
