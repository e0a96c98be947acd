package export

import (
	"errors"
	"fmt"
	"html/template"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/store"
	"github.com/sitelink/sitelink/internal/testkit"
)

// each returns mentions as a store does.
func each(mentions ...incoming.Mention) iter.Seq2[incoming.Mention, error] {
	return func(yield func(incoming.Mention, error) bool) {
		for _, m := range mentions {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// from returns an approved mention of a path of our.example.
func from(source, path string) incoming.Mention {
	return incoming.Mention{ID: "i", Protocol: incoming.Webmention, State: incoming.Approved, Source: source, Target: "https://our.example" + path,
		Title: "About " + path, Received: time.Unix(1700000000, 0)}
}

// filesOf returns the content of the files below a directory by slash path.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		text, err := os.ReadFile(name)
		all[filepath.ToSlash(rel)] = string(text)
		return err
	})
	testkit.Check(t, err)
	return all
}

func namesIn(files map[string]string) string {
	return strings.Join(slices.Sorted(maps.Keys(files)), " ")
}

func mustWrite(t *testing.T, dir string, f Format, mentions ...incoming.Mention) Result {
	t.Helper()
	result := testkit.Must(Write(t.Context(), each(mentions...), dir, Options{Format: f}))(t)
	return result
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "mentions")
	a, b, again := from("https://a.example/", "/posts/knots/"), from("https://b.example/", "/"), from("https://a.example/", "/posts/knots/index.html#bowline")
	b.Received = time.Time{}
	held, bad := from("https://c.example/", "/"), from("javascript:alert(1)", "/")
	held.State = incoming.Held
	result := mustWrite(t, dir, JSON, a, b, again, held, bad)
	if want := (Result{Pages: 2, Mentions: 2, Skipped: 2, Written: 3}); result != want {
		t.Errorf("first: %+v, want %+v", result, want)
	}
	first := filesOf(t, dir)
	if got := namesIn(first); got != "index.json pages/_home.json pages/posts_knots.json" {
		t.Errorf("files %s", got)
	}
	const want = `{
  "generator": "sitelink mentions export",
  "page": "/posts/knots",
  "mentions": [
    {
      "id": "i",
      "protocol": "webmention",
      "source": "https://a.example/",
      "target": "https://our.example/posts/knots/",
      "title": "About /posts/knots/",
      "received": "2023-11-14T22:13:20Z"
    }
  ]
}
`
	if got := first["pages/posts_knots.json"]; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}

	// The order of the input does not count, and unchanged files are not touched.
	before, _ := os.Stat(filepath.Join(dir, "index.json"))
	if result := mustWrite(t, dir, "", again, b, a); result.Written != 0 || result.Unchanged != 3 || !maps.Equal(filesOf(t, dir), first) {
		t.Errorf("again: %+v", result)
	}
	if after, _ := os.Stat(filepath.Join(dir, "index.json")); !os.SameFile(before, after) {
		t.Error("the index was replaced")
	}

	// What is gone is removed; files of others stay, also those with a name like ours.
	for name, text := range map[string]string{"mine.json": "{}", "pages/mine.json": "{}", "pages/none": "", "index.xml": "<x/>", "pages/.posts_knots.json.sitelink-12-0.tmp": "half"} {
		testkit.Check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	if result := mustWrite(t, dir, JSON, b); result.Removed != 1 || result.Written != 1 || result.Unchanged != 1 {
		t.Errorf("after a removal: %+v", result)
	}
	left := filesOf(t, dir)
	delete(left, "pages/.posts_knots.json.sitelink-12-0.tmp") // its name depends on the system
	if got := namesIn(left); got != "index.json index.xml mine.json pages/_home.json pages/mine.json pages/none" {
		t.Errorf("files %s", got)
	}

	// A file that was edited, emptied or removed is written again.
	home := filepath.Join(dir, "pages", "_home.json")
	for _, text := range []string{strings.Replace(first["pages/_home.json"], "About", "Aboot", 1), ""} {
		testkit.Check(t, os.WriteFile(home, []byte(text), 0o666))
		if result := mustWrite(t, dir, JSON, b); result.Written != 1 || filesOf(t, dir)["pages/_home.json"] != first["pages/_home.json"] {
			t.Errorf("after an edit to %q: %+v", text, result)
		}
	}
	testkit.Check(t, os.Remove(home))
	if result := mustWrite(t, dir, JSON, b); result.Written != 1 || result.Unchanged != 1 {
		t.Errorf("after a loss: %+v", result)
	}

	// Another format replaces the files of the first one.
	for _, f := range []Format{JF2, YAML, TOML, JSON, Atom} {
		if result := mustWrite(t, dir, f, b); result.Written == 0 {
			t.Errorf("%s: %+v", f, result)
		}
		ours := filesOf(t, dir)
		maps.DeleteFunc(ours, func(name, _ string) bool { return !strings.Contains(name, "_home") })
		if len(ours) != 1 {
			t.Errorf("%s left %s", f, namesIn(ours))
		}
	}
	if result := mustWrite(t, dir, JSON); result.Pages != 0 || result.Removed != 1 {
		t.Errorf("without mentions: %+v", result)
	}
}

func TestAdvice(t *testing.T) {
	dir := t.TempDir()
	gone := incoming.Mention{Action: incoming.UnlinkR, State: incoming.Held, Source: "https://our.example/links/", Target: "https://a.example/old",
		Replacement: "https://a.example/new"}
	evil := gone
	evil.Target, evil.Replacement = "https://b.example/", "javascript:alert(1)"
	rejected := gone
	rejected.State = incoming.Rejected
	result := mustWrite(t, dir, JSON, gone, evil, rejected)
	files := filesOf(t, dir)
	if result.Advice != 2 || result.Mentions != 0 || result.Skipped != 1 || namesIn(files) != "advice.json index.json" {
		t.Errorf("%+v: %s", result, namesIn(files))
	}
	if text := files["advice.json"]; !strings.Contains(text, `"page": "/links",`) || !strings.Contains(text, `"replacement": "https://a.example/new"`) || strings.Contains(text, "alert") {
		t.Errorf("advice: %s", text)
	}
	if result := mustWrite(t, dir, JSON); result.Removed != 1 {
		t.Errorf("without advice: %+v", result)
	}
}

// TestRefused: Write changes nothing where it could harm a file of someone else.
func TestRefused(t *testing.T) {
	elsewhere := t.TempDir()
	secret := filepath.Join(elsewhere, "secret")
	testkit.Check(t, os.WriteFile(secret, []byte("secret"), 0o600))
	mention := from("https://a.example/", "/p/")
	for _, test := range []struct {
		name, want string
		prepare    func(dir string) error
		mentions   []incoming.Mention
	}{
		{name: "a file of someone else", want: "pages/p.json exists, and no export wrote it",
			prepare: func(dir string) error {
				return errors.Join(os.MkdirAll(filepath.Join(dir, "pages"), 0o777), os.WriteFile(filepath.Join(dir, "pages", "p.json"), []byte("{}"), 0o666))
			}},
		{name: "a link as page", want: "pages/p.json exists, and no export wrote it",
			prepare: func(dir string) error {
				return errors.Join(os.MkdirAll(filepath.Join(dir, "pages"), 0o777), os.Symlink(secret, filepath.Join(dir, "pages", "p.json")))
			}},
		{name: "a link as index", want: "index.json exists, and no export wrote it",
			prepare: func(dir string) error {
				return errors.Join(os.MkdirAll(dir, 0o777), os.Symlink(secret, filepath.Join(dir, "index.json")))
			}},
		{name: "a link as folder", want: "pages: it is a symbolic link",
			prepare: func(dir string) error {
				return errors.Join(os.MkdirAll(dir, 0o777), os.Symlink(elsewhere, filepath.Join(dir, "pages")))
			}},
		{name: "a link as directory", want: "out: it is a symbolic link",
			prepare: func(dir string) error { return os.Symlink(elsewhere, dir) }},
		{name: "a file as directory", want: "out: not a directory",
			prepare: func(dir string) error { return os.WriteFile(dir, nil, 0o666) }},
		{name: "two hosts", want: "of pages at other.example and our.example; export one host at a time",
			prepare:  func(string) error { return nil },
			mentions: []incoming.Mention{mention, {State: incoming.Approved, Source: "https://a.example/", Target: "https://other.example/p"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			testkit.Check(t, test.prepare(dir))
			mentions := test.mentions
			if mentions == nil {
				mentions = []incoming.Mention{mention}
			}
			if _, err := Write(t.Context(), each(mentions...), dir, Options{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	if got := namesIn(filesOf(t, elsewhere)); got != "secret" {
		t.Errorf("files of someone else: %s", got)
	}
	if _, err := Write(t.Context(), each(), t.TempDir(), Options{Format: "csv"}); err == nil || !strings.Contains(err.Error(), `unknown format "csv"`) {
		t.Error(err)
	}
	failure := errors.New("disk full")
	failing := func(yield func(incoming.Mention, error) bool) { yield(incoming.Mention{}, failure) }
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := Write(t.Context(), failing, dir, Options{}); !errors.Is(err, failure) {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a store that fails makes a directory")
	}
}

func TestNames(t *testing.T) {
	long := "/" + strings.Repeat("abcdefgh-/", 40)
	for _, test := range []struct{ target, page, name string }{
		{"https://our.example", "/", "_home"},
		{"https://our.example/index.html?x=1#y", "/", "_home"},
		{"HTTP://OUR.example:80/a/./b/../posts/knots-2/", "/a/posts/knots-2", "a_posts_knots-2"},
		{"https://our.example/a.html", "/a.html", "a-html__*"},
		{"https://our.example/About/", "/About", "about__*"},
		{"https://our.example/about/", "/about", "about"},
		{"https://our.example/caf%C3%A9/", "/caf%C3%A9", "cafe__*"},
		{"https://our.example/%e6%97%a5%e6%9c%ac/", "/%E6%97%A5%E6%9C%AC", "__*"},
		{"https://our.example/con", "/con", "con__*"},
		{"https://our.example/LPT1/", "/LPT1", "lpt1__*"},
		{"https://our.example/a_b/", "/a_b", "a-b__*"},
		{"https://our.example/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "etc_passwd"},
		{"https://our.example/..%5c..%5cwin.ini", "/..%5C..%5Cwin.ini", "------win-ini__*"},
		{"https://our.example/a:b*c%3F%00", "/a:b%2Ac%3F%00", "a-b-c__*"},
		{"https://our.example" + long, strings.TrimRight(long, "/"), strings.ReplaceAll(long[1:79], "/", "_") + "__*"},
	} {
		page, ok := PageOf(test.target)
		if !ok || page != test.page {
			t.Errorf("PageOf(%q) = %q, want %q", test.target, page, test.page)
			continue
		}
		got := nameOf(page)
		if readable, ok := strings.CutSuffix(test.name, "*"); ok {
			readable = strings.TrimLeft(strings.TrimSuffix(readable, "__"), "-_") + "__"
			if !strings.HasPrefix(got, readable) || len(got) != len(readable)+26 {
				t.Errorf("nameOf(%q) = %q, want %q and a hash", page, got, readable)
			}
		} else if got != test.name {
			t.Errorf("nameOf(%q) = %q, want %q", page, got, test.name)
		}
	}
	for _, target := range []string{"", "/a", "mailto:a@b.example", "https://", "javascript:x"} {
		if page, ok := PageOf(target); ok {
			t.Errorf("PageOf(%q) = %q", target, page)
		}
	}
}

// FuzzNames: no two pages have the same name, and no name is dangerous.
func FuzzNames(f *testing.F) {
	for _, seed := range [][2]string{{"/a/b", "/a_b"}, {"/A", "/a"}, {"/a__x", "/a//x"}, {"/", "/home"}, {"", "/"}, {"/con", "/Con"}, {"/a/", "/a"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := nameOf(a), nameOf(b)
		if a != b && strings.EqualFold(x, y) {
			t.Errorf("%q and %q both have the name %q", a, b, x)
		}
		if x == "" || len(x) > maxName+28 || strings.IndexFunc(x, func(r rune) bool { return r != '_' && !isPlainByte(r) }) >= 0 || slices.Contains(devices, x) {
			t.Errorf("%q has the name %q", a, x)
		}
	})
}

// many returns n mentions on some pages.
func many(n, pages int) []incoming.Mention {
	all := make([]incoming.Mention, n)
	for i := range all {
		all[i] = incoming.Mention{
			ID: fmt.Sprintf("id%024d", i), Protocol: incoming.Webmention, State: incoming.Approved,
			Source: fmt.Sprintf("https://host%d.example/2024/05/post-%d.html", i%997, i), Target: fmt.Sprintf("https://our.example/posts/%d/page-%d/", i%pages%100, i%pages),
			Title: "A title of a usual length, with <b> & \"quotes\"", Excerpt: strings.Repeat("An excerpt of the page around the link. ", 6), Lang: "en",
			Author:   incoming.Author{Name: "An Author", URL: "https://author.example/"},
			Received: time.Unix(1700000000+int64(i), 0), Verified: time.Unix(1700000100+int64(i), 0),
		}
	}
	return all
}

// BenchmarkWrite exports 100,000 mentions on 10,000 pages: into an empty directory,
// and again without a change.
func BenchmarkWrite(b *testing.B) {
	benchmarkWrite(b, each(many(100_000, 10_000)...))
}

// BenchmarkWriteSQLite is BenchmarkWrite with the mentions of a file.
func BenchmarkWriteSQLite(b *testing.B) {
	s := testkit.Must(store.Open(b.Context(), filepath.Join(b.TempDir(), "mentions.db"), store.Options{}))(b)
	defer s.Close()
	for some := range slices.Chunk(many(100_000, 10_000), 500) {
		var keys []incoming.Key
		var mentions []*incoming.Mention
		for _, m := range some {
			key := testkit.Must(incoming.KeyOf(incoming.Notice{Source: m.Source, Target: m.Target}))(b)
			m.ID = ""
			keys, mentions = append(keys, key), append(mentions, &m)
		}
		testkit.Check(b, s.Record(b.Context(), keys, func([]*incoming.Mention) ([]*incoming.Mention, error) { return mentions, nil }))
	}
	benchmarkWrite(b, s.List(b.Context(), Selection))
}

// benchmarkWrite leaves all files until its end: for half a minute after 10,000 files are
// deleted, ext4 needs ten times as long to make as many.
func benchmarkWrite(b *testing.B, mentions iter.Seq2[incoming.Mention, error]) {
	top := b.TempDir()
	newDir := func(b *testing.B) string {
		dir := testkit.Must(os.MkdirTemp(top, "export"))(b)
		return dir
	}
	for _, f := range Formats {
		b.Run(string(f)+"/first", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				dir := newDir(b)
				b.StartTimer()
				if r, err := Write(b.Context(), mentions, dir, Options{Format: f}); err != nil || r.Written != 10_001 {
					b.Fatal(r, err)
				}
			}
		})
		b.Run(string(f)+"/unchanged", func(b *testing.B) {
			dir := newDir(b)
			testkit.Must(Write(b.Context(), mentions, dir, Options{Format: f}))(b)
			for b.Loop() {
				if r, err := Write(b.Context(), mentions, dir, Options{Format: f}); err != nil || r.Unchanged != 10_001 {
					b.Fatal(r, err)
				}
			}
		})
	}
}

// TestGoTemplate: the example of the repository is the template that init prints, and the
// module for Hugo has what init writes.
func TestGoTemplate(t *testing.T) {
	text, err := os.ReadFile("../../examples/blog/templates/mentions.html")
	if err != nil || string(text) != GoTemplate {
		t.Errorf("examples/blog/templates/mentions.html differs from show/mentions.gohtml: %v", err)
	}
	for copied, original := range map[string]string{"layouts/partials/sitelink/mentions.html": HugoPartial, "assets/sitelink-mentions.js": Script} {
		if text, err := os.ReadFile("../../plugins/hugo/" + copied); err != nil || string(text) != original {
			t.Errorf("plugins/hugo/%s differs from show: %v", copied, err)
		}
	}
	page := testkit.Must(template.New("mentions.html").Parse(GoTemplate))(t)
	var b strings.Builder
	items := []Item{{Source: "https://a.example/?a&b", Title: "<b>", Excerpt: "</p><script>", Lang: `"x`, Author: Author{Name: "<i>"}, Received: "2026-11-22T10:00:00Z"}}
	testkit.Check(t, page.Execute(&b, items))
	for _, want := range []string{"data-no-mention", `href="https://a.example/?a&amp;b" rel="nofollow ugc">&lt;b&gt;</a>`, "&lt;/p&gt;&lt;script&gt;", "by &lt;i&gt;", "2026-11-22"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &b)
		}
	}
	b.Reset()
	if err := page.Execute(&b, []Item(nil)); err != nil || strings.TrimSpace(b.String()) != "" {
		t.Errorf("without mentions: %q, %v", &b, err)
	}
}
