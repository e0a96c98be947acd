package source

import "bytes"

// shortcode is one tag of a Hugo shortcode, {{< name params >}} or {{% name
// params %}}.
type shortcode struct {
	from, to   int
	name       string
	params     []value
	asMarkdown bool // {{% %}}: the output is parsed as Markdown
}

// shortcodes returns the tags in a text from an offset on. Commented tags,
// {{</* and */>}}, are text.
func shortcodes(text []byte, from int) (all []shortcode) {
	for i := from; i < len(text); {
		n := bytes.Index(text[i:], []byte("{{"))
		if n < 0 || i+n+3 > len(text) {
			return all
		}
		i += n
		var end []byte
		switch text[i+2] {
		case '<':
			end = []byte(">}}")
		case '%':
			end = []byte("%}}")
		default:
			i += 2
			continue
		}
		body := i + 3
		if bytes.HasPrefix(text[body:], []byte("/*")) {
			i = body
			continue
		}
		n = closing(text[body:], end)
		if n < 0 {
			i = body
			continue
		}
		sc := shortcode{from: i, to: body + n + len(end), asMarkdown: end[0] == '%'}
		sc.name, sc.params = parameters(text, body, body+n)
		all = append(all, sc)
		i = sc.to
	}
	return all
}

// closing returns the end of a tag outside of quotes.
func closing(text, end []byte) int {
	var quote byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '`':
			quote = c
		case bytes.HasPrefix(text[i:], end):
			return i
		case bytes.HasPrefix(text[i:], []byte("{{")):
			return -1 // the tag has no end
		}
	}
	return -1
}

// parameters returns the name of a tag, and the values of its parameters, named
// or not.
func parameters(text []byte, from, to int) (name string, params []value) {
	for i := from; i < to; {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '=':
			i++
		case c == '"' || c == '`':
			end := i + 1
			for end < to && text[end] != c {
				if text[end] == '\\' && c == '"' {
					end++
				}
				end++
			}
			end = min(end, to)
			if end > i+1 {
				params = append(params, value{at: i + 1, text: string(text[i+1 : end])})
			}
			i = end + 1
		default:
			end := i
			for end < to && !bytes.ContainsRune([]byte(" \t\r\n="), rune(text[end])) {
				end++
			}
			word := string(text[i:end])
			switch {
			case name == "":
				name = word
			case end < to && text[end] == '=': // the name of a parameter
			default:
				params = append(params, value{at: i, text: word})
			}
			i = end
		}
	}
	return name, params
}
