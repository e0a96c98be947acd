package report

import (
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/check"
)

// data writes all findings as one JSON object of columns. A column of strings
// has "t", a table of its distinct values in the order of their first
// appearance, and "i", the index of each row's value in the table. A column of
// numbers has only "i". If all rows have the same number, "i" is that number.
// So 100,000 findings take a few megabytes, and a search looks at each distinct
// value once.
func (h *htmlWriter) data() {
	h.raw(`{"rows":`)
	h.buf = strconv.AppendInt(h.buf, int64(len(h.r.Findings)), 10)

	h.strings("page", func(f *check.Finding) (string, string) { return f.Page, "" }, showFirst)
	h.numbers("line", func(f *check.Finding) int { return f.Line })
	h.numbers("column", func(f *check.Finding) int { return f.Column })
	h.strings("place", func(f *check.Finding) (string, string) { return f.Element, f.Attribute }, showPlace)
	h.strings("raw", func(f *check.Finding) (string, string) { return f.Raw, "" }, showFirst)
	h.strings("target", leadsTo, showTarget)
	h.strings("final", func(f *check.Finding) (string, string) { return f.Final, "" }, showFirst)
	h.strings("kind", func(f *check.Finding) (string, string) { return f.Verdict.String(), string(f.Code) }, showPlace)
	h.meanings()
	h.strings("message", func(f *check.Finding) (string, string) { return f.Message, "" }, showFirst)
	h.strings("suggestion", func(f *check.Finding) (string, string) { return f.Suggestion, "" }, showFirst)
	h.numbers("count", func(f *check.Finding) int { return max(1, f.Count) })
	h.strings("source", func(f *check.Finding) (string, string) { return sourceOf(f).File, "" }, showFirst)
	h.numbers("sourceLine", func(f *check.Finding) int { return sourceOf(f).Line })
	h.numbers("sourceColumn", func(f *check.Finding) int { return sourceOf(f).Column })
	h.strings("written", func(f *check.Finding) (string, string) { return sourceDescription(f), "" }, showFirst)
	h.strings("related", func(f *check.Finding) (string, string) { return relatedOf(f), "" }, showFirst)
	h.causes()
	h.list("orphans", h.opt.Extras.Orphans)
	h.list("unreachable", h.opt.Extras.Unreachable)
	h.raw("\n}")
}

// leadsTo returns what findings are grouped by: the target of the link with its
// fragment, the value as written if it leads nowhere, and nothing for a fault
// of a file.
func leadsTo(f *check.Finding) (target, fragment string) {
	if f.Target == "" {
		return f.Raw, ""
	}
	return f.Target, f.Fragment
}

func sourceOf(f *check.Finding) check.Position {
	if f.Source == nil {
		return check.Position{}
	}
	return *f.Source
}

// showFirst, showPlace and showTarget append the display form of a pair of
// strings in a table.
func showFirst(dst []byte, a, _ string) []byte { return appendCut(dst, a, htmlValueBytes) }

func showPlace(dst []byte, a, b string) []byte {
	dst = appendCut(dst, a, htmlValueBytes)
	if b != "" {
		dst = append(dst, ' ')
		dst = appendCut(dst, b, htmlValueBytes)
	}
	return dst
}

func showTarget(dst []byte, target, fragment string) []byte {
	dst = appendCut(dst, target, htmlValueBytes)
	if fragment != "" {
		dst = append(dst, '#')
		dst = appendCut(dst, fragment, htmlValueBytes)
	}
	return dst
}

// strings writes a column of strings. of returns the value of a row as a pair,
// which avoids making a string, and show appends its display form.
func (h *htmlWriter) strings(name string, of func(*check.Finding) (string, string), show func(dst []byte, a, b string) []byte) {
	if h.seen == nil {
		h.seen = map[[2]string]uint32{}
	}
	clear(h.seen)
	h.ids = h.ids[:0]
	h.key(name)
	h.raw(`{"t":[`)
	for i := range h.r.Findings {
		var pair [2]string
		pair[0], pair[1] = of(&h.r.Findings[i])
		id, ok := h.seen[pair]
		if !ok {
			id = uint32(len(h.seen))
			h.seen[pair] = id
			if id > 0 {
				h.raw(",")
			}
			h.scratch = show(h.scratch[:0], pair[0], pair[1])
			h.jsonString(string(h.scratch))
			if h.drain() != nil {
				return
			}
		}
		h.ids = append(h.ids, id)
	}
	h.raw(`],"i":`)
	h.column()
	h.raw("}")
}

// causes writes the column of causes: its table has where each is, the worst
// first.
func (h *htmlWriter) causes() {
	h.key("cause")
	h.raw(`{"t":[`)
	h.ids = append(h.ids[:0], make([]uint32, len(h.r.Findings))...)
	for n := range h.causeList {
		c := &h.causeList[n]
		for _, i := range c.Findings {
			h.ids[i] = uint32(n)
		}
		if n > 0 {
			h.raw(",")
		}
		h.scratch = showCause(h.scratch[:0], &h.r.Findings[c.First])
		h.jsonString(string(h.scratch))
		if h.drain() != nil {
			return
		}
	}
	h.raw(`],"i":`)
	h.column()
	h.raw("}")
}

// showCause appends the position of a cause and the link there.
func showCause(dst []byte, f *check.Finding) []byte {
	file, line, column := f.Page, f.Line, f.Column
	if f.Source != nil {
		file, line, column = f.Source.File, f.Source.Line, f.Source.Column
	}
	dst = appendCut(dst, file, htmlValueBytes)
	dst = appendLineColumn(dst, line, column)
	if f.Element == "" && f.Raw == "" {
		return dst
	}
	return appendWritten(append(dst, ' '), f)
}

// meanings writes what the code means for each entry of the table of kinds,
// which was just written; "" for a code without a rule.
func (h *htmlWriter) meanings() {
	texts := make([]string, len(h.seen))
	for kind, id := range h.seen {
		if i := ruleIndex(check.Code(kind[1])); i >= 0 {
			texts[id] = rules[i].short + " " + rules[i].help
		}
	}
	h.list("meanings", texts)
}

// numbers writes a column of numbers that are not negative.
func (h *htmlWriter) numbers(name string, of func(*check.Finding) int) {
	h.ids = h.ids[:0]
	for i := range h.r.Findings {
		h.ids = append(h.ids, uint32(max(0, of(&h.r.Findings[i]))))
	}
	h.key(name)
	h.raw(`{"i":`)
	h.column()
	h.raw("}")
}

func (h *htmlWriter) key(name string) {
	h.raw(",\n\"" + name + `":`)
}

// column writes h.ids.
func (h *htmlWriter) column() {
	same := true
	for _, id := range h.ids {
		same = same && id == h.ids[0]
	}
	if same {
		first := uint32(0)
		if len(h.ids) > 0 {
			first = h.ids[0]
		}
		h.buf = strconv.AppendUint(h.buf, uint64(first), 10)
		return
	}
	h.raw("[")
	for i, id := range h.ids {
		if i > 0 {
			h.raw(",")
		}
		h.buf = strconv.AppendUint(h.buf, uint64(id), 10)
		if h.drain() != nil {
			return
		}
	}
	h.raw("]")
}

// list writes a list of paths, null if it is nil.
func (h *htmlWriter) list(name string, paths []string) {
	h.key(name)
	if paths == nil {
		h.raw("null")
		return
	}
	h.raw("[")
	for i, p := range paths {
		if i > 0 {
			h.raw(",")
		}
		h.scratch = appendCut(h.scratch[:0], p, htmlValueBytes)
		h.jsonString(string(h.scratch))
		if h.drain() != nil {
			return
		}
	}
	h.raw("]")
}

// jsonString appends s as a JSON string for a script element: it contains
// neither </script nor <!--.
//
// Spec:
// https://html.spec.whatwg.org/multipage/scripting.html#restrictions-for-contents-of-script-elements
func (h *htmlWriter) jsonString(s string) {
	start := len(h.buf)
	h.buf = AppendString(h.buf, s)
	if !strings.ContainsAny(s, "<>&") {
		return
	}
	quoted := string(h.buf[start:])
	h.buf = h.buf[:start]
	for {
		i := strings.IndexAny(quoted, "<>&") // never part of an escape
		if i < 0 {
			h.raw(quoted)
			return
		}
		h.raw(quoted[:i])
		h.raw(`\u00`)
		h.buf = append(h.buf, hexDigits[quoted[i]>>4], hexDigits[quoted[i]&15])
		quoted = quoted[i+1:]
	}
}
