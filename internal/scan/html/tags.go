package html

// This file reads a page of another site tag by tag, as it is written: what
// contains what makes no difference.

import (
	"bytes"
	"iter"
	"strings"

	"golang.org/x/net/html"
)

// Tag is a start tag.
type Tag struct {
	html.Token
	// Raw is the tag as it is written, at this offset in the page.
	Raw    []byte
	Offset int
}

// Attribute returns the value of the first attribute of this name.
func (t Tag) Attribute(name string) (value string, ok bool) {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// Tags yields the start tags of a page in UTF-8.
func Tags(page []byte) iter.Seq[Tag] {
	return func(yield func(Tag) bool) {
		z := html.NewTokenizer(bytes.NewReader(page))
		for offset := 0; ; {
			kind, start := z.Next(), offset
			offset += len(z.Raw())
			switch kind {
			case html.ErrorToken:
				return
			case html.StartTagToken, html.SelfClosingTagToken:
				if raw := page[start:offset]; !yield(Tag{z.Token(), raw, start}) {
					return
				}
			}
		}
	}
}

// Visible returns what a visitor without scripts sees of a page in UTF-8, with white space
// folded, and whether the page has scripts.
func Visible(page []byte) (title, body string, scripted bool) {
	var titles, texts strings.Builder
	z := html.NewTokenizer(bytes.NewReader(page))
	hidden, inTitle := "", false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(titles.String()), " "), strings.Join(strings.Fields(texts.String()), " "), scripted
		case html.TextToken:
			switch {
			case inTitle:
				titles.Write(z.Text())
			case hidden == "":
				texts.Write(z.Text())
				texts.WriteByte(' ')
			}
		case html.StartTagToken:
			switch name, _ := z.TagName(); string(name) {
			case "title":
				inTitle = true
			case "script", "style", "noscript", "template":
				if hidden == "" {
					hidden = string(name)
				}
				scripted = scripted || string(name) == "script"
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if string(name) == hidden {
				hidden = ""
			}
			inTitle = inTitle && string(name) != "title"
		}
	}
}
