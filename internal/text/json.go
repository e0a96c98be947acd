package text

import "bytes"

// BlankComments replaces // and /* */ comments in a JSON text with spaces, which
// preserves lines and offsets.
func BlankComments(data []byte) []byte {
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
