package report

import (
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
)

type junitSuites struct {
	XMLName                          xml.Name `xml:"testsuites"`
	Tests, Failures, Errors, Skipped int
	Suites                           []struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Cases    []struct {
			Class string `xml:"classname,attr"`
			Name  string `xml:"name,attr"`
			File  string `xml:"file,attr"`
			Cause struct {
				Value string `xml:"value,attr"`
			} `xml:"properties>property"`
			Failure *struct {
				Message string `xml:"message,attr"`
				Type    string `xml:"type,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
			Skipped *struct {
				Message string `xml:"message,attr"`
			} `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

// TestJUnit: the counts match the test cases, no two cases have the same
// identity, a clean site has a test that passes, and warnings fail if they fail
// the run.
func TestJUnit(t *testing.T) {
	for _, c := range append(results(), fixture{name: "many", result: many(1000)}) {
		for _, strict := range []bool{false, true} {
			opt := testOptions(GroupCause)
			opt.WarningsFail = strict
			var doc junitSuites
			if err := xml.Unmarshal(write(t, Format{Name: "junit", Write: JUnit}, &c.result, opt), &doc); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			tests, failures, skipped := 0, 0, 0
			seen := map[[2]string]bool{}
			var causes []string
			for _, s := range doc.Suites {
				inSuite := 0
				for _, tc := range s.Cases {
					key := [2]string{tc.Class, tc.Name}
					if seen[key] || tc.Class == "" || tc.Name == "" {
						t.Errorf("%s: two tests are %q", c.name, key)
					}
					seen[key] = true
					if s.Name != "sitelink" {
						causes = append(causes, tc.Cause.Value)
					}
					if tc.Failure != nil {
						inSuite++
						if tc.Failure.Message == "" || tc.Failure.Type == "" || !strings.Contains(tc.Failure.Text, "["+tc.Failure.Type+"]") {
							t.Errorf("%s: failure %+v", c.name, *tc.Failure)
						}
					}
					if tc.Skipped != nil {
						skipped++
					}
				}
				if s.Tests != len(s.Cases) || s.Failures != inSuite {
					t.Errorf("%s: suite %s has %d tests and %d failures, says %d and %d", c.name, s.Name, len(s.Cases), inSuite, s.Tests, s.Failures)
				}
				tests, failures = tests+len(s.Cases), failures+inSuite
			}
			errors, warnings := 0, 0
			for _, f := range c.result.Findings {
				if f.Verdict == check.Error {
					errors++
				} else {
					warnings++
				}
			}
			if strict {
				errors, warnings = errors+warnings, 0
			}
			if want := CauseIDs(c.result.Findings); !sameElements(causes, want) {
				t.Errorf("%s: causes %v, want %v", c.name, causes, want)
			}
			if failures != errors || skipped != warnings || tests != len(c.result.Findings)+1 {
				t.Errorf("%s: %d tests, %d failures, %d skipped", c.name, tests, failures, skipped)
			}
		}
	}
}

// TestJUnitNames: the identity of a test does not include its line, and it
// numbers equal links.
func TestJUnitNames(t *testing.T) {
	r := fromTemplate()
	before := junitNames(t, &r)
	for i := range r.Findings {
		r.Findings[i].Line += 100
		r.Findings[i].Offset += 5000
	}
	if after := junitNames(t, &r); after != before {
		t.Error("the names change when lines move")
	}
	if !strings.Contains(before, "public/post/0.html missing-file <a href=\"/old/\"> (2)\n") {
		t.Errorf("no second link of a page: %s", before)
	}
}

func junitNames(t *testing.T, r *check.Result) string {
	t.Helper()
	var doc junitSuites
	if err := xml.Unmarshal(write(t, Format{Name: "junit", Write: JUnit}, r, testOptions(GroupCause)), &doc); err != nil {
		t.Fatal(err)
	}
	var names strings.Builder
	for _, s := range doc.Suites {
		for _, tc := range s.Cases {
			names.WriteString(tc.Class + " " + tc.Name + "\n")
		}
	}
	return names.String()
}

// sameElements reports whether two lists have the same elements, in any order.
func sameElements(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}
