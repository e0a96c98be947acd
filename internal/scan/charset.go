package scan

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// DeclaredCharset returns the WHATWG name for the label that a file's own
// declaration gives. UTF-16 cannot be true there and means UTF-8
// (HTML 13.2.3.2). The result is "" for an unknown label.
func DeclaredCharset(label string) string {
	switch name := HeaderCharset(label); name {
	case "utf-16be", "utf-16le":
		return "utf-8"
	case "x-user-defined":
		return "windows-1252"
	default:
		return name
	}
}

// HeaderCharset returns the WHATWG name for the label in the server's header,
// where UTF-16 is possible. The result is "" for an unknown label.
func HeaderCharset(label string) string {
	if label == "" {
		return ""
	}
	_, name := charset.Lookup(label)
	return name
}

// SniffBOM returns the encoding that a byte order mark indicates, and the
// length of the mark.
func SniffBOM(b []byte) (name string, length int) {
	switch {
	case bytes.HasPrefix(b, []byte("\xEF\xBB\xBF")):
		return "utf-8", 3
	case bytes.HasPrefix(b, []byte("\xFE\xFF")):
		return "utf-16be", 2
	case bytes.HasPrefix(b, []byte("\xFF\xFE")):
		return "utf-16le", 2
	}
	return "", 0
}

// UTF8BOMLen returns the length of the UTF-8 byte order mark at the start of
// b, 0 or 3.
func UTF8BOMLen(b []byte) int {
	if name, length := SniffBOM(b); name == "utf-8" {
		return length
	}
	return 0
}

// SettleCharset sets the page's encoding to the one labelled def unless the
// page declares one. convert reports whether the page must be read again after
// conversion to UTF-8.
func (b *Builder) SettleCharset(def string) (name string, convert bool) {
	p := &b.Page
	if p.charset == "" {
		p.charset = DeclaredCharset(def)
	}
	return p.charset, needsConversion(p.charset, b.NonASCII)
}

// needsConversion reports whether a page must be read again as UTF-8. In
// encodings that extend ASCII, a page with only ASCII values reads the same
// without conversion. Shift_JIS and similar encodings use ASCII bytes inside
// characters, so their pages are always converted.
func needsConversion(name string, nonASCII bool) bool {
	switch {
	case name == "utf-8":
		return false
	case name == "" || extendsASCII(name):
		return nonASCII
	}
	return true
}

// extendsASCII reports whether every byte below 0x80 is always the ASCII
// character, so that tags can be found before decoding. This is true for UTF-8,
// for all single-byte encodings of the Encoding Standard, and for the
// multi-byte encodings with all trail bytes above 0x7F.
func extendsASCII(name string) bool {
	switch name {
	case "utf-16be", "utf-16le", "shift_jis", "gbk", "gb18030", "big5", "iso-2022-jp", "replacement":
		return false
	}
	return true
}

// DeclareCharset records the encoding that a page declares for itself. The
// first known declaration counts. A byte order mark and the server's header
// override it.
func (b *Builder) DeclareCharset(label []byte) {
	if b.charsetFixed || b.Page.charset != "" || len(label) == 0 || len(label) > 64 {
		return
	}
	b.Page.charset = DeclaredCharset(string(label))
}

// Convert starts a new page with text converted to UTF-8. text is in the named
// encoding and follows the first skipped bytes of the file.
func (b *Builder) Convert(text []byte, skipped int, name string) {
	if name == "" {
		name = "windows-1252"
	}
	enc, _ := charset.Lookup(name)
	if enc == nil {
		enc = encoding.Replacement
	}
	decoded, _, err := transform.Bytes(enc.NewDecoder(), text)
	if err != nil { // not expected: decoders replace what they cannot decode
		decoded = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	b.Reset(decoded, name)
	b.charsetFixed = true // already decoded: a declaration changes nothing
	b.Page.source = &transcript{original: text, skipped: skipped, enc: enc}
}

// Charset returns the WHATWG name of the page's encoding.
func (p *Page) Charset() string {
	if p.charset == "" {
		return "windows-1252"
	}
	return p.charset
}

// transcript remembers how a text was converted, for [Page.Source].
type transcript struct {
	original []byte
	skipped  int // length of the byte order mark before original
	enc      encoding.Encoding
	// decoder has converted the first in bytes of original to out bytes.
	decoder *encoding.Decoder
	in, out int
}

// seek decodes until at least off bytes are out. It starts again from the
// beginning if more than that are out already.
func (t *transcript) seek(off int) {
	if t.decoder == nil || off < t.out {
		t.decoder, t.in, t.out = t.enc.NewDecoder(), 0, 0
	}
	var buf [512]byte
	for t.out < off && t.in < len(t.original) {
		size := min(len(buf), max(utf8.UTFMax, off-t.out))
		nDst, nSrc, err := t.decoder.Transform(buf[:size], t.original[t.in:], true)
		if nDst == 0 && nSrc == 0 {
			return
		}
		t.in, t.out = t.in+nSrc, t.out+nDst
		if err == nil {
			return
		}
	}
}

// Source converts an offset in [Page.Text] to an offset in the file. The two
// are equal unless the page was converted to UTF-8. In that case ask for
// offsets in ascending order: an offset below the previous one costs the
// decoding of everything before it.
func (p *Page) Source(off uint32) int64 {
	if p.source == nil {
		return int64(off)
	}
	p.source.seek(int(off))
	return int64(p.source.skipped + p.source.in)
}

// Plain reports whether the page's text is the text of its file, so that
// [Page.UTF8] removes a byte order mark at most.
func (p *Page) Plain() bool { return p.source == nil && p.Charset() == "utf-8" }

// UTF8 returns the whole text of the page as UTF-8 without byte order mark,
// decoded as a browser decodes it. [Page.Text] may be in another encoding if
// that makes no difference to the links. The result may be a part of the text
// that was scanned.
func (p *Page) UTF8() []byte {
	if p.source != nil || p.Plain() {
		return p.Text[UTF8BOMLen(p.Text):]
	}
	enc, _ := charset.Lookup(p.Charset())
	if enc == nil {
		return p.Text
	}
	decoded, _, err := transform.Bytes(enc.NewDecoder(), p.Text)
	if err != nil {
		return bytes.ToValidUTF8(p.Text, []byte("\uFFFD"))
	}
	return decoded
}

// AppendUTF8 appends b as the UTF-8 decoder of the Encoding Standard reads it:
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

// maximalSubpart returns how many bytes at the start of the ill-formed b are
// replaced by one U+FFFD (Unicode 3.9, table 3-8).
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
