package data

import (
	"bytes"

	"github.com/sitelink/sitelink/internal/scan"
)

// MapLink is one target of a server-side image map.
type MapLink struct {
	// Start and End are the range of the URL in the file, without quotes.
	Start, End int
	// Value is the URL as written. It aliases the file's bytes.
	Value []byte
	// Line counts from 1.
	Line int
}

const (
	mapMaxBad = 100
	// mapMaxLinks limits the memory that a file of many short lines can take to
	// 48 MB. Further lines are reported as bad.
	mapMaxLinks = 1 << 20
)

// ImageMap reads a server-side image map. Each line has the NCSA or the CERN
// form. In the CERN form the second field is a coordinate, which begins with a
// parenthesis.
//
//	rect /a.html 19,12 75,75        NCSA: shape URL coordinates
//	rect (19,12) (75,75) /a.html    CERN: shape coordinates URL
//
// Shapes are default, circle, rect, poly, point and oval with their long and
// short names, in any letter case. URLs may be in double quotes, labels in
// quotes may follow, and lines that begin with # are comments. Links are in the
// order of the file.
//
// base is the value of the first base or base_uri line as written. It is a URL,
// or one of Apache's words "map" (URLs are relative to the map file) and
// "referer" (URLs are relative to the page with the image). On other lines the
// values map, menu, referer, nocontent and error are instructions to the
// server, not links.
//
// bad has the numbers of the first 100 lines that cannot be read, counted from
// 1. A second base line is one of them, because base has one value. A file that
// begins like JSON is a JavaScript or CSS source map, which has the same file
// name extension. It has no links and no bad lines.
//
// ImageMap does not check how many coordinates a shape has. text may hold any
// bytes. The time is linear in its length.
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
		end, next := scan.LineEnd(text, pos)
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

// isSourceMap reports whether text is the JSON of a source map, with or without
// the line that prevents it from running as a script.
func isSourceMap(text []byte) bool {
	text = text[scan.SkipSpace(text, 0):]
	return bytes.HasPrefix(text, []byte("{")) || bytes.HasPrefix(text, []byte(")]}"))
}

// A mapLineKind is the kind of a line in an image map.
type mapLineKind uint8

const (
	mapBad     mapLineKind = iota
	mapNothing             // blank, a comment, or a value that is not a link
	mapBase
	mapTarget
)

// A mapLine is a line of an image map. start and end are the range of its URL.
type mapLine struct {
	kind       mapLineKind
	start, end int
}

// A mapCursor reads the fields of a line. The rest of the line is text[i:].
type mapCursor struct {
	text []byte
	i    int
}

// parseMapLine reads the line at i. The line ends with text.
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

// atEnd skips white space and reports whether the line ends there.
func (c *mapCursor) atEnd() bool {
	for c.i < len(c.text) && scan.IsSpace(c.text[c.i]) {
		c.i++
	}
	return c.i == len(c.text)
}

// peek returns the next byte. The line must not be at its end.
func (c *mapCursor) peek() byte { return c.text[c.i] }

// word reads up to white space or a parenthesis.
func (c *mapCursor) word() []byte {
	start := c.i
	for c.i < len(c.text) && !scan.IsSpace(c.text[c.i]) && c.text[c.i] != '(' {
		c.i++
	}
	return c.text[start:c.i]
}

// field reads the next field. It ends at white space or, if it begins with a
// quote, at the next quote. ok is false at the end of the line and if the quote
// is not closed.
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
	for c.i < len(c.text) && !scan.IsSpace(c.text[c.i]) {
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
			c.i = before // there is no radius: this is the URL
		}
	}
	return true
}

// onlyCoordinatesAndLabels reads the rest of the line, which may end with a
// comment. It reports whether there is nothing else.
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

// isMapCoordinates reports whether b has only bytes that occur in coordinates.
func isMapCoordinates(b []byte) bool {
	for _, c := range b {
		switch {
		case scan.IsDigit(c), scan.IsSpace(c), c == ',', c == '.', c == '-', c == '+', c == '(', c == ')':
		default:
			return false
		}
	}
	return true
}

// A mapShape is the meaning of the first word of a line.
type mapShape uint8

const (
	mapNoShape mapShape = iota
	mapBaseLine
	mapCircle
	mapOtherShape
)

// mapShapeNames has the first words of lines in lower case.
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

// mapShapeOf returns the meaning of the first word of a line.
func mapShapeOf(word []byte) mapShape {
	for _, s := range mapShapeNames {
		if scan.EqualFold(word, s.name) {
			return s.shape
		}
	}
	return mapNoShape
}

// isMapAction reports whether value is an instruction to the server instead of
// a URL.
func isMapAction(value []byte) bool {
	for _, action := range [...]string{"nocontent", "referer", "map", "menu", "error"} {
		if scan.EqualFold(value, action) {
			return true
		}
	}
	return false
}
