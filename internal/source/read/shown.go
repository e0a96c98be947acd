package read

import (
	"bytes"
	"cmp"
	"html"
	"strconv"
	"strings"
	"unicode"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
	"golang.org/x/text/unicode/norm"
)

// ShownHeading is a heading of a built page, or a term of a definition list.
type ShownHeading struct {
	// IDs are those of the heading, of elements in it and of the one right before it.
	IDs []string
	// Title is its text.
	Title string

	Label string
	Term  bool
}

var (
	headingTag = text.Regexp(`(?i)<(h[1-6]|dt)(\s[^>]*)?>`)
	anyTag     = text.Regexp(`<[^>]*>`)
	idValue    = text.Regexp(`(?i)\s(?:id|name)\s*=\s*("[^"]*"|'[^']*'|[^\s>"']+)`)
	// beforeHeading matches an element before a heading that has the id
	// instead.
	beforeHeading = text.Regexp(`(?is)<(?:a|span|section|div)\s[^>]*>\s*(?:</(?:a|span)>\s*)?$`)
)

// maxHeading is the size in bytes of the largest heading with its tags.
const maxHeading = 8 << 10

// ShownHeadings returns the headings of a built page in their order, with and without an
// id.
func ShownHeadings(text []byte) (all []ShownHeading) {
	for _, at := range headingTag().FindAllSubmatchIndex(text, -1) {
		inner := text[at[1]:min(len(text), at[1]+maxHeading)]
		end := scan.IndexFold(inner, "</"+strings.ToLower(string(text[at[2]:at[3]])))
		if end < 0 {
			continue
		}
		inner = inner[:end]
		h := ShownHeading{Term: text[at[2]]|0x20 == 'd'}
		before := beforeHeading().Find(text[max(0, at[0]-300):at[0]])
		for _, part := range [][]byte{before, text[at[0]:at[1]], inner} {
			for _, tag := range anyTag().FindAll(part, -1) {
				if v := idValue().FindSubmatch(tag); v != nil {
					h.IDs = append(h.IDs, html.UnescapeString(strings.Trim(string(v[1]), `"'`)))
				}
			}
		}
		title := html.UnescapeString(string(anyTag().ReplaceAll(inner, nil)))
		h.Label = PlainLabel(title)
		h.Title = strings.TrimRight(strings.Join(strings.Fields(title), " "), "#¶§🔗\u200b\u00a0 ")
		all = append(all, h)
	}
	return all
}

// WrittenID returns the offset of an id if exactly one element has it in a
// text, as an attribute of HTML or in the braces of Markdown.
func WrittenID(text []byte, id string) (at int, ok bool) {
	for i := 0; id != ""; {
		n := bytes.Index(text[i:], []byte(id))
		if n < 0 {
			return at, ok
		}
		start, end := i+n, i+n+len(id)
		i = end
		if !idBefore().Match(text[max(0, start-12):start]) || end < len(text) && strings.IndexByte("\"' \t\r\n}>", text[end]) < 0 {
			continue
		}
		if ok {
			return 0, false // there are two
		}
		at, ok = start, true
	}
	return 0, false
}

var idBefore = text.Regexp(`(?i)([\s"'](id|name)\s*=\s*["']?|\{:?\s?#)$`)

// AuthorHeading is a heading of a Markdown file.
type AuthorHeading struct {
	// Start and End are the offsets of its text, without markers and attributes.
	Start, End int
	Level      int
	// Text is the text as readers see it.
	Text string
	// ID is the id that the author gives, between the offsets IDStart and IDEnd,
	// or "".
	ID             string
	IDStart, IDEnd int
	// Anchor is the id that the page gets: ID, or the one that the generator makes of
	// the text; "" if it makes none.
	Anchor string
}

// Headings returns the headings of a Markdown file in their order. ids is how the
// generator makes their ids.
func Headings(name string, text []byte, g generator.Name, ids generator.HeadingIDs) (all []AuthorHeading) {
	if !IsMarkdown(name) {
		return nil
	}
	masked, _, _ := mask(text, g.Traits().Refs)
	doc, _ := parseGoldmark(masked)
	w := markdownWalk{text: masked}
	used := map[string]bool{}
	// Walk returns only the errors of the callback.
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		h, ok := n.(*ast.Heading)
		if !ok || !entering || h.Lines().Len() == 0 {
			return ast.WalkContinue, nil
		}
		lines := h.Lines()
		of := AuthorHeading{Start: lines.At(0).Start, End: lines.At(lines.Len() - 1).Stop, Level: h.Level}
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
func (w *markdownWalk) autoID(h *ast.Heading, g generator.Name, ids generator.HeadingIDs) string {
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

// typographic matches an escaped character, and hyphens that Hugo's typographer
// turns into a dash.
var typographic = text.Regexp("\\\\([!-/:-@\\[-`{-~])|-{2,3}")

// setID sets the id, and where it is written: in the braces after the text.
func (h *AuthorHeading) setID(text []byte, id string) {
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

// HeadingAt returns the offset of the heading with an id, or else of the nth
// heading with a label, provided that there are count of them, as on the page.
func (d *Document) HeadingAt(id, label string, nth, count int) (at int, ok bool) {
	for _, h := range d.headings {
		if h.id == id {
			return h.at, true
		}
	}
	if nth < 0 || label == "" {
		return 0, false
	}
	var places []int
	for _, h := range d.headings {
		if h.label == label {
			places = append(places, h.at)
		}
	}
	if d.unparsed { // the lines that have the label and no other letters
		for i, start := range d.Lines.starts {
			_, end, _ := d.Lines.Span(i + 1)
			line := d.Lines.Text[start:end]
			if PlainLabel(string(line)) == label {
				places = append(places, start+len(line)-len(bytes.TrimLeft(line, "=*#.+ \t")))
			}
		}
	}
	if len(places) != count {
		return 0, false
	}
	return places[nth], true
}
