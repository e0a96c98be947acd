package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/text"
)

// hostileTexts are texts with which a page could try to break out of its place
// in a report.
var hostileTexts = []string{
	`</script><script>window.owned=1</script>`, `<!--<script>`, `--></script>`, `]]>`, "\u2028\u2029", `"'` + "`", `&lt;/script&gt;`,
	`" onmouseover="window.owned=1`, `'><img src=x onerror=window.owned=1>`, `javascript:window.owned=1`, "\x00\x1b[2J", "\u202egnp.exe",
	`\u003c/script\u003e`, `</title><svg onload=window.owned=1>`, `{{.}}<!-- slot data -->`, "\xff\xfe", `</style>`, `%3C/script%3E`,
}

// hostileReport has each hostile text wherever text of a site, of the command
// line or of a configuration can be.
func hostileReport() (*check.Result, Options) {
	r := &check.Result{Summary: check.Summary{Links: 1, Errors: len(hostileTexts), UnusedIgnores: hostileTexts}}
	opt := Options{SourceLinks: "https://forge.example/{file}?line={line}"}
	for _, s := range hostileTexts {
		r.Summary.Docroot += s
		r.Summary.Profile += s
		r.Summary.Reasons = append(r.Summary.Reasons, check.CodeCount{Code: check.Code(s), Count: 1})
		opt.Version += s
		opt.BaseURL += s
		opt.Extras.Orphans = append(opt.Extras.Orphans, s)
		opt.Extras.Unreachable = append(opt.Extras.Unreachable, s)
		r.Findings = append(r.Findings, check.Finding{Page: s, Line: 1, Column: 2, Element: s, Attribute: s, Raw: s, Target: s, Fragment: s,
			Verdict: check.Error, Code: check.Code(s), Final: s, Suggestion: s, Message: s, Count: 2, Source: &check.Position{File: s, Line: 3, Column: 4}})
	}
	return r, opt
}

// fewOrphans returns what no page leads to.
func fewOrphans() Extras {
	return Extras{Orphans: []string{"old/draft.html", "old/no\u202elink.pdf"}, Unreachable: []string{}}
}

func renderHTML(t testing.TB, r *check.Result, opt Options) []byte {
	t.Helper()
	var b bytes.Buffer
	testkit.Check(t, HTML(&b, r, opt))
	return b.Bytes()
}

// TestHTMLGolden: the same result gives the same bytes. The golden file has the frame of
// all reports; style and script, which are files themselves, are not in it.
func TestHTMLGolden(t *testing.T) {
	r := sources()
	opt := Options{Version: "v1.2.3", BaseURL: "https://example.org/", Date: "2026-11-26", SourceLinks: "https://forge.example/{file}#L{line}", Extras: fewOrphans(),
		Root: testkit.MakeDocroot(t, testkit.Files{"content/post/a.md": strings.Repeat("\n", 11) + "a [b](../b) & more.\n"})}
	got := renderHTML(t, &r, opt)
	if !bytes.Equal(got, renderHTML(t, &r, opt)) {
		t.Error("two runs over one result differ")
	}
	short := strings.NewReplacer(htmlStyle, "[style]", htmlScript, "[script]", strings.ReplaceAll(template.HTMLEscapeString(htmlPolicy()), "+", "&#43;"), "[policy]")
	golden(t, "sources.html", []byte(short.Replace(string(got))))
}

// TestHTMLHeadline: a report begins with how many errors and warnings there are.
func TestHTMLHeadline(t *testing.T) {
	warned := few()
	for i := range warned.Findings {
		warned.Findings[i].Verdict = check.Warning
	}
	faulty, clean, repeated := few(), check.Result{}, fromTemplate()
	for want, r := range map[string]*check.Result{"3 errors": &faulty, "3 warnings": &warned, "All checked links work.": &clean, "45 errors and 1 warning on 1,249 links with 13 causes": &repeated} {
		text := parseHTML(t, renderHTML(t, r, Options{})).text
		_, text, _ = strings.Cut(text, "Skip to the findings")
		_, text, _ = strings.Cut(text, "Links of ")
		if _, text, _ = strings.Cut(text, "\n"); !strings.HasPrefix(text, want+"\n") {
			t.Errorf("got %.80q, want %q", text, want)
		}
	}
}

// TestHTMLEntries: the report has the entries of text, in their order, with what they have
// in common and their other causes.
func TestHTMLEntries(t *testing.T) {
	r := check.Result{Findings: slices.Concat(broken(2, "/a/"), broken(150, "#_"))}
	for i := range r.Findings[2:] {
		f := &r.Findings[2+i]
		f.Code, f.Source, f.Raw = check.MissingFragment, &check.Position{File: "nav.njk", Line: 6, Column: 2}, "#_"
	}
	for i := range htmlMembers + 5 {
		f := broken(1, fmt.Sprintf("/guides/v%d/", i))
		f[0].Source, f[0].Suggestion = &check.Position{File: fmt.Sprintf("content/%02d.md", i), Line: 1, Column: 6}, fmt.Sprintf("/guide/v%d/", i)
		r.Findings = append(r.Findings, f...)
	}
	root := testkit.MakeDocroot(t, testkit.Files{"content/01.md": "See </guides/v1/>"})
	p := parseHTML(t, renderHTML(t, &r, Options{Root: root}))
	var d htmlColumns
	testkit.Check(t, json.Unmarshal([]byte(p.data[0]), &d))
	listed, _ := Worst(r.Findings, check.Causes(r.Findings), 0, TextOptions{})
	if len(listed) != 3 || len(d.Entries) != 3 || strings.Count(strings.Join(p.outline, "\n"), "tr role") != 1+3 {
		t.Fatalf("%d entries in text, %d in HTML", len(listed), len(d.Entries))
	}
	for i, m := range listed {
		if common := m.common(r.Findings, false); d.Entries[i].First != m.causes[0].First || d.Entries[i].Common != common || !strings.Contains(p.text, common) {
			t.Errorf("entry %d: row %d, %q, want %d, %q", i, d.Entries[i].First, d.Entries[i].Common, m.causes[0].First, common)
		}
	}
	if len(d.Entries[0].Members) != htmlMembers || d.Entries[0].Rest != 4 || d.Entries[0].Members[0].Hint != "/guide/v1/" || !strings.Contains(p.text, "and 4 more") {
		t.Errorf("members %v and %d more", d.Entries[0].Members, d.Entries[0].Rest)
	}
	row := d.Entries[0].Members[0].Row
	if got := d.Lead.string(row) + "|" + d.Link.string(row) + "|" + d.Tail.string(row); got != "See <|/guides/v1/|>" || strings.Count(p.text, "/guides/v1/") != 1 {
		t.Errorf("the line of a cause is %q, its address is shown %d times", got, strings.Count(p.text, "/guides/v1/"))
	}
	if n := strings.Count(p.text, "/a/"); n != 1 {
		t.Errorf("/a/ is shown %d times, want once", n)
	}
}

// TestHTMLLines: the line of a place is cut around the link, which is marked.
func TestHTMLLines(t *testing.T) {
	long := strings.Repeat("äb ", 5000)
	for _, tc := range []struct {
		line   string
		column int
		raw    string
		want   htmlLine
	}{
		{"\tSee [b](../b) too. \r", 10, "../b", htmlLine{"See [b](", "../b", ") too."}},
		{"[b](../b.md)", 5, "/b/", htmlLine{"[b](", "../b.md", ")"}},
		{"to: \"/docs/\",", 6, "/docs", htmlLine{"to: \"", "/docs", "/\","}},
		{"مرحبا [b](../b) نص", 11, "../b", htmlLine{"مرحبا [b](", "../b", ") نص"}},
		{"a\u202eb <\x1b>", 6, "", htmlLine{`a\u202eb <`, `\x1b`, ">"}},
		{long + "<x>" + long, 15_002, "x", htmlLine{"…" + "b " + long[len(long)-76:] + "<", "x", ">" + long[:79] + "…"}},
		{"x " + long, 1, long, htmlLine{"", "x", " " + long[:79] + "…"}},
		{"[b]( )", 5, "../b", htmlLine{}},
		{`<a href="{{ .URL }}x">`, 10, "/a/x", htmlLine{`<a href="`, "{{ .URL }}", `x">`}},
		{"short", 9, "../b", htmlLine{}},
	} {
		if got := markLink(tc.line, tc.column, tc.raw); got != tc.want {
			t.Errorf("%.40q:%d\n got %.300q\nwant %.300q", tc.line, tc.column, got, tc.want)
		}
	}
	if got := markLink(long, 1, long); len(got.Link) > maxValueBytes+20 {
		t.Errorf("a link of %d bytes", len(got.Link))
	}

	// A line is of the file that the place names. Without that file, no line is shown.
	r := check.Result{Findings: broken(1, "/a/")}
	f := &r.Findings[0]
	root := testkit.MakeDocroot(t, testkit.Files{"site/a.md": "x source", "site/public/p00000.html": "y built", "a.md": "z outside"})
	for _, tc := range []struct {
		source *check.Position
		want   string
	}{
		{nil, "built"}, {&check.Position{File: "a.md", Line: 1, Column: 3}, "source"}, {&check.Position{File: "/mod/a.md", Line: 1, Column: 3}, ""},
		{&check.Position{File: "../a.md", Line: 1, Column: 3}, ""}, {&check.Position{File: "gone.md", Line: 1, Column: 3}, ""}, {&check.Position{File: "a.md", Line: 9, Column: 3}, ""}, {&check.Position{File: "a.md"}, ""},
	} {
		f.Source, f.Line, f.Column = tc.source, 1, 3
		view := &htmlView{Findings: r.Findings, Causes: check.Causes(r.Findings), opt: Options{Base: "public", Root: filepath.Join(root, "site")}}
		view.readLines()
		if got := view.lines[f].Link; got != tc.want {
			t.Errorf("%+v: the line has %q, want %q", tc.source, got, tc.want)
		}
	}
}

// parsed is a report after parsing.
type parsed struct {
	outline []string // element names with their attribute names, in order
	scripts []string // that run
	styles  []string
	data    []string // blocks of JSON
	policy  string
	text    string // all visible text
}

// parseHTML parses a report with the reference implementation of the parsing
// algorithm, and fails for elements that must not be in it.
func parseHTML(t testing.TB, report []byte) (p parsed) {
	t.Helper()
	doc := testkit.Must(html.Parse(bytes.NewReader(report)))(t)
	for n := range doc.Descendants() {
		if n.Type == html.CommentNode {
			t.Errorf("a comment: %q", n.Data)
		}
		if n.Type == html.TextNode && n.Parent.DataAtom != atom.Script && n.Parent.DataAtom != atom.Style {
			p.text += n.Data
		}
		if n.Type != html.ElementNode {
			continue
		}
		line, attr := n.Data, map[string]string{}
		for _, a := range n.Attr {
			line += " " + a.Key
			attr[a.Key] = a.Val
			if strings.HasPrefix(a.Key, "on") || slices.Contains([]string{"style", "src", "srcset", "action", "data", "srcdoc", "ping"}, a.Key) ||
				a.Key == "href" && a.Val != "#findings" && !strings.HasPrefix(a.Val, "https://forge.example/") {
				t.Errorf("<%s> has %s=%q", n.Data, a.Key, a.Val)
			}
		}
		p.outline = append(p.outline, line)
		content := ""
		if n.FirstChild != nil {
			content = n.FirstChild.Data
		}
		switch {
		case n.DataAtom == atom.Script && attr["type"] == "application/json":
			p.data = append(p.data, content)
		case n.DataAtom == atom.Script:
			p.scripts = append(p.scripts, content)
		case n.DataAtom == atom.Style:
			p.styles = append(p.styles, content)
		case attr["http-equiv"] == "Content-Security-Policy":
			p.policy = attr["content"]
		}
	}
	return p
}

// TestHTMLPolicy: there are one script and one style, and the policy has their
// hashes and allows nothing else.
func TestHTMLPolicy(t *testing.T) {
	r, opt := hostileReport()
	p := parseHTML(t, renderHTML(t, r, opt))
	if len(p.scripts) != 1 || p.scripts[0] != htmlScript || len(p.styles) != 1 || p.styles[0] != htmlStyle || len(p.data) != 1 {
		t.Fatalf("%d scripts, %d styles, %d data blocks, want one of each, and ours", len(p.scripts), len(p.styles), len(p.data))
	}
	want := "default-src 'none'; script-src " + cspHash(p.scripts[0]) + "; style-src " + cspHash(p.styles[0]) + "; base-uri 'none'; form-action 'none'"
	if p.policy != want {
		t.Errorf("policy\n got %s\nwant %s", p.policy, want)
	}
	for _, name := range []string{htmlScript, htmlStyle} { // would end their element
		if strings.Contains(strings.ToLower(name), "</s") || strings.Contains(name, "<!--") {
			t.Error("the script or style contains its own end tag")
		}
	}
	for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch(", "XMLHttpRequest", "import("} {
		if strings.Contains(htmlScript, word) {
			t.Errorf("the script uses %s", word)
		}
	}
}

// TestHTMLHostile: whatever text a site contains, its report has the same
// elements as one with harmless text, and the text is unchanged.
func TestHTMLHostile(t *testing.T) {
	r, opt := hostileReport()
	hostile := parseHTML(t, renderHTML(t, r, opt))
	names := map[string]string{} // different texts stay different, so that the causes stay the same
	r, opt = mapStrings(r, opt, func(s string) string {
		if names[s] == "" {
			names[s] = strings.Repeat("x", len(names)+1)
		}
		return names[s]
	})
	harmless := parseHTML(t, renderHTML(t, r, opt))
	if n := len(check.Causes(r.Findings)); n != len(hostileTexts) {
		t.Fatalf("%d causes of %d texts", n, len(hostileTexts))
	}
	for _, p := range []*parsed{&hostile, &harmless} { // names with invisible characters lead nowhere
		p.outline = slices.DeleteFunc(p.outline, func(line string) bool { return line == "a href" })
	}
	if !slices.Equal(hostile.outline, harmless.outline) {
		for i, line := range hostile.outline {
			if i >= len(harmless.outline) || line != harmless.outline[i] {
				t.Errorf("element %d differs: %q, harmless %q", i, hostile.outline[i:], harmless.outline[min(i, len(harmless.outline)):])
				break
			}
		}
	}
	for _, s := range hostileTexts {
		if shown := string(appendCut(nil, s, htmlValueBytes)); !strings.Contains(hostile.text, shown) {
			t.Errorf("%q is not shown as %q", s, shown)
		}
	}
}

// mapStrings replaces every string of a report.
func mapStrings(r *check.Result, opt Options, f func(string) string) (*check.Result, Options) {
	n := *r
	n.Findings = slices.Clone(r.Findings)
	for i := range n.Findings {
		x := &n.Findings[i]
		for _, s := range []*string{&x.Page, &x.Element, &x.Attribute, &x.Raw, &x.Target, &x.Fragment, &x.Final, &x.Suggestion, &x.Message} {
			if *s != "" {
				*s = f(*s)
			}
		}
		x.Code = check.Code(f(string(x.Code)))
		if x.Source != nil {
			x.Source = &check.Position{File: f(x.Source.File), Line: x.Source.Line, Column: x.Source.Column}
		}
	}
	n.Summary.Docroot, n.Summary.Profile, opt.Version, opt.BaseURL = f(n.Summary.Docroot), f(n.Summary.Profile), f(opt.Version), f(opt.BaseURL)
	n.Summary.Reasons = slices.Clone(r.Summary.Reasons)
	for i := range n.Summary.Reasons {
		n.Summary.Reasons[i].Code = check.Code(f(string(n.Summary.Reasons[i].Code)))
	}
	for _, list := range []*[]string{&n.Summary.UnusedIgnores, &opt.Extras.Orphans, &opt.Extras.Unreachable} {
		*list = slices.Clone(*list)
		for i, s := range *list {
			(*list)[i] = f(s)
		}
	}
	return &n, opt
}

// htmlColumns is the JSON block as the script reads it.
type htmlColumns struct {
	Rows                                                        int
	Page, As, Target, Answer, Kind, Message, Suggestion, Source jsonColumn
	Line, Column, Count, SourceLine, SourceColumn               jsonColumn
	Before, Entry, Lead, Link, Tail                             jsonColumn
	Entries                                                     []htmlEntry
	Meanings, Orphans, Unreachable                              []string
}

type jsonColumn struct {
	T []string
	I any
}

func (c jsonColumn) number(row int) int {
	switch i := c.I.(type) {
	case float64:
		return int(i)
	case []any:
		return int(i[row].(float64))
	}
	return -1
}

func (c jsonColumn) string(row int) string { return c.T[c.number(row)] }

// TestHTMLData reads every finding again from the columns.
func TestHTMLData(t *testing.T) {
	cases := results()
	r, opt := hostileReport()
	cases = append(cases, fixture{name: "hostile in all places", result: *r})
	many, _ := synthetic(1234)
	cases = append(cases, fixture{name: "synthetic", result: *many})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var d htmlColumns
			testkit.Check(t, json.Unmarshal([]byte(parseHTML(t, renderHTML(t, &c.result, opt)).data[0]), &d))
			checkColumns(t, &d, &c.result)
			if len(d.Orphans) != len(opt.Extras.Orphans) || len(d.Unreachable) != len(opt.Extras.Unreachable) {
				t.Errorf("%d orphans, %d unreachable", len(d.Orphans), len(d.Unreachable))
			}
		})
	}
}

func checkColumns(t *testing.T, d *htmlColumns, r *check.Result) {
	t.Helper()
	if d.Rows != len(r.Findings) || len(d.Meanings) != len(d.Kind.T) {
		t.Fatalf("%d rows, want %d; %d meanings for %d kinds", d.Rows, len(r.Findings), len(d.Meanings), len(d.Kind.T))
	}
	shown := func(s string) string { // as JSON holds it: UTF-8
		return strings.ToValidUTF8(string(appendCut(nil, s, htmlValueBytes)), "\ufffd")
	}
	entries, scripts := families(r.Findings, check.Causes(r.Findings), htmlMembers)
	for n, m := range slices.Concat(entries, scripts) {
		f := commonFinding(r.Findings, &m.causes[0])
		if d.Entry.T[n] != m.causes[0].ID || d.Entries[n].First != m.causes[0].First || d.Entries[n].Hint != shown(f.Suggestion) {
			t.Errorf("entry %d: %s, row %d, suggestion %q", n, d.Entry.T[n], d.Entries[n].First, d.Entries[n].Hint)
		}
		for _, c := range m.causes {
			for _, i := range c.Findings {
				if d.Entry.number(i) != n {
					t.Errorf("row %d has the entry %d, want %d", i, d.Entry.number(i), n)
				}
			}
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		before, _ := suggestionWords(f)
		if got := d.Before.string(i); got != before {
			t.Errorf("row %d has %q before the suggestion, want %q", i, got, before)
		}
		source := sourceOf(f)
		got := []any{d.Page.string(i), d.As.string(i), d.Target.string(i), d.Answer.string(i), d.Kind.string(i), d.Message.string(i),
			d.Suggestion.string(i), d.Source.string(i), d.Line.number(i), d.Column.number(i), d.Count.number(i),
			d.SourceLine.number(i), d.SourceColumn.number(i)}
		want := []any{shown(f.Page), shown(htmlWritten(f)), shown(targetOf(f)), shown(htmlAnswer(f)), shown(f.Verdict.String() + " " + string(f.Code)), shown(f.Message),
			shown(f.Suggestion), shown(source.File), f.Line, f.Column, max(1, f.Count), source.Line, source.Column}
		if !slices.Equal(got, want) {
			t.Errorf("row %d\n got %q\nwant %q", i, got, want)
		}
	}
}

// TestHTMLStatic: without JavaScript there are the counts, the start of the
// lists, and a note about what is missing.
func TestHTMLStatic(t *testing.T) {
	r, extras := synthetic(2000)
	for range 600 {
		extras.Unreachable = append(extras.Unreachable, "far/away.html")
	}
	p := parseHTML(t, renderHTML(t, r, Options{Extras: extras}))
	rows, items := 0, 0
	for _, line := range p.outline {
		switch line {
		case "tr role":
			rows++
		case "li":
			items++
		}
	}
	if rows != 1+htmlStaticRows {
		t.Errorf("%d rows, want a head and %d", rows, htmlStaticRows)
	}
	if want := len(extras.Orphans) + htmlStaticRows; items != want {
		t.Errorf("%d files are listed, want %d", items, want)
	}
	for _, want := range []string{"1,667 errors and 333 warnings", fmt.Sprintf("These are the first 500 of %s entries.", text.Thousands(entryCount(r))), "The first 500 of 600:", "41,000", "in 334 files"} {
		if want == "41,000" {
			want = text.Thousands(r.Summary.Links)
		}
		if !strings.Contains(p.text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
}

func entryCount(r *check.Result) int {
	entries, forScripts := families(r.Findings, check.Causes(r.Findings), 0)
	return len(entries) + len(forScripts)
}

// pieces records the sizes of the writes.
type pieces struct{ most, total int }

func (p *pieces) Write(b []byte) (int, error) {
	p.most = max(p.most, len(b))
	p.total += len(b)
	return len(b), nil
}

// TestHTMLStreams: the report is written column by column, never as a whole.
func TestHTMLStreams(t *testing.T) {
	r, extras := synthetic(12_000)
	var p pieces
	testkit.Check(t, HTML(&p, r, Options{Extras: extras}))
	if p.most > p.total/3 || p.total < 600_000 {
		t.Errorf("pieces of up to %d bytes, %d in all", p.most, p.total)
	}
}

// TestHTMLLongValues: a value of megabytes is cut, as in text.
func TestHTMLLongValues(t *testing.T) {
	long := strings.Repeat("data:image/png;base64,iVBORw0KGgo\u202e<", 40_000)
	r := &check.Result{Findings: []check.Finding{{Page: long, Raw: long, Target: long, Message: long, Suggestion: long, Verdict: check.Error, Code: check.MissingFile, Count: 1}}}
	got := renderHTML(t, r, Options{})
	if extra := len(got) - len(htmlPage) - len(htmlScript) - len(htmlStyle); extra > 60*htmlValueBytes {
		t.Errorf("%d bytes for one finding", extra)
	}
	if p := parseHTML(t, got); !strings.Contains(p.text, "bytes)") {
		t.Error("the report does not mention the cut")
	}
}

// FuzzHTML: no text changes the elements of the report, and the data contains
// it as displayed.
func FuzzHTML(f *testing.F) {
	for i, s := range hostileTexts {
		f.Add(s, hostileTexts[(i+7)%len(hostileTexts)])
	}
	shape := func(a, b string) (*check.Result, Options) {
		return &check.Result{Summary: check.Summary{Docroot: a, Profile: b, Reasons: []check.CodeCount{{Code: check.Code(a), Count: 1}}, UnusedIgnores: []string{b}},
				Findings: []check.Finding{
					{Page: a, Element: b, Attribute: a, Raw: b, Target: a, Fragment: b, Verdict: check.Error, Code: check.Code(b), Final: a, Suggestion: b, Message: a, Count: 1},
					{Page: b, Element: a, Attribute: b, Raw: a, Target: b, Fragment: a, Verdict: check.Warning, Code: check.Code(a), Final: b, Suggestion: a, Message: b, Count: 1}}},
			Options{Version: a + b, Extras: Extras{Orphans: []string{a, b}}}
	}
	r, opt := shape("x", "y")
	want := parseHTML(f, renderHTML(f, r, opt)).outline
	f.Fuzz(func(t *testing.T, a, b string) {
		if a == "" || b == "" || a == b || len(a)+len(b) > 2000 {
			t.Skip()
		}
		r, opt := shape(a, b)
		p := parseHTML(t, renderHTML(t, r, opt))
		// Some texts make one cause of the two findings, such as two versions of a path.
		if len(check.Causes(r.Findings)) == 2 && !slices.Equal(p.outline, want) {
			t.Errorf("the elements differ:\n%q\n%q", p.outline, want)
		}
		var d htmlColumns
		testkit.Check(t, json.Unmarshal([]byte(p.data[0]), &d))
		checkColumns(t, &d, r)
	})
}

// synthetic returns a result of n findings as large sites have them: a template
// that breaks on every page, pages that moved, fragments, and links that are
// not repeated.
func synthetic(n int) (*check.Result, Extras) {
	areas := []string{"guide", "reference", "blog/2024", "blog/2025", "api/v1", "api/v2", "tutorials", "news"}
	r := &check.Result{}
	for i := range n {
		page := fmt.Sprintf("%s/chapter-%04d/index.html", areas[i*len(areas)/n], i/6)
		f := check.Finding{Page: page, Line: 20 + i%6*37, Column: 5 + i%40, Offset: int64(i % 6 * 900), Element: "a", Attribute: "href",
			Verdict: check.Error, Status: 404, Count: 1}
		switch i % 6 {
		case 0:
			f.Code, f.Raw, f.Target = check.MissingFile, "/assets/print.css", "/assets/print.css"
			f.Element, f.Message = "link", "file not found: /assets/print.css"
		case 1:
			f.Code, f.Raw = check.MissingDirectory, fmt.Sprintf("../topic-%d/", i%977)
			f.Target = fmt.Sprintf("/%s/topic-%d/", areas[i*len(areas)/n], i%977)
			f.Message, f.Suggestion = "directory not found: "+f.Target, fmt.Sprintf("../topics/%d/", i%977)
		case 2:
			f.Code, f.Fragment = check.MissingFragment, fmt.Sprintf("section-%d", i)
			f.Target, f.Status = fmt.Sprintf("/reference/chapter-%04d/", i%1999), 200
			f.Raw = f.Target + "#" + f.Fragment
			f.Message = fmt.Sprintf("reference/chapter-%04d/index.html has no element with id %q", i%1999, f.Fragment)
		case 3:
			f.Code, f.Raw, f.Element, f.Attribute = check.WrongCase, fmt.Sprintf("Figure-%d.PNG", i), "img", "src"
			f.Target = fmt.Sprintf("/%s/Figure-%d.PNG", areas[i*len(areas)/n], i)
			f.Message, f.Suggestion = f.Target+" differs in letter case", fmt.Sprintf("figure-%d.png", i)
		case 4:
			f.Code, f.Verdict, f.Status = check.Autoindex, check.Warning, 200
			f.Raw, f.Target, f.Final = "/files", "/files", "/files/"
			f.Message = "/files has no index file: the host shows a directory listing"
		default:
			f.Code, f.Raw = check.MissingFile, fmt.Sprintf("../../old/page-%d.html", i)
			f.Target = fmt.Sprintf("/old/page-%d.html", i)
			f.Message = "file not found: " + f.Target
		}
		r.Findings = append(r.Findings, f)
		if f.Verdict == check.Error {
			r.Summary.Errors++
		} else {
			r.Summary.Warnings++
		}
	}
	s := &r.Summary
	s.Docroot, s.Profile = "public", "generic"
	s.Files, s.Pages, s.Bytes, s.Anchors = n/5, n/6+1, int64(n)*2480, n*7
	s.OK, s.Unchecked, s.Ignored, s.Redirected = n*20, n*3/2, n/90, n/4
	s.Links = s.OK + s.Errors + s.Warnings + s.Unchecked + s.Ignored
	s.Reasons = []check.CodeCount{{Code: check.External, Count: n}, {Code: check.Mailto, Count: n / 2}}

	extras := Extras{Orphans: []string{}}
	for i := range n / 50 {
		extras.Orphans = append(extras.Orphans, fmt.Sprintf("old/attachment-%05d.pdf", i))
	}
	return r, extras
}
