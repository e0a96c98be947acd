package templates

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

var both = Endpoints{Pingback: "https://h.example/xmlrpc", Webmention: "https://h.example/wm?a=1&b=2"}

const (
	linkPB  = `<link rel="pingback" href="https://h.example/xmlrpc">`
	linkWM  = `<link rel="webmention" href="https://h.example/wm?a=1&amp;b=2">`
	linkPBx = `<link rel="pingback" href="https://h.example/xmlrpc" />`
	linkWMx = `<link rel="webmention" href="https://h.example/wm?a=1&amp;b=2" />`
)

// In each page {} marks where both elements go; without it nothing changes.
func TestEdit(t *testing.T) {
	for _, c := range []struct{ name, page string }{
		{"PB-35/after_the_charset", `<!doctype html><html><head><meta charset="utf-8">{}<title>x</title></head><body>`},
		{"PB-35/after_http-equiv", `<head><title>x</title><meta http-equiv=content-type content="text/html; charset=utf-8">{}</head>`},
		{"PB-35/no_charset", "<html>\r\n<head>{}\r\n<title>x</title></head>"},
		{"PB-35/charset_too_late", `<head>{}<script>` + strings.Repeat("x", 4900) + `</script><meta charset=utf-8></head>`},
		{"implied_head", `<!doctype html>{}<title>x</title><p>y`},
		{"implied_head_with_charset", `<!doctype html><meta charset=utf-8>{}<title>x</title><p>y`},
		{"no_head_but_body", `<html>{}<body>x`},
		{"two_heads", `<head><meta charset=x>{}</head><head></head>`},
		{"end_of_head_in_script_and_comment", `<head><script>"</head>"</script><!-- </head><meta charset=y> --><meta charset=x>{}</head>`},
		{"PB-20/XHTML_doctype", `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html><head><meta charset="utf-8" />{/}</head>`},
		{"PB-20/XHTML_namespace", `<html xmlns="http://www.w3.org/1999/xhtml"><head>{/}<title>x</title></head>`},
		{"latin1", "<head><meta charset=iso-8859-1>{}<title>\xe9</title></head>"},
		{"Shift_JIS", "<head><title>\x83\x5c</title><meta charset=shift_jis>{}</head>"},
		{"UTF-8_mark", "\ufeff<head><meta charset=utf-8>{}</head>"},
		{"one_of_its_own", `<head><meta charset=x>{w}` + linkPB + `</head>`},
		{"both_of_its_own", `<head><meta charset=x>` + linkPB + linkWMx + `</head>`},
		{"in_a_script_is_none", `<head><meta charset=x>{}<script>'` + linkPB + linkWM + `'</script></head>`},
		{"piece", `<p>a piece of a page</p>`},
		{"text", `no page`},
		{"empty", ``},
		{"redirect", `<head><meta charset=x><meta http-equiv=refresh content="0; url=/x/"></head>`},
		{"ends_before_its_head", `<!doctype html><!-- `},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := strings.NewReplacer("{}", "", "{/}", "", "{w}", "").Replace(c.page)
			after := strings.NewReplacer("{}", linkPB+linkWM+mark, "{/}", linkPBx+linkWMx+mark, "{w}", linkWM+mark).Replace(c.page)
			e := pageEditor{endpoints: both}
			checkEdit(t, &e, before, after)
		})
	}
}

// checkEdit edits a page, edits it again, changes the addresses, and undoes it.
func checkEdit(t *testing.T, e *pageEditor, before, after string) {
	t.Helper()
	v := e.edit([]byte(before), false, true)
	got := apply(nil, []byte(before), v.splices)
	if string(got) != after {
		t.Fatalf("got  %q\nwant %q, note %q", got, after, v.note)
	}
	if again := e.edit(got, false, true); len(again.splices) > 0 {
		t.Errorf("a second run would change %+v", again.splices)
	}
	for n := range got {
		if e.isRight(got[:n], false) && !bytes.Contains(got[:n], []byte(mark)) {
			t.Fatalf("%q is accepted", got[:n])
		}
	}
	if v := e.edit(got, false, false); string(apply(nil, got, v.splices)) != before {
		t.Errorf("undone it is %q, was %q", apply(nil, got, v.splices), before)
	}
	// Other addresses, much longer ones: what was written is replaced.
	other := pageEditor{endpoints: Endpoints{Webmention: "https://h.example/" + strings.Repeat("y", 400)}}
	stale := apply(nil, got, other.edit(got, false, true).splices)
	fresh := apply(nil, []byte(before), other.edit([]byte(before), false, true).splices)
	if !bytes.Equal(stale, fresh) {
		t.Errorf("with other addresses\n%q\nof the page without any\n%q", stale, fresh)
	}
	if back := apply(nil, stale, e.edit(stale, false, true).splices); string(back) != after {
		t.Errorf("and back it is %q", back)
	}
}

func TestEditRight(t *testing.T) {
	e := pageEditor{endpoints: both}
	page := `<head><meta charset=x>` + linkPB + linkWM + mark + `<title>x</title>`
	if !e.isRight([]byte(page), false) {
		t.Error("the beginning of a page that is right is not known")
	}
	if e.isRight([]byte(page), true) {
		t.Error("the form of HTML is right in XML")
	}
	if (&pageEditor{}).isRight([]byte(page), false) {
		t.Error("right without endpoints")
	}
}

func TestEditNotes(t *testing.T) {
	for name, page := range map[string]string{
		"another_address":  `<head><link rel=pingback href=/x>{w}</head>`,
		"twice":            `<head>{w}` + linkPB + linkPB + `</head>`,
		"in_the_body":      `<head>{w}</head><body>` + linkPB,
		"order_of_its_own": `<head>{w}<link href="https://h.example/xmlrpc" rel="pingback"></head>`,
	} {
		page = strings.Replace(page, "{w}", "", 1)
		e := pageEditor{endpoints: both}
		v := e.edit([]byte(page), false, true)
		got := string(apply(nil, []byte(page), v.splices))
		if !strings.HasPrefix(got, `<head>`+linkWM+mark) || !strings.Contains(v.note, "pingback element that differs") {
			t.Errorf("%s: %q, note %q", name, got, v.note)
		}
	}
	e := pageEditor{endpoints: both}
	for _, page := range []string{"<\x00h\x00e\x00a\x00d\x00>\x00", "\xff\xfe<\x00h\x00", "<head><title>\x1b$B<</title><meta charset=iso-2022-jp></head>"} {
		if v := e.edit([]byte(page), false, true); v.note == "" || len(v.splices) > 0 {
			t.Errorf("%q: %+v", page, v)
		}
	}
}

// FuzzEdit: whatever a page is, the elements go into its head, a second edit
// changes nothing, and undoing gives every byte back.
func FuzzEdit(f *testing.F) {
	for _, page := range []string{"<head><meta charset=x></head>", "<title>x</title><p>", "\xff\xfe<\x00p\x00", "<!-- <head>", "<html xmlns=http://www.w3.org/1999/xhtml>",
		linkPB + mark + "<head>" + linkWM + mark, "<head>" + mark + linkPB} {
		f.Add([]byte(page), false)
	}
	f.Fuzz(func(t *testing.T, page []byte, xml bool) {
		e := pageEditor{endpoints: both}
		v := e.edit(page, xml, false)
		clean := apply(nil, page, v.splices)
		v = e.edit(clean, xml, false)
		if len(v.splices) > 0 {
			t.Skip("a block before a block") // does not occur in practice
		}
		v = e.edit(clean, xml, true)
		got := apply(nil, clean, v.splices)
		if len(v.splices) == 0 {
			return
		}
		if again := e.edit(got, xml, true); len(again.splices) > 0 {
			t.Fatalf("%q became %q; a second edit: %+v", clean, got, again.splices)
		}
		if v := e.edit(got, xml, false); !bytes.Equal(apply(nil, got, v.splices), clean) {
			t.Fatalf("%q became %q; undone %q", clean, got, apply(nil, got, v.splices))
		}
		if lower := bytes.ToLower(got); xml || got[0] >= 0x80 || bytes.Contains(lower, []byte("<template")) || bytes.Contains(lower, []byte("<frame")) ||
			bytes.Contains(lower, []byte("<noframes")) || bytes.IndexByte(got, 0) >= 0 {
			return // see FuzzHead
		}
		root, err := html.ParseWithOptions(bytes.NewReader(got), html.ParseOptionEnableScripting(false))
		if err != nil {
			return
		}
		for n := range root.Descendants() {
			if n.DataAtom == atom.Link && n.Parent.DataAtom == atom.Head && len(n.Attr) == 2 &&
				(n.Attr[1].Val == both.Pingback || n.Attr[1].Val == both.Webmention) {
				return
			}
		}
		t.Fatalf("%q became %q, with no element in the head", clean, got)
	})
}
