package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/sitelink/sitelink/check"
)

// The picture of the sections: a ring of circles with their names outside, and
// arcs between them for the links. Units are those of the viewBox.
const (
	mapWidth, mapHeight = 720.0, 430.0
	ringX, ringY        = 190.0, 165.0
	dotMin, dotMax      = 4.0, 15.0
	ringGap             = 3.5 // between a circle and the ring around it
	labelRunes          = 26
	// mapLabels is how many edges show their number of broken links. More would
	// overlap.
	mapLabels = 8
	// mapSections is how many sections are drawn. The table lists all.
	mapSections = 40
)

// point is a position in the picture.
type point struct{ x, y float64 }

// sections draws the sections with the broken links between them, and lists the
// same in tables for those who cannot see the picture.
func (h *htmlWriter) sections() {
	secs := h.opt.Extras.Sections
	if len(secs) == 0 {
		return
	}
	edges := slices.DeleteFunc(slices.Clone(h.opt.Extras.Edges), func(e check.Edge) bool { return !inside(e, len(secs)) })
	h.raw("<section class=\"map\" aria-labelledby=\"map-title\">\n<h2 id=\"map-title\">Sections</h2>\n")
	if n := min(len(secs), mapSections); n > 1 {
		h.picture(secs[:n], slices.DeleteFunc(slices.Clone(edges), func(e check.Edge) bool { return !inside(e, n) }))
	}
	h.edgeTable(secs, edges)
	h.sectionTable(secs, edges)
	h.raw("</section>\n")
}

func inside(e check.Edge, n int) bool { return 0 <= e.From && e.From < n && 0 <= e.To && e.To < n }

func (h *htmlWriter) picture(secs []check.Section, edges []check.Edge) {
	h.raw(`<svg class="ring" viewBox="0 0 720 430" role="img" aria-label="`)
	h.count(len(secs), "section")
	h.raw(` of the site and the links between them; the tables below have the same data">` + "\n")
	h.raw(`<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>` + "\n")
	at := make([]point, len(secs))
	radius := make([]float64, len(secs))
	most := 1
	for _, s := range secs {
		most = max(most, s.Pages)
	}
	for i, s := range secs {
		angle := 2*math.Pi*float64(i)/float64(len(secs)) - math.Pi/2
		at[i] = point{mapWidth/2 + ringX*math.Cos(angle), mapHeight/2 + ringY*math.Sin(angle)}
		radius[i] = dotMin + (dotMax-dotMin)*math.Sqrt(float64(max(0, s.Pages))/float64(most))
	}
	heaviest := 1
	for _, e := range edges {
		heaviest = max(heaviest, e.Links)
	}
	for _, e := range edges { // first, so that they never cover broken ones
		if e.From != e.To && e.Links > e.Broken {
			h.arc("edge", arcOf(at, radius, e), 0.5+2*math.Log1p(float64(e.Links))/math.Log1p(float64(heaviest)), secs, e)
		}
	}
	broken := brokenEdges(edges)
	for _, e := range slices.Backward(broken) { // the worst last, on top
		if e.From != e.To {
			h.arc("edge broken", arcOf(at, radius, e), 1.5+1.5*math.Log1p(float64(e.Broken))/math.Log1p(float64(broken[0].Broken)), secs, e)
		}
	}
	for _, e := range broken {
		if e.From == e.To {
			radius[e.From] += ringGap // makes room before the name
			h.selfRing(at[e.From], radius[e.From], secs, e)
		}
	}
	for i, s := range secs {
		h.dot(at[i], radius[i], s, slices.ContainsFunc(broken, func(e check.Edge) bool { return e.From == i && e.To == i }))
	}
	h.arcLabels(at, radius, broken)
	h.raw("</svg>\n")
	h.raw("<p class=\"legend\">A circle is a section, its size the number of pages. Grey: links between sections. <span class=\"error\">Red, dashed: broken links</span>, from source to target; a red ring: broken links inside the section.</p>\n")
}

// brokenEdges returns the edges with broken links, most broken links first.
func brokenEdges(edges []check.Edge) []check.Edge {
	broken := slices.DeleteFunc(slices.Clone(edges), func(e check.Edge) bool { return e.Broken <= 0 })
	slices.SortStableFunc(broken, func(a, b check.Edge) int {
		return cmp.Or(cmp.Compare(b.Broken, a.Broken), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return broken
}

// arc is a quadratic Bézier curve.
type arc struct{ from, bend, to point }

// arcOf bends an edge towards the centre of the ring and to the left of its
// direction, so that the edge in the other direction is a different curve.
func arcOf(at []point, radius []float64, e check.Edge) arc {
	a, b := at[e.From], at[e.To]
	mid := point{(a.x + b.x) / 2, (a.y + b.y) / 2}
	dx, dy := b.x-a.x, b.y-a.y
	bend := point{
		mid.x + (mapWidth/2-mid.x)*0.55 + dy*0.12,
		mid.y + (mapHeight/2-mid.y)*0.55 - dx*0.12,
	}
	return arc{towards(a, bend, radius[e.From]), bend, towards(b, bend, radius[e.To]+2)}
}

// towards returns the point at a distance from a in the direction of b.
func towards(a, b point, distance float64) point {
	length := math.Hypot(b.x-a.x, b.y-a.y)
	if length < distance || length == 0 {
		return a
	}
	return point{a.x + (b.x-a.x)*distance/length, a.y + (b.y-a.y)*distance/length}
}

// at returns the point of the curve at t, between 0 and 1.
func (c arc) at(t float64) point {
	u := 1 - t
	return point{
		u*u*c.from.x + 2*u*t*c.bend.x + t*t*c.to.x,
		u*u*c.from.y + 2*u*t*c.bend.y + t*t*c.to.y,
	}
}

func (h *htmlWriter) arc(class string, c arc, width float64, secs []check.Section, e check.Edge) {
	h.raw(`<path class="` + class + `" stroke-width="`)
	h.coord(width)
	if e.Broken > 0 && class != "edge" {
		h.raw(`" marker-end="url(#tip)`)
	}
	h.raw(`" d="M`)
	h.point(c.from)
	h.raw("Q")
	h.point(c.bend)
	h.raw(" ")
	h.point(c.to)
	h.raw(`"><title>`)
	h.edgeTitle(secs, e)
	h.raw("</title></path>\n")
}

func (h *htmlWriter) edgeTitle(secs []check.Section, e check.Edge) {
	h.value(secs[e.From].Name)
	h.raw(" → ")
	h.value(secs[e.To].Name)
	h.raw(": ")
	h.count(e.Links, "link")
	h.raw(", ")
	h.number(e.Broken)
	h.raw(" broken")
}

// dot draws a section with its name on the side away from the centre.
func (h *htmlWriter) dot(p point, radius float64, s check.Section, ringed bool) {
	circle := radius
	if ringed {
		circle -= ringGap
	}
	class := "dot"
	if s.Files == 0 && s.Pages == 0 {
		class = "dot none"
	}
	h.raw(`<circle class="` + class + `" cx="`)
	h.coord(p.x)
	h.raw(`" cy="`)
	h.coord(p.y)
	h.raw(`" r="`)
	h.coord(circle)
	h.raw(`"><title>`)
	h.value(s.Name)
	h.raw(": ")
	h.count(s.Pages, "page")
	h.raw(", ")
	h.count(s.Files, "file")
	h.raw("</title></circle>\n")

	anchor, x, y := "start", p.x+radius+6, p.y+4
	switch dx := p.x - mapWidth/2; {
	case math.Abs(dx) < 20:
		anchor, x, y = "middle", p.x, p.y-radius-9
		if p.y > mapHeight/2 {
			y = p.y + radius + 19
		}
	case dx < 0:
		anchor, x = "end", p.x-radius-6
	}
	h.raw(`<text text-anchor="` + anchor + `" x="`)
	h.coord(x)
	h.raw(`" y="`)
	h.coord(y)
	h.raw(`">`)
	h.value(clipRunes(s.Name, labelRunes))
	h.raw("</text>\n")
}

// clipRunes shortens a long path to its end, which is different from that of
// its neighbours.
func clipRunes(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	return "…" + string(r[len(r)-limit+1:])
}

// selfRing marks a section with broken links inside it.
func (h *htmlWriter) selfRing(p point, radius float64, secs []check.Section, e check.Edge) {
	h.raw(`<circle class="self" cx="`)
	h.coord(p.x)
	h.raw(`" cy="`)
	h.coord(p.y)
	h.raw(`" r="`)
	h.coord(radius)
	h.raw(`"><title>`)
	h.edgeTitle(secs, e)
	h.raw("</title></circle>\n")
}

// arcLabels writes the numbers of broken links on their arcs, the largest
// first, each where it covers no other number. If there is no such position, it
// is left out.
func (h *htmlWriter) arcLabels(at []point, radius []float64, broken []check.Edge) {
	var taken []point
	for _, e := range broken {
		if e.From == e.To || len(taken) == mapLabels {
			continue
		}
		c := arcOf(at, radius, e)
		for _, t := range []float64{0.5, 0.4, 0.6, 0.3, 0.7, 0.2} {
			p := c.at(t)
			if slices.ContainsFunc(taken, func(q point) bool { return math.Abs(p.x-q.x) < 40 && math.Abs(p.y-q.y) < 16 }) {
				continue
			}
			taken = append(taken, p)
			h.raw(`<text class="n" text-anchor="middle" x="`)
			h.coord(p.x)
			h.raw(`" y="`)
			h.coord(p.y + 4)
			h.raw(`">`)
			h.number(e.Broken)
			h.raw("</text>\n")
			break
		}
	}
}

func (h *htmlWriter) point(p point) {
	h.coord(p.x)
	h.raw(" ")
	h.coord(p.y)
}

// coord appends a length with one decimal. That is precise enough, and the same
// on machines whose floating point differs in the last bit.
func (h *htmlWriter) coord(v float64) {
	h.buf = strconv.AppendFloat(h.buf, math.Round(v*10)/10+0, 'f', -1, 64)
}

// openRows is the number of broken edges up to which the list is open. A longer
// list would push the findings far down.
const openRows = 6

// edgeTable lists the edges with broken links.
func (h *htmlWriter) edgeTable(secs []check.Section, edges []check.Edge) {
	broken := brokenEdges(edges)
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

// sectionTable lists all sections with their pages and files, and the links in,
// from and to each of them.
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
