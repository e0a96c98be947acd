package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestMetrics: the text format of Prometheus with the counts of requests, notices,
// mentions and verifications; no label comes from a stranger.
func TestMetrics(t *testing.T) {
	receiver := &script{}
	now := time.Unix(1000, 0)
	s := New(Options{Receiver: receiver, Mentions: receiver, Now: func() time.Time { return now }})
	ping(t, s, "text/xml", pingCall("http://a.example/", "http://b.example/missing"))
	serve(s, "POST", "/webmention", form("http://a.example/", "http://b.example/doc"))
	serve(s, "POST", "/webmention", form("http://a.example/", "http://b.example/doc"))
	serve(s, "EVIL", "/evil", "")
	receiver.fail(errors.New("disk full"))
	serve(s, "POST", "/webmention", form("http://a.example/", "http://b.example/doc"))
	receiver.fail(nil)
	s.ObserveVerification(incoming.Approved, 300*time.Millisecond)
	s.ObserveVerification(incoming.Rejected, time.Minute)

	w := serve(s, "GET", "/metrics", "")
	text := w.Body.String()
	for _, want := range []string{
		`sitelink_notices_total{protocol="pingback",outcome="missing"} 1`,
		`sitelink_notices_total{protocol="webmention",outcome="accepted"} 2`,
		`sitelink_requests_total{endpoint="webmention",status="201"} 2`,
		`sitelink_requests_total{endpoint="webmention",status="500"} 1`,
		`sitelink_requests_total{endpoint="other",status="501"} 1`,
		`sitelink_store_errors_total 1`,
		`sitelink_store_up 1`,
		`sitelink_mentions{state="queued"} 3`,
		`sitelink_mentions{state="approved"} 7`,
		`sitelink_mentions{state="gone"} 0`,
		`sitelink_verification_seconds_bucket{le="0.25"} 0`,
		`sitelink_verification_seconds_bucket{le="0.5"} 1`,
		`sitelink_verification_seconds_bucket{le="30"} 1`,
		`sitelink_verification_seconds_bucket{le="+Inf"} 2`,
		`sitelink_verification_seconds_sum 60.3`,
		`sitelink_verification_seconds_count 2`,
		`sitelink_verifications_total{state="approved"} 1`,
		`sitelink_verifications_total{state="rejected"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if w.Header().Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" || strings.Contains(strings.ToLower(text), "evil") {
		t.Errorf("%v\n%s", w.Header(), text)
	}
	comment := regexp.MustCompile(`^# (HELP [a-z_]+ \S.*|TYPE [a-z_]+ (counter|gauge|histogram))$`)
	sample := regexp.MustCompile(`^[a-z_]+(\{[a-z]+="[^"\\]*"(,[a-z]+="[^"\\]*")*\})? [0-9.e+-]+$`)
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); !comment.MatchString(line) && !sample.MatchString(line) {
			t.Errorf("not in the text format: %q", line)
		}
	}
	process := regexp.MustCompile(`(?m)^(go_goroutines|go_gc_heap_live_bytes) \d+$`)
	if n := len(process.FindAllString(text, -1)); n != 2 {
		t.Errorf("%d figures of the process, want 2:\n%s", n, text)
	}
	again := serve(s, "GET", "/metrics", "").Body.String()
	again = strings.ReplaceAll(again, `{endpoint="metrics",status="200"} 2`, `{endpoint="metrics",status="200"} 1`)
	if process.ReplaceAllString(again, "$1") != process.ReplaceAllString(text, "$1") {
		t.Errorf("the order is not the same:\n%s", again)
	}
}

// TestFailingStore: a store that fails for each notice does not fill the log.
func TestFailingStore(t *testing.T) {
	receiver := &script{}
	now := time.Unix(1000, 0)
	var log strings.Builder
	s := New(Options{Receiver: receiver, Mentions: receiver, Now: func() time.Time { return now }, Log: slog.New(slog.NewTextHandler(&log, nil))})
	receiver.fail(errors.New("write the mentions in x.db: the disk is full"))
	notice := func() {
		t.Helper()
		if w := serve(s, "POST", "/webmention", form("http://a.example/", "http://b.example/doc")); w.Code != 500 || strings.Contains(w.Body.String(), "x.db") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	for range 100 {
		notice()
	}
	now = now.Add(failurePause)
	notice()
	now = now.Add(-time.Hour) // a clock that is set back does not silence it
	notice()
	var failures []string
	for line := range strings.Lines(log.String()) {
		_, n, _ := strings.Cut(strings.TrimSpace(line), "failures=")
		if failures = append(failures, n); !strings.Contains(line, "x.db: the disk is full") {
			t.Errorf("%s", line)
		}
	}
	if !slices.Equal(failures, []string{"1", "100", "1"}) {
		t.Errorf("%q:\n%s", failures, &log)
	}
	if text := serve(s, "GET", "/metrics", "").Body.String(); !strings.Contains(text, "sitelink_store_errors_total 103\n") {
		t.Errorf("%s", text)
	}
}

// TestHealth: /healthz asks the store, but not for each request.
func TestHealth(t *testing.T) {
	receiver := &script{}
	now := time.Unix(1000, 0)
	s := New(Options{Receiver: receiver, Mentions: receiver, Now: func() time.Time { return now }})
	if w := serve(s, "GET", "/healthz", ""); w.Code != 200 || w.Body.String() != "ok\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	receiver.fail(errors.New("secret"))
	if w := serve(s, "GET", "/healthz", ""); w.Code != 200 {
		t.Errorf("the store was asked again at once: %d", w.Code)
	}
	now = now.Add(countsAge)
	if w := serve(s, "GET", "/healthz", ""); w.Code != 503 || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := serve(s, "GET", "/metrics", ""); w.Code != 200 || !strings.Contains(w.Body.String(), "sitelink_store_up 0\n") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	// A clock that jumps back does not keep the old answer.
	receiver.fail(nil)
	now = now.Add(-time.Hour)
	if w := serve(s, "GET", "/healthz", ""); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := serve(New(Options{Receiver: receiver}), "GET", "/healthz", ""); w.Code != 200 {
		t.Errorf("without a store: %d", w.Code)
	}
}

// TestHideOperations: both can be on a listener of their own only.
func TestHideOperations(t *testing.T) {
	receiver := &script{}
	s := New(Options{Receiver: receiver, Mentions: receiver, HideOperations: true})
	for _, path := range []string{"/healthz", "/metrics"} {
		if w := serve(s, "GET", path, ""); w.Code != 404 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() { result <- s.ServeOperations(ctx, l) }()
	for path, want := range map[string]int{"/healthz": 200, "/metrics": 200, "/": 404, "/webmention": 404} {
		if a := get(t, l.Addr().String(), "GET", path); a.StatusCode != want {
			t.Errorf("%s: %s", path, a.line)
		}
	}
	if a := get(t, l.Addr().String(), "OPTIONS", "/metrics"); a.StatusCode != 204 || a.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("OPTIONS: %s", a.line)
	}
	cancel()
	if err := <-result; err != nil {
		t.Error(err)
	}
}
