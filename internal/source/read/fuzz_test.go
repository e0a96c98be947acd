package read

import (
	"testing"
)

// FuzzPlaces: for any content file and page, all positions are in the file, and
// positions and offsets agree.
func FuzzPlaces(f *testing.F) {
	for _, text := range []string{
		"---\na: b\n---\n# T {#id}\n[a](/b/ \"c\") ![i](<x y>) [r][s]\n\n[s]: /d/ 'e'\n",
		"+++\nurl = \"/x/\"\n+++\n{{% include \"/a.md\" %}} {{< ref `b` >}}\n<a href=/c>ä</a>\n\n```\n[x](y)\n```\n",
		"{\"a\": 1}\n> - [^1]\n\n[^1]: <https://e.org/>\n| [a](b) | c |\n|-|-|\n", "#+TITLE: x\n* Heading\n[[/link/][text]]\n",
		"<h2 id=><a name=''>S</a></h2>\n<h2 id=x><a name='y'>T</a></h2><section id=z>\n<h1>U</h1><script>a<b</script><!-- <h3>",
		"<h2 id=a>\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a</h2>\n", // a letter that is longer in lower case
	} {
		for kind := range uint8(4) {
			f.Add([]byte(text), kind)
		}
	}
	names := []string{"a.md", "a.mdx", "a.html", "a.org"}
	f.Fuzz(func(t *testing.T, text []byte, kind uint8) {
		d := Parse(names[int(kind)%len(names)], text, kind&4 == 0)
		inside := func(what string, at int) {
			if at < 0 || at > len(text) {
				t.Fatalf("%s at %d of %d", what, at, len(text))
			}
			line, column := d.Lines.At(at)
			from, to, ok := d.Lines.Span(line)
			if !ok || at < from || at > to || column < 1 {
				t.Fatalf("%s at %d is in line %d, column %d, which is %d to %d", what, at, line, column, from, to)
			}
		}
		for _, it := range d.Links {
			inside("item", it.At)
			inside("order", it.Order)
			if d.Visible != nil {
				if s := d.Visible.Around(it.Order); len(s.Before) > MaxAround || len(s.After) > MaxAround {
					t.Fatalf("surroundings %q", s)
				}
			}
		}
		for _, v := range d.Matter {
			inside("value", v.At)
		}
		for _, h := range d.headings {
			inside("heading", h.at)
		}
		for _, h := range ShownHeadings(text) {
			if at, ok := d.HeadingAt("none", h.Label, 0, 1); ok {
				inside("heading of the page", at)
			}
			for _, id := range h.IDs {
				if at, ok := WrittenID(text, id); ok {
					inside("id", at)
				}
			}
		}
	})
}
