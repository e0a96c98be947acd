//go:build integration

package report

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
)

// attacks are texts with which a page could try to become more than text in a
// comment.
var attacks = []string{
	"@org/team", "see #1 and GH-2", "http://evil.example/", "www.evil.example", "[a](http://evil.example)", "![a](http://evil.example/x.png)",
	"<img src=x onerror=y>", "<!--", "</details>", "`", "``` `` `", "`@org`", "\\`@org\\`", "# heading", "- item", "> quote", "1. one", "***",
	"&lt;b&gt;", "a\n\n# b", "~~~", "<https://evil.example>", "a@example.org", "|a|b|", "[^1]", "[ ] x", "=\n===", "\u202e@x", ": www.x",
}

// evil has every attack in every value that a report shows.
func evil() check.Result {
	var r check.Result
	for _, a := range attacks {
		for _, b := range []string{a, "text " + a, a + " text", a + a} {
			r.Findings = append(r.Findings, check.Finding{Page: b, Line: 1, Element: "a", Attribute: "href", Raw: b, Target: b, Fragment: b,
				Verdict: check.Error, Code: check.MissingFragment, Message: b, Suggestion: b, Count: 1},
				check.Finding{Page: b, Verdict: check.Warning, Code: check.ReadError, Message: b,
					Source: &check.Position{File: b, Line: 2}, Count: 1})
		}
		r.Summary.UnusedIgnores = append(r.Summary.UnusedIgnores, a)
		r.Summary.Docroot, r.Summary.Profile = a, a
	}
	return r
}

// TestReaders uses real readers (testdata/readers): SARIF is valid against the
// official schema, text of a site is only text in Markdown, and JUnit readers
// can distinguish the tests.
func TestReaders(t *testing.T) {
	dir := t.TempDir()
	readers := filepath.Join(dir, "readers.exe")
	build := exec.Command("go", "build", "-o", readers, ".")
	build.Dir = filepath.Join("testdata", "readers")
	testkit.Run(t, build)
	read := func(kind string, files ...string) (string, error) {
		cmd := exec.Command(readers, append([]string{kind}, files...)...)
		cmd.Dir = filepath.Join("testdata", "readers") // its module knows where the schema is
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	save := func(name string, text []byte) string {
		file := filepath.Join(dir, name)
		testkit.Check(t, os.WriteFile(file, text, 0o644))
		return file
	}
	cases := append(results(), fixture{name: "many", result: many(30_000)}, fixture{name: "evil", result: evil()})
	for _, kind := range []string{"sarif", "markdown", "junit"} {
		format, _ := ByName(kind)
		var files []string
		for _, c := range cases {
			for by := GroupCause; by <= GroupOwner; by++ {
				if by != GroupCause && !format.Groups {
					continue
				}
				opt := testOptions(by)
				opt.Owners = func(file string) string { return file }
				files = append(files, save(fmt.Sprintf("%s.by-%v.%s", c.name, by, kind), write(t, format, &c.result, opt)))
			}
		}
		out, err := read(kind, files...)
		if err != nil || strings.Count(out, "ok ") != len(files) {
			t.Errorf("%s: %v\n%.5000s", kind, err, out)
		}
		t.Logf("%d reports read as %s", len(files), kind)
	}
	// The readers report what is wrong.
	r := few()
	sarif := write(t, Format{Name: "sarif", Write: SARIF}, &r, Options{})
	for _, c := range [][2]string{{`"level":"error"`, `"level":"bad"`}, {`"uri":"blog/index.html"`, `"uri":"%zz"`}, {`"version":"2.1.0"`, `"version":"2"`}, {`"startColumn":18`, `"startColumn":0`}} {
		broken := bytes.Replace(sarif, []byte(c[0]), []byte(c[1]), 1)
		if bytes.Equal(broken, sarif) {
			t.Errorf("the report has no %s", c[0])
		}
		if out, err := read("sarif", save("broken.sarif", broken)); err == nil {
			t.Errorf("%s is accepted: %s", c[1], out)
		}
	}
	for _, text := range []string{"<testsuites></testsuites>", `<testsuites><testsuite name="a"></testsuite></testsuites>`, "<testsuites>"} {
		if out, err := read("junit", save("broken.junit", []byte(text))); err == nil {
			t.Errorf("%s is accepted: %s", text, out)
		}
	}
	for _, a := range []string{"@org", "http://evil.example/", "<b>", "[a](b)", "see #1"} {
		if out, err := read("markdown", save("broken.markdown", []byte("### x\n\n- "+a+"\n"))); err == nil {
			t.Errorf("%s is accepted: %s", a, out)
		}
	}
}
