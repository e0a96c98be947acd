package source

import (
	"bytes"
	"context"
	"html"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// Anchor is the element with the id ID, decoded, on a page. Page is a slash
// path relative to the docroot.
type Anchor struct{ Page, ID string }

// Heading is the position in a source file that creates an anchor: the first
// character of the heading's text, or the id if no heading has it.
type Heading struct {
	Position
	// Title is the heading as the page shows it, "" if there is no heading.
	Title string
	// Term reports that it is the term of a definition list.
	Term bool
}

// Headings returns where each anchor is written, nil where that is not certain.
// The errors are the cause of ctx, and a docroot that can no longer be read.
func (m *Map) Headings(ctx context.Context, s *site.Site, anchors []Anchor) ([]*Heading, error) {
	reader, err := m.useSite(s)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	order := make([]int, len(anchors)) // sorted by page
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(anchors[a].Page, anchors[b].Page) })
	found := make([]*Heading, len(anchors))
	var p *anchorPage
	for n, i := range order {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if n == 0 || anchors[i].Page != anchors[order[n-1]].Page {
			p = m.anchorPage(reader, anchors[i].Page)
		}
		found[i] = p.heading(anchors[i].ID)
	}
	return found, nil
}

// anchorPage is a page with anchors to look for, and its source.
type anchorPage struct {
	headings []ShownHeading
	doc      *document // nil if the source is not known
	// copied is the text of the page if it is a copy of the file original.
	copied   []byte
	original contentFile
}

func (m *Map) anchorPage(r *site.Reader, name string) *anchorPage {
	p := &anchorPage{}
	text, err := system.ReadFS(m.docroot, name, maxSourcePage)
	if err != nil {
		return p
	}
	p.headings = ShownHeadings(text)
	if dir, file, ok := m.content.copyOf(m.docroot, name, text); ok {
		p.copied, p.original = text, contentFile{dir: dir, display: dir.displayName(file)}
		return p
	}
	p.doc = m.fileOf(name, text, findMarkers(text).file, m.pageLinks(r, name, text))
	return p
}

// heading returns the position that creates an id, nil if there is none or
// several.
func (p *anchorPage) heading(id string) *Heading {
	nth, title, label, term := -1, "", "", false
	same := 0 // headings of the page with the same label
	for i := range p.headings {
		if slices.Contains(p.headings[i].IDs, id) {
			title, label, term = p.headings[i].Title, p.headings[i].label, p.headings[i].term
			break
		}
	}
	for i := range p.headings {
		if p.headings[i].label != label {
			continue
		}
		if slices.Contains(p.headings[i].IDs, id) {
			nth = same
		}
		same++
	}
	switch {
	case p.copied != nil:
		if at, ok := writtenID(p.copied, id); ok {
			return &Heading{*p.original.position(newLines(p.copied).at(at)), title, term}
		}
		return nil
	case p.doc == nil:
		return nil
	}
	at, ok := p.doc.headingAt(id, label, nth, same)
	if !ok {
		if at, ok = writtenID(p.doc.lines.text, id); !ok {
			return nil
		}
	}
	return &Heading{*p.doc.position(at), title, term}
}

// headingAt returns the offset of the heading with an id, or else of the nth
// heading with a label, provided that there are count of them, as on the page.
func (d *document) headingAt(id, label string, nth, count int) (at int, ok bool) {
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
		for i, start := range d.lines.starts {
			_, end, _ := d.lines.span(i + 1)
			line := d.lines.text[start:end]
			if plainLabel(string(line)) == label {
				places = append(places, start+len(line)-len(bytes.TrimLeft(line, "=*#.+ \t")))
			}
		}
	}
	if len(places) != count {
		return 0, false
	}
	return places[nth], true
}

// writtenID returns the offset of an id if exactly one element has it in a
// text, as an attribute of HTML or in the braces of Markdown.
func writtenID(text []byte, id string) (at int, ok bool) {
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

// ShownHeading is a heading of a built page, or a term of a definition list.
type ShownHeading struct {
	// IDs are those of the heading, of elements in it and of the one right before it.
	IDs []string
	// Title is its text.
	Title string

	label string
	term  bool
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
		h := ShownHeading{term: text[at[2]]|0x20 == 'd'}
		before := beforeHeading().Find(text[max(0, at[0]-300):at[0]])
		for _, part := range [][]byte{before, text[at[0]:at[1]], inner} {
			for _, tag := range anyTag().FindAll(part, -1) {
				if v := idValue().FindSubmatch(tag); v != nil {
					h.IDs = append(h.IDs, html.UnescapeString(strings.Trim(string(v[1]), `"'`)))
				}
			}
		}
		title := html.UnescapeString(string(anyTag().ReplaceAll(inner, nil)))
		h.label = plainLabel(title)
		h.Title = strings.TrimRight(strings.Join(strings.Fields(title), " "), "#¶§🔗\u200b\u00a0 ")
		all = append(all, h)
	}
	return all
}

// Files returns the content file that each page was made of, without line and
// column, nil where that is not certain. The errors are the cause of ctx, and a
// docroot that can no longer be read.
func (m *Map) Files(ctx context.Context, s *site.Site, pages []string) ([]*Position, error) {
	found := make([]*Position, len(pages))
	reader, err := m.useSite(s)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	for i, name := range pages {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		switch p := m.anchorPage(reader, name); {
		case p.copied != nil:
			found[i] = p.original.position(0, 0)
		case p.doc != nil:
			found[i] = p.doc.file.position(0, 0)
		}
	}
	return found, nil
}
