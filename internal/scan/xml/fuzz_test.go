package xml

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
	"github.com/sitelink/sitelink/internal/scan/scantest"
)

// FuzzXML holds the XML reader against encoding/xml: what it takes for
// well-formed is so, and both see the same ids and links. encoding/xml is the
// laxer of the two (duplicate attributes, undeclared prefixes, a second root),
// so that its word counts in this direction only.
func FuzzXML(f *testing.F) {
	for _, c := range xmlCases {
		f.Add([]byte(c.in))
	}
	for _, c := range scantest.PageSeeds {
		f.Add([]byte(c))
	}
	var s Scanner
	f.Fuzz(func(t *testing.T, text []byte) {
		scantest.CheckPage(t, s.SVG(text))
		scantest.CheckPage(t, s.XHTML(text, scan.Options{Tags: scan.Linklint}))
		p := s.XHTML(text, scan.Options{})
		scantest.CheckPage(t, p)
		for _, fault := range p.Faults {
			if fault.Kind != scan.FaultXML || !utf8.ValidString(fault.Name) || int(fault.Off) > len(p.Text) {
				t.Fatalf("fault %+v", fault)
			}
		}
		if len(p.Faults) > 0 || !comparableXML(text) {
			return
		}
		// A Link does not tell its namespace: an a of svg is not one of XHTML.
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

// comparableXML: encoding/xml reads no document types, no encodings and no
// version but 1.0, and takes its names from an older edition.
func comparableXML(text []byte) bool {
	ascii := bytes.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	return ascii && !bytes.Contains(text, []byte("<!DOCTYPE")) && !bytes.Contains(text, []byte("encoding")) &&
		!bytes.Contains(text, []byte("version"))
}

// xmlOracle lists ids, and href of a in XHTML.
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

// oneSpace hides that encoding/xml leaves white space in values as it is.
func oneSpace(s string) string {
	return strings.NewReplacer("\n", " ", "\t", " ", "\r", " ").Replace(s)
}
