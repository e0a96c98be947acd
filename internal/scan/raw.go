package scan

import "bytes"

// commentEnd returns the offset after the comment whose text begins at i,
// after "<!--" (HTML 13.2.5.43 to 13.2.5.52). closed is false when the file
// ends first.
func commentEnd(text []byte, i int) (next int, closed bool) {
	rest := text[i:]
	if len(rest) > 0 && rest[0] == '>' { // <!-->
		return i + 1, true
	}
	if len(rest) > 1 && rest[0] == '-' && rest[1] == '>' { // <!--->
		return i + 2, true
	}
	for {
		k := bytes.Index(text[i:], dashes)
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

var (
	dashes   = []byte("--")
	cdataEnd = []byte("]]>")
)

// after returns the offset after the next occurrence of c, or the end.
func after(text []byte, i int, c byte) int {
	if k := bytes.IndexByte(text[i:], c); k >= 0 {
		return i + k + 1
	}
	return len(text)
}

// rawEnd finds the end tag that closes a raw text or RCDATA element whose
// content begins at i: the offset of its "<", or the end of the text. name is
// the element's lower-case name.
func rawEnd(text []byte, i int, name string) int {
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

// closes tells whether text[i:] is "</name" and a byte that ends the name.
func closes(text []byte, i int, name string) bool {
	return i+1 < len(text) && text[i+1] == '/' && named(text, i+2, name)
}

// named tells whether text[i:] begins with name and a byte that ends it.
func named(text []byte, i int, name string) bool {
	j := i + len(name)
	return j < len(text) && byteClass[text[j]]&clsNameEnd != 0 && foldEqual(text[i:j], name)
}

// scriptEnd is rawEnd for script, whose content may hide </script> in
// <!-- <script> ... --> (HTML 13.2.5.15 to 13.2.5.31).
func scriptEnd(text []byte, i int) int {
	const (
		data = iota
		escaped
		doubleEscaped
	)
	state := data
	for i < len(text) {
		if state != data && text[i] == '-' {
			// "--" and any more dashes, then ">", leave the escaped states.
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
			// The dashes count towards "-->": <!--> and <!---> leave at once.
			state = escaped
			i += len("<!")
		case state == escaped && named(text, i+1, "script"):
			state = doubleEscaped
			i += len("<script")
		default:
			i++
		}
	}
	return len(text)
}
