package generator

import "strings"

// property is a text in a configuration that is a program: name: "value".
type property struct {
	// within are the names of the objects around it, the outermost first; "" for
	// braces that no name stands before.
	within []string
	name   string
	value  string
}

// scriptProperties lists the properties of a JavaScript or TypeScript file whose
// values are plain texts, and calls of one text such as setOutput("x"), named
// with their parenthesis "setOutput(". A value that is put together while the
// program runs is not found; nothing is run.
func scriptProperties(text string) (all []property) {
	var within []string
	name := ""   // the identifier or text just before
	key := false // and a colon or parenthesis behind it
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], "//"):
			i = after(text, i, "\n")
			continue
		case strings.HasPrefix(text[i:], "/*"):
			i = after(text, i+2, "*/")
			continue
		case c == '\'' || c == '"' || c == '`':
			value, end, plain := scriptText(text, i)
			i = end
			next := strings.TrimLeft(text[i:], " \t\r\n")
			// Only a whole value counts, not the beginning of a longer expression.
			whole := next == "" || strings.IndexByte(",})];", next[0]) >= 0 || strings.HasPrefix(next, "//") || strings.HasPrefix(next, "/*")
			if key && plain && whole {
				all = append(all, property{append([]string(nil), within...), name, value})
			}
			name, key = value, false
			continue
		case isWord(c):
			start := i
			for i < len(text) && isWord(text[i]) {
				i++
			}
			name, key = text[start:i], false
			continue
		case c == ':':
			key = name != ""
		case c == '(':
			name, key = name+"(", name != ""
		case c == '{' || c == '[':
			if !key || strings.HasSuffix(name, "(") {
				name = ""
			}
			if len(within) == maxDepth {
				return all // nobody writes that
			}
			within = append(within, name)
			name, key = "", false
		case c == '}' || c == ']':
			if len(within) > 0 {
				within = within[:len(within)-1]
			}
			name, key = "", false
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			name, key = "", false
		}
		i++
	}
	return all
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// after returns the index behind the next end at or after i, or the length.
func after(text string, i int, end string) int {
	if k := strings.Index(text[i:], end); k >= 0 {
		return i + k + len(end)
	}
	return len(text)
}

// scriptText reads the text that begins with a quote at i. plain tells that it
// stands as it is: no escape, nothing put in.
func scriptText(text string, i int) (value string, end int, plain bool) {
	quote, start := text[i], i+1
	plain = true
	for i = start; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			return text[start:i], i + 1, plain
		case c == '\\':
			plain = false
			i++
		case c == '$' && quote == '`' && strings.HasPrefix(text[i:], "${"):
			plain = false
		case c == '\n' && quote != '`':
			return text[start:i], i, false // no text ends a line so
		}
	}
	return text[start:], len(text), false
}

// topLevel returns the value of a property of the configuration object itself:
// nothing with a name is around it.
func topLevel(all []property, name string) string {
	for _, p := range all {
		if p.name != name {
			continue
		}
		named := false
		for _, w := range p.within {
			named = named || w != ""
		}
		if !named {
			return p.value
		}
	}
	return ""
}

// inside returns the value of a property of the object of that name.
func inside(all []property, object, name string) string {
	for _, p := range all {
		if n := len(p.within); p.name == name && n > 0 && p.within[n-1] == object {
			return p.value
		}
	}
	return ""
}
