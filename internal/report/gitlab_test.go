package report

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
)

type gitlabIssue struct {
	Description, Fingerprint, Severity string
	CheckName                          string `json:"check_name"`
	Location                           struct {
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

// TestGitLab (issue 4, item 6): all that GitLab requires of an issue, an array
// also for a clean site, and fingerprints that are unique and stay while lines
// move.
func TestGitLab(t *testing.T) {
	for _, c := range append(results(), fixture{name: "many", result: many(2000)}) {
		issues := readGitLab(t, &c.result, testOptions(GroupPage))
		if issues == nil || len(issues) != len(c.result.Findings) {
			t.Errorf("%s: %d issues for %d findings", c.name, len(issues), len(c.result.Findings))
		}
		var fingerprints []string
		for i, issue := range issues {
			f := &c.result.Findings[i]
			severity := map[check.Verdict]string{check.Error: "major", check.Warning: "minor"}[f.Verdict]
			if issue.Description == "" || issue.CheckName != string(f.Code) || issue.Severity != severity || issue.Location.Lines.Begin < 1 ||
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
		for i, issue := range readGitLab(t, &moved, testOptions(GroupPage)) {
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
