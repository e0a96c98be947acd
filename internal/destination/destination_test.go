package destination

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/testkit"
)

// place is a file with one destination between « and ».
type place struct {
	name, file, text string
	kind             read.Form
	value            string
}

var places = []place{
	{"inline", "content/a.md", "See [x](«/a/b/») here.\n", read.FormInline, "/a/b/"},
	{"inline with title", "content/a.md", "See [x](  «/a/b» \"Title (x)\") here.\n", read.FormInline, "/a/b"},
	{"inline with parentheses", "content/a.md", "[x](«/a(b)/c») and (y)\n", read.FormInline, "/a(b)/c"},
	{"inline with escapes", "content/a.md", "[x](«/a\\)b?c&amp;d») y\n", read.FormInline, "/a)b?c&d"},
	{"brackets", "content/a.md", "[x](<«/a b/c (d»>) y\n", read.FormInline, "/a b/c (d"},
	{"image", "content/a.md", "![x](«../b.png»)\n", read.FormInline, "../b.png"},
	{"after CRLF and BOM", "content/a.md", "\uFEFF---\r\ntitle: x\r\n---\r\n\r\n[x](«/a/»)\r\n", read.FormInline, "/a/"},
	{"cell of a table", "content/a.md", "| a | b |\n|---|---|\n| x | [y](«/a/») |\n", read.FormInline, "/a/"},
	{"quote", "content/a.md", "> - see **[y](«/a/»)**\n", read.FormInline, "/a/"},
	{"definition", "content/a.md", "[x][r] and [r]\n\n[r]: «/a/b» \"T\"\n", read.FormDefinition, "/a/b"},
	{"definition in brackets", "content/a.md", "[x][r]\n\n[r]: <«/a b»>\n", read.FormDefinition, "/a b"},
	{"unused definition", "content/a.md", "x\n\n[r]: «/a/b»\n", read.FormDefinition, "/a/b"},
	{"autolink", "content/a.md", "See <«https://example.org/a?b=c»>.\n", read.FormAutolink, "https://example.org/a?b=c"},
	{"bare address", "content/a.md", "See «https://example.org/a».\n", read.FormAutolink, "https://example.org/a"},
	{"HTML in Markdown", "content/a.md", "See <a href=\"«/a/?b=1&amp;c=2»\">x</a>.\n", read.FormHTML, "/a/?b=1&c=2"},
	{"HTML without quotes", "content/a.md", "See <a href=«/a/b»>x</a>.\n", read.FormHTML, "/a/b"},
	{"HTML with single quotes", "content/a.html", "<p><a class=x href='«/a/b»'>x</a>\n", read.FormHTML, "/a/b"},
	{"srcset", "content/a.html", "<img src srcset=\"«/a.png» 1x\">\n", read.FormHTML, "/a.png"},
	{"style attribute", "content/a.html", "<p style=\"background:url(«/a.png»)\">x</p>\n", read.FormHTML, "/a.png"},
	{"shortcode", "content/a.md", "x {{< figure src=\"«/a.png»\" >}}\n", read.FormShortcode, "/a.png"},
	{"shortcode without quotes", "content/a.md", "x {{< figure «/a.png» >}}\n", read.FormShortcode, "/a.png"},
	{"ref", "content/a.md", "[x]({{< ref \"«b.md#c»\" >}})\n", read.FormShortcode, "b.md#c"},
	{"relref with backticks", "content/a.md", "[x]({{% relref `«b.md»` %}}#c)\n", read.FormShortcode, "b.md"},
	{"component", "docs/a.mdx", "<Card to=\"«/a/»\">x</Card>\n", read.FormComponent, "/a/"},
	{"front matter in YAML", "content/a.md", "---\ntitle: x\nimage: «/a.png»\n---\nx\n", read.FormMatter, "/a.png"},
	{"front matter in TOML", "content/a.md", "+++\ntitle = 'x'\nimage = '«/a.png»'\n+++\nx\n", read.FormMatter, "/a.png"},
	{"front matter in JSON", "content/a.md", "{\n\"image\": \"«\\/a.png»\"\n}\nx\n", read.FormMatter, "/a.png"},
	{"list in front matter", "content/a.md", "---\nimages: [\"«/a.png»\"]\n---\nx\n", read.FormMatter, "/a.png"},
	{"menu", "hugo.toml", "[[menus.main]]\nname = 'X'\nurl = '«/a/»'\n", read.FormData, "/a/"},
	{"data in YAML", "data/x.yaml", "- name: x\n  url: «/a/b/»\n", read.FormData, "/a/b/"},
	{"data in JSON", "data/x.json", "{\"url\": \"«/a/b/»\"}\n", read.FormData, "/a/b/"},
	{"template", "layouts/x.html", "{{ if .X }}<a href=\"«/a/b/»\">x</a>{{ end }}\n", read.FormHTML, "/a/b/"},
	{"expression", "layouts/x.html", "<link href=\"{{ \"«css/a.css»\" | relURL }}\">\n", read.FormString, "css/a.css"},
	{"style sheet", "assets/a.css", "a{background:url(«../a.png»)}\n", read.FormCSS, "../a.png"},
	{"style sheet with quotes", "static/a.css", "@import \"«a b.css»\";\n", read.FormCSS, "a b.css"},
	{"rule of Apache", "static/.htaccess", "# x y z\nRedirect 301 \"/new/b/x\" \"«/new/b»\"\n", read.FormRule, "/new/b"},
	{"rewrite of Apache", "static/.htaccess", "RewriteRule ^new/b/new/b$ «/new/b» [R=301,L]\n", read.FormRule, "/new/b"},
	{"rule file", "static/_redirects", "# x\n/old  «/new/b» 301\n", read.FormRule, "/new/b"},
	{"Org", "content/a.org", "[[«/a/b/»][x]]\n", read.FormWord, "/a/b/"},
	{"AsciiDoc", "content/a.adoc", "«link:/a/b/»[x]\n", read.FormWord, "link:/a/b/"},
}

// cut returns the text without the marks, and where they were.
func cut(p place) (text string, start, end int) {
	before, rest, _ := strings.Cut(p.text, "«")
	inner, after, _ := strings.Cut(rest, "»")
	return before + inner + after, len(before), len(before) + len(inner)
}

// TestPlaces: every place where authors write links has its exact range, kind
// and value.
func TestPlaces(t *testing.T) {
	for _, p := range places {
		text, start, end := cut(p)
		found := false
		for _, l := range In(p.file, []byte(text), generator.Hugo) {
			if l.Start == start {
				found = true
				if l.End != end || l.Form != p.kind || l.Value != p.value {
					t.Errorf("%s: %q, kind %d, value %q, want %q, kind %d, value %q", p.name, text[l.Start:l.End], l.Form, l.Value, text[start:end], p.kind, p.value)
				}
			}
		}
		if !found {
			t.Errorf("%s: nothing at %d of %q", p.name, start, text)
		}
	}
}

// TestEncode: what is written in place of a destination is read as the new
// value, and nothing else changes.
func TestEncode(t *testing.T) {
	values := []string{"/new/", "../up/x.md", "/q/?a=1&b=2", "/q/?a=1&copy=2", "/a(b/", "/a)b", "/a(b)c", "/a b/c", "/a'b", `/a"b`, "/a<b>", "/a|b", "/a`b",
		"/a#b", "https://example.org/x", "/%C3%BC/", "/ü/", "/a,b", "/a\\b", "/a\\(b", "/$x{y}", "/a:b", "x", "#frag", "/a&amp;b", "/a_b*c"}
	random := rand.New(rand.NewPCG(1, 2))
	count := testkit.Longer(20, 80)
	for range count {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteByte("abc/.-_~#?&=%20()'\"<>`|\\ ,:;$*[]{}+!@^"[random.IntN(38)])
		}
		values = append(values, b.String())
	}
	written := map[string]int{}
	for _, p := range places {
		text, start, _ := cut(p)
		for _, v := range values {
			changed, ok := rewrite(t, p.file, text, start, v)
			if !ok {
				continue
			}
			written[p.name]++
			if strings.Contains(changed, "\x00") {
				t.Fatalf("%s: %q", p.name, changed)
			}
		}
		if written[p.name] < 5 && p.kind != read.FormAutolink {
			t.Errorf("%s: only %d values can be written", p.name, written[p.name])
		}
	}
}

// rewrite writes a value in place of the destination at an offset, and reads the
// file again. ok reports that the value can be written there.
func rewrite(t *testing.T, file, text string, start int, value string) (changed string, ok bool) {
	t.Helper()
	all := In(file, []byte(text), generator.Hugo)
	l := find(all, start)
	if l == nil {
		return "", false
	}
	raw, err := l.Encode(value)
	if err != nil {
		return "", false
	}
	changed = text[:l.Start] + raw + text[l.End:]
	again := In(file, []byte(changed), generator.Hugo)
	var got []string
	for _, l := range again {
		got = append(got, l.Value)
	}
	want := value
	for _, l := range again {
		if l.Value == want || PercentDecoded(l.Value) == PercentDecoded(want) {
			return changed, true
		}
	}
	if looksLikeLink := strings.HasPrefix(value, "/") && !strings.ContainsAny(value, " \t"); !looksLikeLink && (l.Form == read.FormMatter || l.Form == read.FormData || l.Form == read.FormWord) {
		return changed, true // a value that need not be a link
	}
	t.Errorf("%q in place of %q: %q has the values %q", value, l.Value, changed, got)
	return changed, true
}

func find(all []Destination, start int) *Destination {
	for i := range all {
		if all[i].Start == start {
			return &all[i]
		}
	}
	return nil
}

// TestEncode_style: escapes are those that the author uses.
func TestEncode_style(t *testing.T) {
	for _, c := range []struct{ file, text, old, value, want string }{
		{"a.md", "[x](/ü/b)", "/ü/b", "/%C3%BC/c", "[x](/ü/c)"},
		{"a.md", "[x](/%C3%BC/b)", "/%C3%BC/b", "/%C3%BC/c", "[x](/%C3%BC/c)"},
		{"a.md", "[x](</a b/>)", "/a b/", "/a%20c/", "[x](</a c/>)"},
		{"a.md", "[x](/a?b&amp;c)", "/a?b&c", "/d?b&c", "[x](/d?b&amp;c)"},
		{"a.md", "[x](/a?b&c)", "/a?b&c", "/d?b&c", "[x](/d?b&c)"},
		{"a.md", "[x](/a?b&c)", "/a?b&c", "/d?b&copy=1", "[x](/d?b&amp;copy=1)"},
		{"a.md", "[x](/a)", "/a", "/b c", "[x](</b c>)"},
		{"a.md", "<p><a href=/a>x</a>", "/a", "/b=c", `<p><a href="/b=c">x</a>`},
		{"a.html", "<a href='/a'>x</a>", "/a", "/it's", "<a href='/it&#39;s'>x</a>"},
		{"data/a.json", `{"url":"\/a\/"}`, "/a/", "/b/", `{"url":"\/b\/"}`},
		{"data/a.yaml", "url: /a/", "/a/", "#x", `url: "#x"`},
		{"a.md", "{{< figure /a.png >}}", "/a.png", "/b c.png", `{{< figure "/b c.png" >}}`},
		{"a.css", "a{b:url(/a.png)}", "/a.png", "/b (c).png", `a{b:url(/b\ \(c\).png)}`},
	} {
		all := In(c.file, []byte(c.text), generator.Hugo)
		if len(all) != 1 || all[0].Value != c.old {
			t.Errorf("%s: %+v, want %q", c.text, all, c.old)
			continue
		}
		raw, err := all[0].Encode(c.value)
		if got := c.text[:all[0].Start] + raw + c.text[all[0].End:]; err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", c.text, got, err, c.want)
		}
	}
}

// TestUnsafePlaces: a destination that bytes of the file alone do not give is
// left out, and a value that cannot be written is refused.
func TestUnsafePlaces(t *testing.T) {
	for _, c := range []struct{ file, text string }{
		{"a.md", "[x](../y{{< z \"\" >}}#f)"},
		{"layouts/a.html", `<a href="/x/{{ .Y }}/z">`},
		{"data/a.yaml", `url: "/a\qb"`},
		{"data/a.toml", "url = \"\"\"/a/\"\"\""},
		{"data/a.json", "url: /a/"},
	} {
		if all := In(c.file, []byte(c.text), generator.Hugo); len(all) != 0 {
			t.Errorf("%s: %+v, want nothing", c.text, all)
		}
	}
	for _, c := range []struct{ file, text, value string }{
		{"a.md", "<https://example.org/>", "/relative"},
		{"a.md", "[x](/a)", "/a\nb"},
		{"data/a.toml", "url = '/a/'", "/it's"},
		{"a.html", `<img srcset="/a.png 1x, /b.png 2x">`, "/a,b.png 3x"},
		{"a.md", "[x](/a)", "{{< x >}}"},
	} {
		all := In(c.file, []byte(c.text), generator.Hugo)
		if len(all) == 0 {
			t.Errorf("%s: no destination", c.text)
			continue
		}
		if raw, err := all[0].Encode(c.value); err == nil {
			t.Errorf("%s: %q is written as %q", c.text, c.value, raw)
		} else if !strings.Contains(err.Error(), fmt.Sprintf("%q", c.value)) {
			t.Errorf("%s: %v does not name the value", c.text, err)
		}
	}
}

// TestHeadings: the headings of a file, with the ids that its author gives.
func TestHeadings(t *testing.T) {
	text := "---\ntitle: x\n---\n# One `two` *th*ree\n\nSet\next\n===\n\n## With id {#my-id .c}\n\n```\n# code\n```\n### {{< x >}} ##\n"
	var got []string
	for _, h := range Headings("content/a.md", []byte(text), generator.Hugo, "") {
		got = append(got, fmt.Sprintf("%d|%s|%s|%s", h.Level, text[h.Start:h.End], h.ID, text[h.IDStart:h.IDEnd]))
	}
	want := []string{"1|One `two` *th*ree||", "1|Set\next||", "2|With id|my-id|my-id", "3|{{< x >}}||"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOffset(t *testing.T) {
	for _, tt := range []struct {
		text         string
		line, column int
		want         int // -1 for no offset
	}{
		{"", 1, 1, 0},
		{"", 1, 2, -1},
		{"", 2, 1, -1},
		{"ab", 0, 1, -1},
		{"ab", 1, 0, -1},
		{"ab\ncd", 1, 1, 0},
		{"ab\ncd", 1, 3, 2}, // the end of the line
		{"ab\ncd", 1, 4, -1},
		{"ab\ncd", 2, 2, 4},
		{"ab\ncd", 2, 3, 5},
		{"ab\ncd", 2, 4, -1},
		{"ab\r\ncd", 2, 1, 4},
		{"äöü\nß😀x", 1, 3, 4},
		{"äöü\nß😀x", 2, 3, 13},
		{"\uFEFFab\ncd", 1, 1, 3},
		{"\uFEFFab\ncd", 1, 2, 4},
		{"\uFEFFab\ncd", 2, 1, 6},
		{"\uFEFF", 1, 1, 3},
		{"\uFEFF", 1, 2, -1},
		{"\xffa", 1, 2, 1}, // an invalid byte is one character
	} {
		got, ok := Offset([]byte(tt.text), tt.line, tt.column)
		if !ok {
			got = -1
		}
		if got != tt.want {
			t.Errorf("Offset(%q, %d, %d) = %d, want %d", tt.text, tt.line, tt.column, got, tt.want)
		}
	}
}
