package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/check"
)

// Extras are what a report can show besides the result. The zero value leaves
// all of it out.
type Extras struct {
	// Orphans are docroot-relative paths that no link leads to, sorted; nil if
	// they were not looked for, empty if there are none.
	Orphans []string
	// Unreachable are pages that visitors cannot reach from the start pages
	// although links lead to them, sorted; nil if they were not looked for.
	Unreachable []string
	// Sections and Edges are the result of [check.Sections]. The report draws
	// them.
	Sections []check.Section
	Edges    []check.Edge
}

// Bounds of the HTML report without JavaScript, which has the summary and the
// start of each list: rows, and bytes of a value.
const (
	htmlStaticRows = 500
	htmlValueBytes = 1000
)

//go:embed html/page.html
var htmlPage string

//go:embed html/report.css
var htmlStyle string

//go:embed html/report.js
var htmlScript string

// htmlParts returns html/page.html cut at its slots, <!-- slot NAME -->: text
// and names in turn.
var htmlParts = sync.OnceValue(func() (parts []string) {
	rest := htmlPage
	for {
		text, after, ok := strings.Cut(rest, "<!-- slot ")
		parts = append(parts, text)
		if !ok {
			return parts
		}
		name, tail, _ := strings.Cut(after, " -->")
		parts = append(parts, name)
		rest = tail
	}
})

// htmlPolicy returns a content security policy that allows the style sheet and
// the script of the report, by their hashes, and nothing else: no request, no
// form, no base. Text of the site could not run even if an escape were missing.
//
// Spec: https://www.w3.org/TR/CSP3/
var htmlPolicy = sync.OnceValue(func() string {
	return "default-src 'none'; script-src " + cspHash(htmlScript) + "; style-src " + cspHash(htmlStyle) + "; base-uri 'none'; form-action 'none'"
})

func cspHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// HTML writes r as one self-contained page. It needs neither network nor
// server. Without JavaScript it shows the first findings; with JavaScript its
// tables sort, filter and search all of them.
//
// Text of the site is escaped text, or a string in a JSON block that the script
// puts into text nodes. Invisible characters and those that change the
// direction are quoted as in [Text]. Besides r, the memory is 12 bytes for
// each finding, and an entry for each cause and each distinct value. The only errors are those of w,
// wrapped.
func HTML(w io.Writer, r *check.Result, opt Options) error {
	h := &htmlWriter{sink: sink{w: w}, r: r, opt: opt, causeList: check.Causes(r.Findings)}
	for i, part := range htmlParts() {
		if i%2 == 0 {
			h.raw(part)
		} else {
			h.slot(part)
		}
		if err := h.drain(); err != nil {
			return err
		}
	}
	return h.flush()
}

// htmlWriter is the state of one call of [HTML].
type htmlWriter struct {
	sink
	r       *check.Result
	opt     Options
	scratch []byte
	ids     []uint32
	seen    map[[2]string]uint32
	// causeList are the causes of the findings.
	causeList []check.Cause
}

// slot writes the content of a slot of the page.
func (h *htmlWriter) slot(name string) {
	switch name {
	case "policy":
		h.text(htmlPolicy())
	case "style":
		h.raw(htmlStyle)
	case "script":
		h.raw(htmlScript)
	case "docroot":
		h.value(h.r.Summary.Docroot)
	case "headline":
		h.headline()
	case "facts":
		h.facts()
	case "reasons":
		h.reasons()
	case "sections":
		h.sections()
	case "rows":
		h.staticRows()
	case "lists":
		h.staticLists()
	case "note":
		h.staticNote()
	case "data":
		h.data()
	case "version":
		h.raw("sitelink")
		if h.opt.Version != "" {
			h.raw(" ")
			h.value(h.opt.Version)
		}
	default:
		panic("html/page.html has an unknown slot " + name)
	}
}

// raw appends our own markup.
func (h *htmlWriter) raw(markup string) { h.buf = append(h.buf, markup...) }

// text appends s as text or as the value of a quoted attribute.
func (h *htmlWriter) text(s string) { h.buf = appendEscaped(h.buf, s) }

// value appends a string of the site, quoted, cut and escaped.
func (h *htmlWriter) value(s string) {
	h.scratch = appendCut(h.scratch[:0], s, htmlValueBytes)
	h.buf = appendEscaped(h.buf, string(h.scratch))
}

// number appends n with thousands separators.
func (h *htmlWriter) number(n int) { h.buf = appendThousands(h.buf, n) }

// count appends n and the noun in singular or plural.
func (h *htmlWriter) count(n int, noun string) { h.buf = appendCount(h.buf, n, noun) }

// appendEscaped appends s so that it is text in HTML text and in quoted
// attribute values.
//
// Spec: https://html.spec.whatwg.org/multipage/parsing.html#escapingString
func appendEscaped(dst []byte, s string) []byte {
	for {
		i := strings.IndexAny(s, `&<>"'`)
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		switch s[i] {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '"':
			dst = append(dst, "&#34;"...)
		case '\'':
			dst = append(dst, "&#39;"...)
		}
		s = s[i+1:]
	}
}

// staticRows writes the first findings as rows of the table. The script makes
// the same cells (function findingCells in html/report.js) and replaces them.
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
		h.position(s.File, s.Line, s.Column)
		h.raw(`<span class="sub">`)
		if words := sourceDescription(f); words != "" {
			h.value(words)
			h.raw(", ")
		}
		h.raw("built: ")
		h.position(f.Page, f.Line, f.Column)
		h.raw(`</span>`)
	} else {
		h.position(f.Page, f.Line, f.Column)
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
		before, after := suggestionWords(f)
		h.raw(`<span class="hint">` + before + `<b>`)
		h.value(f.Suggestion)
		h.raw(`</b>` + after + `</span>`)
	}
	if f.Related != nil {
		h.raw(`<span class="sub">`)
		h.value(relatedOf(f))
		h.raw(`</span>`)
	}
	h.raw("</td></tr>\n")
}

// position writes file:line:column, as far as they are known.
func (h *htmlWriter) position(file string, line, column int) {
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

// staticNote writes what is missing without JavaScript.
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

// staticLists writes the start of the lists of files.
func (h *htmlWriter) staticLists() {
	h.staticList("Orphans", "No link leads to these files.", h.opt.Extras.Orphans)
	h.staticList("Unreachable pages", "Links lead to these pages, but visitors cannot reach them from the start pages.", h.opt.Extras.Unreachable)
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
