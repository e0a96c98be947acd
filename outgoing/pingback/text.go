package pingback

import (
	"bytes"
	"io"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

var (
	prolog   = regexp.MustCompile(`^<\?xml[ \t\r\n][^>]*\?>`)
	encoding = regexp.MustCompile(`[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*["']([A-Za-z0-9._:-]+)["']`)
	// document is where the XML of an answer may begin. What PHP prints of
	// warnings stands before it.
	document = regexp.MustCompile(`<\?xml[ \t\r\n]|<methodResponse[ \t\r\n/>]|<fault[ \t\r\n/>]`)
)

// xmlText returns the XML of an answer in UTF-8, without its prolog and without
// what stands before it; "" if there is none. It holds only characters that XML
// allows: others, and bytes that are no text in the answer's encoding, have
// become U+FFFD, so that a server's careless message does not hide its code.
func xmlText(body []byte, contentType string) string {
	body = wide(body)
	at := document.FindIndex(body)
	if at == nil {
		return ""
	}
	body = body[at[0]:]
	label := ""
	if head := prolog.Find(body); head != nil {
		if m := encoding.FindSubmatch(head); m != nil {
			label = string(m[1])
		}
		body = body[len(head):]
	}
	if label == "" {
		if _, params, err := mime.ParseMediaType(contentType); err == nil {
			label = params["charset"]
		}
	}
	return strings.Map(xmlChar, string(narrow(body, label)))
}

// wide transcribes UTF-16 with a byte order mark.
func wide(body []byte) []byte {
	label := ""
	switch {
	case bytes.HasPrefix(body, []byte("\xFE\xFF")):
		label = "utf-16be"
	case bytes.HasPrefix(body, []byte("\xFF\xFE")):
		label = "utf-16le"
	default:
		return body
	}
	return narrow(body[2:], label)
}

// narrow transcribes from the encoding of that label. Labels that nobody knows
// stand for UTF-8, and so does UTF-16 on bytes that are none: some servers
// declare it so.
func narrow(body []byte, label string) []byte {
	e, name := charset.Lookup(label)
	if e == nil || name == "utf-8" || strings.HasPrefix(name, "utf-16") && bytes.IndexByte(body, 0) < 0 {
		return body
	}
	text, err := io.ReadAll(e.NewDecoder().Reader(bytes.NewReader(body)))
	if err != nil {
		return body
	}
	return text
}

// xmlChar is r, or U+FFFD if XML 1.0 (section 2.2) does not allow it.
func xmlChar(r rune) rune {
	if r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 {
		return r
	}
	return utf8.RuneError
}
