package check

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

// addsUp checks that every link is in exactly one of the counts.
func addsUp(t testing.TB, s *Summary) {
	t.Helper()
	accepted := 0
	if s.Baseline != nil {
		accepted = s.Baseline.Links
	}
	if s.Links != s.OK+s.Errors+s.Warnings+s.Unchecked+s.Ignored+accepted {
		t.Errorf("%d links are not %d ok + %d errors + %d warnings + %d unchecked + %d ignored", s.Links, s.OK, s.Errors, s.Warnings, s.Unchecked, s.Ignored)
	}
	sum := 0
	for i, r := range s.Reasons {
		sum += r.Count
		if r.Count <= 0 || r.Code == "" || i > 0 && (s.Reasons[i-1].Count < r.Count || s.Reasons[i-1].Count == r.Count && s.Reasons[i-1].Code >= r.Code) {
			t.Errorf("reasons out of order: %v", s.Reasons)
		}
	}
	if sum != s.Unchecked {
		t.Errorf("%d unchecked links, but %d by reason: %v", s.Unchecked, sum, s.Reasons)
	}
	if s.OK < 0 || s.Errors < 0 || s.Warnings < 0 || s.Unchecked < 0 || s.Ignored < 0 || s.Redirected > s.OK+s.Warnings+s.Errors+s.Unchecked+s.Ignored {
		t.Errorf("a count is out of range: %+v", s)
	}
}

// byPlace orders findings as reports do: by page, offset, code, target and
// fragment.
func byPlace(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Target, b.Target),
		cmp.Compare(a.Fragment, b.Fragment))
}

// agree compares the findings of Run with the rows of Links and their result.
func agree(t testing.TB, r *Result, all []Finding, l *Result) {
	t.Helper()
	if !reflect.DeepEqual(r.Summary, l.Summary) {
		t.Errorf("summary of Run\n\t%+v\nof Links\n\t%+v", r.Summary, l.Summary)
	}
	var bad, faults []Finding
	scripts, relative := 0, 0
	for _, f := range r.Findings {
		switch {
		case isFileFault(&f):
			faults = append(faults, f)
		case f.Code == ScriptFragment:
			scripts += f.Count
		case f.Code == FeedRelative:
			relative += f.Count
		default:
			f.Suggestion = "" // rows have none
			f.node, f.linkCode, f.hasBase, f.context, f.isFeed, f.lacking, f.evidence = 0, "", false, 0, false, 0, ""
			bad = append(bad, f)
		}
	}
	if len(faults) != len(l.Findings) || len(faults) > 0 && !reflect.DeepEqual(faults, l.Findings) {
		t.Errorf("faults of files: Run %v, Links %v", briefs(faults), briefs(l.Findings))
	}
	var badRows []Finding
	counts := map[Verdict]int{}
	ignored, scriptRows := 0, 0
	for _, f := range all {
		counts[f.Verdict]++
		switch {
		case f.Code == IgnoredByRule:
			ignored++
		case f.Code == ScriptFragment:
			scriptRows++
		case f.Code == FeedRelative:
			relative--
		case f.Verdict == Error || f.Verdict == Warning:
			badRows = append(badRows, f)
		}
		if (f.Verdict == OK) != (f.Code == "") {
			t.Errorf("verdict %s with code %q: %s", f.Verdict, f.Code, brief(&f))
		}
		if (f.Verdict == Error || f.Verdict == Warning) && f.Message == "" {
			t.Errorf("no message: %s", brief(&f))
		}
	}
	if relative != 0 {
		t.Errorf("the findings of Run stand for %d more links that are relative to a feed than there are rows", relative)
	}
	slices.SortFunc(bad, byPlace)
	slices.SortFunc(badRows, byPlace)
	if len(bad) != len(badRows) {
		t.Errorf("Run has %d bad links, Links %d", len(bad), len(badRows))
	}
	for i := range min(len(bad), len(badRows)) {
		if !reflect.DeepEqual(bad[i], badRows[i]) {
			t.Errorf("Run\n\t%+v\nLinks\n\t%+v", bad[i], badRows[i])
			break
		}
	}
	sum := &r.Summary
	if len(all) != sum.Links || counts[OK] != sum.OK || counts[Error] != sum.Errors || counts[Warning] != sum.Warnings ||
		counts[Unchecked] != sum.Unchecked+sum.Ignored || ignored != sum.Ignored {
		t.Errorf("%d rows, %v, %d ignored; summary %+v", len(all), counts, ignored, sum)
	}
	if scripts > scriptRows {
		t.Errorf("Run reports %d fragments of scripts, Links %d", scripts, scriptRows)
	}
	if !slices.IsSortedFunc(all, func(a, b Finding) int {
		return byPlace(Finding{Page: a.Page, Offset: a.Offset}, Finding{Page: b.Page, Offset: b.Offset})
	}) {
		t.Error("rows are not sorted by page and offset")
	}
}

// TestLinksAgree: Run and Links give the same verdicts, and their counts add
// up, for all fixtures, with and without fragments, and in all modes for
// scripts.
func TestLinksAgree(t *testing.T) {
	var all []fixture
	for _, x := range fixtures {
		if x.change == nil && testkit.Longer(x.name != "sitemap_limit", true) {
			all = append(all, x)
		}
	}
	all = append(all,
		fixture{name: "anchors", files: anchorFixture()},
		fixture{name: "ignore", files: ignoreFiles},
		fixture{name: "script", files: asking(readsHash, routes(12)...)},
		fixture{name: "script_and_bad", files: asking(readsHash, append(routes(12), "m1")...)},
		fixture{name: "quirks", files: files{"p.html": "<a name=Name></a><a href=#name><a href=#nope>"}},
		fixture{name: "latin1", files: files{"p.html": "<!doctype html><meta charset=windows-1252><p id=\xE9><a href=#\xE9><a href=\xE9.html><a href='?\xE9'>", "é.html": plain}},
		fixture{name: "many_pages", files: manyPages(150)},
	)
	for _, x := range all {
		t.Run(x.name, func(t *testing.T) {
			s := x.load(t)
			for _, opt := range []Options{x.opt, {NoFragments: true}, {ScriptFragments: ScriptError}, {ScriptFragments: ScriptSilent}, {Ignore: []Ignore{{Code: MissingFile}, {Page: "zz/**"}}, Jobs: 3}} {
				r := run(t, s, opt)
				addsUp(t, &r.Summary)
				all, l := rows(t, s, opt)
				agree(t, r, all, l)
				if !slices.IsSortedFunc(r.Findings, byPlace) {
					t.Error("findings are not sorted")
				}
			}
		})
	}
}

func anchorFixture() files {
	fs := files{"p.html": plain + "<a href=ids.html#plain><a href=ids.html#nope><a href=names.html#a1><a href=where.html#template>"}
	for name, text := range anchorPages {
		fs[name] = "<!doctype html><meta charset=utf-8>" + text
	}
	return fs
}

// manyPages returns a docroot of n pages, enough for several workers, with
// valid, broken and all other kinds of links.
func manyPages(n int) files {
	fs := files{"pic.png": "", "noidx/x.txt": "", "a b.html": plain}
	hrefs := []string{"gone.html", "#nope", "#here", "/Pic.png", "/noidx/", "mailto:x", "//h.example/", "../d0/p0.html#here", "/d1/p1.html#/route", "x//y", "http://u@h.example/", "/a%20b.html", "../../..", "?q#HERE", "/d2/#x"}
	for i := range n {
		page := plain
		if i%7 == 0 {
			page = "<title>quirks</title><a name=HERE></a>"
		}
		page += "<p id=here>"
		for j := range 1 + i%9 {
			page += fmt.Sprintf("<a href=\"%s\">x</a>\n", hrefs[(i*5+j*3)%len(hrefs)])
		}
		fs[fmt.Sprintf("d%d/p%d.html", i%20, i)] = page
	}
	return fs
}

// TestCorpora: the counts add up, and Run and Links agree, for each docroot in
// the directory SITELINK_CORPORA.
func TestCorpora(t *testing.T) {
	dir := os.Getenv("SITELINK_CORPORA")
	if dir == "" {
		t.Skip("SITELINK_CORPORA is not set")
	}
	entries := testkit.Must(os.ReadDir(dir))(t)
	checked := 0
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		checked++
		t.Run(e.Name(), func(t *testing.T) {
			s := load(t, filepath.Join(dir, e.Name()), isite.Options{})
			r := run(t, s, Options{})
			addsUp(t, &r.Summary)
			counts, n := corpusRows(t, s)
			sum := &r.Summary
			if n != sum.Links || counts[OK] != sum.OK || counts[Error] != sum.Errors || counts[Warning] != sum.Warnings || counts[Unchecked] != sum.Unchecked {
				t.Errorf("%d rows, %v; summary %+v", n, counts, sum)
			}
		})
	}
	if checked == 0 {
		t.Fatalf("%s holds no directory", dir)
	}
}

// corpusRows counts the rows of all links by verdict: one byte each, as there
// may be millions.
func corpusRows(t *testing.T, s *isite.Site) (map[Verdict]int, int) {
	t.Helper()
	counts, n := map[Verdict]int{}, 0
	var out bytes.Buffer
	l, err := WriteLinks(context.Background(), handle(s), Options{}, Query{}, LinkWriter{&out, func(dst []byte, l *Link) []byte { return append(dst, byte(l.Verdict)) }})
	testkit.Check(t, err)
	addsUp(t, &l.Summary)
	for _, v := range out.Bytes() {
		counts[Verdict(v)]++
		n++
	}
	return counts, n
}

// TestRowsAreIndependent: the strings of a row are valid and complete while
// render runs.
func TestRowsAreIndependent(t *testing.T) {
	s := load(t, tempDocroot(t, manyPages(100)), isite.Options{})
	var once, again bytes.Buffer
	for _, w := range []*bytes.Buffer{&once, &again} {
		_, err := WriteLinks(context.Background(), handle(s), Options{Jobs: 4}, Query{}, LinkWriter{w, func(dst []byte, l *Link) []byte {
			b, err := json.Marshal(l)
			if err != nil {
				t.Error(err)
			}
			l.Raw, l.Code, l.Verdict = "spoiled", "spoiled", Unchecked // render may overwrite its row
			return append(dst, b...)
		}})
		testkit.Check(t, err)
	}
	if !bytes.Equal(once.Bytes(), again.Bytes()) || bytes.Contains(once.Bytes(), []byte("spoiled")) {
		t.Error("overwriting one row changed other rows")
	}
}
