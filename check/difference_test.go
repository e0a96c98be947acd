package check

import (
	"fmt"
	"strings"
	"testing"
)

// TestCompare: what came, what went, and what only moved.
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
