package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

// editor makes random edits in a docroot and records the paths that they
// affect.
type editor struct {
	t    *testing.T
	rng  *rand.Rand
	root string
	// links: the edits create symbolic links, too.
	links bool
}

var (
	editNames = []string{"index.html", "a.html", "b.html", "B.html", "c", "d.htm", "index.htm", "pic.png", "x.svg", "m.map", "404.html", "e.xhtml",
		"s.css", "x.xml", "manifest.json", "data.json", ".htpasswd"}
	editDirs  = []string{"", "s", "t", "s/u", "a"}
	editHrefs = []string{"", "a.html", "b.html", "../b.html", "c", "c/", "s/", "s", "../s/u/", "/a", "/a/", "/t/", "/s/u/index.html", "pic.png",
		"/pic.png", "x.svg", "gone.html", "/t/gone/", "s/u/a.html", "../../t/d.htm", "//example.org/", "mailto:a@b", "/l/a.html", "/l", "m.map", "%zz",
		"http://[", "/404.html", "../../../b.html", "B.html", "/S/", ".htpasswd", "s//a.html", `t\a.html`, "./", ".", "/index.html", "index.html"}
	editIDs = []string{"one", "two", "Three", "4", "a b", "%C3%A4", "/route", "L1-L3", "L1", "L3", "top"}
)

func pick(rng *rand.Rand, from []string) string { return from[rng.IntN(len(from))] }

// page returns a page with some links and anchors and, now and then, an unusual
// construct.
func (e *editor) page() string {
	var b strings.Builder
	if e.rng.IntN(3) > 0 {
		b.WriteString("<!doctype html>")
	}
	odds := []string{"<base href=/t/>", "<script>x(location.hash)</script>", `<meta http-equiv=refresh content="0;url=/b.html">`, "<!-- ", "<meta charset=latin1>",
		"<link rel=manifest href=manifest.json>", "<link rel=manifest href=/data.json><link rel=manifest href=/manifest.json>",
		"<link rel=canonical href=/a.html>", "<meta name=robots content=noindex>", "<link rel=stylesheet href=s.css>"}
	if e.rng.IntN(4) == 0 {
		b.WriteString(pick(e.rng, odds))
	}
	for range e.rng.IntN(6) {
		href := pick(e.rng, editHrefs)
		if e.rng.IntN(2) == 0 {
			href += "#" + pick(e.rng, editIDs)
		}
		fmt.Fprintf(&b, "<p id=%q><a name=%q href=%q>x</a>\n", pick(e.rng, editIDs), pick(e.rng, editIDs), href)
		if e.rng.IntN(12) == 0 {
			fmt.Fprintf(&b, "<img src=%q usemap=\"#%s\" ismap><map name=%s></map>", pick(e.rng, editHrefs), pick(e.rng, editIDs), pick(e.rng, editIDs))
		}
	}
	return b.String()
}

// text returns contents for a file, which usually match its name.
func (e *editor) text(name string) string {
	href := pick(e.rng, editHrefs)
	switch ext := filepath.Ext(name); {
	case e.rng.IntN(8) == 0:
	case ext == ".css":
		return "p { background: url(" + pick(e.rng, []string{"pic.png", "/t/x.svg", "gone.png"}) + ") }"
	case ext == ".json":
		return fmt.Sprintf(`{"name": "x", "start_url": %q}`, href)
	case ext == ".xml" && e.rng.IntN(3) == 0:
		return "<other/>"
	case ext == ".xml":
		return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://example.org/sub/` +
			pick(e.rng, []string{"a.html", "b.html", "s/", "gone"}) + `</loc></url></urlset>`
	}
	return e.page()
}

func (e *editor) path() string { return filepath.Join(pick(e.rng, editDirs), pick(e.rng, editNames)) }

// edit makes one edit and returns the paths that changed.
func (e *editor) edit() []string {
	a, b := e.path(), e.path()
	full := func(p string) string { return filepath.Join(e.root, p) }
	switch k := e.rng.IntN(20); {
	case k < 9: // write: in place, or over the old file
		if os.MkdirAll(filepath.Dir(full(a)), 0o755) != nil {
			return nil
		}
		info, err := os.Lstat(full(a))
		if k < 5 && (err != nil || info.Mode().IsRegular()) { // not through a link
			_ = os.WriteFile(full(a), []byte(e.text(a)), 0o644)
		} else if temp := filepath.Join(e.t.TempDir(), "x"); os.WriteFile(temp, []byte(e.text(a)), 0o644) == nil {
			_ = os.Rename(temp, full(a))
		}
		return above(a)
	case k < 12:
		_ = os.Remove(full(a))
		return []string{a}
	case k < 14:
		_ = os.Rename(full(a), full(b))
		return []string{a, b}
	case k < 16:
		d, to := pick(e.rng, editDirs[1:]), pick(e.rng, editDirs[1:])
		_ = os.Rename(full(d), full(to))
		return []string{d, to}
	case k < 17:
		d := pick(e.rng, editDirs[1:])
		_ = os.RemoveAll(full(d))
		return []string{d}
	case k < 18:
		if info, err := os.Lstat(full(a)); err != nil || !info.Mode().IsRegular() {
			return nil
		}
		_ = os.Chmod(full(a), []fs.FileMode{0o600, 0o644}[e.rng.IntN(2)])
		return []string{a}
	case k < 19 && e.links:
		l := pick(e.rng, []string{"l", "s/l", "c", "l.html"})
		_ = os.Remove(full(l))
		_ = os.Symlink(pick(e.rng, []string{"s", "t", "../t", "a.html", "nowhere", "b.html"}), full(l))
		return []string{l}
	}
	d := pick(e.rng, editDirs[1:])
	if os.MkdirAll(full(d), 0o755) != nil {
		return nil
	}
	return above(d)
}

// above returns a path and the directories above it, which may be new.
func above(path string) []string {
	paths := []string{path}
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		paths = append(paths, dir)
	}
	return paths
}

// TestUpdate: after any sequence of edits, the result for the updated site equals
// that of a fresh check.
func TestUpdate(t *testing.T) {
	steps := testkit.Longer(10, 200) // of one to three edits, with each of nine settings
	profile := func(name string) host.Profile {
		p, ok := host.ProfileByName(name)
		if !ok {
			t.Fatal("no profile " + name)
		}
		return p
	}
	for i, c := range []struct {
		name string
		site isite.Options
		opt  Options
	}{
		{name: "plain"},
		{name: "autoindex", site: isite.Options{Autoindex: host.AutoindexList}},
		{name: "base", site: isite.Options{BaseURLs: []string{"https://example.org/sub/"}, Base: host.BaseDocumentOrder}},
		{name: "apache", site: isite.Options{Profile: profile("apache")}},
		{name: "rooted", site: isite.Options{Roots: []host.Root{{Dir: "s", Base: "https://example.org/sub/"}, {Base: "https://other.example/"}}}},
		{name: "netlify", site: isite.Options{Profile: profile("netlify")}},
		{name: "cloudflare", site: isite.Options{Profile: profile("cloudflare-pages")}},
		{name: "options", opt: Options{Orphans: true, ScriptFragments: ScriptError, Ignore: []Ignore{{URL: "gone.html"}, {Code: MissingIndex}}}},
		{name: "from", opt: Options{From: []string{"/s/@"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := &editor{t: t, rng: rand.New(rand.NewPCG(uint64(i), 7)), root: t.TempDir(), links: i%2 == 1}
			follow(t, e, c.site, c.opt, steps)
		})
	}
}

func follow(t *testing.T, e *editor, siteOpt isite.Options, opt Options, steps int) {
	ctx := t.Context()
	testkit.Check(t, os.Chmod(e.root, 0o755))
	for range 30 {
		e.edit()
	}
	page := filepath.Join(e.root, "never.html") // the docroot always has a page
	testkit.Check(t, os.WriteFile(page, []byte("<a href=a.html#one>"), 0o644))
	s := load(t, e.root, siteOpt)
	var log []string
	for step := range steps {
		var paths []string
		for range 1 + e.rng.IntN(3) {
			paths = append(paths, e.edit()...)
		}
		paths = slices.DeleteFunc(paths, func(p string) bool { return p == "" })
		log = append(log, fmt.Sprint(paths))
		next, err := s.Update(ctx, paths)
		if err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		after, err := Run(ctx, handle(next), opt)
		if err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		fresh := load(t, e.root, siteOpt)
		if err := sameAsFresh(ctx, after, next, fresh, opt); err != nil {
			t.Fatalf("step %d, after %s:\n%v", step, log[max(0, len(log)-3):], err)
		}
		s = next
	}
}

// sameAsFresh compares the result for an updated site with that for the site
// loaded again.
func sameAsFresh(ctx context.Context, got *Result, s, fresh *isite.Site, opt Options) error {
	want, err := Run(ctx, handle(fresh), opt)
	if err != nil {
		return err
	}
	return sameResult(got, want, s, fresh)
}

// sameResult compares everything that leaves the package.
func sameResult(got, want *Result, s, fresh *isite.Site) error {
	for _, r := range []*Result{got, want} {
		if len(r.Summary.Reasons) == 0 {
			r.Summary.Reasons = nil // rules that ignore everything leave an empty list
		}
	}
	if !reflect.DeepEqual(got.Summary, want.Summary) {
		return fmt.Errorf("summary %+v\nwant    %+v", got.Summary, want.Summary)
	}
	if len(got.Findings) != len(want.Findings) {
		return fmt.Errorf("%d findings, want %d", len(got.Findings), len(want.Findings))
	}
	for i := range got.Findings {
		f, g := got.Findings[i], want.Findings[i]
		if a, b := s.Tree().Path(f.node), fresh.Tree().Path(g.node); a != b {
			return fmt.Errorf("finding %+v\nmeans %q, want %q", f, a, b)
		}
		f.node = g.node // files created later have other numbers
		if !reflect.DeepEqual(f, g) {
			return fmt.Errorf("finding %+v\nwant    %+v", f, g)
		}
	}
	if !reflect.DeepEqual(got.scripts, want.scripts) {
		return errors.New("script fragments are reported by one alone")
	}
	return nil
}
