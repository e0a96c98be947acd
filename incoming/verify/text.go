package verify

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
)

// The lengths of texts that are taken from a page, in characters.
const (
	maxTitle   = 200
	maxExcerpt = 320
	maxName    = 100
	maxLang    = 35
	maxURL     = 2048
)

// Clean returns a text of a stranger on one line: white space is collapsed, and
// control characters, invisible ones and those that change the direction of text
// are left out. It has at most limit characters; a longer one ends in "…".
func Clean(text string, limit int) string {
	runes := collapse(text, nil)
	if len(runes) <= limit {
		return string(runes)
	}
	return strings.TrimRight(string(runes[:max(limit-1, 0)]), " ") + "…"
}

// collapse returns the characters of a text that are shown, with each run of white
// space as one space. It calls mark with the place of each private-use character,
// none of which is shown.
func collapse(text string, mark func(r rune, at int)) []rune {
	out := make([]rune, 0, len(text))
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r) || r == '\u200b':
			space = len(out) > 0
		case mark != nil && unicode.Is(unicode.Co, r):
			at := len(out)
			if space {
				at++
			}
			mark(r, at)
		case shown(r):
			if space {
				out, space = append(out, ' '), false
			}
			out = append(out, r)
		}
	}
	return out
}

// shown reports whether a character may be part of a text that is shown. The two
// joiners are part of the spelling of some languages and of emoji.
func shown(r rune) bool {
	switch {
	case r == '\u200c' || r == '\u200d':
		return true
	case r == unicode.ReplacementChar, unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r),
		unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r):
		return false
	}
	return true
}

// The marks at the beginning and at the end of a link in a text.
const (
	linkBegins = '\uE000'
	linkEnds   = '\uE001'
)

// textOf returns the text of a node as a reader sees it, without scripts and the
// like, with the alternative texts of pictures. If link is not nil, marks surround
// its text, and nothing else in the text is a mark.
func textOf(root, link *html.Node) string {
	var b strings.Builder
	write := func(text string) {
		if link != nil {
			text = strings.Map(func(r rune) rune {
				if r == linkBegins || r == linkEnds {
					return -1
				}
				return r
			}, text)
		}
		b.WriteString(text)
	}
	end := scanhtml.Next(root, false)
	var afterLink *html.Node
	for n := root; n != nil && n != end; {
		if n == afterLink {
			b.WriteRune(linkEnds)
			afterLink = nil
		}
		if n == link && link != nil {
			b.WriteRune(linkBegins)
			afterLink = scanhtml.Next(link, false)
		}
		inside := true
		switch n.Type {
		case html.TextNode:
			write(n.Data)
		case html.ElementNode:
			if inside = !silent(n); !inside {
				break
			}
			if breaks(n) {
				b.WriteByte(' ')
			}
			if alt, ok := attr(n, "alt"); ok && n.DataAtom == atom.Img {
				write(alt)
			}
		}
		after := scanhtml.Next(n, inside)
		for up := n; up != nil && up != root && (after == nil || up != after.Parent); up = up.Parent {
			if breaks(up) {
				b.WriteByte(' ')
				break
			}
		}
		n = after
	}
	return b.String()
}

// silent reports whether the content of an element is not text of the page.
func silent(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Textarea, atom.Select, atom.Iframe, atom.Noembed, atom.Noframes,
		atom.Head, atom.Title, atom.Object, atom.Svg, atom.Math:
		return true
	}
	_, hidden := attr(n, "hidden")
	return hidden
}

// breaks reports whether an element begins a line.
func breaks(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Br, atom.Hr, atom.Option:
		return true
	}
	return isBlock(n)
}

// isBlock reports whether an element is a block of text.
func isBlock(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Center, atom.Dd, atom.Details, atom.Div,
		atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3,
		atom.H4, atom.H5, atom.H6, atom.Header, atom.Li, atom.Main, atom.Nav, atom.Ol, atom.P, atom.Pre, atom.Section,
		atom.Summary, atom.Table, atom.Td, atom.Th, atom.Tr, atom.Ul, atom.Html:
		return true
	}
	return false
}

// excerptAround returns the text of the block around a link, cut so that the
// beginning of the link is in it.
func excerptAround(link *html.Node) string {
	block := link
	for block.Parent != nil && block.Parent.Type == html.ElementNode && !isBlock(block) {
		block = block.Parent
	}
	begin, end := 0, -1
	text := collapse(textOf(block, link), func(r rune, at int) {
		if r == linkBegins {
			begin = at
		} else if r == linkEnds {
			end = at
		}
	})
	if len(text) <= maxExcerpt {
		return string(text)
	}
	if end < 0 || end > len(text) {
		end = len(text)
	}
	begin = min(begin, end)
	const room = maxExcerpt - 2 // for the signs of an omission
	around := max(room-(end-begin), 0)
	from := max(0, min(begin-around/2, len(text)-room))
	to := min(len(text), from+room)
	cut := string(text[from:to])
	if from > 0 {
		if i := strings.IndexByte(cut, ' '); i >= 0 && i < 30 && from+i < begin {
			cut = cut[i+1:] // a part of a word
		}
		cut = "…" + cut
	}
	if to < len(text) {
		if i := strings.LastIndexByte(cut, ' '); i > len(cut)-30 {
			cut = cut[:i]
		}
		cut += "…"
	}
	return cut
}
