package read

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestDocument lists the links of a content file as line:column and
// destination, in the order of the page.
func TestDocument(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"inline link", "a.md", "x [a](/b/) y", "1:7 /b/"},
		{"title and brackets", "a.md", "[a [b] `]` c](</b c/> \"t\")", "1:16 /b c/"},
		{"columns count code points", "a.md", "äöü€𝄞 [a](/b/)", "1:11 /b/"},
		{"byte order mark", "a.md", "\uFEFF[a](/b/)", "1:5 /b/"},
		{"CRLF", "a.md", "a\r\n\r\n[a](/b/)\r\n", "3:5 /b/"},
		{"escapes", "a.md", `[a](/b\_c&amp;d)`, "1:5 /b_c&d"},
		{"image in link", "a.md", "[![i](i.png)](/b/)", "1:15 /b/|1:7 i.png"},
		{"destination on the next line", "a.md", "[a](\n/b/)", "2:1 /b/"},
		{"in a quote", "a.md", "> [a](\n> /b/)", "2:3 /b/"},
		{"in a list", "a.md", "- x\n\n  1. [a](/b/)", "3:10 /b/"},
		{"in a table", "a.md", "|a|b|\n|-|-|\n|x|[a](/b/)|", "3:8 /b/"},
		{"reference", "a.md", "[a][r] [r]\n\n[r]: /b/ 't'\n", "3:6 /b/|3:6 /b/"},
		{"reference, first definition", "a.md", "[R]\n\n[r]: /1/\n[r]: /2/\n", "3:6 /1/"},
		{"reference on two lines", "a.md", "[r]\n\n> [r]:\n>  </b/>\n", "4:5 /b/"},
		{"reference whose label has the end of one", "a.md", "[a\\]: b]\n\n[a\\]: b]: /b/\n", "3:11 /b/"},
		{"raw HTML, end of a block", "a.md", "<pre>\n<a href=/a/></pre> <a href=/b/>\n\n<!--\n--> <a href=/c/>\n", "2:9 /a/|2:28 /b/|5:13 /c/"},
		{"autolinks", "a.md", "<https://a.example/> https://b.example/c", "1:2 https://a.example/|1:22 https://b.example/c"},
		{"e-mail", "a.md", "<#@a.example> <MAILTO:b@a.example>", "1:2 mailto:#@a.example|1:16 MAILTO:b@a.example"},
		{"raw HTML", "a.md", "x <a href=\"/b/\">y</a>\n\n<div>\n<img src='i.png'>\n</div>\n", "1:12 /b/|4:11 i.png"},
		{"raw HTML, address on a line of its own", "a.md", "<div>\n<a href=\n/b/>x</a>\n</div>\n", "3:1 /b/"},
		{"code is none", "a.md", "`[a](/b/)`\n\n    [a](/b/)\n\n```\n[a](/b/)\n```\n", ""},
		{"comment is none", "a.md", "<!-- [a](/b/) <a href=\"/c/\"> -->\n", ""},
		{"footnote", "a.md", "x[^1] [b](/b/)\n\n[^1]: see [a](/a/)\n", "1:11 /b/|3:15 /a/"},
		{"YAML front matter", "a.md", "---\ntitle: \"[a](/b/)\"\n---\n[a](/c/)", "4:5 /c/"},
		{"TOML front matter", "a.md", "+++\nx = 1\n+++\n[a](/c/)", "4:5 /c/"},
		{"JSON front matter", "a.md", "{\n\"x\": \"}\"\n}\n[a](/c/)", "4:5 /c/"},
		{"front matter not closed", "a.md", "---\n[a](/c/)", "2:5 /c/"},
		{"shortcode parameters", "a.md", `{{< figure src="/i.png" link=/b/>}}`, "1:17 /i.png|1:30 /b/"},
		{"shortcode over lines", "a.md", "{{< figure\n  src=`/i.png`\n>}}\n\n[a](/b/)", "2:8 /i.png|5:5 /b/"},
		{"ref", "a.md", `[a]({{< relref "b.md#c" >}})`, "1:17 b.md#c"},
		{"ref and fragment", "a.md", `[a]({{% ref "b.md" %}}#c)`, "1:14 b.md#c"},
		{"inner text", "a.md", "{{% note %}}\n[a](/b/)\n{{% /note %}}", "2:5 /b/"},
		{"shortcode in a comment is text", "a.md", `{{</* figure src="/i.png" */>}} [a](/b/)`, "1:37 /b/"},
		{"HTML content", "a.html", "---\nx: y\n---\n<a href=/b/>", "4:9 /b/"},
		{"Org", "a.org", "#+TITLE: x\n[[/b/][text]]", "2:3 /b/"},
		{"AsciiDoc", "a.adoc", "= T\n\nlink:/b/[x]", "3:1 link:/b/"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := Parse(tt.file, []byte(tt.text), true)
			var got []string
			for _, it := range d.Links {
				line, column := d.Lines.At(it.At)
				got = append(got, fmt.Sprintf("%d:%d %s", line, column, it.Value))
			}
			if s := strings.Join(got, "|"); s != tt.want {
				t.Errorf("got %s\nwant %s", s, tt.want)
			}
		})
	}
}

func TestFrontMatterValues(t *testing.T) {
	text := []byte("---\n# cover: /no/\ncover:\n  image: \"/img/a.png\"\nmenu: {main: {url: /b/}}\ntags: [x1, y1]\n---\n")
	d := Parse("a.md", text, true)
	got := map[string]string{}
	for _, v := range d.Matter {
		line, column := d.Lines.At(v.At)
		got[v.Text] = fmt.Sprintf("%d:%d", line, column)
	}
	for text, want := range map[string]string{"/img/a.png": "4:11", "/b/": "5:20", "/no/": ""} {
		if got[text] != want {
			t.Errorf("%s at %q, want %q", text, got[text], want)
		}
	}
}

// FuzzDocument: positions are in the file and at the start of a character, and
// the text there starts like the destination unless it is written with escapes.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{"[a](/b/)", "> [a](\n> </b/>)\n", "[r]\n\n[r]: /b/", "---\nx: y\n---\n{{< f a=\"b\" >}}[a]({{< ref \"x\" >}}#f)", "<a href=x>\n", "x https://a.b/", "[a]("} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, name := range []string{"a.md", "a.html", "a.org"} {
			d := Parse(name, []byte(s), true)
			for _, it := range d.Links {
				if it.At < 0 || it.At > len(s) {
					t.Fatalf("%s: offset %d of %d", name, it.At, len(s))
				}
				if name != "a.md" || it.Value == "" || !utf8.ValidString(s) || strings.ContainsAny(s, "\\&\x00\r<{") {
					continue
				}
				dest := strings.TrimPrefix(strings.TrimPrefix(it.Value, "http://"), "mailto:")
				if !strings.HasPrefix(s[it.At:], it.Value) && !strings.HasPrefix(s[it.At:], dest) {
					t.Fatalf("%q at %d is %q", it.Value, it.At, s[it.At:])
				}
			}
		}
	})
}
