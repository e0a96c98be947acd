package outgoing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Which responses are temporary, and when to try again.
func TestRefused(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		status int
		after  string
		state  ledger.State
		wait   time.Duration
	}{
		{408, "", ledger.Retry, 0},
		{425, "", ledger.Retry, 0},
		{429, "90", ledger.Retry, 90 * time.Second},
		{500, "", ledger.Retry, 0},
		{503, now.Add(2 * time.Minute).Format(http.TimeFormat), ledger.Retry, 2 * time.Minute},
		{503, "soon", ledger.Retry, 0},
		{522, "", ledger.Retry, 0},
		{501, "90", ledger.Permanent, 0},
		{505, "", ledger.Permanent, 0},
		{400, "90", ledger.Permanent, 0},
		{404, "", ledger.Permanent, 0},
		{304, "", ledger.Permanent, 0},
	} {
		h := http.Header{}
		if test.after != "" {
			h.Set("Retry-After", test.after)
		}
		o := (&Response{Status: test.status, Header: h}).Refused("the hub", "no", now)
		if o.State != test.state || o.After != test.wait || o.Status != test.status || o.Message != "the hub answered "+StatusText(test.status)+": no" {
			t.Errorf("%d, %q: %+v", test.status, test.after, o)
		}
	}
}

// answering is a Doer that always returns the same response.
type answering struct{ response Response }

func (a answering) Do(context.Context, Request) (*Response, error) { return &a.response, nil }

// A missing target differs from one that fails temporarily.
func TestTargetPage(t *testing.T) {
	for status, want := range map[int]string{200: "", 403: "", 404: "the target answered 404 Not Found", 410: "the target answered 410 Gone"} {
		page, missing, err := NewTarget(answering{Response{Status: status}}, "http://h/").Page(t.Context())
		if missing != want || err != nil || (page == nil) != (want != "") {
			t.Errorf("%d: %v, %q, %v", status, page, missing, err)
		}
	}
	page, _, err := NewTarget(answering{Response{URL: "http://h/", Status: 599, Header: http.Header{"Retry-After": {"5"}}}}, "http://h/").Page(t.Context())
	if later := (*UnavailableError)(nil); page != nil || !errors.As(err, &later) || later.After != 5*time.Second || err.Error() != "target http://h/ answered 599" {
		t.Errorf("%v", err)
	}
}

// Whether a failed request is repeated depends on why it failed.
func TestRequestFailed(t *testing.T) {
	for kind, want := range map[fetch.ErrorKind]ledger.State{
		fetch.Timeout: ledger.Retry, fetch.Connect: ledger.Retry, fetch.TLS: ledger.Retry, fetch.Canceled: ledger.Retry,
		fetch.RefusedAddress: ledger.Skipped, fetch.NoSuchHost: ledger.Retry, fetch.RedirectLoop: ledger.Permanent,
	} {
		o := RequestFailed(fmt.Errorf("send: %w", &fetch.Error{URL: "http://h/", Kind: kind, Err: errors.New("cause")}))
		if o.State != want || o.Message != "send: http://h/: cause" {
			t.Errorf("%s: %+v", kind, o)
		}
	}
	o := RequestFailed(fmt.Errorf("discover: %w", &UnavailableError{URL: "http://h/", Status: 503, After: time.Minute}))
	if o.State != ledger.Retry || o.Status != 503 || o.After != time.Minute {
		t.Errorf("%+v", o)
	}
	if o := RequestFailed(errors.New("other")); o.State != ledger.Retry {
		t.Errorf("%+v", o)
	}
}

func excerpt(body []byte, contentType string) string {
	return (&Response{Header: http.Header{"Content-Type": {contentType}}, Body: body}).Excerpt()
}

// Whatever a server sends becomes one short line.
func TestExcerpt(t *testing.T) {
	for _, test := range []struct{ body, contentType, want string }{
		{"  not\r\n found\x00\x1b[31m ", "text/plain", "not found [31m"},
		{"<!DOCTYPE html><title>A</title><style>p{}</style><script>x()</script><p>b<br>c &amp; d", "text/html; charset=utf-8", "A b c & d"},
		{"<p>guessed</p>", "", "guessed"},
		{`{"a": 1}`, "application/json", `{"a": 1}`},
		{"\x89PNG", "image/png", ""},
		{"a\u202eb\xff", "text/plain", "a b\uFFFD"},
		{"", "", ""},
		{strings.Repeat("ü", 500), "text/plain", strings.Repeat("ü", 200) + "..."},
		{"<p>" + strings.Repeat("long ", 50000), "text/html", strings.Repeat("long ", 40) + "..."},
	} {
		if got := excerpt([]byte(test.body), test.contentType); got != test.want {
			t.Errorf("%.40q: %q, want %q", test.body, got, test.want)
		}
	}
}

// An excerpt is always one short line of valid text.
func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("<p>a<script>b"), "text/html")
	f.Add([]byte("\xff\u2028\n"), "text/plain")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		got := excerpt(body, contentType)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\t\x00\x1b\u2028\u202e") || utf8.RuneCountInString(got) > maxLineRunes+3 {
			t.Errorf("%q", got)
		}
	})
}
