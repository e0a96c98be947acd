package report

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/text"
)

// command parses a line as the runner does.
var command = regexp.MustCompile(`^::([a-z]+)(?: ([^:]*))?::(.*)$`)

// TestGitHubEscapes: text of a page cannot end a property, a command or a line,
// and the runner decodes a % of the site to a %.
func TestGitHubEscapes(t *testing.T) {
	file, message := "a,b:c%41/::error::x\n.html", "100%25 of ::error::,\r\nfoo::set-output name=x::y"
	r := check.Result{Findings: []check.Finding{{Page: file, Line: 3, Column: 4, Verdict: check.Error, Code: check.BadURL,
		Message: message, Suggestion: "x%y"}}}
	got := string(write(t, Format{Name: "github", Write: GitHub}, &r, Options{}))
	want := "::error file=a%2Cb%3Ac%2541/%3A%3Aerror%3A%3Ax\\n.html,line=3,col=4,title=bad-url::" +
		"100%2525 of ::error::,\\r\\nfoo::set-output name=x::y; did you mean x%25y?\n"
	if got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	for in, want := range map[string]string{"%": "%25", "%0A": "%250A", "\r\n": "%0D%0A", ":,": ":,", "a": "a"} {
		if got := githubData.Replace(in); got != want {
			t.Errorf("data %q becomes %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"%": "%25", "\r\n": "%0D%0A", ":,": "%3A%2C", ";]=": ";]="} {
		if got := githubProperty.Replace(in); got != want {
			t.Errorf("property %q becomes %q, want %q", in, got, want)
		}
	}
}

// TestGitHubCap: at most ten causes with errors and ten with warnings, the worst
// first, and one line that counts the rest.
func TestGitHubCap(t *testing.T) {
	for _, n := range []int{0, 1, 12, 13, 100, 1_000} {
		r := many(n)
		shown := map[string]int{}
		last, notices := "error", ""
		for line := range strings.Lines(string(write(t, Format{Name: "github", Write: GitHub}, &r, Options{}))) {
			m := command.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m == nil {
				t.Fatalf("not a command: %q", line)
			}
			shown[m[1]]++
			if last == "warning" && m[1] == "error" || last == "notice" {
				t.Errorf("%d findings: %s behind %s", n, m[1], last)
			}
			last = m[1]
			if m[1] == "notice" {
				notices += m[3]
			}
		}
		errors, warnings := causesWith(&r, check.Error), causesWith(&r, check.Warning)
		if shown["error"] != min(10, errors) || shown["warning"] != min(10, warnings) {
			t.Errorf("%d errors and %d warnings: shown %v", errors, warnings, shown)
		}
		want := ""
		if hidden := max(0, errors-10) + max(0, warnings-10); hidden > 0 {
			want = fmt.Sprintf(" with %s, not shown here", text.Count(hidden, "cause"))
		}
		if !strings.Contains(notices, want) || (notices == "") != (want == "") {
			t.Errorf("%d errors, %d warnings: notice %q, want %q", errors, warnings, notices, want)
		}
	}
}

// causesWith counts the causes of that verdict.
func causesWith(r *check.Result, v check.Verdict) (n int) {
	for _, c := range check.Causes(r.Findings) {
		if r.Findings[c.First].Verdict == v {
			n++
		}
	}
	return n
}

type gitlabIssue struct {
	Description, Fingerprint, Severity, Cause string
	CheckName                                 string `json:"check_name"`
	Location                                  struct {
		Path  string
		Lines struct{ Begin int }
	}
}

func readGitLab(t *testing.T, r *check.Result, opt Options) []gitlabIssue {
	t.Helper()
	var issues []gitlabIssue
	if err := json.Unmarshal(write(t, Format{Name: "gitlab", Write: GitLab}, r, opt), &issues); err != nil {
		t.Fatal(err)
	}
	return issues
}

// TestGitLab: an issue for each cause, all fields that GitLab requires, an array also for a clean site,
// and unique fingerprints that stay the same when lines move.
func TestGitLab(t *testing.T) {
	for _, c := range append(results(), fixture{name: "many", result: many(2000)}) {
		issues := readGitLab(t, &c.result, testOptions(GroupCause))
		causes := check.Causes(c.result.Findings)
		if issues == nil || len(issues) != len(causes) {
			t.Errorf("%s: %d issues for %d causes", c.name, len(issues), len(causes))
		}
		var fingerprints []string
		for i, issue := range issues {
			f := &c.result.Findings[causes[i].First]
			severity := map[check.Verdict]string{check.Error: "major", check.Warning: "minor"}[f.Verdict]
			if issue.Description == "" || issue.CheckName != string(f.Code) || issue.Severity != severity || issue.Location.Lines.Begin < 1 || issue.Cause != causes[i].ID ||
				strings.HasPrefix(issue.Location.Path, "./") || strings.HasPrefix(issue.Location.Path, "/") || issue.Location.Path == "" {
				t.Errorf("%s: %+v", c.name, issue)
			}
			fingerprints = append(fingerprints, issue.Fingerprint)
		}
		moved := check.Result{Findings: slices.Clone(c.result.Findings)}
		for i := range moved.Findings {
			moved.Findings[i].Line += 7
			moved.Findings[i].Offset += 700
		}
		for i, issue := range readGitLab(t, &moved, testOptions(GroupCause)) {
			if issue.Fingerprint != fingerprints[i] {
				t.Errorf("%s: the fingerprint of finding %d changes when its line moves", c.name, i)
			}
		}
		slices.Sort(fingerprints)
		if n := len(slices.Compact(fingerprints)); n != len(issues) {
			t.Errorf("%s: %d fingerprints for %d issues", c.name, n, len(issues))
		}
	}
}
