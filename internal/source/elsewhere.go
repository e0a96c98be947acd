package source

import "slices"

// What speaks for a file beside the text around the link, in bytes of that.
const (
	isIncluded = 24 // the page's own content names it in a shortcode
	isNear     = 8  // the page links to what it makes
)

// fromContent returns the place in the one content file that has the address
// as a destination; of several, the one that has the same text around it.
func (m *Map) fromContent(w *wanted, o open, around surroundings) *Position {
	var hits []hit
	for _, f := range m.forms(o.link) {
		if hits = w.hits[f]; len(hits) > 0 {
			break
		}
	}
	if len(hits) == 0 {
		return o.own
	}
	included := func(h *hit) bool { return o.included[h.shown] }
	near := func(h *hit) bool { return o.near[h.file.key] || o.own != nil && o.own.File == h.shown }
	h := closest(hits, around, func(h *hit) int {
		switch {
		case included(h):
			return isIncluded
		case near(h):
			return isNear
		}
		return 0
	})
	if h != nil {
		return h.position()
	}
	if several(hits) {
		if few := picked(hits, included); len(few) > 0 {
			hits = few
		} else {
			hits = picked(hits, near)
		}
	}
	if len(hits) == 0 || several(hits) {
		return nil
	}
	return hits[min(o.nth, len(hits)-1)].position()
}

// picked returns the hits that a function picks.
func picked(hits []hit, pick func(*hit) bool) (few []hit) {
	for i := range hits {
		if pick(&hits[i]) {
			few = append(few, hits[i])
		}
	}
	return few
}

// several tells whether the hits are in more than one file.
func several(hits []hit) bool {
	return slices.ContainsFunc(hits, func(h hit) bool { return h.shown != hits[0].shown })
}

// closest returns the hit with the most in common with what is around a link,
// nil when no one is ahead. bonus is what else speaks for a hit.
func closest(hits []hit, around surroundings, bonus func(*hit) int) *hit {
	best, most, tie := -1, 0, false
	for i := range hits {
		for _, c := range hits[i].around {
			n := c.likeness(around)
			if n < minAround {
				continue
			}
			switch n += bonus(&hits[i]); {
			case n > most:
				best, most, tie = i, n, false
			case n == most && best != i:
				tie = true
			}
		}
	}
	if best < 0 || tie {
		return nil
	}
	return &hits[best]
}

// destinations keeps the hits in a file that are destinations and no mere text.
func (m *Map) destinations(f contentFile, hits []hit) (kept []hit) {
	d := m.document(f)
	if d == nil {
		return nil
	}
	for _, h := range hits {
		is := slices.ContainsFunc(d.matter, func(v value) bool { return v.at == h.at })
		for _, it := range d.items {
			if it.at == h.at {
				is = true
				if d.plain != nil {
					h.around = append(h.around, d.plain.around(it.order))
				}
			}
		}
		if is {
			kept = append(kept, h)
		}
	}
	return kept
}

// pageText returns what a page shows.
func (m *Map) pageText(name string) *plain {
	p := &plain{}
	if text, err := readFile(m.docroot, name, maxSourcePage); err == nil {
		p.addHTML(0, text)
	}
	return p.built()
}
