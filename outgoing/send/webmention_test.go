package send

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

const (
	source = "https://alice.example/post?a=1&b=ü#frag"
	target = "https://bob.example/#foo"
)

func sendWebmention(t *testing.T, handler http.HandlerFunc) (o outgoing.Outcome, server string) {
	t.Helper()
	s := httptest.NewServer(handler)
	defer s.Close()
	return NewWebmention(webmentionClient()).Send(t.Context(), ledger.Notice{Key: ledger.Key{Source: source, Target: target}}, outgoing.Endpoint{URL: s.URL + "/wm?query=yes"}), s.URL
}

// TestForm: source and target are sent as written, form-encoded, and the endpoint
// keeps its query (section 3.1.3).
func TestForm(t *testing.T) {
	var got, query, media string
	o, server := sendWebmention(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got, query, media = string(body), r.URL.RawQuery, r.Header.Get("Content-Type")
		if r.Method != http.MethodPost {
			t.Error(r.Method)
		}
	})
	if want := "source=https%3A%2F%2Falice.example%2Fpost%3Fa%3D1%26b%3D%C3%BC%23frag&target=https%3A%2F%2Fbob.example%2F%23foo"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if query != "query=yes" || media != "application/x-www-form-urlencoded" {
		t.Error(query, media)
	}
	if o.State != ledger.Done || o.Endpoint != server+"/wm?query=yes" {
		t.Errorf("%+v", o)
	}
}

// TestSend has the classes of responses (section 3.1.3: any 2xx is a success).
func TestSend(t *testing.T) {
	for _, test := range []struct {
		name     string
		status   int
		header   http.Header
		body     string
		state    ledger.State
		after    time.Duration
		location string // SERVER stands for the endpoint's
		says     string
	}{
		{"done", 200, nil, "thanks", ledger.Done, 0, "", "thanks"},
		{"created", 201, http.Header{"Location": {"/status/1"}}, "", ledger.Accepted, 0, "SERVER/status/1", ""},
		{"created elsewhere", 201, http.Header{"Location": {"https://h.example/1"}}, "", ledger.Accepted, 0, "https://h.example/1", ""},
		{"created, bad location", 201, http.Header{"Location": {"javascript:alert(1)"}}, "", ledger.Accepted, 0, "", ""},
		{"created, location with a password", 201, http.Header{"Location": {"https://u:p@h.example/"}}, "", ledger.Accepted, 0, "", ""},
		{"created without location", 201, nil, "", ledger.Accepted, 0, "", ""},
		{"accepted", 202, http.Header{"Content-Type": {"text/html"}}, "<h1>Queued</h1> for\n moderation", ledger.Accepted, 0, "", "Queued for moderation"},
		{"no content", 204, nil, "", ledger.Accepted, 0, "", ""},
		{"webmention.io refuses", 400, http.Header{"Content-Type": {"application/json"}},
			`{"error": "no_link_found", "error_description": "The source has no link"}`, ledger.Permanent, 0, "", "400 Bad Request: no_link_found: The source has no link"},
		{"forbidden", 403, nil, "", ledger.Permanent, 0, "", "403"},
		{"a redirect that is not followed", 307, http.Header{"Location": {"https://u:p@h.example/"}}, "", ledger.Permanent, 0, "", "the URL contains a user name or password"},
		{"gone", 410, nil, "", ledger.Permanent, 0, "", "410"},
		{"too many", 429, http.Header{"Retry-After": {"30"}}, "", ledger.Retry, 30 * time.Second, "", "429"},
		{"busy", 503, nil, "", ledger.Retry, 0, "", "503"},
		{"failed", 500, nil, "\x00\x01 binary \u202e", ledger.Retry, 0, "", "500 Internal Server Error"},
		{"long", 400, nil, strings.Repeat("word ", 10000), ledger.Permanent, 0, "", "word word"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o, server := sendWebmention(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range test.header {
					w.Header()[name] = values
				}
				w.WriteHeader(test.status)
				io.WriteString(w, test.body)
			})
			if o.State != test.state || o.After != test.after || o.Status != test.status || !strings.Contains(o.Message, test.says) {
				t.Errorf("%+v", o)
			}
			if want := strings.Replace(test.location, "SERVER", server, 1); o.Location != want {
				t.Errorf("location %q, want %q", o.Location, want)
			}
			if len(o.Message) > 300 || strings.ContainsAny(o.Message, "\n\x00\u202e") {
				t.Errorf("message %q", o.Message)
			}
		})
	}
}

// TestWebmentionUnreachable: a missing response is a temporary failure, and a refused address
// is skipped.
func TestWebmentionUnreachable(t *testing.T) {
	n := ledger.Notice{Key: ledger.Key{Source: source, Target: target}}
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	if o := NewWebmention(webmentionClient()).Send(t.Context(), n, outgoing.Endpoint{URL: server.URL}); o.State != ledger.Retry || o.Message == "" || o.Endpoint != server.URL {
		t.Errorf("%+v", o)
	}
	if o := NewWebmention(outgoing.NewClient(outgoing.ClientOptions{Pace: -1})).Send(t.Context(), n, outgoing.Endpoint{URL: server.URL}); o.State != ledger.Skipped {
		t.Errorf("%+v", o)
	}
}

// TestWebmentionStatus: what receivers report about a notice that they accepted.
func TestWebmentionStatus(t *testing.T) {
	const jsonType = "application/json; charset=utf-8"
	for _, test := range []struct {
		name        string
		status      int
		contentType string
		body        string
		state       ledger.State
		says        string
	}{
		{"webmention.io queued", 200, jsonType, `{"status": "queued", "summary": "The webmention is still in the queue"}`, ledger.Accepted, "queued: The webmention is"},
		{"webmention.io done", 200, jsonType, `{"status": "success", "result": "OK"}`, ledger.Done, "success: OK"},
		{"webmention.io failed", 200, jsonType, `{"status": "no_link_found", "summary": "no link"}`, ledger.Permanent, "no_link_found"},
		{"webmention.io failed with 400", 400, jsonType, `{"error": "source_not_found"}`, ledger.Permanent, "400 Bad Request: source_not_found"},
		{"Telegraph", 200, jsonType, `{"status": "accepted"}`, ledger.Done, "accepted"},
		{"number as status", 200, jsonType, `{"status": 200}`, ledger.Accepted, ""},
		{"page", 200, "text/html", "<title>x</title><p>We have it.", ledger.Accepted, "We have it."},
		{"not there", 404, "text/html", "", ledger.Accepted, "404 Not Found"},
		{"busy", 503, "text/html", "", ledger.Retry, "503"},
		{"damaged", 200, jsonType, `{"status": "succ`, ledger.Accepted, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet {
					t.Error(r.Method)
				}
				w.Header().Set("Content-Type", test.contentType)
				w.WriteHeader(test.status)
				io.WriteString(w, test.body)
			}))
			defer server.Close()
			o := NewWebmention(webmentionClient()).Status(t.Context(), server.URL+"/s")
			if o.State != test.state || o.Status != test.status || o.Location != server.URL+"/s" || !strings.Contains(o.Message, test.says) {
				t.Errorf("%+v", o)
			}
		})
	}
	if o := NewWebmention(outgoing.NewClient(outgoing.ClientOptions{Pace: -1})).Status(t.Context(), "http://127.0.0.1/"); o.State != ledger.Accepted || o.Message == "" {
		t.Errorf("refused address: %+v", o)
	}
}

// TestWebmentionProtocol: the properties of the sender.
func TestWebmentionProtocol(t *testing.T) {
	s := NewWebmention(nil)
	if s.Protocol() != ledger.Webmention || !s.Idempotent() || s.Spacing() != 0 {
		t.Error(s.Protocol(), s.Idempotent(), s.Spacing())
	}
	for _, event := range []ledger.Event{ledger.Added, ledger.Updated, ledger.Removed, ledger.Deleted, ledger.Moved} {
		if !s.Takes(event) {
			t.Error(event)
		}
	}
}
