package incoming_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/store"
	"github.com/sitelink/sitelink/incoming/verify"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestWithDatabase: with the store of package store, which verifies several
// mentions at the same time, each page is fetched once, whatever the number of its
// mentions (PB-59), and rules apply to what is there.
func TestWithDatabase(t *testing.T) {
	var hits atomic.Int32
	var body strings.Builder
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, body.String())
	}))
	defer other.Close()
	files := map[string]string{"index.html": "home"}
	var notices []incoming.Notice
	for i := range 24 {
		files[fmt.Sprintf("%d.html", i)] = "page"
		target := fmt.Sprintf("https://b.example/%d.html", i)
		notices = append(notices, webmention(other.URL+"/p", target))
		if i%3 != 0 {
			body.WriteString(linksTo(target))
		}
	}
	sites := &incoming.Sites{}
	sites.Set(manifest(t, files, based("https://b.example/")))
	s := testkit.Must(store.Open(t.Context(), filepath.Join(t.TempDir(), "mentions.db"), store.Options{Worker: true}))(t)
	defer s.Close()
	r := incoming.NewReceiver(incoming.ReceiverOptions{
		Store: s, Sites: sites, Client: verify.NewClient(verify.Options{Pace: -1, AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}),
	})
	answers, err := r.Receive(t.Context(), notices)
	testkit.Check(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	wait := func(what string, ok func(map[incoming.State]int64) bool) {
		t.Helper()
		var counts map[incoming.State]int64
		for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(20 * time.Millisecond) {
			if counts, err = s.Counts(t.Context()); err != nil {
				t.Fatal(err)
			}
			if ok(counts) {
				return
			}
		}
		t.Errorf("not %s: %v", what, counts)
	}
	wait("verified", func(n map[incoming.State]int64) bool { return n[incoming.Held] == 16 && n[incoming.Rejected] == 8 })
	if n := hits.Load(); n != 1 {
		t.Errorf("%d fetches", n)
	}
	again, err := r.Receive(t.Context(), notices[1:2])
	if err != nil || again[0].Outcome != incoming.Known || again[0].ID != answers[1].ID {
		t.Errorf("%+v, %v; the first answer was %+v", again, err, answers[1])
	}
	for _, step := range []struct {
		verdict incoming.Verdict
		state   incoming.State
	}{{incoming.Trust, incoming.Approved}, {incoming.Block, incoming.Blocked}} {
		testkit.Check(t, s.SetRules(t.Context(), []incoming.Rule{{Pattern: "127.0.0.1", Verdict: step.verdict}}))
		wait(string(step.state), func(n map[incoming.State]int64) bool { return n[step.state] == 16 })
	}
	stop()
	if err := <-done; err != nil && ctx.Err() == nil {
		t.Error(err)
	}
}
