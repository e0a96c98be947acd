package report

import (
	"strconv"

	"github.com/sitelink/sitelink/check"
)

// staticRows writes the first findings as rows of the table. The script makes
// the same cells (function findingCells in html/report.js), and puts its own
// in their place.
func (h *htmlWriter) staticRows() {
	if len(h.r.Findings) == 0 {
		h.raw("<tr role=\"row\"><td role=\"cell\" class=\"sub\" colspan=\"5\">Nothing to list.</td></tr>\n")
	}
	for i := range h.r.Findings[:min(len(h.r.Findings), htmlStaticRows)] {
		h.row(&h.r.Findings[i])
		if h.drain() != nil {
			return
		}
	}
}

func (h *htmlWriter) row(f *check.Finding) {
	verdict := f.Verdict.String()
	h.raw(`<tr role="row"><td role="cell" class="kind"><span class="` + verdict + `">` + verdict + `</span> <span class="code">`)
	h.value(string(f.Code))
	h.raw(`</span>`)
	if f.Count > 1 {
		h.raw(` <span class="sub">`)
		h.count(f.Count, "link")
		h.raw(`</span>`)
	}
	h.raw(`</td><td role="cell" class="mono">`)
	if s := f.Source; s != nil {
		h.place(s.File, s.Line, s.Column)
		h.raw(`<span class="sub">built: `)
		h.place(f.Page, f.Line, f.Column)
		h.raw(`</span>`)
	} else {
		h.place(f.Page, f.Line, f.Column)
	}
	h.raw(`</td><td role="cell" class="mono">`)
	h.value(f.Raw)
	if f.Element != "" {
		h.raw(`<span class="sub">`)
		h.scratch = showPlace(h.scratch[:0], f.Element, f.Attribute)
		h.text(string(h.scratch))
		h.raw(`</span>`)
	}
	h.raw(`</td><td role="cell" class="mono target">`)
	h.scratch = showTarget(h.scratch[:0], f.Target, f.Fragment)
	h.text(string(h.scratch))
	if f.Final != "" {
		h.raw(`<span class="sub">answered by `)
		h.value(f.Final)
		h.raw(`</span>`)
	}
	h.raw(`</td><td role="cell">`)
	h.value(f.Message)
	if f.Suggestion != "" {
		before, after := hint(f)
		h.raw(`<span class="hint">` + before + `<b>`)
		h.value(f.Suggestion)
		h.raw(`</b>` + after + `</span>`)
	}
	h.raw("</td></tr>\n")
}

// place writes file:line:column, as far as it is known.
func (h *htmlWriter) place(file string, line, column int) {
	h.value(file)
	if line <= 0 {
		return
	}
	h.raw(`<span class="pos">:`)
	h.buf = strconv.AppendInt(h.buf, int64(line), 10)
	if column > 0 {
		h.raw(":")
		h.buf = strconv.AppendInt(h.buf, int64(column), 10)
	}
	h.raw(`</span>`)
}

// staticNote says what a reader without JavaScript misses.
func (h *htmlWriter) staticNote() {
	n := len(h.r.Findings)
	if n > htmlStaticRows {
		h.raw("These are the first ")
		h.number(htmlStaticRows)
		h.raw(" of ")
		h.count(n, "finding")
		h.raw(". ")
	}
	if n > 0 {
		h.raw("With JavaScript, this table sorts, filters and searches all of them.")
	}
}

// staticLists writes the beginning of the lists of files.
func (h *htmlWriter) staticLists() {
	h.staticList("Orphans", "No link leads to these files.", h.opt.Extras.Orphans)
	h.staticList("Unreachable pages", "Links lead to these pages, but no way from the start.", h.opt.Extras.Unreachable)
}

func (h *htmlWriter) staticList(title, meaning string, paths []string) {
	if len(paths) == 0 {
		return
	}
	h.raw("<h2>" + title + "</h2>\n<p>" + meaning)
	if len(paths) > htmlStaticRows {
		h.raw(" The first ")
		h.number(htmlStaticRows)
		h.raw(" of ")
		h.number(len(paths))
		h.raw(":")
	}
	h.raw("</p>\n<ul class=\"mono\">\n")
	for _, p := range paths[:min(len(paths), htmlStaticRows)] {
		h.raw("<li>")
		h.value(p)
		h.raw("</li>\n")
	}
	h.raw("</ul>\n")
}
