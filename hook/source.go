package hook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/similar"
	isite "github.com/sitelink/sitelink/internal/site"
)

// Link is one link as a source wrote it.
type Link struct {
	// Destination is the value that the rendered page has for the link: that of
	// href or src as a browser reads it, with character references decoded.
	Destination string
	// Position is the first character of the destination in the source; for a
	// reference link that is in its definition. Line is 0 if the position is not
	// known: the link then counts when links are aligned, and findings about it
	// have no position.
	Position check.Position
}

// Source is one text that a built page was made of.
type Source struct {
	// Links are in the order of the rendered text.
	Links []Link
	// HTML is the digest of the HTML that the text was rendered to. If the page
	// contains that HTML byte by byte, the links of the source are looked for
	// inside it only, so that the same link in a menu is never mistaken for one
	// of them. If not, and for the zero value, they are aligned with all links of
	// the page; findings about links that could be either have no position.
	HTML Digest
}

// Digest recognises a piece of HTML on a page without keeping the HTML. The zero
// value recognises nothing.
type Digest struct {
	size int
	head string
	sum  [sha256.Size]byte
}

const (
	// headBytes is how much of the piece is kept to search for.
	headBytes = 64
	// maxTries bounds how many places with the same head are compared.
	maxTries = 64
)

// DigestOf returns the digest of html. It does not keep html.
func DigestOf(html []byte) Digest {
	if len(html) == 0 {
		return Digest{}
	}
	return Digest{len(html), string(html[:min(headBytes, len(html))]), sha256.Sum256(html)}
}

// span is a range of bytes of a page.
type span struct{ from, to int64 }

func (s span) contains(offset int64) bool { return offset >= s.from && offset < s.to }

// find returns all places in page that contain the piece and do not overlap, in
// order.
func (d *Digest) find(page []byte) []span {
	var out []span
	at := 0
	for range maxTries {
		if d.size == 0 {
			return nil
		}
		i := bytes.Index(page[at:], []byte(d.head))
		if i < 0 || len(page)-at-i < d.size {
			break
		}
		at += i
		if sha256.Sum256(page[at:at+d.size]) != d.sum {
			at++
			continue
		}
		out = append(out, span{int64(at), int64(at + d.size)})
		at += d.size
	}
	return out
}

// addPositions sets the Source of each finding if one of the sources of its
// page has the link. findings are sorted by page.
func addPositions(ctx context.Context, s *isite.Site, findings []check.Finding, sources func(string) []Source) error {
	reader := s.NewReader()
	defer reader.Close()
	root, err := os.OpenRoot(s.Root())
	if err != nil {
		return fmt.Errorf("read docroot: %w", err)
	}
	defer func() { _ = root.Close() }()
	ids := make(map[string]isite.PageID, s.Pages())
	for i := range s.Pages() {
		ids[s.Path(isite.PageID(i))] = isite.PageID(i)
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
		ofPage := findings[:n]
		findings = findings[n:]
		id, ok := ids[page]
		if !ok || !slices.ContainsFunc(ofPage, isLink) {
			continue
		}
		written := sources(page)
		if len(written) == 0 {
			continue
		}
		links, err := linksOf(reader, id)
		if errors.Is(err, isite.ErrChanged) {
			continue // a finding of its own reports that
		}
		if err != nil {
			return fmt.Errorf("read the links of %s: %w", page, err)
		}
		text, err := root.ReadFile(page)
		if err != nil {
			text = nil // then the links are aligned over the whole page
		}
		// First come the sources with HTML that the page has byte by byte. The links of
		// the others are aligned with the remaining links.
		positions := map[int64]Link{}
		var unplaced []Link
		rest := slices.Clone(links)
		for i := range written {
			s := &written[i]
			spans := s.HTML.find(text)
			if len(spans) == 0 {
				unplaced = append(unplaced, s.Links...)
			}
			for _, sp := range spans {
				inside := slices.DeleteFunc(slices.Clone(links), func(l pageLink) bool { return !sp.contains(l.offset) })
				pair(positions, inside, s.Links, false)
				rest = slices.DeleteFunc(rest, func(l pageLink) bool { return sp.contains(l.offset) })
			}
		}
		if len(unplaced) > 0 {
			pair(positions, rest, unplaced, true)
		}
		for i := range ofPage {
			f := &ofPage[i]
			if l, ok := positions[f.Offset]; ok && isLink(*f) && l.Destination == f.Raw {
				position := l.Position
				f.Source = &position
			}
		}
	}
	return nil
}

// isLink reports whether a finding is about a link and not about a file.
func isLink(f check.Finding) bool { return f.Element != "" || f.Raw != "" }

// pageLink is one link of a built page.
type pageLink struct {
	offset int64 // of its value, in bytes of the file
	raw    string
}

// linksOf returns the links of a page, in order.
func linksOf(r *isite.Reader, id isite.PageID) ([]pageLink, error) {
	var out []pageLink
	err := r.Details(id, nil, func(_ int, d *isite.Detail) {
		out = append(out, pageLink{d.Offset, strings.Clone(d.Raw)})
	})
	return out, err
}

// pair aligns the links of a page with those that a source wrote. unique leaves
// out a link that could be one of several in the source, or the reverse.
func pair(positions map[int64]Link, links []pageLink, written []Link, unique bool) {
	page, source := make([][]similar.Key, len(links)), make([][]similar.Key, len(written))
	for i := range links {
		page[i] = []similar.Key{{Text: links[i].raw}}
	}
	for i := range written {
		source[i] = []similar.Key{{Text: written[i].Destination}}
	}
	equal := func(i, j int) int32 {
		if written[i].Destination == links[j].raw {
			return 1
		}
		return 0
	}
	for j, i := range similar.Align(source, page, equal, similar.Options{Unique: unique}) {
		if i >= 0 && written[i].Position.Line > 0 {
			positions[links[j].offset] = written[i]
		}
	}
}
