package baseline_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/check/baseline"
	"github.com/sitelink/sitelink/site"
)

// findings checks a site of one page.
func findings(dir, page string) *check.Result {
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("<!doctype html>"+page), 0o644); err != nil {
		log.Fatal(err)
	}
	s, err := site.Load(context.Background(), dir, site.Options{})
	if err != nil {
		log.Fatal(err)
	}
	result, err := check.Run(context.Background(), s, check.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return result
}

func Example() {
	dir, err := os.MkdirTemp("", "docroot")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	var file bytes.Buffer
	before := findings(dir, `<a href="gone.html">Gone</a> <a href="old.html">Old</a>`)
	if err := baseline.New(before.Findings, baseline.Terms{Expires: "2027-06-30", Reason: "before the redesign"}).Write(&file); err != nil {
		log.Fatal(err)
	}

	b, err := baseline.Read("sitelink-baseline.jsonl", &file)
	if err != nil {
		log.Fatal(err)
	}
	after := findings(dir, `<a href="gone.html">Gone</a> <a href="new.html">New</a>`)
	m := b.Match(after.Findings, "2027-01-31", nil)
	after.Summary.Baseline = &check.BaselineSummary{Name: "sitelink-baseline.jsonl"}
	after.Accept(m.Accepted)
	for _, f := range after.Findings {
		fmt.Println(f.Message)
	}
	for _, e := range m.Unneeded {
		fmt.Println("no longer needed:", &e)
	}
	// Output:
	// file not found: /new.html
	// no longer needed: index.html: missing-file /old.html
}
