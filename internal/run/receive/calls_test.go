package receive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
	"github.com/sitelink/sitelink/site"
)

// recorder is a caller that keeps what it is to send.
type recorder struct {
	mu    sync.Mutex
	state ledger.State
	calls []send.LinkCall
}

func (r *recorder) Notify(_ context.Context, c send.LinkCall) outgoing.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
	return outgoing.Outcome{State: r.state}
}

func (r *recorder) sent() []send.LinkCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

// siteOf returns the manifest of https://b.example/ with these pages.
func siteOf(t *testing.T, pages ...string) *incoming.Manifest {
	t.Helper()
	files := map[string]string{}
	for _, name := range pages {
		files[name] = "<p>" + strings.Repeat("Some text. ", 20)
	}
	return incomingtest.Manifest(t, t.TempDir(), files, site.Options{BaseURLs: []string{"https://b.example/"}})
}

// TestCalls: a running receiver calls the sources of a page that moved, remembers
// what it could not send, and does not repeat what it sent (LK-10, LK-13, LK-52).
func TestCalls(t *testing.T) {
	store := incomingtest.NewStore(nil)
	store.Add(incoming.Mention{Source: "https://a.example/post", Target: "https://b.example/old.html", State: incoming.Approved})
	caller := &recorder{state: ledger.Retry}
	sites := &incoming.Sites{}
	sites.Set(siteOf(t, "old.html"))
	var warnings []string
	file := filepath.Join(t.TempDir(), "mentions.db"+callsEnding)
	start := func() *calls {
		book := testkit.Must(ReadBook(file))(t)
		return &calls{file: file, caller: caller, store: store, sites: sites, log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			takes: func(url string) bool { return !strings.Contains(url, "deaf") }, most: 1,
			warn: func(text string) { warnings = append(warnings, text) }, book: book}
	}
	c := start()
	if !c.deployed(t.Context()) || c.deployed(t.Context()) || len(c.book.Queue) != 0 {
		t.Errorf("the first sites: %+v", c.book)
	}
	c.send(t.Context())

	store.Fail(errors.New("disk full"))
	sites.Set(siteOf(t, "new.html"))
	first, second := c.deployed(t.Context()), c.deployed(t.Context())
	if first || second || len(warnings) != 1 || !strings.Contains(warnings[0], "disk full") {
		t.Errorf("a store that fails: %q", warnings)
	}
	store.Fail(nil)
	if !c.deployed(t.Context()) {
		t.Error("the change is forgotten")
	}
	// More calls than max-notices wait until the user allows them. Those to hosts that
	// get no calls do not count.
	one, call := c.book.Queue, func(source string) BookEntry {
		return BookEntry{Call: send.LinkCall{Method: send.UnlinkR, Source: source, Target: "https://b.example/old.html"}}
	}
	c.book.Queue = append(slices.Clone(one), call("https://a.example/2"))
	c.send(t.Context())
	c.send(t.Context())
	if len(caller.sent()) != 0 || len(warnings) != 2 || !strings.Contains(warnings[1], "2 calls about") || !strings.Contains(warnings[1], "max-notices in [outgoing] to 2") {
		t.Errorf("too many calls: sent %+v, %q", caller.sent(), warnings)
	}
	c.book.Queue = append(slices.Clone(one), call("https://deaf.example/"))
	if c.tooMany() {
		t.Error("hosts that get no calls count")
	}
	c.book.Queue = one
	c.send(t.Context())
	if sent := caller.sent(); len(sent) != 1 || sent[0].Method != send.UnlinkR || sent[0].Replacement != "https://b.example/new.html" {
		t.Errorf("sent %+v", sent)
	}

	// After a restart, the call is still there, and it is sent by the running loop.
	c = start()
	if len(c.book.Queue) != 1 || c.book.Queue[0].Attempts != 1 {
		t.Fatalf("%+v", c.book)
	}
	c.book.Queue[0].Next = time.Time{}
	caller.mu.Lock()
	caller.state = ledger.Done
	caller.mu.Unlock()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.run(ctx) }()
	for begin := time.Now(); len(caller.sent()) < 2 && time.Since(begin) < time.Minute; {
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	if err := <-done; err != nil || len(caller.sent()) != 2 || len(c.book.Queue) != 0 {
		t.Errorf("%v, %+v, %+v", err, caller.sent(), c.book)
	}
	c = start()
	c.deployed(t.Context())
	c.send(t.Context())
	if len(caller.sent()) != 2 {
		t.Errorf("sent again: %+v", caller.sent())
	}
}

// TestDeployAtTheStart: a deploy between the first look at a docroot and the moment when
// the receiver follows its changes is not missed.
func TestDeployAtTheStart(t *testing.T) {
	testkit.Long(t)
	dir := t.TempDir()
	page := func(name string) {
		testkit.Check(t, os.WriteFile(filepath.Join(dir, "public", name), []byte("<p>x"), 0o644))
	}
	testkit.Check(t, os.Mkdir(filepath.Join(dir, "public"), 0o755))
	page("index.html")
	p := testkit.Must(project.Find(t.Context(), dir, project.Options{Config: &config.Config{BaseURLs: []string{"https://b.example/"}}, Docroot: "public"}))(t)
	s, sites := &sources{all: []source{{"https://b.example/", p}}}, &incoming.Sites{}
	testkit.Check(t, s.watch())
	defer s.close()
	testkit.Check(t, s.load(t.Context(), sites))
	page("new.html")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.follow(ctx, sites, func(text string) { t.Log(text) }) }()
	for begin := time.Now(); !sites.Lookup("https://b.example/new.html").Exists; time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatal("the deploy was missed")
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestNoCalls: without hosts that opted in, no call is ever made (LK-61).
func TestNoCalls(t *testing.T) {
	p := &project.Project{Root: t.TempDir(), Config: &config.Config{}}
	p.Dir, p.Config.Incoming.Store = p.Root, ".sitelink/mentions.db"
	r := &parts{sources: &sources{all: []source{{base: "https://b.example/"}}}}
	if c, err := newCalls(t.Context(), p, &ServeOptions{}, r); c != nil || err != nil {
		t.Errorf("%+v, %v", c, err)
	}
	p.Config.Outgoing.LinkPeers = []string{"a.example"}
	c, err := newCalls(t.Context(), p, &ServeOptions{}, r)
	if err != nil || c == nil || !strings.HasSuffix(c.file, "mentions.db.calls.json") {
		t.Fatalf("%+v, %v", c, err)
	}
	p.Config.Incoming.Store = "postgres://u@h/d"
	if c, err = newCalls(t.Context(), p, &ServeOptions{}, r); err != nil || filepath.Dir(c.file) != filepath.Join(p.Root, ".sitelink") {
		t.Errorf("%+v, %v", c, err)
	}
	p.Config.Outgoing.LinkPeers = []string{"a b c"}
	if _, err := newCalls(t.Context(), p, &ServeOptions{}, r); err == nil || !strings.Contains(err.Error(), "link-peers") {
		t.Errorf("error %v", err)
	}
}

// TestWriteRules: processes and callers that change the file of rules at the same time lose
// nothing. A file that is lost does not remove the rules of the store.
func TestWriteRules(t *testing.T) {
	store, file := incomingtest.NewStore(nil), filepath.Join(t.TempDir(), "rules")
	var callers sync.WaitGroup
	for n := range 20 {
		callers.Go(func() {
			rules, err := Rules([]string{fmt.Sprintf("spam%d.example", n)}, incoming.Block, "")
			if err == nil {
				_, err = SetRules(t.Context(), store, file, rules)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	text, err := os.ReadFile(file)
	if n := strings.Count(string(text), "block spam"); n != 20 || err != nil {
		t.Errorf("%d of 20 rules are in the file, %v", n, err)
	}
	if _, err := os.Stat(file + ".lock"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock: %v", err)
	}
	testkit.Check(t, os.Remove(file))
	h := &forPeople{store: store, rules: file}
	_, blockErr := SetRules(t.Context(), store, file, []incoming.Rule{{Pattern: "new.example", Verdict: incoming.Block}})
	for what, err := range map[string]error{"serve": h.readRules(t.Context()), "block": blockErr} {
		if err == nil || !strings.Contains(err.Error(), "there is no file of rules "+file+", and the store has 20") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if rules, err := store.Rules(t.Context()); len(rules) != 20 || err != nil {
		t.Errorf("%d rules, %v", len(rules), err)
	}
	testkit.Check(t, os.WriteFile(file, nil, 0o600))
	if err := h.readRules(t.Context()); err != nil {
		t.Error(err)
	}
	if rules, err := store.Rules(t.Context()); len(rules) != 0 || err != nil {
		t.Errorf("with an empty file: %d rules, %v", len(rules), err)
	}
}

// A peer without a public address gets no call, and the owner reads why. --allow-address of
// the receiver applies to calls too.
func TestPrivatePeer(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		var connections atomic.Int64
		peer := httptest.NewUnstartedServer(http.NotFoundHandler())
		peer.Config.ConnState = func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				connections.Add(1)
			}
		}
		peer.Start()
		defer peer.Close()
		cfg := &config.Config{BaseURLs: []string{"https://b.example/"}}
		cfg.Outgoing.LinkPeers = []string{strings.TrimPrefix(peer.URL, "http://") + " raw"}
		if allowed {
			cfg.Incoming.AllowAddress = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		}
		p := testkit.Must(project.Find(t.Context(), t.TempDir(), project.Options{Config: cfg}))(t)
		var warnings []string
		opt := &ServeOptions{Warn: func(text string) { warnings = append(warnings, text) }}
		c := testkit.Must(newCalls(t.Context(), p, opt, &parts{sources: &sources{all: []source{{"https://b.example/", p}}}, log: slog.New(slog.DiscardHandler)}))(t)
		c.book.Queue = []BookEntry{{Call: send.LinkCall{Method: send.UnlinkR, Source: peer.URL + "/post", Target: "https://b.example/old"}}}
		c.send(t.Context())
		got := connections.Load()
		if allowed && (got == 0 || len(warnings) != 0) {
			t.Errorf("allowed: %d connections, %q", got, warnings)
		}
		if !allowed && (got != 0 || len(warnings) != 1 || !strings.Contains(warnings[0], "UNLINKR") || !strings.Contains(warnings[0], peer.URL+"/post") || !strings.Contains(warnings[0], "--allow-address")) {
			t.Errorf("not allowed: %d connections, %q", got, warnings)
		}
	}
}
