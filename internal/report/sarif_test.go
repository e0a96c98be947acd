package report

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
)

// sarifLog is what GitHub reads of a log.
type sarifLog struct {
	Version string
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name, Version string
				Rules         []struct {
					ID   string
					Help struct{ Text string }
				}
			}
		}
		Results     []sarifResult
		Invocations []struct {
			ExecutionSuccessful        bool
			ToolExecutionNotifications []struct{ Message struct{ Text string } }
		}
	}
}

type sarifResult struct {
	RuleID    string
	RuleIndex int
	Level     string
	Message   struct{ Text string }
	Locations []struct {
		PhysicalLocation struct {
			ArtifactLocation struct{ URI, URIBaseID string }
			Region           struct{ StartLine, StartColumn int }
		}
	}
	PartialFingerprints map[string]string
}

func readSARIF(t *testing.T, r *check.Result, opt Options) sarifLog {
	t.Helper()
	var log sarifLog
	if err := json.Unmarshal(write(t, Format{Name: "sarif", Write: SARIF}, r, opt), &log); err != nil {
		t.Fatal(err)
	}
	if len(log.Runs) != 1 || log.Version != "2.1.0" {
		t.Fatalf("%d runs of version %s", len(log.Runs), log.Version)
	}
	return log
}

// TestSARIFResults: rule, location and fingerprint of each result are those of
// its finding.
func TestSARIFResults(t *testing.T) {
	for _, c := range results() {
		run := readSARIF(t, &c.result, testOptions(GroupPage)).Runs[0]
		if run.Tool.Driver.Version != "v1.2.3" || len(run.Results) != len(c.result.Findings) || run.Results == nil {
			t.Errorf("%s: version %s, %d results", c.name, run.Tool.Driver.Version, len(run.Results))
			continue
		}
		fingerprints := check.Fingerprints(c.result.Findings)
		for i, got := range run.Results {
			f := &c.result.Findings[i]
			rule := run.Tool.Driver.Rules[got.RuleIndex]
			if rule.ID != string(f.Code) || got.RuleID != rule.ID || rule.Help.Text == "" || got.Level != f.Verdict.String() {
				t.Errorf("%s: %s has the rule %s, %q", c.name, f.Code, rule.ID, rule.Help.Text)
			}
			at := got.Locations[0].PhysicalLocation
			if f.Source == nil && at.Region.StartLine != max(f.Line, 1) || f.Source != nil && at.Region.StartLine != max(f.Source.Line, 1) {
				t.Errorf("%s: finding %d is at line %d", c.name, i, at.Region.StartLine)
			}
			if at.ArtifactLocation.URIBaseID != "%SRCROOT%" {
				t.Errorf("%s: base %q", c.name, at.ArtifactLocation.URIBaseID)
			}
			for _, key := range []string{"primaryLocationLineHash", "sitelink/v1"} {
				if got.PartialFingerprints[key] != fingerprints[i] {
					t.Errorf("%s: finding %d has %s %q", c.name, i, key, got.PartialFingerprints[key])
				}
			}
		}
	}
}

// TestSARIFLimits: at most 25,000 results, errors before warnings, in the order
// of the findings, and a notification about what is missing or not shown.
func TestSARIFLimits(t *testing.T) {
	for _, c := range []struct {
		findings, results int
		note              string
	}{
		{5_000, 5_000, ""},
		{5_001, 5_001, "GitHub shows 5000 of these 5001 findings."},
		{25_000, 25_000, "GitHub shows 5000 of these 25000 findings."},
		{40_000, 25_000, "25000 of 40000 findings are in this file, the most that GitHub takes; the formats text and json have all."},
	} {
		r := many(c.findings)
		run := readSARIF(t, &r, Options{}).Runs[0]
		if len(run.Results) != c.results {
			t.Errorf("%d findings give %d results, want %d", c.findings, len(run.Results), c.results)
		}
		note := ""
		for _, n := range run.Invocations[0].ToolExecutionNotifications {
			note += n.Message.Text
		}
		if note != c.note || !run.Invocations[0].ExecutionSuccessful {
			t.Errorf("%d findings: note %q, want %q", c.findings, note, c.note)
		}
		if !slices.IsSortedFunc(run.Results, func(a, b sarifResult) int {
			return strings.Compare(strings.SplitN(sarifURI(a), "/", 2)[1], strings.SplitN(sarifURI(b), "/", 2)[1])
		}) {
			t.Errorf("%d findings: the results are out of order", c.findings)
		}
		// 32,000 of 40,000 are errors: no warning has room.
		if c.findings == 40_000 && slices.ContainsFunc(run.Results, func(r sarifResult) bool { return r.Level != "error" }) {
			t.Error("a warning replaced an error")
		}
	}
}

func sarifURI(r sarifResult) string { return r.Locations[0].PhysicalLocation.ArtifactLocation.URI }

// TestURI: RFC 3986, sections 3.3 and 4.2: the path of a relative reference is
// the name of the file, whatever bytes it has.
func TestURI(t *testing.T) {
	for file, want := range map[string]string{
		"a/b.html": "a/b.html", "a b.html": "a%20b.html", "a%20b": "a%2520b", "c:d": "c%3Ad", "?q#f": "%3Fq%23f",
		"ä/世": "%C3%A4/%E4%B8%96", "\xff": "%FF", "[x]|{y}": "%5Bx%5D%7C%7By%7D", "a~-_.b": "a~-_.b", "\n": "%0A",
		"/srv/site/a b": "file:///srv/site/a%20b", "C:/site/x": "file:///C%3A/site/x",
	} {
		if got := string(appendURI(nil, file)); got != want {
			t.Errorf("%q becomes %q, want %q", file, got, want)
		}
	}
}

// TestSARIFOutside: a docroot outside of the project has no base.
func TestSARIFOutside(t *testing.T) {
	r := few()
	for _, result := range readSARIF(t, &r, Options{Base: "/srv/www"}).Runs[0].Results {
		at := result.Locations[0].PhysicalLocation.ArtifactLocation
		if !strings.HasPrefix(at.URI, "file:///srv/www/") || at.URIBaseID != "" {
			t.Errorf("location %+v", at)
		}
	}
}

// TestSARIFText: sections 3.11.5 and 3.11.6: a page cannot write links or
// placeholders into a message.
func TestSARIFText(t *testing.T) {
	for in, want := range map[string]string{
		"file not found: /a[1]": "file not found: /a[1]", "see [here](http://evil)": `see \[here](http://evil)`,
		"[a][b](c)": `\[a]\[b](c)`, "{0} and {x} and {{1}}": "{{0} and {x} and {{{1}}", "{12": "{12",
	} {
		if got := sarifText(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
