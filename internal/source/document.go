package source

import (
	"bytes"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
)

// sourceLink is one link in a content file.
type sourceLink struct {
	// order is the offset of the link in the file, at that of its destination.
	// They differ for reference links.
	order, at int
	// dest is the destination that the author means, decoded.
	dest string
	// element is the element that it becomes, "a" or "img"; "" if that is not
	// known.
	element string
	// label is the text of the link after plainLabel, "" if there is none.
	label string
	// isGuess reports that this may be no link: it is a parameter of a
	// shortcode, or a word in a markup that is not parsed.
	isGuess bool
	// ref is the normalised label of a reference link.
	ref string
	// asMarkdown reports that this is a parameter of a {{% %}} shortcode, whose
	// output is parsed as Markdown.
	asMarkdown bool
	// form is the syntax of the destination. size is the length in bytes of a
	// parameter of a shortcode, code and key are the names of both.
	form      Form
	size      int
	code, key string
	// owner is set if links of several files were put together, see
	// Map.withIncluded.
	owner *document
}

// document is a parsed content file.
type document struct {
	file  contentFile
	lines lines
	// links are in the order of the page.
	links []sourceLink
	// headings are those of a Markdown file. unparsed reports that the file has
	// another markup, of which only the words are known.
	headings []heading
	unparsed bool
	// defs holds the link reference definitions by label.
	defs map[string]definition
	// visible is the text that readers see, nil if that is not known.
	visible *visibleText
	// matter holds the values of the front matter.
	matter []value
	// included holds the content files that its shortcodes name. They may put
	// their text into the page.
	included map[string]bool
	// over reports that something takes too long and is left out.
	over bool
}

// definition is the destination of a link reference definition.
type definition struct {
	at   int
	dest string
}

// heading is a heading of a Markdown file, or a term of a definition list.
type heading struct {
	at    int    // of its text
	id    string // "" if the author gives none
	label string
}

// position returns the position of an offset.
func (d *document) position(at int) *Position {
	line, column := d.lines.at(at)
	return &Position{File: d.file.display, Line: line, Column: column, Module: d.file.dir.module}
}

// parseDocument parses a content file by the extension of its name. With
// hugo, {{< >}} is a shortcode.
func parseDocument(name string, text []byte, hugo bool) *document {
	end := frontMatter(text)
	d := &document{lines: newLines(text), matter: values(text, 0, end), included: map[string]bool{}}
	masked := slices.Clone(text)
	blank(masked[:end])
	var codes []shortcode
	if hugo {
		codes = shortcodes(text, end)
		for _, sc := range codes {
			for i := sc.from; i < sc.to; i++ {
				masked[i] = 'x' // Hugo also replaces them with letters while it parses Markdown
			}
		}
	}
	switch ext := strings.ToLower(path.Ext(name)); {
	case isMarkdown(name):
		// The offsets of links and headings are those of the file, because masked has the same
		// length.
		doc, links, over := parseGoldmark(masked)
		d.over = over
		w := markdownWalk{text: masked, unmasked: text, offsets: links.at, defs: map[string]definition{}, raw: make([]byte, 0)}
		ast.Walk(doc, w.prepare)
		w.html = htmlLinks(blankOutside(masked, w.rawSpans))
		ast.Walk(doc, w.visit)
		d.links, d.headings, d.defs, d.visible = w.links, w.headings, w.defs, w.visible.finish()
		if ext == ".mdx" {
			// Attributes of components have addresses that were not found as HTML.
			known := map[int]bool{}
			for _, it := range d.links {
				known[it.at] = true
			}
			for _, v := range jsxValue().FindAllSubmatchIndex(masked, -1) {
				if !known[v[2]] {
					d.links = append(d.links, sourceLink{order: v[2], at: v[2], dest: string(masked[v[2]:v[3]]), isGuess: true, form: FormComponent})
				}
			}
			slices.SortStableFunc(d.links, func(a, b sourceLink) int { return a.order - b.order })
		}
	case ext == ".html" || ext == ".htm":
		d.links, d.visible = htmlLinks(masked), &visibleText{}
		d.visible.addHTML(0, masked)
	default:
		// Other markup is not parsed: words in Org, AsciiDoc and reStructuredText may be
		// destinations.
		var items []sourceLink
		eachWord(masked[end:], func(at int, word []byte) {
			if bytes.ContainsAny(word, "/.#") {
				items = append(items, sourceLink{order: end + at, at: end + at, dest: string(word), isGuess: true})
			}
		})
		d.links, d.unparsed = items, true
	}
	d.addShortcodes(codes)
	return d
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
func (d *document) addShortcodes(codes []shortcode) {
	within := func(at int) *shortcode {
		for i := range codes {
			if codes[i].from <= at && at < codes[i].to {
				return &codes[i]
			}
		}
		return nil
	}
	used := map[int]bool{}
	for i := range d.links {
		it := &d.links[i]
		sc := within(it.at)
		if sc == nil || len(sc.params) == 0 {
			continue
		}
		used[sc.from] = true
		rest := it.dest[min(len(it.dest), sc.to-sc.from):] // ../x{{< >}}#frag
		it.at, it.isGuess = sc.params[0].at, true
		it.dest = sc.params[0].text + rest
		it.form, it.size, it.code, it.key = FormShortcode, len(sc.params[0].text), sc.name, sc.params[0].key
	}
	all := make([]sourceLink, 0, len(d.links)+len(codes))
	next := 0
	for _, it := range d.links {
		for next < len(codes) && codes[next].from < it.order {
			all = appendParameters(all, codes[next], used)
			next++
		}
		all = append(all, it)
	}
	for ; next < len(codes); next++ {
		all = appendParameters(all, codes[next], used)
	}
	d.links = all
}

func appendParameters(all []sourceLink, sc shortcode, used map[int]bool) []sourceLink {
	if used[sc.from] {
		return all
	}
	for _, p := range sc.params {
		all = append(all, sourceLink{order: sc.from, at: p.at, dest: p.text, isGuess: true, asMarkdown: sc.asMarkdown,
			form: FormShortcode, size: len(p.text), code: sc.name, key: p.key})
	}
	return all
}

// htmlLinks finds the links in HTML with the scanner that also reads pages.
func htmlLinks(text []byte) []sourceLink {
	var scanner html.Scanner
	page := scanner.Scan(text, scan.Options{DefaultCharset: "utf-8"})
	items := make([]sourceLink, 0, len(page.Links))
	for i := range page.Links {
		l := &page.Links[i]
		at := int(page.Source(l.Off))
		it := sourceLink{order: at, at: at, dest: string(l.Value), element: page.Element(l), form: FormHTML}
		if it.element == "a" {
			it.label = htmlLabel(text, at)
		}
		items = append(items, it)
	}
	return items
}

// Bounds of what shortcodes may include: nested files, and links in total.
const (
	maxInlineDepth = 8
	maxInlined     = 100_000
)

// withIncluded returns the links of a document together with those of the files
// that its shortcodes name, as `include` shortcodes put them into the page. It
// returns nil if there are no such shortcodes. The text that {{% %}} includes
// is parsed as part of the Markdown: if several definitions have the same
// label, the first one counts (CommonMark, "Link reference definitions").
func (m *Map) withIncluded(d *document) (all []sourceLink) {
	if len(d.included) == 0 {
		return nil
	}
	// The definitions of one Markdown text, which may consist of several files.
	type definitions map[string]sourceLink
	var texts []definitions // of each link
	var add func(d *document, text definitions, depth int)
	add = func(d *document, text definitions, depth int) {
		defs := slices.Collect(maps.Keys(d.defs))
		slices.SortFunc(defs, func(a, b string) int { return d.defs[a].at - d.defs[b].at })
		define := func(before int) {
			for ; len(defs) > 0 && d.defs[defs[0]].at < before; defs = defs[1:] {
				if _, ok := text[defs[0]]; !ok {
					text[defs[0]] = sourceLink{at: d.defs[defs[0]].at, dest: d.defs[defs[0]].dest, owner: d}
				}
			}
		}
		for _, it := range d.links {
			define(it.order)
			it.owner = d
			all, texts = append(all, it), append(texts, text)
			if !it.isGuess || !isContent(it.dest) || depth >= maxInlineDepth || len(all) > maxInlined {
				continue
			}
			f, ok := m.content.namedIn(d.file.display, it.dest)
			if !ok || f.display == d.file.display {
				continue
			}
			into := text
			if !it.asMarkdown {
				into = definitions{}
			}
			add(m.document(f), into, depth+1)
		}
		define(math.MaxInt)
	}
	add(d, definitions{}, 0)
	for i := range all {
		it := &all[i]
		if def, ok := texts[i][it.ref]; ok {
			it.at, it.dest, it.owner = def.at, def.dest, def.owner
		}
	}
	return all
}

// shortcode is one tag of a Hugo shortcode, {{< name params >}} or {{% name
// params %}}.
type shortcode struct {
	from, to   int
	name       string
	params     []value
	asMarkdown bool // {{% %}}: the output is parsed as Markdown
}

// shortcodes returns the tags in a text from an offset on. Commented tags,
// {{</* and */>}}, are text.
func shortcodes(text []byte, from int) (all []shortcode) {
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
		sc := shortcode{from: i, to: body + n + len(end), asMarkdown: end[0] == '%'}
		sc.name, sc.params = parameters(text, body, body+n)
		all = append(all, sc)
		i = sc.to
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
func parameters(text []byte, from, to int) (name string, params []value) {
	key := ""
	add := func(at int, text []byte) {
		params = append(params, value{at: at, text: string(text), key: key})
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
