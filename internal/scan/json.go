package scan

// This file finds strings and links in JSON text, with their positions.

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// maxPath limits the length of the paths of values.
const maxPath = 16

// A JSONString is one string of a document.
type JSONString struct {
	// Path has the members that lead to the string, beginning with the
	// outermost one. Arrays are not in it.
	Path []string
	// Text is the string with its escapes decoded.
	Text string
	// Raw is the text between the quotes, Off is its offset.
	Raw []byte
	Off uint32
}

// WalkJSON calls f for each string of a JSON document that is the value of a
// member or an element of an array, up to maxPath members deep. When an
// object ends, it calls done with the path that leads to the object. Both get
// the same path slice, which is valid during the call only. WalkJSON stops at
// the first fault and returns it.
func WalkJSON(text []byte, f func(v *JSONString), done func(path []string)) (fault string, off int64) {
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
				return syntax.Error(), faultAt(text, before, syntax)
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
			if len(path) > 0 && len(path) <= maxPath {
				start := before + int64(bytes.IndexByte(text[before:], '"')) + 1
				f(&JSONString{Path: path, Text: t, Raw: text[start : d.InputOffset()-1], Off: uint32(start)})
			}
			drop()
		default:
			drop()
		}
	}
}

// faultAt returns the offset of a fault. The decoder's offset can be one
// too large, but its message has the character. before is the offset of the
// token.
func faultAt(text []byte, before int64, err *json.SyntaxError) int64 {
	for _, off := range [...]int64{err.Offset, err.Offset - 1} {
		if off >= before && off < int64(len(text)) &&
			strings.HasPrefix(err.Error(), "invalid character "+strconv.QuoteRune(rune(text[off]))) {
			return off
		}
	}
	return before
}

// Places returns the string's value, and the offset in the document for each
// byte of it.
func (v *JSONString) Places() (text []byte, from []uint32) {
	for i := 0; i < len(v.Raw); {
		n := 1
		if v.Raw[i] == '\\' {
			n = escapeLen(v.Raw[i:])
		}
		before := len(text)
		if n == 1 {
			text = append(text, v.Raw[i])
		} else {
			text = unescape(text, v.Raw[i:i+n])
		}
		for range len(text) - before {
			from = append(from, v.Off+uint32(i))
		}
		i += n
	}
	return text, from
}

// escapeLen returns the length of the escape at the start of raw. A
// surrogate pair is one escape.
func escapeLen(raw []byte) int {
	switch {
	case len(raw) >= 12 && raw[1] == 'u' && raw[6] == '\\' && raw[7] == 'u' && (raw[2] == 'd' || raw[2] == 'D') && raw[3]|0x20 >= '8':
		return 12
	case len(raw) >= 6 && raw[1] == 'u':
		return 6
	}
	return min(2, len(raw))
}
