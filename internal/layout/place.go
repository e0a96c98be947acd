package layout

import (
	"cmp"
	"fmt"
	"strings"
)

// Place is where elements can be inserted.
type Place struct {
	Spot
	// After: insert after the tag that ends at the offset; otherwise before the
	// tag that starts there.
	After bool
	// What describes the place in messages: "the charset declaration".
	What string
}

// NoPlaceError means that a page has no place for elements.
type NoPlaceError struct {
	// Reason is a phrase: "two <head>".
	Reason string
	// Spots are the places that the reason refers to.
	Spots []Spot
}

func (e *NoPlaceError) Error() string { return e.Reason }

// MaxOffset is how many bytes of a page a pingback client must read. The elements
// have to end before it (Pingback 1.0, 2.3).
const MaxOffset = 5000

// Built says how many bytes are before places in built pages, at most. 0 means
// not known.
type Built struct{ Charset, HeadEnd int }

// Place chooses where to insert size bytes of elements, in a file for which owned
// returns true: after the charset declaration, or before the end of the head, or
// after its start. The place must be written every time the head is, separately
// for each page, with access to the page, and as far as the templates show within
// the first [MaxOffset] bytes. built has what built pages show. The error is a
// [NoPlaceError].
func (d *Doc) Place(owned func(file string) bool, size int, built Built) (Place, error) {
	if len(d.Heads) > 1 {
		return Place{}, &NoPlaceError{"the page has two <head>", d.Heads}
	}
	var whenever Spot
	switch {
	case len(d.Heads) == 1:
		whenever = d.Heads[0]
	case len(d.HeadEnds) == 1:
		whenever = d.HeadEnds[0]
	case len(d.HeadEnds) > 1:
		return Place{}, &NoPlaceError{"the page has two </head> and no <head>", d.HeadEnds}
	case d.Implied == nil && d.Charset == nil:
		return Place{}, &NoPlaceError{"the page has no head", nil}
	}
	type candidate struct {
		spot  *Spot
		after bool
		what  string
		built int
	}
	var candidates []candidate
	add := func(s *Spot, after bool, what string, built int) {
		if s != nil {
			candidates = append(candidates, candidate{s, after, what, built})
		}
	}
	add(d.Charset, true, "the charset declaration", built.Charset)
	switch {
	case len(d.HeadEnds) == 1 && !d.BodyFirst:
		add(&d.HeadEnds[0], false, "</head>", built.HeadEnd)
	case len(d.Heads) == 0 && len(d.HeadEnds) == 0:
		add(d.Implied, true, "the last element of the head", built.HeadEnd)
	}
	if len(d.Heads) == 1 {
		add(&d.Heads[0], true, "<head>", 0)
	}
	var reasons []string
	var spots []Spot
	for _, c := range candidates {
		why := ""
		switch {
		case !owned(c.spot.File):
			why = "belongs to the theme"
		case !c.spot.Always(whenever):
			why = "is inside a condition or a loop"
		case c.spot.InBlock != "":
			why = fmt.Sprintf("is in the block %q, which other templates replace", c.spot.InBlock)
		case c.spot.Cached:
			why = "is written once for several pages (partialCached)"
		case c.spot.Data == "" && d.PageFunc == "":
			why = "is at a place without access to the page"
		case c.built+size > MaxOffset:
			why = fmt.Sprintf("is after the first %d bytes of built pages", MaxOffset)
		case c.spot.Before+size > MaxOffset:
			why = fmt.Sprintf("is after the first %d bytes of the page", MaxOffset)
		default:
			p := Place{*c.spot, c.after, c.what}
			p.Data = cmp.Or(p.Data, d.PageFunc)
			return p, nil
		}
		reasons = append(reasons, fmt.Sprintf("%s in %s %s", c.what, c.spot.File, why))
		spots = append(spots, *c.spot)
	}
	return Place{}, &NoPlaceError{strings.Join(reasons, "; "), spots}
}

// Insert returns src with inner, between marks, at the place.
func (p Place) Insert(l Language, src []byte, inner string) []byte {
	if p.After {
		return l.InsertAfter(src, p.Offset, inner)
	}
	return l.InsertBefore(src, p.Offset, inner)
}

// Line returns the number of the line of offset, from 1.
func Line(src []byte, offset int) int {
	return 1 + strings.Count(string(src[:min(offset, len(src))]), "\n")
}
