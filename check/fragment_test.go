package check

import (
	"fmt"
	"html"
	"strings"
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
)

// anchorPages are target pages with the anchors that the table refers to.
// Unless noted otherwise, the pages are UTF-8 and in standards mode.
var anchorPages = files{
	"ids.html": `<p id="plain"><p id="100%"><p id="%C3%A0"><p id="%zz"><p id="é"><p id="a b"><p id="a+b"><p id="x%20y"><p id="%"><p id="x&#xFFFD;y"><p id="&#xFEFF;bom">` +
		`<p id="bom2"><p id="Case"><p id="e&#x301;"><p id=" lead"><p id="trail "><p id="two  spaces"><p id="tab&#9;x"><p id="nl&#10;x"><p id="ff&#12;x"><p id="nbsp&#160;x"><p id=""><p id>` +
		`<p id="/has"><p id="id:~:text=x"><p id="TOPPING"><p id=unq2/><p id="x"class=y><p id=first id=second><p ID=upper><p xml:id=xmlid data-id=dataid><p id="&copy;"><p id="&copy=1"><p id="&#128;">` +
		`<p id="&notit;">`,
	"names.html": `<a name="a1"></a><map name=map1></map><area name=area1><img name=img1 src="data:,"><form name=form1></form><input name=input1><meta name=meta1><iframe name=iframe1></iframe>` +
		`<object name=object1></object><embed name=embed1><p name=p1><svg><a name=svga></a></svg><a name=dup1 name=dup2></a><a name=""></a><a name="n b"></a><a name="é"></a>`,
	"where.html": `<template><p id=template></template><!-- <p id=comment> --><script>"<p id=script>"</script><style>/*<p id=style>*/</style><textarea><p id=textarea></textarea>` +
		`<iframe><p id=iframe></iframe><noscript><p id=noscript></noscript><div hidden><p id=hidden></div><svg id=svg><g id=g><title id=title></title><foreignObject><p id=foreign></foreignObject></svg>` +
		`<math><mi id=mi></math><object><p id=object></object><video><p id=video></video><select><option id=option></select></p id=endtag><table><tr><td id=td></table><td id=straytd></td>` +
		`<?pi id=pi><xmp><p id=xmp></xmp><details><p id=details></details>`,
	"top.html": `<p id=x>`,
}

// TestFragments: which fragments are found, as measured with Chromium
// (reference: what Chromium really does with fragments). True means found.
func TestFragments(t *testing.T) {
	tests := []struct {
		name, href string
		want       bool
	}{
		{"exact/plain", "ids.html#plain", true},
		{"exact/percent_sign", "ids.html#100%", true},
		{"exact/escape_in_the_id", "ids.html#%C3%A0", true},
		{"exact/bad_escape", "ids.html#%zz", true},
		{"decoded/upper_case_hex", "ids.html#%C3%A9", true},
		{"decoded/lower_case_hex", "ids.html#%c3%a9", true},
		{"decoded/raw", "ids.html#é", true},
		{"decoded/space", "ids.html#a%20b", true},
		{"decoded/plus", "ids.html#a+b", true},
		{"decoded/escaped_plus", "ids.html#a%2Bb", true},
		{"decoded/exact_goes_first", "ids.html#x%20y", true},
		{"decoded/escaped_escape", "ids.html#x%2520y", true},
		{"decoded/once_only", "ids.html#a%2520b", false},
		{"invalid/escaped_percent_zz", "ids.html#%25zz", true},
		{"invalid/percent_alone", "ids.html#%", true},
		{"invalid/byte_ff", "ids.html#x%FFy", true},
		{"invalid/truncated", "ids.html#x%C3y", true},
		{"invalid/continuation", "ids.html#x%80y", true},
		{"invalid/overlong_is_two", "ids.html#x%C0%80y", false},
		{"bom/stays", "ids.html#%EF%BB%BFbom", true},
		{"bom/is_not_cut", "ids.html#%EF%BB%BFbom2", false},
		{"case/exact", "ids.html#Case", true},
		{"case/lower", "ids.html#case", false},
		{"normal_form/nfd", "ids.html#e%CC%81", true},
		{"normal_form/nfc_is_another", "top.html#%C3%A9", false},
		{"space/leading", "ids.html#%20lead", true},
		{"space/leading_missing", "ids.html#lead", false},
		{"space/trailing", "ids.html#trail%20", true},
		{"space/trailing_trimmed", "ids.html#trail ", false},
		{"space/inside", "ids.html#two  spaces", true},
		{"space/one_is_not_two", "ids.html#two spaces", false},
		{"space/tab", "ids.html#tab%09x", true},
		{"space/tab_in_url_is_removed", "ids.html#tab\tx", false},
		{"space/newline", "ids.html#nl%0Ax", true},
		{"space/form_feed", "ids.html#ff%0Cx", true},
		{"space/no_break", "ids.html#nbsp%C2%A0x", true},
		{"name/a", "names.html#a1", true},
		{"name/a_decoded", "names.html#n%20b", true},
		{"name/a_utf8", "names.html#é", true},
		{"name/map", "names.html#map1", false},
		{"name/area", "names.html#area1", false},
		{"name/img", "names.html#img1", false},
		{"name/form", "names.html#form1", false},
		{"name/input", "names.html#input1", false},
		{"name/meta", "names.html#meta1", false},
		{"name/iframe", "names.html#iframe1", false},
		{"name/object", "names.html#object1", false},
		{"name/embed", "names.html#embed1", false},
		{"name/p", "names.html#p1", false},
		{"name/svg_a", "names.html#svga", false},
		{"name/first_attribute", "names.html#dup1", true},
		{"name/second_attribute", "names.html#dup2", false},
		{"name/exact_case", "names.html#A1", false},
		{"LL-63/empty", "top.html#", true},
		{"LL-63/top", "top.html#top", true},
		{"top/any_case", "top.html#ToP", true},
		{"top/escaped", "top.html#%74op", true},
		{"top/escaped_upper_case", "top.html#TO%50", true},
		{"top/space", "top.html#top%20", false},
		{"top/slash", "top.html#top/", false},
		{"top/full_width", "top.html#%EF%BD%94%EF%BD%8F%EF%BD%90", false},
		{"directive/cut", "ids.html#plain:~:text=x", true},
		{"directive/alone", "top.html#:~:text=x", true},
		{"directive/missing_id", "ids.html#nope:~:text=x", false},
		{"directive/escaped_is_none", "ids.html#plain%3A~%3Atext=x", false},
		{"directive/half_is_none", "ids.html#plain:~text=x", false},
		{"route/id_has_that_text", "ids.html#/has", true},
		{"route/missing", "ids.html#/hasnt", false},
		{"route/line", "ids.html#L10", false},
		{"route/page", "ids.html#page=2", false},
		{"attributes/unquoted_slash", "ids.html#unq2/", true},
		{"attributes/no_space_between", "ids.html#x", true},
		{"attributes/first_wins", "ids.html#first", true},
		{"attributes/second_loses", "ids.html#second", false},
		{"attributes/upper_case_name", "ids.html#upper", true},
		{"attributes/xml_id", "ids.html#xmlid", false},
		{"attributes/data_id", "ids.html#dataid", false},
		{"attributes/reference", "ids.html#©", true},
		{"attributes/reference_and_equals_stays", "ids.html#&copy=1", true},
		{"attributes/windows_1252_reference", "ids.html#€", true},
		{"attributes/notit", "ids.html#&notit;", true},
		{"where/template", "where.html#template", false},
		{"where/comment", "where.html#comment", false},
		{"where/script", "where.html#script", false},
		{"where/style", "where.html#style", false},
		{"where/textarea", "where.html#textarea", false},
		{"where/iframe", "where.html#iframe", false},
		{"where/noscript", "where.html#noscript", false},
		{"where/hidden", "where.html#hidden", true},
		{"where/svg", "where.html#svg", true},
		{"where/svg_g", "where.html#g", true},
		{"where/svg_title", "where.html#title", true},
		{"where/foreign_object", "where.html#foreign", true},
		{"where/mathml", "where.html#mi", true},
		{"where/object", "where.html#object", true},
		{"where/video", "where.html#video", true},
		{"where/option", "where.html#option", true},
		{"where/end_tag", "where.html#endtag", false},
		{"where/cell", "where.html#td", true},
		{"where/stray_cell", "where.html#straytd", false},
		{"where/processing_instruction", "where.html#pi", false},
		{"where/xmp", "where.html#xmp", false},
		{"where/details", "where.html#details", true},
		{"address/query", "ids.html?q=1#plain", true},
		{"address/dots", "./x/../ids.html#plain", true},
		{"address/escaped_path", "%69ds.html#plain", true},
		{"address/white_space", "  ids.html#plain\n", true},
	}
	fs := files{}
	for name, text := range anchorPages {
		fs[name] = "<!doctype html><meta charset=utf-8>" + text
	}
	var b strings.Builder
	b.WriteString("<!doctype html><meta charset=utf-8>")
	for _, tc := range tests {
		fmt.Fprintf(&b, "<a href=\"%s\">x</a>\n", html.EscapeString(tc.href))
	}
	fs["zz.html"] = b.String()
	s := load(t, tempDocroot(t, fs), isite.Options{})
	missing := map[int]Code{} // by line
	for _, f := range run(t, s, Options{ScriptFragments: ScriptError}).Findings {
		if f.Page == "zz.html" {
			missing[f.Line] = f.Code
		}
	}
	line := 1
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			want := Code("")
			if !tc.want {
				want = MissingFragment
			}
			if got := missing[line]; got != want {
				t.Errorf("%q: got %q, want %q", tc.href, got, want)
			}
		})
		line += 1 + strings.Count(tc.href, "\n")
	}
}

// TestQuirksNames: in quirks mode the names of a elements match in any letter
// case, but ids do not, both in Run and in the rows of Links.
func TestQuirksNames(t *testing.T) {
	const body = `<a name=Name></a><p id=Ident><a href=#name></a><a href=#NAME></a><a href=#ident></a>`
	for _, tc := range []struct {
		name, doctype string
		missing       []string
	}{
		{"no_doctype", "", []string{"#ident"}},
		{"html_4_transitional", `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">`, []string{"#ident"}},
		{"html5", "<!doctype html>", []string{"#name", "#NAME", "#ident"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := load(t, tempDocroot(t, files{"p.html": tc.doctype + body}), isite.Options{})
			r := run(t, s, Options{})
			var got []string
			for _, f := range r.Findings {
				got = append(got, f.Raw)
			}
			if fmt.Sprint(got) != fmt.Sprint(tc.missing) || r.Summary.Errors != len(tc.missing) || r.Summary.OK != 3-len(tc.missing) {
				t.Errorf("missing %q, want %q; %+v", got, tc.missing, r.Summary)
			}
		})
	}
}

// TestBaseAndFragments: if the base is another document, a link that is only a
// fragment leads to that document, not to the page.
func TestBaseAndFragments(t *testing.T) {
	r := checkFiles(t, files{"p.html": `<!doctype html><base href=/q.html><p id=here><a href=#here>x</a><a href=#there>x</a>`, "q.html": `<!doctype html><p id=there>`}, isite.Options{}, Options{})
	compareBriefs(t, r.Findings, "p.html:1:54 error missing-fragment #here")
}

// TestFragmentsOfOtherFiles: fragments of files without ids are not judged, SVG
// files have ids, and the fragments of a directory are those of its index file.
func TestFragmentsOfOtherFiles(t *testing.T) {
	s := load(t, tempDocroot(t, files{
		"p.html": plain + "<a href=i.svg#a><a href=i.svg#b><a href=d/#x><a href=d#y><a href=t.pdf#page=2>",
		"i.svg":  `<svg xmlns="http://www.w3.org/2000/svg"><g id="a"/></svg>`, "d/index.html": plain + "<p id=x>", "t.pdf": "",
	}), isite.Options{})
	all, _ := rows(t, s, Options{})
	compareBriefs(t, all, "p.html:1:40 ok  i.svg#a", "p.html:1:56 error missing-fragment i.svg#b", "p.html:1:72 ok  d/#x",
		"p.html:1:85 error missing-fragment d#y", "p.html:1:97 unchecked not-html t.pdf#page=2")
}
