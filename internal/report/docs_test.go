package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
)

const (
	formatsFile = "../../docs/reference/formats.md"
)

// sections returns the names in the first column of the tables of a document,
// by heading.
func sections(t *testing.T, document string) map[string][]string {
	t.Helper()
	doc := testkit.Read(t, document)
	row := regexp.MustCompile("^\\| `?([a-z_ -]+)`? \\|")
	names := map[string][]string{}
	heading := ""
	for line := range strings.Lines(string(doc)) {
		if h, ok := strings.CutPrefix(line, "## "); ok {
			heading = strings.TrimSpace(h)
		} else if m := row.FindStringSubmatch(line); m != nil && m[1] != "field" && m[1] != "code" && m[1] != "list" || m != nil && line[2] == '`' {
			names[heading] = append(names[heading], m[1])
		}
	}
	return names
}

// codes returns the values of all constants of type Code in check/code.go.
func codes(t *testing.T) []string {
	t.Helper()
	file := testkit.Must(parser.ParseFile(token.NewFileSet(), "../../check/code.go", nil, parser.SkipObjectResolution))(t)
	var values []string
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if id, ok := v.Type.(*ast.Ident); !ok || id.Name != "Code" {
				continue
			}
			for _, e := range v.Values {
				text := testkit.Must(strconv.Unquote(e.(*ast.BasicLit).Value))(t)
				values = append(values, text)
			}
		}
	}
	if len(values) == 0 {
		t.Fatal("check/code.go holds no Code")
	}
	return values
}

// same reports what only one of two lists contains.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	for _, x := range want {
		if !slices.Contains(got, x) {
			t.Errorf("%s: the document does not explain %q", what, x)
		}
	}
	for i, x := range got {
		if !slices.Contains(want, x) || slices.Index(got, x) != i {
			t.Errorf("%s: the document explains %q, which does not exist or is listed twice", what, x)
		}
	}
}

// TestDocsFields compares the tables with the keys that are written, in their
// order.
func TestDocsFields(t *testing.T) {
	s := sections(t, formatsFile)
	r := sources()
	r.Findings[0].Count = 2
	r.Findings[0].Related = &check.Related{}
	r.Findings[0].Concerns = &check.Concerns{}
	r.Findings[0].Remote = &check.Remote{}
	r.Summary.External = &check.ExternalSummary{Failing: []check.HostCount{{Host: "a.example", Count: 2}, {Host: "b.example", Count: 1}}}
	r.Summary.Reasons = few().Summary.Reasons
	r.Summary.Baseline = &check.BaselineSummary{}
	r.Summary.UnlistedErrors = 1
	var b bytes.Buffer
	testkit.Check(t, JSON(&b, &r, Options{}))
	var doc struct {
		Findings []json.RawMessage
		Summary  json.RawMessage
	}
	testkit.Check(t, json.Unmarshal(b.Bytes(), &doc))
	first := r.Findings[0].Link()
	if keys := keys(t, AppendLink(nil, &first, nil, "")); keys[len(keys)-1] != "remote" {
		t.Errorf("row: no remote in %q", keys)
	}
	first.Remote = nil
	link := keys(t, AppendLink(nil, &first, nil, ""))
	if got := s["The row of a link"]; !slices.Equal(got, link) {
		t.Errorf("row: docs/reference/formats.md has %q, written is %q", got, link)
	}
	finding := slices.DeleteFunc(keys(t, doc.Findings[0]), func(k string) bool { return slices.Contains(link, k) })
	if got := s["Findings"]; !slices.Equal(got, finding) {
		t.Errorf("finding: docs/reference/formats.md has %q, written is %q", got, finding)
	}
	var added struct{ Remote, External json.RawMessage }
	testkit.Check(t, errors.Join(json.Unmarshal(doc.Findings[0], &added), json.Unmarshal(doc.Summary, &added)))
	if got, want := s["Links to other sites"], append(keys(t, added.Remote), keys(t, added.External)...); !slices.Equal(got, want) {
		t.Errorf("other sites: docs/reference/formats.md has %q, written is %q", got, want)
	}
	if want := `"failing":[{"host":"a.example","count":2},{"host":"b.example","count":1}],"blocked":[]`; !bytes.Contains(added.External, []byte(want)) {
		t.Errorf("no %s in %s", want, added.External)
	}
	document := append(keys(t, b.Bytes()), keys(t, doc.Summary)...)
	if got := s["The JSON document"]; !slices.Equal(got, document) {
		t.Errorf("document: docs/reference/formats.md has %q, written is %q", got, document)
	}
	text := testkit.Read(t, formatsFile)
	for _, inner := range []string{"file", "line", "column", "code", "count", "name", "links", "faults", "expired", "unneeded"} { // of source, reasons and baseline
		if !strings.Contains(string(text), "`"+inner+"`") {
			t.Errorf("docs/reference/formats.md does not name %q", inner)
		}
	}
}

// TestDocsExamples: every line of the text example is in a golden report, and
// the example row is a golden row.
func TestDocsExamples(t *testing.T) {
	doc := testkit.Read(t, formatsFile)
	_, rest, _ := strings.Cut(string(doc), "## Text\n\n```\n")
	example, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("no example under Text")
	}
	var reports bytes.Buffer
	for _, c := range results() {
		testkit.Check(t, Text(&reports, &c.result, c.opt))
	}
	for line := range strings.Lines(example) {
		if !strings.Contains("\n"+reports.String(), "\n"+line) {
			t.Errorf("no golden report holds the line %q", line)
		}
	}
	row := siteLinks()[0]
	if want := AppendLink(nil, &row, nil, ""); !bytes.Contains(doc, want) {
		t.Errorf("the example row is not %s", want)
	}
}

// keys returns the keys of a JSON object in their order.
func keys(t *testing.T, object []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil { // {
		t.Fatal(err)
	}
	var names []string
	for d.More() {
		key := testkit.Must(d.Token())(t)
		names = append(names, key.(string))
		var value json.RawMessage
		testkit.Check(t, d.Decode(&value))
	}
	return names
}

// TestDocsLists: the document describes the lists that TestLL107 tests.
func TestDocsLists(t *testing.T) {
	var names []string
	for name := range listRules {
		names = append(names, name)
	}
	same(t, "lists", sections(t, formatsFile)["Lists"], names)
}
