package report

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/docs"
	"github.com/sitelink/sitelink/internal/testkit"
)

// testOptions are the options in a project with the docroot public.
func testOptions(by GroupBy) Options {
	return Options{TextOptions: TextOptions{Prefix: "public"}, Base: "public", GroupBy: by, Version: "v1.2.3", Owners: testOwners}
}

func testOwners(file string) string {
	switch {
	case strings.HasPrefix(file, "content/"), strings.HasPrefix(file, "public/blog/"):
		return "@writers, eve@example.org"
	case strings.HasPrefix(file, "public/post/"):
		return "@web"
	}
	return ""
}

// TestFormatsGolden writes every result in every format. TestGolden does so for
// text, JSON and JSONL, TestHTMLGolden for html.
func TestFormatsGolden(t *testing.T) {
	for _, c := range results() {
		for _, f := range Formats {
			if slices.Contains([]string{"text", "json", "jsonl", "html"}, f.Name) {
				continue
			}
			t.Run(c.name+"/"+f.Name, func(t *testing.T) {
				got := write(t, f, &c.result, testOptions(GroupCause))
				if f.Name == "sarif" { // the rules are the same in all, and grow with every code: TestRules
					got = regexp.MustCompile(`"rules":\[.*"shortDescription":\{"text":"[^"]*"\}\}\]`).ReplaceAll(got, []byte(`"rules":[...]`))
				}
				golden(t, c.name+"."+f.Name, got)
			})
		}
	}
}

// TestGroupsGolden uses --group-by in the formats that support it, and expects
// no change in the others.
func TestGroupsGolden(t *testing.T) {
	for _, c := range results() {
		for _, f := range Formats {
			for _, by := range []GroupBy{GroupPage, GroupTarget, GroupCode, GroupOwner} {
				got := write(t, f, &c.result, testOptions(by))
				switch {
				case f.Groups && slices.Contains([]string{"template", "faults", "sources"}, c.name):
					golden(t, c.name+".by-"+groupNames[by]+"."+f.Name, got)
				case !f.Groups:
					if !bytes.Equal(got, write(t, f, &c.result, testOptions(GroupCause))) {
						t.Errorf("%s changes with --group-by %s", f.Name, groupNames[by])
					}
				}
			}
		}
	}
}

// write writes a report twice and returns its bytes.
func write(t *testing.T, f Format, r *check.Result, opt Options) []byte {
	t.Helper()
	var got, again bytes.Buffer
	for _, b := range []*bytes.Buffer{&got, &again} {
		testkit.Check(t, f.Write(b, r, opt))
	}
	if !bytes.Equal(got.Bytes(), again.Bytes()) {
		t.Errorf("%s: two runs over one result differ", f.Name)
	}
	return got.Bytes()
}

// TestFormatErrors: every format returns the writer's error, accepts zero
// options and does not change the result.
func TestFormatErrors(t *testing.T) {
	full := errors.New("disk full")
	if err := TextSummary(errorWriter{full}, &check.Result{}, TextOptions{}); !errors.Is(err, full) {
		t.Errorf("summary: %v", err)
	}
	for _, f := range Formats {
		r := fromTemplate()
		if err := f.Write(errorWriter{full}, &r, Options{}); !errors.Is(err, full) || !strings.HasPrefix(err.Error(), "write report: ") {
			t.Errorf("%s: %v, want the writer's error", f.Name, err)
		}
		if err := f.Write(io.Discard, &r, Options{}); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		if want := fromTemplate(); !slices.Equal(r.Findings, want.Findings) {
			t.Errorf("%s changed the findings", f.Name)
		}
	}
}

type errorWriter struct{ err error }

func (w errorWriter) Write([]byte) (int, error) { return 0, w.err }

// TestFormatsAreQuiet: no format writes a control character from a page or a
// file name.
func TestFormatsAreQuiet(t *testing.T) {
	r := hostile()
	for _, f := range Formats {
		for _, by := range []GroupBy{GroupCause, GroupPage, GroupTarget, GroupCode, GroupOwner} {
			got := write(t, f, &r, testOptions(by))
			for i, c := range got {
				exact := f.Name == "json" || f.Name == "jsonl" // and so may hold DEL
				if c < 0x20 && c != '\n' || c == 0x7f && !exact {
					t.Fatalf("%s: byte %#x at %d: %q", f.Name, c, i, got[max(0, i-40):min(len(got), i+10)])
				}
			}
		}
	}
}

// TestDocsFormats: docs/reference/formats.md lists the formats in their order,
// with their readers.
func TestDocsFormats(t *testing.T) {
	doc := testkit.Read(t, formatsFile)
	head, _, _ := strings.Cut(string(doc), "\n## ")
	row := regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| ([^|]+) \\|")
	var got, want []string
	for _, m := range row.FindAllStringSubmatch(head, -1) {
		got = append(got, m[1]+": "+m[2])
	}
	for _, f := range Formats {
		want = append(want, f.Name+": "+f.For)
		if same, ok := ByName(f.Name); !ok || same.Name != f.Name {
			t.Errorf("ByName does not find %s", f.Name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("documented\n%q\nthere are\n%q", got, want)
	}
	if _, ok := ByName("nosuch"); ok {
		t.Error("ByName finds a format that does not exist")
	}
}

// TestRules: the document explains every code, with cause, cure and a finding.
func TestRules(t *testing.T) {
	var got []string
	for _, c := range docs.Codes() {
		got = append(got, c.Name)
		if c.Level != "" && (!strings.HasSuffix(c.Cure, ".") || strings.Contains(c.Cause+c.Cure, "`")) {
			t.Errorf("%+v", c)
		}
		first, _, _ := strings.Cut(c.Finding, "\n")
		if c.Level != "" && !strings.HasSuffix(first, " ["+c.Name+"]") {
			t.Errorf("%s: the finding is %q", c.Name, first)
		}
	}
	same(t, "codes", got, codes(t))
}

// TestDocsReports: the examples of docs/reference/formats.md are what is
// written.
func TestDocsReports(t *testing.T) {
	doc := testkit.Read(t, "../../docs/reference/formats.md")
	r := fromTemplate()
	var reports strings.Builder
	for _, name := range []string{"github", "text"} {
		f, _ := ByName(name)
		reports.Write(write(t, f, &r, testOptions(GroupTarget)))
	}
	_, forServers, _ := strings.Cut(string(doc), "\n## Reports for CI servers\n")
	examples := 0
	for _, block := range regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$").FindAllStringSubmatch(forServers, -1) {
		if block[1] != "" { // a configuration, not a report
			continue
		}
		for line := range strings.Lines(block[2]) {
			examples++
			if !strings.Contains("\n"+reports.String(), "\n"+line) {
				t.Errorf("no report holds the line %q", line)
			}
		}
	}
	if examples < 4 {
		t.Errorf("%d lines of examples", examples)
	}
	for _, f := range Formats {
		if !strings.Contains(string(doc), "`"+f.Name+"`") {
			t.Errorf("docs/reference/formats.md does not name %s", f.Name)
		}
		if f.Groups != (f.Name == "text" || f.Name == "markdown") || f.Lists != (f.Name == "text" || f.Name == "jsonl") {
			t.Errorf("docs/reference/formats.md is wrong about the headings or lists of %s", f.Name)
		}
	}
	for _, name := range groupNames {
		if !strings.Contains(string(doc), "\n| `"+name+"` |") {
			t.Errorf("docs/reference/formats.md does not explain --group-by %s", name)
		}
	}
}
