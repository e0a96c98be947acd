package html

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/scan"
)

// anchorRows lists the anchors of a page as "id x", "name x" or "map x".
func anchorRows(p *scan.Page) []string {
	out := []string{}
	for _, a := range p.Anchors {
		kind := [...]string{scan.AnchorID: "id", scan.AnchorName: "name", scan.AnchorMap: "map"}[a.Kind]
		out = append(out, fmt.Sprintf("%s %s", kind, a.Name))
	}
	return out
}

type anchorCase struct {
	name, page, want string // want has rows, separated by ", "
}

func runAnchorCases(t *testing.T, cases []anchorCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, tags := range []scan.Tags{scan.Modern, scan.Linklint} {
				p := new(Scanner).Scan([]byte(c.page), scan.Options{Tags: tags, Charset: "utf-8"})
				if got := strings.Join(anchorRows(p), ", "); got != c.want {
					t.Errorf("tags %d, irregular %v: %s\n got %q\nwant %q", tags, p.Irregular, c.page, got, c.want)
				}
				for _, a := range p.Anchors {
					if at := p.Text[a.Off:]; !bytes.HasPrefix(at, a.Name) && at[0] != '&' && !bytes.ContainsAny(at[:min(len(at), 32)], "&\r\x00") && utf8.Valid(at) {
						t.Errorf("%s: %q is not at %d", c.page, a.Name, a.Off)
					}
				}
			}
		})
	}
}

// TestAnchors checks what defines an anchor.
func TestAnchors(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	runAnchorCases(t, []anchorCase{
		{"LL-39 a_name", `<a name=top>`, "name top"},
		{"LL-51 map_name", `<map name=m1><area href=b.html></map>`, "map m1"},
		{"LL-63 id_of_any_element", `<p id=a><a id=b><nav id=c><x-y id=d><area id=e>`, "id a, id b, id c, id d, id e"},
		{"id_and_name", `<a name=a id=b>`, "id b, name a"},
		{"name_of_others", `<img name=a><form name=b><input name=c><meta name=d><iframe name=e></iframe><object name=f></object>` +
			`<embed name=g><p name=h><area name=i><svg><a name=j></a></svg>`, ""},
		{"empty", `<p id><p id=""><a name><a name=''><map name="">`, ""},
		{"as_written", `<p id="100%"><p id="%C3%A0"><p id="a b"><p id="a+b"><p id=" a  "><p id=Case>`,
			"id 100%, id %C3%A0, id a b, id a+b, id  a  , id Case"},
		{"white_space_counts", "<p id='a\tb\nc\r\nd\re\ff'>", "id a\tb\nc\nd\ne\ff"},
		{"first_duplicate_wins", `<p id=a id=b><a name=c name=d><p ID=e id=f>`, "id a, name c, id e"},
		{"other_attributes", `<p xml:id=a><p data-id=b><p idx=c><p xid=d>`, ""},
		{"unquoted", `<p id=unq2/><p id=unq3 /><p id="x"class=y><p id=a"b><p id=z=1>`, "id unq2/, id unq3, id x, id a\"b, id z=1"},
		{"references", `<p id="&copy;"><p id="&copy"><p id="&copy=1"><p id="&notit;"><p id="&#128;"><p id="&#0;"><p id="&#xD800;"><p id="&#x110000;">`,
			"id ©, id ©, id &copy=1, id &notit;, id €, id \uFFFD, id \uFFFD, id \uFFFD"},
		{"NUL", "<p id='a\x00b'>", "id a\uFFFDb"},
		{"invalid_UTF-8", "<p id='x\xFFy'><p id='x\xC3y'><p id='x\xC0\x80y'>", "id x\uFFFDy, id x\uFFFDy, id x\uFFFD\uFFFDy"},
		{"one_megabyte", `<p id=` + long + `>`, "id " + long},
		{"same_id_twice", `<p id=a><p id=a>`, "id a, id a"},
	})
}

// TestWhereIDsCount repeats what headless Chromium does without scripting:
// which ids count and which do not.
func TestWhereIDsCount(t *testing.T) {
	nested := strings.Repeat("<div>", 700) + "<p id=x>"
	runAnchorCases(t, []anchorCase{
		{"head_and_body", `<html id=a><head id=b><meta id=c><link id=d><title id=e></title></head><body id=f><p id=g>`,
			"id a, id b, id c, id d, id e, id f, id g"},
		{"svg", `<svg id=a><g id=b><title id=c></title><a id=d></a></g><foreignObject id=e><p id=f></p></foreignObject></svg>`,
			"id a, id b, id c, id d, id e, id f"},
		{"math", `<math id=a><mi id=b></mi><annotation-xml encoding=text/html id=c><p id=d></p></annotation-xml></math>`, "id a, id b, id c, id d"},
		{"fallback_contents", `<object id=a><p id=b></p></object><video id=c><p id=d></p></video><canvas><p id=e></p></canvas>`,
			"id a, id b, id c, id d, id e"},
		{"hidden", `<details><p id=a></p></details><dialog><p id=b></p></dialog><datalist><option id=c></datalist><p hidden id=d>` +
			`<p style=display:none id=e>`, "id a, id b, id c, id d, id e"},
		{"noscript", `<head><noscript><link id=a></noscript></head><body><noscript><p id=b></noscript><p id=c><noscript><p id=d></p><noscript><p id=e></noscript><map name=f></map>`, "id c, map f"},
		{"select", `<select id=a><optgroup id=b><option id=c></select>`, "id a, id b, id c"},
		{"foster_parented", `<table><p id=a><tr id=b><p id=c><td id=d></table>`, "id a, id b, id c, id d"},
		{"late_html_and_body_tags", `<p id=a><html id=b><body id=c>`, "id a, id b, id c"},
		{"late_tags_do_not_replace", `<html id=a><body id=b><html id=c><body id=d>`, "id a, id b"},
		{"after_html", `<html><body></body></html><p id=a>`, "id a"},
		{"template", `<template id=a><p id=b><template><p id=c></template><p id=d></template><p id=e>`, "id a, id e"},
		{"shadow_root", `<div id=a><template id=b shadowrootmode=open><p id=c></template></div><template shadowrootmode=x id=d></template>`,
			"id a, id d"},
		{"comments", `<!--<p id=n>--><p id=a><?pi <p id=n><!decl <p id=n><p id=b><![CDATA[<p id=n>]]>`, "id a, id b"},
		{"comment_ends", `<!--><p id=a>--><!---><p id=b>--><!-- --!><p id=c>--><!-- <!-- --><p id=d>-->`, "id a, id b, id c, id d"},
		{"CDATA", `<svg><![CDATA[<g id=n>]]><g id=a></g></svg><math><![CDATA[<mi id=n>]]></math><p id=b>`, "id a, id b"},
		{"script", `<script id=a><p id=n></script><script type=text/x-template><p id=n></script><script><!-- <script></script><p id=n>--></script><p id=b>`,
			"id a, id b"},
		{"text_elements", `<style><p id=n></style><textarea><p id=n></textarea><title><p id=n></title><iframe><p id=n></iframe><noembed><p id=n></noembed>` +
			`<noframes><p id=n></noframes><xmp><p id=n></xmp><p id=a><plaintext><p id=n>`, "id a"},
		{"end_tags", `<p></p id=n></br id=n></div id=n><p id=a>`, "id a"},
		{"ignored_tags", `<body><td id=n><tr id=n><caption id=n><col id=n><tbody id=n><frame id=n><head id=n><p id=a>`, "id a"},
		{"head_after_text", `xhtml><head id=n><p id=a>`, "id a"},
		{"head_after_comments", `<!-- x --><?x><!DOCTYPE html><!-- y --><html id=a> <!-- z --><head id=b><head id=n>`, "id a, id b"},
		{"bracket_in_a_tag_name", `<form><form><li<a id=a></li><li</li id=b><p ="x" id=c>`, "id a, id b, id c"},
		{"tag_among_attributes_of_a_formatting_element", `<form><form>><s id=a <i id=n><b <i id=b>`, "id a, id b"},
		{"nested_form", `<form id=a><form id=n></form><form id=b></form>`, "id a, id b"},
		{"unterminated_tag", `<p id=a><p id=n `, "id a"},
		{"frameset", `<frameset id=a><frame id=b><p id=n><noframes><p id=n></noframes></frameset>`, "id a, id b"},
		{"body_replaced_by_frameset", `<div id=n></div><frameset id=a></frameset>`, "id a"},
		{"XHTML_syntax_as_HTML", `<a id="a"/><div id=b /><script id=c /><p id=n>`, "id a, id b, id c"},
		{"700_deep", nested, "id x"},
	})
}

// TestSelect: current parsers keep nearly everything inside select. Chromium
// finds these ids, but not that of a select in a select.
func TestSelect(t *testing.T) {
	p := new(Scanner).Scan([]byte(`<select id=a><div id=b><p id=c><img id=d><a id=e></a><svg id=f></svg></div><option id=g></select><p id=h>`), scan.Options{})
	want := []string{"id a", "id b", "id c", "id d", "id e", "id f", "id g", "id h"}
	if got := anchorRows(p); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestQuirks: in quirks mode, browsers ignore letter case in <a name>.
func TestQuirks(t *testing.T) {
	for _, c := range []struct {
		page string
		want bool
	}{
		{``, true}, {`<p>`, true}, {`<!DOCTYPE html>`, false}, {`<!doctype HTML >`, false}, {" \n<!-- x --><!DOCTYPE html>", false},
		{`<?xml version="1.0"?><!DOCTYPE html>`, false}, {"\uFEFF<!DOCTYPE html>", false}, {`x<!DOCTYPE html>`, true}, {`<p><!DOCTYPE html>`, true},
		{`<!DOCTYPE html SYSTEM "about:legacy-compat">`, false}, {`<!DOCTYPE>`, true}, {`<!DOCTYPE svg>`, true},
		{`<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">`, true},
		{`<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd">`, false},
		{`<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">`, false}, {`<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2//EN">`, true},
		{`<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">`, false},
		{`<!DOCTYPE html PUBLIC "-//IETF//DTD HTML//EN">`, true}, {`<!DOCTYPE html PUBLIC "x>`, true}, {`<!DOCTYPE html bogus>`, true},
		{`<!DOCTYPE html><!DOCTYPE x>`, false}, {`<!DOCTYPE x><!DOCTYPE html>`, true},
	} {
		if got := new(Scanner).Scan([]byte(c.page), scan.Options{}).Quirks; got != c.want {
			t.Errorf("%s: got %v, want %v", c.page, got, c.want)
		}
	}
}

// TestMapAnchors: usemap finds a map by its name and by its id. linklint knows
// names only.
func TestMapAnchors(t *testing.T) {
	for tags, want := range map[scan.Tags]string{scan.Modern: "id a, map b, map a", scan.Linklint: "id a, map b"} {
		p := new(Scanner).Scan([]byte(`<map id=a name=b></map><template><map id=c></map></template>`), scan.Options{Tags: tags})
		if got := strings.Join(anchorRows(p), ", "); got != want {
			t.Errorf("tags %d: got %q, want %q", tags, got, want)
		}
	}
}
