package data

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

const (
	xmlHead    = `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p id="k1"/>`
	xmlTail    = `</body></html>`
	xmlXHTML   = `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">`
	xmlSVGHead = `<svg xmlns="http://www.w3.org/2000/svg" id="s1">`
)

// withSubset returns an XHTML page with an internal subset.
func withSubset(subset, body string) string {
	return "<!DOCTYPE html [" + subset + "]>" + strings.TrimPrefix(xmlHead, `<?xml version="1.0"?>`) + body + xmlTail
}

// TestXMLChromium has the ids, and the names of a with "@", that Chromium's DOM
// has of these documents, and whether it shows an error. They were measured
// with version 14x of Debian 12. If Chromium finds an id after an error, the
// fault must not hide it either.
func TestXMLChromium(t *testing.T) {
	for _, c := range xmlCases {
		t.Run(c.name, func(t *testing.T) {
			var s XMLScanner
			p := s.XHTML([]byte(c.in), scan.Options{})
			if strings.HasPrefix(c.name, "svg/") {
				p = s.SVG([]byte(c.in))
			}
			testkit.CheckPage(t, p)
			if got := xmlAnchors(p); got != c.want {
				t.Errorf("anchors %q, want %q", got, c.want)
			}
			fault := ""
			for i, f := range p.Faults {
				if f.Kind != scan.FaultXML || f.Name == "" || int(f.Off) > len(p.Text) || i > 1 {
					t.Errorf("fault %+v", f)
				}
				fault = f.Name
			}
			if fault != c.fault {
				t.Errorf("fault %q, want %q", fault, c.fault)
			}
		})
	}
}

func xmlAnchors(p *scan.Page) string {
	var out []string
	for _, a := range p.Anchors {
		name := string(a.Name)
		if a.Kind == scan.AnchorName {
			name = "@" + name
		}
		out = append(out, name)
	}
	return strings.Join(out, "|")
}

type xmlCase struct{ name, in, want, fault string }

var xmlCases = []xmlCase{
	{"names/case", xmlHead + `<p ID="a"/><P id="b"/><A name="c"/><a name="d"/>` + xmlTail, "k1|b|@d", ""},
	{"names/not_id", xmlHead + `<p xml:id="a"/><p x:id="b" xmlns:x="urn:x"/><p data-id="c"/><p id=""/>` + xmlTail, "k1", ""},
	{"names/not_ascii", xmlHead + `<é id="a"/><p é="1" id="b"/><·p id="c"/>` + xmlTail, "k1|a|b", `"<" is not followed by a name`},
	{"names/digit", xmlHead + `<1p id="a"/>` + xmlTail, "k1", `"<" is not followed by a name`},
	{"namespaces/a_name", xmlHead + `<a xmlns="urn:x" name="a" id="b"/><x:a xmlns:x="http://www.w3.org/1999/xhtml" name="c"/><svg xmlns="http://www.w3.org/2000/svg"><a name="d"/></svg>` + xmlTail, "k1|b|@c", ""},
	{"namespaces/none", `<html><body><a name="a"/><p id="b"/></body></html>`, "b", ""},
	{"namespaces/scope", xmlHead + `<b xmlns="urn:x" xmlns:h="http://www.w3.org/1999/xhtml"><a name="a"/><h:a name="b"><i xmlns:h="urn:x"><h:a name="c"/></i><h:a name="d"/></h:a></b><a name="e"/>` + xmlTail, "k1|@b|@d|@e", ""},
	{"namespaces/entity", withSubset(`<!ENTITY x "urn:x">`, `<a name="a"/><b xmlns="&x;"><a name="b"/></b>`), "k1|@a", ""},
	{"namespaces/undeclared_on_element", xmlHead + `<x:p id="a"/><p id="b"/>` + xmlTail, "k1|a|b", "undeclared prefix of element x:p"},
	{"namespaces/undeclared_on_attribute", xmlHead + `<p y:q="" id="a"/><p id="b"/>` + xmlTail, "k1", "undeclared prefix of attribute y:q"},
	{"namespaces/two_colons_in_attribute", xmlHead + `<p a:b:c="x" id="a"/>` + xmlTail, "k1", "bad attribute name a:b:c"},
	{"namespaces/leading_colon_in_attribute", xmlHead + `<p :id="a"/>` + xmlTail, "k1", "bad attribute name :id"},
	{"namespaces/trailing_colon_in_attribute", xmlHead + `<p id:="a"/>` + xmlTail, "k1", "bad attribute name id:"},
	{"namespaces/colon_in_element", xmlHead + `<:p id="a"/><p id="b"/>` + xmlTail, "k1|a|b", "bad element name :p"},
	{"namespaces/empty_declaration", xmlHead + `<p xmlns:x="" id="a"/><p id="b"/>` + xmlTail, "k1|a|b", "empty namespace declaration xmlns:x"},
	{"namespaces/reserved", xmlHead + `<p xmlns:xml="urn:x" id="a"/><p id="b"/>` + xmlTail, "k1|a|b", "namespace declaration xmlns:xml of a reserved name"},
	{"namespaces/duplicate_expanded", xmlHead + `<p xmlns:a="u" xmlns:b="u" a:q="1" b:q="2" id="a"/><p id="b"/>` + xmlTail, "k1|a|b", "attribute b:q is repeated with another prefix"},
	{"svg/undeclared_on_element", xmlSVGHead + `<x:g id="a"/><g id="b"/></svg>`, "s1", "undeclared prefix of element x:g"},
	{"svg/undeclared_on_attribute", xmlSVGHead + `<a xlink:href="#x" id="a"/><g id="b"/></svg>`, "s1", "undeclared prefix of attribute xlink:href"},
	{"svg/entity", `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x">` + xmlSVGHead + `<g id="a">&nbsp;</g></svg>`, "s1|a", "entity &nbsp; is not declared"},
	{"svg/comment_style_title", xmlSVGHead + `<!-- <g id="a"/> --><style id="b"><![CDATA[ <g id="c"/> ]]></style><title id="d">x</title></svg>`, "s1|b|d", ""},

	{"content/cdata", xmlHead + `<![CDATA[<p id="a"/>]]><p id="b"/>` + xmlTail, "k1|b", ""},
	{"content/raw_text_is_markup", xmlHead + `<script type="x"><p id="a"/></script><textarea><p id="b"/></textarea><style><p id="c"/></style><title><b id="d"/></title><iframe><p id="e"/></iframe><noscript><p id="f"/></noscript>` + xmlTail, "k1|a|b|c|d|e|f", ""},
	{"content/script_comment", xmlHead + `<script><!-- if (a<b) x --></script><p id="a"/>` + xmlTail, "k1|a", ""},
	{"content/template", xmlHead + `<template id="a" shadowrootmode="open"><p id="b"/><svg xmlns="http://www.w3.org/2000/svg" id="c"/><template id="d"/></template><svg xmlns="http://www.w3.org/2000/svg"><template id="e"><g id="f"/></template></svg><p id="g"/>` + xmlTail, "k1|a|e|f|g", ""},
	{"content/cdata_end", xmlHead + `<p id="a">x]]>y</p>` + xmlTail, "k1|a", `"]]>" in text`},
	{"content/less_than", xmlHead + `<p id="a"/>x < y` + xmlTail, "k1|a", `"<" is not followed by a name`},
	{"content/control", xmlHead + "<p id=\"a\">\x01</p>" + xmlTail, "k1|a", "character U+0001 is not allowed"},
	{"content/nul", xmlHead + "<p id=\"a\x00\"/>" + xmlTail, "k1", "character U+0000 is not allowed"},
	{"content/noncharacter", xmlHead + "<p id=\"a\">\uFFFE</p>" + xmlTail, "k1|a", "character U+FFFE is not allowed"},
	{"content/del_and_c1", xmlHead + "<p id=\"a\">\x7F\u0085\u2028</p>" + xmlTail, "k1|a", ""},
	{"content/cdata_open", xmlHead + `<![CDATA[<p id="a"/>` + xmlTail, "k1", "a CDATA section is never closed"},
	{"content/error_after_bad_character", xmlHead + "</p><p id=\"a\">\x01", "k1", "mismatched end tag </p> of <body>"},
	{"names/long", xmlHead + `<` + strings.Repeat("é", 30) + `></p>`, "k1", "mismatched end tag </p> of <" + strings.Repeat("é", 20) + "...>"},
	{"comment/dashes", xmlHead + `<!-- x -- y --><p id="a"/>` + xmlTail, "k1", `"--" in a comment`},
	{"comment/three_dashes", xmlHead + `<!-- x ---><p id="a"/>` + xmlTail, "k1", `"--" in a comment`},
	{"comment/open", xmlHead + `<!-- x <p id="a"/>`, "k1", "a comment is never closed"},
	{"pi/any", xmlHead + `<?pi <p id="a"/>?><?q?><?xml-x y?><p id="b"/>` + xmlTail, "k1|b", ""},
	{"pi/no_space", xmlHead + `<?b/x?><p id="a"/>` + xmlTail, "k1", "no space after the name of a processing instruction"},
	{"pi/late_declaration", xmlHead + `<?xml version="1.0"?>` + xmlTail, "k1", "the XML declaration is not at the start of the document"},
	{"pi/upper_case", xmlHead + `<?XML x?>` + xmlTail, "k1", "the XML declaration is not at the start of the document"},

	{"attributes/white_space", xmlHead + "<p id=\"a\r\nb\"/><p id=\"c\rd\"/><p id=\"e\tf\n\"/><p id=' g '/>" + xmlTail, "k1|a b|c d|e f | g ", ""},
	{"attributes/references", xmlHead + `<p id="a&#10;b"/><p id="c&#13;d"/><p id="e&#x9;&amp;amp;&lt;&gt;&quot;&apos;"/><p id="f&#128;"/>` + xmlTail, "k1|a\nb|c\rd|e\t&amp;<>\"'|f\u0080", ""},
	{"attributes/duplicate", xmlHead + `<p id="a"/><p id="b" id="c"/>` + xmlTail, "k1|a", "duplicate attribute id"},
	{"attributes/duplicate_of_many", xmlHead + `<p a="" b="" c="" d="" e="" f="" g="" h="" i="" c="" id="a" b=""/>` + xmlTail, "k1", "duplicate attribute c"},
	{"attributes/duplicate_xmlns", xmlHead + `<p xmlns:a="u" xmlns:a="u"/>` + xmlTail, "k1", "duplicate attribute xmlns:a"},
	{"attributes/no_space", xmlHead + `<p title="x"id="a"/>` + xmlTail, "k1", "no space before an attribute of <p>"},
	{"attributes/no_value", xmlHead + `<p id="a" hidden>` + xmlTail, "k1", "attribute hidden has no value"},
	{"attributes/unquoted", xmlHead + `<p id="a" q=x/>` + xmlTail, "k1", "the value of attribute q is not quoted"},
	{"attributes/less_than", xmlHead + `<p id="a" q="x<y"/>` + xmlTail, "k1", `"<" in attribute q`},
	{"attributes/ampersand", xmlHead + `<p id="a&b"/>` + xmlTail, "k1", `"&" does not begin a reference`},
	{"attributes/no_semicolon", xmlHead + `<p id="a&ampb"/>` + xmlTail, "k1", `"&" does not begin a reference`},
	{"attributes/tag_inside", xmlHead + `<p id="a" <p id="b"/>` + xmlTail, "k1", "bad attribute name in <p>"},
	{"attributes/slash", xmlHead + `<p id="a" / >` + xmlTail, "k1", `"/" in start tag <p>`},
	{"references/out_of_range", xmlHead + `<p id="a">&#x110000;</p>` + xmlTail, "k1|a", "bad character reference"},
	{"references/surrogate", xmlHead + `<p id="a">&#xD800;</p>` + xmlTail, "k1|a", "bad character reference"},
	{"references/control", xmlHead + `<p id="a">&#1;</p>` + xmlTail, "k1|a", "bad character reference"},
	{"references/upper_case_x", xmlHead + `<p id="a">&#X41;</p>` + xmlTail, "k1|a", "bad character reference"},

	{"structure/mismatch", xmlHead + `<div id="a"><p id="b">x</div><p id="c"/>` + xmlTail, "k1|a|b", "mismatched end tag </div> of <p>"},
	{"structure/other_prefix", xmlHead + `<a:p xmlns:a="u" id="a"></p>` + xmlTail, "k1|a", "mismatched end tag </p> of <a:p>"},
	{"structure/end_tag_attribute", xmlHead + `<p id="a"></p x>` + xmlTail, "k1|a", "bad end tag"},
	{"structure/second_root", xmlHead + xmlTail + `<p id="a"/>`, "k1", "a second root element"},
	{"structure/text_after", xmlHead + xmlTail + `x`, "k1", "text outside the root element"},
	{"structure/reference_before", `&amp;` + xmlHead + xmlTail, "", "text outside the root element"},
	{"structure/cdata_before", `<![CDATA[ ]]>` + xmlHead + xmlTail, "", `unexpected "<!"`},
	{"structure/comment_after", xmlHead + xmlTail + "<!-- x --><?pi x?>\n", "k1", ""},
	{"structure/open", xmlHead + `<b id="a">`, "k1|a", "element <b> is never closed"},
	{"structure/cut_in_tag", xmlHead + `<b id="a"`, "k1", "start tag <b> is never closed"},
	{"structure/cut_in_value", xmlHead + `<b id="a" q="x`, "k1", "the file ends inside attribute q"},
	{"structure/empty", "", "", ""},
	{"structure/mark_only", "\uFEFF", "", ""},
	{"structure/white_space_only", " \n", "", "there is no root element"},
	{"structure/no_root", `<!-- x -->`, "", "there is no root element"},

	{"declaration/late", " " + xmlHead + xmlTail, "", "the XML declaration is not at the start of the document"},
	{"declaration/version_1.1", `<?xml version="1.1"?><p id="a"/>`, "a", ""},
	{"declaration/version_2.0", `<?xml version="2.0"?><p id="a"/>`, "", "unsupported XML version 2.0"},
	{"declaration/no_version", `<?xml encoding="utf-8"?><p id="a"/>`, "", "bad XML declaration"},
	{"declaration/unquoted", `<?xml version="1.0" encoding=utf-8?><p id="a"/>`, "", "bad XML declaration"},
	{"declaration/standalone", `<?xml version="1.0" standalone="maybe"?><p id="a"/>`, "", "bad XML declaration"},
	{"declaration/spaces", "<?xml version = '1.0'\n\tencoding = 'utf-8' standalone='no' ?><p id=\"a\"/>", "a", ""},
	{"doctype/open literal", `<!DOCTYPE a PUBLIC "`, "", "a literal in the document type is never closed"},
	{"doctype/late", xmlHead + `<!DOCTYPE html>` + xmlTail, "k1", `unexpected "<!"`},
	{"doctype/lower_case", `<!doctype html><p id="a"/>`, "", `unexpected "<!"`},
	{"doctype/other_name", `<!DOCTYPE x><p id="a"/>`, "a", ""},
	{"doctype/open", `<!DOCTYPE r [<!ENTITY a "b">`, "", "the document type is never closed"},
	{"doctype/open_literal", `<!DOCTYPE r [<!ENTITY a "b>]><r/>`, "", "a literal in the document type is never closed"},
	{"doctype/open_declaration", `<!DOCTYPE r [<!ELEMENT a `, "", "the document type is never closed"},
	{"structure/stray_end_tag", `</p>`, "", "end tag </p> without start tag"},
	{"structure/cut_in_end_tag", `<p id="a"></p`, "a", "end tag </p> is never closed"},
	{"structure/cut_after_slash", `<p id="a"/`, "", "start tag <p> is never closed"},
	{"structure/cut_at_bracket", `<p id="a"><`, "a", "the file ends inside a tag"},
	{"declaration/open", `<?xml version="1.0"`, "", "the XML declaration is never closed"},
	{"doctype/all_kinds", withSubset(` <!ELEMENT p ANY><!ELEMENT q (#PCDATA|p)*><!ATTLIST p z CDATA ">" y (a|b) "a" x ID #IMPLIED w NOTATION (n) #REQUIRED><!NOTATION n SYSTEM ">"><!-- ' --><?pi ' ?> %pe; `, `<p id="a"/>`), "k1|a", ""},

	{"entities/xhtml", xmlXHTML + `<p id="a&eacute;&NotEqualTilde;&AMP;&Amp;">&nbsp;&foo;</p>`, "aé\u2242\u0338&", ""},
	{"entities/standalone_xhtml", `<?xml version="1.0" standalone="yes"?>` + xmlXHTML + `<p id="a">&nbsp;<b id="b"/>&foo;</p>`, "a|b", "entity &foo; is not declared"},
	{"entities/other_public_id", `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML+RDFa 1.0//EN" "x"><p id="a&nbsp;"/>`, "a", ""},
	{"entities/undeclared", `<!DOCTYPE html><p id="a"><b id="b"/>&nbsp;</p>`, "a|b", "entity &nbsp; is not declared"},
	{"entities/undeclared_but_external", `<!DOCTYPE html SYSTEM "about:legacy-compat"><p id="a&nbsp;"><b id="b"/>&nbsp;</p>`, "a|b", ""},
	{"entities/internal", withSubset(`<!ENTITY a "AA"><!ENTITY b '&a;&#38;lt;B'><!ENTITY a "no">`, `<p id="x-&a;-&b;"/>`), "k1|x-AA-AA<B", ""},
	{"entities/predefined_stay", withSubset(`<!ENTITY lt "Q"><!ENTITY amp "&#38;#38;">`, `<p id="&lt;&amp;"/>`), "k1|<&", ""},
	{"entities/white_space", withSubset("<!ENTITY x \"a\r\n\tb&#10;c&#38;#10;d\">", `<p id="&x;"/>`), "k1|a  b c\nd", ""},
	{"entities/less_than", withSubset(`<!ENTITY m "a&#60;b">`, `<p id="a"/><p id="b&m;"/>`), "k1|a", `entity &m; holds "<" in an attribute`},
	{"entities/loop", withSubset(`<!ENTITY m "a&n;"><!ENTITY n "&m;">`, `<p id="a"/><p id="b&m;"/>`), "k1|a", "an entity refers to itself"},
	{"entities/external", withSubset(`<!ENTITY x SYSTEM "e">`, `<p id="a"/>&x;<p id="b&x;"/>`), "k1|a", "external entity &x; in an attribute"},
	{"entities/undeclared_inside", withSubset(`<!ENTITY x "a &y; b">`, `<p id="a"/>&x;`), "k1|a", "entity &y; is not declared"},
	{"entities/parameter", withSubset(`<!ENTITY % p "<!ENTITY z 'zz'>"> %p;`, `<p id="a&z;"/>`), "k1|a", ""},
}

// TestXMLEncoding follows XML 1.0, appendix F, and Chromium: a byte order mark,
// the header, the declaration, or else UTF-8. meta elements have no effect.
func TestXMLEncoding(t *testing.T) {
	utf16 := func(s string) []byte {
		var out []byte
		for _, r := range s {
			out = append(out, byte(r), byte(r>>8))
		}
		return out
	}
	const sjis = "<?xml version=\"1.0\" encoding=\"shift_jis\"?><r id=\"\x93\xFA\"><b id=\"b\"/>"
	for _, c := range []struct {
		name          string
		in            []byte
		header        string
		ids, charset  string
		fault         string
		faultAtSource int64
	}{
		{"none", []byte("<r id=\"é\"/>"), "", "é", "utf-8", "", 0},
		{"declared", []byte("<?xml version='1.0' encoding='iso-8859-1'?><r id=\"\xE9\x80\"/>"), "", "é€", "windows-1252", "", 0},
		{"mark_over_declared", []byte("\uFEFF<?xml version='1.0' encoding='iso-8859-1'?><r id=\"é\"/>"), "", "é", "utf-8", "", 0},
		{"header_over_declared", []byte("<?xml version='1.0' encoding='utf-8'?><r id=\"\xE9\"/>"), "latin1", "é", "windows-1252", "", 0},
		{"unknown", []byte("<?xml version='1.0' encoding='nonsense'?><r id=\"é\"/>"), "", "é", "utf-8", "", 0},
		{"utf-16_is_utf-8", []byte("<?xml version='1.0' encoding='utf-16'?><r id=\"é\"/>"), "", "é", "utf-8", "", 0},
		{"utf-16_without_mark", utf16("<?xml version='1.0' encoding='utf-16'?><r id=\"é\"/>"), "", "é", "utf-16le", "", 0},
		{"meta_has_no_say", []byte(`<html xmlns="http://www.w3.org/1999/xhtml"><meta charset="latin1" id="é"/></html>`), "", "é", "utf-8", "", 0},
		{"invalid", []byte("<r id=\"a\">\xFF<b id=\"b\"/></r>"), "", "a", "utf-8", "byte 0xFF is not UTF-8", 10},
		{"surrogate", []byte("<r id=\"a\">\xED\xA0\x80<b id=\"b\"/></r>"), "", "a", "utf-8", "byte 0xED is not UTF-8", 10},
		{"invalid_shift_jis", []byte(sjis + "\xFF<b id=\"c\"/></r>"), "", "日|b", "shift_jis", "a byte is not shift_jis", int64(len(sjis))},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s XMLScanner
			p := s.XHTML(c.in, scan.Options{Charset: c.header, DefaultCharset: "koi8-r"})
			if got := xmlAnchors(p); got != c.ids || p.Charset() != c.charset {
				t.Errorf("anchors %q in %s, want %q in %s", got, p.Charset(), c.ids, c.charset)
			}
			if c.fault == "" && len(p.Faults) > 0 || c.fault != "" && (len(p.Faults) != 1 || p.Faults[0].Name != c.fault || p.Source(p.Faults[0].Off) != c.faultAtSource) {
				t.Errorf("faults %+v, want %q at %d", p.Faults, c.fault, c.faultAtSource)
			}
		})
	}
}

// TestXMLBounds: time and memory for documents that are meant to be expensive
// are proportional to their length.
func TestXMLBounds(t *testing.T) {
	laughs := `<!ENTITY l0 "lolololololololol">`
	for i := range 26 {
		laughs += "<!ENTITY l" + string(rune('A'+i)) + ` "` + strings.Repeat("&l"+string(rune('@'+i))+";", 10) + `">`
	}
	laughs = strings.ReplaceAll(laughs, "&l@;", "&l0;")
	chain := `<!ENTITY e0 "x">`
	for i := 1; i < 200; i++ {
		chain += fmt.Sprintf(`<!ENTITY e%d "&e%d;">`, i, i-1)
	}
	var prefixes, manyAttrs bytes.Buffer
	for i := range 50_000 {
		prefixes.WriteString(" xmlns:p" + strconv.Itoa(i) + `="u` + strconv.Itoa(i) + `"`)
		manyAttrs.WriteString(" a" + strconv.Itoa(i) + `=""`)
	}
	for _, c := range []xmlCase{
		{"laughs_in_text", withSubset(laughs, `<p id="a">&lZ;</p><p id="b"/>`), "k1|a", "entity &lZ; expands to too much text"},
		{"laughs_in_attribute", withSubset(laughs, `<p id="a"/><p id="&lZ;"/>`), "k1|a", "entity &lZ; expands to too much text"},
		{"quadratic_laughs", withSubset(`<!ENTITY l "`+strings.Repeat("l", 100_000)+`">`, `<p id="a"/>`+strings.Repeat("&l;", 100_000)), "k1|a", "entity &l; expands to too much text"},
		{"long_chain_of_entities", withSubset(chain, `<p id="a"/>&e199;`), "k1|a", ""},
		{"depth_allowed", strings.Repeat("<b>", 4999) + `<i id="a"/>` + strings.Repeat("</b>", 4999), "a", ""},
		{"depth", strings.Repeat("<b>", 5001) + `<i id="a"/>`, "", "elements are nested too deep"},
		{"many_prefixes", `<r` + prefixes.String() + `>` + strings.Repeat(`<p1:a/>`, 50_000) + `<b id="a"/></r>`, "a", ""},
		{"many_attributes", `<r` + manyAttrs.String() + ` id="a"/>`, "a", ""},
		{"open_comments", `<r id="a">` + strings.Repeat("<!-- ", 500_000), "a", `"--" in a comment`},
		{"open_instructions", `<r id="a">` + strings.Repeat("<?x ", 500_000), "a", "a processing instruction is never closed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s XMLScanner
			start := time.Now()
			p := s.XHTML([]byte(c.in), scan.Options{})
			// A quadratic reader would take minutes.
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			fault := ""
			if len(p.Faults) > 0 {
				fault = p.Faults[0].Name
			}
			if got := xmlAnchors(p); got != c.want || fault != c.fault {
				t.Errorf("anchors %q, fault %q, want %q, %q", got, fault, c.want, c.fault)
			}
			if cap(s.el.Arena) > 8<<20+8*len(c.in) {
				t.Errorf("%d bytes for a document of %d", cap(s.el.Arena), len(c.in))
			}
		})
	}
}
