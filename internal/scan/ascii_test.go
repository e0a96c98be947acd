package scan

import (
	"bytes"
	"testing"
)

// TestASCII compares the classes of all bytes with a plain definition.
func TestASCII(t *testing.T) {
	const letters, digits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	for i := range 256 {
		c := byte(i)
		has := func(s string) bool { return bytes.IndexByte([]byte(s), c) >= 0 }
		if IsLetter(c) != has(letters) || IsDigit(c) != has(digits) || IsSpace(c) != has(Space) || IsAlnum(c) != has(letters+digits) {
			t.Errorf("byte %#x: letter %v, digit %v, space %v", c, IsLetter(c), IsDigit(c), IsSpace(c))
		}
		if _, ok := HexDigit(c); ok != has(digits+"abcdefABCDEF") {
			t.Errorf("byte %#x: hexadecimal digit %v", c, ok)
		}
	}
	if !EqualFold([]byte("sCriPt"), "script") || EqualFold([]byte("ſcript"), "script") || EqualFold([]byte("scripts"), "script") {
		t.Error("EqualFold")
	}
	if !EqualFoldBytes([]byte("svG"), []byte("SVg")) || EqualFoldBytes([]byte("a@"), []byte("a`")) || EqualFoldBytes([]byte("a"), []byte("ab")) {
		t.Error("EqualFoldBytes")
	}
	if got := IndexFold([]byte("a NoIndex"), "noindex"); got != 2 {
		t.Errorf("IndexFold: %d", got)
	}
}

func TestLineEnd(t *testing.T) {
	text := []byte("a\r\nb\rc\n\nd")
	var lines []string
	for i := 0; i < len(text); {
		end, next := LineEnd(text, i)
		lines = append(lines, string(text[i:end]))
		i = next
	}
	if got := len(lines); got != 5 || lines[0] != "a" || lines[1] != "b" || lines[2] != "c" || lines[3] != "" || lines[4] != "d" {
		t.Errorf("lines %q", lines)
	}
}
