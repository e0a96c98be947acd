package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// hostilePlan returns a plan with addresses that attack the program that displays them.
func hostilePlan() *outgoing.Plan {
	item := func(e ledger.Event, target, page string) outgoing.Item {
		return outgoing.Item{Notice: ledger.Notice{Key: ledger.Key{Source: "https://me.example/`x`\x1b[2J", Target: target}, Event: e}, Page: page}
	}
	return &outgoing.Plan{Base: "https://me.example/", Items: []outgoing.Item{
		item(ledger.Added, "https://x.example/\u202e@all", "a\nb.html"),
		item(ledger.Removed, "https://X.example/`![](http://evil.example)", "a\nb.html"),
	}}
}

func TestPlanShowsWhatActsOnTerminals(t *testing.T) {
	var b bytes.Buffer
	testkit.Check(t, Plan(&b, hostilePlan(), PlanOptions{}))
	if strings.ContainsAny(b.String(), "\x1b\u202e") || strings.Contains(b.String(), "a\nb") {
		t.Errorf("the text acts on a terminal:\n%q", b.String())
	}
	if !strings.Contains(b.String(), "2 notices to 1 host: 1 added, 1 removed; 0 pages unchanged") {
		t.Errorf("counts:\n%s", b.String())
	}
}

func TestPlanMarkdownIsInert(t *testing.T) {
	var b bytes.Buffer
	calls := []PlannedCall{{Method: "UNLINKR", Source: "https://y.example/`![](https://evil.example/)", Target: "https://me.example/a"}}
	testkit.Check(t, PlanMarkdown(&b, hostilePlan(), calls))
	for _, line := range strings.Split(b.String(), "\n") {
		if at := strings.Index(line, "![]"); at >= 0 && !strings.HasPrefix(line, "- removed ``https://X.example/`![](") && !strings.HasPrefix(line, "- UNLINKR ``https://y.example/`![](https://evil.example/)``: `https://me.example/a is gone`") {
			t.Errorf("a picture outside of a code span: %q", line)
		}
	}
	if !strings.Contains(b.String(), "``https://me.example/`x`") {
		t.Errorf("no code span around the source:\n%s", b.String())
	}
}

func TestPlanMarkdownIsBounded(t *testing.T) {
	p := &outgoing.Plan{}
	for range 5000 {
		p.Items = append(p.Items, outgoing.Item{Notice: ledger.Notice{Key: ledger.Key{Source: "https://me.example/", Target: "https://x.example/" + strings.Repeat("a", 100)}, Event: ledger.Added}})
	}
	calls := slices.Repeat([]PlannedCall{{Method: "LINKMOD", Source: "https://x.example/" + strings.Repeat("s", 5000), Target: "https://me.example/" + strings.Repeat("t", 5000)}}, 60)
	var b bytes.Buffer
	testkit.Check(t, PlanMarkdown(&b, p, calls))
	if !strings.Contains(b.String(), "makes 60 calls") || !strings.Contains(b.String(), "more calls\n") {
		t.Errorf("the calls are not listed:\n%.300s", b.String())
	}
	if b.Len() > markdownMaxBytes || !strings.HasSuffix(b.String(), "more notices\n") {
		t.Errorf("%d bytes, ends in %q", b.Len(), b.String()[b.Len()-40:])
	}
}

func TestPlanJSONHasListsAlways(t *testing.T) {
	var b bytes.Buffer
	testkit.Check(t, PlanJSON(&b, &outgoing.Plan{First: true}, nil))
	var d map[string]any
	testkit.Check(t, json.Unmarshal(b.Bytes(), &d))
	for _, field := range []string{"notices", "gone", "graves", "forgotten", "leftOut"} {
		if list, ok := d[field].([]any); !ok || len(list) != 0 {
			t.Errorf("%s is %v, want an empty list", field, d[field])
		}
	}
	if d["first"] != true {
		t.Errorf("%v", d)
	}
}

func TestPlanSummary(t *testing.T) {
	for want, p := range map[string]*outgoing.Plan{
		"no ledger yet: the first run records 1 page with 0 links and sends nothing": {First: true, Change: ledger.Change{Pages: make([]ledger.Page, 1)}},
		"nothing to send: 3 pages unchanged":                                         {Unchanged: 3},
		"nothing to send: 1 page unchanged":                                          {Unchanged: 1, Items: []outgoing.Item{{Withdrawn: true}}},
	} {
		if got := PlanSummary(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
