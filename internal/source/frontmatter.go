package source

import "bytes"

// frontMatter returns where the front matter of a content file ends, 0 when
// there is none: YAML between ---, TOML between +++, a JSON object, or the
// leading #+ lines of an Org file. One that is never closed is none: the
// generator refuses such a file.
func frontMatter(text []byte) int {
	start := 0
	if bytes.HasPrefix(text, bom) {
		start = len(bom)
	}
	rest := text[start:]
	switch {
	case bytes.HasPrefix(rest, []byte("---")):
		return fenced(text, start, "---")
	case bytes.HasPrefix(rest, []byte("+++")):
		return fenced(text, start, "+++")
	case bytes.HasPrefix(rest, []byte("{\n")), bytes.HasPrefix(rest, []byte("{\r")), bytes.HasPrefix(rest, []byte("{ ")), bytes.HasPrefix(rest, []byte(`{"`)):
		return object(text, start)
	case bytes.HasPrefix(rest, []byte("#+")):
		end := start
		for line := range bytes.Lines(rest) {
			if !bytes.HasPrefix(line, []byte("#+")) {
				break
			}
			end += len(line)
		}
		return end
	}
	return 0
}

// fenced finds the end of front matter between two lines of a mark.
func fenced(text []byte, start int, mark string) int {
	off := start
	for line := range bytes.Lines(text[start:]) {
		isMark := string(bytes.TrimRight(line, " \t\r\n")) == mark
		if off == start && !isMark {
			return 0
		}
		off += len(line)
		if isMark && off-len(line) > start {
			return off
		}
	}
	return 0
}

// object finds the end of a JSON object: the bracket that closes the first.
func object(text []byte, start int) int {
	depth, quoted := 0, false
	for i := start; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
