package endpoint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/data"
	"github.com/sitelink/sitelink/internal/scan/html"
)

const (
	pingback   = "https://h.example/xmlrpc"
	webmention = "https://h.example/wm?a=1&b=2"
	linkPB     = `<link rel="pingback" href="https://h.example/xmlrpc">`
	linkWM     = `<link rel="webmention" href="https://h.example/wm?a=1&amp;b=2">`
	linkPBx    = `<link rel="pingback" href="https://h.example/xmlrpc" />`
	linkWMx    = `<link rel="webmention" href="https://h.example/wm?a=1&amp;b=2" />`
)

func inspect(t *testing.T, page string, isXML bool) (HasElements, []string) {
	t.Helper()
	var s html.Scanner
	p := s.Scan([]byte(page), scan.Options{})
	if isXML {
		p = new(data.XMLScanner).XHTML([]byte(page), scan.Options{})
	}
	has, faults := NewInspector(pingback, webmention).Page(p, isXML)
	var got []string
	for _, f := range faults {
		got = append(got, strings.TrimSpace(f.Rel()+" "+f.Fault().String()))
	}
	return has, got
}

func TestInspect(t *testing.T) {
	head := func(inner string) string {
		return `<!doctype html><html><head><meta charset=utf-8>` + inner + `<title>x</title></head><body><p>x`
	}
	right := linkPB + linkWM
	for _, c := range []struct {
		name, page string
		want       []string
	}{
		{"PB-8/as_written", head(right + "<!--sitelink-->"), nil},
		{"PB-20/XHTML_form", head(linkPBx + linkWMx), nil},
		{"PB-25/forms_that_match", head(strings.Replace(linkPB, ">", "/>", 1) + strings.Replace(linkWM, ">", " >", 1)), nil},
		{"PB-23/plain_ampersand", head(linkPB + strings.Replace(linkWM, "&amp;", "&", 1)), nil},
		{"PB-8/none", head(""), nil},
		{"PB-16/other_address", head(strings.Replace(right, "xmlrpc", "old", 1)), []string{"pingback address"}},
		{"no_href", head(`<link rel="pingback">` + linkWM), []string{"pingback address"}},
		{"PB-22/relative", head(`<link rel="pingback" href="/xmlrpc">` + linkWM), []string{"pingback relative"}},
		{"PB-22/without_scheme", head(`<link rel="pingback" href="//h.example/xmlrpc">` + linkWM), []string{"pingback relative"}},
		{"PB-20/href_first", head(`<link href="https://h.example/xmlrpc" rel="pingback">` + linkWM), []string{"pingback form"}},
		{"PB-20/capitals", head(strings.ToUpper(linkPB[:9])+linkPB[9:]) + linkWM, []string{"pingback form", "webmention body"}},
		{"PB-20/single_quotes", head(strings.ReplaceAll(linkPB, `"`, "'") + linkWM), []string{"pingback form"}},
		{"PB-20/further_attribute", head(strings.Replace(linkPB, ">", " id=x>", 1) + linkWM), []string{"pingback form"}},
		{"PB-23/other_entity", head(linkPB + strings.Replace(linkWM, "&amp;", "&#38;", 1)), []string{"webmention form"}},
		{"PB-20/two_relations", head(`<link rel="pingback webmention" href="https://h.example/xmlrpc">` + linkWM), []string{"pingback form", "webmention address", "webmention twice"}},
		{"unquoted", head(strings.ReplaceAll(right, `"`, "")), []string{"pingback unquoted", "webmention unquoted"}},
		{"unquoted_in_part", head(strings.Replace(linkPB, `"pingback"`, "pingback", 1) + linkWM), []string{"pingback unquoted"}},
		{"PB-21/twice", head(right + linkPB), []string{"pingback twice"}},
		{"PB-21/comment", head("<!-- " + linkPB + " -->" + right), []string{"pingback second-match"}},
		{"PB-21/script", head(right + "<script>x='" + linkPB + "'</script>"), []string{"pingback second-match"}},
		{"PB-21/attribute", head(right) + `<p title='` + linkPB + `'>`, []string{"pingback second-match"}},
		{"PB-21/template", head(right) + `<template>` + linkPB + `</template>`, []string{"pingback second-match"}},
		{"PB-21/only_in_a_script", head(linkWM) + "<script>'" + linkPB + "'</script>", []string{"pingback second-match"}},
		{"PB-21/escaped_is_none", head(right) + strings.ReplaceAll(linkPB, "<", "&lt;"), nil},
		{"body", head("<div></div>" + right), []string{"pingback body", "webmention body"}},
		{"after_the_head", `<head></head>` + right + `<body>`, nil},
		{"PB-35/late", head("<style>" + strings.Repeat("x", 4900) + "</style>" + right), []string{"pingback late", "webmention late"}},
		{"PB-35/just_in_time", "<head><!--" + strings.Repeat("x", MaxEnd-len("<head><!---->")-len(right)) + "-->" + right, nil},
		{"PB-35/one_byte_late", "<head><!--" + strings.Repeat("x", MaxEnd-len("<head><!---->")-len(right)+1) + "-->" + right, []string{"webmention late"}},
		{"PB-9/second_head", `<head>` + right + `</head><head></head><body>`, []string{"invalid"}},
		{"PB-9/second_head_of_a_page_without", `<head></head><head></head><body>`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			has, got := inspect(t, c.page, false)
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if want := strings.Contains(c.page, `rel="pingback"`) && c.name != "PB-21/only_in_a_script"; c.name[:2] == "PB" && has&HasPingback == 0 && want &&
				!strings.Contains(c.name, "two_relations") && !strings.Contains(c.name, "quotes") {
				t.Errorf("%v: the element is not seen", has)
			}
		})
	}
	if has, got := inspect(t, `<html xmlns="http://www.w3.org/1999/xhtml"><head><script src="x"/>`+linkPBx+linkWMx+`</head><body/></html>`, true); has != HasPingback|HasWebmention || got != nil {
		t.Errorf("XHTML: %v %q", has, got)
	}
	var s html.Scanner
	if has, faults := NewInspector("", webmention).Page(s.Scan([]byte(`<link rel=pingback href=/x>`), scan.Options{}), false); has != 0 || len(faults) > 0 {
		t.Errorf("an element that is not configured: %v %v", has, faults)
	}
}

// FuzzPattern compares the search with the pattern of the specification (PB-25).
func FuzzPattern(f *testing.F) {
	for i := range 30 {
		f.Add([]byte(strings.Repeat("x", i) + linkPB + strings.Repeat("<", i) + linkPBx + `<link rel="pingback" href="">`))
	}
	re := regexp.MustCompile(`<link rel="pingback" href="([^"]+)" ?/?>`)
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want []int
		findPattern(text, func(off int) { got = append(got, off) })
		// regexp skips overlapping matches; for clients they are as bad.
		for i := range text {
			if m := re.FindIndex(text[i:]); m != nil && m[0] == 0 {
				want = append(want, i)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q: found at %v, matches at %v", text, got, want)
		}
	})
}

func BenchmarkInspect(b *testing.B) {
	page := []byte("<!doctype html><html><head><meta charset=\"utf-8\">" + linkPB + linkWM + "<title>x</title></head><body>" +
		strings.Repeat(`<p>Some text of the usual kind with <a href="../x/y.html#z">a link</a> and <code class="c">code</code>.</p>`+"\n", 150))
	var s html.Scanner
	p := s.Scan(page, scan.Options{})
	in := NewInspector(pingback, webmention)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		in.Page(p, false)
	}
}
