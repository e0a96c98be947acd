package outgoing

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/host"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/site"
)

const base = "https://me.example/"

// world is a docroot and its ledger, from one deploy to the next.
type world struct {
	t     *testing.T
	dir   string
	snap  ledger.Snapshot
	opt   Options
	cache *Cache
	plan  *Plan
}

func newWorld(t *testing.T) *world {
	return &world{t: t, dir: t.TempDir(), snap: ledger.Snapshot{Base: base, New: true}, opt: Options{Rel: DefaultRel}}
}

func handle(s *isite.Site) *site.Site { return isite.Wrap(s).(*site.Site) }

func (w *world) write(path, text string) {
	w.t.Helper()
	testkit.Write(w.t, filepath.Join(w.dir, filepath.FromSlash(path)), text)
}

func (w *world) remove(path string) {
	w.t.Helper()
	testkit.Check(w.t, os.RemoveAll(filepath.Join(w.dir, filepath.FromSlash(path))))
}

// post returns a page whose article has the given HTML.
func post(title string, body ...string) string {
	return "<!DOCTYPE html><html><head><meta charset=utf-8><title>" + title + "</title></head><body><nav><a href=https://nav.example/>n</a></nav>" +
		"<article><h1>" + title + "</h1>" + strings.Join(body, "\n") + "</article><footer><a href=https://foot.example/>f</a></footer></body></html>"
}

func a(url string) string { return `<a href="` + url + `">text</a>` }

// deploy makes the plan of the current docroot, applies it to the
// ledger, and returns its items, each as "event source target".
func (w *world) deploy() []string {
	w.t.Helper()
	profile, _ := host.ProfileByName("netlify")
	s := testkit.Must(isite.Load(w.t.Context(), w.dir, isite.Options{BaseURLs: []string{base}, Profile: profile, Sums: true}))(w.t)
	e := testkit.Must(Read(w.t.Context(), handle(s), &w.snap, w.opt, w.cache))(w.t)
	w.plan = Diff(e, &w.snap)
	w.apply(w.plan.Change)
	var lines []string
	for _, i := range w.plan.Items {
		line := fmt.Sprintf("%s %s %s", i.Event, strings.TrimPrefix(i.Source, base), strings.TrimPrefix(i.Target, "https://"))
		if i.Replacement != "" {
			line += " -> " + strings.TrimPrefix(i.Replacement, base)
		}
		if i.Withdrawn {
			line += " withdrawn"
		}
		lines = append(lines, line)
	}
	return lines
}

// apply changes the ledger as a store does.
func (w *world) apply(c ledger.Change) {
	w.snap.New = false
	for _, p := range c.Pages {
		w.snap.Pages = slices.DeleteFunc(w.snap.Pages, func(q ledger.Page) bool { return q.URL == p.URL })
		w.snap.Pages = append(w.snap.Pages, p)
	}
	w.snap.Links = slices.DeleteFunc(w.snap.Links, func(l ledger.Link) bool { return slices.Contains(c.Dropped, l) })
	for _, l := range c.Links {
		if !slices.Contains(w.snap.Links, l) {
			w.snap.Links = append(w.snap.Links, l)
		}
	}
	for _, n := range c.Notices {
		w.snap.Notices = slices.DeleteFunc(w.snap.Notices, func(m ledger.Notice) bool { return m.Key == n.Key })
		w.snap.Notices = append(w.snap.Notices, n)
	}
}

// sent marks all open notices as delivered by webmention.
func (w *world) sent() {
	for i := range w.snap.Notices {
		if n := &w.snap.Notices[i]; n.State == ledger.Pending {
			n.State, n.Protocol = ledger.Done, ledger.Webmention
		}
	}
}

func (w *world) expect(want ...string) {
	w.t.Helper()
	got := w.deploy()
	if !slices.Equal(got, want) {
		w.t.Errorf("plan:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestFirstRunTellsNobody(t *testing.T) {
	w := newWorld(t)
	w.write("a/index.html", post("A", a("https://x.example/1"), a("https://x.example/2#part")))
	w.expect()
	if !w.plan.First || len(w.snap.Links) != 2 || len(w.snap.Notices) != 0 {
		t.Errorf("first %v, links %v, notices %v", w.plan.First, w.snap.Links, w.snap.Notices)
	}
	w.expect()
	if w.plan.Unchanged != 1 || len(w.plan.Change.Pages)+len(w.plan.Change.Links) != 0 {
		t.Errorf("a second run changes %+v", w.plan.Change)
	}
}

// TestDiff: notices are planned for the links that changed since the last deploy
// (PB-11).
func TestDiff(t *testing.T) {
	w := newWorld(t)
	w.write("a/index.html", post("A", a("https://x.example/keep"), a("https://x.example/go")))
	w.write("b/index.html", post("B", a("https://x.example/b")))
	w.deploy()

	w.write("a/index.html", post("A", a("https://x.example/keep"), a("https://y.example/new")))
	w.write("c/index.html", post("C", a("https://z.example/#top")))
	w.expect("removed a/ x.example/go", "added a/ y.example/new", "added c/ z.example/#top")
	w.sent()
	w.expect()

	w.remove("b")
	w.expect("deleted b/ x.example/b")
	if want := []string{base + "b/"}; !slices.Equal(w.plan.Unanswered, want) {
		t.Errorf("unanswered %v, want %v", w.plan.Unanswered, want)
	}
	w.sent()
	w.expect()
	if len(w.plan.Unanswered) != 1 {
		t.Errorf("the deleted page is no longer listed: %v", w.plan.Unanswered)
	}
	w.write("b/index.html", TombstonePage)
	w.expect()
	if len(w.plan.Unanswered) != 0 {
		t.Errorf("a page with a tombstone is still listed: %v", w.plan.Unanswered)
	}
	w.write("b/index.html", post("B", a("https://x.example/b")))
	w.expect("added b/ x.example/b")
}

// A page that is renamed sends one notice to each target of a link that it keeps. Visitors of
// an alias page, which receivers do not follow, find no link there: it sends two.
func TestMoved(t *testing.T) {
	for name, c := range map[string]struct {
		move func(w *world)
		want []string
	}{
		"rule": {func(w *world) { w.write("_redirects", "/old/ /new/ 301\n") },
			[]string{"added new/ x.example/2", "moved old/ x.example/1 -> new/"}},
		"alias": {func(w *world) {
			w.write("old/index.html", `<meta http-equiv=refresh content="0; url=`+base+`new/">`)
		}, []string{"added new/ x.example/1", "added new/ x.example/2", "moved old/ x.example/1 -> new/"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("old/index.html", post("P", a("https://x.example/1")))
			w.deploy()
			w.remove("old")
			w.write("new/index.html", post("P", a("https://x.example/1"), a("https://x.example/2")))
			c.move(w)
			w.expect(c.want...)
			w.sent()
			w.expect()
			w.write("new/index.html", post("P"))
			w.expect("removed new/ x.example/1", "removed new/ x.example/2")
		})
	}
}

// The target of a link that was not announced yet when its page was renamed hears of the new
// address.
func TestMovedBeforeSent(t *testing.T) {
	w := newWorld(t)
	w.write("a/index.html", post("A", a("https://x.example/a")))
	w.deploy()
	w.write("old/index.html", post("P", a("https://x.example/1")))
	w.expect("added old/ x.example/1")
	w.remove("old")
	w.write("new/index.html", post("P", a("https://x.example/1")))
	w.write("_redirects", "/old/ /new/ 301\n")
	w.expect("added new/ x.example/1", "moved old/ x.example/1 -> new/ withdrawn")
}

// A target that took no notices is asked again after 30 days although the page stays as it
// is, the one that was left alone for the longest time first, and ten in a plan.
func TestSilentTargets(t *testing.T) {
	w := newWorld(t)
	w.write("a/index.html", post("A"))
	w.deploy()
	var links []string
	for i := range 12 {
		links = append(links, a(fmt.Sprintf("https://x.example/%02d", i)))
	}
	w.write("a/index.html", post("A", links...))
	w.deploy()
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for i := range w.snap.Notices {
		n := &w.snap.Notices[i]
		n.State, n.Tried = ledger.NoService, day.Add(-time.Duration(i)*time.Minute)
	}
	w.snap.Notices[11].State = ledger.Done
	w.opt.Now = day.Add(30*24*time.Hour - 12*time.Minute)
	w.expect()
	w.opt.Now = day.Add(30 * 24 * time.Hour)
	got := w.deploy()
	if len(got) != 10 || got[0] != "added a/ x.example/01" || got[9] != "added a/ x.example/10" {
		t.Errorf("got %q", got)
	}
	for i := range w.snap.Notices {
		if n := &w.snap.Notices[i]; n.Open() {
			n.State, n.Tried = ledger.NoService, w.opt.Now
		}
	}
	w.expect("added a/ x.example/00")
	w.sent()
	w.expect()
}

func TestOpenNoticesAreMerged(t *testing.T) {
	w := newWorld(t)
	w.opt.Updates = UpdateAll
	w.write("a/index.html", post("A", a("https://x.example/1")))
	w.deploy()
	w.write("b/index.html", post("B", a("https://x.example/2")))
	w.expect("added b/ x.example/2")
	w.write("b/index.html", post("B changed", a("https://x.example/2")))
	w.expect("added b/ x.example/2")
	w.remove("b")
	w.expect("deleted b/ x.example/2 withdrawn")
	w.write("a/index.html", post("A"))
	w.expect("removed a/ x.example/1")
	w.write("a/index.html", post("A", a("https://x.example/1")))
	w.expect("updated a/ x.example/1")
	open := 0
	for _, n := range w.snap.Notices {
		if n.State == ledger.Pending {
			open++
		}
	}
	if open != 1 {
		t.Errorf("%d open notices, want 1: %+v", open, w.snap.Notices)
	}
}

func TestPageThatStopsSpeaking(t *testing.T) {
	w := newWorld(t)
	w.write("a/index.html", post("A", a("https://x.example/1")))
	w.write("b/index.html", post("B", a("https://x.example/2")))
	w.deploy()
	w.opt.Exclude = []string{"a/**"}
	w.expect()
	if want := []string{base + "a/"}; !slices.Equal(w.plan.Inactive, want) {
		t.Errorf("inactive %v, want %v", w.plan.Inactive, want)
	}
	w.opt.Exclude = nil
	w.write("a/index.html", post("A", a("https://x.example/1"), a("https://x.example/3")))
	w.expect("added a/ x.example/3")
}

// TestUpdates: editing a page of the archive announces what is new and gone, and
// not the links that were only recorded.
func TestUpdates(t *testing.T) {
	kept := make([]string, 71)
	for i := range kept {
		kept[i] = a(fmt.Sprintf("https://x.example/%02d", i))
	}
	for updates, want := range map[Updates]struct{ archive, told, again, away int }{
		"": {0, 1, 1, 0}, UpdateAnnounced: {0, 1, 1, 0}, UpdateAll: {71, 73, 73, 1}, UpdateNever: {0, 0, 1, 0},
	} {
		t.Run(string(updates), func(t *testing.T) {
			w := newWorld(t)
			w.opt.Updates = updates
			w.opt.Hubs = func([]byte) []string { return []string{"https://hub.example/"} }
			w.write("index.xml", "<rss>1</rss>")
			w.write("a/index.html", post("A", append(kept, a("https://gone.example/"), a("https://none.example/"))...))
			w.deploy()
			count := func(event ledger.Event, n int) {
				t.Helper()
				w.deploy()
				got := 0
				for _, i := range w.plan.Due() {
					if i.Event == event && i.Protocol != ledger.WebSub && !strings.Contains(i.Target, "hub") {
						got++
					}
				}
				if got != n {
					t.Errorf("%d notices of event %s, want %d: %v", got, event, n, w.plan.Items)
				}
			}
			w.write("a/index.html", post("A", append(kept, a("https://none.example/"), a("https://new.example/"))...))
			w.expectDue("added a/ new.example/", "removed a/ gone.example/")
			if got := len(w.plan.Due()) - 2; got != want.archive+min(want.archive, 1) || got+w.plan.NoUpdate != 72 {
				t.Errorf("%d updates, %d withheld", got, w.plan.NoUpdate)
			}
			w.sent()
			// The new link is known now, so it gets the update.
			w.write("a/index.html", post("A again", append(kept, a("https://none.example/"), a("https://new.example/"))...))
			count(ledger.Updated, want.told)
			w.sent()
			// A target that took no notices may take them now.
			for i := range w.snap.Notices {
				w.snap.Notices[i].State = ledger.NoService
			}
			w.write("a/index.html", post("A third", append(kept, a("https://none.example/"), a("https://new.example/"))...))
			count(ledger.Added, want.again)
			w.sent()
			// A link of the archive was away for one deploy, and its target never heard of it.
			w.write("a/index.html", post("A fourth", append(kept[1:], a("https://none.example/"), a("https://new.example/"))...))
			w.deploy()
			w.write("a/index.html", post("A fifth", append(kept, a("https://none.example/"), a("https://new.example/"))...))
			w.deploy()
			if open := w.open("https://x.example/00"); len(open) != want.away {
				t.Errorf("the link that is back has the open notices %v", open)
			}
			// A hub always learns that its feed changed.
			w.write("index.xml", "<rss>2</rss>")
			w.expectDue("updated index.xml hub.example/")
		})
	}
}

// TestAddedAndRemoved: a link that is gone before its target can have heard of it
// sends nothing, however often it was tried.
func TestAddedAndRemoved(t *testing.T) {
	for name, c := range map[string]struct {
		notice ledger.Notice
		sends  bool
	}{
		"not tried":                      {ledger.Notice{State: ledger.Pending}, false},
		"page not live":                  {ledger.Notice{State: ledger.Retry, Attempts: 3, Message: "the source page answered 404"}, false},
		"no such host":                   {ledger.Notice{State: ledger.Retry, Attempts: 1}, false},
		"endpoint asks to wait":          {ledger.Notice{State: ledger.Retry, Endpoint: "https://new.example/wm", Status: 429}, false},
		"endpoint fails":                 {ledger.Notice{State: ledger.Retry, Endpoint: "https://new.example/wm", Status: 503}, false},
		"fault":                          {ledger.Notice{State: ledger.Retry, Endpoint: "https://new.example/wm", Status: 200, Fault: new(int)}, false},
		"no answer to the notice":        {ledger.Notice{State: ledger.Retry, Endpoint: "https://new.example/wm"}, true},
		"answer cut short":               {ledger.Notice{State: ledger.Retry, Endpoint: "https://new.example/wm", Status: 200}, true},
		"in flight when a run was ended": {ledger.Notice{State: ledger.InFlight}, true},
		"delivered":                      {ledger.Notice{State: ledger.Done, Endpoint: "https://new.example/wm", Status: 200}, true},
	} {
		for _, edited := range []bool{false, true} {
			w := newWorld(t)
			w.write("a/index.html", post("A"))
			w.deploy()
			w.write("a/index.html", post("A", a("https://new.example/")))
			w.expectDue("added a/ new.example/")
			for i := range w.snap.Notices {
				c.notice.Key, c.notice.Event, c.notice.Hash = w.snap.Notices[i].Key, ledger.Added, w.snap.Notices[i].Hash
				w.snap.Notices[i] = c.notice
			}
			if edited && c.notice.State != ledger.InFlight { // which the next run settles
				w.write("a/index.html", post("A edited", a("https://new.example/")))
				w.deploy()
			}
			w.write("a/index.html", post("A"))
			w.deploy()
			if sends := len(w.plan.Due()) > 0; sends != c.sends {
				t.Errorf("%s, edited %v: sends %v: %v", name, edited, sends, w.plan.Items)
			}
		}
	}
}

// expectDue deploys and compares the notices to send; want may leave out updates
// of pages.
func (w *world) expectDue(want ...string) {
	w.t.Helper()
	var due []string
	for _, line := range w.deploy() {
		if !strings.HasSuffix(line, " withdrawn") && (!strings.HasPrefix(line, "updated a/") || slices.Contains(want, line)) {
			due = append(due, line)
		}
	}
	slices.Sort(due)
	if !slices.Equal(due, want) {
		w.t.Errorf("due:\n  %s\nwant:\n  %s", strings.Join(due, "\n  "), strings.Join(want, "\n  "))
	}
}

// open returns the open notices about a target.
func (w *world) open(target string) (open []ledger.Notice) {
	for _, n := range w.snap.Notices {
		if n.Target == target && n.Open() {
			open = append(open, n)
		}
	}
	return open
}

func TestOtherOptionsReadAgain(t *testing.T) {
	w := newWorld(t)
	w.write("a/index.html", post("A", a("https://x.example/1"), a("https://y.example/1")))
	w.deploy()
	w.opt.Deny = []string{"y.example"}
	w.expect("removed a/ y.example/1")
}
