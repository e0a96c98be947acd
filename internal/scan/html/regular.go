package html

import (
	"github.com/sitelink/sitelink/internal/scan"
)

// regularity follows just enough of tree construction (HTML 13.2.6) to know
// whether every start tag of the page becomes an element, and in which
// namespace. As soon as it does not know, the page is irregular and the slow
// path decides. It must never take an irregular page for a regular one:
// FuzzPage compares it with x/net/html.
type regularity struct {
	irregular bool
	// loose means that the page is irregular and has no slow path. In doubt svg
	// and math end.
	loose bool
	// tables holds for each open table whether its last tag startElement a cell or a
	// caption. Only there may another table begin.
	tables []bool
	// foreign holds the open elements of an svg or math subtree.
	foreign []foreignElement
	// templates holds for each open template the number of tables that are open
	// outside it.
	templates []int
	form      bool // a form is open
	sel       bool // a select is open
	noscript  bool
	head      bool // there was a head tag
	body      bool // there was a body tag
	html      bool // there was an html tag
	started   bool // there was a start tag other than html
}

type foreignElement struct {
	name       scan.Span
	ns         Namespace
	integrates bool // the element may contain HTML
}

func (r *regularity) reset() {
	*r = regularity{tables: r.tables[:0], foreign: r.foreign[:0], templates: r.templates[:0]}
}

func (r *regularity) inert() bool { return len(r.templates) > 0 }

// plain reports whether every start tag here becomes an element that counts.
func (r *regularity) plain() bool { return !r.sel && len(r.foreign)+len(r.templates) == 0 }

// start records a start tag in HTML content.
func (r *regularity) start(t scan.Tag, attrs *scan.AttrSet) {
	if r.inert() {
		// Elements in a template define nothing, so only the end of the
		// template matters.
		switch t {
		case scan.TagTemplate:
			r.templates = append(r.templates, len(r.tables))
		case scan.TagSelect, scan.TagFrameset, scan.TagCol, scan.TagColgroup:
			r.irregular = true
		}
		return
	}
	if r.sel {
		r.irregular = true
		return
	}
	switch t {
	case scan.TagTable:
		if n := len(r.tables); n > 0 && !r.tables[n-1] {
			r.irregular = true
		}
		r.tables = append(r.tables, false)
	case scan.TagTd, scan.TagTh, scan.TagCaption:
		if n := len(r.tables); n > 0 {
			r.tables[n-1] = true
		} else {
			r.irregular = true
		}
	case scan.TagTr, scan.TagTbody, scan.TagThead, scan.TagTfoot, scan.TagCol, scan.TagColgroup:
		if n := len(r.tables); n > 0 {
			r.tables[n-1] = false
		} else {
			r.irregular = true
		}
	case scan.TagForm:
		if r.form {
			r.irregular = true
		}
		r.form = true
	case scan.TagSelect:
		r.sel = true
	case scan.TagTemplate:
		if attrs.Has(scan.AttrShadowrootmode) {
			r.irregular = true // whether it is a shadow root depends on its parent
			if r.loose {
				return
			}
		}
		r.templates = append(r.templates, len(r.tables))
	case scan.TagFrame, scan.TagFrameset:
		r.irregular = true
	case scan.TagNoscript:
		if r.noscript {
			r.irregular = true
		}
		r.noscript = true
	case scan.TagHead:
		if r.started && attrs.Seen != 0 {
			r.irregular = true
		}
	case scan.TagBody:
		if r.body && attrs.Seen != 0 {
			r.irregular = true
		}
		r.body = true
	case scan.TagHTML:
		if r.html && attrs.Seen != 0 {
			r.irregular = true
		}
		r.html = true
		return
	}
	r.started = true
}

// end records an end tag in HTML content.
func (r *regularity) end(t scan.Tag) {
	if t == scan.TagTemplate {
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
	case scan.TagSelect:
		r.sel = false
	case scan.TagForm:
		r.form = false
	case scan.TagNoscript:
		r.noscript = false
	case scan.TagTable:
		if r.sel {
			r.irregular = true
		}
		if n := len(r.tables); n > 0 {
			r.tables = r.tables[:n-1]
		}
	case scan.TagTd, scan.TagTh, scan.TagCaption, scan.TagTr, scan.TagTbody, scan.TagThead, scan.TagTfoot, scan.TagCol, scan.TagColgroup:
		if r.sel {
			r.irregular = true
		}
		if n := len(r.tables); n > 0 {
			r.tables[n-1] = false
		}
	}
}

// enterForeign records <svg> or <math> in HTML content.
func (r *regularity) enterForeign(name scan.Span, ns Namespace) {
	r.foreign = append(r.foreign, foreignElement{name: name, ns: ns})
}

// startForeign records a start tag inside svg or math.
func (r *regularity) startForeign(text []byte, name scan.Span, selfClosing bool) {
	top := r.foreign[len(r.foreign)-1]
	b := text[name.Start:name.End]
	if top.integrates || scan.BreaksOut(b) {
		r.doubtForeign()
		return
	}
	if selfClosing {
		return
	}
	e := foreignElement{name: name, ns: top.ns}
	if top.ns == SVG {
		e.integrates = scan.EqualFold(b, "title") || scan.EqualFold(b, "desc") || scan.EqualFold(b, "foreignobject")
	} else {
		switch {
		case scan.EqualFold(b, "mi"), scan.EqualFold(b, "mo"), scan.EqualFold(b, "mn"), scan.EqualFold(b, "ms"), scan.EqualFold(b, "mtext"):
			e.integrates = true
		case scan.EqualFold(b, "annotation-xml"):
			r.irregular = true
		}
	}
	r.foreign = append(r.foreign, e)
}

// endForeign records an end tag inside svg or math.
func (r *regularity) endForeign(text []byte, name scan.Span) {
	n := len(r.foreign) - 1
	top := r.foreign[n].name
	if !scan.EqualFoldBytes(text[top.Start:top.End], text[name.Start:name.End]) {
		r.doubtForeign()
		return
	}
	r.foreign = r.foreign[:n]
}

// doubtForeign records that the page is irregular inside svg or math.
func (r *regularity) doubtForeign() {
	r.irregular = true
	if r.loose {
		r.foreign = r.foreign[:0]
	}
}
