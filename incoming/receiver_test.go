package incoming_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/incoming/verify"
	"github.com/sitelink/sitelink/internal/testkit"
)

// world is a receiver for https://b.example/ and the site of another person.
type world struct {
	*testing.T
	*incomingtest.Clock
	store *incomingtest.Store
	sites *incoming.Sites
	*incoming.Receiver

	other *httptest.Server // the other site
	mu    sync.Mutex
	pages map[string]string // of the other site, by path; "410", "503" and "301 URL" are answers
	hits  map[string]int
}

const (
	ourPost  = "https://b.example/post/"
	ourAbout = "https://b.example/about/"
)

func newWorld(t *testing.T, change ...func(*incoming.ReceiverOptions)) *world {
	w := &world{T: t, Clock: incomingtest.NewClock(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)), pages: map[string]string{}, hits: map[string]int{}}
	w.store, w.sites = incomingtest.NewStore(w.Now), &incoming.Sites{}
	w.other = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.other.Close)
	w.sites.Set(manifest(t, map[string]string{
		"index.html":         `<a href="` + w.other.URL + `/target">x</a>`,
		"post/index.html":    "post",
		"about/index.html":   "about",
		"private/index.html": "closed",
	}, based("https://b.example/"), "private/**"))
	opt := incoming.ReceiverOptions{
		Store: w.store, Sites: w.sites, Now: w.Now, LinkMod: true,
		Client: verify.NewClient(verify.Options{Pace: -1, AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}),
	}
	for _, f := range change {
		f(&opt)
	}
	w.Receiver = incoming.NewReceiver(opt)
	return w
}

// run starts the receiver's work.
func (w *world) run() *world {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Receiver.Run(ctx) }()
	w.Cleanup(func() {
		stop()
		<-done
	})
	return w
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hits[r.URL.Path]++
	body, ok := w.pages[r.URL.Path]
	to, redirected := strings.CutPrefix(body, "301 ")
	switch {
	case redirected:
		http.Redirect(rw, r, to, http.StatusMovedPermanently)
		return
	case body == "503":
		rw.WriteHeader(http.StatusServiceUnavailable)
		return
	case body == "410":
		rw.WriteHeader(http.StatusGone)
		return
	case !ok:
		rw.WriteHeader(http.StatusNotFound)
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	io.WriteString(rw, body)
}

// page sets a page of the other site and returns its URL; "" removes it.
func (w *world) page(path, body string) (url string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if body == "" {
		delete(w.pages, path)
	} else {
		w.pages[path] = body
	}
	return w.other.URL + path
}

// fetched returns how often a page was fetched.
func (w *world) fetched(path string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hits[path]
}

func linksTo(target string) string {
	return `<html lang="en"><title>Other</title><p>Read <a href="` + target + `">this</a>.`
}

// receive sends notices and checks the outcome of each.
func (w *world) receive(want incoming.Outcome, notices ...incoming.Notice) []incoming.Answer {
	w.Helper()
	answers, err := w.Receive(w.Context(), notices)
	testkit.Check(w, err)
	for i, a := range answers {
		if a.Outcome != want {
			w.Errorf("%s %s of %s: %s (%s), want %s", notices[i].Protocol, notices[i].Action, notices[i].Source, a.Outcome, a.Reason, want)
		}
	}
	return answers
}

// wait waits until a mention satisfies a condition.
func (w *world) wait(id, what string, ok func(incoming.Mention) bool) incoming.Mention {
	w.Helper()
	var m incoming.Mention
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(2 * time.Millisecond) {
		var err error
		if m, err = w.store.Mention(w.Context(), id); err == nil && ok(m) {
			return m
		}
	}
	w.Fatalf("the mention is not %s: %+v", what, m)
	return m
}

func (w *world) waitState(id string, s incoming.State) incoming.Mention {
	w.Helper()
	return w.wait(id, string(s), func(m incoming.Mention) bool { return m.State == s })
}

// all returns all mentions.
func (w *world) all() (all []incoming.Mention) {
	w.Helper()
	for m, err := range w.store.List(w.Context(), incoming.Filter{}) {
		testkit.Check(w, err)
		all = append(all, m)
	}
	return all
}

// decide does what a person does.
func (w *world) decide(id string, s incoming.State) {
	w.Helper()
	if _, err := w.store.Update(w.Context(), id, func(m *incoming.Mention) error { m.State = s; return nil }); err != nil {
		w.Fatal(err)
	}
}

func webmention(source, target string) incoming.Notice {
	return incoming.Notice{Protocol: incoming.Webmention, Source: source, Target: target, Peer: netip.MustParseAddr("192.0.2.1")}
}

func linkCall(a incoming.Action, source, target string) incoming.Notice {
	return incoming.Notice{Protocol: incoming.LinkMethod, Action: a, Source: source, Target: target}
}

// TestOutcomes: what is answered from local knowledge, without any fetch (LK-1,
// LK-7, LK-27, LK-32, PB-45 to PB-48).
func TestOutcomes(t *testing.T) {
	w := newWorld(t)
	const source = "https://a.example/p"
	call := linkCall
	with := func(n incoming.Notice, replacement string) incoming.Notice { n.Replacement = replacement; return n }
	for _, c := range []struct {
		n    incoming.Notice
		want incoming.Outcome
	}{
		{webmention(source, ourPost), incoming.Accepted},
		{webmention(source, ourPost), incoming.Known},
		{webmention(source+"#x", ourPost), incoming.Accepted},
		{call(incoming.Link, source+"#x", ourPost+"#y"), incoming.Known}, // A-LK-9
		{call(incoming.Link, "HTTPS://A.EXAMPLE:443/%70", ourPost), incoming.Known},
		{webmention("\n "+source+" ", " "+ourPost+"\r\n"), incoming.Known},
		{webmention("", ourPost), incoming.Invalid},
		{webmention("junk", ourPost), incoming.Invalid},
		{webmention(source, "junk"), incoming.Invalid},
		{webmention("/p", ourPost), incoming.Invalid},
		{webmention("mailto:x@y", ourPost), incoming.Invalid},
		{webmention("javascript:alert(1)", ourPost), incoming.Invalid},
		{webmention("https://u:p@a.example/", ourPost), incoming.Invalid},
		{webmention("https://u:p@a.example/", "https://elsewhere.example/"), incoming.Invalid},
		{webmention("https://a.example/\x00", ourPost), incoming.Invalid},
		{webmention("https://a.example/\r\nX: y", ourPost), incoming.Invalid},
		{webmention("https://a.example/"+strings.Repeat("x", 2100), ourPost), incoming.Invalid},
		{webmention(ourPost, ourPost+"#x"), incoming.Invalid},
		{call(incoming.Link, ourPost, "http://B.example:443/post/"), incoming.Elsewhere},
		{webmention(source, "https://c.example/"), incoming.Elsewhere},
		{webmention(source, "https://b.example/none"), incoming.Missing},
		{webmention(source, "https://b.example/private/"), incoming.Closed},
		{call(incoming.Unlink, "https://a.example/other", ourPost), incoming.Unlinked},
		{call(incoming.Unlink, source, ourPost), incoming.Accepted},
		{call(incoming.Unlink, source, "https://b.example/none"), incoming.Missing},
		{call(incoming.Unlink, ourPost, ourPost), incoming.Invalid}, // LK-47
		{with(call(incoming.Unlink, source, ourPost), source), incoming.Invalid},
		{with(call(incoming.Unlink, source, ourPost), "https://evil.example/copy"), incoming.Invalid}, // LK-47
		{with(call(incoming.Unlink, source, ourPost), "https://a.example:8080/p"), incoming.Invalid},
		{with(call(incoming.Unlink, source, ourPost), "junk"), incoming.Invalid},
		{with(call(incoming.Unlink, source, ourPost), "https://a.example/new"), incoming.Accepted},
		{call(incoming.UnlinkR, "https://b.example/", w.other.URL+"/target"), incoming.Accepted},
		{call(incoming.UnlinkR, "https://b.example/", w.other.URL+"/target#x"), incoming.Known},
		{call(incoming.UnlinkR, "https://b.example/", "https://a.example/not-linked"), incoming.Unlinked},
		{call(incoming.UnlinkR, ourPost, w.other.URL+"/target"), incoming.Unlinked},
		{call(incoming.UnlinkR, "https://b.example/none", w.other.URL+"/target"), incoming.Missing},
		{call(incoming.UnlinkR, "https://c.example/", w.other.URL+"/target"), incoming.Elsewhere},
		{with(call(incoming.UnlinkR, "https://b.example/", w.other.URL+"/target"), "junk"), incoming.Invalid},
		{call(incoming.LinkMod, "https://b.example/", w.other.URL+"/target"), incoming.Accepted},
		{call(incoming.LinkMod, "https://b.example/", w.other.URL+"/target"), incoming.Known},
	} {
		a := w.receive(c.want, c.n)[0]
		if recorded := c.want == incoming.Accepted || c.want == incoming.Known; (a.ID != "") != recorded || a.Reason == "" {
			t.Errorf("%+v: %+v", c.n, a)
		}
	}
	if n := len(w.all()); n != 5 { // LK-44
		t.Errorf("%d mentions: %+v", n, w.all())
	}
	if len(w.hits) != 0 {
		t.Errorf("answers caused requests: %v", w.hits)
	}
}

// TestAllOrNone: several links in one request (LK-59), and a store that fails.
func TestAllOrNone(t *testing.T) {
	w := newWorld(t)
	good, bad := webmention("https://a.example/1", ourPost), webmention("https://a.example/2", "https://b.example/none")
	unknown := linkCall(incoming.Unlink, "https://a.example/3", ourPost)
	for _, batch := range [][]incoming.Notice{{good, bad}, {bad, good}, {good, unknown}, {unknown, good}} {
		answers, err := w.Receive(t.Context(), batch)
		if err != nil || len(w.all()) != 0 {
			t.Fatalf("%v, recorded %+v", err, w.all())
		}
		for _, a := range answers {
			if a.ID != "" {
				t.Errorf("ID of a mention that is not recorded: %+v", a)
			}
		}
	}
	w.receive(incoming.Accepted, good, webmention("https://a.example/2", ourPost))
	if answers := w.receive(incoming.Known, good, good); answers[0].ID != answers[1].ID {
		t.Errorf("one link in one request twice: %+v", answers)
	}
	answers, _ := w.Receive(t.Context(), []incoming.Notice{webmention("https://a.example/9", ourPost), webmention("https://a.example/9", ourPost)})
	if answers[0].Outcome != incoming.Accepted || answers[1].Outcome != incoming.Known || answers[1].ID != answers[0].ID || len(w.all()) != 3 {
		t.Errorf("a new link in one request twice: %+v", answers)
	}
	w.receive(incoming.Invalid, make([]incoming.Notice, incoming.MaxNotices+1)...)

	failure := errors.New("disk full")
	w.store.Fail(failure)
	if _, err := w.Receive(t.Context(), []incoming.Notice{webmention("https://a.example/3", ourPost)}); !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
	w.store.Fail(nil)
	if n := len(w.all()); n != 3 {
		t.Errorf("%d mentions", n)
	}
}

// TestReplacement: UNLINK with the new address of the source makes a new mention
// that must be verified, and leaves the old one until its source was looked at
// (LK-17, LK-5, A-LK-12, LK-47).
func TestReplacement(t *testing.T) {
	w := newWorld(t).run()
	old := w.page("/old", linksTo(ourPost))
	deeper := w.page("/old/deeper", linksTo(ourPost))
	n := linkCall(incoming.Link, old, ourPost)
	n.Subscribe = true
	id := w.receive(incoming.Accepted, n)[0].ID
	other := w.receive(incoming.Accepted, linkCall(incoming.Link, deeper, ourPost))[0].ID
	w.waitState(id, incoming.Held)
	w.waitState(other, incoming.Held)
	w.decide(id, incoming.Approved)

	moved := w.page("/new", linksTo(ourPost))
	w.page("/old", "301 "+moved)
	w.Pass(2 * time.Hour)
	n = linkCall(incoming.Unlink, old, ourPost)
	n.Replacement = moved
	w.receive(incoming.Accepted, n)
	m := w.waitState(id, incoming.Gone)
	if !strings.Contains(m.Reason, "/new") || m.Subscribed {
		t.Errorf("%+v", m)
	}
	var next incoming.Mention
	for _, m := range w.all() {
		if m.Source == moved {
			next = m
		}
	}
	if next.ID == "" || !next.Subscribed {
		t.Fatalf("no mention for the replacement: %+v", w.all())
	}
	w.wait(next.ID, "verified", func(m incoming.Mention) bool { return !m.Verified.IsZero() })
	if m := w.waitState(other, incoming.Held); m.Due.Sub(w.Now()) < time.Hour {
		t.Errorf("a call for /old concerns /old/deeper: %+v", m)
	}
	w.receive(incoming.Known, n) // LK-43: again
	w.receive(incoming.Known, n)
	if len(w.all()) != 3 {
		t.Errorf("%+v", w.all())
	}
}

// TestLinkOnly: the other methods succeed without effect (LK-42), and without a
// store, LINK too (LK-8).
func TestLinkOnly(t *testing.T) {
	w := newWorld(t, func(o *incoming.ReceiverOptions) { o.LinkOnly = true })
	for _, a := range []incoming.Action{incoming.Unlink, incoming.UnlinkR, incoming.LinkMod} {
		w.receive(incoming.Known, linkCall(a, "https://x.example/", "https://y.example/"))
	}
	w.receive(incoming.Accepted, linkCall(incoming.Link, "https://a.example/", ourPost))
	if len(w.all()) != 1 {
		t.Errorf("%+v", w.all())
	}
	w = newWorld(t, func(o *incoming.ReceiverOptions) { o.Store = nil })
	w.receive(incoming.Accepted, linkCall(incoming.Link, "https://a.example/", ourPost))
	w.receive(incoming.Missing, linkCall(incoming.Link, "https://a.example/", "https://b.example/none"))
}

// TestSubscription: LINKMOD is kept by a LINK without it (A-LK-10), and refused by
// a receiver that does not send such calls, which records the link (LK-28, A-LK-6).
func TestSubscription(t *testing.T) {
	w := newWorld(t)
	n := linkCall(incoming.Link, "https://a.example/", ourPost)
	n.Subscribe = true
	if a := w.receive(incoming.Accepted, n)[0]; !a.Subscribed {
		t.Errorf("%+v", a)
	}
	n.Subscribe = false
	if a := w.receive(incoming.Known, n)[0]; a.Subscribed || !w.all()[0].Subscribed {
		t.Errorf("%+v, %+v", a, w.all())
	}
	w = newWorld(t, func(o *incoming.ReceiverOptions) { o.LinkMod = false })
	n.Subscribe = true
	if a := w.receive(incoming.Accepted, n)[0]; a.Subscribed || len(w.all()) != 1 {
		t.Errorf("%+v, %+v", a, w.all())
	}
}

// TestLimits: notices per address and per site (PB-59, reflection as in 2014).
func TestLimits(t *testing.T) {
	w := newWorld(t, func(o *incoming.ReceiverOptions) { o.RateAddress, o.RateSource = 10, 6 })
	from := func(peer, source string) incoming.Notice {
		n := webmention(source, ourPost)
		n.Peer = netip.MustParseAddr(peer)
		return n
	}
	for i := range 6 {
		w.receive(incoming.Accepted, from("192.0.2.1", fmt.Sprintf("https://h%d.a.example/?%d", i, i)))
	}
	a := w.receive(incoming.Limited, from("192.0.2.1", "https://other.a.example/"))[0]
	if a.RetryAfter < time.Second || a.RetryAfter > time.Minute {
		t.Errorf("%+v", a)
	}
	if n := len(w.all()); n != 6 {
		t.Errorf("%d mentions", n)
	}
	w.receive(incoming.Limited, from("192.0.2.2", "https://a.example/")) // the site, whatever the address
	w.receive(incoming.Accepted, from("192.0.2.1", "https://c.example/1"), from("192.0.2.1", "https://d.example/2"))
	w.receive(incoming.Accepted, from("192.0.2.1", "https://c.example/3"))
	w.receive(incoming.Limited, from("192.0.2.1", "https://c.example/4")) // the address, whatever the site
	w.receive(incoming.Limited, from("::ffff:192.0.2.1", "https://c.example/4"))
	w.receive(incoming.Accepted, from("2001:db8::1", "https://c.example/4"))
	w.Pass(10 * time.Second)
	w.receive(incoming.Accepted, from("192.0.2.1", "https://a.example/again"))
	w.Pass(-100 * 24 * time.Hour) // the clock is set back
	w.receive(incoming.Limited, from("192.0.2.1", "https://a.example/again2"))
	w.Pass(200 * 24 * time.Hour)
	for i := range 6 {
		w.receive(incoming.Accepted, from("2001:db8:0:1::"+fmt.Sprint(i+1), fmt.Sprintf("https://e%d.example/", i)))
	}
	for i := range 4 {
		w.receive(incoming.Accepted, from("2001:db8:0:1:ffff::"+fmt.Sprint(i+1), fmt.Sprintf("https://f%d.example/", i)))
	}
	w.receive(incoming.Limited, from("2001:db8:0:1:eeee::1", "https://g.example/")) // one /64
	w.receive(incoming.Accepted, from("2001:db8:0:2::1", "https://g.example/"))
}

// TestBlock: a block refuses notices and hides mentions within a second, and its
// removal has them verified again (PB-48).
func TestBlock(t *testing.T) {
	w := newWorld(t).run()
	source := w.page("/p", linksTo(ourPost))
	id := w.receive(incoming.Accepted, webmention(source, ourPost))[0].ID
	w.waitState(id, incoming.Held)
	rule := func(pattern string, v incoming.Verdict) {
		t.Helper()
		testkit.Check(t, w.store.SetRules(t.Context(), []incoming.Rule{{Pattern: pattern, Verdict: v}}))
	}
	outcome := func(n incoming.Notice, want incoming.Outcome) {
		t.Helper()
		var got incoming.Outcome
		for begin := time.Now(); time.Since(begin) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
			answers := testkit.Must(w.Receive(t.Context(), []incoming.Notice{n}))(t)
			if got = answers[0].Outcome; got == want {
				return
			}
		}
		t.Errorf("%s, want %s", got, want)
	}
	rule("127.0.0.1", incoming.Block)
	outcome(webmention(source+"?x", ourPost), incoming.Denied)
	w.waitState(id, incoming.Blocked)
	outcome(linkCall(incoming.UnlinkR, "https://b.example/", w.other.URL+"/target"), incoming.Denied)
	rule("127.0.0.1", "")
	w.waitState(id, incoming.Queued)
	outcome(webmention(source+"?x", ourPost), incoming.Known)

	rule("192.0.2.0/24", incoming.Block) // the address of a peer
	outcome(webmention("https://a.example/", ourPost), incoming.Denied)
	rule("192.0.2.0/24", "")
	w.Pass(2 * time.Hour)
	w.waitState(id, incoming.Held)
	rule("127.0.0.1", incoming.Trust)
	w.waitState(id, incoming.Approved)
}

// brokenStore panics when the mentions of a host are listed.
type brokenStore struct{ *incomingtest.Store }

func (s brokenStore) List(ctx context.Context, f incoming.Filter) iter.Seq2[incoming.Mention, error] {
	if f.Source == "127.0.0.1" {
		panic("a bug in the verification of one mention")
	}
	return s.Store.List(ctx, f)
}

// TestPanic: a panic in the verification of one mention does not stop the others.
func TestPanic(t *testing.T) {
	w := newWorld(t, func(o *incoming.ReceiverOptions) { o.Store = brokenStore{o.Store.(*incomingtest.Store)} }).run()
	first := w.receive(incoming.Accepted, webmention(w.page("/p", linksTo(ourPost)), ourPost))[0].ID
	second := w.receive(incoming.Accepted, webmention(w.page("/q", linksTo("https://x.example/")), ourPost))[0].ID
	w.waitState(second, incoming.Rejected)
	m := w.wait(first, "planned again", func(m incoming.Mention) bool { return m.Failures == 1 })
	if m.State != incoming.Queued || m.Due.Sub(w.Now()) != time.Hour {
		t.Errorf("%+v", m)
	}
}
