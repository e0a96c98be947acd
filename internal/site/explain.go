package site

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
)

// Place is where a link stands in its file.
type Place struct{ Line, Column int }

// Explanation is the way from the value of a link to what answers it.
type Explanation struct {
	Steps []host.Step
	host.Resolved
	// Places are those of the page where a link has exactly this value.
	Places []Place
	// Anchors are the names that fragments on the target page can hit, in
	// document order; nil when no page answers.
	Anchors []string
}

// Explain resolves a value as a link of the page from, step by step. The error
// is that of reading the page.
func (r *Reader) Explain(from PageID, raw string) (*Explanation, error) {
	p := &r.s.pages[from]
	page, err := r.text(p)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r.s.Path(from), err)
	}
	e := &Explanation{}
	say := func(rule, format string, args ...any) {
		e.Steps = append(e.Steps, host.Step{Rule: rule, Text: fmt.Sprintf(format, args...)})
	}
	r.res.open(p, page)
	r.res.address()
	say("page", "%s, shown at %s", r.s.Path(from), r.res.pageURL.Path())
	show := func() string { return strings.TrimPrefix(r.res.base.String(), host.Unpublished) }
	off := r.places(page, raw, e)
	switch {
	case len(page.Bases) == 0:
		say("base", "the page's own address: it has no base element")
	case r.s.base == host.BaseDocumentOrder:
		r.res.rebase(page, 0, off)
		say("base", "%s, by the base elements before the link", show())
	default:
		say("base", "%s, by the first base element, %q", show(), page.Bases[0].Value)
	}
	e.Resolved = r.res.trace([]byte(raw), false, &e.Steps)
	r.s.permissions(&e.Resolved)
	if target, ok := r.s.PageOf(e.Node); ok && e.State.Answers() {
		err = r.Anchors(target, func(name []byte, kind scan.AnchorKind) {
			if kind != scan.AnchorMap {
				e.Anchors = append(e.Anchors, string(name))
			}
		})
		if err != nil && !errors.Is(err, ErrChanged) {
			return nil, fmt.Errorf("read %s: %w", r.s.Path(target), err)
		}
	}
	return e, nil
}

// places notes where the value stands and returns the offset of the first
// place, that of the page's end when there is none.
func (r *Reader) places(page *scan.Page, raw string, e *Explanation) uint32 {
	lines := liner{text: page.Text}
	off := uint32(len(page.Text))
	for i := range page.Links {
		l := &page.Links[i]
		if string(l.Value) != raw {
			continue
		}
		if len(e.Places) == 0 {
			off = l.Off
		}
		line, column := lines.at(l.Off)
		e.Places = append(e.Places, Place{line, column})
	}
	return off
}
