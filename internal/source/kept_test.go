package source

import (
	"fmt"
	"html"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/site"
)

// editedProject is a Hugo project that is edited at random, and built by a small
// stand-in for Hugo.
type editedProject struct {
	t          *testing.T
	rnd        *rand.Rand
	dir, cache string
	sources    map[string]string // text by name
	pages      map[string]string // of the docroot
	next       int
}

func newEditedProject(t *testing.T, seed uint64) *editedProject {
	p := &editedProject{t: t, rnd: rand.New(rand.NewPCG(seed, seed)), dir: t.TempDir(), cache: filepath.Join(t.TempDir(), "sources"), sources: map[string]string{}, pages: map[string]string{}}
	p.set("hugo.toml", "baseURL = 'https://example.org/'\n")
	p.set("layouts/_default/baseof.html", "<html><body><nav class=menu>{{ range site.Data.menu }}<a href=\"{{ .url }}\">{{ .name }}</a>{{ end }}</nav>\n"+
		"<main>{{ .Content }}</main>\n<footer><a class=old href=\"/gone-footer/\">Old</a> <a class=edit href=\"https://example.org/edit/{{ .File }}\">Edit</a></footer></body></html>\n")
	p.set("data/menu.toml", "[[item]]\nname = 'Start'\nurl = '/gone-menu-1/'\n[[item]]\nname = 'More'\nurl = '/gone-menu-2/'\n[[item]]\nname = 'Last'\nurl = '/gone-menu-3/'\n")
	for range 12 {
		p.newContent()
	}
	return p
}

// set writes a source, or removes it for "".
func (p *editedProject) set(name, text string) {
	p.t.Helper()
	file := filepath.Join(p.dir, filepath.FromSlash(name))
	if text == "" {
		delete(p.sources, name)
		if err := os.Remove(file); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	p.sources[name] = text
	p.write(file, text)
}

func (p *editedProject) write(file, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// paragraph returns a text with links that other files have, too.
func (p *editedProject) paragraph() string {
	link := func() string { return fmt.Sprintf("/gone-%d/", p.rnd.IntN(9)) }
	words := []string{"Some words", "Other words of a sentence that is longer", "Ärger", "A note"}
	switch p.rnd.IntN(6) {
	case 0:
		return fmt.Sprintf("## Heading %d\n\n%s [here](%s).\n\n", p.rnd.IntN(4), words[p.rnd.IntN(4)], link())
	case 1:
		return fmt.Sprintf("%s and ![image](%s) with [there](%s)\n\n", words[p.rnd.IntN(4)], link(), link())
	case 2:
		return fmt.Sprintf("%s in <a href=\"%s\">HTML</a>.\n\n", words[p.rnd.IntN(4)], link())
	}
	return fmt.Sprintf("%s, then [label %d](%s) and the end.\n\n", words[p.rnd.IntN(4)], p.rnd.IntN(3), link())
}

func (p *editedProject) newContent() string {
	p.next++
	name := fmt.Sprintf("content/%s/p%d.md", []string{"post", "news"}[p.rnd.IntN(2)], p.next)
	text := fmt.Sprintf("---\ntitle: Title %d\n", p.next)
	if p.rnd.IntN(4) == 0 {
		text += fmt.Sprintf("slug: own-%d\n", p.next)
	}
	if p.rnd.IntN(4) == 0 {
		text += fmt.Sprintf("image: /gone-%d/\n", p.rnd.IntN(9))
	}
	text += "---\n"
	for range 1 + p.rnd.IntN(4) {
		text += p.paragraph()
	}
	p.set(name, text)
	return name
}

// any returns one of the sources below a directory.
func (p *editedProject) any(dir string) string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(p.sources)), func(name string) bool { return !strings.HasPrefix(name, dir+"/") })
	return names[p.rnd.IntN(len(names))]
}

// edit makes one change and returns its name.
func (p *editedProject) edit() string {
	content := p.any("content")
	text := p.sources[content]
	body := strings.Index(text[4:], "---\n") + 8
	switch p.rnd.IntN(16) {
	case 0:
		return "nothing"
	case 1, 2, 3:
		p.set(content, text[:body]+"One more line.\n\n"+text[body:])
		return "line in " + content
	case 4, 5:
		p.set(content, text+p.paragraph())
		return "paragraph in " + content
	case 6:
		p.set(content, strings.Replace(text, "/gone-", "/gone-1", 1))
		return "link in " + content
	case 7:
		return "new " + p.newContent()
	case 8:
		if len(p.sources) < 10 {
			return "nothing"
		}
		p.set(content, "")
		return "removed " + content
	case 9:
		p.set(content, "")
		name := path.Join(path.Dir(content), "r"+path.Base(content))
		p.set(name, text)
		return "renamed " + content
	case 10:
		p.set(content, strings.Replace(text, "title: ", "slug: moved\ntitle: ", 1))
		if strings.Count(p.sources[content], "slug:") > 1 {
			p.set(content, text)
		}
		return "front matter of " + content
	case 11:
		name := "layouts/_default/baseof.html"
		p.set(name, "\n"+strings.Replace(p.sources[name], "class=old", "class=older", 1))
		return "template"
	case 12:
		name := "data/menu.toml"
		p.set(name, "# comment\n"+p.sources[name])
		return "data"
	case 13:
		name := "data/menu.toml"
		p.set(name, p.sources[name]+fmt.Sprintf("[[item]]\nname = 'New %d'\nurl = '/gone-%d/'\n", p.next, p.rnd.IntN(9)))
		return "menu"
	case 14: // a copy of a page takes its place
		name := slices.Sorted(maps.Keys(p.pages))[p.rnd.IntN(len(p.pages))]
		p.set("static/"+name, p.pages[name])
		return "static file"
	default:
		p.set("layouts/partials/extra.html", fmt.Sprintf("<p><a class=old href=\"/gone-%d/\">Old</a>\n", p.rnd.IntN(9)))
		return "partial"
	}
}

var (
	testMatter  = regexp.MustCompile(`(?m)^(title|slug|image): (.*)$`)
	testLink    = regexp.MustCompile(`(!?)\[([^\]]*)\]\(([^)]*)\)`)
	testHeading = regexp.MustCompile(`(?m)^## (.*)$`)
	testItem    = regexp.MustCompile(`name = '(.*)'\nurl = '(.*)'`)
	testClass   = regexp.MustCompile(`class=(old\w*)`)
)

// build writes the docroot as Hugo would.
func (p *editedProject) build() {
	docroot := filepath.Join(p.dir, "public")
	if err := os.RemoveAll(docroot); err != nil {
		p.t.Fatal(err)
	}
	clear(p.pages)
	menu := "<nav class=menu>"
	for _, item := range testItem.FindAllStringSubmatch(p.sources["data/menu.toml"], -1) {
		menu += fmt.Sprintf("<a href=\"%s\">%s</a>", item[2], item[1])
	}
	p.next++
	page := func(name, main, file string) {
		class := testClass.FindStringSubmatch(p.sources["layouts/_default/baseof.html"])[1]
		p.pages[name] = fmt.Sprintf("<html><head><script src=\"/a.js?v=%d\"></script></head><body>", 1_700_000_000+p.next) + menu + "</nav>\n<main>" + main + "</main>\n<footer><a class=" + class + " href=\"/gone-footer/\">Old</a> " +
			"<a class=edit href=\"https://example.org/edit/" + file + "\">Edit</a></footer></body></html>\n"
	}
	lists := map[string]string{}
	feed := "<?xml version=\"1.0\"?><rss><channel><link>https://example.org/</link>"
	for _, name := range slices.Sorted(maps.Keys(p.sources)) {
		text := p.sources[name]
		if !strings.HasPrefix(name, "content/") {
			continue
		}
		matter := map[string]string{}
		end := strings.Index(text[4:], "---\n") + 8
		for _, m := range testMatter.FindAllStringSubmatch(text[:end], -1) {
			matter[m[1]] = m[2]
		}
		section, stem := path.Base(path.Dir(name)), strings.TrimSuffix(path.Base(name), ".md")
		if matter["slug"] != "" {
			stem = matter["slug"]
		}
		body := testHeading.ReplaceAllStringFunc(text[end:], func(h string) string {
			return fmt.Sprintf("<h2 id=\"%s\">%s</h2>", strings.ReplaceAll(strings.ToLower(h[3:]), " ", "-"), h[3:])
		})
		body = testLink.ReplaceAllStringFunc(body, func(l string) string {
			m := testLink.FindStringSubmatch(l)
			if m[1] == "!" {
				return fmt.Sprintf("<img src=\"%s\" alt=\"%s\">", m[3], m[2])
			}
			return fmt.Sprintf("<a href=\"%s\">%s</a>", m[3], m[2])
		})
		first, _, _ := strings.Cut(body, "\n\n")
		if matter["image"] != "" {
			body = fmt.Sprintf("<img class=cover src=\"%s\">", matter["image"]) + body
		}
		page(section+"/"+stem+"/index.html", "<h1>"+matter["title"]+"</h1>\n"+body, name)
		lists[section] += "<article>" + first + "</article>\n"
		feed += fmt.Sprintf("<item><link>https://example.org/%s/%s/</link><description>%s</description></item>\n", section, stem, html.EscapeString(body))
	}
	for section, text := range lists {
		page(section+"/index.html", text, "")
	}
	page("index.html", "<p><a class=old href=\"/gone-3/\">Old</a>", "")
	p.pages["index.xml"] = feed + "</channel></rss>\n"
	for name, text := range p.sources {
		if static, ok := strings.CutPrefix(name, "static/"); ok {
			p.pages[static] = text
		}
	}
	for name, text := range p.pages {
		p.write(filepath.Join(docroot, filepath.FromSlash(name)), text)
	}
}

// places returns the positions of a part of the links and of all headings, and how
// many pages were read for them.
func (p *editedProject) places(cache string, share uint64) (text string, pages, fresh int) {
	p.t.Helper()
	docroot := filepath.Join(p.dir, "public")
	s, err := site.Load(p.t.Context(), docroot, site.Options{BaseURLs: []string{"https://example.org/"}})
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := s.NewReader()
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Close()
	rnd := rand.New(rand.NewPCG(share, 1))
	var links []Link
	var anchors []Anchor
	for id := range site.PageID(s.Pages()) {
		some := rnd.IntN(10)
		err := r.Details(id, nil, func(_ int, d *site.Detail) {
			if strings.Contains(d.Raw, "/gone-") && (share == 0 || some < 8 || rnd.IntN(2) == 0) {
				links = append(links, Link{Page: s.Path(id), Offset: d.Offset, Raw: strings.Clone(d.Raw)})
			}
		})
		if err != nil {
			p.t.Fatal(err)
		}
		for i := range 4 {
			anchors = append(anchors, Anchor{s.Path(id), fmt.Sprintf("heading-%d", i)})
		}
	}
	m, err := Open(p.t.Context(), Options{Project: p.dir, Docroot: docroot, Generator: Hugo, Cache: cache})
	if err != nil {
		p.t.Fatal(err)
	}
	defer m.Close()
	found, err := m.Locate(p.t.Context(), s, links)
	if err != nil {
		p.t.Fatal(err)
	}
	headings, err := m.Headings(p.t.Context(), s, anchors)
	if err != nil {
		p.t.Fatal(err)
	}
	var b strings.Builder
	for i, at := range found {
		fmt.Fprintln(&b, links[i].Page, links[i].Raw, shown(at))
	}
	for i, h := range headings {
		if h != nil {
			fmt.Fprintln(&b, anchors[i].Page, anchors[i].ID, shown(&h.Position), h.Title, h.Term)
		}
	}
	if m.kept != nil {
		fresh = m.kept.fresh
		m.Keep()
	}
	return b.String(), s.Pages(), fresh
}

// waitForClock waits until a file that is written now has another time than those
// written before.
func waitForClock(t *testing.T) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x")
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.ModTime().After(began.Add(settled)) {
			return
		}
	}
}

// TestKeptNeverStale edits a project at random, and compares the positions that are
// found with those of earlier runs with the positions of a first run.
func TestKeptNeverStale(t *testing.T) {
	old := settled
	settled = 5 * time.Millisecond
	t.Cleanup(func() { settled = old })
	rounds := 10
	if os.Getenv("SITELINK_LONG") != "" {
		rounds = 30
	}
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newEditedProject(t, seed)
			p.build()
			recalled, all, none := 0, 0, 0
			for round := range rounds {
				var edits []string
				for range p.rnd.IntN(3) {
					edits = append(edits, p.edit())
				}
				if p.rnd.IntN(5) > 0 {
					p.build()
				}
				waitForClock(t)
				share := p.rnd.Uint64N(4)
				kept, pages, fresh := p.places(p.cache, share)
				first, _, _ := p.places("", share)
				if kept != first {
					t.Fatalf("round %d, %q:\n%s", round, edits, differences(kept, first))
				}
				all += pages
				recalled += max(0, pages-fresh)
				if !strings.Contains(first, ":") {
					none++
				}
				if _, _, fresh := p.places(p.cache, share); fresh != 0 {
					t.Fatalf("round %d: %d results are new without an edit", round, fresh)
				}
			}
			if none > 0 || recalled < all/4 {
				t.Errorf("%d of %d pages were recalled, %d rounds without positions", recalled, all, none)
			}
		})
	}
}

// differences returns the lines in which two texts differ.
func differences(got, want string) string {
	var b strings.Builder
	as, bs := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			fmt.Fprintf(&b, "kept  %s\nfirst %s\n", as[i], bs[i])
		}
	}
	return b.String()
}

// TestKeptFailure: a failure of Hugo is reported again without asking it, until a
// file of the project or Hugo itself changes.
func TestKeptFailure(t *testing.T) {
	p := newAskedProject(t)
	script, err := os.ReadFile(p.hugo)
	if err != nil {
		t.Fatal(err)
	}
	failing := strings.Replace(string(script), "cat '"+p.list+"'", "echo 'ERROR: too old' >&2; exit 1", 1)
	if err := os.WriteFile(p.hugo, []byte(failing), 0o755); err != nil {
		t.Fatal(err)
	}
	open := func() (asked string) {
		t.Helper()
		if err := os.RemoveAll(p.log); err != nil {
			t.Fatal(err)
		}
		m, err := Open(t.Context(), Options{Project: p.dir, Docroot: filepath.Join(p.dir, "public"), Generator: Hugo, Hugo: p.hugo, Env: os.Environ(), Cache: p.cache})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if len(m.Notes) != 1 || !strings.Contains(m.Notes[0], "too old; positions are found by file names") {
			t.Errorf("notes %q", m.Notes)
		}
		if len(m.content.files) != 2 {
			t.Errorf("%d content files", len(m.content.files))
		}
		log, _ := os.ReadFile(p.log)
		return strings.Join(strings.Fields(strings.ReplaceAll(string(log), " ", "-")), " ")
	}
	for _, s := range []struct {
		name string
		edit func()
		want string
	}{
		{"first run", func() {}, everything},
		{"nothing", func() {}, ""},
		{"text of a page", func() { p.write("content/a.md", "---\ntitle: A\n---\nOther [x](/gone/)\n") }, everything},
		{"nothing", func() {}, ""},
		{"template", func() { p.write("layouts/single.html", "<p>") }, everything},
		{"configuration", func() { p.write("hugo.toml", "baseURL = 'https://example.net/'\n[permalinks]\npost = '/:slug/'\n") }, everything},
		{"nothing", func() {}, ""},
		{"an hour later", func() {
			names, err := filepath.Glob(filepath.Join(p.cache, "*"+answerExt))
			if err != nil || len(names) != 1 {
				t.Fatal(names, err)
			}
			old := time.Now().Add(-failureHolds - time.Minute)
			if err := os.Chtimes(names[0], old, old); err != nil {
				t.Fatal(err)
			}
		}, everything},
		{"another Hugo", func() {
			if err := os.WriteFile(p.hugo, []byte(failing+"# newer\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, everything},
	} {
		s.edit()
		if got := open(); got != s.want {
			t.Errorf("%s: Hugo was asked %q, want %q", s.name, got, s.want)
		}
	}
	if err := os.WriteFile(p.hugo, script, 0o755); err != nil {
		t.Fatal(err)
	}
	if m, got := p.open(); got != everything || !m.AsksHugo() {
		t.Errorf("a Hugo that works was asked %q", got)
	}
}

// TestKeptDamaged: a file of positions that is not as it was written counts as
// none.
func TestKeptDamaged(t *testing.T) {
	p := newEditedProject(t, 1)
	p.build()
	want, _, _ := p.places(p.cache, 0)
	names, err := filepath.Glob(filepath.Join(p.cache, "*"+placesExt))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	whole, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 1 + len(whole)/11 {
		changed := slices.Clone(whole)
		changed[at] ^= 0x20
		for _, text := range [][]byte{changed, whole[:at]} {
			if err := os.WriteFile(names[0], text, 0o600); err != nil {
				t.Fatal(err)
			}
			if got, _, fresh := p.places(p.cache, 0); got != want || fresh == 0 {
				t.Fatalf("damaged at byte %d of %d: %d results are new\n%s", at, len(whole), fresh, differences(got, want))
			}
		}
	}
	for n := range len(whole) {
		d := decoder{text: whole[n:]} // must not crash
		_ = d.kept()
	}
}
