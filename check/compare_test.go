package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// broken returns the finding of a page with a broken link.
func broken(page string, line int, target string) Finding {
	return Finding{Page: page, Line: line, Column: 9, Offset: int64(80 * line), Element: "a", Attribute: "href", Raw: target,
		Target: target, Verdict: Error, Code: MissingFile, Status: 404, Message: "file not found: " + target, Count: 1}
}

// TestFingerprintsStay: a finding keeps its fingerprint when it moves or its
// description changes.
func TestFingerprintsStay(t *testing.T) {
	before := []Finding{broken("a.html", 3, "/x.html"), broken("a.html", 5, "/y.html"), broken("a.html", 9, "/x.html"), broken("b.html", 1, "/x.html")}
	want := Fingerprints(before)
	for _, c := range []struct {
		name   string
		change func([]Finding) []Finding
		keep   []int // indices into want
	}{
		{"lines move", func(fs []Finding) []Finding {
			for i := range fs {
				fs[i].Line, fs[i].Column, fs[i].Offset = fs[i].Line+40, 1, fs[i].Offset+4000
			}
			return fs
		}, []int{0, 1, 2, 3}},
		{"another wording, suggestion, status, source", func(fs []Finding) []Finding {
			for i := range fs {
				fs[i].Message, fs[i].Suggestion, fs[i].Status, fs[i].Source = "not there", "/z.html", 410, &Position{File: "a.md", Line: 2}
			}
			return fs
		}, []int{0, 1, 2, 3}},
		{"the same target written otherwise", func(fs []Finding) []Finding {
			fs[1].Raw = "./y.html"
			return fs
		}, []int{0, 1, 2, 3}},
		{"other links of the page come and go", func(fs []Finding) []Finding {
			return []Finding{broken("a.html", 1, "/new.html"), fs[0], fs[2], broken("a.html", 99, "/other.html"), fs[3]}
		}, []int{-1, 0, 2, -1, 3}},
		{"two links change places", func(fs []Finding) []Finding {
			return []Finding{fs[1], fs[0], fs[2], fs[3]}
		}, []int{1, 0, 2, 3}},
		{"the first of two equals goes: the last is no longer found", func(fs []Finding) []Finding {
			return fs[1:]
		}, []int{1, 0, 3}},
		{"a third equal is new", func(fs []Finding) []Finding {
			return []Finding{fs[0], fs[1], fs[2], broken("a.html", 12, "/x.html"), fs[3]}
		}, []int{0, 1, 2, -1, 3}},
		{"another page goes", func(fs []Finding) []Finding { return fs[3:] }, []int{3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Fingerprints(c.change(slices.Clone(before)))
			if len(got) != len(c.keep) {
				t.Fatalf("%d fingerprints, want %d", len(got), len(c.keep))
			}
			for i, k := range c.keep {
				switch {
				case k < 0 && slices.Contains(want, got[i]):
					t.Errorf("finding %d counts as old", i)
				case k >= 0 && got[i] != want[k]:
					t.Errorf("finding %d does not match the old finding %d", i, k)
				}
			}
		})
	}
}

// TestFingerprintsDiffer: every part of the identity counts, and the end of one
// part cannot be mistaken for the start of the next.
func TestFingerprintsDiffer(t *testing.T) {
	base := broken("a.html", 3, "/x.html")
	fs := []Finding{base}
	with := func(change func(*Finding)) {
		f := base
		change(&f)
		fs = append(fs, f)
	}
	with(func(f *Finding) {})
	with(func(f *Finding) { f.Page = "b.html" })
	with(func(f *Finding) { f.Code = WrongCase })
	with(func(f *Finding) { f.Element = "area" })
	with(func(f *Finding) { f.Attribute = "cite" })
	with(func(f *Finding) { f.Target = "/x.html?q" })
	with(func(f *Finding) { f.Fragment = "top" })
	with(func(f *Finding) { f.Target, f.Fragment = "/x.htmlt", "op" })
	with(func(f *Finding) { f.Element, f.Attribute = "ah", "ref" })
	with(func(f *Finding) { f.Target, f.Raw = "", "/x.html" })
	with(func(f *Finding) { f.Target, f.Raw = "", "http://[" })
	with(func(f *Finding) { f.Target, f.Raw = "", "" })
	form := regexp.MustCompile(`^[0-9a-f]{32}$`)
	seen := map[string]int{}
	for i, fp := range Fingerprints(fs) {
		if !form.MatchString(fp) {
			t.Errorf("%d: %q is not 32 hexadecimal digits", i, fp)
		}
		if j, ok := seen[fp]; ok {
			t.Errorf("%+v\nand %+v\nhave the same fingerprint", fs[i], fs[j])
		}
		seen[fp] = i
	}
}

// TestFingerprintsOfScripts: the identity of the finding is its target,
// whichever page links to it first, by whatever address and fragment.
func TestFingerprintsOfScripts(t *testing.T) {
	script := func(page, target, file, fragment string) Finding {
		return Finding{Page: page, Element: "a", Attribute: "href", Target: target, Fragment: fragment, File: file, Code: ScriptFragment}
	}
	want := Fingerprints([]Finding{script("z.html", "/app/", "app/index.html", "one")})[0]
	for _, f := range []Finding{
		script("a.html", "/app/", "app/index.html", "two"),
		script("a.html", "/app/index.html?q=1", "", "two"),
		script("a.html", "/app/inde%78.html", "", "two"),
	} {
		if got := Fingerprints([]Finding{f})[0]; got != want {
			t.Errorf("%s from %s is another finding", f.Target, f.Page)
		}
	}
	if got := Fingerprints([]Finding{script("z.html", "/app2/", "app2/index.html", "one")})[0]; got == want {
		t.Error("two targets are one finding")
	}
}

// TestFingerprintIsAContract fixes the value, because baselines and CI servers
// store it.
func TestFingerprintIsAContract(t *testing.T) {
	got := Fingerprints([]Finding{broken("a.html", 3, "/x.html"), broken("a.html", 4, "/x.html")})
	want := []string{"7cb2f55d40b4d6f6209bcebf3e142ff5", "b1fc09276c5a5014531dcabbf6f4f06a"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: entries of stored baselines would no longer match", got, want)
	}
}

// TestFingerprintsMany: many findings have no two equal fingerprints.
func TestFingerprintsMany(t *testing.T) {
	var fs []Finding
	for i := range 20_000 {
		fs = append(fs, broken(fmt.Sprintf("p%d.html", i/50), i, fmt.Sprintf("/t%d", i%7)))
	}
	if got := slices.Compact(slices.Sorted(slices.Values(Fingerprints(fs)))); len(got) != len(fs) {
		t.Errorf("%d of %d fingerprints are unique", len(got), len(fs))
	}
}

// TestCompare: which findings are new, fixed, or only moved.
func TestCompare(t *testing.T) {
	link := func(page string, line int, target string) Finding {
		return Finding{Page: page, Line: line, Offset: int64(line), Element: "a", Attribute: "href", Target: target, Code: MissingFile, Verdict: Error, Count: 1}
	}
	script := func(page string, target string) Finding {
		return Finding{Page: page, Element: "a", Target: target, Code: ScriptFragment, Verdict: Warning, Count: 3}
	}
	for _, c := range []struct {
		name          string
		before, after []Finding
		want          string // + new, - fixed
	}{
		{"nothing", nil, nil, ""},
		{"same", []Finding{link("a", 1, "/x")}, []Finding{link("a", 1, "/x")}, ""},
		{"first", nil, []Finding{link("a", 1, "/x"), link("b", 1, "/x")}, "+a/x +b/x"},
		{"moved", []Finding{link("a", 1, "/x")}, []Finding{link("a", 9, "/x")}, ""},
		{"fixed", []Finding{link("a", 1, "/x"), link("b", 2, "/y")}, []Finding{link("b", 2, "/y")}, "-a/x"},
		{"one more of the same", []Finding{link("a", 1, "/x")}, []Finding{link("a", 1, "/x"), link("a", 2, "/x")}, "+a/x"},
		{"other target", []Finding{link("a", 1, "/x")}, []Finding{link("a", 1, "/y")}, "+a/y -a/x"},
		{"another example of one target", []Finding{script("a", "/t")}, []Finding{script("b", "/t")}, ""},
		{"page in between", []Finding{link("a", 1, "/x"), link("c", 1, "/x")}, []Finding{link("a", 1, "/x"), link("b", 1, "/x"), link("c", 1, "/x")}, "+b/x"},
	} {
		var got []string
		d := Compare(c.before, c.after)
		for _, f := range d.New {
			got = append(got, fmt.Sprint("+", f.Page, f.Target))
		}
		for _, f := range d.Fixed {
			got = append(got, fmt.Sprint("-", f.Page, f.Target))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %q, want %q", c.name, s, c.want)
		}
	}
}
