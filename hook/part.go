package hook

import (
	"bytes"
	"crypto/sha256"

	"github.com/sitelink/sitelink/check"
)

// Link is one link as a source wrote it.
type Link struct {
	// Destination is what the rendered page has for it: the value of href or
	// src as a browser reads it, character references decoded.
	Destination string
	// Position is the first character of the destination where it is written;
	// of a reference link that is in its definition. Line is 0 when the place
	// is not known: the link then takes its turn and names no place.
	Position check.Position
}

// Part is one source text of a built page.
type Part struct {
	// Links stand in the order of the rendered text.
	Links []Link
	// HTML is the digest of what the text was rendered to. With it the n-th
	// link of the source is looked for in that text alone, so that a menu with
	// the same link is never taken for it. With the zero value, and where the
	// page does not hold the text byte by byte, the links are aligned with all
	// links of the page, and those that could be either one name no place.
	HTML Digest
}

// Digest recognises a piece of HTML in a page without keeping it. Its zero
// value recognises nothing.
type Digest struct {
	size int
	head string
	sum  [sha256.Size]byte
}

const (
	// headBytes is how much of a piece is kept to look for.
	headBytes = 64
	// maxTries bounds how many places that begin alike are compared whole.
	maxTries = 64
)

// DigestOf returns the digest of html, which is not kept.
func DigestOf(html []byte) Digest {
	if len(html) == 0 {
		return Digest{}
	}
	return Digest{len(html), string(html[:min(headBytes, len(html))]), sha256.Sum256(html)}
}

// span is a range of byte offsets of a page's file.
type span struct{ from, to int64 }

// find returns where the piece stands in page: all places that do not overlap,
// in order.
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
