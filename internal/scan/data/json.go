// Package data finds the links in files that are neither HTML nor CSS: XML of
// all kinds, JSON Feed, JSON-LD and web app manifests, robots.txt, _headers
// files and server-side image maps.
package data

import (
	"strings"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
)

// A Scanner reads files one after the other and reuses its buffers. The zero
// value is ready to use. A Scanner must not be used concurrently.
type Scanner struct {
	b     scan.Builder
	inner html.Scanner // reads HTML in feeds
}

// readJSON walks a document. Its encoding is UTF-8 (RFC 8259, 8.1).
func (s *Scanner) readJSON(text []byte, f func(v *scan.JSONString), done func(path []string)) *scan.Page {
	bom := scan.UTF8BOMLen(text)
	s.b.Reset(text, "utf-8")
	s.b.Page.Quirks = false
	fault, off := scan.WalkJSON(text[bom:], func(v *scan.JSONString) {
		v.Off += uint32(bom)
		f(v)
	}, done)
	if fault != "" {
		s.b.Fault(int(off)+bom, scan.FaultJSON, fault)
	}
	s.b.SortLinks()
	s.b.RepairUTF8()
	return &s.b.Page
}

// member adds the link that v is.
func (s *Scanner) member(v *scan.JSONString, kind scan.LinkKind) {
	value := v.Raw
	if v.Text != string(v.Raw) {
		value = s.b.Keep([]byte(v.Text))
	}
	element, attribute := v.Path[0], ""
	if len(v.Path) > 1 {
		element, attribute = v.Path[len(v.Path)-2], v.Path[len(v.Path)-1]
	}
	s.b.Add(value, v.Off, kind, strings.ToLower(element), strings.ToLower(attribute))
}
