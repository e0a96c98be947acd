// Package incoming_test uses incoming and the packages below it as a program
// outside of this repository would: it receives a webmention over HTTP, verifies and
// approves it, and exports it.
package incoming_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/export"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/incoming/moderation"
	"github.com/sitelink/sitelink/incoming/server"
	"github.com/sitelink/sitelink/incoming/store"
	"github.com/sitelink/sitelink/incoming/verify"
	"github.com/sitelink/sitelink/site"
)

const post = "https://our.example/post/"

// manifest returns the pages of a site that has a home page and the post.
func manifest(t *testing.T) *incoming.Manifest {
	t.Helper()
	docroot := t.TempDir()
	pages := map[string]string{"index.html": "<!doctype html><title>Home</title>", "post/index.html": "<!doctype html><title>Post</title>"}
	for name, text := range pages {
		name = filepath.Join(docroot, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := site.Load(t.Context(), docroot, site.Options{BaseURLs: []string{"https://our.example/"}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := incoming.ReadManifest(t.Context(), s, incoming.ManifestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestReceive(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>Reply</title><p>I read <a href="%s">this</a>.`, post)
	}))
	defer other.Close()
	mentions, err := store.Open(ctx, filepath.Join(t.TempDir(), "mentions.db"), store.Options{Worker: true})
	if err != nil {
		t.Fatal(err)
	}
	sites := &incoming.Sites{}
	sites.Set(manifest(t))
	receiver := incoming.NewReceiver(incoming.ReceiverOptions{
		Store: mentions, Sites: sites, Client: verify.NewClient(verify.Options{AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}),
	})
	page, err := moderation.NewPage(moderation.PageOptions{Store: mentions, Address: "https://our.example/moderation", Key: []byte("at least 16 random bytes")})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	go func() { ended <- receiver.Run(ctx) }()
	go func() {
		ended <- server.New(server.Options{Receiver: receiver, Mentions: mentions, Moderation: page, Live: export.Live(mentions)}).Serve(ctx, listener)
	}()
	defer func() {
		stop()
		if err := errors.Join(<-ended, <-ended); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		mentions.Close()
	}()

	resp, err := http.PostForm("http://"+listener.Addr().String()+"/webmention", url.Values{"source": {other.URL + "/reply"}, "target": {post}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	id := strings.TrimPrefix(resp.Header.Get("Location"), "http://"+listener.Addr().String()+"/webmention/status/")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		m, err := mentions.Mention(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if m.State == incoming.Held && m.Title == "Reply" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %+v", resp.Status, m)
		}
	}
	if _, _, err := moderation.Approve(ctx, mentions, id, time.Now()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := export.Write(ctx, mentions.List(ctx, export.Selection), dir, export.Options{}); err != nil {
		t.Fatal(err)
	}
	all, err := export.Read(os.DirFS(dir))
	path, ok := export.PageOf(post)
	if err != nil || !ok || len(all[path]) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestRules: a store in memory takes part in tests of other programs.
func TestRules(t *testing.T) {
	mentions := incomingtest.NewStore(nil)
	for _, source := range []string{"https://github.com/alice/a", "https://github.com/bob/b"} {
		mentions.Add(incoming.Mention{Source: source, Target: post, State: incoming.Held})
	}
	mentions.Add(incoming.Mention{Action: incoming.UnlinkR, Source: post, Target: "https://old.example/", Replacement: "https://new.example/", State: incoming.Held})
	rule := incoming.Rule{Pattern: incoming.Owner("https://github.com/alice/a"), Verdict: incoming.Trust}
	if n, err := moderation.SetRule(t.Context(), mentions, rule, time.Now()); n != 1 || err != nil {
		t.Errorf("%d changed, %v", n, err)
	}
	changes, err := incoming.Changes(t.Context(), mentions)
	if err != nil || len(changes) != 1 || changes[0].Page != post || changes[0].New != "https://new.example/" {
		t.Errorf("%+v, %v", changes, err)
	}
}
