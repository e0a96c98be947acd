package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
)

// TestRepeats: text lists three links through one redirect and counts the rest;
// broken links it lists all.
func TestRepeats(t *testing.T) {
	var r check.Result
	for i := range 10 {
		for _, f := range []check.Finding{
			{Target: "/old", Code: check.ViaRedirect, Verdict: check.Warning, Message: "/old redirects to /new"},
			{Target: "/gone", Code: check.MissingFile, Verdict: check.Error, Message: "no file answers /gone"},
		} {
			f.Page, f.Line, f.Column, f.Element, f.Attribute, f.Count = fmt.Sprintf("p%02d.html", i), 1, 1, "a", "href", 1
			f.Raw = f.Target
			r.Findings = append(r.Findings, f)
		}
	}
	r.Findings = append(r.Findings, check.Finding{Page: "q.html", Target: "/other", Code: check.ViaRedirect, Verdict: check.Warning, Message: "/other redirects to /new", Count: 1})
	var b bytes.Buffer
	if err := Text(&b, &r, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	for want, n := range map[string]int{"/old redirects": 3, "no file answers /gone": 10, "/other redirects": 1, "7 more links through 1 redirect not listed": 1, "10 errors, 11 warnings": 1} {
		if got := strings.Count(out, want); got != n {
			t.Errorf("%q stands there %d times, want %d:\n%s", want, got, n, out)
		}
	}
	if strings.Contains(out, "\n\n\n") {
		t.Errorf("two empty lines in a row:\n%s", out)
	}
}
