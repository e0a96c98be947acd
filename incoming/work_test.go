package incoming_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/moderation"
)

const day = 24 * time.Hour

// TestLife: a webmention from its notice to its removal (PB-68, LK-48).
func TestLife(t *testing.T) {
	w := newWorld(t).run()
	source := w.page("/p", linksTo(ourPost))
	id := w.receive(incoming.Accepted, webmention(source, ourPost))[0].ID
	m := w.waitState(id, incoming.Held) // the first from its host
	if m.Title != "Other" || m.Excerpt != "Read this." || m.Lang != "en" || !m.Verified.Equal(w.Now()) || m.Fault != 0 {
		t.Errorf("%+v", m)
	}
	w.decide(id, incoming.Approved)
	second := w.receive(incoming.Accepted, webmention(w.page("/q", linksTo(ourAbout)), ourAbout))[0].ID
	w.waitState(second, incoming.Approved) // the host is known

	// The rechecks find a new text, a failure, and then no link.
	w.page("/p", strings.Replace(linksTo(ourPost), "Read", "Ignore", 1))
	w.Pass(40 * day)
	w.wait(id, "verified again", func(m incoming.Mention) bool { return m.Excerpt == "Ignore this." && m.State == incoming.Approved })
	w.page("/p", "503")
	w.Pass(40 * day)
	w.wait(id, "planned again", func(m incoming.Mention) bool { return m.Failures == 1 && m.State == incoming.Approved })
	w.page("/p", "no link")
	w.Pass(2 * time.Hour)
	m = w.wait(id, "doubted", func(m incoming.Mention) bool { return m.Fault == 17 })
	if m.State != incoming.Approved || m.Excerpt != "Ignore this." {
		t.Errorf("one look removed it: %+v", m)
	}
	w.Pass(7 * time.Hour)
	m = w.waitState(id, incoming.Gone)
	if m.Fault != 17 || !m.Due.IsZero() {
		t.Errorf("%+v", m)
	}
	// It comes back when it is sent again.
	w.page("/p", linksTo(ourPost))
	w.Pass(2 * time.Hour)
	if again := w.receive(incoming.Accepted, webmention(source, ourPost))[0]; again.ID != id {
		t.Errorf("%+v", again)
	}
	w.waitState(id, incoming.Approved)
}

// TestKnownAuthor: the first mention by each author is held. Who that is follows from
// the page that was verified, at its own host.
func TestKnownAuthor(t *testing.T) {
	w := newWorld(t).run()
	by := func(name string) string {
		return `<div class="h-entry"><a class="p-author h-card" href="/author/` + name + `">` + name + `</a> <a href="` + ourPost + `">post</a></div>`
	}
	first := w.receive(incoming.Accepted, webmention(w.page("/1", by("alice")), ourPost))[0].ID
	w.waitState(first, incoming.Held)
	w.decide(first, incoming.Approved)
	elsewhere := strings.Replace(w.page("/4", by("alice")), "127.0.0.1", "localhost", 1)
	for _, c := range []struct {
		path, body string
		want       incoming.State
	}{
		{"/2", by("alice"), incoming.Approved},
		{"/3", by("bob"), incoming.Held},
		{"/5", "301 " + elsewhere, incoming.Held}, // anyone can use a redirect of the host
		{"/6", linksTo(ourPost), incoming.Approved},
	} {
		id := w.receive(incoming.Accepted, webmention(w.page(c.path, c.body), ourPost))[0].ID
		if m := w.wait(id, "verified", func(m incoming.Mention) bool { return m.State != incoming.Queued }); m.State != c.want {
			t.Errorf("%s: %+v, want it %s", c.path, m, c.want)
		}
	}
}

// TestFaults: what a source without a link is recorded with (PB-43, PB-44, PB-49,
// LK-48).
func TestFaults(t *testing.T) {
	w := newWorld(t).run()
	for path, c := range map[string]struct {
		body  string
		fault int
	}{"/none": {"", 16}, "/text": {"<p>" + ourPost, 17}, "/other": {linksTo(ourAbout), 17}} {
		id := w.receive(incoming.Accepted, webmention(w.page(path, c.body), ourPost))[0].ID
		if m := w.waitState(id, incoming.Rejected); m.Fault != c.fault || m.Reason == "" || m.Title != "" {
			t.Errorf("%s: %+v", path, m)
		}
	}
	id := w.receive(incoming.Accepted, webmention(w.page("/down", "503"), ourPost))[0].ID
	for i := 1; i <= 6; i++ {
		w.wait(id, "tried", func(m incoming.Mention) bool { return m.Failures == i })
		w.Pass(31 * time.Hour)
	}
	if m := w.waitState(id, incoming.Rejected); m.Fault != 50 {
		t.Errorf("%+v", m)
	}
	inside := w.receive(incoming.Accepted, webmention("http://169.254.169.254/latest/", ourPost))[0].ID // LK-51
	if m := w.waitState(inside, incoming.Rejected); m.Fault != 16 {
		t.Errorf("%+v", m)
	}
}

// TestObserve: each look is counted once, also if the store applies its change again, as
// that of these tests does.
func TestObserve(t *testing.T) {
	var looks atomic.Int64
	w := newWorld(t, func(o *incoming.ReceiverOptions) {
		o.Observe = func(incoming.State, time.Duration) { looks.Add(1) }
	}).run()
	first := w.receive(incoming.Accepted, webmention(w.page("/1", linksTo(ourPost)), ourPost))[0].ID
	w.waitState(first, incoming.Held)
	if changed, err := moderation.SetRule(w.Context(), w.store, incoming.Rule{Pattern: "127.0.0.1", Verdict: incoming.Trust}, w.Now()); changed != 1 || err != nil {
		t.Errorf("the rule changed %d mentions, %v", changed, err)
	}
	w.waitState(first, incoming.Approved)
	second := w.receive(incoming.Accepted, webmention(w.page("/2", linksTo(ourPost)), ourPost))[0].ID
	w.waitState(second, incoming.Approved)
	if n := looks.Load(); n != 2 {
		t.Errorf("%d looks at two mentions", n)
	}
}

// TestThirdParty: repeated notices cause at most one fetch an hour and remove
// nothing, unless the link is gone (LK-49; webmentiond's lost approvals).
func TestThirdParty(t *testing.T) {
	w := newWorld(t).run()
	source := w.page("/p", linksTo(ourPost))
	id := w.receive(incoming.Accepted, webmention(source, ourPost))[0].ID
	w.waitState(id, incoming.Held)
	w.decide(id, incoming.Approved)
	for range 100 {
		w.receive(incoming.Known, webmention(source, ourPost))
		w.receive(incoming.Known, incoming.Notice{Protocol: incoming.Pingback, Source: source, Target: ourPost})
		w.receive(incoming.Accepted, linkCall(incoming.Unlink, source, ourPost))
	}
	marker := w.receive(incoming.Accepted, webmention(w.page("/marker", linksTo(ourPost)), ourPost))[0].ID
	w.waitState(marker, incoming.Approved)
	if n := w.fetched("/p"); n != 1 {
		t.Errorf("%d fetches", n)
	}
	w.Pass(61 * time.Minute)
	m := w.wait(id, "looked at again", func(m incoming.Mention) bool { return m.Fetched.Equal(w.Now()) })
	if m.State != incoming.Approved || w.fetched("/p") != 2 {
		t.Errorf("%d fetches: %+v", w.fetched("/p"), m)
	}
	w.decide(marker, incoming.Refused)
	for range 10 {
		w.receive(incoming.Known, webmention(w.other.URL+"/marker", ourPost))
	}
	w.Pass(100 * day)
	w.wait(id, "looked at again", func(m incoming.Mention) bool { return m.Fetched.Equal(w.Now()) })
	if m := w.waitState(marker, incoming.Refused); w.fetched("/marker") > 2 {
		t.Errorf("a denied mention was fetched %d times: %+v", w.fetched("/marker"), m)
	}
}

// TestUpdate1: the first of the two update tests of webmention.rocks, from the side of
// the receiver. A page gets a second link; both links are verified, and the first one is
// not received twice.
func TestUpdate1(t *testing.T) {
	w := newWorld(t).run()
	source := w.page("/update/1", linksTo(ourPost))
	first := w.receive(incoming.Accepted, webmention(source, ourPost))[0].ID
	w.waitState(first, incoming.Held)
	early := w.receive(incoming.Accepted, webmention(source, ourAbout))[0].ID // before the link is there
	w.waitState(early, incoming.Rejected)
	w.page("/update/1", strings.Replace(linksTo(ourPost)+linksTo(ourAbout), "Read", "Now read", 1))
	w.Pass(2 * time.Hour)
	if again := w.receive(incoming.Known, webmention(source, ourPost))[0].ID; again != first {
		t.Errorf("an update made another mention: %s", again)
	}
	second := w.receive(incoming.Accepted, webmention(source, ourAbout))[0].ID
	w.waitState(second, incoming.Held)
	w.wait(first, "updated", func(m incoming.Mention) bool { return strings.Contains(m.Excerpt, "Now read this.") })
	if n := len(w.all()); n != 2 || second != early || second == first {
		t.Errorf("%d mentions, want 2: %+v", n, w.all())
	}
}

// TestUpdate2: the second one. A page loses one of its two links; both are sent again,
// and only the lost one is removed.
func TestUpdate2(t *testing.T) {
	w := newWorld(t).run()
	source := w.page("/update/2", linksTo(ourPost)+linksTo(ourAbout))
	kept := w.receive(incoming.Accepted, webmention(source, ourPost))[0].ID
	lost := w.receive(incoming.Accepted, webmention(source, ourAbout))[0].ID
	w.waitState(kept, incoming.Held)
	w.waitState(lost, incoming.Held)
	w.decide(kept, incoming.Approved)
	w.decide(lost, incoming.Approved)
	w.page("/update/2", linksTo(ourPost))
	w.Pass(2 * time.Hour)
	w.receive(incoming.Known, webmention(source, ourPost), webmention(source, ourAbout))
	w.wait(lost, "doubted", func(m incoming.Mention) bool { return m.Fault == 17 })
	w.wait(kept, "verified again", func(m incoming.Mention) bool { return m.Verified.Equal(w.Now()) })
	w.Pass(7 * time.Hour)
	w.waitState(lost, incoming.Gone)
	if m, err := w.store.Mention(t.Context(), kept); err != nil || m.State != incoming.Approved {
		t.Errorf("the other link is %s: %v", m.State, err)
	}
}

// TestDelete1: the delete test, in its three forms. A page is deleted with the status
// 410, with a meta element, or with 404, and its webmention is sent again.
func TestDelete1(t *testing.T) {
	w := newWorld(t).run()
	for path, deleted := range map[string]string{
		"/delete/410": "410", "/delete/404": "", "/delete/meta": `<meta http-equiv="Status" content="410 GONE">` + linksTo(ourPost),
	} {
		source := w.page(path, linksTo(ourPost))
		id := w.receive(incoming.Accepted, webmention(source, ourPost))[0].ID
		w.wait(id, "verified", func(m incoming.Mention) bool { return m.State == incoming.Held || m.State == incoming.Approved })
		w.decide(id, incoming.Approved)
		w.page(path, deleted)
		w.Pass(2 * time.Hour)
		w.receive(incoming.Known, webmention(source, ourPost))
		if m := w.wait(id, "doubted", func(m incoming.Mention) bool { return m.Fault == 16 }); m.State != incoming.Approved {
			t.Errorf("%s: one look removed it: %+v", path, m)
		}
		w.Pass(7 * time.Hour)
		w.waitState(id, incoming.Gone)
	}
}

// TestUnlink: UNLINK removes a link that is gone, after a second look, and can be
// repeated for 30 days (LK-30, LK-45, LK-49, A-LK-7, A-LK-10).
func TestUnlink(t *testing.T) {
	w := newWorld(t).run()
	source := w.page("/p", linksTo(ourPost))
	n := linkCall(incoming.Link, source, ourPost)
	n.Subscribe = true
	id := w.receive(incoming.Accepted, n)[0].ID
	w.waitState(id, incoming.Held)
	w.page("/p", "no link")
	w.Pass(2 * time.Hour)
	unlink := linkCall(incoming.Unlink, source, ourPost)
	w.receive(incoming.Accepted, unlink)
	w.wait(id, "doubted", func(m incoming.Mention) bool { return m.Fault == 17 })
	w.Pass(7 * time.Hour)
	if m := w.waitState(id, incoming.Gone); m.Subscribed {
		t.Errorf("%+v", m)
	}
	w.receive(incoming.Known, unlink, unlink)
	w.Pass(29 * day)
	w.receive(incoming.Known, unlink)
	w.Pass(2 * day)
	w.receive(incoming.Unlinked, unlink)
}

// TestUnlinkR: a suggestion of another site is proved by a fetch and then waits
// for a person (LK-32, LK-46, LK-50).
func TestUnlinkR(t *testing.T) {
	w := newWorld(t).run()
	target := w.page("/target", "here I am")
	n := linkCall(incoming.UnlinkR, "https://b.example/", target)
	n.Replacement = w.page("/new", "new")
	id := w.receive(incoming.Accepted, n)[0].ID
	if m := w.waitState(id, incoming.Rejected); !strings.Contains(m.Reason, "still answers") {
		t.Errorf("forged: %+v", m)
	}
	w.page("/target", "301 /new")
	w.Pass(2 * time.Hour)
	w.receive(incoming.Accepted, n)
	m := w.waitState(id, incoming.Held)
	if m.Replacement != w.other.URL+"/new" || !strings.Contains(m.Reason, "redirects to") || m.Verified.IsZero() {
		t.Errorf("redirect: %+v", m)
	}
	w.receive(incoming.Known, n) // LK-43
	w.page("/target", "here I am again")
	w.Pass(40 * day)
	w.waitState(id, incoming.Gone)
	w.page("/target", "")
	w.Pass(2 * time.Hour)
	w.receive(incoming.Accepted, n)
	m = w.waitState(id, incoming.Held)
	if m.Replacement == "" || !strings.Contains(m.Reason, "404") {
		t.Errorf("gone: %+v", m)
	}
	want := incoming.LinkChange{
		ID: id, Action: incoming.UnlinkR, Page: "https://b.example/", Old: target, New: n.Replacement, Reason: m.Reason, Verified: m.Verified,
	}
	if got := w.changes(); len(got) != 1 || got[0] != want {
		t.Errorf("changes: %+v, want %+v", got, want)
	}
	if _, _, err := moderation.Approve(t.Context(), w.store, id, w.Now()); err != nil {
		t.Fatal(err)
	}
	fetched := w.fetched("/target")
	w.wait(id, "postponed", func(m incoming.Mention) bool { return m.State == incoming.Approved && m.Due.After(w.Now()) })
	if got := w.changes(); len(got) != 1 || !got[0].Decided {
		t.Errorf("changes: %+v", got)
	}
	// Once our page no longer has the link, the suggestion is moot.
	w.sites.Set(manifest(t, map[string]string{"index.html": "no link"}, based("https://b.example/")))
	w.Pass(day + time.Minute)
	w.waitState(id, incoming.Gone)
	if got := w.changes(); len(got) != 0 || w.fetched("/target") != fetched {
		t.Errorf("changes: %+v, after %d fetches and %d before", got, w.fetched("/target"), fetched)
	}
}

// changes returns the changes that were proved.
func (w *world) changes() []incoming.LinkChange {
	w.Helper()
	changes, err := incoming.Changes(w.Context(), w.store)
	if err != nil {
		w.Fatal(err)
	}
	return changes
}

// TestLinkMod: a modification waits for a person, once (LK-34, LK-35, LK-43).
func TestLinkMod(t *testing.T) {
	w := newWorld(t).run()
	n := linkCall(incoming.LinkMod, "https://b.example/", w.page("/target", "new text"))
	id := w.receive(incoming.Accepted, n)[0].ID
	w.waitState(id, incoming.Held)
	w.receive(incoming.Known, n)
	w.decide(id, incoming.Approved)
	w.Pass(2 * time.Hour)
	w.receive(incoming.Accepted, n) // the next modification
	w.waitState(id, incoming.Held)
}

// TestRefusedAddress: a source at an address that must not be fetched is rejected without a
// request, so a repeated notice is looked at again at once. The log names the address and
// what allows it; the sender does not learn that.
func TestRefusedAddress(t *testing.T) {
	var mu sync.Mutex
	var log strings.Builder
	w := newWorld(t, func(o *incoming.ReceiverOptions) {
		o.Log = slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			return log.Write(p)
		}), nil))
	}).run()
	for range 2 {
		id := w.receive(incoming.Accepted, webmention("http://192.168.1.9/post", ourPost))[0].ID
		if m := w.waitState(id, incoming.Rejected); !m.Fetched.IsZero() || strings.Contains(m.Reason, "192.168") {
			t.Errorf("%+v", m)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	text := log.String()
	if strings.Count(text, "msg=notice") != 2 || strings.Count(text, "msg=verified") != 2 || strings.Count(text, "192.168.1.9:80: the address is private") != 2 || strings.Count(text, "reason=") != 4 {
		t.Errorf("the log:\n%s", text)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestManyTargetsOneSource: a source is fetched once an hour, however many of our
// pages it is reported to link to (PB-59; the reflection attacks of 2014).
func TestManyTargetsOneSource(t *testing.T) {
	w := newWorld(t)
	files := map[string]string{"index.html": "x"}
	body := "<title>T</title>"
	var notices []incoming.Notice
	for i := range 20 {
		target := fmt.Sprintf("https://b.example/%d.html", i)
		files[fmt.Sprintf("%d.html", i)] = "x"
		notices = append(notices, webmention(w.other.URL+"/p", target))
		if i%2 == 0 {
			body += linksTo(target)
		}
	}
	w.page("/p", body)
	w.sites.Set(manifest(t, files, based("https://b.example/")))
	answers := w.receive(incoming.Accepted, notices...)
	w.run()
	for i, a := range answers {
		w.waitState(a.ID, []incoming.State{incoming.Held, incoming.Rejected}[i%2])
	}
	if n := w.fetched("/p"); n != 1 {
		t.Errorf("%d fetches", n)
	}
	// A link that is new since the fetch waits for the next one.
	w.Pass(time.Minute)
	w.page("/p", body+linksTo("https://b.example/1.html"))
	id := w.receive(incoming.Accepted, notices[1])[0].ID
	if m := w.wait(id, "postponed", func(m incoming.Mention) bool { return m.Due.Sub(w.Now()) == 59*time.Minute }); m.State != incoming.Queued {
		t.Errorf("%+v", m)
	}
	w.Pass(59 * time.Minute)
	w.waitState(id, incoming.Held)
	if n := w.fetched("/p"); n != 2 {
		t.Errorf("%d fetches", n)
	}
}

// TestClockJumps: a clock that is set forward or back delays nothing for longer
// than an hour.
func TestClockJumps(t *testing.T) {
	w := newWorld(t).run()
	source := w.page("/p", linksTo(ourPost))
	w.Pass(20 * 365 * day)
	id := w.receive(incoming.Accepted, webmention(source, ourPost))[0].ID
	w.waitState(id, incoming.Held)
	w.Pass(-20 * 365 * day)
	w.page("/p", strings.Replace(linksTo(ourPost), "Read", "See", 1))
	w.receive(incoming.Known, webmention(source, ourPost))
	w.wait(id, "verified again", func(m incoming.Mention) bool { return m.Excerpt == "See this." })
}

// TestUnserved: the sources of mentions of a site that is no longer served are not
// fetched.
func TestUnserved(t *testing.T) {
	w := newWorld(t)
	id := w.receive(incoming.Accepted, webmention(w.page("/p", linksTo(ourPost)), ourPost))[0].ID
	w.sites.Set(manifest(t, map[string]string{"index.html": "x"}, based("https://new.example/")))
	w.run()
	if m := w.wait(id, "postponed", func(m incoming.Mention) bool { return m.Due.After(w.Now()) }); m.State != incoming.Queued || w.fetched("/p") != 0 {
		t.Errorf("%+v", m)
	}
}

// TestStopDuringFetch: a receiver that is stopped says nothing about the source.
func TestStopDuringFetch(t *testing.T) {
	begun, end := make(chan struct{}, 1), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		select {
		case <-end:
		case <-r.Context().Done():
		}
	}))
	defer slow.Close()
	defer close(end)
	w := newWorld(t)
	id := w.receive(incoming.Accepted, webmention(slow.URL+"/p", ourPost))[0].ID
	t.Run("run", func(t *testing.T) {
		w.T = t
		w.run()
		<-begun
	}) // its end stops the receiver
	m, err := w.store.Mention(t.Context(), id)
	if err != nil || m.State != incoming.Queued || m.Failures != 0 {
		t.Errorf("a stop is not the fault of the source: %+v, %v", m, err)
	}
}
