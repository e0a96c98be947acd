package answer

import (
	"bytes"
	"mime"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// longest is how many runes of what a stranger's server says are shown.
const longest = 200

// Line makes one line of a text: control characters and white space become one
// blank, what is not UTF-8 becomes U+FFFD, and a long text is cut.
func Line(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
	n := 0
	for i := range text {
		if n++; n > longest {
			return text[:i] + "..."
		}
	}
	return text
}

// Excerpt returns the beginning of a body as one line of text, of HTML without
// its tags. Bodies that are no text give "".
func Excerpt(body []byte, contentType string) string {
	media, _, _ := mime.ParseMediaType(contentType)
	switch {
	case media == "text/html", media == "application/xhtml+xml", media == "" && bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
		return Line(htmlText(body))
	case media == "", strings.HasPrefix(media, "text/"), strings.HasSuffix(media, "json"), strings.HasSuffix(media, "xml"):
		return Line(string(body[:min(len(body), 4*longest)]))
	}
	return ""
}

// htmlText returns the text of the first elements of a page, scripts and style
// sheets left out.
func htmlText(body []byte) string {
	var b strings.Builder
	z := html.NewTokenizer(bytes.NewReader(body))
	hidden := false
	for b.Len() < 4*longest {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.StartTagToken:
			name, _ := z.TagName()
			hidden = string(name) == "script" || string(name) == "style"
			b.WriteByte(' ')
		case html.EndTagToken:
			hidden = false
			b.WriteByte(' ')
		case html.TextToken:
			if !hidden {
				b.Write(z.Text())
			}
		}
	}
	return b.String()
}
