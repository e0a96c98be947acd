package outgoing

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	isite "github.com/sitelink/sitelink/internal/site"
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
	full := filepath.Join(w.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(path string) {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(w.dir, filepath.FromSlash(path))); err != nil {
		w.t.Fatal(err)
	}
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
	s, err := isite.Load(w.t.Context(), w.dir, isite.Options{BaseURLs: []string{base}, Profile: profile, Sums: true})
	if err != nil {
		w.t.Fatal(err)
	}
	e, err := Read(w.t.Context(), handle(s), &w.snap, w.opt, w.cache)
	if err != nil {
		w.t.Fatal(err)
	}
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

func TestMoved(t *testing.T) {
	for name, move := range map[string]func(w *world){
		"rule":  func(w *world) { w.write("_redirects", "/old/ /new/ 301\n") },
		"alias": func(w *world) { w.write("old/index.html", `<meta http-equiv=refresh content="0; url=`+base+`new/">`) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("old/index.html", post("P", a("https://x.example/1")))
			w.deploy()
			w.remove("old")
			w.write("new/index.html", post("P", a("https://x.example/1")))
			move(w)
			w.expect("added new/ x.example/1", "moved old/ x.example/1 -> new/")
			w.sent()
			w.expect()
		})
	}
}

func TestOpenNoticesAreMerged(t *testing.T) {
	w := newWorld(t)
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
	w.expect("updated a/ x.example/1", "added a/ x.example/3")
}

func TestOtherOptionsReadAgain(t *testing.T) {
	w := newWorld(t)
	w.write("a/index.html", post("A", a("https://x.example/1"), a("https://y.example/1")))
	w.deploy()
	w.opt.Deny = []string{"y.example"}
	w.expect("removed a/ y.example/1")
}
