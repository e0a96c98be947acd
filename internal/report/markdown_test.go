package report

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/text"
)

// TestMarkdownBound: the report is never longer than 65,000 bytes, and it
// counts what is missing.
func TestMarkdownBound(t *testing.T) {
	long := many(200)
	for i := range long.Findings {
		long.Findings[i].Message = strings.Repeat("a*b ", 5000)
		long.Findings[i].Raw = strings.Repeat("`x", 5000)
		long.Findings[i].Page = strings.Repeat("long/", 1000) + long.Findings[i].Page
	}
	long.Summary.Docroot = strings.Repeat("d", 100_000)
	for range 1000 {
		long.Summary.UnusedIgnores = append(long.Summary.UnusedIgnores, strings.Repeat("rule ", 100))
	}
	rest := regexp.MustCompile(`\n\*\*([0-9,]+) more\*\* of ([0-9,]+) (?:findings|causes) did not fit`)
	for name, r := range map[string]check.Result{"none": many(0), "30": many(30), "3000": many(3_000), "long": long} {
		for _, by := range []GroupBy{GroupCause, GroupPage, GroupTarget, GroupCode, GroupOwner} {
			got := string(write(t, Format{Name: "markdown", Write: Markdown}, &r, testOptions(by)))
			if len(got) > 65_000 {
				t.Errorf("%s by %v: %d bytes", name, by, len(got))
			}
			start, all := strings.Index(got, "\n#### ")+1, len(r.Findings)
			if by == GroupCause {
				start, all = max(strings.Index(got, "\n\n- **"), strings.Index(got, "\n\n- `")), len(check.Causes(r.Findings))
			}
			items := strings.Count(got[max(0, start):], "\n- ")
			if len(r.Findings) == 0 {
				items = 0
			}
			want := all - items
			m := rest.FindStringSubmatch(got)
			switch {
			case want == 0 && m != nil:
				t.Errorf("%s by %v: all findings are there, yet it says %q", name, by, m[0])
			case want > 0 && (m == nil || m[1] != text.Thousands(want) || m[2] != text.Thousands(all)):
				t.Errorf("%s by %v: %d of %d are missing, it says %q", name, by, want, all, m)
			}
			if strings.Count(got, "<details>") != strings.Count(got, "</details>") {
				t.Errorf("%s by %v: details are not closed", name, by)
			}
		}
	}
}

// TestMarkdownInert: which text may be outside of a code span.
func TestMarkdownInert(t *testing.T) {
	for s, want := range map[string]bool{
		"file not found: /a/b.html": true, "the file is named photo.png": true, `/x has no element with id "a"`: true,
		"not a URL: port": true, "größer": true,
		"": false, "@team": false, "see #12": false, "GH-12": false, "org/repo#1": false, "http://x": false, "a:b": false, "x:": false,
		"www.x.org": false, "WWW.x": false, "a_b_c": false, "*x*": false, "<b>": false, "&lt;": false, "[a](b)": false, "!x": false,
		`\*`: false, "`": false, "~~x~~": false, "a|b": false, "$x$": false, "{x}": false, "a\x1b": false, "a+b": false,
	} {
		if got := isPlainMarkdown(s); got != want {
			t.Errorf("inert(%q) = %v", s, got)
		}
	}
}

// TestMarkdownSpan: no value ends the code span around it (CommonMark 6.1).
func TestMarkdownSpan(t *testing.T) {
	for s, want := range map[string]string{
		"a": "`a`", "": "(empty)", "a`b": "``a`b``", "`": "`` ` ``", "``": "``` `` ```", "a``b`c": "```a``b`c```",
		" a ": "`  a  `", " ": "` `", " a": "` a`", "a`": "`` a` ``",
	} {
		if got := span(s); got != want {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
	}
}

// TestMarkdownOrder: pages with an error come before those with warnings only,
// which are the first to be cut.
func TestMarkdownOrder(t *testing.T) {
	r := faults()
	got := string(write(t, Format{Name: "markdown", Write: Markdown}, &r, Options{GroupBy: GroupPage}))
	var order []string
	for _, m := range regexp.MustCompile("(?m)^#### `([^`]+)`: ([0-9]) (error|warning)").FindAllStringSubmatch(got, -1) {
		order = append(order, m[1]+" "+m[3])
	}
	want := "[m.map error open.html error style.html error big.html warning list.html warning]"
	if fmt.Sprint(order) != want {
		t.Errorf("%v, want %s", order, want)
	}
}
