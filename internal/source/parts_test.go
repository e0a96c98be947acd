package source

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestParts: what the small functions return, named for the rule.
func TestParts(t *testing.T) {
	m := &Map{index: &index{}, base: "e.org", basePath: "/sub"}
	at := func(dest, page string) address { return m.address(dest, page) }
	score := func(src, link string) int {
		a, b := at(src, "p/a/index.html"), at(link, "p/a/index.html")
		a.file = fileKey(a.local, "p/a")
		return matchScore(&a, &b)
	}
	weight := func(element, label, on, onLabel string, region int) int32 {
		a := at("b.md", "a.html")
		return pairWeight(&read.Written{Element: element, Label: label}, &a, &pageLink{element: on, label: onLabel, region: region, addr: at("/x/b/", "a.html")})
	}
	text := read.NewLines([]byte("\uFEFFaé\nb\n"))
	span := func(n int) string { from, to, ok := text.Span(n); return fmt.Sprint(from, to, ok) }
	place := func(off int) string { line, column := text.At(off); return fmt.Sprint(line, ":", column) }
	cutting := func(value string, pieces ...string) string {
		hole, ok := between(pieces, value)
		return fmt.Sprint(hole, " ", ok)
	}
	fits := func(template, page string) string {
		w, p := read.NewOutline(read.MaskActions([]byte(template))), read.NewOutline([]byte(page))
		of, open := w.Attributes(len(w.Tags) - 1)
		all, _ := p.Attributes(len(p.Tags) - 1)
		n, ok := fitAttributes(w, of, open, p, all)
		around, _, same := fitParents(w, len(w.Tags)-1, p, len(p.Tags)-1)
		return fmt.Sprint(n, ok, around, same)
	}
	tree := func(text string) (all string) {
		o := read.NewOutline([]byte(text))
		for i, tag := range o.Tags {
			all += fmt.Sprintf("%s<%d ", o.Name(i), tag.Parent)
		}
		return strings.TrimSpace(all)
	}
	attributes := func(text string) string {
		o := read.NewOutline(read.MaskActions([]byte(text)))
		of, open := o.Attributes(0)
		all := ""
		for _, a := range of {
			all += fmt.Sprintf("%s=%q %v, ", a.Name, o.Pieces(a.From, a.To), a.After)
		}
		return all + fmt.Sprint(open)
	}
	weights := func(text string) (all []int) {
		r := findRegions([]byte(text))
		for i := range text {
			if text[i] == '.' {
				all = append(all, r.at(i))
			}
		}
		return all
	}
	spelled := func(raw, page string) string {
		all, literal := m.spellings(BuiltLink{Page: page, Raw: raw}, false)
		return fmt.Sprint(strings.Join(all, " "), " ", literal)
	}
	index := func() *contentIndex {
		return &contentIndex{listed: map[string][]int{"listed": {7}}, byKey: map[string][]int{}, byPossibleKey: map[string][]int{}, byLast: map[string][]int{}, byDisplay: map[string]int{}, matter: func() map[string][]int { return map[string][]int{"/m": {8}, "/": {9}} }}
	}
	add := func(c *contentIndex, f contentFile, g Generator) {
		c.byDisplay[f.display] = len(c.files)
		c.files = append(c.files, f)
		c.add(len(c.files)-1, g)
	}
	keys := func(g Generator, dir sourceDir, names ...string) string {
		c := index()
		for _, name := range names {
			add(c, contentFile{dir: dir, name: name, display: name}, g)
		}
		return strings.ReplaceAll(fmt.Sprint(c.byKey, c.byPossibleKey, c.byLast), "map", "")
	}
	named := func(name string) string {
		c := index()
		c.roots = []sourceDir{{fsys: fstest.MapFS{"in/x.txt": {}, "y.txt": {}, "in/d/z": {}}, dir: "in", prefix: "theme"}}
		for _, name := range []string{"in/a.md", "in/p/index.md", "in/q/index.md", "in/p/b.md", "top.md", "in/r/deep.md", "in/r/two.md", "in/s/two.md"} {
			add(c, contentFile{dir: c.roots[0], name: name, display: c.roots[0].displayName(name)}, Hugo)
		}
		f, ok := c.namedIn("theme/in/p/b.md", name)
		return fmt.Sprint(f.display, " ", ok, "; ")
	}
	tags := func(text string) (all string) {
		for _, sc := range read.Shortcodes([]byte(text), 0) {
			var params []string
			for _, p := range sc.Params {
				if text[p.At:p.At+len(p.Text)] != p.Text {
					t.Errorf("%q is not at %d", p.Text, p.At)
				}
				params = append(params, strings.TrimPrefix(p.Key+":"+p.Text, ":"))
			}
			all += fmt.Sprint(sc.From, ":", sc.To, " ", sc.Name, " ", params, " ", map[bool]string{true: "%", false: "{"}[sc.AsMarkdown])
		}
		return all
	}
	items := func(text string) (all string) {
		for _, it := range feedItems([]byte(text)) {
			all += fmt.Sprintf("%d:%d %s;", it.from, it.to, it.address)
		}
		return all
	}
	beside := func(text string) string {
		o := read.NewOutline(read.MaskActions([]byte(text)))
		for i := range o.Tags {
			if string(o.Name(i)) == "x" {
				return o.Before(i) + "|" + o.After(i) + "; "
			}
		}
		return "no x"
	}
	valuesOf := func(text string) (all string) {
		for _, v := range read.Values([]byte(text), 0, len(text)) {
			if !strings.ContainsAny(v.Text, "&<") && text[v.At:v.At+len(v.Text)] != v.Text {
				t.Errorf("%q is not at %d", v.Text, v.At)
			}
			all += v.Key + "=" + v.Text + map[bool]string{true: "+", false: ""}[v.Nested] + " "
		}
		return all
	}
	pick := func(n int, files ...string) string { // score, distinct rows, weight, whether the labels are equal, votes
		var all []*dataMatch
		for _, f := range files {
			of, labelled, votes := &dataMatch{rows: make([]rowMatch, 1)}, "", [2]int{}
			fmt.Sscan(f, &of.score, &of.distinct, &of.rows[0].weight, &labelled, &votes[0], &votes[1])
			of.rows[0].labelled, of.votes = labelled == "t", func() [2]int { return votes }
			all = append(all, of)
		}
		return fmt.Sprint(slices.Index(all, likeliest(all, 0, n)), " ")
	}
	writes := func(template, value, constant string) string {
		o := read.NewOutline(read.MaskActions([]byte(`<a href="` + template + `">`)))
		of, _ := o.Attributes(0)
		w := &written{TemplateLink: read.TemplateLink{Pieces: o.Pieces(of[0].From, of[0].To), Constant: constant}}
		if constant != "" {
			w.Pieces = []string{"", ""}
		}
		hole, n := (&locatedPage{m: &composer{Map: m}, name: "p/q.html"}).fitValue(w, &pageLinkTag{value: value, on: &pageLink{addr: at(value, "p/q.html")}})
		return strings.TrimLeft(fmt.Sprintf("%s[%d] ", hole, n), " ")
	}
	layoutOf := func(name string) string {
		return fmt.Sprint(isLayoutOf(&templateFile{contentFile: contentFile{name: "layouts/" + name, dir: sourceDir{dir: "layouts"}}}, "docs/b.html"), " ")
	}
	makers := func(key string) string {
		c := index()
		c.byKey["listed"], c.byKey["a"], c.byPossibleKey["a"], c.byPossibleKey["b"] = []int{1}, []int{2}, []int{3}, []int{4}
		return fmt.Sprint(c.makersOf(key))
	}
	row := func(text, label, hole string, whole bool) string {
		l := read.NewLines([]byte(text))
		rows := read.Rows(&l)
		w, labelled := (&dataRow{Row: rows[0]}).weight(&runLink{hole, label}, whole)
		return fmt.Sprint(rows[0].Labels, rows[0].Same, " ", w, labelled)
	}
	words := func(text string) (all string) {
		read.EachWord([]byte(text), func(at int, word []byte) { all += fmt.Sprint(at, ":", len(word), " ") })
		return all
	}
	fields := func(line string) string { from, to := read.RuleFields([]byte(line)); return from + " " + to + ";" }
	copied := func(page string) string {
		file, ok := (&sourceDir{dir: "files", under: "v2"}).copied(page)
		return fmt.Sprint(file, " ", ok, ";")
	}
	file := func(name, text string) *templateFile {
		f := &templateFile{contentFile: contentFile{name: name, display: name, dir: sourceDir{kind: read.KindOf(name)}}, text: []byte(text)}
		f.lines = sync.OnceValue(func() read.Lines { return read.NewLines(f.text) })
		f.rows = sync.OnceValue(f.readRows)
		return f
	}
	searched := func(template, address string) (all string) {
		f, w := file("a.html", template), newTextSearch()
		f.outline, _ = read.TemplateLinks(f.text)
		w.add(address)
		f.search(&w)
		for _, h := range w.hits[address] {
			all += fmt.Sprint(h.element, " ", h.line, ":", h.col, "; ")
		}
		return all
	}
	placed := func(run string, files ...string) (all string) {
		x, r := &templateIndex{}, &linkRun{}
		for _, f := range files {
			name, text, _ := strings.Cut(f, "|")
			x.files = append(x.files, file(name, text))
		}
		x.data, x.stems = sync.OnceValue(x.readRows), sync.OnceValue(x.readStems)
		for l := range strings.FieldsSeq(run) {
			hole, label, _ := strings.Cut(l, "=")
			r.links = append(r.links, runLink{hole, label})
		}
		x.placeRun(r)
		for _, p := range r.places {
			all += shown(p) + "; "
		}
		return strings.ReplaceAll(all, " data", "")
	}
	only := func(text, addresses string) (all string) {
		d := &document{Document: read.Parse("a.md", []byte(text), true)}
		for raw := range strings.FieldsSeq(addresses) {
			a := at(raw, "p.html")
			n, matter, ok := d.onlyMatch(&a, m.addresses(d.Links, "p.html"), m.frontMatterAddresses(d, "p.html"))
			all += fmt.Sprint(n, " ", matter, " ", ok, "; ")
		}
		return all
	}
	ids := func(text string) (all string) {
		for _, h := range read.Headings("a.md", []byte(text), None, "") {
			all += fmt.Sprint(h.Start, ":", h.End, " ", h.ID, " ", h.IDStart, ":", h.IDEnd, "; ")
		}
		return all
	}
	tests := []struct{ name, got, want string }{
		{"addresses that go on", searched("<a href='/tags/'>", "/tags/") + searched("<a href='/tags/{{ . }}'>", "/tags/") + searched("<a href='/tags/{{- .Name }}'>", "/tags/") + searched("<a href='{{ if .x }}/tags/{{ else }}/{{end}}'>", "/tags/") + searched("<a href='{{ with .x }}/tags/{{- end }}'>", "/tags/") + searched("/tags/", "/tags/"), "a 1:10; a 1:21; a 1:23;  1:1; "},
		{"likeness", fmt.Sprint(read.Surroundings{Before: "abc", After: "def"}.Similarity(read.Surroundings{Before: "xbc", After: "dexx"}), read.Surroundings{}.Similarity(read.Surroundings{Before: "abc", After: "def"}), read.Surroundings{Before: "see", After: "pipeline"}.Similarity(read.Surroundings{Before: "xxsee", After: "pipelinexx"}), read.Surroundings{Before: "a", After: "b"}.Similarity(read.Surroundings{Before: "xa", After: "bx"}), read.Surroundings{Before: "ab", After: "cde"}.Similarity(read.Surroundings{Before: "ab", After: "cde"})), fmt.Sprint(4, 0, 11+read.MinAround, 2, 5)},
		{"addresses of several words", searched("<p>/a,b/ /a,c/ /a,b/d", "/a,b/"), " 1:4; "},
		{"markup without an end", tree("<a><!-- x <b>") + read.LinkLabel([]byte("x>a <b"), 0) + fmt.Sprint(findMarkers([]byte("sitelink:source<meta name=sitelink:source"))) + fmt.Sprint(findMarkers([]byte("<!-- sitelink:source a"))), "a<-1a{ []}{ []}"},
		{"addresses in templates", searched("<img class='y' src=\"{{ `/x/` }}/y/\">\n<p title=/x/>/x/", "/x/"), "img 1:21;  2:10;  2:14; "},
		{"a run in data", placed("/d/a /d/b /d/c", "l.yml|- /a\n- /b\n- /c\n", "k.yml|- /a\n- /z\n"), "l.yml:1:3; l.yml:2:3; l.yml:3:3; "},
		{"a run with the same link twice", placed("/a=x /b=y /a=z", "l.yml|- /a\n- /b\n- /c\n- /a\n"), "l.yml:1:3; l.yml:2:3; l.yml:4:3; "},
		{"a run of equal entries, twice", placed("/d/a=x /d/a=x /d/a=x /d/a=x", "l.yml|- name: x\n  url: /a\n- name: x\n  url: /a\n"), "l.yml:2:8; l.yml:4:8; l.yml:2:8; l.yml:4:8; "},
		{"a run by stems", placed("/v1/a /v2/b /v2/c", "one.yml|- /a\n- /b\n- /c\n", "two.yml|- /a\n- /b\n- /c\n", "n.yml|v1: one\nv2: two\n") + placed("/v1/a /v1/b /v1/c", "one.yml|- /a\n- /b\n- /c\n", "two.yml|- /a\n- /b\n- /c\n", "n.yml|v1: one\nv1: two\n"), "two.yml:1:3; two.yml:2:3; two.yml:3:3; -; -; -; "},
		{"strings in actions", fmt.Sprint(read.Links("a.html", []byte("<a href=\"{{ f `/x/` ' }}\"><a href='{{ f \"/y/\" \"z\" }}'>"), None)), "[{15 9 /x/ 9 a  href  3 0  false false} {41 35 /y/ 9 a  href  3 0  false false} {47 35 z 9 a  href  1 0  false false}]"},
		{"a run by names", placed("/v1.2/a /v1.2/b /v1.2/c", "two.yml|- /a\n- /b\n- /c\n", "v1-2-toc.yml|- /a\n- /b\n- /c\n"), "v1-2-toc.yml:1:3; v1-2-toc.yml:2:3; v1-2-toc.yml:3:3; "},
		{"the only match", only("---\nx: /a/\ny: /b/\nz: /b/\n---\n[a](/a/) [c](/c/) [d](/d/) [d](/d/) [e][f] [f]\n\n[f]: /f/\n", "/a/ /b/ /c/ /d/ /f/ /z/"), "7 true true; 21 true false; 42 false true; 60 false false; 82 false true; 0 false false; "},
		{"written ids", ids("# A {id=x}\n\n[a](#x)\n\n# B  {#x-y} \n\nC \n  \nD  \n---\n\n# E  #  \n\n# F\r\n\r\nG \r\nH \r\n---\r\n\r\n# I\t\n\n> J \n> K\n> ---\n\n# L {#l}\r\n\r\nM {#m}\r\n---\r\n# N {x} \n# O  # {#o}\n"), "2:3 x 8:9; 23:24 x-y 28:31; 41:42  0:0; 52:53  0:0; 62:63  0:0; 67:72  0:0; 84:85  0:0; 90:96  0:0; 106:107 l 110:111; 116:117 m 120:121; 131:136  0:0; 140:141 o 147:148; "},
		{"keys of names", strings.Join([]string{NameKey("A B/_index"), NameKey("readme"), NameKey("x/Index"), NameKey("x/indexes")}, " "), "a-b  x x/indexes"},
		{"keys of pages", strings.Join([]string{PageKey("/A%20B/index.html"), PageKey("index.html"), PageKey("x.HTM"), PageKey("a/x.md"), PageKey("a.html.html")}, " "), "a-b  x a/x a.html"},
		{"file beside a page", fileKey("b.md#c", "p/a") + " " + fileKey("../_index.md?x", "p/a") + " " + fileKey("/b.md", "p/a") + fileKey("b.png", "p/a") + fileKey("", "p"), "p/b / "},
		{"last names", strings.Join([]string{lastName("/a/B.md"), lastName("/a/b/index.html"), lastName("/"), lastName("x.html.md"), lastName("a b/"), lastName("../_index.md"), lastName("index.html")}, "|"), "b|b||x.html|a-b||"},
		{"same destination", fmt.Sprint(score("/sub/b/", "/sub/b/"), score("http://e.org/sub/b/", "/b/"), score("//e.org/b/", "b/"), score("../b/", "/p/b/"), score("c.md", "/x/c/"), score("#x", "/de/#x"), score("d.md", "/p/d/"), score("_index.md", "/p/"), score("../_index.md", "/"), score("%zz", "/%zz")), "12 10 10 9 4 4 4 4 4 10"},
		{"another destination", fmt.Sprint(score("https://x.org/b/", "/b/"), score("mailto:a", "b"), score("b#c", "b#d"), score("/a/", "/b/"), score("", "#a"), score("/", "https://x.org/"), score("https://x.org/", "/"), score("a.B", "#a.B"), score("a.md", "#a.md")), "0 0 0 0 0 0 0 0 10"},
		{"names of files", fileKey("a.md", "d/e") + " " + fileKey("../README.md", "d/e") + " " + fileKey(".html", "d/e") + " " + fileKey("a.png", "d/e"), "d/a /  "},
		{"address", fmt.Sprintf("%+v %+v", at(" /sub/a%20b/?q=1#f ", "x.html"), at("https://e.orgx/", "x.html")),
			"{exact:/sub/a b/?q=1#f local:/a b/?q=1#f name:a-b fragment:f target:/a b/?q=1 file:} {exact:https://e.orgx/ local: name: fragment: target: file:}"},
		{"targets", strings.Join([]string{at("..", "a/b/c.html").target, at("./x", "a/b.html").target, at("?q", "a/b.html").target, at("#x", "a/b.html").target, at("x/.", "a/b.html").target, at("/", "a").target}, " "), "/a/ /a/x /a/b.html /a/b.html /a/x/ /"},
		{"weights of pairs", fmt.Sprint(weight("a", "x", "a", "x", 0), weight("", "x", "a", "y", 0), weight("a", "", "a", "", 2), weight("a", "", "img", "", 0), weight("a", "", "a", "", -6)), "11 2 8 0 1"},
		{"lines", span(1) + " " + span(2) + " " + span(3) + " " + span(4) + " " + span(0), "0 7 true 7 9 true 9 9 true 0 0 false 0 0 false"},
		{"columns", place(0) + " " + place(3) + " " + place(6) + " " + place(7) + " " + place(9), "1:1 1:1 1:3 2:1 3:1"},
		{"labels", read.PlainLabel("Ä b-1!") + " " + read.LinkLabel([]byte(`"/x" title=y>A <b>&amp; B</b></a>C`), 1) + " " + read.LinkLabel([]byte("no end"), 0) + " " + read.PlainLabel(strings.Repeat("x", 50)), "äb1 ab  " + strings.Repeat("x", 40)},
		{"between pieces", cutting("/a/x/b", "/a/", "/b") + " " + cutting("/a/x/b", "/c/", "/b") + " " + cutting("a-b-c", "a", "b", "c") + " " + cutting("ac", "a", "b", "c") + " " + cutting("/a/", "/a/", "/a/"), "x true  false -b- true  false  false"},
		{"attributes that fit", fits(`<a class="x  {{ .y }} z" id=q href="{{ . }}">`, `<a class="x y z" id=q href="/b/">`), "4 true 0 true"},
		{"attributes that differ", fits(`<a class=x href=y>`, `<a class=z href=y>`) + " " + fits(`<a href=y>`, `<a href=y rel=z>`) + " " + fits(`<a href=y rel=z>`, `<a href=y>`), "0 false 0 true 0 false 0 true 0 false 0 true"},
		{"attributes under a condition", fits(`<a {{ if x }}rel=z{{ end }} href=y>`, `<a href=y>`) + " " + fits(`<a {{ if x }}rel="z{{ . }}"{{ end }} href=y>`, `<a rel=q href=y>`), "0 true 0 true 0 true 0 true"},
		{"classes under conditions", fits(`<a class="{{ if x }}x {{ end }}{{ if y }}y{{ end }}" href=y>`, `<a class="x y" href=y>`) + " " + fits(`<a class="{% if x %}x{% endif %}{% if y %} y{% endif %}" href=y>`, `<a class="z" href=y>`), "2 true 0 true 0 false 0 true"},
		{"attributes in one condition", fits(`<a class="x{% if x %} y" rel="z{% endif %}" href=y>`, `<a class=x href=y>`) + " " + fits(`<a class="x{% if x %} y{% endif %}" rel=z href=y>`, `<a class=x href=y>`), "2 true 0 true 0 false 0 true"},
		{"elements around", fits(`<ul class=n><li><a href=y>`, `<div><ul class=n><li><a href=y>`) + " " + fits(`<nav><a href=y>`, `<div><a href=y>`) + " " + fits(`<p><b><i><u><a href=y>`, `<p><a href=y>`), "0 true 4 true 0 true -2 false 0 true -6 false"},
		{"implied ends", tree(`<ul><li><p>a<li>b</ul><p>c<div>d</div><table><tr><td>x<td>y<tr><th>z</table><dl><dt>a<dd>b<p>c</dl><br>`),
			"ul<-1 li<0 p<1 li<0 p<-1 div<-1 table<-1 tr<6 td<7 td<7 tr<6 th<10 dl<-1 dt<12 dd<12 p<14 br<-1"},
		{"text without tags", tree(`<!-- <a> --><script>"<b>"</script><i/><img><?x <u>?><textarea><s></textarea> 1 < 2 <q x="a>b">`), "script<-1 i<-1 img<-1 textarea<-1 q<-1"},
		{"attributes", attributes(`<a HREF = "x{{ "}}" }}y" {{ if b }}c='d'{{ end }} e f=g/>`), `href=["x" "y"] false, c=["d"] true, e=[""] true, f=["g/"] true, true`},
		{"actions", string(read.MaskActions([]byte("a{{/* }} */}}b{% x %}c<% y %>d{# z #}e{{ `}}` }}f{{ it's }}g{{"))), "a" + strings.Repeat("\x01", 12) + "b" + strings.Repeat("\x01", 7) + "c" + strings.Repeat("\x01", 7) + "d" + strings.Repeat("\x01", 7) + "e" + strings.Repeat("\x01", 10) + "f" + strings.Repeat("\x01", 10) + "g{{"},
		{"regions", fmt.Sprint(weights("<p>.<nav>.</nav>.<main>.<header>.</header></main>.<navy>.</nav>.<article class=x>.</articles>.")), "[0 -6 0 2 -6 0 0 0 2 2]"},
		{"spellings", spelled("/sub/a/b/?x&y#f", "p.html"), "/sub/a/b/?x&y#f /sub/a/b/?x&amp;y#f /a/b/?x&y#f a/b/?x&y#f 2"},
		{"spellings of relative addresses", spelled("../x/", "p/q/r.html") + " " + spelled("#f", "p.html") + " " + spelled("x#f", "p/q.html"), "../x/ /p/x/ 1 #f 1 x#f /p/x#f 1"},
		{"values that may be links", fmt.Sprint(holds("url", "x", true), holds("url", "x", false), holds("layout", "/x/", false), holds("foo", "/x/", false), holds("foo", "x y/z", false), holds("foo", "a/b", false), holds("ogImage", "x", false), holds("profilepic", "x", false), holds("pageref", "x", false), holds("layout", "x", false)), "true false false true false true true true true false"},
		{"entry of a data file", row("- name: First\n  url: /a/\n- name: Second\n  url: /b/\n", "first", "/a/", true), "[first second]urla 17 true"},
		{"entry by its end", row("- url: /a/\n  title: 'One'\n- url: /b/\n", "one", "/x/a/", false) + " " + row("a: /a/ # One\n", "one", "/a/", true) + " " + row("a: /a/\n", "two", "/a/", true), "[one]urla 11 true []aaone 17 true []aa 12 false"},
		{"keys by names", keys(Hugo, sourceDir{dir: "content"}, "content/A b/_index.fr.md", "content/x/01-c.md", "content/2024-01-02-d.html"), "[2024-01-02-d:[2] a-b/_index.fr:[0] fr/a-b:[0] x/01-c:[1]] [01-02-d:[2] a-b:[0] d:[2] x/c:[1]] [01-02-d:[2] 01-c:[1] 2024-01-02-d:[2] _index.fr:[0] a-b:[0] c:[1] d:[2]]"},
		{"keys by languages", keys(Hugo, sourceDir{dir: "content/en", lang: "en"}, "content/en/x.md") + keys(Hugo, sourceDir{dir: "docs/Guide"}, "docs/Guide/x.md") + keys(Hugo, sourceDir{dir: "."}, "x/README.md", "x.md") + keys(Zola, sourceDir{dir: "content/en"}, "content/en/x.md"), "[en/x:[0] x:[0]] [] [x:[0]][x:[0]] [guide/x:[0]] [x:[0]][x:[0 1]] [] [x:[0 1]][x:[0]] [] [x:[0]]"},
		{"files by names", named("b.md") + named("/a.md") + named("in/a.md") + named("x.txt") + named("y.txt") + named("../y.txt") + named("d") + named("none") + named("q/index.md") + named("r/deep.md") + named("index.md") + named("theme/in/a.md") + named("deep.md") + named("eep.md") + named("two.md"), "theme/in/p/b.md true; theme/in/a.md true; theme/in/a.md true; theme/in/x.txt true; theme/y.txt true; theme/y.txt true;  false;  false; theme/in/q/index.md true; theme/in/r/deep.md true; theme/in/p/index.md true; theme/in/a.md true; theme/in/r/deep.md true;  false;  false; "},
		{"shortcodes", tags("{{< a >}} {{%b 'c d' e%}} {{<f k=\"\" l=`x\\` m = \"q\\\"r\" \"s\">}}{{ .x }}{{</* g */>}}{{< h {{< i \"{{\" >}}"), `0:9 a [] {10:25 b ['c d' e] %26:60 f [l:x\ m q\"r s] {87:101 i [{{] {`},
		{"broken shortcodes", tags("{{") + tags("{{<") + tags("{{< a") + tags("{{< a \"b >}}") + tags("x {{% y >}} {{< z\t\r\nu=v >}}"), "12:27 z [u:v] {"},
		{"items of RSS", items("<rss><link>x</link><item><link> <![CDATA[/a?b&amp;c]]></link><guid>g</guid></item> <items><item x><guid a>/g </guid></item><item><link/>"), "19:75 /a?b&c;90:116 /g;123:136 ;"},
		{"items of Atom", items("<entry><link rel='edit' href='/e'/><link href='/a' rel=alternate/><link rel=\"alternate\" href=\"/z\"/></entry><entry><link href=/q><link href='/b'/><link>/c</link></entry><entry><link rel=self href='/s'/><id>/i</id></entry>"), "0:99 /a;107:160 /c;168:212 /i;"},
		{"items of a JSON feed", items("\uFEFF {\"items\": [{\"url\": \"/a\", \"id\": \"/i\"}, {\"id\": \"/b\"}, {}, {\"id\": \"/b\"}]}") + items("{\"items\": 1}"), "15:40 /a;42:54 /b;56:58 ;60:72 /b;"},
		{"odd attributes", attributes(`<a b="c>`) + "; " + attributes(`<a ="x" /b  c  = d e= 'f'g h =>`) + "; " + attributes(`<a b=`) + "; " + attributes(`<a b='{{ x }}`) + "; " + attributes(`<a/b {{ x }}c`), `b=["c"] false, false; b=[""] false, c=["d"] false, e=["f"] false, g=[""] false, h=[""] false, false; b=[""] false, false; b=["" ""] false, false; b=[""] false, true`},
		{"text beside an element", beside("a<!-- > -->b <i>c</i>{{ x }}d é-1<x y='>'>e<!-- > f --><b y='>'>g</b>h{{ }}i") + beside("z<!x><x>") + beside("a<!-- b<c> --><x>") + beside("i>j<x>k<l") + beside(strings.Repeat("m", 100)+"<x>"+strings.Repeat("n", 100)), "dé-1|egh; z|; a|; j|k; " + strings.Repeat("m", read.MaxAround) + "|" + strings.Repeat("n", read.MaxAround) + "; "},
		{"actions without an end", string(read.MaskActions([]byte("a{{/* b }}c{{ d"))) + "; " + string(read.MaskActions([]byte("{{/* a */ }}b{{- /* c"))) + "; " + string(read.MaskActions([]byte("{{ `a }}b <%"))) + "; " + string(read.MaskActions([]byte(`{{ "\"}}" }}a{`))), "a" + strings.Repeat("\x01", 9) + "c{{ d; " + strings.Repeat("\x01", 12) + "b{{- /* c; " + strings.Repeat("\x01", 8) + "b <%; " + strings.Repeat("\x01", 12) + "a{"},
		{"values of YAML", valuesOf("# a: /b\nurl: /a\nlist:\n- /b\n  - c: /d\nm: [x1, /e]\nn: {k: /f, l: /g}\n'q r': \"/h\" # 'i'\n  nest: j1\n-\n  \nt: it's\nk:\n  - 'x'\ny: z\n// o: /p\n"), "url=/a list=/b+ c=/d+ m=x1 m=/e k=/f l=/g r=/h q r=i nest=j1+ t=it's k=x+ "},
		{"values of TOML", valuesOf("a = \"/b\"\nc = ['/d', \"/e\"]\n[[t.\"u\"]] # x\nf = '/g'\n[ h\ni=j1\nk='/l'"), "a=/b c=/d c=/e f=/g+ =i=j1+ k=/l+ "},
		{"values of JSON", valuesOf("{\"a\": \"\\/b\\u0026\", \"c\": {\"d\": \"e\\u003cf\\u003e\\\\\", \"g\" : \"\"},\n\"h\": [\n\"/i\", `/j`]\n"), "a=/b& d=e<f>\\ h=/i h=/j "},
		{"regions of tags", fmt.Sprint(weights("<nav.><main>.</nav\n>.</main/>.</main>.<nav>.<nav>.</nav>.</nav>.<header\t>.</header>.<")), "[0 2 2 0 0 -6 -6 -6 0 -6 0]"},
		{"likeliest file", pick(4, "9 2 12 f 0 0") + pick(5, "9 2 12 f 0 0") + pick(6, "9 3 6 f 0 0") + pick(4, "9 2 6 f 0 0") + pick(9, "9 1 6 t 0 0") + pick(4, "9 2 0 t 0 0") + pick(4, "9 2 12 f 0 0", "8 3 12 f 9 9") + pick(4, "7 2 12 f 0 0", "8 2 12 f 0 0"), "0 -1 0 -1 0 -1 0 1 "},
		{"votes for files", pick(4, "9 2 12 f 0 5", "9 2 12 f 1 0") + pick(4, "9 2 12 f 1 0", "9 2 12 f 1 2") + pick(4, "9 2 12 f 0 0", "9 2 12 f 0 0") + pick(4, "9 2 12 f 2 0", "9 2 12 f 1 0", "9 2 12 f 2 0") + pick(4, "9 2 12 f 1 0", "9 2 12 f 1 0", "9 2 12 f 2 0"), "1 1 -1 -1 2 "},
		{"values that templates write", writes("/a/", "/a/", "") + writes("/a/", "/b/", "") + writes(" /a/#x ", "/sub/a/#x", "") + writes("b/", "/p/b/", "") + writes("", "https://e.org/sub/css/a.css", "css/a.css") + writes("", "/css/b.css", "css/a.css") + writes("", "/other/css/a.css", "css/a.css"), "[12] [0] [12] [12] [12] [0] [12] "},
		{"values with actions", writes("{{ . }}x/", "https://e.org/sub/x/", "") + writes("{{ . }}/x/", "/sub/x/", "") + writes("{{ . }}x/", "/x/", "") + writes("{{ . }}x/", "/y/x/", "") + writes("{{ . }}", "/sub", "") + writes("/t/{{ . }}#top", "t/a#top", "") + writes("/t/{{ . }}#top", "/sub/t/a/#top", "") + writes("/p/t/{{ . }}#top", "t/a/#top", "") + writes("/t/{{ . }}/", "/t/ä b/", "") + writes("/t/{{ . }}", "", "") + writes("/t/{{ . }}", "/u/x", ""), "[12] [12] [12] /y/[2] /sub[1] [0] a/[6] a/[8] ä b[2] [0] [0] "},
		{"layouts of a page", layoutOf("page.html") + layoutOf("_default/single.html") + layoutOf("_partials/a.html") + layoutOf("section/a.html") + layoutOf("docs/single.html") + layoutOf("b/single.html") + layoutOf("blog/single.html"), "true true true true true false false "},
		{"makers", makers("listed") + makers("a") + makers("b") + makers("m") + makers("") + makers("x"), "[7][2][4][8][][]"},
		{"dashes", dashed("v1.2") + " " + dashed("/A_b//c/") + " " + dashed(""), "-v1-2- -a-b-c- --"},
		{"rules", fields("/a /b 301") + fields("# a b") + fields("/a"), "/a /b; ; ;"},
		{"kinds of files", fmt.Sprint(read.KindOf("a.md"), read.KindOf("_data/x.js"), read.KindOf("src/_data/x.rb"), read.KindOf("x.js"), read.KindOf("a.yml"), read.KindOf("a.scss"), read.KindOf("a.njk")), "datadatatemplatedataassettemplate"},
		{"front matter", fmt.Sprint(read.FrontMatter([]byte("---\na: b\n---\nx")), read.FrontMatter([]byte("+++\n+++\n")), read.FrontMatter([]byte("{\"a\": {\"}\": 1}}x")), read.FrontMatter([]byte("{ x")), read.FrontMatter([]byte("#+A\n#+B\nx")), read.FrontMatter([]byte("--- \na\n--- \n")), read.FrontMatter([]byte("----\na\n---\n")), read.FrontMatter([]byte("---\na"))), "13 8 15 0 8 12 0 0"},
		{"directories of templates", fmt.Sprint(inTemplates("a/_includes/b.html"), inTemplates("a/_includes/b.md"), inTemplates("a/b.html")), "true false false"},
		{"files copied below a path", copied("v2/a.html") + copied("a.html"), "files/a.html true; false;"},
		{"classes around an action", fits(`<a class="x{{ . }}z" href=y>`, `<a class="qyz" href=y>`) + " " + fits(`<a class="x{{ . }}z" href=y>`, `<a class="xyq" href=y>`), "0 false 0 true 0 false 0 true"},
		{"words of an address's length", words("a " + strings.Repeat("b", read.MaxValue) + " " + strings.Repeat("c", read.MaxValue+1) + "  d|"), fmt.Sprintf("0:1 2:%d %d:1 ", read.MaxValue, read.MaxValue*2+6)},
		{"markers", fmt.Sprint(findMarkers([]byte(`<!-- sitelink:source a\b.md:12 --><!--x sitelink:source c.md --><META name="sitelink:source" CONTENT='./d.md'><p sitelink:source>`))), "{d.md [{34 a/b.md 12 0}]}"},
		{"ends of keys", fmt.Sprint(commonTail("a/b/c", "x/b/c"), commonTail("c", "b/c"), commonTail("a", "b")), "2 1 0"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, tt.got, tt.want)
		}
	}
}

func holds(key, text string, nested bool) bool {
	return (&read.Value{Key: strings.ToLower(key), Text: text, Nested: nested}).HoldsLink()
}

// TestUnpublished: why a content file has no page, for the generators that know drafts
// and dates.
func TestUnpublished(t *testing.T) {
	for _, tt := range []struct {
		config, file, text, raw, want string
	}{
		{"hugo.toml", "content/a.md", "---\ndraft: true\n---\n", "/a/", "x/content/a.md is a draft, so Hugo makes no page of it"},
		{"hugo.toml", "content/a.md", "---\ndate: 2026-01-03T00:00:00Z\n---\n", "/a/", "Hugo makes no page of x/content/a.md before its date, 2026-01-03"},
		{"hugo.toml", "content/a.md", "---\npublishDate: 2026-01-02\ndate: 2027-01-01\n---\n", "/a/", ""},
		{"hugo.toml", "content/a.md", "---\nexpiryDate: 2026-01-02\n---\n", "/a/", "x/content/a.md expired on 2026-01-02, so Hugo makes no page of it"},
		{"hugo.toml", "content/a.md", "---\nexpiryDate: 2026-01-03\nparams:\n  draft: true\n---\n", "/a/", ""},
		{"hugo.toml", "content/a.md", "---\ndraft: true\n---\n", "/b/", ""},
		{"hugo.toml", "content/a.md", "---\nurl: /c/\ndraft: true\n---\n", "/c/", "x/content/a.md is a draft, so Hugo makes no page of it"},
		{"hugo.toml", "content/made.md", "---\ndraft: true\n---\n", "/made/", ""},
		{"_config.yml", "_posts/2026-01-03-new.md", "---\ntitle: x\n---\n", "/2026/01/03/new.html", "Jekyll makes no page of x/_posts/2026-01-03-new.md before its date, 2026-01-03"},
		{"_config.yml", "_posts/2026-01-03-new.md", "---\ndate: 2026-01-01\n---\n", "/cat/new", ""},
		{"_config.yml", "_drafts/idea.md", "---\ntitle: x\n---\n", "/idea.html", "x/_drafts/idea.md is a draft, so Jekyll makes no page of it"},
		{"_config.yml", "a.md", "---\npublished: false\n---\n", "/a.html", "x/a.md has published: false, so Jekyll makes no page of it"},
		{"mkdocs.yml", "docs/internal/a.md", "a\n", "/internal/a/", "exclude_docs in the configuration of MkDocs excludes x/docs/internal/a.md"},
		{"mkdocs.yml", "docs/b.md", "a\n", "/b/", ""},
		{"mkdocs.yml", "docs/sub/wip.md", "a\n", "/sub/wip/", "draft_docs in the configuration of MkDocs excludes x/docs/sub/wip.md"},
		{"", "a.md", "---\ndraft: true\n---\n", "/a.html", ""},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{tt.config: map[string]string{"mkdocs.yml": "site_name: x\nnot_in_nav: |\n  b.md\nexclude_docs: |\n  # no\n  internal/\ndraft_docs: |\n  /sub/w*.md\n"}[tt.config],
			tt.file: tt.text, "public/index.html": "<a href=" + tt.raw + ">x</a>", "public/made/index.html": "<p>x"} {
			if name == "" {
				continue
			}
			name = filepath.Join(dir, filepath.FromSlash(name))
			testkit.Write(t, name, text)
		}
		s, err := site.Load(t.Context(), filepath.Join(dir, "public"), site.Options{})
		testkit.Check(t, err)
		found, _ := generator.Detect(dir, generator.None)
		m, err := Open(t.Context(), Options{Project: dir, Docroot: filepath.Join(dir, "public"), Generator: found.Generator})
		testkit.Check(t, err)
		l := BuiltLink{Page: "index.html", Raw: tt.raw}
		if _, err := m.Locate(t.Context(), s, []BuiltLink{l}); err != nil {
			t.Fatal(err)
		}
		if got := m.Unpublished(&l, "x", builtOn); got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.raw, tt.file, got, tt.want)
		}
		m.Close()
	}
}
