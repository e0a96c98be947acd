package check

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/site"
)

// The result has the findings of an inspector, which are made while pages are
// read, and the findings of Options.More: in a full run, in a run over a part
// of the site, and after each update.
func TestMore(t *testing.T) {
	ctx := context.Background()
	root := tempDocroot(t, files{"index.html": plain + "<a href=b.html>", "b.html": plain + "<b>x</b>", "c.html": plain + "<b>x</b>", "s.css": "b{}"})
	s := load(t, root, isite.Options{Inspect: func() isite.Inspector {
		return func(kind isite.PageKind, page *scan.Page) isite.Inspected {
			if !kind.IsHTML() {
				t.Errorf("a page of kind %v is inspected", kind)
			}
			i := bytes.Index(page.Text, []byte("<b>"))
			if i < 0 {
				return isite.Inspected{Flags: 1}
			}
			return isite.Inspected{Marks: []isite.Mark{{Off: uint32(i), What: 7}}}
		}
	}})
	opt := Options{More: func(handle *site.Site) []Finding {
		s := isite.Unwrap(handle)
		var out []Finding
		for i := range s.Pages() {
			id := isite.PageID(i)
			seen := s.Page(id).Inspected()
			for _, m := range seen.Marks {
				if m.What != 7 || seen.Flags != 0 {
					t.Errorf("%s: %+v", s.Path(id), seen)
				}
				out = append(out, Finding{Page: s.Path(id), Offset: int64(m.Off), Verdict: Error, Code: EndpointMissing, Count: 1})
			}
		}
		return out
	}}
	pages := func(r *Result) (names []string) {
		for i := range r.Findings {
			names = append(names, r.Findings[i].Page)
		}
		return names
	}
	want := func(r *Result, err error, names ...string) {
		t.Helper()
		if err != nil || !slices.Equal(pages(r), names) || r.Summary.FileErrors != len(names) {
			t.Errorf("found on %q, %d errors, %v; want %q", pages(r), r.Summary.FileErrors, err, names)
		}
	}
	r, err := Run(ctx, handle(s), opt)
	want(r, err, "b.html", "c.html")
	part := opt
	part.From = []string{"/@"} // no link leads to c.html
	r, err = Run(ctx, handle(s), part)
	want(r, err, "b.html")

	testkit.Check(t, os.WriteFile(filepath.Join(root, "b.html"), []byte(plain), 0o644))
	s = testkit.Must(s.Update(ctx, []string{"b.html"}))(t)
	r, err = Run(ctx, handle(s), opt)
	want(r, err, "c.html")
}
