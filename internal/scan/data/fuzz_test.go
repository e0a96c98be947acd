package data

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

// FuzzXML compares the XML reader with encoding/xml: what the reader takes for
// well-formed is well-formed, and both find the same ids and links.
// encoding/xml accepts more (duplicate attributes, undeclared prefixes, a
// second root), so only this direction is compared.
func FuzzXML(f *testing.F) {
	for _, c := range xmlCases {
		f.Add([]byte(c.in))
	}
	for _, c := range testkit.PageSeeds {
		f.Add([]byte(c))
	}
	var s XMLScanner
	f.Fuzz(func(t *testing.T, text []byte) {
		testkit.Linear(t, text, func(text []byte) { s.SVG(text) })
		testkit.Linear(t, text, func(text []byte) { scan.CSSURLs(text, func(scan.CSSKind, int, int, []byte) {}) })
		testkit.CheckPage(t, s.SVG(text))
		testkit.CheckPage(t, s.XHTML(text, scan.Options{Tags: scan.Linklint}))
		p := s.XHTML(text, scan.Options{})
		testkit.CheckPage(t, p)
		for _, fault := range p.Faults {
			if fault.Kind != scan.FaultXML || !utf8.ValidString(fault.Name) || int(fault.Off) > len(p.Text) {
				t.Fatalf("fault %+v", fault)
			}
		}
		if len(p.Faults) > 0 || !comparableXML(text) {
			return
		}
		// A Link has no namespace: an a of svg is not an a of XHTML.
		links := !bytes.Contains(text, []byte("2000/svg")) && !bytes.Contains(text, []byte("MathML"))
		want, err := xmlOracle(text, links)
		if err != nil {
			t.Fatalf("encoding/xml: %v", err)
		}
		if got := xmlOurs(p, links); !slices.Equal(got, want) {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	})
}

// comparableXML reports whether encoding/xml can read the text. It supports no
// document types, no encodings and no version but 1.0, and its names are those
// of an older edition.
func comparableXML(text []byte) bool {
	ascii := bytes.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	return ascii && !bytes.Contains(text, []byte("<!DOCTYPE")) && !bytes.Contains(text, []byte("encoding")) &&
		!bytes.Contains(text, []byte("version"))
}

// xmlOracle lists ids, and the href of each a in XHTML.
func xmlOracle(text []byte, links bool) ([]string, error) {
	d := xml.NewDecoder(bytes.NewReader(text))
	var out []string
	templates := 0
	for {
		token, err := d.Token()
		switch e := token.(type) {
		case xml.StartElement:
			for _, a := range e.Attr {
				switch {
				case a.Name == xml.Name{Local: "id"} && a.Value != "" && templates == 0:
					out = append(out, "id "+oneSpace(a.Value))
				case links && a.Name == xml.Name{Local: "href"} && e.Name == xml.Name{Space: "http://www.w3.org/1999/xhtml", Local: "a"}:
					out = append(out, "href "+oneSpace(a.Value))
				}
			}
			if e.Name == (xml.Name{Space: "http://www.w3.org/1999/xhtml", Local: "template"}) {
				templates++
			}
		case xml.EndElement:
			if e.Name == (xml.Name{Space: "http://www.w3.org/1999/xhtml", Local: "template"}) {
				templates--
			}
		}
		if errors.Is(err, io.EOF) {
			slices.Sort(out)
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func xmlOurs(p *scan.Page, links bool) []string {
	var out []string
	for _, a := range p.Anchors {
		if a.Kind == scan.AnchorID {
			out = append(out, "id "+oneSpace(string(a.Name)))
		}
	}
	for i := range p.Links {
		if l := &p.Links[i]; links && l.Tag == scan.TagA && l.Attr == scan.AttrHref {
			out = append(out, "href "+oneSpace(string(l.Value)))
		}
	}
	slices.Sort(out)
	return out
}

// oneSpace replaces white space by spaces, because encoding/xml keeps white
// space in values as it is.
func oneSpace(s string) string {
	return strings.NewReplacer("\n", " ", "\t", " ", "\r", " ").Replace(s)
}
