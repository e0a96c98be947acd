package report

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
)

// broken returns n findings about one link on the pages p00000.html and
// following.
func broken(n int, link string) []check.Finding {
	fs := make([]check.Finding, n)
	for i := range fs {
		fs[i] = check.Finding{Page: fmt.Sprintf("p%05d.html", i), Line: 3, Column: 9, Element: "a", Attribute: "href", Raw: link, Target: link,
			Verdict: check.Error, Code: check.MissingFile, Message: "file not found: " + link, Count: 1}
	}
	return fs
}

func asText(t *testing.T, r *check.Result, opt TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	testkit.Check(t, Text(&b, r, opt))
	return b.String()
}

// TestTextCauses: a link of many pages is one entry, which says on how many
// pages, and the summary counts errors and causes.
func TestTextCauses(t *testing.T) {
	r := check.Result{Findings: broken(194, "/gone/")}
	at := &check.Position{File: "layouts/nav.html", Line: 9, Column: 12, Kind: check.InTemplate}
	for i := range 30 {
		f := r.Findings[i]
		f.Raw, f.Target = fmt.Sprintf("/v%d/", i), fmt.Sprintf("/v%d/", i)
		f.Message, f.Source, f.Offset = "file not found: "+f.Raw, at, 100
		f.Suggestion = f.Raw + "x"
		if i == 7 {
			f.Verdict, f.Code = check.Warning, check.ViaRedirect
		}
		r.Findings = append(r.Findings, f)
	}
	want := `public/p00000.html:3:9: error: file not found: /gone/ [missing-file]
    <a href="/gone/">
    on 194 pages, first on this one
layouts/nav.html:9:12: error: file not found: /v0/ [missing-file]
    <a href="/v0/">, one of 30 links
    other targets: /v1/, /v2/, /v3/, /v4/, /v5/ and 24 more
    from a template, on 30 pages, first on public/p00000.html, line 3, column 9; 29 errors, 1 warning

checked 0 pages, 0 links, 0 anchors: 223 errors, 1 warning; 2 causes
`
	if got := asText(t, &r, TextOptions{Prefix: "public"}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for i := range 30 { // each target is in a report of everything, and in those for machines
		var sarif, gitlab bytes.Buffer
		testkit.Check(t, errors.Join(SARIF(&sarif, &r, Options{}), GitLab(&gitlab, &r, Options{})))
		all := asText(t, &r, TextOptions{All: true})
		for _, got := range []string{all, sarif.String(), gitlab.String()} {
			if name := fmt.Sprintf("/v%d/", i); !strings.Contains(got, name) {
				t.Errorf("no %s in\n%s", name, got)
			}
		}
	}
}

// TestTextLimits: the list has at most 60 entries and 200 lines with the
// summary, explains 90 % of the errors where that is possible, and counts the
// rest; --all lists everything.
func TestTextLimits(t *testing.T) {
	rest := regexp.MustCompile(`(?m)^not listed: ([0-9,]+) causes? of (.*), at most ([0-9,]+) links? each; .*--all.*--format html$`)
	for _, c := range []struct {
		name    string
		causes  []int // findings of each
		entries int
	}{
		{"few", []int{5, 1, 1}, 3},
		{"sixty", repeat(1, 60), 60},
		{"sixty-one", repeat(1, 61), 55},
		{"one explains all", append([]int{2000}, repeat(1, 150)...), 20},
		{"five explain most", append(repeat(100, 5), repeat(1, 100)...), 45},
		{"thirty explain most", append(repeat(30, 30), repeat(1, 100)...), 30},
		{"nothing explains", repeat(2, 300), 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r check.Result
			errors := 0
			for i, n := range c.causes {
				r.Findings = append(r.Findings, broken(n, fmt.Sprintf("/gone-%d/", i))...)
				errors += n
			}
			got := asText(t, &r, TextOptions{})
			entries := strings.Count(got, " error: ")
			if lines := strings.Count(got, "\n"); lines > maxLines || entries != c.entries {
				t.Errorf("%d entries in %d lines, want %d entries", entries, lines, c.entries)
			}
			m := rest.FindStringSubmatch(got)
			switch {
			case entries == len(c.causes):
				if m != nil {
					t.Errorf("all causes are listed, and the report says %q", m[0])
				}
				return
			case m == nil:
				t.Fatalf("nothing counts the causes that are not listed:\n%s", got)
			}
			left, _ := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
			most, _ := strconv.Atoi(m[3])
			if left != len(c.causes)-entries || most > 2 && entries < maxEntries {
				t.Errorf("%d of %d causes are listed, and the report says %q", entries, len(c.causes), m[0])
			}
			if got := strings.Count(asText(t, &r, TextOptions{All: true}), " error: "); got != len(c.causes) {
				t.Errorf("--all lists %d of %d causes", got, len(c.causes))
			}
		})
	}
}

func repeat(n, times int) []int {
	list := make([]int, times)
	for i := range list {
		list[i] = n
	}
	return list
}

// TestTextLines: long entries end the list before it has 200 lines.
func TestTextLines(t *testing.T) {
	r := check.Result{Findings: broken(100, "/gone/")}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Target = "/gone-" + strconv.Itoa(i)
		f.Source = &check.Position{File: f.Page, Line: 1, Column: 1}
		f.Suggestion = "/near/"
		f.Related = &check.Related{Text: "heading"}
	}
	if lines := strings.Count(asText(t, &r, TextOptions{}), "\n"); lines > maxLines || lines < maxLines-5 {
		t.Errorf("%d lines, want at most %d", lines, maxLines)
	}
}

// TestFamilies: three causes with the same kind of target are one entry, which
// counts them and comes first if it explains most; two are not; --all lists each.
func TestFamilies(t *testing.T) {
	r := check.Result{Findings: broken(5, "/big/")}
	for i, to := range []string{"/docs/v1/a/", "/docs/v1.2/a/", "/docs/2024/a/", "/de/b/", "/pt-br/b/", "/c-1/", "/c-2/", "/c-3/"} {
		f := broken(2, to)
		for n := range f {
			f[n].Source = &check.Position{File: fmt.Sprintf("content/%d.md", i), Line: 1, Column: 2}
		}
		r.Findings = append(r.Findings, f...)
	}
	for i := range 7 {
		f := broken(1, "/page/")[0]
		f.Code, f.Fragment, f.Line, f.Raw = check.MissingFragment, fmt.Sprint("id", i), 10+i, fmt.Sprint("/page/#id", i)
		r.Findings = append(r.Findings, f)
	}
	got := asText(t, &r, TextOptions{})
	want := `p00000.html:10:9: error: file not found: /page/ [missing-fragment]
    <a href="/page/#id0">
    6 more causes with links to ids missing on /page/; in all 7 errors
    p00000.html:11:9: <a href="/page/#id1">
    p00000.html:12:9: <a href="/page/#id2">
    p00000.html:13:9: <a href="/page/#id3">
    p00000.html:14:9: <a href="/page/#id4">
    p00000.html:15:9: <a href="/page/#id5">
    p00000.html:16:9: <a href="/page/#id6">
content/0.md:1:2: error: file not found: /docs/v1/a/ [missing-file]
    <a href="/docs/v1/a/">
    on 2 pages, first on p00000.html, line 3, column 9
    2 more causes with links to /docs/*/a/ or below; in all 6 errors
    content/1.md:1:2: <a href="/docs/v1.2/a/">
    content/2.md:1:2: <a href="/docs/2024/a/">
p00000.html:3:9: error: file not found: /big/ [missing-file]
`
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant at its begin\n%s", got, want)
	}
	if n := strings.Count(got, " error: "); n != 8 {
		t.Errorf("%d entries, want 8:\n%s", n, got)
	}
	if n := strings.Count(asText(t, &r, TextOptions{All: true}), " error: "); n != 16 {
		t.Errorf("--all has %d entries, want 16", n)
	}
}

// TestFamilyCodes: a family has causes of one code, and says the code of one that differs.
func TestFamilyCodes(t *testing.T) {
	var r check.Result
	for i, code := range []check.Code{check.MissingFile, check.MissingFile, check.MissingDirectory, check.ServerDependent, check.MissingFile} {
		f := broken(1, fmt.Sprintf("/old/v%d/", i))
		f[0].Code, f[0].Source = code, &check.Position{File: fmt.Sprintf("%d.md", i), Line: 1, Column: 2}
		r.Findings = append(r.Findings, f...)
	}
	got := asText(t, &r, TextOptions{})
	if n := strings.Count(got, " error: "); n != 2 || !strings.Contains(got, "3 more causes") {
		t.Errorf("%d entries, want one for 4 causes and one for the other:\n%s", n, got)
	}
	if !strings.Contains(got, "2.md:1:2: <a href=\"/old/v2/\"> [missing-directory]\n") || strings.Count(got, "[missing-file]") != 1 {
		t.Errorf("the code that differs is not said:\n%s", got)
	}
}

// TestScriptFragments: hundreds of links of one template to ids that their page lacks
// are one line after all others, with the rule that accepts them.
func TestScriptFragments(t *testing.T) {
	links := func(page string, n int, raw func(i int) string) (fs []check.Finding) {
		for i := range n {
			f := broken(1, "/"+page)[0]
			f.Code, f.Page, f.Raw, f.Fragment = check.MissingFragment, page, raw(i), raw(i)[1:]
			f.Source = &check.Position{File: "tags.njk", Line: 6, Column: 16, Kind: check.InTemplate}
			fs = append(fs, f)
		}
		return fs
	}
	same := func(int) string { return "#_" }
	tag := func(i int) string { return fmt.Sprint("#tag", i) }
	slip := broken(1, "/gone/")
	for _, tc := range []struct {
		name  string
		links []check.Finding
		rule  string
	}{
		{"one_value", links("a.html", manyScript, same), "url=#_"},
		{"one_page", links("a.html", manyScript, tag), "page=a.html,url=#**"},
		{"few", links("a.html", manyScript-1, same), ""},
		{"values_on_pages", append(links("a.html", manyScript, tag), links("b.html", 1, tag)...), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := check.Result{Findings: append(slices.Clone(tc.links), slip...)}
			got, _, _ := strings.Cut(asText(t, &r, TextOptions{}), "\n\n")
			lines := strings.Split(got, "\n")
			last := lines[len(lines)-1]
			if tc.rule == "" {
				if strings.Contains(got, "--ignore") {
					t.Errorf("got\n%s", got)
				}
				return
			}
			if !strings.HasPrefix(last, "tags.njk:6:16: error: ") || !strings.HasSuffix(last, "accept them with --ignore '"+tc.rule+"'") || len(lines) != 3 {
				t.Errorf("got\n%s", got)
			}
			for i := range r.Findings {
				r.Findings[i].Suggestion = "#near"
			}
			if got := asText(t, &r, TextOptions{}); strings.Contains(got, "--ignore") {
				t.Errorf("with suggestions:\n%s", got)
			}
		})
	}
}
