package scan

import (
	"bytes"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/transform"
)

// Plain tells whether the text of the page is that of its file: then
// [Page.UTF8] changes nothing, but for a byte order mark.
func (p *Page) Plain() bool { return p.source == nil && p.Charset() == "utf-8" }

// UTF8 returns the whole text of the page as UTF-8 without byte order mark,
// decoded as a browser would: [Page.Text] is left in the encoding of the file
// while that makes no difference to links. The result may be a part of the
// text that was scanned.
func (p *Page) UTF8() []byte {
	_, mark := sniffBOM(p.Text)
	if p.source != nil || p.Plain() {
		if !bytes.HasPrefix(p.Text, []byte("\xEF\xBB\xBF")) {
			mark = 0
		}
		return p.Text[mark:]
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
