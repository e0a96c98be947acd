package redirect

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// elementLines has the line of each array element in a JSON text: for an object
// with a path it is for, the line of that member. The key is its path in lower
// case, because encoding/json ignores the case of keys: "redirects/0",
// "hosting/1/rewrites/3".
type elementLines map[string]int

// of returns the line of an element, or 1 if it is unknown.
func (l elementLines) of(array string, i int) int {
	if line, ok := l[strings.ToLower(array)+"/"+strconv.Itoa(i)]; ok {
		return line
	}
	return 1
}

// jsonLines finds the lines of a valid JSON text.
func jsonLines(data []byte) elementLines {
	type level struct {
		path  string
		array bool
		index int
		key   string
		value bool // the key of a member was read, its value follows
	}
	lines, index := elementLines{}, newLineIndex(data)
	dec := json.NewDecoder(bytes.NewReader(data))
	var levels []level
	for {
		// The offset of the next token.
		offset := int(dec.InputOffset())
		for offset < len(data) && bytes.IndexByte([]byte(" \t\r\n,:"), data[offset]) >= 0 {
			offset++
		}
		token, err := dec.Token()
		if err != nil {
			return lines
		}
		path := ""
		if n := len(levels); n > 0 {
			top := &levels[n-1]
			delim, isDelim := token.(json.Delim)
			switch {
			case isDelim && (delim == ']' || delim == '}'):
				levels = levels[:n-1]
				continue
			case top.array:
				path = join(top.path, strconv.Itoa(top.index))
				top.index++
				if len(levels) <= 6 {
					lines[path] = index.line(offset)
				}
			case !top.value:
				key, _ := token.(string)
				top.key = strings.ToLower(key)
				top.value = true
				if _, element := lines[top.path]; element && isRulePath(top.key) {
					lines[top.path] = index.line(offset)
				}
				continue
			default:
				path = join(top.path, top.key)
				top.value = false
			}
		}
		if delim, ok := token.(json.Delim); ok {
			levels = append(levels, level{path: path, array: delim == '['})
		}
	}
}

// isRulePath reports whether a member holds the path that a rule is for.
func isRulePath(key string) bool {
	return key == "source" || key == "src" || key == "regex" || key == "glob"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "/" + name
}

// jsonFault adds a fault for a JSON text that cannot be parsed, with the line.
func (f *File) jsonFault(data []byte, err error) {
	line := 1
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch index := newLineIndex(data); {
	case errors.As(err, &syntax):
		line = index.line(int(syntax.Offset) - 1)
	case errors.As(err, &mismatch):
		line = index.line(int(mismatch.Offset) - 1)
	}
	f.fault(CodeSyntax, Error, line, "", "the file cannot be read: "+err.Error())
}

// blankComments replaces // and /* */ comments in a JSON text with spaces, which
// preserves lines and offsets.
func blankComments(data []byte) []byte {
	out := bytes.Clone(data)
	inString := false
	for i := 0; i < len(out); i++ {
		switch {
		case inString && out[i] == '\\':
			i++
		case out[i] == '"':
			inString = !inString
		case inString || out[i] != '/' || i+1 >= len(out):
		case out[i+1] == '/':
			for ; i < len(out) && out[i] != '\n'; i++ {
				out[i] = ' '
			}
		case out[i+1] == '*':
			end := len(out)
			if n := bytes.Index(out[i+2:], []byte("*/")); n >= 0 {
				end = i + 2 + n + 2
			}
			for ; i < end; i++ {
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
			i--
		}
	}
	return out
}

// oneLine returns the text of a JSON value for a report.
func oneLine(raw json.RawMessage) string {
	var out bytes.Buffer
	if len(raw) > 1<<16 || json.Compact(&out, raw) != nil {
		return clip(string(raw[:min(len(raw), maxText+1)]))
	}
	return clip(out.String())
}
