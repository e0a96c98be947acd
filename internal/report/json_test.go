package report

import (
	"bytes"
	"encoding/json"
	"path"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/text"
)

// row is the contract of AppendLink, for encoding/json.
type row struct {
	Page      string `json:"page"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	Offset    int64  `json:"offset"`
	Element   string `json:"element"`
	Attribute string `json:"attribute"`
	Raw       string `json:"raw"`
	Target    string `json:"target"`
	Fragment  string `json:"fragment"`
	Verdict   string `json:"verdict"`
	Code      string `json:"code"`
	Status    int    `json:"status"`
	Final     string `json:"final"`
}

// findingRow adds what only findings have.
type findingRow struct {
	row
	File       string       `json:"file"`
	Source     *positionRow `json:"source,omitempty"`
	Suggestion string       `json:"suggestion,omitempty"`
	Related    []relatedRow `json:"related,omitempty"`
	Message    string       `json:"message"`
	Count      int          `json:"count,omitempty"`
	Cause      string       `json:"cause"`
}

type positionRow struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Kind   string `json:"kind,omitempty"`
	Module string `json:"module,omitempty"`
}

type relatedRow struct {
	positionRow
	Text string `json:"text"`
}

func positionOf(p *check.Position) positionRow {
	return positionRow{p.File, p.Line, p.Column, string(p.Kind), p.Module}
}

func rowOf(f check.Link) row {
	return row{f.Page, f.Line, f.Column, f.Offset, f.Element, f.Attribute, f.Raw, f.Target,
		f.Fragment, f.Verdict.String(), string(f.Code), f.Status, f.Final}
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	testkit.Check(t, e.Encode(v))
	return string(text.EscapeHidden(b.Bytes()))
}

// TestJSONHidden: no character of a site reaches a terminal that could control it or
// reorder the text, and a reader gets the exact value.
func TestJSONHidden(t *testing.T) {
	var value string
	for r := rune(0); r < 0x3000; r++ {
		value += string(r)
	}
	value += "\ufeff\ufff9\ufffa\ufffb\U000e0001\U000e0041\U000e007f\U0001f600"
	var indented bytes.Buffer
	testkit.Check(t, JSONDocument(&indented, value))
	for _, text := range []string{string(AppendString(nil, value)), strings.TrimSpace(indented.String())} {
		for _, r := range text {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && unicode.Is(unicode.Bidi_Control, r) || r == 0xfeff || r == 0x200b || r == 0xad || r >= 0xfff9 && r <= 0xfffb || r >= 0xe0000 {
				t.Errorf("%U is not escaped", r)
			}
		}
		if !strings.Contains(text, "\U0001f600") || !strings.Contains(text, "é") {
			t.Error("a visible character is escaped")
		}
		var back string
		if err := json.Unmarshal([]byte(text), &back); err != nil || back != value {
			t.Errorf("the value was changed, %v", err)
		}
	}
}

func TestAppendLinkContract(t *testing.T) {
	l := check.Link{Page: "a/b.html", Line: 3, Column: 4, Offset: 55, Element: "a", Attribute: "href",
		Raw: "../c?x=1&y=<2>#d", Target: "/c?x=1&y=%3C2%3E", Fragment: "d", Verdict: check.Error,
		Code: check.MissingFragment, Status: 200, Final: "/c.html", File: "no", Message: "no"}
	want := `{"page":"a/b.html","line":3,"column":4,"offset":55,"element":"a","attribute":"href",` +
		`"raw":"../c?x=1&y=<2>#d","target":"/c?x=1&y=%3C2%3E","fragment":"d","verdict":"error",` +
		`"code":"missing-fragment","status":200,"final":"/c.html"}` + "\n"
	if got := string(AppendLink([]byte("kept"), &l, nil, "")); got != "kept"+want {
		t.Errorf("got  %s\nwant kept%s", got, want)
	}
	source := &check.Position{File: "themes/x.html", Line: 2, Column: 3, Kind: check.InTemplate, Module: "x"}
	sourced := strings.Replace(want, "}\n", `,"source":{"file":"themes/x.html","line":2,"column":3,"kind":"template","module":"x"},"cause":"0123456789abcdef"}`+"\n", 1)
	if got := string(AppendLink([]byte("kept"), &l, source, "0123456789abcdef")); got != "kept"+sourced {
		t.Errorf("got  %s\nwant kept%s", got, sourced)
	}
	l.Evidence = `app.js "reads"`
	evidence := strings.Replace(want, "}\n", `,"evidence":"app.js \"reads\""}`+"\n", 1)
	if got := string(AppendLink(nil, &l, nil, "")); got != evidence {
		t.Errorf("got  %s\nwant %s", got, evidence)
	}
	zero := `{"page":"","line":0,"column":0,"offset":0,"element":"","attribute":"","raw":"","target":"",` +
		`"fragment":"","verdict":"ok","code":"","status":0,"final":""}` + "\n"
	if got := string(AppendLink(nil, &check.Link{}, nil, "")); got != zero {
		t.Errorf("got  %s\nwant %s", got, zero)
	}
	if got := string(AppendLink(nil, &check.Link{}, nil, "")); got != zero {
		t.Errorf("got  %s\nwant %s", got, zero)
	}
}

// TestFindingFields reads JSON Lines and JSON and compares them with the
// findings.
func TestFindingFields(t *testing.T) {
	for _, c := range results() {
		t.Run(c.name, func(t *testing.T) {
			var lines, doc bytes.Buffer
			testkit.Check(t, JSONL(&lines, &c.result, testOptions(GroupCause)))
			testkit.Check(t, JSON(&doc, &c.result, testOptions(GroupCause)))
			want := ""
			rows := []findingRow{}
			ids := CauseIDs(c.result.Findings)
			for i := range c.result.Findings {
				f := &c.result.Findings[i]
				r := findingRow{row: rowOf(f.Link()), File: path.Join("public", f.Page), Suggestion: f.Suggestion, Message: f.Message, Cause: ids[i]}
				if f.Count > 1 {
					r.Count = f.Count
				}
				if p := f.Source; p != nil {
					source := positionOf(p)
					r.Source = &source
				}
				if f.Related != nil {
					r.Related = []relatedRow{{positionOf(&f.Related.Position), f.Related.Text}}
				}
				want += encoded(t, r)
				rows = append(rows, r)
			}
			if got := lines.String(); got != want {
				t.Errorf("JSONL differs from encoding/json\n%s", firstDifference([]byte(got), []byte(want)))
			}
			var read struct {
				Schema   int
				Findings []findingRow
				Summary  map[string]any
			}
			testkit.Check(t, json.Unmarshal(doc.Bytes(), &read))
			if read.Schema != 1 || read.Findings == nil || read.Summary["reasons"] == nil || read.Summary["unused_ignores"] == nil {
				t.Errorf("schema %d, findings %v, summary %v", read.Schema, read.Findings, read.Summary)
			}
			var fromLines []findingRow
			for line := range strings.Lines(want) {
				var r findingRow
				testkit.Check(t, json.Unmarshal([]byte(line), &r))
				fromLines = append(fromLines, r)
			}
			if len(rows) > 0 && !reflect.DeepEqual(read.Findings, fromLines) {
				t.Errorf("JSON and JSONL have different findings")
			}
			if got := read.Summary["links"]; got != float64(c.result.Summary.Links) {
				t.Errorf("summary links = %v, want %d", got, c.result.Summary.Links)
			}
		})
	}
}

// FuzzAppendLink: the row equals what encoding/json writes for a struct with
// the same fields, with hidden characters escaped.
func FuzzAppendLink(f *testing.F) {
	seeds := 0
	for _, c := range results() {
		for _, x := range c.result.Findings {
			f.Add(x.Page, x.Raw, x.Target, x.Fragment, x.Element, int64(x.Line), x.Offset, uint8(x.Verdict))
			seeds++
		}
	}
	if seeds == 0 {
		f.Fatal("no seeds")
	}
	for c := range 256 { // every byte at every place of a word
		f.Add(strings.Repeat("x", c%9)+string([]byte{byte(c)})+strings.Repeat("y", c%17), "", "", "", "", int64(-c), int64(c), uint8(c))
	}
	f.Fuzz(func(t *testing.T, page, raw, target, fragment, element string, line, offset int64, verdict uint8) {
		x := check.Link{Page: page, Line: int(line), Column: int(offset), Offset: offset, Element: element,
			Attribute: fragment + raw, Raw: raw, Target: target, Fragment: fragment, Verdict: check.Verdict(verdict),
			Code: check.Code(element + page), Status: int(line), Final: raw + target}
		got, want := string(AppendLink(nil, &x, nil, "")), encoded(t, rowOf(x))
		if got != want {
			t.Errorf("\n got %q\nwant %q", got, want)
		}
	})
}

func benchRow() check.Link {
	return check.Link{Page: "rust/std/collections/hash_map/struct.HashMap.html", Line: 412, Column: 71, Offset: 80412,
		Element: "a", Attribute: "href", Raw: "../../iter/trait.Iterator.html#method.map",
		Target: "/rust/std/iter/trait.Iterator.html", Fragment: "method.map", Verdict: check.OK, Status: 200}
}

func TestAppendLinkAllocatesNothing(t *testing.T) {
	f := benchRow()
	buf := make([]byte, 0, 1<<10)
	if n := testing.AllocsPerRun(100, func() { buf = AppendLink(buf[:0], &f, nil, "") }); n != 0 {
		t.Errorf("%v allocations a row, want 0", n)
	}
}
