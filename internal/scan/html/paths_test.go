package html

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/scantest"
)

// pageRows lists all that a page holds, with its places.
func pageRows(p *scan.Page) []string {
	var out []string
	for i := range p.Links {
		l := &p.Links[i]
		out = append(out, fmt.Sprintf("%d %d %s ref %q", l.TagOff, l.Off, scantest.Row(p, l), p.Ref(l)))
	}
	anchors := slices.Clone(p.Anchors)
	slices.SortFunc(anchors, func(a, b scan.Anchor) int { return int(a.Off) - int(b.Off) })
	for _, a := range anchors {
		out = append(out, fmt.Sprintf("%d anchor %d %q", a.Off, a.Kind, a.Name))
	}
	for _, b := range p.Bases {
		out = append(out, fmt.Sprintf("%d base %q", b.Off, b.Value))
	}
	for _, f := range p.Faults {
		out = append(out, fmt.Sprintf("%d fault %d %s", f.Off, f.Kind, f.Name))
	}
	return append(out, fmt.Sprintf("script %v quirks %v charset %s", p.HasScript, p.Quirks, p.Charset()))
}

// comparePaths: on a page that the fast path trusts itself with, the slow path
// finds the same, to the byte. It returns whether there was something to compare.
func comparePaths(t *testing.T, s *Scanner, text []byte, opt scan.Options) bool {
	t.Helper()
	p := s.Scan(text, opt)
	if p.Irregular || s.reg.irregular {
		return false
	}
	fast := pageRows(p)
	s.el.Page.Text = text
	s.slow(0)
	if !s.el.Page.Irregular {
		return false // nested too deep for the slow path
	}
	slow := pageRows(&s.el.Page)
	if !slices.Equal(fast, slow) {
		t.Errorf("%q\n only fast %q\n only slow %q", clip(text), diff(fast, slow), diff(slow, fast))
	}
	return true
}

func TestPaths(t *testing.T) {
	var s Scanner
	for _, page := range [][]byte{[]byte(scantest.RichPage), scantest.RustdocPage(20), scantest.SphinxPage(20)} {
		for _, tags := range []scan.Tags{scan.Modern, scan.Linklint} {
			if !comparePaths(t, &s, page, scan.Options{Charset: "utf-8", Tags: tags}) {
				t.Errorf("%q was not compared", clip(page))
			}
		}
	}
}

// FuzzPaths holds the two paths against each other: every kind of link, its
// place, names, faults. FuzzPage sees fewer kinds, and no place.
func FuzzPaths(f *testing.F) {
	for _, text := range scantest.TreeTests(f) {
		f.Add(text)
	}
	for _, c := range scantest.PageSeeds {
		f.Add([]byte(c))
	}
	f.Add([]byte(scantest.RichPage))
	f.Add(scantest.RustdocPage(2))
	f.Add(scantest.SphinxPage(2))
	var s Scanner
	f.Fuzz(func(t *testing.T, text []byte) {
		lower := bytes.ToLower(text)
		if !utf8.Valid(text) || bytes.Contains(lower, []byte("<frame")) || bytes.IndexByte(text, 0) >= 0 || escapedLess(lower) {
			return // see oracleIsWrong
		}
		if bytes.Contains(lower, []byte("<caption")) && bytes.Contains(lower, []byte("<th")) {
			return // x/net/html ignores th in a caption, HTML 13.2.6.4.11 does not
		}
		comparePaths(t, &s, text, scan.Options{Charset: "utf-8"})
		comparePaths(t, &s, text, scan.Options{Charset: "utf-8", Tags: scan.Linklint})
		if probed := probe(text); !oracleIsWrong(probed) {
			comparePaths(t, &s, probed, scan.Options{Charset: "utf-8"})
		}
	})
}
