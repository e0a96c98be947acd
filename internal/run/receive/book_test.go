package receive_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/internal/run/receive"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
	"github.com/sitelink/sitelink/site"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// sites returns the sites of one docroot.
func sites(t *testing.T, base string, files map[string]string) *incoming.Sites {
	t.Helper()
	s := &incoming.Sites{}
	s.Set(manifest(t, t.TempDir(), base, files))
	return s
}

// manifest writes a docroot and returns its manifest.
func manifest(t *testing.T, root, base string, files map[string]string) *incoming.Manifest {
	t.Helper()
	return incomingtest.Manifest(t, root, files, site.Options{BaseURLs: []string{base}, Profile: "netlify"})
}

// text returns a page with a text that is long enough to be recognised.
func text(word string) string {
	return "<nav>menu</nav><main><h1>" + word + "</h1><p>" + strings.Repeat(word+" and more. ", 20) + "</main><footer>2026</footer>"
}

// deploy returns the calls that a deploy adds, as lines.
func deploy(t *testing.T, b *receive.Book, store incoming.Store, before, after *incoming.Sites) (lines []string) {
	t.Helper()
	b.Queue = nil
	testkit.Check(t, b.Deploy(t.Context(), store, before, after))
	for _, e := range b.Queue {
		lines = append(lines, strings.TrimSpace(fmt.Sprint(e.Call.Method, " ", e.Call.Source, " ", e.Call.Target, " ", e.Call.Replacement)))
	}
	return lines
}

func check(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// TestDeploy: which sources are called when pages of ours change (LK-10, LK-13,
// LK-36, LK-62).
func TestDeploy(t *testing.T) {
	const base = "https://b.example/"
	store := incomingtest.NewStore(nil)
	add := func(source, target string, s incoming.State, subscribed bool) {
		store.Add(incoming.Mention{Source: source, Target: target, State: s, Subscribed: subscribed, Protocol: incoming.LinkMethod})
	}
	for i, s := range []incoming.State{incoming.Approved, incoming.Held, incoming.Approved, incoming.Queued, incoming.Rejected, incoming.Refused, incoming.Blocked, incoming.Gone} {
		add(fmt.Sprintf("https://a%d.example/p", i), base+"one/", s, i == 0)
	}
	add("https://a.example/kept", base+"two/", incoming.Approved, true)
	add("https://a.example/x", base+"img.png", incoming.Approved, true)

	first := sites(t, base, map[string]string{"one/index.html": text("one"), "two/index.html": text("two"), "img.png": "x"})
	book := &receive.Book{}
	check(t, "the first deploy", deploy(t, book, store, nil, first))
	check(t, "nothing changed", deploy(t, book, store, first, first))

	changed := sites(t, base, map[string]string{"one/index.html": text("one, edited"), "two/index.html": "<p>new theme</p>" + text("two"), "img.png": "y"})
	check(t, "a text changed", deploy(t, book, store, first, changed), "LINKMOD https://a0.example/p https://b.example/one/")
	check(t, "once", deploy(t, book, store, changed, changed))

	moved := sites(t, base, map[string]string{"uno/index.html": text("uno"), "two/index.html": text("two"), "img.png": "y", "_redirects": "/one/* /uno/:splat 301"})
	three := func(rest string) (lines []string) {
		for _, a := range []string{"a0", "a1", "a2"} {
			lines = append(lines, strings.TrimSpace("UNLINKR https://"+a+".example/p https://b.example/one/ "+rest))
		}
		return lines
	}
	check(t, "moved, with a redirect", deploy(t, book, store, changed, moved), three("https://b.example/uno/")...)
	check(t, "once", deploy(t, book, store, moved, moved))

	back := sites(t, base, map[string]string{"one/index.html": text("one"), "two/index.html": text("two"), "img.png": "y"})
	deploy(t, book, store, moved, back)
	renamed := sites(t, base, map[string]string{"other/index.html": text("one"), "two/index.html": text("two"), "img.png": "y"})
	check(t, "moved, without a redirect", deploy(t, book, store, back, renamed), three("https://b.example/other/")...)
	deploy(t, book, store, renamed, back)
	gone := sites(t, base, map[string]string{"two/index.html": text("two"), "img.png": "y"})
	check(t, "gone", deploy(t, book, store, back, gone), three("")...)
	check(t, "gone before", deploy(t, book, store, gone, gone))
	check(t, "back", deploy(t, book, store, gone, back))

	// A link that was received since the last deploy.
	add("https://new.example/", base+"two/", incoming.Held, false)
	check(t, "received since", deploy(t, book, store, back, sites(t, base, map[string]string{"dos/index.html": text("two"), "one/index.html": text("one"), "img.png": "y"})),
		"UNLINKR https://a.example/kept https://b.example/two/ https://b.example/dos/", "UNLINKR https://new.example/ https://b.example/two/ https://b.example/dos/")
	// A site that is no longer served here is not gone.
	check(t, "not served", deploy(t, book, store, back, sites(t, "https://elsewhere.example/", map[string]string{"index.html": ""})))
}

// script is a caller with prepared outcomes.
type script struct {
	states []ledger.State
	calls  int
}

func (s *script) Notify(context.Context, send.LinkCall) outgoing.Outcome {
	s.calls++
	return outgoing.Outcome{State: s.states[min(s.calls, len(s.states))-1]}
}

// failingStore has a list that ends with an error after its first mention.
type failingStore struct {
	incoming.Store
	err error
}

func (s failingStore) List(ctx context.Context, f incoming.Filter) iter.Seq2[incoming.Mention, error] {
	return func(yield func(incoming.Mention, error) bool) {
		for m, err := range s.Store.List(ctx, f) {
			if !yield(m, err) {
				return
			}
			break
		}
		yield(incoming.Mention{}, s.err)
	}
}

// TestDeployAgain: a deploy that failed can be repeated, and adds no call twice.
func TestDeployAgain(t *testing.T) {
	const base = "https://b.example/"
	store := incomingtest.NewStore(nil)
	for i := range 2 {
		store.Add(incoming.Mention{Source: fmt.Sprintf("https://a%d.example/p", i), Target: base + "one/", State: incoming.Approved})
	}
	before := sites(t, base, map[string]string{"index.html": text("home"), "one/index.html": text("one")})
	after := sites(t, base, map[string]string{"index.html": text("home")})
	b := &receive.Book{Pages: map[string]receive.BookPage{}}
	failure := errors.New("disk full")
	if err := b.Deploy(t.Context(), failingStore{store, failure}, before, after); !errors.Is(err, failure) {
		t.Errorf("the store fails: %v", err)
	}
	if err := b.Deploy(t.Context(), store, before, after); err != nil || len(b.Queue) != 2 {
		t.Errorf("%v, %+v", err, b.Queue)
	}
}

// TestSend: a call that fails is repeated with growing pauses, and given up in the
// end; all other outcomes are final (LK-33, LK-52).
func TestSend(t *testing.T) {
	entry := receive.BookEntry{Call: send.LinkCall{Method: send.UnlinkR, Source: "https://a.example/", Target: "https://b.example/"}}
	for _, state := range []ledger.State{ledger.Done, ledger.Accepted, ledger.Permanent, ledger.NoService, ledger.Skipped} {
		b := &receive.Book{Queue: []receive.BookEntry{entry}}
		sent, err := b.Send(t.Context(), &script{states: []ledger.State{state}}, now)
		if err != nil || len(sent) != 1 || len(b.Queue) != 0 {
			t.Errorf("%s: %v, %+v, %+v", state, err, sent, b.Queue)
		}
	}
	b, caller, at := &receive.Book{Queue: []receive.BookEntry{entry}}, &script{states: []ledger.State{ledger.Retry}}, now
	for len(b.Queue) > 0 && caller.calls < 100 {
		testkit.Must(b.Send(t.Context(), caller, at))(t)
		before := caller.calls
		if _, err := b.Send(t.Context(), caller, at); err != nil || caller.calls != before {
			t.Errorf("no pause after attempt %d", before)
		}
		if len(b.Queue) > 0 {
			at = b.Queue[0].Next
		}
	}
	if caller.calls != 6 || at.Sub(now) < 4*24*time.Hour {
		t.Errorf("%d attempts in %s", caller.calls, at.Sub(now))
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	b = &receive.Book{Queue: []receive.BookEntry{entry, entry}}
	if _, err := b.Send(ctx, caller, now); err == nil || len(b.Queue) != 2 {
		t.Errorf("stopped: %v, %+v", err, b.Queue)
	}
}

// TestFile: a book survives a restart; an error names the file.
func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "upkeep.json")
	b, err := receive.ReadBook(name)
	if err != nil || len(b.Queue) != 0 {
		t.Fatal(b, err)
	}
	b.Pages["https://b.example/"] = receive.BookPage{URL: "https://b.example/", Text: 1<<64 - 1}
	b.Queue = []receive.BookEntry{{Call: send.LinkCall{Method: send.LinkMod, Source: "https://a.example/", Target: "https://b.example/"}, Attempts: 2, Next: now}}
	testkit.Check(t, b.Write(name))
	again, err := receive.ReadBook(name)
	if err != nil || again.Pages["https://b.example/"] != b.Pages["https://b.example/"] || again.Queue[0] != b.Queue[0] {
		t.Errorf("%+v, %v", again, err)
	}
	testkit.Check(t, os.WriteFile(name, []byte("{"), 0o600))
	if _, err := receive.ReadBook(name); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("error %v", err)
	}
	if err := b.Write(filepath.Join(name, "x")); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("error %v", err)
	}
}

// TestQueue: a call that was not sent yet follows what happens meanwhile.
func TestQueue(t *testing.T) {
	const base = "https://b.example/"
	store := incomingtest.NewStore(nil)
	store.Add(incoming.Mention{Source: "https://a.example/", Target: base + "one", State: incoming.Approved})
	one := sites(t, base, map[string]string{"one/index.html": text("one")})
	two := sites(t, base, map[string]string{"two/index.html": text("one"), "_redirects": "/one /two/ 301\n/one/ /two/ 301"})
	three := sites(t, base, map[string]string{"three/index.html": text("one"), "_redirects": "/one /three/ 301\n/one/ /three/ 301"})
	book := &receive.Book{}
	for i, step := range []struct {
		to   *incoming.Sites
		want string
	}{{one, ""}, {two, base + "two/"}, {three, base + "three/"}, {one, "none"}} {
		testkit.Check(t, book.Deploy(t.Context(), store, nil, step.to))
		if n := len(book.Queue); n > 1 || (n == 0) != (step.want == "" || step.want == "none") || n == 1 && book.Queue[0].Call.Replacement != step.want {
			t.Errorf("step %d: %+v, want %q", i, book.Queue, step.want)
		}
	}
}
