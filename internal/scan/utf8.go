package scan

import "unicode/utf8"

// AppendUTF8 appends b as the Encoding Standard's UTF-8 decoder reads it:
// each maximal subpart of an ill-formed sequence becomes one U+FFFD. A byte
// order mark is kept.
func AppendUTF8(dst, b []byte) []byte {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r != utf8.RuneError || n > 1 {
			dst = append(dst, b[:n]...)
			b = b[n:]
			continue
		}
		dst = append(dst, "\uFFFD"...)
		b = b[maximalSubpart(b):]
	}
	return dst
}

// maximalSubpart returns how many bytes of the ill-formed b one U+FFFD stands
// for (Unicode 3.9, table 3-8).
func maximalSubpart(b []byte) int {
	lo, hi, more := byte(0x80), byte(0xBF), 0
	switch c := b[0]; {
	case 0xC2 <= c && c <= 0xDF:
		more = 1
	case c == 0xE0:
		lo, more = 0xA0, 2
	case c == 0xED:
		hi, more = 0x9F, 2
	case 0xE1 <= c && c <= 0xEF:
		more = 2
	case c == 0xF0:
		lo, more = 0x90, 3
	case c == 0xF4:
		hi, more = 0x8F, 3
	case 0xF1 <= c && c <= 0xF3:
		more = 3
	}
	n := 1
	for ; more > 0 && n < len(b) && lo <= b[n] && b[n] <= hi; more-- {
		n++
		lo, hi = 0x80, 0xBF
	}
	return n
}

// repairUTF8 replaces ill-formed bytes in what was taken from a UTF-8 page.
func (s *Scanner) repairUTF8() {
	if !s.sawNonASCI {
		return
	}
	repair := func(b []byte) []byte {
		if b == nil || utf8.Valid(b) {
			return b
		}
		from := len(s.arena)
		s.arena = AppendUTF8(s.arena, b)
		return s.arena[from:len(s.arena):len(s.arena)]
	}
	p := &s.page
	for i := range p.Links {
		p.Links[i].Value = repair(p.Links[i].Value)
	}
	for off, ref := range p.refs {
		p.refs[off] = repair(ref)
	}
	for i := range p.Anchors {
		p.Anchors[i].Name = repair(p.Anchors[i].Name)
	}
	for i := range p.Bases {
		p.Bases[i].Value = repair(p.Bases[i].Value)
	}
}
