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

// post returns a page with the given HTML in its article.
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

// announced deploys pages that are all new, and delivers the notices.
func (w *world) announced() {
	w.t.Helper()
	w.snap.New = false
	w.deploy()
	w.sent()
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
	w.announced()

	w.write("a/index.html", post("A", a("https://x.example/keep"), a("https://y.example/new")))
	w.write("c/index.html", post("C", a("https://z.example/#top")))
	w.expect("removed a/ x.example/go", "updated a/ x.example/keep", "added a/ y.example/new", "added c/ z.example/#top")
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

// A page that is renamed sends one notice to each target of a link that it keeps, under the
// address that the target knows, and so does a later change. Visitors of an alias page, which
// receivers do not follow, find no link there, and those of a page without a redirect
// nothing: both send two. Targets that never heard of the page get none.
func TestMoved(t *testing.T) {
	for name, c := range map[string]struct {
		move        func(w *world)
		want, later []string
	}{
		"rule": {func(w *world) { w.write("_redirects", "/old/ /new/ 301\n") },
			[]string{"moved old/ x.example/1 -> new/", "moved old/ x.example/2 -> new/"},
			[]string{"removed old/ x.example/1 -> new/", "updated old/ x.example/2 -> new/"}},
		"alias": {func(w *world) {
			w.write("old/index.html", `<meta http-equiv=refresh content="0; url=`+base+`new/">`)
		}, []string{"added new/ x.example/1", "added new/ x.example/2", "moved old/ x.example/1 -> new/", "moved old/ x.example/2 -> new/"},
			[]string{"removed new/ x.example/1", "updated new/ x.example/2"}},
		"nothing": {func(w *world) {},
			[]string{"added new/ x.example/1", "added new/ x.example/2", "moved old/ x.example/1 -> new/", "moved old/ x.example/2 -> new/"},
			[]string{"removed new/ x.example/1", "updated new/ x.example/2"}},
		"tombstone": {func(w *world) { w.write("old/index.html", TombstonePage) },
			[]string{"added new/ x.example/1", "added new/ x.example/2", "moved old/ x.example/1 -> new/", "moved old/ x.example/2 -> new/"},
			[]string{"removed new/ x.example/1", "updated new/ x.example/2"}},
	} {
		for _, announced := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, announced %v", name, announced), func(t *testing.T) {
				want, later := c.want, c.later
				w := newWorld(t)
				w.snap.New = !announced
				w.write("old/index.html", post("P", a("https://x.example/1"), a("https://x.example/2"), a("/other/")))
				w.deploy()
				w.sent()
				w.remove("old")
				w.write("new/index.html", post("P", a("https://x.example/1"), a("https://x.example/2"), a("/blog/other/")))
				c.move(w)
				if !announced {
					want, later = nil, nil
				}
				w.expect(want...)
				if got := w.plan.Gone; len(got) != 1 || got[0].Replacement != base+"new/" || got[0].NoRedirect != (name == "nothing" || name == "tombstone") {
					t.Errorf("gone %+v", got)
				}
				if !announced && w.plan.Untold != 2 {
					t.Errorf("%d links whose targets never heard of them, want 2", w.plan.Untold)
				}
				w.sent()
				w.expect()
				w.write("new/index.html", post("P again", a("https://x.example/2")))
				w.expect(later...)
				w.sent()
				w.expect()
			})
		}
	}
}

// A page that moved twice is announced under the address that the target knows, as long as
// that redirects.
func TestMovedTwice(t *testing.T) {
	w := newWorld(t)
	w.write("index.html", post("Home"))
	w.write("a/index.html", post("P", a("https://x.example/1")))
	w.announced()
	w.remove("a")
	w.write("b/index.html", post("P", a("https://x.example/1")))
	w.write("_redirects", "/a/ /b/ 301\n")
	w.expect("moved a/ x.example/1 -> b/")
	w.sent()
	w.remove("b")
	w.write("c/index.html", post("P", a("https://x.example/1")))
	w.write("_redirects", "/a/ /c/ 301\n/b/ /c/ 301\n")
	w.expect("moved a/ x.example/1 -> c/")
	w.sent()
	w.remove("c")
	w.write("_redirects", "/a/ /c/ 301\n/b/ /c/ 301\n")
	w.expect("deleted a/ x.example/1 -> c/")
}

// What the first run recorded sends nothing, whatever happens to it: a link that goes, a
// page that is renamed or deleted, or a page that is missing in one build.
func TestArchiveIsQuiet(t *testing.T) {
	w := newWorld(t)
	for i := range 60 {
		w.write(fmt.Sprintf("2020/%02d/index.html", i), post(fmt.Sprint("Post ", i), a(fmt.Sprintf("https://x.example/%d", i)), a(fmt.Sprintf("https://y.example/%d", i)), a(fmt.Sprintf("/2020/%02d/", (i+1)%60))))
	}
	w.write("gone/index.html", post("Gone", a("https://x.example/gone")))
	w.write("cut/index.html", post("Cut", a("https://x.example/cut")))
	w.deploy()
	testkit.Check(t, os.Rename(filepath.Join(w.dir, "2020"), filepath.Join(w.dir, "posts")))
	for i := range 60 {
		w.write(fmt.Sprintf("posts/%02d/index.html", i), post(fmt.Sprint("Post ", i), a(fmt.Sprintf("https://x.example/%d", i)), a(fmt.Sprintf("https://y.example/%d", i)), a(fmt.Sprintf("/posts/%02d/", (i+1)%60))))
	}
	w.remove("gone")
	w.write("cut/index.html", post("Cut"))
	w.expect()
	if w.plan.Untold != 122 {
		t.Errorf("%d links whose targets never heard of them, want 122", w.plan.Untold)
	}
	w.write("gone/index.html", post("Gone", a("https://x.example/gone")))
	w.expect()
}

// A page that was announced and is back after one build is announced again: its target
// heard that it was deleted.
func TestBack(t *testing.T) {
	w := newWorld(t)
	w.write("index.html", post("Home"))
	w.write("a/index.html", post("A", a("https://x.example/1")))
	w.announced()
	text := testkit.Must(os.ReadFile(filepath.Join(w.dir, "a", "index.html")))(t)
	w.remove("a")
	w.expect("deleted a/ x.example/1")
	w.sent()
	w.write("a/index.html", string(text))
	w.expect("added a/ x.example/1")
}

// A change that several pages have in common is the theme's: it sends no updates, and hides
// none.
func TestCommonChange(t *testing.T) {
	w := newWorld(t)
	build := func(edited string, line func(i int) string) {
		for i := range 20 {
			text := fmt.Sprintf("Text %d", i)
			if i == 7 {
				text += edited
			}
			w.write(fmt.Sprintf("p%02d/index.html", i), post("P", text, a(fmt.Sprintf("https://x.example/%d", i)), "<p>"+line(i)))
		}
	}
	build("", func(int) string { return "" })
	w.announced()
	build("", func(i int) string { return fmt.Sprintf("%d min read, built on Fri 27 November", i/3+1) })
	w.expect()
	if w.plan.Alike != 20 || w.plan.Unchanged != 20 {
		t.Errorf("%d alike, %d unchanged, want 20", w.plan.Alike, w.plan.Unchanged)
	}
	build(", edited", func(i int) string { return fmt.Sprintf("%d min read, built on Sat 28 November", i/3+1) })
	w.expect("updated p07/ x.example/7")
	w.sent()
	build(", edited", func(i int) string {
		return fmt.Sprintf("%d min read, built on Sat 28 November", i/3+1) + a("https://theme.example/")
	})
	w.expect()
	if w.plan.Common != 20 {
		t.Errorf("%d links that most pages have, want 20", w.plan.Common)
	}
}

// A ledger of an earlier version has other hashes. They show no change, so that a new
// version sends no updates.
func TestHashOfEarlierVersion(t *testing.T) {
	w := newWorld(t)
	w.write("a/index.html", post("A", a("https://x.example/1")))
	w.announced()
	w.snap.Pages[0].Hash = "5f2ebc9d97cdd847b30a89004f29de8d"
	w.write("a/index.html", post("A edited", a("https://x.example/1")))
	w.expect()
	w.write("a/index.html", post("A edited again", a("https://x.example/1")))
	w.expect("updated a/ x.example/1")
}

// A baseline of another base URL announces the new addresses to targets that heard of the
// old ones, once, and leaves nothing of the old base.
func TestNewBase(t *testing.T) {
	w := newWorld(t)
	w.write("told/index.html", post("A", a("https://x.example/1"), a("https://none.example/")))
	w.announced()
	for i := range w.snap.Notices {
		if n := &w.snap.Notices[i]; n.Target == "https://none.example/" {
			n.State = ledger.NoService
		}
	}
	w.snap.New = true
	w.write("archive/index.html", post("B", a("https://x.example/2")))
	w.deploy()
	for i := range w.snap.Pages {
		w.snap.Pages[i].URL = strings.Replace(w.snap.Pages[i].URL, base, "https://old.example/", 1)
	}
	for i := range w.snap.Links {
		w.snap.Links[i].Source = strings.Replace(w.snap.Links[i].Source, base, "https://old.example/", 1)
	}
	for i := range w.snap.Notices {
		w.snap.Notices[i].Source = strings.Replace(w.snap.Notices[i].Source, base, "https://old.example/", 1)
	}
	w.snap.Base, w.snap.New = "https://old.example", true
	w.expect("added told/ x.example/1")
	w.sent()
	w.snap.Base = base
	w.expect()
	if len(w.plan.Gone)+len(w.plan.Inactive)+len(w.plan.Unanswered) > 0 {
		t.Errorf("pages of the old base are left: %+v", w.plan)
	}
	w.snap.New = true
	w.expect()
}

// A link stays the same link when its scheme or fragment is edited. A notice that was not
// sent yet is sent with the link as the page has it now.
func TestLinkWrittenDifferently(t *testing.T) {
	w := newWorld(t)
	w.write("a/index.html", post("A", a("http://x.example/1"), a("https://x.example/2#a")))
	w.write("b/index.html", post("B", a("http://x.example/1")))
	w.snap.New = false
	w.deploy()
	for i := range w.snap.Notices {
		if n := &w.snap.Notices[i]; n.Source == base+"a/" {
			n.State, n.Protocol = ledger.Done, ledger.Webmention
		}
	}
	w.write("a/index.html", post("A", a("https://x.example/1"), a("https://x.example/2#b")))
	w.write("b/index.html", post("B", a("https://x.example/1")))
	w.expect("updated a/ x.example/1", "updated a/ x.example/2#b", "added b/ x.example/1")
	for _, n := range w.snap.Notices {
		if n.Open() && (n.Target == "http://x.example/1" || n.Target == "https://x.example/2#a") {
			t.Errorf("open notice of a link that is gone: %+v", n)
		}
	}
	w.sent()
	w.expect()
	w.write("a/index.html", post("A"))
	w.expect("removed a/ x.example/1", "removed a/ x.example/2#b")
}

// A target that took no notices is marked, whichever page asked it.
func TestSilent(t *testing.T) {
	w := newWorld(t)
	w.write("a/index.html", post("A", a("https://x.example/1"), a("https://y.example/1")))
	w.announced()
	for i := range w.snap.Notices {
		w.snap.Notices[i].Tried = w.opt.Now
		if n := &w.snap.Notices[i]; n.Target == "https://x.example/1" {
			n.State, n.Tried = ledger.NoService, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
		}
	}
	w.opt.Now = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	w.write("a/index.html", post("A edited", a("https://x.example/1"), a("https://y.example/1")))
	w.write("b/index.html", post("B", a("https://x.example/1"), a("https://z.example/1")))
	w.expect("added a/ x.example/1", "updated a/ y.example/1", "added b/ x.example/1", "added b/ z.example/1")
	var silent []bool
	for _, i := range w.plan.Items {
		silent = append(silent, i.Silent)
	}
	if want := []bool{true, false, true, false}; !slices.Equal(silent, want) {
		t.Errorf("silent %v, want %v", silent, want)
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
	for updates, want := range map[Updates]struct{ archive, told, again int }{
		"": {0, 1, 1}, UpdateAnnounced: {0, 1, 1}, UpdateAll: {71, 73, 73}, UpdateNever: {0, 0, 1},
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
				for _, i := range w.plan.Items {
					if !i.Withdrawn && i.Event == event && i.Protocol != ledger.WebSub && !strings.Contains(i.Target, "hub") {
						got++
					}
				}
				if got != n {
					t.Errorf("%d notices of event %s, want %d: %v", got, event, n, w.plan.Items)
				}
			}
			w.write("a/index.html", post("A", append(kept, a("https://none.example/"), a("https://new.example/"))...))
			due, archive := []string{"added a/ new.example/", "removed a/ gone.example/"}, 2
			if updates != UpdateAll { // the target of the link that is gone never heard of it
				due, archive = due[:1], 1
			}
			w.expectDue(due...)
			if got := len(w.plan.Due()) - archive; got != want.archive+min(want.archive, 1) || got+w.plan.NoUpdate != 72 {
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

func TestOtherOptionsReadAgain(t *testing.T) {
	w := newWorld(t)
	w.write("a/index.html", post("A", a("https://x.example/1"), a("https://y.example/1")))
	w.announced()
	w.opt.Deny = []string{"y.example"}
	w.expect("removed a/ y.example/1")
}
