package answer

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// TestClass: what may succeed later, and when.
func TestClass(t *testing.T) {
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
		if state, wait := Class(test.status, h, now); state != test.state || wait != test.wait {
			t.Errorf("%d, %q: %s, %v", test.status, test.after, state, wait)
		}
	}
}

// TestTarget: a target that is gone is told from one that fails for now.
func TestTarget(t *testing.T) {
	for status, want := range map[int]string{200: "", 403: "", 404: "the target answers 404 Not Found", 410: "the target answers 410 Gone"} {
		gone, err := Target(&outgoing.TargetPage{Status: status}, time.Now())
		if gone != want || err != nil {
			t.Errorf("%d: %q, %v", status, gone, err)
		}
	}
	_, err := Target(&outgoing.TargetPage{URL: "http://h/", Status: 599, Header: http.Header{"Retry-After": {"5"}}}, time.Now())
	if later := (*StatusError)(nil); !errors.As(err, &later) || later.After != 5*time.Second || err.Error() != "target http://h/ answers 599" {
		t.Errorf("%v", err)
	}
}

// TestFailed: the kind of a failure tells whether a repeat is of use.
func TestFailed(t *testing.T) {
	for kind, want := range map[fetch.Kind]ledger.State{
		fetch.Timeout: ledger.Retry, fetch.Connect: ledger.Retry, fetch.TLS: ledger.Retry, fetch.Canceled: ledger.Retry,
		fetch.RefusedAddress: ledger.Skipped, fetch.NoSuchHost: ledger.Permanent, fetch.RedirectLoop: ledger.Permanent,
	} {
		o := Failed(fmt.Errorf("send: %w", &fetch.Error{URL: "http://h/", Kind: kind, Err: errors.New("cause")}))
		if o.State != want || o.Message != "send: http://h/: cause" {
			t.Errorf("%s: %+v", kind, o)
		}
	}
	if o := Failed(errors.New("other")); o.State != ledger.Retry {
		t.Errorf("%+v", o)
	}
}

// TestExcerpt: one short line, whatever a server says.
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
		if got := Excerpt([]byte(test.body), test.contentType); got != test.want {
			t.Errorf("%.40q: %q, want %q", test.body, got, test.want)
		}
	}
}

// FuzzExcerpt: always one line of valid text, and never long.
func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("<p>a<script>b"), "text/html")
	f.Add([]byte("\xff\u2028\n"), "text/plain")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		got := Excerpt(body, contentType)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\t\x00\x1b\u2028\u202e") || utf8.RuneCountInString(got) > longest+3 {
			t.Errorf("%q", got)
		}
	})
}
