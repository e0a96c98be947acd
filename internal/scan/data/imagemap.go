package data

import (
	"bytes"

	"github.com/sitelink/sitelink/internal/scan/ascii"
)

// MapLink is one target of a server-side image map.
type MapLink struct {
	// Start and End are the half-open byte range of the URL in the file,
	// without quotes.
	Start, End int
	// Value is that range: the URL as written. It aliases the file's bytes.
	Value []byte
	// Line counts from 1.
	Line int
}

const (
	mapMaxBad = 100
	// mapMaxLinks bounds the memory that a file of many short lines can take
	// to 48 MB. Lines beyond it are reported as bad.
	mapMaxLinks = 1 << 20
)

// ImageMap reads a server-side image map in NCSA or CERN form, told apart line
// by line: in the CERN form the second field is a coordinate and begins with a
// parenthesis.
//
//	rect /a.html 19,12 75,75        NCSA: shape URL coordinates
//	rect (19,12) (75,75) /a.html    CERN: shape coordinates URL
//
// Shapes are default, circle, rect, poly, point and oval with their long and
// short names, in any case. URLs may be in double quotes, labels in quotes may
// follow, and lines that begin with # are comments. Links come in the order of
// the file.
//
// base is the value of the first base or base_uri line, as written: a URL, or
// Apache's "map" (relative URLs start at the map file) or "referer" (at the
// page that was clicked). The values map, menu, referer, nocontent and error
// of other lines tell the server what to do and are no links.
//
// bad names the lines that cannot be read, counted from 1, the first 100 of
// them; so is a second base line, as one value cannot stand for both. A file
// that begins like JSON is a JavaScript or CSS source map, which shares the
// file name extension: it has no links and no bad lines.
//
// How many coordinates a shape has is not judged. Any bytes will do; time is
// linear in len(text).
//
// LL-95, LL-96, LL-97; directives and values as in
// https://httpd.apache.org/docs/2.4/mod/mod_imagemap.html
func ImageMap(text []byte) (links []MapLink, base string, bad []int) {
	pos := 0
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		pos = len("\ufeff")
	}
	if isSourceMap(text[pos:]) {
		return nil, "", nil
	}
	for line := 1; pos < len(text); line++ {
		end, next := ascii.LineEnd(text, pos)
		l := parseMapLine(text[:end], pos)
		url := text[l.start:l.end]
		switch {
		case l.kind == mapBase && base == "":
			base = string(url)
		case l.kind == mapTarget && len(links) < mapMaxLinks:
			links = append(links, MapLink{Start: l.start, End: l.end, Value: url, Line: line})
		case l.kind == mapNothing:
		case len(bad) < mapMaxBad:
			bad = append(bad, line)
		}
		pos = next
	}
	return links, base, bad
}

// isSourceMap tells whether text is the JSON of a source map, with or without
// the line that keeps it from being run as a script.
func isSourceMap(text []byte) bool {
	text = text[ascii.SkipSpace(text, 0):]
	return bytes.HasPrefix(text, []byte("{")) || bytes.HasPrefix(text, []byte(")]}"))
}

// A mapLineKind says what a line of an image map holds.
type mapLineKind uint8

const (
	mapBad     mapLineKind = iota
	mapNothing             // blank, a comment, or a value that is no link
	mapBase
	mapTarget
)

// A mapLine is a line of an image map; start and end are the range of its URL.
type mapLine struct {
	kind       mapLineKind
	start, end int
}

// A mapCursor reads the fields of a line: text[i:] is what is left of it.
type mapCursor struct {
	text []byte
	i    int
}

// parseMapLine reads the line of text that begins at i; text ends with it.
func parseMapLine(text []byte, i int) mapLine {
	c := mapCursor{text, i}
	if c.atEnd() || c.peek() == '#' {
		return mapLine{kind: mapNothing}
	}
	shape := mapShapeOf(c.word())
	if shape == mapNoShape || c.atEnd() {
		return mapLine{}
	}
	if c.peek() == '(' {
		if shape == mapBaseLine || !c.cernCoordinates(shape) {
			return mapLine{}
		}
	}
	start, end, ok := c.field()
	if !ok || start == end || !c.onlyCoordinatesAndLabels() {
		return mapLine{}
	}
	switch {
	case shape == mapBaseLine:
		return mapLine{mapBase, start, end}
	case isMapAction(text[start:end]):
		return mapLine{kind: mapNothing}
	}
	return mapLine{mapTarget, start, end}
}

// atEnd skips white space and tells whether the line ends there.
func (c *mapCursor) atEnd() bool {
	for c.i < len(c.text) && ascii.IsSpace(c.text[c.i]) {
		c.i++
	}
	return c.i == len(c.text)
}

// peek returns the next byte. The line must not be at its end.
func (c *mapCursor) peek() byte { return c.text[c.i] }

// word reads up to white space or a parenthesis.
func (c *mapCursor) word() []byte {
	start := c.i
	for c.i < len(c.text) && !ascii.IsSpace(c.text[c.i]) && c.text[c.i] != '(' {
		c.i++
	}
	return c.text[start:c.i]
}

// field reads the next field, which ends at white space or, if it begins with
// a quote, at the next one. ok is false at the end and for an open quote.
func (c *mapCursor) field() (start, end int, ok bool) {
	if c.atEnd() {
		return 0, 0, false
	}
	if c.peek() == '"' {
		start = c.i + 1
		n := bytes.IndexByte(c.text[start:], '"')
		if n < 0 {
			return 0, 0, false
		}
		c.i = start + n + 1
		return start, start + n, true
	}
	start = c.i
	for c.i < len(c.text) && !ascii.IsSpace(c.text[c.i]) {
		c.i++
	}
	return start, c.i, true
}

// cernCoordinates reads the points in parentheses, and the radius of a circle.
func (c *mapCursor) cernCoordinates(shape mapShape) (ok bool) {
	for !c.atEnd() && c.peek() == '(' {
		n := bytes.IndexByte(c.text[c.i:], ')')
		if n < 0 || !isMapCoordinates(c.text[c.i:c.i+n+1]) {
			return false
		}
		c.i += n + 1
		if !c.atEnd() && c.peek() == ',' {
			c.i++
		}
	}
	if shape == mapCircle {
		before := c.i
		if start, end, ok := c.field(); !ok || !isMapCoordinates(c.text[start:end]) {
			c.i = before // no radius: this is the URL
		}
	}
	return true
}

// onlyCoordinatesAndLabels reads the rest of the line, which may end in a
// comment, and tells whether nothing else is there.
func (c *mapCursor) onlyCoordinatesAndLabels() bool {
	for !c.atEnd() && c.peek() != '#' {
		quoted := c.peek() == '"'
		start, end, ok := c.field()
		if !ok || !quoted && !isMapCoordinates(c.text[start:end]) {
			return false
		}
	}
	return true
}

// isMapCoordinates tells whether b has only what coordinates are written with.
func isMapCoordinates(b []byte) bool {
	for _, c := range b {
		switch {
		case ascii.IsDigit(c), ascii.IsSpace(c), c == ',', c == '.', c == '-', c == '+', c == '(', c == ')':
		default:
			return false
		}
	}
	return true
}

// A mapShape is what a line of an image map is about.
type mapShape uint8

const (
	mapNoShape mapShape = iota
	mapBaseLine
	mapCircle
	mapOtherShape
)

// mapShapeNames holds the first words of lines in lower case.
var mapShapeNames = [...]struct {
	name  string
	shape mapShape
}{
	{"rect", mapOtherShape}, {"rectangle", mapOtherShape},
	{"poly", mapOtherShape}, {"polygon", mapOtherShape},
	{"circle", mapCircle}, {"circ", mapCircle},
	{"default", mapOtherShape}, {"def", mapOtherShape},
	{"point", mapOtherShape}, {"oval", mapOtherShape},
	{"base", mapBaseLine}, {"base_uri", mapBaseLine},
}

// mapShapeOf returns what the first word of a line says.
func mapShapeOf(word []byte) mapShape {
	for _, s := range mapShapeNames {
		if ascii.EqualFold(word, s.name) {
			return s.shape
		}
	}
	return mapNoShape
}

// isMapAction tells whether value is an order to the server, no URL.
func isMapAction(value []byte) bool {
	for _, action := range [...]string{"nocontent", "referer", "map", "menu", "error"} {
		if ascii.EqualFold(value, action) {
			return true
		}
	}
	return false
}
