package report

import (
	"fmt"
	"testing"

	"github.com/sitelink/sitelink/check"
)

// many is a result of n findings: every tenth page links to /common.html, the
// others to targets of their own; every fifth finding is a warning.
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
		f.Message = "no file answers " + f.Target
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

// BenchmarkFormats writes 100,000 findings in each format.
func BenchmarkFormats(b *testing.B) {
	r := many(100_000)
	for _, f := range Formats() {
		b.Run(f.Name, func(b *testing.B) {
			var n counter
			for b.Loop() {
				n = 0
				if err := f.Write(&n, &r, Options{Base: "public"}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/1e6, "MB")
		})
	}
}

// counter counts what is written.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
