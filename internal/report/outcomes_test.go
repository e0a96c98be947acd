package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing/deliver"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// someOutcomes has one outcome of each kind, and answers with which a target
// could attack a terminal or Markdown.
func someOutcomes() *deliver.Report {
	fault := 0
	next := time.Date(2026, 11, 21, 16, 0, 0, 0, time.UTC)
	one := func(source, target string, p ledger.Protocol, s ledger.State, message string) deliver.Outcome {
		return deliver.Outcome{Notice: ledger.Notice{Key: ledger.Key{Source: "https://me.example/" + source, Target: "https://" + target + ".example/", Protocol: p},
			Event: ledger.Added, State: s, Message: message, Attempts: 1}}
	}
	r := &deliver.Report{Results: []deliver.Outcome{
		one("a", "done", ledger.Webmention, ledger.Done, ""),
		one("a", "none", ledger.AnyProtocol, ledger.NoService, "the target takes no notices"),
		one("a", "no", ledger.Pingback, ledger.Permanent, "refused \x1b[31m`x`"),
		one("b", "later", ledger.Webmention, ledger.Retry, "the endpoint answers 503"),
		one("b", "again", ledger.Webmention, ledger.Done, ""),
		one("b", "unsettled", ledger.LinkMethod, ledger.Permanent, "not sent twice"),
		one("c", "unknown", ledger.AnyProtocol, ledger.InFlight, "no answer"),
		one("c", "private", ledger.AnyProtocol, ledger.Skipped, "10.0.0.1 is not dialled"),
	}, NotTried: 2}
	r.Results[2].Fault = &fault
	r.Results[3].Next = next
	r.Results[4].Repeated = true
	r.Results[5].NotRepeated = true
	return r
}

func TestOutcomes(t *testing.T) {
	r := someOutcomes()
	var text, all, markdown, document bytes.Buffer
	for _, err := range []error{Outcomes(&text, r, OutcomesOptions{}), Outcomes(&all, r, OutcomesOptions{All: true, Color: true}),
		OutcomesMarkdown(&markdown, r), OutcomesJSON(&document, "https://me.example/", r)} {
		testkit.Check(t, err)
	}
	golden(t, "outcomes.txt", text.Bytes())
	golden(t, "outcomes.all.txt", all.Bytes())
	golden(t, "outcomes.md", markdown.Bytes())
	golden(t, "outcomes.json", document.Bytes())
}

// PB-52: successes are not shown.
func TestOutcomesQuiet(t *testing.T) {
	r := &deliver.Report{Results: someOutcomes().Results[:2]}
	var out bytes.Buffer
	if err := Outcomes(&out, r, OutcomesOptions{}); err != nil || out.Len() > 0 {
		t.Errorf("%q, %v", out.String(), err)
	}
	if err := Outcomes(&out, r, OutcomesOptions{All: true}); err != nil || !strings.Contains(out.String(), "notified: https://done.example/") {
		t.Errorf("%q, %v", out.String(), err)
	}
	out.Reset()
	if err := Outcomes(&out, &deliver.Report{NotTried: 1, Stopped: "context canceled"}, OutcomesOptions{}); err != nil || out.String() != "1 not tried\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// The Markdown stays below the limit of a comment, however many notices fail.
func TestOutcomesMarkdownIsBounded(t *testing.T) {
	r := &deliver.Report{}
	for i := range 5000 {
		r.Results = append(r.Results, deliver.Outcome{Notice: ledger.Notice{Key: ledger.Key{Source: "https://me.example/", Target: fmt.Sprint("https://x.example/", i)},
			Event: ledger.Added, State: ledger.Permanent, Message: strings.Repeat("`long` ", 100)}})
	}
	var out bytes.Buffer
	if err := OutcomesMarkdown(&out, r); err != nil || out.Len() > 65000 || !strings.Contains(out.String(), "more failures") {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
}
