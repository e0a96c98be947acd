package hook

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/scan/markdown"
	"github.com/sitelink/sitelink/internal/testkit"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// newMarkdown is goldmark with everything that moves or makes links.
func newMarkdown(more ...goldmark.Extender) goldmark.Markdown {
	extensions := append([]goldmark.Extender{extension.GFM, extension.Footnote, extension.DefinitionList}, more...)
	return goldmark.New(goldmark.WithExtensions(extensions...), goldmark.WithRendererOptions(html.WithUnsafe()))
}

// TestPositions: each link of a text, with "line:column destination" in the
// order of the page. The sections are those of CommonMark 0.31.
func TestPositions(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"6.3 inline":                      {"see [a](b.md), [c](d.md \"t\")", "1:9 b.md\n1:20 d.md"},
		"6.3 in angle brackets":           {"[a](<b c.md>)", "1:6 b%20c.md"},
		"6.3 empty":                       {"x [a]()", "1:7 "},
		"6.3 empty in angle brackets":     {"x [a](<>)", "1:8 "},
		"6.3 on the next line":            {"[a](\nb.md\n\"t\")", "2:1 b.md"},
		"6.3 escapes and references":      {`[a](b\_c&amp;d)`, "1:5 b_c&d"},
		"6.3 columns are code points":     {"é漢 [ü](b.md)", "1:8 b.md"},
		"6.3 full reference":              {"[a][X]\n\n[x]: /u 't'", "3:6 /u"},
		"6.3 collapsed and shortcut":      {"[x][] [x]\n\n[x]:\n  /u", "4:3 /u\n4:3 /u"},
		"6.3 the first definition counts": {"[x]\n\n[x]: /1\n\n[x]: /2", "3:6 /1"},
		"6.3 same text elsewhere":         {"`b.md` b.md [b.md](b.md)", "1:20 b.md"},
		"6.4 image":                       {"![a [x](y)](b.png)", "1:13 b.png"},
		"6.4 image in a link":             {"[![a](b.png)](c.md)", "1:15 c.md\n1:7 b.png"},
		"6.5 autolinks":                   {"<https://a.example/> <a@b.example>", "1:2 https://a.example/\n1:23 mailto:a@b.example"},
		"GFM 6.9 bare addresses":          {"www.a.example and https://b.example/x", "1:1 http://www.a.example\n1:19 https://b.example/x"},
		"6.6 raw HTML":                    {"a <a href=\"b.md\">c</a> [d](e.md)\n<img\n src='f.png'>", "1:12 b.md\n1:28 e.md\n3:7 f.png"},
		"4.6 HTML block":                  {"<div>\n<a href=b.md>\n\n[c](d.md)\n\n</div>", "2:9 b.md\n4:5 d.md"},
		"4.6 HTML block with closure":     {"<style>\na{background:url(b.png)}\n</style>\n", "2:18 b.png"},
		"4.4 code is not a link":          {"    [a](b)\n\n`[a](b)`\n\n```\n[a](b)\n```\n[c](d)", "8:5 d"},
		"5.1 quote":                       {"> [a](\n> b.md)", "2:3 b.md"},
		"5.2 list with tabs":              {"-\t[a](b.md)\n\n\t[c](d.md)\n-\t\t[code](f.md)", "1:7 b.md\n3:6 d.md"},
		"5.2 quote with tabs":             {">\t\t[a](b.md)\n>\n> >\t[c](d.md)", "3:9 d.md"},
		"line ends of Windows":            {"a\r\n\r\n[b](c.md)\r\n", "3:5 c.md"},
		"byte order mark":                 {"\uFEFF[b](c.md)", "1:5 c.md"},
		"GFM 4.10 table":                  {"| a | b |\n|---|---|\n| x | [c](d.md) |", "3:11 d.md"},
		"GFM 6.5 struck":                  {"~~[c](d.md)~~", "1:7 d.md"},
		"footnotes move":                  {"a[^1] [b](c.md)\n\n[^1]: [d](e.md)\n\n[f](g.md)", "1:11 c.md\n5:5 g.md\n3:11 e.md"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := positions(t, c.text); got != c.want {
				t.Errorf("%q\ngot:\n%s\nwant:\n%s", c.text, got, c.want)
			}
		})
	}
}

func positions(t *testing.T, source string) string {
	t.Helper()
	var r Recorder
	doc := testkit.Must(r.Convert(newMarkdown(&r), Input{File: "a.md", Text: []byte(source)}, &bytes.Buffer{}))(t)
	var got []string
	for _, l := range doc.Links() {
		if l.Position.File != "a.md" {
			t.Errorf("file %q", l.Position.File)
		}
		got = append(got, fmt.Sprintf("%d:%d %s", l.Position.Line, l.Position.Column, l.Destination))
	}
	return strings.Join(got, "\n")
}

// otherWord returns a destination of the same shape with other letters, so that
// the text around it keeps its meaning.
func otherWord(destination []byte) []byte {
	return bytes.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r < 'z', 'A' <= r && r < 'Z':
			return r + 1
		case r == 'z', r == 'Z':
			return r - 25
		}
		return r
	}, destination)
}

// holdsOffsets checks that the text at the offset of a destination is the
// destination: if it is replaced with another word, the link leads to that
// word. It returns how many links it checked.
func holdsOffsets(t *testing.T, source []byte) (looked int) {
	t.Helper()
	md := newMarkdown()
	type one struct {
		node        ast.Node
		destination []byte
		offset      int
	}
	links := func(source []byte) []one {
		doc := md.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext())).(*ast.Document)
		l := markdown.Locator{Source: source, Doc: doc}
		var out []one
		markdown.EachLink(doc, func(n ast.Node) {
			switch n := n.(type) {
			case *ast.Link:
				out = append(out, one{n, n.Destination, l.Offset(n)})
			case *ast.Image:
				out = append(out, one{n, n.Destination, l.Offset(n)})
			case *ast.AutoLink:
				if at := l.Offset(n); at < 0 || !bytes.HasPrefix(source[at:], n.Label(source)) {
					t.Fatalf("%q: autolink %q at %d", source, n.Label(source), at)
				}
			}
		})
		return out
	}
	for i, l := range links(source) {
		if l.offset < 0 || !bytes.HasPrefix(source[l.offset:], l.destination) {
			t.Fatalf("%q: link %d, %q, at %d", source, i, l.destination, l.offset)
		}
		if i >= 8 {
			continue // parsing again is what takes the time
		}
		changed := append([]byte(nil), source[:l.offset]...)
		if !utf8.Valid(l.destination) {
			continue
		}
		other := otherWord(l.destination)
		changed = append(append(changed, other...), source[l.offset+len(l.destination):]...)
		if again := links(changed); i >= len(again) || !bytes.Equal(again[i].destination, other) {
			t.Fatalf("%q: link %d, %q, is not written at %d: with other letters there the text is\n%q", source, i, l.destination, l.offset, changed)
		}
		looked++
	}
	return looked
}

// pieces are what random Markdown is made of.
var pieces = []string{
	"[a](b.md)", "[a](<c d>)", "![x](y.png)", "[r][s]", "[s]", "[s][]", "[a]()", "](", "[", "]", "(", ")", "<", ">",
	"[s]: /def", "[s]:\n/def 't'", "[s]: <d e>", "\n", "\n\n", "\n", "\n> ", "\n- ", "\n1. ", "\n\t", "\t", " ", "    ", "> ", ">\t", "- ", "-\t",
	"`", "```\n", "*", "_", "\\", "&amp;", "é", "漢", "\x00", "\xff", "\r\n", "\"t\"", "[^1]", "\n[^1]: ", "| a | b |\n|---|---|\n|", "|", "https://a.example/b",
	"<https://c.example>", "<b>", "<a href=x>", "<div>\n", "<!--", "-->", "===\n", "# ", "\n: ", "[a](\n", "b.md)", "[![i](j.png)](k.md)", "[a](b\\)c)",
}

func TestRandomPositions(t *testing.T) {
	testkit.Long(t)
	random := rand.New(rand.NewPCG(5, 2))
	looked := 0
	for range 4000 {
		var b strings.Builder
		for range 1 + random.IntN(24) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		looked += holdsOffsets(t, []byte(b.String()))
	}
	if looked < 4000 {
		t.Errorf("only %d links in random Markdown", looked)
	}
}

// TestLineCounter: counting from the last offset gives the same as counting from the
// start of the line, in any order.
func TestLineCounter(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for _, source := range []string{"\uFEFFé漢x\n\nab\né\u0301漢漢\r\nx", "漢é", "\uFEFF\nx"} {
		p := newLineCounter([]byte(source), 3)
		for range 500 {
			offset := random.IntN(len(source) + 1)
			for offset < len(source) && !utf8.RuneStart(source[offset]) {
				offset--
			}
			before := strings.TrimPrefix(source[:offset], "\uFEFF")
			wantLine := 3 + strings.Count(before, "\n")
			wantColumn := utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:]) + 1
			if line, column := p.position(offset); line != wantLine || column != wantColumn {
				t.Fatalf("%q at %d: %d:%d, want %d:%d", source, offset, line, column, wantLine, wantColumn)
			}
		}
	}
}

func FuzzPositions(f *testing.F) {
	for _, p := range pieces {
		f.Add([]byte(p + " [x](y) [s]\n\n[s]: z"))
	}
	f.Add([]byte("-\t[a](\n\tb.md)\n\n>\t[s]: c.md\n\n[s]"))
	f.Fuzz(func(t *testing.T, source []byte) {
		if len(source) > 4<<10 {
			return
		}
		holdsOffsets(t, source)
		var r Recorder
		doc := testkit.Must(r.Convert(newMarkdown(&r), Input{File: "a.md", Text: source}, &bytes.Buffer{}))(t)
		lines := bytes.Split(source, []byte("\n"))
		for _, l := range doc.Links() {
			if p := l.Position; p.Line < 0 || p.Line > len(lines) || p.Line > 0 && (p.Column < 1 || p.Column > len(lines[p.Line-1])+1) {
				t.Fatalf("%q: %+v is outside the text", source, l)
			}
		}
	})
}
