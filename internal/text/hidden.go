package text

import (
	"bytes"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden reports whether a character above U+007E controls a terminal, changes the
// direction of a text, or cannot be seen. For example, the tags U+E0000 to U+E007F can hold
// a text that a language model reads and no person sees. JSON of every kind has such
// characters as escapes.
func Hidden(r rune) bool {
	return r >= 0x7f && (r <= 0x9f || r == 0xad || r == 0x61c || 0x200b <= r && r <= 0x200f || 0x2028 <= r && r <= 0x202e ||
		0x2060 <= r && r <= 0x206f || r == 0xfeff || 0xfff9 <= r && r <= 0xfffb || 0xe0000 <= r && r <= 0xe007f)
}

// AppendEscaped appends the escape of a character in a JSON string, such as \u200b.
func AppendEscaped(dst []byte, r rune) []byte {
	if first, second := utf16.EncodeRune(r); first != utf8.RuneError {
		return AppendEscaped(AppendEscaped(dst, first), second)
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// EscapeHidden escapes the hidden characters of a JSON text. They can only be in strings.
func EscapeHidden(json []byte) []byte {
	if !bytes.ContainsFunc(json, Hidden) {
		return json
	}
	var out []byte
	for _, r := range string(json) {
		if Hidden(r) {
			out = AppendEscaped(out, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// JSONWriter returns a writer for a JSON encoder, which writes whole values. It escapes their
// hidden characters.
func JSONWriter(w io.Writer) io.Writer { return jsonWriter{w} }

type jsonWriter struct{ w io.Writer }

func (j jsonWriter) Write(value []byte) (int, error) {
	if _, err := j.w.Write(EscapeHidden(value)); err != nil {
		return 0, err
	}
	return len(value), nil
}
