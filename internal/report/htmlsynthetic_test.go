package report

import (
	"fmt"

	"github.com/sitelink/sitelink/check"
)

// synthetic is a result of n findings as a large site has them: a template
// that breaks on every page, pages that moved, fragments, and links of their
// own that nobody shares.
func synthetic(n int) (*check.Result, Extras) {
	areas := []string{"guide", "reference", "blog/2024", "blog/2025", "api/v1", "api/v2", "tutorials", "news"}
	r := &check.Result{}
	for i := range n {
		page := fmt.Sprintf("%s/chapter-%04d/index.html", areas[i*len(areas)/n], i/6)
		f := check.Finding{Page: page, Line: 20 + i%6*37, Column: 5 + i%40, Offset: int64(i % 6 * 900), Element: "a", Attribute: "href",
			Verdict: check.Error, Status: 404, Count: 1}
		switch i % 6 {
		case 0:
			f.Code, f.Raw, f.Target = check.MissingFile, "/assets/print.css", "/assets/print.css"
			f.Element, f.Message = "link", "no file answers /assets/print.css"
		case 1:
			f.Code, f.Raw = check.MissingDirectory, fmt.Sprintf("../topic-%d/", i%977)
			f.Target = fmt.Sprintf("/%s/topic-%d/", areas[i*len(areas)/n], i%977)
			f.Message, f.Suggestion = "no directory answers "+f.Target, fmt.Sprintf("../topics/%d/", i%977)
		case 2:
			f.Code, f.Fragment = check.MissingFragment, fmt.Sprintf("section-%d", i)
			f.Target, f.Status = fmt.Sprintf("/reference/chapter-%04d/", i%1999), 200
			f.Raw = f.Target + "#" + f.Fragment
			f.Message = fmt.Sprintf("reference/chapter-%04d/index.html has no element with id %q", i%1999, f.Fragment)
		case 3:
			f.Code, f.Raw, f.Element, f.Attribute = check.WrongCase, fmt.Sprintf("Figure-%d.PNG", i), "img", "src"
			f.Target = fmt.Sprintf("/%s/Figure-%d.PNG", areas[i*len(areas)/n], i)
			f.Message, f.Suggestion = f.Target+" differs in letter case", fmt.Sprintf("figure-%d.png", i)
		case 4:
			f.Code, f.Verdict, f.Status = check.Autoindex, check.Warning, 200
			f.Raw, f.Target, f.Final = "/files", "/files", "/files/"
			f.Message = "/files has no index file: the host shows a directory listing"
		default:
			f.Code, f.Raw = check.MissingFile, fmt.Sprintf("../../old/page-%d.html", i)
			f.Target = fmt.Sprintf("/old/page-%d.html", i)
			f.Message = "no file answers " + f.Target
		}
		r.Findings = append(r.Findings, f)
		if f.Verdict == check.Error {
			r.Summary.Errors++
		} else {
			r.Summary.Warnings++
		}
	}
	s := &r.Summary
	s.Docroot, s.Profile = "public", "generic"
	s.Files, s.Pages, s.Bytes, s.Anchors = n/5, n/6+1, int64(n)*2480, n*7
	s.OK, s.Unchecked, s.Ignored, s.Redirected = n*20, n*3/2, n/90, n/4
	s.Links = s.OK + s.Errors + s.Warnings + s.Unchecked + s.Ignored
	s.Reasons = []check.Reason{{Code: check.External, Count: n}, {Code: check.Mailto, Count: n / 2}}

	extras := Extras{Orphans: []string{}}
	for i := range n / 50 {
		extras.Orphans = append(extras.Orphans, fmt.Sprintf("old/attachment-%05d.pdf", i))
	}
	for i, name := range []string{"/", "api/v1/", "api/v2/", "assets/", "blog/2024/", "blog/2025/", "guide/", "news/", "reference/", "tutorials/",
		check.OtherSections, check.NoSection} {
		sec := check.Section{Name: name, Pages: (i*i*7 + 3) % 61 * n / 400, Files: (i*i*7+3)%61*n/400 + 9}
		if name == check.NoSection {
			sec.Pages, sec.Files = 0, 0
		}
		extras.Sections = append(extras.Sections, sec)
	}
	for from := range extras.Sections[:11] {
		for to := range extras.Sections {
			e := check.Edge{From: from, To: to, Links: (from*5 + to*11) % 17 * n / 100}
			switch {
			case to == 11:
				e.Links = (from * 3) % 5 * n / 900
				e.Broken = e.Links
			case (from+2*to)%13 == 4:
				e.Broken = e.Links / 40
			}
			if e.Links > 0 {
				extras.Edges = append(extras.Edges, e)
			}
		}
	}
	return r, extras
}
