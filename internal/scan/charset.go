package scan

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// canonicalCharset returns the WHATWG name of an encoding label, as a page's
// own declaration means it: UTF-16 can only be an error there and means
// UTF-8 (HTML 13.2.3.2). Unknown labels give "".
func canonicalCharset(label string) string {
	if label == "" {
		return ""
	}
	_, name := charset.Lookup(label)
	switch name {
	case "utf-16be", "utf-16le":
		return "utf-8"
	case "x-user-defined":
		return "windows-1252"
	}
	return name
}

// headerCharset is canonicalCharset for the server's header, where UTF-16 is
// meant.
func headerCharset(label string) string {
	if label == "" {
		return ""
	}
	_, name := charset.Lookup(label)
	return name
}

// sniffBOM returns the encoding that a byte order mark names, and its length.
func sniffBOM(b []byte) (name string, length int) {
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

// asciiCompatible are the encodings in which every byte below 0x80 is always
// the ASCII character, so that tags can be found before anything is decoded.
// All single-byte encodings of the standard are; of the others only UTF-8
// and those whose trail bytes are all above 0x7F.
func asciiCompatible(name string) bool {
	switch name {
	case "utf-16be", "utf-16le", "shift_jis", "gbk", "gb18030", "big5", "iso-2022-jp", "replacement":
		return false
	}
	return true
}

// needsTranscoding tells whether the page must be read again as UTF-8. A page
// that has no byte above 0x7F in any value is the same in all encodings that
// agree with ASCII. Shift_JIS and its like have ASCII bytes inside characters,
// so only a page without any such byte is safe.
func needsTranscoding(name string, sawNonASCII bool) bool {
	switch {
	case name == "utf-8":
		return false
	case name == "" || asciiCompatible(name):
		return sawNonASCII
	}
	return true
}

// transcript remembers how a text was transcribed, for [Page.Source].
type transcript struct {
	original []byte
	skipped  int // bytes of the mark before original
	enc      encoding.Encoding
	// decoder has turned the first in bytes of original into out bytes.
	decoder *encoding.Decoder
	in, out int
}

// seek decodes on, or from the start again, until at least off bytes are out.
func (t *transcript) seek(off int) {
	if t.decoder == nil || off < t.out {
		t.decoder, t.in, t.out = t.enc.NewDecoder(), 0, 0
	}
	var buf [512]byte
	for t.out < off && t.in < len(t.original) {
		room := min(len(buf), max(utf8.UTFMax, off-t.out))
		nDst, nSrc, err := t.decoder.Transform(buf[:room], t.original[t.in:], true)
		if nDst == 0 && nSrc == 0 {
			return
		}
		t.in, t.out = t.in+nSrc, t.out+nDst
		if err == nil {
			return
		}
	}
}

// transcoded reads text, which is in the named encoding and stands after
// skipped bytes of the file, again as UTF-8.
func (s *Scanner) transcoded(text []byte, skipped int, name string) *Page {
	s.transcribe(text, skipped, name)
	s.scan(0)
	s.repairUTF8()
	return &s.page
}

// transcribe makes the UTF-8 form of text the text of the page.
func (s *Scanner) transcribe(text []byte, skipped int, name string) {
	if name == "" {
		name = "windows-1252"
	}
	enc, _ := charset.Lookup(name)
	if enc == nil {
		enc = encoding.Replacement
	}
	decoded, _, err := transform.Bytes(enc.NewDecoder(), text)
	if err != nil { // decoders replace what they cannot read; be safe
		decoded = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	s.reset(decoded, name)
	s.headerSet = true // decoded once: no declaration changes it now
	s.page.source = &transcript{original: text, skipped: skipped, enc: enc}
}

// Charset returns the WHATWG name of the page's encoding.
func (p *Page) Charset() string {
	if p.charset == "" {
		return "windows-1252"
	}
	return p.charset
}

// Source returns the offset in the file's own bytes of an offset in
// [Page.Text]. It is the same number unless the page had to be transcribed;
// then offsets are cheap in ascending order, and one before the last costs the
// decoding of all that comes before it.
func (p *Page) Source(off uint32) int64 {
	if p.source == nil {
		return int64(off)
	}
	p.source.seek(int(off))
	return int64(p.source.skipped + p.source.in)
}

// declareCharset notes the encoding that a meta element names. The first
// known one counts, and neither a mark nor the header is overruled.
func (s *Scanner) declareCharset(label []byte) {
	if s.headerSet || s.page.charset != "" || len(label) == 0 || len(label) > 64 {
		return
	}
	s.page.charset = canonicalCharset(string(label))
}

// charsetOf extracts the encoding from the content of a meta element
// (HTML 2.4.4, "extracting a character encoding from a meta element").
func charsetOf(content []byte) []byte {
	rest := content
	for {
		k := indexFold(rest, "charset")
		if k < 0 {
			return nil
		}
		rest = bytes.TrimLeft(rest[k+len("charset"):], asciiSpace)
		if len(rest) > 0 && rest[0] == '=' {
			break
		}
	}
	rest = bytes.TrimLeft(rest[1:], asciiSpace)
	if len(rest) == 0 {
		return nil
	}
	if q := rest[0]; q == '"' || q == '\'' {
		if k := bytes.IndexByte(rest[1:], q); k >= 0 {
			return rest[1 : 1+k]
		}
		return nil
	}
	if k := bytes.IndexAny(rest, "\t\n\f\r ;"); k >= 0 {
		return rest[:k]
	}
	return rest
}

const asciiSpace = "\t\n\f\r "

// indexFold is bytes.Index for a lower-case ASCII name in any letter case.
func indexFold(b []byte, name string) int {
	for i := 0; i+len(name) <= len(b); i++ {
		if foldEqual(b[i:i+len(name)], name) {
			return i
		}
	}
	return -1
}
