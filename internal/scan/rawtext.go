package scan

import (
	"bytes"
)

// CommentEnd returns the offset after the comment whose text begins at i,
// after "<!--" (HTML 13.2.5.43 to 13.2.5.52). closed is false if the file ends
// inside the comment.
func CommentEnd(text []byte, i int) (next int, closed bool) {
	rest := text[i:]
	if len(rest) > 0 && rest[0] == '>' { // <!-->
		return i + 1, true
	}
	if len(rest) > 1 && rest[0] == '-' && rest[1] == '>' { // <!--->
		return i + 2, true
	}
	for {
		k := bytes.Index(text[i:], Dashes)
		if k < 0 {
			return len(text), false
		}
		i += k + 2
		for i < len(text) && text[i] == '-' {
			i++
		}
		if i < len(text) && text[i] == '>' {
			return i + 1, true
		}
		if i+1 < len(text) && text[i] == '!' && text[i+1] == '>' {
			return i + 2, true
		}
	}
}

// Delimiters of comments and CDATA sections.
var (
	Dashes   = []byte("--")
	CDATAEnd = []byte("]]>")
)

// After returns the offset after the first c from i on, or len(text).
func After(text []byte, i int, c byte) int {
	if k := bytes.IndexByte(text[i:], c); k >= 0 {
		return i + k + 1
	}
	return len(text)
}

// RawEnd returns the offset of the end tag that closes a raw text or RCDATA
// element, or len(text). The content of the element begins at i, and name is
// its name in lower case.
func RawEnd(text []byte, i int, name string) int {
	for {
		k := bytes.IndexByte(text[i:], '<')
		if k < 0 {
			return len(text)
		}
		i += k
		if closes(text, i, name) {
			return i
		}
		i++
	}
}

// closes reports whether text[i:] is "</name" followed by a byte that ends the
// name.
func closes(text []byte, i int, name string) bool {
	return i+1 < len(text) && text[i+1] == '/' && Named(text, i+2, name)
}

// Named reports whether text[i:] is name in any letter case, followed by a byte
// that ends a tag name.
func Named(text []byte, i int, name string) bool {
	j := i + len(name)
	return j < len(text) && Class[text[j]]&ClassNameEnd != 0 && EqualFold(text[i:j], name)
}

// ScriptEnd is [RawEnd] for a script element. Inside <!-- <script> ... --> its
// content can hide a </script> (HTML 13.2.5.15 to 13.2.5.31).
func ScriptEnd(text []byte, i int) int {
	const (
		data = iota
		escaped
		doubleEscaped
	)
	state := data
	for i < len(text) {
		if state != data && text[i] == '-' {
			// Two or more dashes and ">" end the escaped states.
			j := i
			for j < len(text) && text[j] == '-' {
				j++
			}
			if j-i >= 2 && j < len(text) && text[j] == '>' {
				state = data
				j++
			}
			i = j
			continue
		}
		if text[i] != '<' {
			if state == data {
				k := bytes.IndexByte(text[i:], '<')
				if k < 0 {
					return len(text)
				}
				i += k
			} else {
				k := bytes.IndexAny(text[i:], "<-")
				if k < 0 {
					return len(text)
				}
				i += k
			}
			continue
		}
		switch {
		case state != doubleEscaped && closes(text, i, "script"):
			return i
		case state == doubleEscaped && closes(text, i, "script"):
			state = escaped
			i += len("</script")
		case state == data && bytes.HasPrefix(text[i:], []byte("<!--")):
			// The dashes can be part of "-->": <!--> and <!---> end the state
			// at once.
			state = escaped
			i += len("<!")
		case state == escaped && Named(text, i+1, "script"):
			state = doubleEscaped
			i += len("<script")
		default:
			i++
		}
	}
	return len(text)
}
