package read

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/scan/markdown"
)

// Document is a parsed content file.
type Document struct {
	Lines Lines
	// Links are in the order of the page.
	Links []Written
	// headings are those of a Markdown file. unparsed reports that the file has
	// another markup, of which only the words are known.
	headings []heading
	unparsed bool
	// Defs holds the link reference definitions by label.
	Defs map[string]Definition
	// Visible is the text that readers see, nil if that is not known.
	Visible *VisibleText
	// Matter holds the values of the front matter.
	Matter []Value
	// Over reports that something takes too long and is left out.
	Over bool
}

// Parse parses a content file by the extension of its name. With
// hugo, {{< >}} is a shortcode.
func Parse(name string, text []byte, hugo bool) *Document {
	masked, end, codes := mask(text, hugo)
	d := &Document{Lines: NewLines(text), Matter: Values(text, 0, end)}
	switch ext := strings.ToLower(path.Ext(name)); {
	case IsMarkdown(name):
		// The offsets of links and headings are those of the file, because masked has the same
		// length.
		doc, over := parseGoldmark(masked)
		d.Over = over
		w := markdownWalk{text: masked, unmasked: text, locator: markdown.Locator{Source: masked, Doc: doc}, defs: map[string]Definition{}, raw: make([]byte, 0)}
		ast.Walk(doc, w.prepare)
		if len(w.rawSpans) > 0 {
			w.html = htmlLinks(blankOutside(masked, w.rawSpans))
		}
		ast.Walk(doc, w.visit)
		d.Links, d.headings, d.Defs, d.Visible = w.links, w.headings, w.defs, w.visible.Finish()
		if ext == ".mdx" {
			// Attributes of components have addresses that were not found as HTML.
			known := map[int]bool{}
			for _, it := range d.Links {
				known[it.At] = true
			}
			for _, v := range jsxValue().FindAllSubmatchIndex(masked, -1) {
				if !known[v[2]] {
					d.Links = append(d.Links, Written{Order: v[2], At: v[2], Value: string(masked[v[2]:v[3]]), IsGuess: true, Form: FormComponent})
				}
			}
			slices.SortStableFunc(d.Links, func(a, b Written) int { return a.Order - b.Order })
		}
	case ext == ".html" || ext == ".htm":
		d.Links, d.Visible = htmlLinks(masked), &VisibleText{}
		d.Visible.AddHTML(0, masked)
	default:
		// Other markup is not parsed: words in Org, AsciiDoc and reStructuredText may be
		// destinations.
		var items []Written
		EachWord(masked[end:], func(at int, word []byte) {
			line := masked[bytes.LastIndexByte(masked[:end+at], '\n')+1:]
			it := Written{Order: end + at, At: end + at, Value: string(word), IsGuess: true}
			open := -1
			if before := masked[max(end, it.At-maxLabelBytes):it.At]; bytes.HasSuffix(before, []byte("<")) {
				if open = bytes.LastIndexByte(before, '`'); open >= 0 { // `label <destination>`_
					it.Order, it.Label = it.At-len(before)+open, PlainLabel(string(before[open:]))
				}
			}
			if open < 0 && !bytes.ContainsAny(word, "/.#") || string(word) == ".." || bytes.HasPrefix(line, []byte(":slug:")) {
				return // no address, or a mark or field of reStructuredText
			}
			if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte(":http-equiv=")) {
				it.Element = "meta" // of the directive meta in reStructuredText
			}
			items = append(items, it)
		})
		d.Links, d.Visible, d.unparsed = items, &VisibleText{}, true
		at := end
		for part := range bytes.SplitAfterSeq(masked[end:], []byte("`")) {
			d.Visible.AddHTML(at, part) // without the destinations between < and >
			at += len(part)
		}
	}
	d.addShortcodes(codes)
	return d
}

// mask returns a text of the same length without its front matter, which ends at end, and
// with hugo without its shortcodes.
func mask(text []byte, hugo bool) (masked []byte, end int, codes []shortcode) {
	end = FrontMatter(text)
	masked = slices.Clone(text)
	blank(masked[:end])
	if hugo {
		codes = Shortcodes(text, end)
		for _, sc := range codes {
			for i := sc.From; i < sc.To; i++ {
				masked[i] = 'x' // Hugo also replaces them with letters while it parses Markdown
			}
		}
	}
	return masked, end, codes
}

// blank replaces a text with spaces but keeps its line ends.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
}

// addShortcodes adds the parameters of shortcodes to the links, in the order of
// the text. If the destination of a link is a shortcode, its position is that
// of the parameter.
func (d *Document) addShortcodes(codes []shortcode) {
	within := func(at int) *shortcode {
		for i := range codes {
			if codes[i].From <= at && at < codes[i].To {
				return &codes[i]
			}
		}
		return nil
	}
	if len(codes) == 0 {
		return
	}
	used := map[int]bool{}
	for i := range d.Links {
		it := &d.Links[i]
		sc := within(it.At)
		if sc == nil || len(sc.Params) == 0 {
			continue
		}
		used[sc.From] = true
		rest := it.Value[min(len(it.Value), sc.To-sc.From):] // ../x{{< >}}#frag
		it.At, it.IsGuess = sc.Params[0].At, true
		it.Value = sc.Params[0].Text + rest
		it.Form, it.Size, it.Name, it.Key = FormShortcode, len(sc.Params[0].Text), sc.Name, sc.Params[0].Key
	}
	all := make([]Written, 0, len(d.Links)+len(codes))
	next := 0
	for _, it := range d.Links {
		for next < len(codes) && codes[next].From < it.Order {
			all = appendParameters(all, codes[next], used)
			next++
		}
		all = append(all, it)
	}
	for ; next < len(codes); next++ {
		all = appendParameters(all, codes[next], used)
	}
	d.Links = all
}

func appendParameters(all []Written, sc shortcode, used map[int]bool) []Written {
	if used[sc.From] {
		return all
	}
	for _, p := range sc.Params {
		all = append(all, Written{Order: sc.From, At: p.At, Value: p.Text, IsGuess: true, AsMarkdown: sc.AsMarkdown, Form: FormShortcode, Size: len(p.Text), Name: sc.Name, Key: p.Key})
	}
	return all
}

// htmlLinks finds the links in HTML with the scanner that also reads pages.
func htmlLinks(text []byte) []Written {
	var scanner html.Scanner
	page := scanner.Scan(text, scan.Options{DefaultCharset: "utf-8"})
	items := make([]Written, 0, len(page.Links))
	for i := range page.Links {
		l := &page.Links[i]
		at := int(page.Source(l.Off))
		it := Written{Order: at, At: at, Value: string(l.Value), Element: page.Element(l), Form: FormHTML}
		if it.Element == "a" {
			it.Label = LinkLabel(text, at)
		}
		items = append(items, it)
	}
	return items
}

// shortcode is one tag of a Hugo shortcode, {{< name params >}} or {{% name
// params %}}.
type shortcode struct {
	From, To   int
	Name       string
	Params     []Value
	AsMarkdown bool // {{% %}}: the output is parsed as Markdown
}

// Shortcodes returns the tags in a text from an offset on. Commented tags,
// {{</* and */>}}, are text.
func Shortcodes(text []byte, from int) (all []shortcode) {
	for i := from; i < len(text); {
		n := bytes.Index(text[i:], []byte("{{"))
		if n < 0 || i+n+3 > len(text) {
			return all
		}
		i += n
		var end []byte
		switch text[i+2] {
		case '<':
			end = []byte(">}}")
		case '%':
			end = []byte("%}}")
		default:
			i += 2
			continue
		}
		body := i + 3
		if bytes.HasPrefix(text[body:], []byte("/*")) {
			i = body
			continue
		}
		n = closing(text[body:], end)
		if n < 0 {
			i = body
			continue
		}
		sc := shortcode{From: i, To: body + n + len(end), AsMarkdown: end[0] == '%'}
		sc.Name, sc.Params = parameters(text, body, body+n)
		all = append(all, sc)
		i = sc.To
	}
	return all
}

// closing returns the end of a tag outside of quotes.
func closing(text, end []byte) int {
	var quote byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '`':
			quote = c
		case bytes.HasPrefix(text[i:], end):
			return i
		case bytes.HasPrefix(text[i:], []byte("{{")):
			return -1 // the tag has no end
		}
	}
	return -1
}

// parameters returns the name of a tag, and the values of its parameters, named
// or not. The key of a value is the name of the parameter.
func parameters(text []byte, from, to int) (name string, params []Value) {
	key := ""
	add := func(at int, text []byte) {
		params = append(params, Value{At: at, Text: string(text), Key: key})
	}
	for i := from; i < to; {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '=':
			i++
		case c == '"' || c == '`':
			end := i + 1
			for end < to && text[end] != c {
				if text[end] == '\\' && c == '"' {
					end++
				}
				end++
			}
			end = min(end, to)
			if end > i+1 {
				add(i+1, text[i+1:end])
			}
			key = ""
			i = end + 1
		default:
			end := i
			for end < to && !bytes.ContainsRune([]byte(" \t\r\n="), rune(text[end])) {
				end++
			}
			switch word := text[i:end]; {
			case name == "":
				name = string(word)
			case end < to && text[end] == '=':
				key = string(word)
			default:
				add(i, word)
				key = ""
			}
			i = end
		}
	}
	return name, params
}
