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
)

// long makes the random tests as long as .ci/run needs them.
var long = os.Getenv("SITELINK_LONG") != ""

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

// TestMemo: after any sequence of edits, the result for the updated site equals
// that of a fresh check.
func TestMemo(t *testing.T) {
	steps := 30 // of one to three edits, with each of fifteen settings
	if long {
		steps = 200
	}
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
		{name: "again"},
		{name: "autoindex", site: isite.Options{Autoindex: host.AutoindexList}},
		{name: "base", site: isite.Options{BaseURLs: []string{"https://example.org/sub/"}, Base: host.BaseDocumentOrder}},
		{name: "nginx", site: isite.Options{Profile: profile("nginx")}},
		{name: "apache", site: isite.Options{Profile: profile("apache")}},
		{name: "s3", site: isite.Options{Profile: profile("s3")}},
		{name: "hosts", site: isite.Options{BaseURLs: []string{"https://example.org/sub/", "http://www.example.org/sub/"}}},
		{name: "rooted", site: isite.Options{Roots: []host.Root{{Dir: "s", Base: "https://example.org/sub/"}, {Base: "https://other.example/"}}}},
		{name: "netlify", site: isite.Options{Profile: profile("netlify")}},
		{name: "github-pages", site: isite.Options{Profile: profile("github-pages")}},
		{name: "cloudflare", site: isite.Options{Profile: profile("cloudflare-pages")}},
		{name: "vercel", site: isite.Options{Profile: profile("vercel")}},
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
	if err := os.Chmod(e.root, 0o755); err != nil {
		t.Fatal(err)
	}
	for range 30 {
		e.edit()
	}
	page := filepath.Join(e.root, "never.html") // the docroot always has a page
	if err := os.WriteFile(page, []byte("<a href=a.html#one>"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := load(t, e.root, siteOpt)
	opt.Memo = &Memo{}
	if _, err := Run(ctx, handle(s), opt); err != nil {
		t.Fatal(err)
	}
	var log []string
	shared := 0 // steps that kept the names
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
		if next.Edits(s.Generation()) != nil {
			shared++
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
	t.Logf("%d of %d steps kept the names", shared, steps)
	if shared == 0 {
		t.Error("no step kept the names")
	}
}

// sameAsFresh compares the result for an updated site with that for the site
// loaded again.
func sameAsFresh(ctx context.Context, got *Result, s, fresh *isite.Site, opt Options) error {
	opt.Memo = nil
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

// TestMemoEdits: the same for edits that add or remove no name, so that the
// docroot is never reloaded. Pages link to fragments of each other that exist,
// that are missing, and that only scripts can serve.
func TestMemoEdits(t *testing.T) {
	steps := 40
	if long {
		steps = 250
	}
	for i, c := range []struct {
		name string
		opt  Options
	}{
		{name: "warn"},
		{name: "silent", opt: Options{ScriptFragments: ScriptSilent}},
		{name: "error", opt: Options{ScriptFragments: ScriptError}},
		{name: "ignore", opt: Options{Ignore: []Ignore{{Code: ScriptFragment, Page: "p1*"}, {URL: "gone*"}, {Fragment: "two"}, {Page: "p3.html", Code: UnclosedComment}}}},
		{name: "no fragments", opt: Options{NoFragments: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(i), 9))
			root := t.TempDir()
			if err := os.Chmod(root, 0o755); err != nil {
				t.Fatal(err)
			}
			e := &asker{rng: rng, root: root}
			for n := range askers {
				e.write(t, n)
			}
			ctx := t.Context()
			s := load(t, root, isite.Options{})
			c.opt.Memo = &Memo{}
			for step := range steps {
				var changed []string
				for range 1 + rng.IntN(2)*rng.IntN(4) {
					changed = append(changed, e.write(t, rng.IntN(askers)))
				}
				next, err := s.Update(ctx, changed)
				if err != nil || next.Edits(s.Generation()) == nil {
					t.Fatalf("step %d: %v, or the site was reloaded", step, err)
				}
				s = next
				got, err := Run(ctx, handle(s), c.opt)
				if err != nil {
					t.Fatal(err)
				}
				if err := sameAsFresh(ctx, got, s, load(t, root, isite.Options{}), c.opt); err != nil {
					t.Fatalf("step %d, %s:\n%v", step, changed, err)
				}
			}
		})
	}
}

// asker writes pages that link to each other's fragments.
type asker struct {
	rng  *rand.Rand
	root string
}

const askers = 12

func (e *asker) write(t *testing.T, n int) string {
	t.Helper()
	name := fmt.Sprintf("p%d.html", n)
	if old, err := os.ReadFile(filepath.Join(e.root, name)); err == nil && e.rng.IntN(2) == 0 {
		e.touch(t, name, string(old))
		return name
	}
	var b strings.Builder
	if e.rng.IntN(2) == 0 {
		b.WriteString("<!doctype html>")
	}
	if n < 4 && e.rng.IntN(6) > 0 { // the most frequent targets, which usually run scripts
		b.WriteString("<script>x(location.hash)</script>")
	}
	if n == 5 && e.rng.IntN(3) == 0 {
		b.WriteString(`<meta http-equiv=refresh content="0;url=p6.html">`)
	}
	for _, id := range []string{"one", "two", "Three", "L1", "L9"} {
		if e.rng.IntN(2) == 0 {
			fmt.Fprintf(&b, "<a name=%s></a>", id)
		}
	}
	for range e.rng.IntN(14) {
		to := fmt.Sprintf("p%d.html", min(e.rng.IntN(6), e.rng.IntN(6)))
		if e.rng.IntN(30) == 0 {
			to = "gone" + to
		}
		fmt.Fprintf(&b, "<p><a href=%q>x</a>\n", to+pick(e.rng, []string{"", "", "", "#one", "#two", "#three", "#/route", "#L1-L9", "#/run", "#/run", "#/run", "#/run", "#/run", "#/run"}))
	}
	if e.rng.IntN(9) == 0 {
		b.WriteString("<!--")
	}
	if err := os.WriteFile(filepath.Join(e.root, name), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// touch changes one detail of a page, so that everything else must still be
// known.
func (e *asker) touch(t *testing.T, name, text string) {
	t.Helper()
	toggle := func(what string) {
		if rest, ok := strings.CutSuffix(text, what); ok {
			text = rest
		} else {
			text += what
		}
	}
	switch e.rng.IntN(4) {
	case 0:
		toggle("<script>x(location.hash)</script>")
	case 1:
		toggle("<a href=gone>x</a>")
	case 2: // change the size
		text = strings.TrimRight(text, " ") + strings.Repeat(" ", e.rng.IntN(900))
	default: // remove the last link
		if at := strings.LastIndex(text, "<p>"); at >= 0 {
			text = text[:at]
		}
	}
	if err := os.WriteFile(filepath.Join(e.root, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestMemoExample: fragments that only scripts can serve are reported with a
// link of a page that has another finding as soon as there is one, and
// otherwise with a link of the smallest page.
func TestMemoExample(t *testing.T) {
	ctx, root := t.Context(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text := func(n int) string {
		return strings.Repeat(" ", n) + "<a href=target.html#/run>x</a>"
	}
	write("target.html", "<script>x(location.hash)</script>")
	for n := range 10 {
		write(fmt.Sprintf("p%d.html", n), text(10+n))
	}
	s := load(t, root, isite.Options{})
	opt := Options{Memo: &Memo{}}
	if _, err := Run(ctx, handle(s), opt); err != nil {
		t.Fatal(err)
	}
	for i, edit := range []struct{ name, text, example string }{
		{"p7.html", text(17) + "<a href=gone>x</a>", "p7.html"},
		{"p4.html", text(14) + "<a href=gone>x</a>", "p4.html"},
		{"p4.html", text(14), "p7.html"},
		{"p7.html", text(17), "p0.html"},
		{"p9.html", text(0), "p9.html"},
		{"p9.html", text(10), "p0.html"},
		{"target.html", "", ""},
		{"target.html", "<script>x(location.hash)</script>", "p0.html"},
	} {
		write(edit.name, edit.text)
		var err error
		if s, err = s.Update(ctx, []string{edit.name}); err != nil {
			t.Fatal(err)
		}
		r, err := Run(ctx, handle(s), opt)
		if err != nil {
			t.Fatal(err)
		}
		example := ""
		for _, x := range r.Findings {
			if x.Code == ScriptFragment {
				example += x.Page
			}
		}
		if example != edit.example {
			t.Errorf("edit %d: example on %q, want %q", i, example, edit.example)
		}
	}
}

// TestMemoSeveralPages edits several pages at once. In the file tree a page
// comes after the pages in subdirectories, in the list of pages before them.
func TestMemoSeveralPages(t *testing.T) {
	ctx, root := t.Context(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"index.html", "b/index.html", "c/d/index.html", "c/index.html", "e.html"}
	for _, name := range names {
		write(name, "<a href=/gone/>x</a><a href=/b/#none>y</a>")
	}
	s := load(t, root, isite.Options{})
	opt := Options{Memo: &Memo{}}
	if _, err := Run(ctx, handle(s), opt); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		write(name, "<a href=/c/>x</a><a href=/b/#none>y</a>")
	}
	next, err := s.Update(ctx, names)
	if err != nil {
		t.Fatal(err)
	}
	if next.Edits(s.Generation()) == nil {
		t.Fatal("the new version shares nothing with the old one")
	}
	got, err := Run(ctx, handle(next), opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := sameAsFresh(ctx, got, next, load(t, root, isite.Options{}), opt); err != nil {
		t.Error(err)
	}
}
