package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/site"
)

// place sets the source of the findings whose link one of the parts of their
// page has. findings are sorted by page.
func place(ctx context.Context, s *site.Site, findings []check.Finding, sources func(string) []Part) error {
	reader, err := s.NewReader()
	if err != nil {
		return err
	}
	defer reader.Close()
	root, err := os.OpenRoot(s.Root())
	if err != nil {
		return fmt.Errorf("read docroot: %w", err)
	}
	defer func() { _ = root.Close() }()
	ids := make(map[string]site.PageID, s.Pages())
	for i := range s.Pages() {
		ids[s.Path(site.PageID(i))] = site.PageID(i)
	}
	for len(findings) > 0 {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		page := findings[0].Page
		n := slices.IndexFunc(findings, func(f check.Finding) bool { return f.Page != page })
		if n < 0 {
			n = len(findings)
		}
		of := findings[:n]
		findings = findings[n:]
		id, ok := ids[page]
		if !ok || !slices.ContainsFunc(of, isLink) {
			continue
		}
		parts := sources(page)
		if len(parts) == 0 {
			continue
		}
		links, err := linksOf(reader, id)
		if errors.Is(err, site.ErrChanged) {
			continue // the findings say so themselves, or hold for what was read
		}
		if err != nil {
			return fmt.Errorf("place findings of %s: %w", page, err)
		}
		text, err := root.ReadFile(page)
		if err != nil {
			text = nil // without it the links are aligned over the whole page
		}
		places := placesOf(text, links, parts)
		for i := range of {
			f := &of[i]
			if at, ok := places[f.Offset]; ok && isLink(*f) && at.destination == f.Raw {
				position := at.position
				f.Source = &position
			}
		}
	}
	return nil
}

func isLink(f check.Finding) bool { return f.Element != "" || f.Raw != "" }

// pageLink is one link of a built page.
type pageLink struct {
	offset int64 // of its value, in bytes of the file
	raw    string
}

// linksOf returns the links of a page, in order.
func linksOf(r *site.Reader, id site.PageID) ([]pageLink, error) {
	var out []pageLink
	err := r.Details(id, nil, func(_ int, d *site.Detail) {
		out = append(out, pageLink{d.Offset, strings.Clone(d.Raw)})
	})
	return out, err
}

// placed is the place of a link in the sources.
type placed struct {
	destination string
	position    check.Position
}

// placesOf returns the places of the links that the parts of a page wrote, by
// their offset on the page. First come the parts that stand on the page byte by
// byte; the links of the others are aligned with what is left.
func placesOf(text []byte, links []pageLink, parts []Part) map[int64]placed {
	places := map[int64]placed{}
	var rest []Link
	var taken []span
	for i := range parts {
		p := &parts[i]
		spans := p.HTML.find(text)
		if len(spans) == 0 {
			rest = append(rest, p.Links...)
		}
		for _, sp := range spans {
			pair(places, within(links, sp), p.Links, false)
		}
		taken = append(taken, spans...)
	}
	if len(rest) > 0 {
		left := links
		for _, sp := range taken {
			left = slices.DeleteFunc(slices.Clone(left), func(l pageLink) bool { return l.offset >= sp.from && l.offset < sp.to })
		}
		pair(places, left, rest, true)
	}
	return places
}

// within returns the links inside a span.
func within(links []pageLink, sp span) []pageLink {
	from := slices.IndexFunc(links, func(l pageLink) bool { return l.offset >= sp.from })
	if from < 0 {
		return nil
	}
	links = links[from:]
	if to := slices.IndexFunc(links, func(l pageLink) bool { return l.offset >= sp.to }); to >= 0 {
		links = links[:to]
	}
	return links
}

// pair notes the places of those links that have one in written.
func pair(places map[int64]placed, links []pageLink, written []Link, sure bool) {
	page, source := make([]string, len(links)), make([]string, len(written))
	for i := range links {
		page[i] = links[i].raw
	}
	for i := range written {
		source[i] = written[i].Destination
	}
	for i, j := range align(page, source, sure) {
		if j >= 0 && written[j].Position.Line > 0 {
			places[links[i].offset] = placed{written[j].Destination, written[j].Position}
		}
	}
}
