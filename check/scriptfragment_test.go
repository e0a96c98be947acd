package check

import (
	"fmt"
	"strings"
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
)

// asking returns a docroot in which page p links to t.html with found fragments
// that exist and missing fragments that do not.
func asking(target string, found, missing int) files {
	var p, q strings.Builder
	p.WriteString(plain)
	q.WriteString(plain + target)
	for i := range found {
		fmt.Fprintf(&p, "<a href=t.html#f%d>x</a>\n", i)
		fmt.Fprintf(&q, "<p id=f%d>", i)
	}
	for i := range missing {
		fmt.Fprintf(&p, "<a href=t.html#m%d>x</a>\n", i)
	}
	return files{"p.html": p.String(), "t.html": q.String()}
}

const script = "<script>x()</script>"

// TestScriptThresholds: how many missing fragments it takes to attribute them
// to a script.
func TestScriptThresholds(t *testing.T) {
	tests := []struct {
		name           string
		target         string
		found, missing int
		script         bool
	}{
		{"seven_asked", script, 0, 7, false},
		{"eight_asked", script, 0, 8, true},
		{"no_script", "", 0, 8, false},
		{"no_script_many", "", 0, 500, false},
		{"one_in_ten_found", script, 1, 9, true},
		{"one_in_nine_found", script, 1, 8, false},
		{"two_in_twenty_found", script, 2, 18, true},
		{"two_in_nineteen_found", script, 2, 17, false},
		{"most_found", script, 50, 5, false},
		{"script_with_src", "<script src=p.html></script>", 0, 8, true},
		{"data_block_is_no_script", "<script type=application/ld+json>{}</script>", 0, 8, false},
		{"inert_script", "<template>" + script + "</template>", 0, 8, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := checkFiles(t, asking(tc.target, tc.found, tc.missing), isite.Options{}, Options{})
			sum := r.Summary
			if tc.script {
				if len(r.Findings) != 1 || r.Findings[0].Verdict != Warning || r.Findings[0].Code != ScriptFragment || r.Findings[0].Count != tc.missing {
					t.Fatalf("got %v, want one warning for %d links", briefs(r.Findings), tc.missing)
				}
				if f := r.Findings[0]; f.Raw != "t.html#m0" || f.Page != "p.html" || !strings.Contains(f.Message, fmt.Sprint(tc.missing)) ||
					!strings.Contains(f.Message, "t.html") || !strings.Contains(f.Message, "#m0") || !strings.Contains(f.Message, "script-fragments") {
					t.Errorf("the message lacks the count, page, example or setting: %s: %s", brief(&f), f.Message)
				}
				if sum.Unchecked != tc.missing || sum.Errors != 0 {
					t.Errorf("%+v", sum)
				}
				return
			}
			if sum.Errors != tc.missing || sum.Unchecked != 0 || len(r.Findings) != tc.missing {
				t.Errorf("got %d findings, %+v, want %d errors", len(r.Findings), sum, tc.missing)
			}
		})
	}
}

// TestScriptModes: the three settings, with each of the three signs of a
// script.
func TestScriptModes(t *testing.T) {
	signs := map[string]files{
		"many":  asking(script, 0, 8),
		"route": {"p.html": plain + strings.Repeat("<a href=t.html#/r>x</a>\n", 5) + "<a href=t.html#!r><a href=t.html#!s><a href=t.html#!t>", "t.html": plain},
		"range": {"p.html": plain + strings.Repeat("<a href=t.html#2-9>x</a>\n", 8), "t.html": plain + script + "<i id=2></i><i id=9></i>"},
	}
	for name, fs := range signs {
		t.Run(name, func(t *testing.T) {
			s := load(t, tempDocroot(t, fs), isite.Options{})
			warn, fail, silent := run(t, s, Options{}), run(t, s, Options{ScriptFragments: ScriptError}), run(t, s, Options{ScriptFragments: ScriptSilent})
			if len(warn.Findings) != 1 || warn.Findings[0].Count != 8 || warn.Summary.Unchecked != 8 || !warn.HasWarnings() {
				t.Errorf("warn: %v, %+v", briefs(warn.Findings), warn.Summary)
			}
			if len(fail.Findings) != 8 || fail.Summary.Errors != 8 || fail.Findings[0].Code != MissingFragment {
				t.Errorf("error: %v, %+v", briefs(fail.Findings), fail.Summary)
			}
			if len(silent.Findings) != 0 || silent.Summary.Unchecked != 8 || silent.HasWarnings() || len(silent.Summary.Reasons) != 1 || silent.Summary.Reasons[0] != (Reason{ScriptFragment, 8}) {
				t.Errorf("silent: %v, %+v", briefs(silent.Findings), silent.Summary)
			}
		})
	}
}

// TestLineRangeFragments: a range of lines is attributed to a script if both
// ends exist and the page has a script. It does not count toward the threshold.
func TestLineRangeFragments(t *testing.T) {
	for _, tc := range []struct {
		name, target, fragment string
		script                 bool
	}{
		{"digits", script + "<i id=2></i><i id=9></i>", "2-9", true},
		{"letters", script + "<i id=L2></i><i id=L9></i>", "L2-L9", true},
		{"letter_once", script + "<i id=L2></i><i id=L9></i>", "L2-9", true},
		{"first_missing", script + "<i id=9></i>", "2-9", false},
		{"last_missing", script + "<i id=2></i>", "2-9", false},
		{"no_script", "<i id=2></i><i id=9></i>", "2-9", false},
		{"no_range", script + "<i id=2></i><i id=9></i>", "2-9-9", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := checkFiles(t, files{"p.html": plain + "<a href=t.html#" + tc.fragment + ">", "t.html": plain + tc.target}, isite.Options{}, Options{})
			want := MissingFragment
			if tc.script {
				want = ScriptFragment
			}
			if len(r.Findings) != 1 || r.Findings[0].Code != want {
				t.Errorf("got %v, want one %s", briefs(r.Findings), want)
			}
		})
	}
	t.Run("ranges_are_not_asked", func(t *testing.T) {
		fs := asking(script+"<i id=2></i><i id=9></i>", 0, 7)
		fs["p.html"] += strings.Repeat("<a href=t.html#2-9>x</a>", 50)
		r := checkFiles(t, fs, isite.Options{}, Options{})
		if r.Summary.Errors != 7 || r.Summary.Unchecked != 50 {
			t.Errorf("%+v, want 7 errors beside 50 ranges", r.Summary)
		}
	})
	t.Run("id_with_that_text_is_found", func(t *testing.T) {
		r := checkFiles(t, files{"p.html": plain + "<a href=t.html#2-9>", "t.html": plain + script + "<i id=2-9></i>"}, isite.Options{}, Options{})
		compareBriefs(t, r.Findings)
	})
}

// TestScriptPerTarget: each target page has one warning, with an example that
// does not depend on the order of work.
func TestScriptPerTarget(t *testing.T) {
	fs := files{"t1.html": plain, "t2.html": plain}
	for i := range 70 {
		fs[fmt.Sprintf("p%02d.html", i)] = plain + "<a href=t1.html#/a><a href=t2.html#/b><a href=t1.html#/c>"
	}
	r := checkFiles(t, fs, isite.Options{}, Options{Jobs: 3})
	if len(r.Findings) != 2 || r.Findings[0].Count+r.Findings[1].Count != 210 || r.Summary.Unchecked != 210 {
		t.Errorf("got %v, %+v", briefs(r.Findings), r.Summary)
	}
	compareBriefs(t, r.Findings, "p00.html:1:40 warning script-fragment t1.html#/a", "p00.html:1:59 warning script-fragment t2.html#/b")
}

// TestScriptAndWarning: a link whose path has a warning keeps it.
func TestScriptAndWarning(t *testing.T) {
	r := checkFiles(t, files{"p.html": plain + "<a href=d//t.html#/r>", "d/t.html": plain}, isite.Options{}, Options{})
	compareBriefs(t, r.Findings, "p.html:1:40 warning double-slash d//t.html#/r")
	if r.Summary.Warnings != 1 || r.Summary.Unchecked != 0 {
		t.Errorf("%+v", r.Summary)
	}
}
