package report

import "github.com/sitelink/sitelink/check"

// openRows is the length up to which the list of broken edges is shown without
// being asked for: the findings should not be pushed far down.
const openRows = 6

// brokenEdges lists the edges with broken links, most first.
func (h *htmlWriter) brokenEdges(secs []check.Section, edges []check.Edge) {
	broken := brokenFirst(edges)
	if len(broken) == 0 {
		return
	}
	if len(broken) <= openRows {
		h.raw("<details open>\n")
	} else {
		h.raw("<details>\n")
	}
	h.raw("<summary>Broken links between sections (")
	h.number(len(broken))
	h.raw(")</summary>\n<table class=\"small\">\n<thead><tr><th scope=\"col\">from</th><th scope=\"col\">to</th><th scope=\"col\" class=\"num\">broken</th><th scope=\"col\" class=\"num\">of links</th></tr></thead>\n<tbody>\n")
	for _, e := range broken {
		h.raw(`<tr><td class="mono">`)
		h.value(secs[e.From].Name)
		h.raw(`</td><td class="mono">`)
		h.value(secs[e.To].Name)
		h.raw(`</td><td class="num error">`)
		h.number(e.Broken)
		h.raw(`</td><td class="num">`)
		h.number(e.Links)
		h.raw("</td></tr>\n")
	}
	h.raw("</tbody>\n</table>\n</details>\n")
}

// sectionTable lists every section with what it holds, and the links in it,
// from it and to it.
func (h *htmlWriter) sectionTable(secs []check.Section, edges []check.Edge) {
	type counts struct{ within, out, in, brokenOut, brokenIn int }
	of := make([]counts, len(secs))
	for _, e := range edges {
		of[e.From].brokenOut += e.Broken
		of[e.To].brokenIn += e.Broken
		if e.From == e.To {
			of[e.From].within += e.Links
			continue
		}
		of[e.From].out += e.Links
		of[e.To].in += e.Links
	}
	h.raw("<details>\n<summary>Links of every section</summary>\n<table class=\"small\">\n<thead><tr><th scope=\"col\">section</th>")
	for _, name := range []string{"pages", "files", "links inside", "links to others", "links from others", "broken here", "broken to here"} {
		h.raw(`<th scope="col" class="num">` + name + `</th>`)
	}
	h.raw("</tr></thead>\n<tbody>\n")
	for i, s := range secs {
		h.raw(`<tr><th scope="row" class="mono">`)
		h.value(s.Name)
		h.raw(`</th>`)
		c := of[i]
		for _, n := range []int{s.Pages, s.Files, c.within, c.out, c.in} {
			h.raw(`<td class="num">`)
			h.number(n)
			h.raw(`</td>`)
		}
		for _, n := range []int{c.brokenOut, c.brokenIn} {
			if n > 0 {
				h.raw(`<td class="num error">`)
			} else {
				h.raw(`<td class="num">`)
			}
			h.number(n)
			h.raw(`</td>`)
		}
		h.raw("</tr>\n")
	}
	h.raw("</tbody>\n</table>\n</details>\n")
}
