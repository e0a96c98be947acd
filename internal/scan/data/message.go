package data

import (
	"bytes"
	"io"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/sitelink/sitelink/internal/text"
)

var (
	messageProlog   = text.Regexp(`^<\?xml[ \t\r\n][^>]*\?>`)
	messageEncoding = text.Regexp(`[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*["']([A-Za-z0-9._:-]+)["']`)
)

// MessageText returns the XML of a stranger's message in UTF-8, without the XML declaration and
// any text before it; "" if nothing in it matches begin. Characters that XML does
// not allow, and bytes that are invalid in the message's encoding, are replaced by
// U+FFFD, so that a careless text does not hide the rest. If fallback is not
// "", it is the encoding of a message that should be UTF-8 and is not.
func MessageText(body []byte, contentType string, begin *regexp.Regexp, fallback string) string {
	body = decodeUTF16(body)
	at := begin.FindIndex(body)
	if at == nil {
		return ""
	}
	body = body[at[0]:]
	label := ""
	if head := messageProlog().Find(body); head != nil {
		if m := messageEncoding().FindSubmatch(head); m != nil {
			label = string(m[1])
		}
		body = body[len(head):]
	}
	if label == "" {
		if _, params, err := mime.ParseMediaType(contentType); err == nil {
			label = params["charset"]
		}
	}
	text, isUTF8 := decodeCharset(body, label)
	if isUTF8 && fallback != "" && !utf8.Valid(text) {
		text, _ = decodeCharset(text, fallback)
	}
	return strings.Map(xmlChar, string(text))
}

// decodeUTF16 converts UTF-16 with a byte order mark to UTF-8.
func decodeUTF16(body []byte) []byte {
	label := ""
	switch {
	case bytes.HasPrefix(body, []byte("\xFE\xFF")):
		label = "utf-16be"
	case bytes.HasPrefix(body, []byte("\xFF\xFE")):
		label = "utf-16le"
	default:
		return body
	}
	text, _ := decodeCharset(body[2:], label)
	return text
}

// decodeCharset converts body from the encoding with that label to UTF-8, and
// reports whether it was left alone as UTF-8. Unknown labels mean UTF-8, and so
// does UTF-16 if the bytes are not UTF-16: some programs declare it wrongly.
func decodeCharset(body []byte, label string) ([]byte, bool) {
	e, name := charset.Lookup(label)
	if e == nil || name == "utf-8" || strings.HasPrefix(name, "utf-16") && bytes.IndexByte(body, 0) < 0 {
		return body, true
	}
	text, err := io.ReadAll(e.NewDecoder().Reader(bytes.NewReader(body)))
	if err != nil {
		return body, true
	}
	return text, false
}

// xmlChar returns r, or U+FFFD if XML 1.0 (section 2.2) does not allow it.
func xmlChar(r rune) rune {
	if r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 {
		return r
	}
	return utf8.RuneError
}
