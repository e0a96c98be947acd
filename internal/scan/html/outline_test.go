package html

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
	"golang.org/x/net/html"
)

// dump writes an outline as text: names or folded text, depth, and the values
// of the attributes. Text that folds to nothing is left out, and so is its
// effect on the ends.
func dump(o *Outline) string {
	var w strings.Builder
	var ends []int
	for i := range o.Len() {
		for len(ends) > 0 && ends[len(ends)-1] <= i {
			ends = ends[:len(ends)-1]
		}
		indent := strings.Repeat(" ", len(ends))
		if o.IsText(i) {
			if text := o.AppendText(nil, i); len(text) > 0 {
				fmt.Fprintf(&w, "%s%q\n", indent, text)
			}
			continue
		}
		fmt.Fprintf(&w, "%s<%s> %q foreign=%t", indent, o.AppendName(nil, i), o.Tag(i).String(), o.Foreign(i))
		for a := range attrCount {
			if v, ok := o.Attr(i, a); ok {
				fmt.Fprintf(&w, " %s=%q", a, v)
			}
			if _, ok := o.Attr(i, a); ok != (o.Attrs(i)&(1<<a) != 0) {
				fmt.Fprintf(&w, " Attrs and Attr differ on %s", a)
			}
		}
		w.WriteByte('\n')
		ends = append(ends, o.End(i))
	}
	return w.String()
}

// sameOutline compares the one-pass reader with the parser. sure reports
// whether the reader returned an outline.
func sameOutline(t *testing.T, b *OutlineReader, text []byte) (sure bool) {
	t.Helper()
	o, ok := b.Read(text)
	if !ok {
		return false
	}
	root, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("the parser fails (%v) where the outline is sure of %.2000q", err, text)
	}
	tree, _ := OutlineOf(root)
	if got, want := dump(o), dump(tree); got != want {
		t.Fatalf("%.2000q\n got:\n%.4000s\nwant:\n%.4000s", text, got, want)
	}
	return true
}

// outlineSeeds are pages that the reader must be able to read.
var outlineSeeds = []string{
	"", "x", "<p>a<p>b", "<!doctype html><title>a &amp; b</title><p class=x>One  two <a href='a&amp;b'>three</a></p>",
	"<ul><li>a<li><p>b<ul><li>c</ul><li>d</ul>", "<dl><dt>a<dd>b<p>c<dt>d</dl>", "<h1>a</h1><h2>b<b>c</b></h2>",
	"<table><tr><td>a<td>b<tr><th>c</table>", "<table><caption>x</caption><colgroup><col></colgroup><thead><tr><th>a</thead><tbody><tr><td><table><tr><td>b</table></table>c",
	"<table><col><tr><td>a</tr></tbody></table>", "<svg viewBox='0 0 1 1'><title>t</title><a href=x><path d=y /></a></svg><p>", "<math><mi>x</mi></math>",
	"<html class=a><head><meta charset=utf-8><script>1<2</script></head> <body class=b>x</body></html> ",
	"<select><option>a<option selected>b</select>", "<select><optgroup label=a><option>b<optgroup><option>c</select>", "<ruby>a<rp>(<rt>b<rp>)</ruby>",
	"<textarea>\n &lt;a href=x></textarea><iframe src=x></iframe><noscript><p></noscript>", "<form><input><button>a</button></form><form></form>",
	"<object data=x><p>a</p></object>", "a<!-- b -->c<?d>e", "a < b <3", "<p>a&nbsp;b&#32;c&notit;&copy &ampx;&#x41;", "<pre>\n\na</pre><hr/><br/>",
	"<A HREF = x ID=y>b</A>", "<details open><summary>a</summary>b</details>", "<my-element class=x>a</my-element>", "a\r\nb<p title='a\r\nb'>",
	"<p><img src=a alt=b src=c><area href=x>", "<head><link rel=canonical href=x><base href=/b/></head>", "<section><header><h1>a</h1></header></section>",
}

// unsureSeeds are pages whose elements are moved, copied, merged or dropped.
var unsureSeeds = []string{
	"<p><b>a<p>b", "<a href=x>a<a href=y>b", "<table>a<tr><td>b</table>", "<b><i>a</b>b</i>", "<td>a", "<template><a href=x></template>", "<body><body class=x>",
	"<p></div>", "<form><form>", "<frameset>", "<!doctype html public ''><p><table>", "<table></p>", "<image src=x>", "<button><button>", "<svg><p>", "<svg><desc><b>", "<svg><![CDATA[x]]>",
	"<script><!-- </script>", "<title>a", "<!-- a", "<p", "<p a='", "a\x00b", "<body></body>a", "<select><input>", "<p>a<!doctype html>b", "<plaintext>", "&#32;<title>x</title>",
	"</body>", "<a =x>", "<svg a=1 a=x/>", "<li><b><li>", "<h1>a</h2>", strings.Repeat("<i>", 600),
}

// TestOutline: if the reader returns an outline, it equals that of the parser,
// and it does return one for pages in the style of generators.
func TestOutline(t *testing.T) {
	var b OutlineReader
	for _, text := range outlineSeeds {
		if !sameOutline(t, &b, []byte(text)) {
			t.Errorf("%q: unsure", text)
		}
	}
	for _, text := range unsureSeeds {
		if _, ok := b.Read([]byte(text)); ok {
			t.Errorf("%.100q: sure", text)
		}
		for i := range text { // the text cut at any byte
			sameOutline(t, &b, []byte(text[:i]))
		}
	}
	for _, page := range [][]byte{testkit.RustdocPage(20), testkit.SphinxPage(20)} {
		if !sameOutline(t, &b, page) {
			t.Errorf("%.200q: unsure", page)
		}
	}
	for _, text := range testkit.TreeTests(t) {
		sameOutline(t, &b, text)
	}
}

// FuzzOutline compares the reader with golang.org/x/net/html.
func FuzzOutline(f *testing.F) {
	for _, text := range testkit.TreeTests(f) {
		f.Add(text)
	}
	for _, list := range [][]string{outlineSeeds, unsureSeeds, testkit.PageSeeds} {
		for _, text := range list {
			f.Add([]byte(text))
		}
	}
	var b OutlineReader
	f.Fuzz(func(t *testing.T, text []byte) { sameOutline(t, &b, text) })
}

// TestOutlineSlots: the multipliers in the source have no collisions.
func TestOutlineSlots(t *testing.T) {
	if elementSlot.Mul != elementMultiplier {
		t.Errorf("elementMultiplier should be %#X", elementSlot.Mul)
	}
	if attrSlots.Mul != attrMultiplier {
		t.Errorf("outlineAttrMultiplier should be %#X", attrSlots.Mul)
	}
	for kind, e := range elements {
		if name := []byte(strings.ToUpper(e.name)); e.name != "" && kindAt(name, 0, len(name)) != elementKind(kind) {
			t.Errorf("element %s is not found", e.name)
		}
	}
	for a, name := range attrNames {
		if name != "" && attrAt([]byte(name), 0, len(name)) != Attr(a) {
			t.Errorf("attribute %s is not found", name)
		}
	}
}

// TestOutlineCorpora compares both on the pages of the directories in
// SITELINK_CORPORA: every eighth page, or all if SITELINK_CORPORA_PAGES is
// "all". It logs for how many pages the reader was unsure.
func TestOutlineCorpora(t *testing.T) {
	root := os.Getenv("SITELINK_CORPORA")
	if root == "" {
		t.Skip("set SITELINK_CORPORA to a directory of unpacked documentation packages")
	}
	all := os.Getenv("SITELINK_CORPORA_PAGES") == "all"
	dirs := testkit.Must(os.ReadDir(root))(t)
	for _, d := range dirs {
		t.Run(d.Name(), func(t *testing.T) {
			var b OutlineReader
			files, unsure := 0, 0
			err := filepath.WalkDir(filepath.Join(root, d.Name()), func(name string, e os.DirEntry, err error) error {
				if err != nil || !e.Type().IsRegular() || !strings.HasSuffix(name, ".html") {
					return err
				}
				text, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				text = bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))
				if files++; all || files%8 == 0 {
					sameOutline(t, &b, text)
				}
				if _, ok := b.Read(text); !ok {
					unsure++
				}
				return nil
			})
			testkit.Check(t, err)
			t.Logf("%d of %d pages (%.2f %%) left to the parser", unsure, files, 100*float64(unsure)/float64(max(files, 1)))
		})
	}
}
