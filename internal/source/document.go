package source

import (
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/scan"
)

// sourceLink is one destination in a content file.
type sourceLink struct {
	// order is where the link stands, at where its destination is written;
	// they differ for reference links. Both are offsets in the file.
	order, at int
	// dest is the destination as the author means it, decoded.
	dest string
	// element is what it becomes, "a" or "img"; empty when that is not known.
	element string
	// label is what plainLabel makes of the link's text; may be empty.
	label string
	// loose: it is a parameter of a shortcode, which decides what becomes of
	// it, or a word of markup that is not read.
	isGuess bool
	// ref is the label of a reference link, normalised.
	ref string
	// pasted: it is a parameter of a {{% %}} shortcode, whose text becomes part
	// of the Markdown.
	asMarkdown bool
	// owner and file are set for items that were brought together from several
	// files, see [Map.inlined].
	owner *document
	file  string
}

// document is a content file, parsed.
type document struct {
	module string // that the file belongs to, see [Position]
	lines  lines
	// items are in the order of the page they make.
	items []sourceLink
	// headings are those of a Markdown file; unread tells that the markup is
	// one that only words are taken from.
	headings []heading
	unread   bool
	// defs are the definitions of reference links, by label.
	defs map[string]definition
	// plain is what readers see of it, nil when that is not known.
	plain *plain
	// matter are the values of the front matter.
	matter []value
	// included are the content files that its shortcodes name; nil until asked.
	included map[string]bool
}

// definition is where the destination of a reference link is defined.
type definition struct {
	at   int
	dest string
}

// heading is a heading of a Markdown file, or a term of a definition list.
type heading struct {
	at    int    // of its text
	id    string // that it is given, if any
	label string
}

// place returns the position of an offset in a document.
func (d *document) position(name string, at int) *Position {
	line, column := d.lines.at(at)
	return &Position{File: name, Line: line, Column: column, Module: d.module}
}

// parseDocument reads a content file by the suffix of its name. hugo tells
// whether {{< >}} are shortcodes.
func parseDocument(name string, text []byte, hugo bool) *document {
	end := frontMatter(text)
	d := &document{lines: newLines(text), matter: values(text, 0, end)}
	masked := slices.Clone(text)
	blank(masked[:end])
	var codes []shortcode
	if hugo {
		codes = shortcodes(text, end)
		for _, sc := range codes {
			for i := sc.from; i < sc.to; i++ {
				masked[i] = 'x' // Hugo, too, puts letters in their place while Markdown is read
			}
		}
	}
	switch ext := strings.ToLower(path.Ext(name)); {
	case isMarkdown(name):
		d.parseMarkdown(masked, text)
		if ext == ".mdx" {
			d.addJSX(masked)
		}
	case ext == ".html" || ext == ".htm":
		d.items, d.plain = htmlItems(masked), &plain{}
		d.plain.addHTML(0, masked)
	default:
		d.items, d.unread = wordItems(masked, end), true
	}
	d.addShortcodes(codes)
	return d
}

// blank puts spaces in place of a text, but keeps its lines.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
}

// addShortcodes puts the parameters of shortcodes among the items, in the
// order of the text. A link whose destination is a shortcode takes its place
// from the parameter.
func (d *document) addShortcodes(codes []shortcode) {
	if len(codes) == 0 {
		return
	}
	within := func(at int) *shortcode {
		for i := range codes {
			if codes[i].from <= at && at < codes[i].to {
				return &codes[i]
			}
		}
		return nil
	}
	used := map[int]bool{}
	for i := range d.items {
		it := &d.items[i]
		sc := within(it.at)
		if sc == nil || len(sc.params) == 0 {
			continue
		}
		used[sc.from] = true
		rest := it.dest[min(len(it.dest), sc.to-sc.from):] // ../x{{< >}}#frag
		it.at, it.isGuess = sc.params[0].at, true
		it.dest = sc.params[0].text + rest
	}
	all := make([]sourceLink, 0, len(d.items)+len(codes))
	next := 0
	for _, it := range d.items {
		for next < len(codes) && codes[next].from < it.order {
			all = appendParameters(all, codes[next], used)
			next++
		}
		all = append(all, it)
	}
	for ; next < len(codes); next++ {
		all = appendParameters(all, codes[next], used)
	}
	d.items = all
}

func appendParameters(all []sourceLink, sc shortcode, used map[int]bool) []sourceLink {
	if used[sc.from] {
		return all
	}
	for _, p := range sc.params {
		if p.text != "" && len(p.text) <= maxValue {
			all = append(all, sourceLink{order: sc.from, at: p.at, dest: p.text, isGuess: true, asMarkdown: sc.asMarkdown})
		}
	}
	return all
}

// htmlItems finds the links of HTML as the scanner of pages does.
func htmlItems(text []byte) []sourceLink {
	if len(text) == 0 {
		return nil
	}
	var scanner scan.Scanner
	page := scanner.HTML(text, scan.Options{DefaultCharset: "utf-8"})
	items := make([]sourceLink, 0, len(page.Links))
	for i := range page.Links {
		l := &page.Links[i]
		at := int(page.Source(l.Off))
		if at > len(text) {
			continue
		}
		it := sourceLink{order: at, at: at, dest: string(l.Value), element: page.Element(l)}
		if it.element == "a" {
			it.label = htmlLabel(text, at)
		}
		items = append(items, it)
	}
	return items
}

// wordItems finds what may be a destination in markup that is not read: Org,
// AsciiDoc, reStructuredText.
func wordItems(text []byte, from int) (items []sourceLink) {
	eachWord(text[from:], func(at int, word string) {
		if strings.ContainsAny(word, "/.#") {
			items = append(items, sourceLink{order: from + at, at: from + at, dest: word, isGuess: true})
		}
	})
	return items
}

// Bounds of what shortcodes may bring into a page: files within files, and
// destinations in all.
const (
	maxInlineDepth = 8
	maxInlined     = 100_000
)

// inlined returns the items of a document with those of the files that its
// shortcodes name, at their places, as `include` shortcodes make them. What
// {{% %}} brings in becomes part of the Markdown: of several definitions with
// the same label the first one counts (CommonMark, "Link reference
// definitions"). nil without such shortcodes.
func (m *Map) inlined(d *document, file string) []sourceLink {
	if !slices.ContainsFunc(d.items, func(it sourceLink) bool { return it.isGuess && isMarkdown(it.dest) }) {
		return nil
	}
	in := inliner{m: m}
	in.add(d, file, &markdownText{defs: map[string]itemDefinition{}}, 0)
	for i := range in.items {
		it := &in.items[i]
		if def, ok := in.texts[i].defs[it.ref]; ok && it.ref != "" {
			it.at, it.dest, it.owner, it.file = def.at, def.dest, def.owner, def.file
		}
	}
	return in.items
}

// itemDefinition is a definition with the file that has it.
type itemDefinition struct {
	definition
	owner *document
	file  string
}

// markdownText is one Markdown text made of several files.
type markdownText struct{ defs map[string]itemDefinition }

type inliner struct {
	m     *Map
	items []sourceLink
	texts []*markdownText // of each item
}

// add appends the items of a document that becomes part of a text.
func (in *inliner) add(d *document, file string, text *markdownText, depth int) {
	type label struct {
		name string
		definition
	}
	var defs []label
	for name, def := range d.defs {
		defs = append(defs, label{name, def})
	}
	slices.SortFunc(defs, func(a, b label) int { return a.at - b.at })
	define := func(before int) {
		for len(defs) > 0 && defs[0].at < before {
			if _, ok := text.defs[defs[0].name]; !ok {
				text.defs[defs[0].name] = itemDefinition{defs[0].definition, d, file}
			}
			defs = defs[1:]
		}
	}
	for _, it := range d.items {
		define(it.order)
		it.owner, it.file = d, file
		in.items, in.texts = append(in.items, it), append(in.texts, text)
		if !it.isGuess || !isMarkdown(it.dest) || depth >= maxInlineDepth || len(in.items) > maxInlined {
			continue
		}
		f, ok := in.m.content.named(path.Clean(strings.TrimPrefix(it.dest, "/")))
		if !ok || f.display == file {
			continue
		}
		if other := in.m.document(f); other != nil {
			into := text
			if !it.asMarkdown {
				into = &markdownText{defs: map[string]itemDefinition{}}
			}
			in.add(other, f.display, into, depth+1)
		}
	}
	define(int(^uint(0) >> 1))
}
