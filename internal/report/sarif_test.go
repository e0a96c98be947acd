package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
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
	OccurrenceCount     int
	Properties          struct{ Cause string }
}

func readSARIF(t *testing.T, r *check.Result, opt Options) sarifLog {
	t.Helper()
	var text bytes.Buffer
	var log sarifLog
	testkit.Check(t, errors.Join(SARIF(&text, r, opt), json.Unmarshal(text.Bytes(), &log)))
	if len(log.Runs) != 1 || log.Version != "2.1.0" {
		t.Fatalf("%d runs of version %s", len(log.Runs), log.Version)
	}
	return log
}

// TestSARIFResults: each cause is one result, with the rule, location and
// fingerprint of its first finding and the number of its links.
func TestSARIFResults(t *testing.T) {
	for _, c := range results() {
		run := readSARIF(t, &c.result, testOptions(GroupCause)).Runs[0]
		causes := check.Causes(c.result.Findings)
		if run.Tool.Driver.Version != "v1.2.3" || len(run.Results) != len(causes) || run.Results == nil {
			t.Errorf("%s: version %s, %d results", c.name, run.Tool.Driver.Version, len(run.Results))
			continue
		}
		fingerprints := check.Fingerprints(c.result.Findings)
		for i, got := range run.Results {
			f := &c.result.Findings[causes[i].First]
			if got.OccurrenceCount != causes[i].Links || got.Properties.Cause != causes[i].ID {
				t.Errorf("%s: cause %d has %d links and the ID %s", c.name, i, got.OccurrenceCount, got.Properties.Cause)
			}
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
				if got.PartialFingerprints[key] != fingerprints[causes[i].First] {
					t.Errorf("%s: finding %d has %s %q", c.name, i, key, got.PartialFingerprints[key])
				}
			}
		}
	}
}

// TestSARIFLimits: at most 25,000 results, errors before warnings, and a
// notification about what is missing or not shown.
func TestSARIFLimits(t *testing.T) {
	sizes := testkit.Longer([]int{5_500}, []int{5_500, 5_000, 27_000})
	for _, n := range sizes {
		r := many(n)
		causes := len(check.Causes(r.Findings))
		run := readSARIF(t, &r, Options{}).Runs[0]
		if want := min(causes, sarifMaxResults); len(run.Results) != want {
			t.Errorf("%d causes give %d results, want %d", causes, len(run.Results), want)
		}
		note := ""
		for _, n := range run.Invocations[0].ToolExecutionNotifications {
			note += n.Message.Text
		}
		want := ""
		switch {
		case causes > sarifMaxResults:
			want = fmt.Sprintf("25000 of %d causes are in this file, the most that GitHub takes; the formats text and json have all.", causes)
		case causes > sarifShown:
			want = fmt.Sprintf("GitHub shows 5000 of these %d causes.", causes)
		}
		if note != want || !run.Invocations[0].ExecutionSuccessful {
			t.Errorf("%d causes: note %q, want %q", causes, note, want)
		}
		if !slices.IsSortedFunc(run.Results, func(a, b sarifResult) int { return strings.Compare(a.Level, b.Level) }) {
			t.Errorf("%d causes: a warning before an error", causes)
		}
	}
}

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
