package report

import (
	"encoding/csv"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sitelink/sitelink/check"
)

// records are answers of each kind, with values that each format has to mind.
func records() []Record {
	l := few().Findings[1].Link()
	l.Raw = "a,b \"c\"\r\n\x00\xff<&>;=1"
	return []Record{
		LinkRecord(&l),
		ExternalRecord("https://a.example/", &check.ExternalTarget{Target: "https://b.example/?a,b", Fragment: "x", Host: "b.example", Path: "/ü \"x\"",
			Anchor: "x\n", Links: 3, Pages: 2, Page: "=1+1.html", Line: 4, Column: 5}),
		AnchorRecord("", check.Anchor{Page: "a.html", Name: " x,\ty ", Kind: "id"}),
		AddressRecord("https://a.example/b/", "a.example", "/b/", check.Address{Path: "/b", File: "index.html", Final: "/b/"}),
		OrphanRecord(&check.OrphanFile{Path: "a.html", IsPage: true, Linked: true, Alias: "../b"}),
		OrphanRecord(&check.OrphanFile{Path: "a.txt"}),
	}
}

// A record is read back from JSON as it was, and the row of a link is that of
// check --show all.
func TestRecordJSON(t *testing.T) {
	for _, r := range records() {
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
	if got, want := string(LinkRecord(&l).AppendJSON(nil)), string(AppendLink(nil, &l)); got != want {
		t.Errorf("the row of a link is\n%s\nin check\n%s", got, want)
	}
}

// RFC 4180, section 2: what encoding/csv reads is what was written.
func TestRecordCSV(t *testing.T) {
	for _, r := range records() {
		text := string(r.AppendCSV(r.AppendCSVHeader(nil)))
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) != 2 {
			t.Fatalf("%v\n%s", err, text)
		}
		if !strings.HasSuffix(text, "\r\n") || !utf8.ValidString(text) {
			t.Errorf("%q is not lines of UTF-8", text)
		}
		for i, f := range r {
			want := strings.ReplaceAll(strings.ToValidUTF8(f.Text, "\uFFFD"), "\r\n", "\n") // as the reader has it
			if f.IsNumber {
				want = strconv.FormatInt(f.Number, 10)
			}
			if rows[0][i] != f.Name || rows[1][i] != want {
				t.Errorf("%s is %q, want %q", rows[0][i], rows[1][i], want)
			}
		}
	}
	if got, want := string(AnchorRecord("s", check.Anchor{Page: `a"b`, Name: "c,d", Kind: "id"}).AppendCSV(nil)), "s,\"a\"\"b\",\"c,d\",id\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzCSV: encoding/csv reads each value back, whatever it is.
func FuzzCSV(f *testing.F) {
	f.Add("a", "b")
	f.Add("\"", ",\r\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		r := Record{textField("a", a), textField("b", b)}
		rows, err := csv.NewReader(strings.NewReader(string(r.AppendCSV(r.AppendCSVHeader(nil))))).ReadAll()
		want := func(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n") }
		if err != nil || len(rows) != 2 || rows[1][0] != want(a) || rows[1][1] != want(b) {
			t.Errorf("%q, %q: %q, %v", a, b, rows, err)
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
