package report_test

import (
	"log"
	"os"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/check/report"
)

func ExampleWrite() {
	result := &check.Result{
		Findings: []check.Finding{{Page: "index.html", Line: 3, Column: 9, Element: "a", Attribute: "href", Raw: "/tide/", Target: "/tide/",
			Verdict: check.Error, Code: check.MissingDirectory, Message: "directory not found: /tide/", Suggestion: "/tides/", Count: 1}},
		Summary: check.Summary{Pages: 4, Links: 20, Anchors: 3, OK: 19, Errors: 1},
	}
	if err := report.Write(os.Stdout, "text", result); err != nil {
		log.Fatal(err)
	}
	// Output:
	// index.html:3:9: error: directory not found: /tide/ [missing-directory]
	//     <a href="/tide/">
	//     did you mean /tides/?
	//
	// checked 4 pages, 20 links, 3 anchors: 1 error
}
