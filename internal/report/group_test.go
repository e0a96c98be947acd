package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
)

// TestGroupOrder tests the order of the headings and what they count.
func TestGroupOrder(t *testing.T) {
	r := fromTemplate()
	r.Findings = append(r.Findings,
		check.Finding{Page: "z.html", Verdict: check.Warning, Code: check.ReadError, Message: "cannot be read", Count: 1})
	for by, want := range map[GroupBy]string{
		GroupTarget: "/old/:16/8 /gone-0.css:6/6 /gone-1.css:5/5 /a.html#x:4/4 /gone-2.css:4/4 /gone-3.css:3/3 /gone-4.css:2/2 " +
			"/a.html#post/0.html:1/1 /a.html#post/1.html:1/1 /a.html#post/2.html:1/1 /a.html#post/3.html:1/1 /gone-5.css:1/1 " +
			"/src/view.html:1204/1 :1/1",
		GroupCode:  "missing-file:37/8 missing-fragment:8/4 read-error:1/1 script-fragment:1204/1",
		GroupOwner: "@web:45/8 :1205/2",
	} {
		opt := testOptions(by)
		var got []string
		n := 0
		for _, g := range groupFindings(r.Findings, &opt) {
			got = append(got, fmt.Sprintf("%s:%d/%d", g.label, g.links, g.pages))
			n += len(g.findings)
			if g.errors+g.warnings != len(g.findings) {
				t.Errorf("by %v: %s counts %d errors and %d warnings of %d", by, g.label, g.errors, g.warnings, len(g.findings))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("by %v:\n got %s\nwant %s", by, strings.Join(got, " "), want)
		}
		if n != len(r.Findings) {
			t.Errorf("by %v: %d of %d findings", by, n, len(r.Findings))
		}
	}
}

// TestGroupOwnerOfSource: the owner is that of the source file if it is known,
// otherwise that of the page in the docroot.
func TestGroupOwnerOfSource(t *testing.T) {
	asked := map[string]int{}
	opt := Options{Base: "public", GroupBy: GroupOwner, Owners: func(file string) string { asked[file]++; return "@" + file }}
	r := sources()
	r.Findings = append(r.Findings, check.Finding{Page: "b.html"}, check.Finding{Page: "b.html"})
	groupFindings(r.Findings, &opt)
	if fmt.Sprint(asked) != "map[content/post/a.md:1 layouts/head.html:1 public/b.html:1 themes/nice/layouts/nav.html:1]" {
		t.Errorf("asked for %v", asked)
	}
}

// many returns a result of n findings: every tenth page links to /common.html,
// the others to their own targets; every fifth finding is a warning.
func many(n int) check.Result {
	r := check.Result{Findings: make([]check.Finding, n)}
	for i := range r.Findings {
		page := i / 3
		f := check.Finding{Page: fmt.Sprintf("section-%02d/page-%06d/index.html", page%50, page), Line: 10 + i%3, Column: 9,
			Offset: int64(400 + 60*(i%3)), Element: "a", Attribute: "href", Verdict: check.Error, Code: check.MissingFile,
			Status: 404, Count: 1}
		f.Raw = fmt.Sprintf("/gone/%d.html", i)
		if page%10 == 0 && i%3 == 0 {
			f.Raw = "/common.html"
		}
		f.Target = f.Raw
		f.Message = "file not found: " + f.Target
		if i%5 == 0 {
			f.Verdict, f.Code, f.Message = check.Warning, check.DoubleSlash, "an empty segment in "+f.Target
			r.Summary.Warnings++
		} else {
			r.Summary.Errors++
		}
		r.Findings[i] = f
	}
	r.Summary.Docroot, r.Summary.Profile, r.Summary.Pages, r.Summary.Links = "public", "generic", n/3, n
	return r
}
