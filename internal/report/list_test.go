package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
)

// rows has rows of each kind, with values that are difficult for a
// format.
func rows() []Row {
	l := few().Findings[1].Link()
	l.Raw = "a,b \"c\"\r\n\x00\xff<&>;=1"
	return []Row{
		LinkRow(&l),
		ExternalRow("https://a.example/", &check.ExternalTarget{Target: "https://b.example/?a,b", Fragment: "x", Host: "b.example", Path: "/ü \"x\"",
			Anchor: "x\n", Links: 3, Pages: 2, Page: "=1+1.html", Line: 4, Column: 5}),
		AnchorRow("", check.Anchor{Page: "a.html", Name: " x,\ty ", Kind: "id"}),
		AddressRow("https://a.example/b/", "a.example", "/b/", check.Address{Path: "/b", File: "index.html", Final: "/b/"}),
	}
}

// A row can be read back from JSON, and the row of a link is that of check
// --show all.
func TestRowJSON(t *testing.T) {
	for _, r := range rows() {
		line := r.AppendJSON(nil)
		var got map[string]any
		if err := json.Unmarshal(line, &got); err != nil || len(got) != len(r) {
			t.Fatalf("%v\n%s", err, line)
		}
		if names := keys(t, line); len(names) != len(r) || names[0] != r[0].Name {
			t.Errorf("names %q", names)
		}
		for _, f := range r {
			var want any = strings.ToValidUTF8(f.Text, "\uFFFD")
			if f.IsNumber {
				want = float64(f.Number)
			}
			if !reflect.DeepEqual(got[f.Name], want) {
				t.Errorf("%s is %v, want %v", f.Name, got[f.Name], want)
			}
		}
	}
	l := few().Findings[1].Link()
	if got, want := string(LinkRow(&l).AppendJSON(nil)), string(AppendLink(nil, &l, nil, "")); got != want {
		t.Errorf("the row of a link is\n%s\nin check\n%s", got, want)
	}
}

// RFC 4180, section 2: encoding/csv reads what was written.
func TestRowCSV(t *testing.T) {
	for _, r := range rows() {
		text := string(r.AppendCSV(r.AppendCSVHeader(nil)))
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) != 2 {
			t.Fatalf("%v\n%s", err, text)
		}
		if !strings.HasSuffix(text, "\r\n") || !utf8.ValidString(text) {
			t.Errorf("%q is not lines of UTF-8", text)
		}
		for i, f := range r {
			want := inCSV(f.Text)
			if f.IsNumber {
				want = strconv.FormatInt(f.Number, 10)
			}
			if rows[0][i] != f.Name || rows[1][i] != want {
				t.Errorf("%s is %q, want %q", rows[0][i], rows[1][i], want)
			}
		}
	}
	if got, want := string(AnchorRow("s", check.Anchor{Page: `a"b`, Name: "c,d", Kind: "id"}).AppendCSV(nil)), "s,\"a\"\"b\",\"c,d\",id\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// inCSV is a value as CSV has it: visible, and no formula.
func inCSV(s string) string {
	visible := string(appendQuoted(nil, s))
	if strings.HasPrefix(s, "=") || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "@") {
		return "'" + visible
	}
	return visible
}

// A spreadsheet takes no value for a formula, whatever it starts with, and no byte
// controls a terminal.
func TestCSVNeutral(t *testing.T) {
	for value, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-x.html": "'-x.html", "@a": "'@a", "=a,\"b\"": `"'=a,""b"""`, "\t=1": `\t=1`, "\r\n=1": `\r\n=1`,
		"a=b-c+d@e": "a=b-c+d@e", "\x1b[31m": `\x1b[31m`, "\u009b31m": `\u009b31m`, "a\u202eb": `a\u202eb`, "": "",
	} {
		if got := string(Row{textField("x", value)}.AppendCSV(nil)); got != want+"\r\n" {
			t.Errorf("%q is %q, want %q", value, got, want)
		}
	}
}

// FuzzCSV: encoding/csv reads every value back, and no cell begins like a formula.
func FuzzCSV(f *testing.F) {
	f.Add("a", "b")
	f.Add("\"", ",\r\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		r := Row{textField("a", a), textField("b", b)}
		rows, err := csv.NewReader(strings.NewReader(string(r.AppendCSV(r.AppendCSVHeader(nil))))).ReadAll()
		if err != nil || len(rows) != 2 || rows[1][0] != inCSV(a) || rows[1][1] != inCSV(b) {
			t.Fatalf("%q, %q: %q, %v", a, b, rows, err)
		}
		for _, cell := range rows[1] {
			if strings.ContainsAny(cell, "\t\r\n") || cell != "" && strings.Contains("=+-@", cell[:1]) {
				t.Errorf("%q, %q: %q", a, b, cell)
			}
		}
	})
}

func TestDot(t *testing.T) {
	edge := func(l check.Link, file string) string { return string(AppendDot(nil, &l, file)) }
	for _, c := range []struct{ got, want string }{
		{edge(check.Link{Page: "a.html", Target: "/b.html"}, "b.html"), "\t\"a.html\" -> \"b.html\"\n"},
		{edge(check.Link{Page: "a.html", Target: "/b.html", Verdict: check.Error, Code: check.MissingFile}, ""), "\t\"a.html\" -> \"/b.html\" [color=red]\n"},
		{edge(check.Link{Page: "a.html", Target: "/d/", Verdict: check.Warning, Code: check.Autoindex}, "d"), "\t\"a.html\" -> \"d\" [color=orange]\n"},
		{edge(check.Link{Page: "a.html", Raw: "http://", Verdict: check.Error, Code: check.BadURL}, ""), "\t\"a.html\" -> \"http://\" [color=red]\n"},
		{edge(check.Link{Page: `q"\.html`, Target: "/b\n\xff<b>", Verdict: check.Unchecked, Code: check.External}, ""), "\t\"q\\\"\\\\.html\" -> \"/b\\\\n\\\\xff<b>\"\n"},
		{edge(check.Link{Page: "a.html", Target: "mailto:x", Verdict: check.Unchecked, Code: check.Mailto}, ""), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if long := edge(check.Link{Page: "a.html", Target: strings.Repeat("x", 1<<20)}, ""); len(long) > 1000 {
		t.Errorf("a label of %d bytes", len(long))
	}
}

// siteLinks returns the rows of a small site: index.html, sub/index.html and an
// image map, with a link of each kind that linklint lists.
func siteLinks() []check.Link {
	row := func(page string, line int, element, attribute, raw, target, fragment string, v check.Verdict, code check.Code, status int, file string) check.Link {
		return check.Link{Page: page, Line: line, Column: 10, Offset: int64(100 * line), Element: element, Attribute: attribute,
			Raw: raw, Target: target, Fragment: fragment, Verdict: v, Code: code, Status: status, File: file}
	}
	return []check.Link{
		row("index.html", 1, "a", "href", "sub/", "/sub/", "", check.OK, "", 200, "sub/index.html"),
		row("index.html", 2, "a", "href", "gone.html", "/gone.html", "", check.Error, check.MissingFile, 404, ""),
		row("index.html", 3, "img", "src", "/i.gif", "/i.gif", "", check.OK, "", 200, ""),
		row("index.html", 4, "a", "href", "sub/#top-story", "/sub/", "top-story", check.OK, "", 200, "sub/index.html"),
		row("index.html", 5, "a", "href", "sub/#nowhere", "/sub/", "nowhere", check.Error, check.MissingFragment, 200, "sub/index.html"),
		row("index.html", 6, "img", "usemap", "#nav", "/index.html", "nav", check.OK, "", 200, ""),
		row("index.html", 7, "img", "usemap", "#lost", "/index.html", "lost", check.Error, check.MissingMap, 200, ""),
		row("index.html", 8, "form", "action", "/cgi-bin/find", "/cgi-bin/find", "", check.Unchecked, check.Action, 0, ""),
		row("index.html", 9, "a", "href", "https://example.org/x", "https://example.org/x", "", check.Unchecked, check.External, 0, ""),
		row("index.html", 10, "a", "href", "mailto:me@example.org", "mailto:me@example.org", "", check.Unchecked, check.Mailto, 0, ""),
		row("index.html", 11, "a", "href", "old.html", "/old.html", "", check.Unchecked, check.IgnoredByRule, 404, ""),
		row("index.html", 12, "a", "href", "files/", "/files/", "", check.Warning, check.Autoindex, 200, ""),
		row("sub/index.html", 1, "a", "href", "../gone.html", "/gone.html", "", check.Error, check.MissingFile, 404, ""),
		row("sub/index.html", 2, "a", "href", "/sub/deep/c.html", "/sub/deep/c.html", "", check.OK, "", 200, ""),
	}
}

// showAll reads the rows as another program would.
func showAll(t *testing.T) []row {
	t.Helper()
	var b []byte
	for _, l := range siteLinks() {
		b = AppendLink(b, &l, nil, "")
	}
	golden(t, "links.jsonl", b)
	var rows []row
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	for d.More() {
		var r row
		testkit.Check(t, d.Decode(&r))
		rows = append(rows, r)
	}
	return rows
}

// TestLL85 (LL-85): the row has the directory link as written and the file that
// answers.
func TestLL85(t *testing.T) {
	r := showAll(t)[0]
	if r.Raw != "sub/" || r.Target != "/sub/" || r.Final != "" {
		t.Errorf("raw %q target %q final %q, want sub/ /sub/ and no other address", r.Raw, r.Target, r.Final)
	}
	l := siteLinks()[0]
	want := "index.html:1:10: ok: <a href=\"sub/\"> -> /sub/, answered by sub/index.html\n"
	if got := string(AppendLinkText(nil, &l, nil, TextOptions{})); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestEvidenceText: if a fragment is left to a script, the row of its link names
// the script.
func TestEvidenceText(t *testing.T) {
	l := check.Link{Page: "p.html", Line: 1, Column: 2, Element: "a", Attribute: "href", Raw: "q.html#/x", Target: "/q.html", Fragment: "/x",
		Verdict: check.Unchecked, Code: check.ScriptFragment, Evidence: "Docsify (lib/docsify.min.js)"}
	want := "p.html:1:2: unchecked: <a href=\"q.html#/x\"> -> /q.html#/x [script-fragment], left to Docsify (lib/docsify.min.js)\n"
	if got := string(AppendLinkText(nil, &l, nil, TextOptions{})); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// listRules select the rows of each list. docs/reference/formats.md has the
// same rules for jq.
var listRules = map[string]func(row) bool{
	"found": func(r row) bool { return r.Verdict == "ok" && strings.HasPrefix(r.Target, "/") },
	"missing": func(r row) bool {
		return slices.Contains([]string{"missing-file", "missing-directory", "missing-index", "wrong-case"}, r.Code)
	},
	"directories": func(r row) bool {
		path, _, _ := strings.Cut(r.Target, "?")
		return strings.HasPrefix(path, "/") && strings.HasSuffix(path, "/") && r.Status == 200
	},
	"remote":          func(r row) bool { return r.Target != "" && !strings.HasPrefix(r.Target, "/") },
	"anchors":         func(r row) bool { return r.Verdict == "ok" && r.Fragment != "" && r.Attribute != "usemap" },
	"missing anchors": func(r row) bool { return r.Code == "missing-fragment" },
	"maps":            func(r row) bool { return r.Verdict == "ok" && r.Attribute == "usemap" },
	"missing maps":    func(r row) bool { return r.Code == "missing-map" },
	"actions":         func(r row) bool { return r.Code == "action" },
	"ignored":         func(r row) bool { return r.Code == "ignored" },
	"warnings":        func(r row) bool { return r.Verdict == "warning" },
}

// TestLL107 (LL-107): `--show all` contains every list that linklint writes,
// with the page of each entry.
func TestLL107(t *testing.T) {
	rows := showAll(t)
	for _, c := range []struct {
		list string
		want []string // target#fragment < page:line, in the order of the rows
	}{
		{"found", []string{"/sub/ < index.html:1", "/i.gif < index.html:3", "/sub/#top-story < index.html:4",
			"/index.html#nav < index.html:6", "/sub/deep/c.html < sub/index.html:2"}},
		{"missing", []string{"/gone.html < index.html:2", "/gone.html < sub/index.html:1"}},
		{"directories", []string{"/sub/ < index.html:1", "/sub/#top-story < index.html:4", "/sub/#nowhere < index.html:5",
			"/files/ < index.html:12"}},
		{"remote", []string{"https://example.org/x < index.html:9", "mailto:me@example.org < index.html:10"}},
		{"anchors", []string{"/sub/#top-story < index.html:4"}},
		{"missing anchors", []string{"/sub/#nowhere < index.html:5"}},
		{"maps", []string{"/index.html#nav < index.html:6"}},
		{"missing maps", []string{"/index.html#lost < index.html:7"}},
		{"actions", []string{"/cgi-bin/find < index.html:8"}},
		{"ignored", []string{"/old.html < index.html:11"}},
		{"warnings", []string{"/files/ < index.html:12"}},
	} {
		t.Run(strings.ReplaceAll(c.list, " ", "_"), func(t *testing.T) {
			var got []string
			for _, r := range rows {
				if listRules[c.list](r) {
					got = append(got, label(r)+" < "+r.Page+":"+strconv.Itoa(r.Line))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestShowAllText compares the rows of `--show all` in text.
func TestShowAllText(t *testing.T) {
	var plain, color []byte
	for _, l := range siteLinks() {
		plain = AppendLinkText(plain, &l, nil, TextOptions{Prefix: "public/"})
		color = AppendLinkText(color, &l, nil, TextOptions{Prefix: "public/", Color: true})
	}
	golden(t, "links.text", plain)
	golden(t, "links.color.text", color)
}

func label(r row) string {
	if r.Fragment != "" {
		return r.Target + "#" + r.Fragment
	}
	return r.Target
}
