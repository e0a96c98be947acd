package source

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
	"golang.org/x/text/unicode/norm"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/text"
)

// Form is a syntax in which an author writes the destination of a link.
type Form uint8

// The forms of destinations.
const (
	FormWord       Form = iota // a word in markup that is not parsed, or in a rule file
	FormInline                 // [text](here), ![text](here)
	FormDefinition             // [label]: here
	FormAutolink               // <here>, or a bare address
	FormHTML                   // an attribute of HTML
	FormComponent              // an attribute of a component in MDX
	FormShortcode              // a parameter of a shortcode of Hugo
	FormMatter                 // a value of front matter
	FormData                   // a value of a data or configuration file
	FormString                 // a string in an action of a template
	FormCSS                    // a URL of a style sheet
)

// Written is a place of a file where its author may have written the
// destination of a link.
type Written struct {
	// At is the offset of its first byte. Position is the offset that a
	// [Position] names: they differ for strings in actions of templates.
	At, Position int
	// Value is the destination without the escapes of its form.
	Value string
	Form  Form
	// Element is the element that it becomes, "" if that is not known. Label is
	// the text of the link, as letters and digits in lower case.
	Element, Label string
	// Name is the name of the shortcode or attribute, or the function of an
	// action. Key is the key of a value of data or front matter, in lower case,
	// or the name of a shortcode's parameter.
	Name, Key string
	// Size is the length in bytes of what is written, 0 if that follows from
	// the form.
	Size int
}

// ReadWritten returns the places of links in a file, sorted by offset. name is its
// path in the project.
func ReadWritten(name string, text []byte, g Generator) []Written {
	var all []Written
	switch {
	case path.Base(name) == ".htaccess":
		all = rulesWritten(text, apacheFields)
	case isRuleTemplate(name) && !isHTMLLike(name) && !isContent(name):
		all = rulesWritten(text, ruleFields)
	case isContent(name) && !(isHTMLName(name) && frontMatter(text) == 0 && bytes.Contains(text, []byte("{{"))) && !(isHTMLName(name) && !g.Traits().Refs && isHTMLTemplate(name, text)):
		all = contentWritten(parseDocument(name, text, g.Traits().Refs))
	case isHTMLLike(name), hasExtension(name, wordSet(".svg .xml")):
		all = append(matterWritten(values(text, 0, frontMatter(text)), FormMatter), templateWritten(text)...)
	case hasExtension(name, wordSet(".css .scss .sass .less")):
		var s scan.CSSScanner
		page := s.Scan(text, scan.Options{DefaultCharset: "utf-8"})
		for i := range page.Links {
			l := &page.Links[i]
			at := int(page.Source(l.Off))
			all = append(all, Written{At: at, Position: at, Value: string(l.Value), Form: FormCSS, Element: page.Element(l)})
		}
	case isTemplate(name), hasExtension(name, wordSet(".webmanifest")):
		of := values(text, 0, len(text))
		for i := range of {
			of[i].nested = true
		}
		all = matterWritten(of, FormData)
	}
	slices.SortStableFunc(all, func(a, b Written) int { return a.At - b.At })
	return slices.CompactFunc(all, func(a, b Written) bool { return a.At == b.At })
}

// contentWritten returns the places of a content file, with the definitions that
// no link uses.
func contentWritten(d *document) []Written {
	all := matterWritten(d.matter, FormMatter)
	for _, it := range d.links {
		w := Written{At: it.at, Position: it.at, Value: it.dest, Form: it.form, Element: it.element, Label: it.label, Name: it.code, Key: it.key, Size: it.size}
		if w.Form == FormShortcode {
			w.Value = it.dest[:min(it.size, len(it.dest))]
		}
		all = append(all, w)
	}
	for _, def := range d.defs {
		all = append(all, Written{At: def.at, Position: def.at, Value: def.dest, Form: FormDefinition})
	}
	return all
}

// matterWritten returns the values that may be links.
func matterWritten(values []value, form Form) (all []Written) {
	for _, v := range values {
		if v.holdsLink() {
			all = append(all, Written{At: v.at, Position: v.at, Value: v.text, Form: form, Key: v.key})
		}
	}
	return all
}

// templateWritten returns the addresses in the attributes of a template, and the
// strings in actions there.
func templateWritten(text []byte) (all []Written) {
	f := templateFile{text: text}
	for _, w := range f.readLinks() {
		from, to := w.attr.from, w.attr.to
		if w.isLiteral() && !strings.HasSuffix(w.attr.name, "srcset") {
			all = append(all, Written{At: from, Position: from, Value: w.pieces[0], Form: FormHTML, Element: w.element(), Name: w.attr.name})
			continue
		}
		for i := from; i < to; i++ {
			end := i
			for end < to && f.outline.text[end] == masked {
				end++
			}
			for _, s := range actionStrings(text, i, end) {
				s.Element, s.Name = w.element(), w.attr.name
				s.Position = i
				all = append(all, s)
			}
			i = end
		}
	}
	return all
}

// actionStrings returns the strings in the actions between two offsets.
func actionStrings(text []byte, from, to int) (all []Written) {
	for i := from; i < to; i++ {
		q := text[i]
		if q != '"' && q != '`' && q != '\'' {
			continue
		}
		n := bytes.IndexByte(text[i+1:to], q)
		if n < 0 {
			return all
		}
		if s := text[i+1 : i+1+n]; n > 0 && !bytes.ContainsAny(s, "\\\n") {
			all = append(all, Written{At: i + 1, Position: i, Value: string(s), Form: FormString, Size: n})
		}
		i += n + 1
	}
	return all
}

// rulesWritten returns the destinations in the lines of a rule file.
func rulesWritten(text []byte, fields func(line []byte) (from, to string)) (all []Written) {
	off := 0
	for line := range bytes.Lines(text) {
		if from, to := fields(line); to != "" {
			first := bytes.Index(line, []byte(from))
			at := off + first + len(from) + bytes.Index(line[first+len(from):], []byte(to))
			all = append(all, Written{At: at, Position: off + first, Value: to, Size: len(to), Key: from})
		}
		off += len(line)
	}
	return all
}

// WrittenHeading is a heading of a Markdown file.
type WrittenHeading struct {
	// Start and End are the offsets of its text, without markers and attributes.
	Start, End int
	Level      int
	// Text is the text as readers see it.
	Text string
	// ID is the id that the author gives, between the offsets IDStart and IDEnd;
	// "" if there is none.
	ID             string
	IDStart, IDEnd int
	// Anchor is the id that the page gets: ID, or the one that the generator makes of
	// the text; "" if it makes none.
	Anchor string
}

// ReadHeadings returns the headings of a Markdown file in their order. ids is how the
// generator makes their ids.
func ReadHeadings(name string, text []byte, g Generator, ids generator.HeadingIDs) (all []WrittenHeading) {
	if !isMarkdown(name) {
		return nil
	}
	end := frontMatter(text)
	masked := slices.Clone(text)
	blank(masked[:end])
	if g.Traits().Refs {
		for _, sc := range shortcodes(text, end) {
			for i := sc.from; i < sc.to; i++ {
				masked[i] = 'x'
			}
		}
	}
	doc, _, _ := parseGoldmark(masked)
	w := markdownWalk{text: masked}
	used := map[string]bool{}
	// Walk returns only the errors of the callback.
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		h, ok := n.(*ast.Heading)
		if !ok || !entering || h.Lines().Len() == 0 {
			return ast.WalkContinue, nil
		}
		lines := h.Lines()
		of := WrittenHeading{Start: lines.At(0).Start, End: lines.At(lines.Len() - 1).Stop, Level: h.Level}
		of.Text = w.plainText(h)
		if id, ok := h.AttributeString("id"); ok {
			if id, ok := id.([]byte); ok {
				of.setID(text, string(id))
			}
		}
		if of.Anchor = of.ID; of.Anchor == "" && ids != generator.NoHeadingIDs {
			of.Anchor = w.autoID(h, g, ids)
			for base, n := of.Anchor, 1; base != "" && used[of.Anchor]; n++ {
				of.Anchor = base + "-" + strconv.Itoa(n)
			}
		}
		used[of.Anchor] = true
		all = append(all, of)
		return ast.WalkSkipChildren, nil
	})
	return all
}

// autoID returns the id that a generator makes of the text of a heading. Hugo takes the last line as its typographer
// writes it, without raw HTML and addresses, and gives no id if nothing is left. Other
// generators know no typographer and keep combining marks, as GitHub does.
func (w *markdownWalk) autoID(h *ast.Heading, g Generator, ids generator.HeadingIDs) string {
	w.raw = w.raw[:0]
	// Walk returns only the errors of the callback.
	_ = ast.Walk(h, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		t, ok := n.(*ast.Text)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		value := t.Value(w.text)
		if g.Traits().Refs && ids != generator.BlackfridayIDs && t.Parent().Kind() != ast.KindCodeSpan {
			value = typographic().ReplaceAll(value, []byte("$1"))
		}
		w.raw = append(w.raw, value...)
		if t.SoftLineBreak() || t.HardLineBreak() {
			w.raw = w.raw[:0]
		}
		return ast.WalkContinue, nil
	})
	if len(w.raw) == 0 {
		return ""
	}
	plain := string(util.ResolveEntityNames(w.raw))
	switch ids {
	case generator.BlackfridayIDs:
		// The library Blackfriday keeps letters and numbers, in lower case, and writes one
		// hyphen for all that is between them.
		var id strings.Builder
		gap := false
		for _, r := range plain {
			if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
				gap = true
				continue
			}
			if gap && id.Len() > 0 {
				id.WriteByte('-')
			}
			gap = false
			id.WriteRune(unicode.ToLower(r))
		}
		plain = id.String()
	case generator.GitHubASCIIIDs:
		// The letters lose their marks.
		marked := norm.NFD.String(plain)
		plain = githubID(norm.NFC.String(strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, marked)), func(r rune) bool { return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) })
	default:
		plain = githubID(plain, func(r rune) bool {
			return unicode.IsLetter(r) || unicode.IsDigit(r) || !g.Traits().Refs && unicode.Is(unicode.M, r)
		})
	}
	return cmp.Or(plain, "heading")
}

// githubID returns the id that GitHub makes of a text: what is kept in lower case, a hyphen
// for each space, and underscores.
func githubID(text string, keeps func(rune) bool) string {
	var id strings.Builder
	for _, r := range strings.TrimSpace(text) {
		switch {
		case r == ' ' || r == '-':
			id.WriteByte('-')
		case r == '_' || keeps(r):
			id.WriteRune(unicode.ToLower(r))
		}
	}
	return id.String()
}

// typographic matches an escaped character, and hyphens of which Hugo's typographer
// makes a dash.
var typographic = text.Regexp("\\\\([!-/:-@\\[-`{-~])|-{2,3}")

// setID sets the id, and where it is written: in the braces after the text.
func (h *WrittenHeading) setID(text []byte, id string) {
	line := text[h.End:]
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	for _, mark := range []string{"#" + id, `id="` + id + `"`, "id='" + id + "'", "id=" + id} {
		if n := bytes.Index(line, []byte(mark)); n >= 0 {
			h.ID = id
			h.IDStart = h.End + n + strings.Index(mark, id)
			h.IDEnd = h.IDStart + len(id)
			return
		}
	}
}
