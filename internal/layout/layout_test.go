package layout

import (
	"bytes"
	"strings"
	"testing"
)

// files loads templates by name from a map, for tests.
func files(lang Language, texts map[string]string) Loader {
	return func(name, _ string) (Source, bool) {
		text, ok := texts[name]
		return Source{name, []byte(text), lang}, ok
	}
}

const el = "EL"

// TestPlace: the template, and the template with EL where the elements go; or
// the reason why there is no place.
func TestPlace(t *testing.T) {
	for _, c := range []struct {
		name  string
		lang  Language
		files map[string]string
		want  string // of the file root, or with "file: " before of another
		fails string
	}{
		{"PB-35/behind_charset", Go, map[string]string{"root": "<html>\n<head>\n  <meta charset=\"utf-8\">\n  <title>x</title>\n</head>"},
			"<html>\n<head>\n  <meta charset=\"utf-8\">\n  [EL .]\n  <title>x</title>\n</head>", ""},
		{"http-equiv", Go, map[string]string{"root": "<head><meta http-equiv='Content-Type' content='text/html; charset=utf-8'><title>x</title></head>"},
			"<head><meta http-equiv='Content-Type' content='text/html; charset=utf-8'>[EL .]<title>x</title></head>", ""},
		{"charset_from_an_action", Go, map[string]string{"root": "<head>\n<meta charset={{ .Site.Charset }}>\n</head>"},
			"<head>\n<meta charset={{ .Site.Charset }}>\n[EL .]\n</head>", ""},
		{"before_head_end", Go, map[string]string{"root": "<head>\n    <title>x</title>\n</head>\n"},
			"<head>\n    <title>x</title>\n    [EL .]\n</head>\n", ""},
		{"head_end_on_the_line", Go, map[string]string{"root": "<head><title>x</title></head>"}, "<head><title>x</title>[EL .]</head>", ""},
		{"windows_line_ends", Go, map[string]string{"root": "<head>\r\n\t<meta charset=utf-8>\r\n</head>\r\n"},
			"<head>\r\n\t<meta charset=utf-8>\r\n\t[EL .]\r\n</head>\r\n", ""},
		{"byte_order_mark", Go, map[string]string{"root": "\xef\xbb\xbf<head>\n<meta charset=utf-8>\n</head>"},
			"\xef\xbb\xbf<head>\n<meta charset=utf-8>\n[EL .]\n</head>", ""},
		{"upper_case", Go, map[string]string{"root": "<HEAD>\n<TITLE></TITLE>\n</HEAD>"}, "<HEAD>\n<TITLE></TITLE>\n[EL .]\n</HEAD>", ""},

		{"head_end_in_a_script_string", Go, map[string]string{"root": "<head><script>document.write('</head>')</script></head>"},
			"<head><script>document.write('</head>')</script>[EL .]</head>", ""},
		{"head_in_a_comment", Go, map[string]string{"root": "<!-- <head><meta charset=x></head> --><head></head>"},
			"<!-- <head><meta charset=x></head> --><head>[EL .]</head>", ""},
		{"head_in_a_template_comment", Go, map[string]string{"root": "{{/* <head></head> */}}<head></head>"},
			"{{/* <head></head> */}}<head>[EL .]</head>", ""},
		{"head_in_an_action", Go, map[string]string{"root": "{{ $x := `</head>}}` }}<head>{{ \"</head>\" }}</head>"},
			"{{ $x := `</head>}}` }}<head>{{ \"</head>\" }}[EL .]</head>", ""},
		{"comment_that_an_action_writes", Go, map[string]string{"root": "<head>{{ \"<!--\" | safeHTML }}made <head> </head> {{ \"-->\" | safeHTML }}<title></title></head>"},
			"<head>{{ \"<!--\" | safeHTML }}made <head> </head> {{ \"-->\" | safeHTML }}<title></title>[EL .]</head>", ""},
		{"head_in_an_attribute", Go, map[string]string{"root": "<head><meta content='</head>'></head>"}, "<head><meta content='</head>'>[EL .]</head>", ""},
		{"head_in_the_title", Go, map[string]string{"root": "<head><title></head></title></head>"}, "<head><title></head></title>[EL .]</head>", ""},
		{"head_in_a_template_element", Go, map[string]string{"root": "<head><template><head></head></template></head>"},
			"<head><template><head></head></template>[EL .]</head>", ""},
		{"conditional_comment", Go, map[string]string{"root": "<!--[if IE]><head></head><![endif]--><head>\n</head>"},
			"<!--[if IE]><head></head><![endif]--><head>\n[EL .]\n</head>", ""},
		{"header_is_no_head", Go, map[string]string{"root": "<head></head><header></header>"}, "<head>[EL .]</head><header></header>", ""},

		{"two_heads", Go, map[string]string{"root": "<head></head><body><head></head>"}, "", "the page has two <head>"},
		{"two_heads_in_branches", Go, map[string]string{"root": "{{ if .A }}<head></head>{{ else }}<head></head>{{ end }}"}, "", "the page has two <head>"},
		{"one_head_two_ends", Go, map[string]string{"root": "<head><title></title>{{ if .A }}</head>{{ else }}</head>{{ end }}"},
			"<head>[EL .]<title></title>{{ if .A }}</head>{{ else }}</head>{{ end }}", ""},
		{"no_head", Go, map[string]string{"root": "<p>{{ .Content }}"}, "", "the page has no head"},
		{"implied_head", Go, map[string]string{"root": "<!doctype html>\n<meta charset=utf-8>\n<title>x</title>\n<p>"},
			"<!doctype html>\n<meta charset=utf-8>\n[EL .]\n<title>x</title>\n<p>", ""},
		{"implied_head_without_charset", Go, map[string]string{"root": "<!doctype html>\n<title>x</title>\n<p>"},
			"<!doctype html>\n<title>x</title>\n[EL .]\n<p>", ""},
		{"implied_start", Go, map[string]string{"root": "<title>x</title>\n</head>\n"}, "<title>x</title>\n[EL .]\n</head>\n", ""},
		{"body_implied_in_the_head", Go, map[string]string{"root": "<head>\n<title></title>;\n<meta charset=utf-8>\n</head>"},
			"<head>\n[EL .]\n<title></title>;\n<meta charset=utf-8>\n</head>", ""},

		{"charset_in_a_condition", Go, map[string]string{"root": "<head>{{ if .X }}<meta charset=utf-8>{{ end }}</head>"},
			"<head>{{ if .X }}<meta charset=utf-8>{{ end }}[EL .]</head>", ""},
		{"head_in_the_same_condition", Go, map[string]string{"root": "{{ if .X }}<head><meta charset=utf-8></head>{{ end }}"},
			"{{ if .X }}<head><meta charset=utf-8>[EL .]</head>{{ end }}", ""},
		{"charset_where_the_dot_is_another", Go, map[string]string{"root": "{{ with .X }}<head><meta charset=utf-8></head>{{ end }}"},
			"{{ with .X }}<head><meta charset=utf-8>[EL $]</head>{{ end }}", ""},
		{"charset_in_a_block", Go, map[string]string{"root": "<head>{{ block \"head\" . }}<meta charset=utf-8>{{ end }}</head>"},
			"<head>{{ block \"head\" . }}<meta charset=utf-8>{{ end }}[EL .]</head>", ""},
		{"branches_of_an_attribute", Go, map[string]string{"root": `<html {{ if .X }}class="a{{ else }}class="b{{ end }}"><head></head>`},
			`<html {{ if .X }}class="a{{ else }}class="b{{ end }}"><head>[EL .]</head>`, ""},

		{"partial", Go, map[string]string{"root": `<html>{{ partial "head.html" . }}`, "head.html": "<head>\n</head>"}, "head.html: <head>\n[EL .]\n</head>", ""},
		{"partial_of_a_partial", Go, map[string]string{"root": `<html>{{ partial "head" $ }}`, "head": `<head>{{- template "meta" . -}}</head>`, "meta": "<meta charset=utf-8>"},
			"meta: <meta charset=utf-8>[EL .]", ""},
		{"partial_with_other_data", Go, map[string]string{"root": `<head>{{ partial "meta" (dict "page" .) }}</head>`, "meta": "<meta charset=utf-8>"},
			`<head>{{ partial "meta" (dict "page" .) }}[EL .]</head>`, ""},
		{"partialCached", Go, map[string]string{"root": `<head>{{ partialCached "meta" . }}</head>`, "meta": "<meta charset=utf-8>"},
			`<head>{{ partialCached "meta" . }}[EL .]</head>`, ""},
		{"partial_in_a_script", Go, map[string]string{"root": `<head><script>{{ partial "js" . }}</script></head>`, "js": "x='</head>'"},
			`<head><script>{{ partial "js" . }}</script>[EL .]</head>`, ""},
		{"partial_in_a_comment", Go, map[string]string{"root": `<!-- {{ partial "x" . }} --><head></head>`, "x": "<head></head>"},
			`<!-- {{ partial "x" . }} --><head>[EL .]</head>`, ""},
		{"partial_that_calls_itself", Go, map[string]string{"root": `<head>{{ partial "x" . }}</head>`, "x": `{{ partial "x" . }}`},
			`<head>{{ partial "x" . }}[EL .]</head>`, ""},
		{"define_in_the_file", Go, map[string]string{"root": `{{ define "h" }}<head></head>{{ end }}<html>{{ template "h" . }}`},
			`{{ define "h" }}<head>[EL .]</head>{{ end }}<html>{{ template "h" . }}`, ""},
		{"define_that_is_not_called", Go, map[string]string{"root": `{{ define "h" }}<head></head>{{ end }}`}, "", "the page has no head"},

		{"liquid", Liquid, map[string]string{"root": "<head>{% comment %}</head>{% endcomment %}{% include meta.html %}</head>", "meta.html": "{%- if page.x -%}{%- endif -%}<meta charset=utf-8>\n"},
			"meta.html: {%- if page.x -%}{%- endif -%}<meta charset=utf-8>\n[EL .]\n", ""},
		{"liquid_raw", Liquid, map[string]string{"root": "<head>{% raw %}{% if %}{{ x }}{% endraw %}</head>"}, "<head>{% raw %}{% if %}{{ x }}{% endraw %}[EL .]</head>", ""},
		{"front_matter", Liquid, map[string]string{"root": "---\nlayout: x # <head>\n---\n<head>\n</head>\n"}, "---\nlayout: x # <head>\n---\n<head>\n[EL .]\n</head>\n", ""},
		{"liquid_capture", Liquid, map[string]string{"root": "{% capture x %}<head></head>{% endcapture %}<head></head>"},
			"{% capture x %}<head></head>{% endcapture %}<head>[EL .]</head>", ""},
		{"jinja", Jinja, map[string]string{"root": "{# </head> #}<head>{% block title %}<title></title>{% endblock %}{{ '</head>' }}</head>"},
			"{# </head> #}<head>{% block title %}<title></title>{% endblock %}{{ '</head>' }}[EL .]</head>", ""},
		{"astro", Astro, map[string]string{"root": "---\nconst a = '<head></head>'\n---\n<html><head>{x ? '</head>' : `</head>`}<style>a { }</style>\n</head>"},
			"---\nconst a = '<head></head>'\n---\n<html><head>{x ? '</head>' : `</head>`}<style>a { }</style>\n[EL .]\n</head>", ""},

		{"PB-35/too_far", Go, map[string]string{"root": "<head><style>" + strings.Repeat("x", 5000) + "</style></head>"},
			"<head>[EL .]<style>" + strings.Repeat("x", 5000) + "</style></head>", ""},
		{"late/after_head", Go, map[string]string{"root": "<head>{{ .Styles }}</head>"}, "<head>[EL .]{{ .Styles }}</head>", ""},
		{"late/charset", Go, map[string]string{"root": "<head><meta charset=utf-8>{{ .Styles }}</head>"}, "<head><meta charset=utf-8>[EL .]{{ .Styles }}</head>", ""},
		{"late/charset_too", Go, map[string]string{"root": "<head>{{ .Styles }}<meta charset=utf-8></head>"}, "<head>[EL .]{{ .Styles }}<meta charset=utf-8></head>", ""},
		{"late/no_other_place", Go, map[string]string{"root": "{{ .Top }}</head>"}, "", "</head> in root is after the first 5000 bytes of built pages"},
		{"PB-35/nowhere_near", Go, map[string]string{"root": "<!--" + strings.Repeat("x", 5000) + "--><head></head>"}, "", "is after the first 5000 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			load := files(c.lang, c.files)
			root, _ := load("root", "")
			var built Built
			if strings.HasPrefix(c.name, "late/") {
				built.HeadEnd = 4901
			}
			if c.name == "late/charset_too" {
				built.Charset = 4901
			}
			p, err := Walk(root, load).Place(func(string) bool { return true }, 100, built)
			if err != nil {
				if c.fails == "" || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("%v, want %q", err, c.fails)
				}
				return
			}
			src, _ := load(p.File, "")
			inserted := p.Insert(c.lang, src.Text, el)
			shown := strings.ReplaceAll(string(inserted), c.lang.Marked(el), "[EL "+p.Data+"]")
			if p.File != "root" {
				shown = p.File + ": " + shown
			}
			if shown != c.want {
				t.Errorf("got\n%q\nwant\n%q\n%s", shown, c.want, c.fails)
			}
			if back := c.lang.Without(inserted); !bytes.Equal(back, src.Text) {
				t.Errorf("taken out again:\n%q\nwas\n%q", back, src.Text)
			}
		})
	}
}

func TestPlaceOwned(t *testing.T) {
	load := files(Go, map[string]string{"root": `<head><meta charset=utf-8>{{ partial "own" . }}</head>`, "own": "<link>"})
	root, _ := load("root", "")
	d := Walk(root, load)
	_, err := d.Place(func(file string) bool { return file == "own" }, 100, Built{})
	if err == nil || !strings.Contains(err.Error(), "the charset declaration in root belongs to the theme") {
		t.Errorf("%v", err)
	}
	if len(d.Calls) != 1 || d.Calls[0].Name != "own" || !d.Calls[0].Page || d.Calls[0].CachedCall {
		t.Errorf("%+v", d.Calls)
	}
}

func TestXHTML(t *testing.T) {
	for text, want := range map[string]bool{
		"<!doctype html><html>": false,
		`<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html>`: true,
		`<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">`:    true,
	} {
		if d := Walk(Source{"x", []byte(text), Go}, files(Go, nil)); d.XHTML != want {
			t.Errorf("%s: %v", text, d.XHTML)
		}
	}
}

// A formatter may put the marks on lines of their own, and a user more into the
// comments.
func TestRegion(t *testing.T) {
	for _, c := range []struct {
		lang         Language
		text, bare   string
		replacedByXY string
	}{
		{Go, "a\n  {{- /* sitelink:begin */ -}}\n  {{ partial \"x\" . }}\n  {{- /* sitelink:end, do not touch */ -}}\nb", "a\nb",
			"a\n  {{- /* sitelink:begin */ -}}XY{{- /* sitelink:end, do not touch */ -}}\nb"},
		{Go, "a {{/* sitelink:begin */}}1{{/* sitelink:end */}} b", "a  b", "a {{/* sitelink:begin */}}XY{{/* sitelink:end */}} b"},
		{Go, "a {{/* sitelink:begin */}} b", "a {{/* sitelink:begin */}} b", "a {{/* sitelink:begin */}} b"},
		{Go, "{{/* sitelink:beginning */}}1{{/* sitelink:end */}}", "{{/* sitelink:beginning */}}1{{/* sitelink:end */}}", "{{/* sitelink:beginning */}}1{{/* sitelink:end */}}"},
		{Liquid, "{%- comment -%} sitelink:begin {%- endcomment -%}1{% comment %}sitelink:end{% endcomment %}\n", "", "{%- comment -%} sitelink:begin {%- endcomment -%}XY{% comment %}sitelink:end{% endcomment %}\n"},
		{YAML, "theme:\n  # sitelink:begin\n  custom_dir: x\n  # sitelink:end\n  name: y\n", "theme:\n  name: y\n", "theme:\n  # sitelink:beginXY# sitelink:end\n  name: y\n"},
	} {
		if got := string(c.lang.Without([]byte(c.text))); got != c.bare {
			t.Errorf("%q without: %q, want %q", c.text, got, c.bare)
		}
		if got := string(c.lang.Replace([]byte(c.text), "XY")); got != c.replacedByXY {
			t.Errorf("%q replaced: %q, want %q", c.text, got, c.replacedByXY)
		}
	}
}

// Whatever the template, what is inserted can be taken out to the byte, and
// stands in text that the tokenizer calls markup.
func FuzzPlace(f *testing.F) {
	for _, s := range []string{"<head>\r\n<meta charset=utf-8>\r\n</head>", "{{ if }}<head>{{ else }}</head>{{ end }}", "<head></head>", "\n", "<title>x</title>", "{{/*", "{{ define \"x\" }}", "{% comment %}", "---\n{`", "<head>\r\n\r", "<head>\n\t", "  "} {
		for lang := HTML; lang <= Astro; lang++ {
			f.Add([]byte(s), uint8(lang))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, l uint8) {
		lang := Language(l) % (Astro + 1)
		if _, ok := lang.FindRegion(text); ok || bytes.Contains(text, []byte("sitelink:")) {
			return
		}
		src := Source{"x", text, lang}
		d := Walk(src, func(string, string) (Source, bool) { return src, true })
		p, err := d.Place(func(string) bool { return true }, 10, Built{})
		if err != nil {
			return
		}
		if p.Offset < 0 || p.Offset > len(text) {
			t.Fatalf("offset %d of %d", p.Offset, len(text))
		}
		out := p.Insert(lang, text, el)
		if back := lang.Without(out); !bytes.Equal(back, text) {
			t.Fatalf("%q\nbecomes %q\nand then %q", text, out, back)
		}
		again := lang.Append(text, el)
		if back := lang.Without(again); !bytes.Equal(back, text) {
			t.Fatalf("%q\nappended %q\nand then %q", text, again, back)
		}
	})
}
