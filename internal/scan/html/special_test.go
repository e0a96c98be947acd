package html

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestRelations checks the kind of link elements.
func TestRelations(t *testing.T) {
	var s Scanner
	for rel, want := range map[string]scan.LinkKind{
		"preconnect": scan.KindHint, "dns-prefetch PRECONNECT": scan.KindHint, "preconnect stylesheet": scan.KindLink, "": scan.KindLink, "stylesheet": scan.KindLink,
		"canonical": scan.KindCanonical, " Canonical\n": scan.KindCanonical, "manifest": scan.KindManifest, "canonicals": scan.KindLink,
	} {
		p := s.Scan(fmt.Appendf(nil, "<!doctype html><link rel=\"%s\" href=x>", rel), scan.Options{})
		if len(p.Links) != 1 || p.Links[0].Kind != want {
			t.Errorf("rel=%q: %q, want kind %d", rel, testkit.Rows(p), want)
		}
	}
}

// TestNoIndex checks the robots meta element.
func TestNoIndex(t *testing.T) {
	var s Scanner
	for in, want := range map[string]bool{
		`<meta name=robots content="NOINDEX, nofollow">`: true, `<meta content=noindex name=Robots>`: true, `<meta name=robots content=index>`: false,
		`<meta name=description content=noindex>`: false, `<template><meta name=robots content=noindex></template>`: false, "": false,
	} {
		if got := s.Scan([]byte("<!doctype html>"+in), scan.Options{}).NoIndex; got != want {
			t.Errorf("%s: %t, want %t", in, got, want)
		}
	}
}

func TestAdverts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []scan.AdvertRel
	}{
		{"both", `<link rel="pingback" href=x><link rel=webmention href=y>`, []scan.AdvertRel{scan.AdvertPingback, scan.AdvertWebmention}},
		{"one_element", `<link href=x REL="x PingBack  WEBMENTION">`, []scan.AdvertRel{scan.AdvertPingback | scan.AdvertWebmention}},
		{"no_href", `<link rel=webmention>`, []scan.AdvertRel{scan.AdvertWebmention}},
		{"other_words", `<link rel=pingbacks><link rel="xwebmention"><a rel=webmention href=x>`, nil},
		{"not_an_element", `<!--<link rel=pingback>--><script>"<link rel=pingback>"</script><title><link rel=pingback></title>`, nil},
		{"template", `<template><link rel=pingback></template>`, nil},
		{"irregular", `<table><link rel=pingback><td><svg><link rel=pingback></svg></table><form><form>`,
			[]scan.AdvertRel{scan.AdvertPingback}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Scanner
			var got []scan.AdvertRel
			p := s.Scan([]byte(c.text), scan.Options{Tags: scan.Linklint})
			for _, a := range p.Adverts {
				if got = append(got, a.Rel); !strings.HasPrefix(c.text[a.TagOff:], "<link ") {
					t.Errorf("no link element at %d", a.TagOff)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestSecondHead(t *testing.T) {
	for text, want := range map[string]int{
		"<head></head><body>":                          0,
		"<head></head><head></head>":                   14,
		"<head></head><body><HEAD>x":                   20,
		"<head></head><template><head></template>":     0,
		"<head></head><!--<head>--><svg><head></head>": 0,
	} {
		var s Scanner
		if got := s.Scan([]byte(text), scan.Options{}).SecondHead; int(got) != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// The cases follow
// https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps
// and cover web-platform-tests' attr-meta-http-equiv-refresh/parsing.html. want
// is empty if there is no URL.
func TestHTML_refresh(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"time", "1", ""},
		{"time_and_space", "1 \t\n\f\r", ""},
		{"time_and_semicolon", "1;", ""},
		{"time_and_comma", "1,", ""},
		{"semicolon", "1; url=foo", "foo"},
		{"comma", "1, url=foo", "foo"},
		{"space", "1 url=foo", "foo"},
		{"tab", "1;\turl=foo", "foo"},
		{"carriage_return", "1\rurl=foo", "foo"},
		{"line_feed", "1,\nurl=foo", "foo"},
		{"form_feed", "1\furl=foo", "foo"},
		{"space_everywhere", "  1  ;  url  =  foo  ", "foo"},
		{"space_everywhere_comma", "  1  ,  url  =  foo", "foo"},
		{"space_everywhere_no_separator", "  1  url  =  foo", "foo"},
		{"upper_case", "0;URL='x'", "x"},
		{"mixed_case", "0;uRl=x", "x"},
		{"no_name", "5,x", "x"},
		{"no_name_spaces", "5 ; x", "x"},
		{"no_separator", "1url=foo", ""},
		{"letter_behind_time", "1x;url=foo", ""},
		{"space_is_a_separator", "1 x;url=foo", "x;url=foo"},
		{"two_semicolons", "1;;url=foo", ";url=foo"},
		{"double_quotes", `1; url="foo"bar`, "foo"},
		{"single_quotes", `1; url='foo'bar`, "foo"},
		{"mixed_quotes", `1; url="foo'bar`, "foo'bar"},
		{"open_quote", `1; url='foo`, "foo"},
		{"quotes_and_space", `1; url=' foo '`, "foo"},
		{"quotes_without_name", `1; "foo"bar`, "foo"},
		{"quote_inside", `1; url=fo"o`, `fo"o`},
		{"space_inside", `1; url=a b`, `a b`},
		{"no_equals_sign", "1; url foo", "url foo"},
		{"no_equals_sign_quote", "1; url 'foo'", "url 'foo'"},
		{"name_runs_on", "1; urlfoo", "urlfoo"},
		{"name_cut_short_1", "1; urfoo", "urfoo"},
		{"name_cut_short_2", "1; ufoo", "ufoo"},
		{"name_only", "1; url", "url"},
		{"reload_empty_name", "1; url=", ""},
		{"reload_empty_quotes", "1; url=''", ""},
		{"no_time", "; foo", ""},
		{"no_time_comma", ", foo", ""},
		{"no_time_name", "url=foo", ""},
		{"no_time_word", "foo", ""},
		{"plus", "+1; url=foo", ""},
		{"minus", "-0; url=foo", ""},
		{"fraction", "1.9; url=foo", "foo"},
		{"fraction_only", ".9; url=foo", "foo"},
		{"dot_only", ".; url=foo", "foo"},
		{"dots", "1.9..5.; url=foo", "foo"},
		{"exponent", "1e0; url=foo", ""},
		{"huge_time", "99999999999999999999999999; url=foo", "foo"},
	} {
		t.Run(c.name, func(t *testing.T) { testRefresh(t, c.in, c.want) })
	}
}

func TestLL_52_href_in_meta_refresh(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"seed_form", "5; href=/r.html", "/r.html"},
		{"program_form", "5; URL=/r.html", "/r.html"},
		{"spaces_and_case", "5 ; HREF = /r.html", "/r.html"},
		{"quotes", `5; href="/r.html" target=x`, "/r.html"},
		{"no_equals_sign", "5; href /r.html", "href /r.html"},
		{"no_time", "href=/r.html", ""},
	} {
		t.Run(c.name, func(t *testing.T) { testRefresh(t, c.in, c.want) })
	}
}

func TestLL_54_quotes_in_meta_refresh(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "5; url=/x.html", "/x.html"},
		{"single", "5; url='/x.html'", "/x.html"},
		{"double", `5; url="/x.html"`, "/x.html"},
		{"spaces", `5; url = "/x.html"`, "/x.html"},
		{"absolute", `5; url=http://h/x.html`, "http://h/x.html"},
	} {
		t.Run(c.name, func(t *testing.T) { testRefresh(t, c.in, c.want) })
	}
}

func testRefresh(t *testing.T, in, want string) {
	t.Helper()
	start, end, ok := refreshURL([]byte(in))
	if ok != (want != "") {
		t.Fatalf("refreshURL(%q) ok = %v, want %q", in, ok, want)
	}
	if ok && in[start:end] != want {
		t.Errorf("refreshURL(%q) = %q, want %q", in, in[start:end], want)
	}
}

func FuzzRefresh(f *testing.F) {
	for _, s := range []string{"", "5", "5; url=x", "5,x", "0;URL='x'", "5 ; href = \"x\"", ".;'"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		start, end, ok := refreshURL(content)
		if !ok {
			return
		}
		if start < 0 || start >= end || end > len(content) {
			t.Fatalf("range [%d,%d) of %d bytes", start, end, len(content))
		}
		url := content[start:end]
		if !bytes.Equal(url, bytes.Trim(url, " \t\n\r\f")) {
			t.Fatalf("%q has white space at its ends", url)
		}
		// The URL is the end of the content except for quotes. With only a time
		// before it, it must be found again, unless it looks like a name or a
		// quote.
		if c := url[0] | 0x20; c != 'u' && c != 'h' && url[0] != '"' && url[0] != '\'' && url[0] != ';' && url[0] != ',' {
			again := append([]byte("0 "), url...)
			start, end, ok := refreshURL(again)
			if !ok || !bytes.Equal(again[start:end], url) {
				t.Fatalf("%q is not found in %q", url, again)
			}
		}
	})
}
