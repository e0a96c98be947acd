package templates

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// width says how the bytes of a page stand to the text that is searched.
type width uint8

const (
	oneByte      width = iota // they are the same: UTF-8, and all that agrees with ASCII
	littleEndian              // UTF-16
	bigEndian
	notNarrow // UTF-16 that no mark announces, which browsers take for something else
)

// narrow returns the text of a page: its bytes, or for UTF-16 their UTF-8 form
// without the mark.
func narrow(raw []byte) ([]byte, width) {
	var order binary.ByteOrder
	w := oneByte
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe")):
		order, w = binary.LittleEndian, littleEndian
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		order, w = binary.BigEndian, bigEndian
	case bytes.HasPrefix(raw, []byte("<\x00")), bytes.HasPrefix(raw, []byte("\x00<")):
		return raw, notNarrow
	default:
		return raw, oneByte
	}
	units := make([]uint16, 0, len(raw)/2)
	for i := 2; i+1 < len(raw); i += 2 {
		units = append(units, order.Uint16(raw[i:]))
	}
	text := make([]byte, 0, len(units)+len(units)/2)
	for _, r := range utf16.Decode(units) {
		text = utf8.AppendRune(text, r) // one unit that is half of a pair gives one U+FFFD
	}
	return text, w
}

// widen turns splices of the text into splices of the page's bytes.
func (w width) widen(text []byte, splices []splice) {
	if w == oneByte {
		return
	}
	at, units := 0, 1 // the mark
	offset := func(i int) int {
		for at < i {
			r, size := utf8.DecodeRune(text[at:])
			at += size
			units += utf16.RuneLen(r)
		}
		return 2 * units
	}
	for i := range splices {
		s := &splices[i]
		s.from, s.to = offset(s.from), offset(s.to)
		var b strings.Builder
		for _, c := range []byte(s.insert) { // the elements are ASCII
			if w == littleEndian {
				b.Write([]byte{c, 0})
			} else {
				b.Write([]byte{0, c})
			}
		}
		s.insert = b.String()
	}
}
