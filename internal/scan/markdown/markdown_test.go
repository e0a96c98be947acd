package markdown

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"github.com/sitelink/sitelink/internal/scan"
	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/testkit"
)

// cases: the links of a text, as testkit.Row writes them after "offset ". The
// sections are those of CommonMark 0.31.
var cases = []struct{ name, text, want string }{
	{"llms.txt", "# Site\n\n> Summary\n\n## Docs\n\n- [Guide](https://a.example/guide.md): how to\n- [API](api.md)\n",
		"38 link (text) link https://a.example/guide.md\n82 link (text) link api.md"},
	{"6.3 inline, with title and in angle brackets", "[a](b.md \"t\") [c](<d e.md>)", "4 link (text) link b.md\n19 link (text) link d e.md"},
	{"6.3 escapes and references", `[a](b\_c&amp;d)`, "4 link (text) link b_c&d"},
	{"6.3 empty", "[a]() ![]()", "4 link (text) link \n10 image (text) resource "},
	{"6.3 reference links count at their definition, once", "[a][r] [b][r] [r]\n\n[r]: c.md\n[unused]: d.md\n", "24 link (text) link c.md"},
	{"6.4 image in a link", "[![a](b.png)](c.md)", "6 image (text) resource b.png\n14 link (text) link c.md"},
	{"6.5 autolinks", "<https://a.example/> <a@b.example>", "1 autolink (text) link https://a.example/\n22 autolink (text) link mailto:a@b.example"},
	{"GFM 6.9 bare addresses", "see www.a.example", "4 autolink (text) link http://www.a.example"},
	{"6.6 raw HTML", "a <a href=\"b.md\">c</a>\n<img\n src='f.png'>", "11 a href link b.md\n34 img src resource f.png"},
	{"4.6 HTML block", "<div>\n<a href=b.md>x</a>\n</div>\n", "14 a href link b.md"},
	{"4.6 comment", "<!-- [a](b) <a href=c> -->\n\n[d](e)", "32 link (text) link e"},
	{"an embedded document has no canonical address", "<link rel=canonical href=/c>", "25 link href link /c"},
	{"4.4 code", "    [a](b)\n\n`[a](b)`\n\n```\n[a](b)\n```\n", ""},
	{"5.2 tabs", "-\t[a](b.md)\n\n\t[c](d.md)", "6 link (text) link b.md\n18 link (text) link d.md"},
	{"footnotes move", "a[^1] [b](c)\n\n[^1]: [d](e)\n\n[f](g)", "10 link (text) link c\n24 link (text) link e\n32 link (text) link g"},
	{"front matter in YAML", "---\ntitle: \"[a](b)\"\nurl: https://a.example\n---\n[c](d)", "51 link (text) link d"},
	{"front matter in TOML", "+++\r\nx = '[a](b)'\r\n+++\r\n[c](d)", "28 link (text) link d"},
	{"4.1 thematic breaks", "---\n[a](b)\n\n---\n", "8 link (text) link b"},
	{"byte order mark", "\uFEFF[b](c.md)", "7 link (text) link c.md"},
	{"line ends of Windows", "a\r\n\r\n[b](c.md)\r\n", "9 link (text) link c.md"},
	{"not UTF-8", "[a](\xff.md)", "4 link (text) link \uFFFD.md"},
}

// rows returns the links of a page.
func rows(p *scan.Page) string {
	var all []string
	for i := range p.Links {
		all = append(all, fmt.Sprintf("%d %s", p.Links[i].Off, testkit.Row(p, &p.Links[i])))
	}
	return strings.Join(all, "\n")
}

func TestScan(t *testing.T) {
	var s Scanner
	for _, c := range cases {
		t.Run(strings.ReplaceAll(c.name, "/", "_"), func(t *testing.T) {
			p := s.Scan([]byte(c.text))
			testkit.CheckPage(t, p)
			if got := rows(p); got != c.want {
				t.Errorf("%q\ngot:\n%s\nwant:\n%s", c.text, got, c.want)
			}
			if len(p.Anchors) > 0 || len(p.Faults) > 0 {
				t.Errorf("anchors %v, faults %v", p.Anchors, p.Faults)
			}
		})
	}
}

// FuzzScan: any bytes give links inside the text, in order, and the addresses of
// inline links, images and HTML are those of the page that goldmark renders.
func FuzzScan(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(c.text))
	}
	for _, c := range testkit.PageSeeds {
		f.Add([]byte(c))
	}
	var s Scanner
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.DefinitionList), goldmark.WithRendererOptions(html.WithUnsafe()))
	var page scanhtml.Scanner
	forge := Scanner{Slug: func(text string) string { return text }}
	f.Fuzz(func(t *testing.T, source []byte) {
		testkit.Linear(t, source, func(source []byte) { s.Scan(source) })
		p := s.Scan(source)
		testkit.CheckPage(t, p)
		// A tag of a heading makes the scanner read all text.
		all := rows(forge.Scan([]byte(string(source) + "\n\n<h1>")))
		if got := rows(forge.Scan([]byte(string(source) + "\n\n<hr>"))); got != all {
			t.Fatalf("%q: links %s, with all text %s", source, got, all)
		}
		found := map[string]bool{}
		for i := range p.Links {
			if l := &p.Links[i]; p.Element(l) == "link" || p.Element(l) == "image" {
				found[string(l.Value)] = true
			}
		}
		if bytes.ContainsAny(source, "<&\\%^\x00+-") || !utf8.Valid(source) || len(p.Faults) > 0 {
			return // written in another way on the page, moved or left out
		}
		var out bytes.Buffer
		testkit.Check(t, md.Convert(source, &out))
		rendered := page.Scan(out.Bytes(), scan.Options{Charset: "utf-8"})
		auto := map[string]bool{}
		doc := md.Parser().Parse(text.NewReader(source))
		EachLink(doc.(*ast.Document), func(n ast.Node) {
			if a, ok := n.(*ast.AutoLink); ok {
				auto[string(a.URL(source))] = true
			}
		})
		for i := range rendered.Links {
			v := string(rendered.Links[i].Value)
			if !found[v] && !auto[v] && !strings.Contains(v, "%") && !strings.HasPrefix(v, "mailto:") {
				t.Fatalf("%q: %q is on the page, but not among %v", source, v, found)
			}
		}
	})
}

// TestScan_hostile: texts that would take goldmark hours are faults. The others
// take a few seconds at most; the test allows a minute.
func TestScan_hostile(t *testing.T) {
	testkit.Long(t)
	const size = 256 << 10
	var s Scanner
	for _, c := range []struct {
		unit  string
		fault bool
	}{
		{"[a](b)\n\n", false}, {"- [a](b)\n", false}, {"| [a](b)\n", true}, {"<https://a.example/b>\n\n", false}, {"- [a](b)\n  > c\n", false},
		{"[", true}, {"![\n", true}, {"*a_ ", true}, {"*a_\n", true}, {"> ", true}, {"[a](", true}, {"[a](\n", true}, {"1. ", true}, {"<a ", true},
	} {
		start := time.Now()
		p := s.Scan([]byte(strings.Repeat(c.unit, size/len(c.unit))))
		testkit.CheckPage(t, p)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%q took %v", c.unit, took)
		}
		if (len(p.Faults) > 0) != c.fault || !c.fault && len(p.Links) == 0 {
			t.Errorf("%q: %d links, faults %v", c.unit, len(p.Links), p.Faults)
		}
	}
	// A table is not one paragraph.
	table := "| a |\n|---|\n" + strings.Repeat("| [a](b) |\n", 20000)
	if p := s.Scan([]byte(table)); len(p.Links) != 20000 || len(p.Faults) > 0 {
		t.Errorf("a table: %d links, faults %v", len(p.Links), p.Faults)
	}
}
