package source

import (
	"bytes"
	"strings"
)

// frontMatter returns the offset at which the front matter of a content file
// ends, 0 if there is none: YAML between ---, TOML between +++, a JSON object,
// or the leading #+ lines of an Org file. Front matter without an end is no
// front matter: generators refuse such a file.
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

// fenced returns the end of front matter between two lines that consist of
// fence.
func fenced(text []byte, start int, fence string) int {
	off := start
	for line := range bytes.Lines(text[start:]) {
		isFence := string(bytes.TrimRight(line, " \t\r\n")) == fence
		if off == start && !isFence {
			return 0
		}
		off += len(line)
		if isFence && off-len(line) > start {
			return off
		}
	}
	return 0
}

// object returns the end of a JSON object: the brace that closes the first one.
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

// value is a string in a YAML, TOML or JSON file that may be an address.
type value struct {
	at   int // offset of its first character
	text string
}

// maxValue is the length in bytes of the longest address that is looked for.
const maxValue = 2048

// values finds strings that may be addresses in front matter, data and
// configuration files: quoted strings, and plain values after a colon, an
// equals sign or a dash. It reads line by line without a grammar, so that it
// also works for an invalid file.
func values(text []byte, from, to int) (all []value) {
	off := from
	for line := range bytes.Lines(text[from:to]) {
		all = lineValues(all, line, off)
		off += len(line)
	}
	return all
}

func lineValues(all []value, line []byte, off int) []value {
	trimmed := bytes.TrimLeft(line, " \t")
	if bytes.HasPrefix(trimmed, []byte("#")) || bytes.HasPrefix(trimmed, []byte("//")) {
		return all
	}
	quotes := 0
	for i := 0; i < len(line); i++ {
		q := line[i]
		if q != '"' && q != '\'' && q != '`' {
			continue
		}
		n := bytes.IndexByte(line[i+1:], q)
		if n < 0 {
			break
		}
		quotes++
		if n > 0 && n <= maxValue {
			all = append(all, value{off + i + 1, unescape(string(line[i+1 : i+1+n]))})
		}
		i += n + 1
	}
	if quotes > 0 {
		return all
	}
	// url: /a/, - /a/, key: [a, b]
	for i := 0; i < len(line); {
		for i < len(line) && strings.IndexByte(" \t\r\n,[]{}", line[i]) >= 0 {
			i++
		}
		end := i
		for end < len(line) && strings.IndexByte(" \t\r\n,[]{}", line[end]) < 0 {
			end++
		}
		if word := line[i:end]; len(word) > 1 && len(word) <= maxValue && word[len(word)-1] != ':' {
			all = append(all, value{off + i, string(word)})
		}
		i = end
	}
	return all
}

// unescape resolves the escapes that JSON writers use in addresses.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\/`, "/", `\u0026`, "&", `\u003c`, "<", `\u003e`, ">", `\\`, `\`).Replace(s)
}
