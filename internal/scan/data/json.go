// Package data finds the links in data files that are neither HTML nor XML:
// JSON Feed, JSON-LD and web app manifests, robots.txt, _headers files and
// server-side image maps.
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

// A Scanner reads files one after the other and reuses its buffers. The zero
// value is ready to use. A Scanner must not be used concurrently.
type Scanner struct {
	b     scan.Builder
	inner html.Scanner // reads HTML in feeds
}

// maxJSONDepth limits the length of the paths of values.
const maxJSONDepth = 16

// jsonValue is one string of a document.
type jsonValue struct {
	// path has the members that lead to the string, beginning with the
	// outermost one. Arrays are not in it.
	path  []string
	value string
	// raw is the text between the quotes, off is its offset.
	raw []byte
	off uint32
}

// walkJSON calls f for each string of a JSON document that is the value of a
// member or an element of an array, up to maxJSONDepth members deep. When an
// object ends, it calls done with the path that leads to the object. Both get
// the same path slice, which is valid during the call only. walkJSON stops at
// the first fault and returns it.
func walkJSON(text []byte, f func(v *jsonValue), done func(path []string)) (fault string, off int64) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var (
		objects []bool // open containers: is it an object?
		path    []string
		depths  []int // len(path) outside each container
		isKey   bool
		rooted  bool
		pending bool // path ends with the member whose value comes next
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
				return "the file ends before the document is complete", int64(len(text))
			}
			return err.Error(), before
		}
		if len(objects) == 0 && rooted {
			return "there is text after the end of the document", before
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

// jsonFaultAt returns the offset of a fault. The decoder's offset can be one
// too large, but its message has the character. before is the offset of the
// token.
func jsonFaultAt(text []byte, before int64, err *json.SyntaxError) int64 {
	for _, off := range [...]int64{err.Offset, err.Offset - 1} {
		if off >= before && off < int64(len(text)) &&
			strings.HasPrefix(err.Error(), "invalid character "+strconv.QuoteRune(rune(text[off]))) {
			return off
		}
	}
	return before
}

// places returns the string's value, and the offset in the document for each
// byte of it.
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

// jsonEscapeLen returns the length of the escape at the start of raw. A
// surrogate pair is one escape.
func jsonEscapeLen(raw []byte) int {
	switch {
	case len(raw) >= 12 && raw[1] == 'u' && raw[6] == '\\' && raw[7] == 'u' && (raw[2] == 'd' || raw[2] == 'D') && raw[3]|0x20 >= '8':
		return 12
	case len(raw) >= 6 && raw[1] == 'u':
		return 6
	}
	return min(2, len(raw))
}

// readJSON walks a document. Its encoding is UTF-8 (RFC 8259, 8.1).
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

// member adds the link that v is.
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
