package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
)

var explainedReports = []*send.Preview{{
	Source: "https://a.example/post/",
	Built:  true,
	Problems: []send.Problem{
		{Code: send.NotLive, Message: "the page answers 404 Not Found", Cure: "publish it", Offset: -1},
		{Code: send.NoTitle, Protocol: ledger.Pingback, Message: "no title", Cure: "give it one", Offset: -1},
	},
	Rows: []send.PreviewRow{
		{Target: "https://b.example/", Protocol: ledger.Pingback, Endpoint: "https://b.example/x", Via: "<link>",
			Problems: []send.Problem{{Code: send.LinkText, Message: "no text", Cure: "write some", Offset: 9, Line: 3}}},
		{Target: "https://c.example/", Via: "X-Pingback header, which names no address\x1b[31m"},
		{Target: "https://d.example/", Err: errors.New("no route")},
	},
}, {
	Source: "https://a.example/other/",
	Live:   true,
	Rows:   []send.PreviewRow{{Target: "https://e.example/", Protocol: ledger.Webmention, Endpoint: "https://e.example/wm", Via: "Link header"}},
}}

const explainedSummary = "4 targets: 1 can be notified, 1 would reject the page, 1 have no endpoint, 1 could not be reached; nothing was sent"

// TestExplained tests the text for people.
func TestExplained(t *testing.T) {
	var b bytes.Buffer
	testkit.Check(t, Explained(&b, explainedReports, false))
	const want = `https://a.example/post/
  error: the page answers 404 Not Found [not-live]
      publish it
  error: no title [no-title]
      give it one
  checked the built page instead
  https://b.example/
    pingback to https://b.example/x  <link>
    error: no text [link-text], line 3
        write some
  https://c.example/
    has no endpoint: X-Pingback header, which names no address\x1b[31m
  https://d.example/
    could not be reached: no route

https://a.example/other/
  https://e.example/
    webmention to https://e.example/wm  Link header

` + explainedSummary + "\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := Explained(&b, explainedReports, true); err != nil || !strings.Contains(b.String(), sgrRed) {
		t.Errorf("no color: %v", err)
	}
}

// TestExplainedMarkdown tests the Markdown.
func TestExplainedMarkdown(t *testing.T) {
	var b bytes.Buffer
	testkit.Check(t, ExplainedMarkdown(&b, explainedReports))
	for _, want := range []string{"### sitelink: " + explainedSummary + "\n", "\n`https://a.example/post/`\n\n- error: `no title`: `give it one`\n",
		"- `https://b.example/` `pingback to https://b.example/x  <link>`\n  - error: `no text`: `write some`\n"} {
		if !strings.Contains(strings.Replace(b.String(), "- error: `the page answers 404 Not Found`: `publish it`\n", "", 1), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

// TestExplainedJSON tests the JSON (docs/reference/senders.md).
func TestExplainedJSON(t *testing.T) {
	var b bytes.Buffer
	testkit.Check(t, ExplainedJSON(&b, explainedReports))
	var doc explainedJSON
	testkit.Check(t, json.Unmarshal(b.Bytes(), &doc))
	if doc.Schema != 1 || len(doc.Pages) != 2 || !doc.Pages[0].Built || !doc.Pages[1].Live || len(doc.Pages[0].Problems) != 2 {
		t.Errorf("%+v", doc)
	}
	rows := doc.Pages[0].Targets
	if len(rows) != 3 || rows[0].Protocol != "pingback" || rows[0].Problems[0].Code != send.LinkText || rows[0].Problems[0].Line != 3 || rows[2].Error != "no route" {
		t.Errorf("%+v", rows)
	}
	if strings.Contains(b.String(), "null") || strings.Contains(b.String(), `\u003c`) {
		t.Errorf("%s", b.String())
	}
	if err := ExplainedJSON(errorWriter{errors.New("full")}, nil); err == nil {
		t.Error("no error")
	}
}
