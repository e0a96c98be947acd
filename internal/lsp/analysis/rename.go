package analysis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
)

// RenamedHeading is a heading that can be renamed.
type RenamedHeading struct {
	Location
	Text string
}

// HeadingToRename returns the heading at an offset, or the one that the link there
// leads to; ok is false if there is none.
func (s *Snapshot) HeadingToRename(o *Overlay, f *File, offset int) (h RenamedHeading, ok bool) {
	file, at, text := f.Name, offset, f.Text
	if l := f.At(offset); l != nil {
		if l.Target.Fragment == "" || l.Target.Node == docroot.NoNode {
			return h, false
		}
		place, ok := s.Definition(o, &l.Target)
		if !ok || place.End == 0 {
			return h, false
		}
		file, at = place.File, place.Start
		var err error
		if text, err = s.Text(o, file); err != nil {
			return h, false
		}
		f = &File{Name: file, Text: text, Headings: s.Headings(file, text)}
	}
	found := f.HeadingAt(at)
	if found == nil {
		return h, false
	}
	return RenamedHeading{Location{file, found.Start, found.End}, string(text[found.Start:found.End])}, true
}

// RenameHeading returns the edits that give a heading another text, and every link to
// it its new id. An id that the author wrote stays.
func (s *Snapshot) RenameHeading(ctx context.Context, o *Overlay, h RenamedHeading, text string) ([]Edit, error) {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("a heading is one line that is not empty")
	}
	was, err := s.Text(o, h.File)
	if err != nil {
		return nil, err
	}
	now := slices.Concat(was[:h.Start], []byte(text), was[h.End:])
	before, after := s.Headings(h.File, was), s.Headings(h.File, now)
	if len(before) != len(after) {
		return nil, fmt.Errorf("%q would not be a heading", text)
	}
	edits := []Edit{{Name: s.Path(h.File), Start: h.Start, End: h.End, Text: text, Was: was}}
	id, ok := s.page(h.File)
	if !ok {
		return edits, nil // no page links there yet
	}
	changed := map[string]string{}
	for i := range before {
		if from, to := before[i].ID, after[i].ID; from != to {
			if !s.isBuiltSo(h.File, from) {
				return nil, fmt.Errorf("the page of %s has no id %s, so the id that this heading gets is not known; add {#id} to the heading, or build the site first", h.File, from)
			}
			changed[from] = to
		}
	}
	node := s.Site.Page(id).Node()
	for from, to := range changed {
		for _, at := range s.References(o, Place{node, from}) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			e, ok, err := s.retargetFragment(o, at, to)
			if err != nil {
				return nil, err
			}
			if ok {
				edits = append(edits, e)
			}
		}
	}
	slices.SortFunc(edits, func(a, b Edit) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return a.Start - b.Start
	})
	return edits, nil
}

// isBuiltSo reports whether a heading has the id that this package expects: the last
// build gave it that, or has not seen it.
func (s *resolver) isBuiltSo(file, id string) bool {
	page, ok := s.page(file)
	if !ok || s.files[file] == nil || !s.files[file].anchors()[id] {
		return true
	}
	ask, asks := s.Site.ParseFragment((&url.URL{Fragment: id}).EscapedFragment())
	p := s.Site.Page(page)
	return !asks || p.Has(ask.Exact) || ask.Decoded != 0 && p.Has(ask.Decoded)
}

// retargetFragment returns the edit that gives a link another fragment.
func (s *Snapshot) retargetFragment(o *Overlay, at Location, id string) (e Edit, ok bool, err error) {
	text, err := s.Text(o, at.File)
	if err != nil {
		return Edit{}, false, err
	}
	all := s.destinations(at.File, text)
	i := slices.IndexFunc(all, func(d destination.Link) bool { return d.Start == at.Start && d.End == at.End })
	if i < 0 {
		return Edit{}, false, fmt.Errorf("%s changed since it was read", at.File)
	}
	before, _, has := strings.Cut(all[i].Value, "#")
	if !has {
		return Edit{}, false, nil
	}
	raw, err := all[i].Encode(before + "#" + (&url.URL{Fragment: id}).EscapedFragment())
	if err != nil {
		return Edit{}, false, fmt.Errorf("%s: %w", at.File, err)
	}
	if bytes.Equal(text[at.Start:at.End], []byte(raw)) {
		return Edit{}, false, nil
	}
	return Edit{Name: s.Path(at.File), Start: at.Start, End: at.End, Text: raw, Was: text}, true, nil
}
