package source

import (
	"context"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source/read"
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
	headings []read.ShownHeading
	doc      *document // nil if the source is not known
	// copied is the text of the page, and original the file that it is a copy of, nil for none.
	copied   []byte
	original *contentFile
}

func (m *Map) anchorPage(r *site.Reader, name string) *anchorPage {
	p, text := &anchorPage{}, m.built(r, name)
	if text == nil {
		return p
	}
	p.headings = read.ShownHeadings(text)
	p.copied = text
	if p.original = m.content.copyOf(m.docroot, name, text); p.original == nil {
		p.doc = m.fileOf(name, text, findMarkers(text).file, m.pageLinks(r, name, text))
	}
	return p
}

// heading returns the position that creates an id, or nil if no position or
// several do.
func (p *anchorPage) heading(id string) *Heading {
	nth, title, label, term := -1, "", "", false
	same := 0 // headings of the page with the same label
	for i := range p.headings {
		if slices.Contains(p.headings[i].IDs, id) {
			title, label, term = p.headings[i].Title, p.headings[i].Label, p.headings[i].Term
			break
		}
	}
	for i := range p.headings {
		if p.headings[i].Label != label {
			continue
		}
		if slices.Contains(p.headings[i].IDs, id) {
			nth = same
		}
		same++
	}
	switch {
	case p.original != nil:
		if at, ok := read.WrittenID(p.copied, id); ok {
			return &Heading{*p.original.position(read.NewLines(p.copied).At(at)), title, term}
		}
		return nil
	case p.doc == nil:
		return nil
	}
	at, ok := p.doc.HeadingAt(id, label, nth, same)
	if !ok {
		if at, ok = read.WrittenID(p.doc.Lines.Text, id); !ok {
			return nil
		}
	}
	return &Heading{*p.doc.position(at), title, term}
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
		case p.original != nil:
			found[i] = p.original.position(0, 0)
		case p.doc != nil:
			found[i] = p.doc.file.position(0, 0)
		}
	}
	return found, nil
}
