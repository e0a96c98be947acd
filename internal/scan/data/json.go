package data

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/scan/jsonld"
)

// A DataScanner reads files of the formats in this package one after the other
// and reuses its buffers.
type Scanner struct {
	b     scan.Builder
	inner html.Scanner // reads HTML in feeds
}

// maxJSONDepth bounds how deep the path of a value is told.
const maxJSONDepth = 16

// jsonValue is one string of a document.
type jsonValue struct {
	// path are the members that lead to it, outermost first; arrays add
	// nothing.
	path  []string
	value string
	// raw is what stands between the quotes, off its offset.
	raw []byte
	off uint32
}

// walkJSON calls f for each string of a JSON document that is the value of a
// member, or of an array of one, up to maxJSONDepth members deep, and done for
// each object that ends, with the path that led to it. Both see the same path
// slice, which is valid during the call only. It stops at the first fault and
// returns it.
func walkJSON(text []byte, f func(v *jsonValue), done func(path []string)) (fault string, off int64) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var (
		objects []bool // open containers: is it an object?
		path    []string
		depths  []int // len(path) outside of each container
		isKey   bool
		rooted  bool
		pending bool // path ends in the member whose value comes
	)
	drop := func() {
		if pending {
			path, pending = path[:len(path)-1], false
		}
		isKey = len(objects) > 0 && objects[len(objects)-1]
	}
	for {
		before := d.InputOffset()
		token, err := d.Token()
		if err != nil {
			if errors.Is(err, io.EOF) && len(objects) == 0 {
				return "", 0
			}
			var syntax *json.SyntaxError
			switch {
			case errors.As(err, &syntax):
				return syntax.Error(), jsonFaultAt(text, before, syntax)
			case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
				return "the file ends in the middle", int64(len(text))
			}
			return err.Error(), before
		}
		if len(objects) == 0 && rooted {
			return "text follows the end", before
		}
		rooted = true
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{', '[':
				objects, depths = append(objects, t == '{'), append(depths, len(path))
				if pending {
					depths[len(depths)-1]--
				}
				pending, isKey = false, t == '{'
			default:
				n := len(objects) - 1
				if objects[n] {
					done(path)
				}
				path = path[:depths[n]]
				objects, depths = objects[:n], depths[:n]
				isKey = n > 0 && objects[n-1]
			}
		case string:
			if isKey {
				path, pending, isKey = append(path, t), true, false
				continue
			}
			if len(path) > 0 && len(path) <= maxJSONDepth {
				start := before + int64(bytes.IndexByte(text[before:], '"')) + 1
				f(&jsonValue{path: path, value: t, raw: text[start : d.InputOffset()-1], off: uint32(start)})
			}
			drop()
		default:
			drop()
		}
	}
}

// jsonFaultAt returns where a fault is. The decoder counts it from different
// places: its message names the character to look for. before is where the
// token begins.
func jsonFaultAt(text []byte, before int64, err *json.SyntaxError) int64 {
	for _, off := range [...]int64{err.Offset, err.Offset - 1} {
		if off >= before && off < int64(len(text)) &&
			strings.HasPrefix(err.Error(), "invalid character "+strconv.QuoteRune(rune(text[off]))) {
			return off
		}
	}
	return before
}

// places returns for each byte of the string's value where it stands in the
// document, and the value as those bytes.
func (v *jsonValue) places() (text []byte, from []uint32) {
	for i := 0; i < len(v.raw); {
		n := 1
		if v.raw[i] == '\\' {
			n = jsonEscapeLen(v.raw[i:])
		}
		before := len(text)
		if n == 1 {
			text = append(text, v.raw[i])
		} else {
			text = jsonld.Unescape(text, v.raw[i:i+n])
		}
		for range len(text) - before {
			from = append(from, v.off+uint32(i))
		}
		i += n
	}
	return text, from
}

// jsonEscapeLen returns the length of the escape that raw begins with: both
// halves of a pair of surrogates count as one.
func jsonEscapeLen(raw []byte) int {
	switch {
	case len(raw) >= 12 && raw[1] == 'u' && raw[6] == '\\' && raw[7] == 'u' && (raw[2] == 'd' || raw[2] == 'D') && raw[3]|0x20 >= '8':
		return 12
	case len(raw) >= 6 && raw[1] == 'u':
		return 6
	}
	return min(2, len(raw))
}

// readJSON walks a document whose encoding is UTF-8 (RFC 8259, 8.1).
func (s *Scanner) readJSON(text []byte, f func(v *jsonValue), done func(path []string)) *scan.Page {
	bom := scan.UTF8BOMLen(text)
	s.b.Reset(text, "utf-8")
	s.b.Page.Quirks = false
	fault, off := walkJSON(text[bom:], func(v *jsonValue) {
		v.off += uint32(bom)
		f(v)
	}, done)
	if fault != "" {
		s.b.Fault(int(off)+bom, scan.FaultJSON, fault)
	}
	s.b.SortLinks()
	s.b.RepairUTF8()
	return &s.b.Page
}

// member adds the link that a string is.
func (s *Scanner) member(v *jsonValue, kind scan.Kind) {
	value := v.raw
	if v.value != string(v.raw) {
		value = s.b.Keep([]byte(v.value))
	}
	element, attribute := v.path[0], ""
	if len(v.path) > 1 {
		element, attribute = v.path[len(v.path)-2], v.path[len(v.path)-1]
	}
	s.b.Add(value, v.off, kind, strings.ToLower(element), strings.ToLower(attribute))
}
