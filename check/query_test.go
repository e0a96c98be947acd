package check

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

// asked is a site with links to every kind of target.
var asked = files{
	"index.html": plain + `<a href=d/>1</a><a href=d>2</a><a href=d/index.html>3</a><a href=d/#x>4</a><a href="d/#nope">5</a>` +
		`<a href=https://example.org/sub/d/?q#x:~:text=y>6</a><a href=https://other.example/p?q#f>7</a><a href=/elsewhere/x>8</a>`,
	"d/index.html":  plain + `<p id=x><p id="é"><a href=#x>1</a><a href=#%C3%A9>2</a><a href=../gone.html>3</a><a href="/sub/gone.html?q#z">4</a>`,
	"e.html":        plain + `<a href=http://other.example/p?q>1</a><a href=https://other.example/p?q>2</a><a href=https://other.example/p?q#f>3</a><a href=D/index.html>4</a>`,
	"100%.html":     plain + `<a href=100%25.html>1</a>`,
	"lonely.html":   plain,
	"linked.html":   "-> e.html",
	"to-linked.htm": plain + `<a href=linked.html>1</a><a href=e.html>2</a>`,
}

// answersOf returns the links that match a query, in the form page:number.
func answersOf(t *testing.T, s *isite.Site, q Query) string {
	t.Helper()
	numbers := map[string][]int64{} // offsets of all links of a page
	if _, err := Links(context.Background(), handle(s), Options{}, Query{}, func(l *Link) error {
		numbers[l.Page] = append(numbers[l.Page], l.Offset)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r, err := WriteLinks(context.Background(), handle(s), Options{}, q, LinkWriter{&out, func(dst []byte, l *Link) []byte {
		return fmt.Appendf(dst, "%s:%d ", l.Page, slices.Index(numbers[l.Page], l.Offset)+1)
	}})
	testkit.Check(t, err)
	if len(r.Findings) > 0 {
		t.Errorf("findings %v", briefs(r.Findings))
	}
	return strings.TrimSpace(out.String())
}

// TestQueryTargets: which links lead to a target, in every notation of it.
func TestQueryTargets(t *testing.T) {
	s := load(t, tempDocroot(t, asked), exampleOrg)
	const d = "d/index.html:1 d/index.html:2 index.html:1 index.html:2 index.html:3 index.html:4 index.html:5 index.html:6"
	const dx = "d/index.html:1 index.html:4 index.html:6"
	const gone = "d/index.html:3 d/index.html:4"
	const other = "e.html:2 e.html:3 index.html:7 linked.html:2 linked.html:3"
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{To: "d/index.html"}, d},
		{Query{To: "d/"}, d},
		{Query{To: "d"}, d},
		{Query{To: "/sub/d/"}, d},
		{Query{To: "/sub/d/index.html?query"}, d},
		{Query{To: "http://example.org/sub/d/"}, d},
		{Query{To: "/sub/d/#x"}, dx},
		{Query{To: "https://EXAMPLE.org:443/sub/d/index.html#x"}, dx},
		{Query{To: "d/#é"}, "d/index.html:2"},
		{Query{To: "d/#%c3%a9"}, "d/index.html:2"},
		{Query{To: "d/#nope"}, "index.html:5"},
		{Query{To: "d/#other"}, ""},
		{Query{To: "gone.html"}, gone},
		{Query{To: "/sub/%67one.html"}, gone},
		{Query{To: "gone.html#z"}, "d/index.html:4"},
		{Query{To: "D/index.html"}, "e.html:4 linked.html:4"},
		{Query{To: "https://other.example/p?q"}, other},
		{Query{To: "https://other.example/p?q#f"}, "e.html:3 index.html:7 linked.html:3"},
		{Query{To: "http://other.example/p?q"}, "e.html:1 linked.html:1"},
		{Query{To: "https://other.example/p"}, ""},
		{Query{To: "/elsewhere/x"}, "index.html:8"},
		{Query{To: "100%.html"}, "100%.html:1"},
		{Query{To: "100%25.html"}, "100%.html:1"},
		{Query{To: "lonely.html"}, ""},
		{Query{To: "linked.html"}, "to-linked.htm:1"},
		{Query{From: "e.html"}, "e.html:1 e.html:2 e.html:3 e.html:4"},
		{Query{From: "linked.html"}, "linked.html:1 linked.html:2 linked.html:3 linked.html:4"},
		{Query{From: "/sub/d/"}, "d/index.html:1 d/index.html:2 d/index.html:3 d/index.html:4"},
		{Query{From: "d#x"}, "d/index.html:1 d/index.html:2 d/index.html:3 d/index.html:4"},
		{Query{From: "lonely.html"}, ""},
		{Query{From: "index.html", To: "d/#x"}, "index.html:4 index.html:6"},
		{Query{External: true}, "e.html:1 e.html:2 e.html:3 index.html:7 index.html:8 linked.html:1 linked.html:2 linked.html:3"},
		{Query{External: true, From: "index.html"}, "index.html:7 index.html:8"},
		{Query{External: true, To: "https://other.example/p?q"}, other},
		{Query{External: true, To: "d/"}, ""},
	} {
		if got := answersOf(t, s, c.q); got != c.want {
			t.Errorf("%+v:\n got %s\nwant %s", c.q, got, c.want)
		}
	}
	for _, q := range []Query{{To: "http://["}, {From: "gone.html"}, {From: "https://other.example/"}, {From: "http://["}} {
		if _, err := Links(context.Background(), handle(s), Options{}, q, nil); !errors.Is(err, ErrNotFound) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// TestQueryIsLinks: for every fixture, the links that match queries are rows of
// Links with the same verdicts, and all of them together are all rows.
func TestQueryIsLinks(t *testing.T) {
	for _, x := range append(slices.Clone(fixtures),
		fixture{name: "script_and_bad", files: asking(readsHash, append(routes(12), "m1")...)},
		fixture{name: "quirks", files: files{"p.html": "<a name=Name></a><a href=#name><a href=#nope>"}},
		fixture{name: "many_pages", files: manyPages(70)}, // more than the window of Links
		fixture{name: "asked", files: asked, sopt: exampleOrg},
	) {
		if x.change != nil || x.code == SitemapLimit { // 50,001 rows are compared with each other for a minute
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			s := x.load(t)
			all, _ := rows(t, s, x.opt)
			askRows := func(q Query) (out []Finding) {
				if _, err := Links(context.Background(), handle(s), x.opt, q, func(l *Link) error {
					out = append(out, l.Finding())
					return nil
				}); err != nil {
					t.Fatalf("%+v: %v", q, err)
				}
				slices.SortFunc(out, byPlace)
				return out
			}
			var from []Finding
			for i := range s.Pages() {
				from = append(from, askRows(Query{From: s.Path(isite.PageID(i))})...)
			}
			slices.SortFunc(from, byPlace)
			sorted := slices.Clone(all)
			slices.SortFunc(sorted, byPlace)
			if !sameRows(from, sorted) {
				t.Errorf("the pages together have %d rows, Links %d:\n\t%q\n\t%q", len(from), len(all), briefs(from), briefs(sorted))
			}
			seen := map[string]bool{}
			for i := range all {
				target := all[i].Target
				if target == "" || seen[target] || len(seen) == 8 {
					continue
				}
				seen[target] = true
				got := askRows(Query{To: target})
				if !slices.ContainsFunc(got, func(f Finding) bool { return f.Page == all[i].Page && f.Offset == all[i].Offset }) {
					t.Errorf("--to %q does not list the link %s", target, brief(&all[i]))
				}
				for j := range got {
					k := slices.IndexFunc(sorted, func(f Finding) bool { return byPlace(f, got[j]) == 0 })
					if k < 0 || !sameRows(got[j:j+1], sorted[k:k+1]) {
						t.Errorf("--to %q: %s is not a row of Links", target, brief(&got[j]))
					}
				}
			}
		})
	}
}

func sameRows(a, b []Finding) bool {
	plain := func(fs []Finding) []Finding {
		out := slices.Clone(fs)
		for i := range out {
			out[i].node, out[i].linkCode = 0, ""
		}
		return out
	}
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(plain(a), plain(b))
}

// TestExternalTargets: each address is listed once, with counts, its first
// place, and the fields that a join needs.
func TestExternalTargets(t *testing.T) {
	fs := files{
		"a.html": plain + `<meta charset=utf-8><a href="https://B.example/x%20y/?q#A%20b">1</a><a href="https://b.example/x y/?q#A b">2</a><a href=http://b.example:8080/>3</a>` +
			`<a href=https://b.example/#top>4</a><a href=https://b.example/#/route>5</a><a href=https://b.example/#:~:text=t>6</a><a href="https://example.org/other/%C3%A9#é">7</a>` +
			`<a href=mailto:x@y.example>8</a><a href=/sub/a.html>9</a>`,
		"0.html": plain + "\n" + `<a href="https://b.example/x%20y/?q#A%20b">1</a><a href="//b.example:8443/#"></a>`,
	}
	s := load(t, tempDocroot(t, fs), exampleOrg)
	all := testkit.Must(ExternalTargets(context.Background(), handle(s), Options{}))(t)
	var got []string
	for _, x := range all {
		got = append(got, fmt.Sprintf("%s#%s host=%s path=%s anchor=%s links=%d pages=%d %s:%d", x.Target, x.Fragment, x.Host, x.Path, x.Anchor, x.Links, x.Pages, x.Page, x.Line))
	}
	want := []string{
		"/other/%C3%A9#%C3%A9 host=example.org path=/other/é anchor=é links=1 pages=1 a.html:1",
		"http://b.example:8080/# host=b.example:8080 path=/ anchor= links=1 pages=1 a.html:1",
		"https://b.example/#/route host=b.example path=/ anchor= links=1 pages=1 a.html:1",
		"https://b.example/#:~:text=t host=b.example path=/ anchor= links=1 pages=1 a.html:1",
		"https://b.example/#top host=b.example path=/ anchor= links=1 pages=1 a.html:1",
		"https://b.example/x%20y/?q#A%20b host=b.example path=/x y/ anchor=A b links=3 pages=2 0.html:2",
		"https://b.example:8443/# host=b.example:8443 path=/ anchor= links=1 pages=1 0.html:2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestAddresses: each listed address is answered by the listed file, and every
// path of a valid link is listed.
func TestAddresses(t *testing.T) {
	for _, x := range append(slices.Clone(fixtures), fixture{name: "asked", files: asked, sopt: exampleOrg}) {
		if x.change != nil {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			s := x.load(t)
			list := testkit.Must(Addresses(context.Background(), handle(s)))(t)
			if !slices.IsSortedFunc(list, func(a, b Address) int { return cmp.Compare(a.Path, b.Path) }) {
				t.Error("not sorted")
			}
			known := map[string]string{}
			for _, a := range list {
				if file, twice := known[a.Path]; twice {
					t.Errorf("%s is listed twice, for %s and %s", a.Path, file, a.File)
				}
				known[a.Path] = a.File
			}
			if _, err := Links(context.Background(), handle(s), x.opt, Query{}, func(l *Link) error {
				if l.Verdict == OK && strings.HasPrefix(l.Target, "/") {
					if file, ok := known[sitePath(l.Target)]; !ok || file != l.AnsweringFile(handle(s)) {
						t.Errorf("%s is answered by %q, but the list has %q", l.Target, l.AnsweringFile(handle(s)), file)
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
	s := load(t, tempDocroot(t, files{"index.html": plain, "d/index.html": plain, "e/x.txt": "", "f.html": plain}), exampleOrg)
	list, err := Addresses(context.Background(), handle(s))
	want := []Address{
		{"/sub", "index.html", "page", "/sub/"}, {"/sub/", "index.html", "page", ""}, {"/sub/d", "d/index.html", "page", "/sub/d/"},
		{"/sub/d/", "d/index.html", "page", ""}, {"/sub/d/index.html", "d/index.html", "page", ""}, {"/sub/e/x.txt", "e/x.txt", "file", ""},
		{"/sub/f.html", "f.html", "page", ""}, {"/sub/index.html", "index.html", "page", ""},
	}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("%v\n got %v\nwant %v", err, list, want)
	}
}

// TestAddressesOfRules: rules with a literal path are listed as its answer.
func TestAddressesOfRules(t *testing.T) {
	s := load(t, tempDocroot(t, files{"p.html": plain}),
		ruled("/old /p.html 301\n/away https://other.example/x 302\n/gone /nothing 301\n/many/* /p.html 301\n/a%20b /p.html 301\n"))
	list, err := Addresses(context.Background(), handle(s))
	want := []Address{
		{"/a b", "p.html", "page", "/p.html"}, {"/away", "", "rule", "https://other.example/x"}, {"/old", "p.html", "page", "/p.html"}, {"/p.html", "p.html", "page", ""},
	}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("%v\n got %v\nwant %v", err, list, want)
	}
}

// TestAnchors: anchors are in the order of pages and documents, each once.
func TestAnchors(t *testing.T) {
	s := load(t, tempDocroot(t, files{
		"b.html": plain + `<p id=z><a name=y></a><p id=z><map name=z></map><a name=z></a>`,
		"a.html": plain + "<p id='x y'>", "c.html": plain,
	}), isite.Options{})
	for from, want := range map[string]string{
		"":       "a.html id x y|b.html id z|b.html name y|b.html map z|b.html name z|",
		"a.html": "a.html id x y|", "/b.html": "b.html id z|b.html name y|b.html map z|b.html name z|", "c.html": "",
	} {
		var out bytes.Buffer
		err := Anchors(context.Background(), handle(s), Options{Jobs: 3}, from, func(a Anchor) error {
			_, err := fmt.Fprintf(&out, "%s %s %s|", a.Page, a.Kind, a.Name)
			return err
		})
		if err != nil || out.String() != want {
			t.Errorf("from %q: %v\n got %s\nwant %s", from, err, out.String(), want)
		}
	}
	if err := Anchors(context.Background(), handle(s), Options{}, "gone.html", nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("a page that does not exist: %v", err)
	}
}
