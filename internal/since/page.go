package since

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/sitelink/sitelink/internal/scan"
)

// Limits of [isHeading].
const (
	maxHeading = 2000 // bytes from the tag of a heading to an anchor inside it
	maxNested  = 4    // start tags between an anchor and its heading
)

// isHeading reports whether the anchor whose value is at an offset names a heading:
// it is the heading itself, it is inside one, or nothing but start tags is between
// it and one, as in <section id="x"><h2> and <a name="x"></a><h2>.
func isHeading(text []byte, value int) bool {
	tag := bytes.LastIndexByte(text[:min(value, len(text))], '<')
	if tag < 0 {
		return false
	}
	if headingLevel(text[tag:]) > 0 {
		return true
	}
	at := tag
	for range maxNested {
		end := bytes.IndexByte(text[at:], '>')
		if end < 0 {
			break
		}
		at += end + 1
		rest := bytes.TrimLeft(text[at:], " \t\r\n\f")
		for bytes.HasPrefix(rest, []byte("</")) && endsAnchor(rest) {
			rest = bytes.TrimLeft(rest[bytes.IndexByte(rest, '>')+1:], " \t\r\n\f")
		}
		if headingLevel(rest) > 0 {
			return true
		}
		if !wraps(rest) {
			break
		}
		at = len(text) - len(rest)
	}
	return insideHeading(text, tag)
}

// endsAnchor reports whether a text begins with the end tag of an element that
// authors leave empty to place an anchor.
func endsAnchor(text []byte) bool {
	for _, name := range []string{"</a>", "</span>", "</p>"} {
		if len(text) >= len(name) && scan.EqualFold(text[:len(name)], name) {
			return true
		}
	}
	return false
}

// wraps reports whether a text begins with an element that is often around a
// heading, or an anchor before it.
func wraps(text []byte) bool {
	for _, name := range []string{"<a ", "<span ", "<div", "<header", "<hgroup", "<section"} {
		if len(text) > len(name) && scan.EqualFold(text[:len(name)], name) {
			return true
		}
	}
	return false
}

// insideHeading reports whether an offset is between the tags of a heading.
func insideHeading(text []byte, tag int) bool {
	before := text[max(0, tag-maxHeading):tag]
	for {
		i := bytes.LastIndexByte(before, '<')
		if i < 0 {
			return false
		}
		if headingLevel(before[i:]) > 0 {
			return true
		}
		if len(before) > i+2 && before[i+1] == '/' && headingLevel(append([]byte{'<'}, before[i+2:min(len(before), i+5)]...)) > 0 {
			return false
		}
		before = before[:i]
	}
}

// headingLevel returns the level of the heading whose start tag begins a text, 0
// for none.
func headingLevel(text []byte) int {
	if len(text) < 4 || text[0] != '<' || text[1]|0x20 != 'h' || text[2] < '1' || text[2] > '6' || strings.IndexByte(" \t\r\n\f>/", text[3]) < 0 {
		return 0
	}
	return int(text[2] - '0')
}

// leastText is how many bytes of text a page needs so that two pages do not have
// the same text by chance.
const leastText = 80

// describe returns the title of a page, its only h1, and a hash of its content:
// the words of its main element, or without one those of the body outside of
// navigation, header and footer. The page around the content changes with every
// build, and with the address.
func describe(page []byte) (title, heading, hash string) {
	var d description
	d.read(page)
	if d.headings == 1 {
		heading = words(d.heading)
	}
	content := d.main
	if len(d.main) == 0 {
		content = d.body
	}
	if text := words(content); len(text) >= leastText {
		hash = shortHash([]byte(text))
	}
	return words(d.title), heading, hash
}

// words joins the words of a text by single spaces.
func words(text []byte) string { return string(bytes.Join(bytes.Fields(text), []byte{' '})) }

// description collects the texts of a page.
type description struct {
	title, heading, main, body []byte
	headings                   int
	// open counts the elements of each kind around the current place.
	inTitle, inHeading bool
	inMain, leftOut    int
}

// maxTitle bounds what a hostile page can put into a record.
const maxTitle = 1000

func (d *description) read(page []byte) {
	z := html.NewTokenizer(bytes.NewReader(page))
	z.SetMaxBuf(0)
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			d.text(z.Text())
		case html.StartTagToken:
			name, _ := z.TagName()
			d.element(atom.Lookup(name), 1)
		case html.EndTagToken:
			name, _ := z.TagName()
			d.element(atom.Lookup(name), -1)
		}
	}
}

// element notes a start tag (1) or an end tag (-1).
func (d *description) element(name atom.Atom, step int) {
	switch name {
	case atom.Title:
		d.inTitle = step > 0 && len(d.title) == 0
	case atom.H1:
		if d.inHeading = step > 0; d.inHeading {
			d.headings++
		}
	case atom.Main:
		d.inMain = max(0, d.inMain+step)
	case atom.Nav, atom.Header, atom.Footer, atom.Aside, atom.Script, atom.Style, atom.Noscript, atom.Template:
		d.leftOut = max(0, d.leftOut+step)
	}
}

func (d *description) text(text []byte) {
	switch {
	case d.inTitle:
		d.title = appendUpTo(d.title, text)
		return
	case d.inHeading && d.headings == 1:
		d.heading = appendUpTo(d.heading, text)
	}
	switch {
	case d.leftOut > 0:
	case d.inMain > 0:
		d.main = append(append(d.main, text...), ' ')
	default:
		d.body = append(append(d.body, text...), ' ')
	}
}

// appendUpTo appends text as long as dst is no title that is too long.
func appendUpTo(dst, text []byte) []byte {
	return append(dst, text[:min(len(text), max(0, maxTitle-len(dst)))]...)
}
