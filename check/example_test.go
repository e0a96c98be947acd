package check_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/site"
)

// write writes the files of a site below dir.
func write(dir string, files map[string]string) {
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// harbour creates a small site with three faults and loads it.
func harbour() (s *site.Site, dir string) {
	dir, err := os.MkdirTemp("", "docroot")
	if err != nil {
		log.Fatal(err)
	}
	write(dir, map[string]string{
		"index.html": "<!doctype html><title>Harbour</title>\n" +
			`<a href="boats.html">Boats</a> <a href="boats.html#sails">Sails</a> <a href="/tide/">Tides</a>` + "\n",
		"boats.html": "<!doctype html><title>Boats</title>\n" +
			`<h2 id="sail">Sail</h2> <a href="Index.html">Home</a> <a href="https://example.com/">Elsewhere</a>` + "\n",
		"tides/index.html": "<!doctype html><title>Tides</title>\n",
	})
	s, err = site.Load(context.Background(), dir, site.Options{BaseURLs: []string{"https://harbour.example/"}})
	if err != nil {
		log.Fatal(err)
	}
	return s, dir
}

func ExampleRun() {
	s, dir := harbour()
	defer os.RemoveAll(dir)

	result, err := check.Run(context.Background(), s, check.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range result.Findings {
		fmt.Printf("%s:%d:%d: %s: %s [%s]\n", f.Page, f.Line, f.Column, f.Verdict, f.Message, f.Code)
		if f.Suggestion != "" {
			fmt.Printf("    did you mean %s?\n", f.Suggestion)
		}
	}
	fmt.Println(result.Summary.Links, "links,", result.Summary.Errors, "errors,", result.Summary.Unchecked, "unchecked")
	// Output:
	// boats.html:2:34: error: the letter case of /Index.html is wrong: the file is index.html [wrong-case]
	//     did you mean ./?
	// index.html:2:41: error: boats.html has no element with id "sails" [missing-fragment]
	//     did you mean boats.html#sail?
	// index.html:2:78: error: directory not found: /tide/ [missing-directory]
	//     did you mean /tides/?
	// 5 links, 3 errors, 1 unchecked
}

func ExampleLinks() {
	s, dir := harbour()
	defer os.RemoveAll(dir)

	// List the links to one page, whatever their fragment.
	_, err := check.Links(context.Background(), s, check.Options{}, check.Query{To: "boats.html"}, func(l *check.Link) error {
		fmt.Println(l.Verdict, l.Page, l.Raw)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// ok index.html boats.html
	// error index.html boats.html#sails
}

func ExampleWriteLinks() {
	s, dir := harbour()
	defer os.RemoveAll(dir)

	w := check.LinkWriter{W: os.Stdout, Append: func(dst []byte, l *check.Link) []byte {
		return fmt.Appendf(dst, "%s\t%s\n", l.Target, l.Verdict)
	}}
	if _, err := check.WriteLinks(context.Background(), s, check.Options{}, check.Query{From: "boats.html"}, w); err != nil {
		log.Fatal(err)
	}
	// Output:
	// /Index.html	error
	// https://example.com/	unchecked
}

func ExampleExplain() {
	s, dir := harbour()
	defer os.RemoveAll(dir)

	e, err := check.Explain(context.Background(), s, check.Options{}, "boats.html", "tides")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(e)
	fmt.Println(e.Link.Verdict)
	// Output:
	//   page       boats.html, shown at /boats.html
	//   base       the page's own address: it has no base element
	//   url        https://harbour.example/tides
	//   directory  redirects to /tides/
	//   index      index.html is the directory's index file
	//   status     200
	// ok
}

func ExampleCompare() {
	s, dir := harbour()
	defer os.RemoveAll(dir)
	ctx := context.Background()

	before, err := check.Run(ctx, s, check.Options{})
	if err != nil {
		log.Fatal(err)
	}
	write(dir, map[string]string{"index.html": "<!doctype html><title>Harbour</title>\n" +
		`<a href="boats.html#sail">Sail</a> <a href="/tide/">Tides</a> <a href="crew.html">Crew</a>` + "\n"})

	next, err := s.Update(ctx, "index.html")
	if err != nil {
		log.Fatal(err)
	}
	after, err := check.Run(ctx, next, check.Options{})
	if err != nil {
		log.Fatal(err)
	}
	d := check.Compare(before.Findings, after.Findings)
	for _, f := range d.Fixed {
		fmt.Println("fixed:", f.Message)
	}
	for _, f := range d.New {
		fmt.Println("new:", f.Message)
	}
	// Output:
	// fixed: boats.html has no element with id "sails"
	// new: file not found: /crew.html
}

func ExampleOrphans() {
	s, dir := harbour()
	defer os.RemoveAll(dir)

	files, err := check.Orphans(context.Background(), s, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Println(f.Path)
	}
	// Output:
	// tides/index.html
}

func ExampleParseLinkset() {
	l, err := check.ParseLinkset("/docs/@")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Match("/docs/a/b.html"), l.Match("/blog/"))
	_, err = check.ParseLinkset("https://example.org/docs/")
	fmt.Println(strings.HasPrefix(err.Error(), "a linkset is a path"))
	// Output:
	// true false
	// true
}
