package report

import (
	"strconv"

	"github.com/sitelink/sitelink/check"
)

// headline writes the number of errors and warnings.
func (h *htmlWriter) headline() {
	errors, warnings, links := 0, 0, 0
	for i := range h.r.Findings { // as in text, a finding that represents many links counts once
		f := &h.r.Findings[i]
		switch f.Verdict {
		case check.Error:
			errors++
		case check.Warning:
			warnings++
		}
		links += max(1, f.Count)
	}
	if errors == 0 && warnings == 0 {
		h.raw(`<span class="good">All checked links work.</span>`)
		return
	}
	if errors > 0 {
		h.raw(`<span class="error">`)
		h.count(errors, "error")
		h.raw(`</span>`)
	}
	if warnings > 0 {
		if errors > 0 {
			h.raw(" and ")
		}
		h.raw(`<span class="warning">`)
		h.count(warnings, "warning")
		h.raw(`</span>`)
	}
	if links > errors+warnings {
		h.raw(" on ")
		h.count(links, "link")
	}
	if n := len(h.causeList); n < errors+warnings && !capped(&h.r.Summary) {
		h.raw(" with ")
		h.count(n, "cause")
	}
}

// facts writes the counts of the summary, and a bar of all links.
func (h *htmlWriter) facts() {
	s := &h.r.Summary
	var b check.BaselineSummary
	if s.Baseline != nil {
		b = *s.Baseline
	}
	h.bar()
	h.raw("<dl class=\"facts\">\n")
	for _, f := range []struct {
		name, class string
		n           int
		always      bool
	}{
		{"links", "", s.Links, true},
		{"fine", "ok", s.OK, true},
		{"broken", "error", s.Errors, true},
		{"with a warning", "warning", s.Warnings, false},
		{"not checked", "unchecked", s.Unchecked, true},
		{"ignored by rule", "unchecked", s.Ignored, false},
		{"accepted by the baseline", "unchecked", b.Links, false},
		{"expired in the baseline", "", b.Expired, false},
		{"fine after a redirect of the host", "", s.Redirected, false},
		{"pages", "", s.Pages, true},
		{"files", "", s.Files, true},
		{"anchors", "", s.Anchors, true},
		{"files with an error", "", s.FileErrors, false},
		{"files with a warning", "", s.FileWarnings, false},
		{"faults of files accepted by the baseline", "", b.Faults, false},
	} {
		if f.n == 0 && !f.always {
			continue
		}
		h.raw(`<div><dt>`)
		if f.class != "" {
			h.raw(`<i class="key ` + f.class + `"></i>`)
		}
		h.raw(f.name + `</dt><dd>`)
		h.number(f.n)
		h.raw("</dd></div>\n")
	}
	h.raw(`<div><dt>size of the pages</dt><dd>`)
	h.bytes(s.Bytes)
	h.raw("</dd></div>\n")
	h.raw(`<div><dt>host profile</dt><dd>`)
	h.value(s.Profile)
	if s.ProfileFrom != "" {
		h.raw(`, detected from `)
		h.value(s.ProfileFrom)
	}
	h.raw("</dd></div>\n</dl>\n")
}

// bytes writes a size in a suitable unit, in steps of 1,000.
func (h *htmlWriter) bytes(n int64) {
	for _, u := range []struct {
		size int64
		name string
	}{{1e9, " GB"}, {1e6, " MB"}, {1e3, " kB"}} {
		if n >= u.size {
			h.buf = strconv.AppendFloat(h.buf, float64(n/(u.size/10))/10, 'f', 1, 64)
			h.raw(u.name)
			return
		}
	}
	h.count(int(n), "byte")
}

// barWidth is the width of the bar in units of its viewBox.
const barWidth = 1000

// bar draws the shares of links that are fine, broken, and so on. Even the
// smallest share is visible.
func (h *htmlWriter) bar() {
	s := &h.r.Summary
	unchecked := s.Unchecked + s.Ignored
	if s.Baseline != nil {
		unchecked += s.Baseline.Links
	}
	parts := []struct {
		class string
		n     int
	}{{"ok", s.OK}, {"error", s.Errors}, {"warning", s.Warnings}, {"unchecked", unchecked}}
	total := 0
	for _, p := range parts {
		total += max(0, p.n)
	}
	if total == 0 {
		return
	}
	h.raw(`<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">`)
	x := 0
	for i, p := range parts {
		if p.n <= 0 {
			continue
		}
		width := max(4, int(int64(p.n)*barWidth/int64(total)))
		rest := 0 // the minimum that the following parts need
		for _, q := range parts[i+1:] {
			if q.n > 0 {
				rest += 4
			}
		}
		if rest == 0 || x+width > barWidth-rest {
			width = barWidth - rest - x
		}
		h.raw(`<rect class="` + p.class + `" x="`)
		h.buf = strconv.AppendInt(h.buf, int64(x), 10)
		h.raw(`" width="`)
		h.buf = strconv.AppendInt(h.buf, int64(width), 10)
		h.raw(`" height="10"/>`)
		x += width
	}
	h.raw("</svg>\n")
}

// reasons writes what was not checked and why, and the rules that match
// nothing.
func (h *htmlWriter) reasons() {
	s := &h.r.Summary
	if len(s.Reasons) > 0 {
		h.raw("<h3>Not checked</h3>\n<table class=\"small\" role=\"table\">\n<thead><tr><th scope=\"col\">reason</th><th scope=\"col\" class=\"num\">links</th></tr></thead>\n<tbody>\n")
		for _, r := range s.Reasons {
			h.raw(`<tr><td>`)
			h.value(string(r.Code))
			h.raw(`</td><td class="num">`)
			h.number(r.Count)
			h.raw("</td></tr>\n")
		}
		h.raw("</tbody>\n</table>\n")
	}
	if len(s.Notes) > 0 {
		h.raw("<h3>Notes</h3>\n<ul>\n")
		for _, note := range s.Notes {
			h.raw("<li>")
			h.value(note)
			h.raw("</li>\n")
		}
		h.raw("</ul>\n")
	}
	if len(s.UnusedIgnores) > 0 {
		h.raw("<h3>Ignore rules that match nothing</h3>\n<ul class=\"mono\">\n")
		for _, rule := range s.UnusedIgnores {
			h.raw("<li>")
			h.value(rule)
			h.raw("</li>\n")
		}
		h.raw("</ul>\n")
	}
	h.unneeded(s.Baseline)
}
