package html

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// In each text, S marks Start, C Charset, E End and B Body.
func TestReadHead(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"plain", `<!doctype html><html><head>{S}<meta charset="utf-8">{C}<title>x</title>{E}</head>{B}<body>y`},
		{"http-equiv", `<head>{S}<meta http-equiv="Content-Type" content="text/html; charset=latin1">{C}<title></title>{E}</head>{B}<body>`},
		{"no_charset", `<html>` + "\n" + `<head>{S}<title>x</title>` + "\n" + `{E}</head>` + "\n" + `{B}<body>`},
		{"implied_head", `<!doctype html>{S}<meta charset=x>{C}<title>x</title>{E}{B}<p>y`},
		{"implied_head_in_html", `<html lang=en>` + "\n" + `{S}<title>x</title>{E}{B}<body>`},
		{"empty_head", `<html><head>{S}{E}</head>{B}<body>`},
		{"no_head_at_all", `<!doctype html>` + "\n" + `{S}{E}{B}Text`},
		{"body_only", `<html>{S}{E}{B}<body>x`},
		{"head_not_closed", `<head>{S}<title>x</title>{E}{B}<body>`},
		{"text_closes_the_head", `<head>{S}<link rel=x> {E}{B}words <title>late</title></head><body>`},
		{"element_closes_the_head", `<head>{S}<link rel=x>{E}{B}<div></div><meta charset=x></head><body>`},
		{"two_heads", `<head>{S}<title>a</title>{E}</head><head><meta charset=x>{C}</head>{B}<body>`},
		{"second_head_in_the_first", `<head>{S}<title>a</title><head><meta charset=x>{C}{E}</head>{B}<body>`},
		{"end_in_a_script", `<head>{S}<script>"</head><body>"</script><meta charset=x>{C}{E}</head>{B}<body>`},
		{"end_in_a_comment", `<head>{S}<!-- </head><body> --><meta charset=x>{C}{E}</head>{B}<body>`},
		{"end_in_a_title", `<head>{S}<title></head></title>{E}</head>{B}<body>`},
		{"end_in_an_attribute", `<head>{S}<meta content="</head><body>">{E}</head>{B}<body>`},
		{"end_in_a_template", `<head>{S}<template></head><body><template></template><p></template><meta charset=x>{C}{E}</head>{B}<body>`},
		{"charset_in_noscript", `<head>{S}<noscript><meta charset=x><style></noscript></style></noscript><title></title>{E}</head>{B}<body>`},
		{"charset_in_a_comment", `<head>{S}<!--<meta charset=x>--><meta charset=y>{C}{E}</head>{B}<body>`},
		{"image_in_noscript", `<head>{S}<noscript>{E}{B}<img></noscript><meta charset=x></head><body>`},
		{"meta_after_the_head", `<head>{S}{E}</head> <meta charset=x>{C} {B}<body>`},
		{"end_tag_opens", `<html>{S}{E}</head>{B}<body>`},
		{"end_tags_ignored", `</p></title><html></p>{S}<title></title></p>{E}</head></p>{B}<body>`},
		{"break_end_tag", `<head>{S}{E}{B}</br>`},
		{"bogus_comments", `<?xml version="1.0"?><!x></ x><head>{S}<!x><?y?>{E}</head>{B}<body>`},
		{"mark", "\ufeff<head>{S}{E}</head>{B}<body>"},
		{"case", `<!DOCTYPE HTML><HTML><HEAD>{S}<META CHARSET=x>{C}{E}</HEAD>{B}<BODY>`},
		{"references_of_space", `<head>{S}&#32;&#x9;<meta charset=x>{C}{E}{B}&nbsp;</head>`},
		{"unclosed_script", `<head>{S}<script></head><body>{E}{B}`},
		{"unclosed_comment", `<head>{S}<!-- </head><body>{E}{B}`},
		{"ends_in_a_tag", `<head>{S}<meta charset="x{E}{B}`},
		{"empty", `{S}{E}{B}`},
		{"less", `<head>{S}{E}{B}< `},
		{"frameset", `<head>{S}{E}</head>{B}<frameset>`},
		{"self_closing_script", `<head>{S}<script src="x"/><meta charset=x></script><meta charset=y>{C}{E}</head>{B}<body>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, want := places4(c.text)
			h := ReadHead(text, false, len(text)+1)
			if got := [4]int{h.Start, h.Charset, h.End, h.Body}; got != want || !h.Whole {
				t.Errorf("start, charset, end, body at %v, want %v; whole: %v", got, want, h.Whole)
			}
			if c.name != "mark" { // the oracle takes it for text
				compareHead(t, text)
			}
			// ReadHead may stop anywhere, but must not report the body too
			// early.
			for limit := range text {
				if p := ReadHead(text, false, limit); p.Whole && p != h || !p.Whole && p.Body > h.Body {
					t.Errorf("stopped at %d: %+v, whole %+v", limit, p, h)
				}
			}
		})
	}
}

// places4 removes the marks from a text.
func places4(marked string) (text []byte, at [4]int) {
	for marked != "" {
		before, after, ok := strings.Cut(marked, "{")
		text = append(text, before...)
		if !ok {
			break
		}
		at[strings.IndexByte("SCEB", after[0])] = len(text)
		marked = after[2:]
	}
	return text, at
}

func TestReadHeadXML(t *testing.T) {
	text, want := places4(`<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head>{S}<script src="x"/><title/><meta charset="x"/>{C}{E}</head>{B}<body/></html>`)
	h := ReadHead(text, true, len(text)+1)
	if got := [4]int{h.Start, h.Charset, h.End, h.Body}; got != want || !h.XHTML {
		t.Errorf("got %v, want %v; %+v", got, want, h)
	}
}

func TestReadHeadFacts(t *testing.T) {
	for text, want := range map[string]string{
		`<!doctype html><p>x`: "markup",
		`<p>a piece</p>`:      "",
		`just text`:           "",
		`<title>x</title>`:    "markup",
		`<link rel=x><body>`:  "markup",
		`<head>`:              "tag markup",
		`<html xmlns="http://www.w3.org/1999/xhtml"><head>`:                   "tag markup xhtml",
		`<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html>`: "markup xhtml",
		`<?xml version="1.0"?><html>`:                                         "markup xhtml",
	} {
		h := ReadHead([]byte(text), false, len(text))
		var got []string
		for word, is := range map[string]bool{"1tag": h.Tag, "2markup": h.Markup, "3xhtml": h.XHTML} {
			if is {
				got = append(got, word)
			}
		}
		for _, word := range []string{"tag", "markup", "xhtml"} {
			if strings.Contains(want, word) != strings.Contains(strings.Join(got, " "), word) {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		}
	}
}

// compareHead compares ReadHead with the tree of x/net/html: a link inserted at
// Start, after Charset, at End or just before Body is in the head, and a link
// after the markup that opens the body is not.
func compareHead(t *testing.T, text []byte) {
	t.Helper()
	h := ReadHead(text, false, len(text))
	if !(0 <= h.Start && h.Start <= h.End && h.End <= h.Body && h.Body <= len(text)) || h.Charset > h.Body || h.Charset != 0 && h.Charset < h.Start {
		t.Fatalf("%+v in %d bytes", h, len(text))
	}
	var places []int
	if h.Start < len(text) { // else it may end inside a tag or comment
		places = append(places, h.Start)
	}
	if h.Charset > 0 {
		places = append(places, h.Charset)
	}
	if h.Body < len(text) {
		places = append(places, h.End, h.Body)
	}
	for _, i := range places {
		// What closes an open noscript element closes the head after it.
		if parent := probeHead(t, text, i); parent != "head" && !(parent == "noscript" && i == h.End) {
			t.Fatalf("%q: a link at %d is put into %q; %+v", text, i, parent, h)
		}
	}
	// The markup at Body opens the body.
	if h.Body < len(text) {
		if parent := probeBody(text, h.Body); parent != "" {
			t.Fatalf("%q: %s at %d does not open the body; %+v", text, parent, h.Body, h)
		}
	}
}

const headProbe = "data-head-probe"

// probeHead returns the parent of a link inserted at i.
func probeHead(t *testing.T, text []byte, i int) string {
	t.Helper()
	page := string(text[:i]) + "<link " + headProbe + ">" + string(text[i:])
	root, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Skip(err)
	}
	for n := range root.Descendants() {
		if n.DataAtom == atom.Link && len(n.Attr) > 0 && n.Attr[0].Key == headProbe {
			return n.Parent.Data
		}
	}
	return "nothing"
}

// probeBody returns "" if the token at i opens the body. If a link after that
// token still goes into the head, it returns the token.
func probeBody(text []byte, i int) string {
	end := min(i+1, len(text))
	if text[i] == '<' {
		if k := bytes.IndexByte(text[i:], '>'); k >= 0 {
			end = i + k + 1
		}
	} else if k := bytes.IndexByte(text[i:], '<'); k >= 0 {
		end = i + k
	} else {
		end = len(text)
	}
	page := string(text[:end]) + "<link " + headProbe + ">"
	root, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false))
	if err != nil {
		return ""
	}
	for n := range root.Descendants() {
		if n.DataAtom == atom.Link && len(n.Attr) > 0 && n.Attr[0].Key == headProbe && n.Parent.DataAtom == atom.Head {
			return fmt.Sprintf("%q", text[i:end])
		}
	}
	return ""
}

// FuzzHead compares ReadHead with x/net/html.
func FuzzHead(f *testing.F) {
	for _, text := range testkit.TreeTests(f) {
		f.Add(text)
	}
	for _, c := range []string{`<head><noscript><link></noscript><title>x</title></head><body>`, `<!doctype html><meta charset=x><p>`,
		`<template><td></template><meta charset=x>`, `&#32;<head>&nbsp;`, `</head></br>`} {
		f.Add([]byte(c))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		ReadHead(text, true, len(text))
		lower := bytes.ToLower(text)
		for _, c := range []string{
			"<frameset", "<frame", "\x00", "\xEF\xBB\xBF", "<plaintext", // see oracleIsWrong
			"<template", // its content has its own insertion modes; TestReadHead has the plain cases
			"<noframes", // in noscript, its tokenizer and its parser disagree about what is text
		} {
			if bytes.Contains(lower, []byte(c)) {
				ReadHead(text, false, len(text))
				return
			}
		}
		if mark, _ := scan.SniffBOM(text); mark != "" || escapedLess(lower) {
			return
		}
		compareHead(t, text)
	})
}
