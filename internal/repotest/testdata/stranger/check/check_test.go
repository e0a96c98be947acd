// Package check_test uses package check, and the baseline below it, as a program
// outside of this repository would.
package check_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook"
	"github.com/sitelink/sitelink/site"
)

// load writes the pages of a site and loads it.
func load(t *testing.T, dir string, pages map[string]string) *site.Site {
	t.Helper()
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("<!doctype html>"+text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := site.Load(context.Background(), dir, site.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func run(t *testing.T, s *site.Site, opt check.Options) *check.Result {
	t.Helper()
	r, err := check.Run(context.Background(), s, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var pages = map[string]string{"index.html": `<a href="a.html#x">1</a><a href="gone.html">2</a>`, "a.html": `<p id="x"><a href="/">3</a>`}

func TestFindings(t *testing.T) {
	s := load(t, t.TempDir(), pages)
	opt := check.Options{
		Ignore:          []check.Ignore{{Code: check.Orphan, Origin: "this test"}},
		ScriptFragments: check.ScriptError,
		More: func(s *site.Site) []check.Finding {
			return []check.Finding{{Page: "a.html", Verdict: check.Warning, Code: "my-own", Message: s.Docroot(), Count: 1}}
		},
	}
	r := run(t, s, opt)
	var text bytes.Buffer
	if err := (&hook.Result{Result: r}).Write(&text, "text"); err != nil || !bytes.Contains(text.Bytes(), []byte("file not found: /gone.html [missing-file]")) {
		t.Errorf("report %s, %v", &text, err)
	}
	if len(r.Findings) != 2 || r.Findings[1].Code != check.MissingFile || !r.HasErrors() || !r.HasWarnings() {
		t.Errorf("findings %+v", r.Findings)
	}
	if got := r.Summary.UnusedIgnores; !slices.Equal(got, []string{"this test: code=orphan"}) {
		t.Errorf("unused rules %q", got)
	}
}

func TestQuestions(t *testing.T) {
	ctx, s := context.Background(), load(t, t.TempDir(), pages)
	var raws []string
	if _, err := check.Links(ctx, s, check.Options{}, check.Query{From: "index.html"}, func(l *check.Link) error {
		raws = append(raws, fmt.Sprint(l.Raw, " ", l.Verdict, " ", l.AnsweringFile(s)))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a.html#x ok a.html", "gone.html error "}; !slices.Equal(raws, want) {
		t.Errorf("got %q, want %q", raws, want)
	}
	e, err := check.Explain(ctx, s, check.Options{}, "", "gone.html")
	if err != nil || e.Link.Code != check.MissingFile || len(e.Steps) == 0 || len(e.Occurrences) != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := check.Explain(ctx, s, check.Options{}, "none.html", "x"); !errors.Is(err, check.ErrNotFound) {
		t.Errorf("a page that does not exist: %v", err)
	}
	anchors := 0
	if err := check.Anchors(ctx, s, check.Options{}, "", func(a check.Anchor) error { anchors++; return nil }); err != nil || anchors != 1 {
		t.Errorf("%d anchors, %v", anchors, err)
	}
	addresses, err := check.Addresses(ctx, s)
	if err != nil || len(addresses) != 3 {
		t.Errorf("addresses %+v, %v", addresses, err)
	}
	visits, err := check.Walk(ctx, s, check.Options{From: []string{"/@"}})
	if err != nil || len(visits) != 2 || visits[0].Kind != check.VisitCheck {
		t.Errorf("visits %+v, %v", visits, err)
	}
}

func TestFollowing(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s := load(t, dir, pages)
	before := run(t, s, check.Options{})
	if err := os.WriteFile(filepath.Join(dir, "a.html"), []byte("<!doctype html>"), 0o644); err != nil {
		t.Fatal(err)
	}
	next, err := s.Update(ctx, "a.html")
	if err != nil {
		t.Fatal(err)
	}
	d := check.Compare(before.Findings, run(t, next, check.Options{}).Findings)
	if len(d.Fixed) != 0 || len(d.New) != 1 || d.New[0].Code != check.MissingFragment {
		t.Errorf("difference %+v", d)
	}
}

func TestBaseline(t *testing.T) {
	dir := t.TempDir()
	s := load(t, dir, pages)
	known := check.Fingerprints(run(t, s, check.Options{}).Findings)
	s = load(t, dir, map[string]string{"b.html": `<a href="new.html">4</a>`})
	r := run(t, s, check.Options{})
	accepted := make([]bool, len(r.Findings))
	for i, id := range check.Fingerprints(r.Findings) {
		accepted[i] = slices.Contains(known, id)
	}
	r.Summary.Baseline = &check.BaselineSummary{Name: "baseline"}
	r.Accept(accepted)
	if len(r.Findings) != 1 || r.Findings[0].Page != "b.html" || r.Summary.Baseline.Links != 1 {
		t.Errorf("findings %+v", r.Findings)
	}
}
