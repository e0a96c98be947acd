//go:build integration && unix

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// breakForm is a place where an author writes a link, "@" in text. Values of page
// links go there if pages is true, those of images if images is; absolute places
// need a scheme.
type breakForm struct {
	name, text              string
	pages, images, absolute bool
	relative                bool // paths of Markdown files can be written there
	ref                     bool
}

var breakForms = []breakForm{
	{name: "inline", text: "See [a page](@) for more.\n", pages: true, relative: true},
	{name: "angle brackets", text: "> and *[another](<@> \"a title\")*\n", pages: true, relative: true},
	{name: "definition", text: "A [full reference][r#] here.\n\n[r#]: @ 'title'\n", pages: true, relative: true},
	{name: "autolink", text: "See <@>, please.\n", pages: true, absolute: true},
	{name: "image", text: "- ![a picture](@)\n", images: true},
	{name: "raw HTML", text: "Raw <a class=\"x\" href='@'>HTML</a> in a paragraph.\n", pages: true},
	{name: "shortcode", text: "{{< card href=\"@\" >}}\n", pages: true},
	{name: "table", text: "| a | b |\n|---|---|\n| ä | [cell](@) |\n", pages: true},
	{name: "ref", text: "A [reference]({{< ref \"@\" >}}) of Hugo.\n", ref: true},
}

// breakKind is a kind of break. wrong and right are values for a page or image.
type breakKind struct {
	name         string
	likely       bool
	images       bool // of an image, not of a page
	relative     bool // the path of a Markdown file
	ref          bool
	wrong, right func(n int) string
}

const fixPages = 60 // targets of the breaks

var breakKinds = []breakKind{
	{name: "wrong-case", wrong: format("/Guide/Page-%d/"), right: format("/guide/page-%d/")},
	{name: "wrong-case of a file", images: true, wrong: format("/img/Pic-%d.PNG"), right: format("/img/pic-%d.png")},
	{name: "slash", wrong: format("/guide/page-%d?q=1&r=2"), right: format("/guide/page-%d/?q=1&r=2")},
	{name: "html-extension", wrong: format("/guide/page-%d.html"), right: format("/guide/page-%d/")},
	{name: "index-file", wrong: format("/plain/file-%d/index.html"), right: format("/plain/file-%d.html")},
	{name: "alias", wrong: format("/old/page-%d/"), right: format("/guide/page-%d/")},
	{name: "redirect", wrong: format("/moved/page-%d"), right: format("/guide/page-%d/")},
	{name: "markdown-path", relative: true, wrong: format("../guide/page-%d.md#set-up"), right: format("../../guide/page-%d/#set-up")},
	{name: "ref", ref: true, wrong: format("manual/page-%d.md#set-up"), right: format("page-%d.md#set-up")},
	{name: "own-address", wrong: format("http://www.example.org/guide/page-%d/"), right: format("https://example.org/guide/page-%d/")},
	{name: "renamed-heading", wrong: format("/guide/page-%d/#first-steps"), right: format("/guide/page-%d/#how-to-begin")},
	{name: "nearest id", likely: true, wrong: format("/guide/page-%d/#instalation"), right: format("/guide/page-%d/#installation")},
	{name: "moved-page", likely: true, wrong: format("/manual/chapter-%d/"), right: format("/guide/part-%d/")},
}

func format(text string) func(int) string { return func(n int) string { return fmt.Sprintf(text, n) } }

// fixSite is a Hugo site with known breaks. before and after are the texts of its
// files: with --likely, and with safe changes only.
type fixSite struct {
	before, safe, all map[string]string
	breaks, likely    int
	places            map[string]int
	kinds             map[string]int
}

// newFixSite makes a site with a number of breaks. Each has its own value in its
// file, so that the truth does not depend on what sitelink finds.
func newFixSite(breaks int) *fixSite {
	s := &fixSite{before: map[string]string{}, safe: map[string]string{}, all: map[string]string{}, places: map[string]int{}, kinds: map[string]int{}}
	random := rand.New(rand.NewPCG(16, 1))
	same := func(name, text string) { s.before[name], s.safe[name], s.all[name] = text, text, text }
	same("hugo.toml", "")
	same("layouts/shortcodes/card.html", `<p class=card><a href="{{ .Get "href" }}">card</a></p>`)
	same("layouts/partials/list.html", `<ul class=data>{{ range hugo.Data.links }}<li><a href="{{ .url }}">{{ .name }}</a>{{ end }}</ul>`)
	same("layouts/section.html", `<html><head><title>{{ .Title }}</title></head><body><h1>{{ .Title }}</h1>{{ range .Pages }}<h2><a href="{{ .RelPermalink }}">{{ .Title }}</a></h2>{{ .Summary }}{{ end }}</body></html>`)
	same("layouts/home.html", `<html><head><title>Home</title><link rel=stylesheet href="/css/main.css"></head><body><nav>{{ range .Site.Menus.main }}<a href="{{ .URL }}">{{ .Name }}</a>{{ end }}</nav>{{ partial "list.html" . }}</body></html>`)
	for i := range fixPages {
		same(fmt.Sprintf("content/guide/page-%d.md", i), fmt.Sprintf("---\ntitle: Page %d\naliases: [/old/page-%d/]\n---\n\n## Set up\n\nText.\n\n## How to begin\n\nMore.\n\n## Installation\n\nEnd.\n", i, i))
		same(fmt.Sprintf("content/guide/part-%d.md", i), fmt.Sprintf("---\ntitle: The story of chapter %d\n---\n\nText.\n", i))
		// The earlier build has it at another address. It gets an alias for that.
		s.all[fmt.Sprintf("content/guide/part-%d.md", i)] = fmt.Sprintf("---\ntitle: The story of chapter %d\naliases:\n- /manual/chapter-%d/\n---\n\nText.\n", i, i)
		same(fmt.Sprintf("static/img/pic-%d.png", i), "x")
		same(fmt.Sprintf("static/plain/file-%d.html", i), "<!doctype html><title>Plain</title>")
		s.before["static/_redirects"] += fmt.Sprintf("/moved/page-%d /guide/page-%d/ 301\n/for-now/page-%d /guide/page-%d/ 302\n", i, i, i, i)
	}
	same("static/_redirects", s.before["static/_redirects"])
	add := func(file, form string, k *breakKind, n int, absolute bool) {
		wrong, right := k.wrong(n), k.right(n)
		if absolute && !strings.Contains(wrong, "://") {
			wrong, right = "https://example.org"+wrong, "https://example.org"+right
		}
		put := func(to map[string]string, value string) {
			to[file] += strings.ReplaceAll(strings.ReplaceAll(form, "#", fmt.Sprint(s.breaks)), "@", value)
		}
		put(s.before, wrong)
		put(s.all, right)
		if k.likely {
			put(s.safe, wrong)
			s.likely++
		} else {
			put(s.safe, right)
		}
		s.breaks++
		s.kinds[k.name]++
	}
	start := func(file, text string) {
		for _, m := range []map[string]string{s.before, s.safe, s.all} {
			m[file] += text
		}
	}
	// One place of each kind outside of Markdown.
	start("hugo.toml", "baseURL = 'https://example.org/'\ntitle = 'T'\nrefLinksErrorLevel = 'WARNING'\n[markup.goldmark.renderer]\nunsafe = true\n")
	pageKinds := slices.DeleteFunc(slices.Clone(breakKinds), func(k breakKind) bool { return k.images || k.ref || k.relative })
	for i := range 20 {
		// Hugo writes the addresses of menus in lower case, and without queries.
		kinds := slices.DeleteFunc(slices.Clone(pageKinds), func(k breakKind) bool { return k.name == "wrong-case" || k.name == "slash" })
		add("hugo.toml", fmt.Sprintf("[[menus.main]]\nname = 'Entry %d'\nurl = '@'\n", i), &kinds[i%len(kinds)], i, false)
		s.places["menu"]++
	}
	for i := range 30 {
		add("data/links.yaml", fmt.Sprintf("- name: Data %d\n  url: \"@\"\n", i), &pageKinds[i%len(pageKinds)], 20+i, false)
		s.places["data file"]++
	}
	start("layouts/single.html", `<html><head><title>{{ .Title }}</title></head><body><main><h1>{{ .Title }}</h1>{{ .Content }}{{ with .Params.image }}<img src="{{ . }}">{{ end }}</main><footer>`)
	for i := range 12 {
		add("layouts/single.html", "<a title=t# href=\"@\">foot</a>", &pageKinds[i%len(pageKinds)], 50+i%10, false)
		s.places["template"]++
	}
	start("layouts/single.html", "</footer></body></html>\n")
	for i := range 20 {
		add("static/css/main.css", ".c# { background: url(@) }\n", &breakKinds[1], i, false)
		s.places["style sheet"]++
	}
	for n := 0; s.breaks < breaks; n++ {
		file := fmt.Sprintf("content/post/post-%d.md", n)
		start(file, fmt.Sprintf("---\ntitle: Post %d\ndate: 2024-01-%02d\n", n, 1+n%28))
		add(file, "image: @\n", &breakKinds[1], n%fixPages, false)
		s.places["front matter"]++
		start(file, "---\n")
		used := map[string]bool{}
		for range 9 {
			form := breakForms[random.IntN(len(breakForms))]
			fitting := slices.DeleteFunc(slices.Clone(breakKinds), func(k breakKind) bool {
				// A link that works stays if its address is the text.
				works := slices.Contains([]string{"slash", "html-extension", "index-file", "alias", "redirect", "own-address"}, k.name)
				return form.name == "autolink" && works || k.images != form.images || k.ref != form.ref || k.relative && !form.relative
			})
			k := fitting[random.IntN(len(fitting))]
			target := random.IntN(fixPages)
			if s.breaks == breaks || used[k.wrong(target)] {
				continue
			}
			used[k.wrong(target)] = true
			start(file, "\nSome words before it.\n\n")
			add(file, form.text, &k, target, form.absolute)
			s.places[form.name]++
		}
		start(file, fmt.Sprintf("\nLeft alone: [temporary](/for-now/page-%d), [gone](/nowhere/at-all-%d/).\n", n%fixPages, n))
	}
	return s
}

// earlierBuild changes a built site into the one before headings and pages moved.
func (s *fixSite) earlierBuild(t *testing.T, docroot string) {
	t.Helper()
	for i := range fixPages {
		name := filepath.Join(docroot, fmt.Sprintf("guide/page-%d/index.html", i))
		text := readFile(t, name)
		testkit.Write(t, name, strings.ReplaceAll(strings.ReplaceAll(text, `id="how-to-begin"`, `id="first-steps"`), "How to begin", "First steps"))
		part := filepath.Join(docroot, fmt.Sprintf("guide/part-%d", i))
		testkit.Write(t, filepath.Join(docroot, fmt.Sprintf("manual/chapter-%d/index.html", i)), readFile(t, filepath.Join(part, "index.html")))
		testkit.Check(t, os.RemoveAll(part))
	}
}

// TestFixFigures: 500 known breaks of 12 kinds in 12 places. All safe changes are
// right, 95 of 100 likely ones, no other byte changes, and a second run changes
// nothing. Hugo builds the site before and after.
func TestFixFigures(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		if p.version < 156 {
			return // the templates need a newer one
		}
		s := newFixSite(500)
		if len(s.kinds) < 12 || len(s.places) < 12 {
			t.Fatalf("kinds %v, places %v", s.kinds, s.places)
		}
		testkit.AddFiles(t, p.dir, s.before)
		fix := func(args ...string) (int, string, string) {
			return p.run(append([]string{"fix", "--tidy", "--profile", "netlify"}, args...)...)
		}
		if code, _, stderr := p.run("check", "--build", "--profile", "netlify", "--fail-on", "never"); code != 0 {
			t.Fatalf("build: %d, %s", code, stderr)
		}
		since := filepath.Join(t.TempDir(), "earlier")
		testkit.Check(t, os.CopyFS(since, os.DirFS(filepath.Join(p.dir, ".sitelink/public"))))
		s.earlierBuild(t, since)

		code, stdout, stderr := fix("--since", since, "--write")
		wrong := s.compare(t, p.dir, s.safe)
		t.Logf("%d breaks: %v in %v\nsafe: %d, exit code %d, %d lines wrong\n%s", s.breaks, s.kinds, s.places, s.breaks-s.likely, code, wrong, lastLines(stderr, 14))
		if wrong > 0 {
			t.Errorf("safe changes: %d lines differ from the truth\n%s", wrong, lastLines(stdout, 3))
		}
		if code, stdout, _ = fix("--since", since, "--write"); code != 0 || stdout != "" || s.compare(t, p.dir, s.safe) != wrong {
			t.Errorf("second run: exit code %d, %s", code, stdout)
		}
		code, _, stderr = fix("--since", since, "--write", "--likely")
		wrong = s.compare(t, p.dir, s.all)
		t.Logf("likely: %d, exit code %d, %d lines wrong\n%s", s.likely, code, wrong, lastLines(stderr, 3))
		if wrong*20 > s.likely {
			t.Errorf("likely changes: %d of %d lines are wrong", wrong, s.likely)
		}
		if code, stdout, _ = fix("--since", since, "--write", "--likely"); code != 0 || stdout != "" {
			t.Errorf("second run with --likely: exit code %d, %s", code, stdout)
		}
	})
}

// run runs the command and returns its exit code and what it printed.
func (p *hugoProject) run(args ...string) (code int, stdout, stderr string) {
	p.t.Helper()
	cmd := p.command("sitelink", args...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// compare returns how many lines of the project differ from the truth.
func (s *fixSite) compare(t *testing.T, dir string, want map[string]string) (wrong int) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got, lines := strings.Split(readFile(t, filepath.Join(dir, name)), "\n"), strings.Split(want[name], "\n")
		if len(got) != len(lines) {
			t.Fatalf("%s has %d lines, want %d", name, len(got), len(lines))
		}
		for i := range lines {
			if got[i] != lines[i] {
				if wrong++; wrong < 10 {
					t.Logf("%s:%d\ngot  %s\nwant %s", name, i+1, got[i], lines[i])
				}
			}
		}
	}
	return wrong
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
