package scan

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

// FuzzPage holds the fast path, and its decision when not to trust itself,
// against x/net/html's tree. Every page is read as it is and with an id and a
// link put into each start tag.
func FuzzPage(f *testing.F) {
	for _, text := range treeTests(f) {
		f.Add(text)
	}
	for _, c := range pageSeeds {
		f.Add([]byte(c))
	}
	var s Scanner
	f.Fuzz(func(t *testing.T, text []byte) {
		checkBounds(t, s.HTML(text, Options{}))
		checkBounds(t, s.HTML(text, Options{Tags: Linklint}))
		if !utf8.Valid(text) || oracleIsWrong(text) || oracleIsWrong(probe(text)) {
			return
		}
		compare(t, &s, text)
		compare(t, &s, probe(text))
	})
}

// oracleIsWrong names the constructs in which x/net/html differs from
// browsers, or cannot be compared because the probe changes the meaning.
func oracleIsWrong(text []byte) bool {
	lower := bytes.ToLower(text)
	for _, c := range []string{
		"<frameset", "<frame", // raw-text start tags inside frameset swallow what follows in its tokenizer
		"\x00", // it drops NUL in some places
		"\xEF\xBB\xBF",
		"<caption",                // it takes a cell inside one (13.2.6.4.11)
		"<plaintext", "<!doctype", // the probe does not belong into them
	} {
		if bytes.Contains(lower, []byte(c)) {
			return true
		}
	}
	return escapedLess(lower)
}

// escapedLess: in the escaped states of script, "<" and neither a letter nor a
// slash stays in them (HTML 13.2.5.23); its tokenizer leaves them.
func escapedLess(text []byte) bool {
	_, script, _ := bytes.Cut(text, []byte("<script"))
	_, rest, _ := bytes.Cut(script, []byte("<!--"))
	for {
		_, after, ok := bytes.Cut(rest, []byte("<"))
		if !ok {
			return false
		}
		if len(after) == 0 || after[0] != '/' && byteClass[after[0]]&clsLetter == 0 {
			return true
		}
		rest = after
	}
}

var pageSeeds = []string{
	`<a href="a&amp;b" href=c id=x>`, `<!--><a href=x>--><a href=y>`, `<!-- --!><a href=x>`, `<script><!--<script></script>--></script><a href=x>`,
	`<svg><title>x</title><a href=x/><style>a{}</style></svg><p>`, `<table><tr><td><table><tr><td id=x></table></table><td id=y>`,
	`<form id=a><form id=b></form><form id=c>`, `<select><option id=a><div id=b></select>`, `<math><mi>x</mi><mtext><b id=q></b></mtext></math>`,
	`<head id=a></head><head id=b><body id=c><body id=d>`, `<template id=a><td id=b></template><td id=c>`, `<a href=x<b id=c>`,
	`<table><link rel="pingback x" href=y><td><template><link rel=webmention></template>`, `<link rel=WEBMENTION rel=x><svg><link rel=pingback>`,
	`<textarea><a href=x></textarea><a href=y>`, `<title></titl></title ><a href=x>`, `<svg><![CDATA[<a href=x>]]><a href=y></a></svg>`,
}

// checkBounds: every position lies in the text, links are sorted, names are
// not empty.
func checkBounds(t *testing.T, p *Page) {
	t.Helper()
	last := uint32(0)
	for i := range p.Links {
		l := &p.Links[i]
		if l.Off < last || int(l.Off) > len(p.Text) || l.TagOff > l.Off {
			t.Fatalf("link %d at %d after %d of %d bytes, tag at %d", i, l.Off, last, len(p.Text), l.TagOff)
		}
		if !utf8.Valid(l.Value) {
			t.Fatalf("value %q is not UTF-8", l.Value)
		}
		last = l.Off
		if p.Element(l) == "" {
			t.Fatal("link without element")
		}
	}
	for _, a := range p.Anchors {
		if len(a.Name) == 0 || !utf8.Valid(a.Name) {
			t.Fatalf("anchor %q", a.Name)
		}
	}
	if src := p.Source(uint32(len(p.Text))); src < 0 {
		t.Fatalf("end of text is at %d in the file", src)
	}
}
