//go:build integration

package source

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/testkit"
)

// markdownForms are the forms in which an author writes a link. @ is the
// destination, and its position is that of the link; "|" separates the text of
// the link from a definition at the end of the file.
var markdownForms = []string{
	"See [the guide](@) for more.",
	"A [titled link](@ \"A title\") here.",
	"In [angle brackets](<@>) too.",
	"A [full reference][r%d] in a sentence.|[r%d]: @",
	"A [collapsed %d][] one.|[collapsed %d]: @",
	"![a picture](@)",
	"<https://example.org@> as it is.",
	"Raw <a href=\"@\">HTML</a> in a paragraph.",
	"<p><img src=\"@\" alt=\"x\"></p>",
	"- an item with [a link](@)\n- another item",
	"| a | b |\n|---|---|\n| x | [cell](@) |",
	"> A quote, **with [a link](@) in it**.",
}

// TestHugoForms: on a site with 652 broken links in 12 forms, every occurrence
// has the position where the author wrote it: on the page itself, on lists that
// show summaries or whole pages, and in feeds. The base URL has a path.
func TestHugoForms(t *testing.T) {
	hugo := os.Getenv("SITELINK_HUGO")
	if hugo == "" {
		t.Skip("no SITELINK_HUGO: .ci/run installs one")
	}
	t.Run("different addresses", func(t *testing.T) { hugoForms(t, hugo, "", 0) })
	t.Run("five addresses", func(t *testing.T) { hugoForms(t, hugo, "", 5) })
	t.Run("base URL with a path", func(t *testing.T) { hugoForms(t, hugo, "/sub", 0) })
}

// hugoForms breaks 652 links. With values, only so many addresses differ.
func hugoForms(t *testing.T, hugo, base string, values int) {
	const breaks, files = 652, 60
	project := t.TempDir()
	truth := map[string][]string{} // positions by value
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("river stone lamp winter green harbour silver music garden letter window morning paper clock bridge forest yellow quiet market summer")
	sentence := func() string {
		var s []string
		for range 8 {
			s = append(s, words[random.IntN(len(words))])
		}
		return strings.Join(s, " ") + "."
	}
	write := func(name, text string) {
		file := filepath.Join(project, filepath.FromSlash(name))
		testkit.Write(t, file, text)
	}
	n := 0
	for f := range files {
		name := fmt.Sprintf("content/%s/page-%d.md", []string{"post", "note"}[f%2], f)
		text := fmt.Sprintf("---\ntitle: Page %d\ndate: 2024-01-%02d\ntags: [t%d]\n---\n", f, 1+f%28, f%3)
		var end []string
		for ; n < breaks*(f+1)/files; n++ {
			form, definition, _ := strings.Cut(markdownForms[n%len(markdownForms)], "|[")
			if strings.Contains(form, "| ---") || strings.HasPrefix(form, "| a") {
				form, definition = markdownForms[n%len(markdownForms)], ""
			}
			value := fmt.Sprintf("%s/gone-%d/", base, n)
			if values > 0 {
				value = fmt.Sprintf("%s/gone-%d/", base, n%values)
			}
			if definition != "" {
				definition = "[" + definition
			}
			if strings.Contains(form, "%d") {
				form, definition = fmt.Sprintf(form, n), fmt.Sprintf(definition, n)
			}
			if definition != "" {
				end = append(end, strings.ReplaceAll(definition, "@", value))
			}
			text += "\n" + sentence() + "\n\n" + strings.ReplaceAll(form, "@", value) + "\n"
		}
		text += "\n" + strings.Join(end, "\n") + "\n"
		write(name, text)
		for _, at := range regexp.MustCompile(`(?:https://example.org)?`+regexp.QuoteMeta(base)+`/gone-\d+/`).FindAllStringIndex(text, -1) {
			l := read.NewLines([]byte(text))
			line, column := l.At(at[0])
			v := text[at[0]:at[1]]
			v = v[strings.Index(v, "gone-"):]
			truth[v] = append(truth[v], fmt.Sprintf("%s:%d:%d", name, line, column))
		}
	}
	write("hugo.toml", "baseURL = 'https://example.org"+base+"/'\ntitle = 'T'\n[markup.goldmark.renderer]\nunsafe = true\n[outputs]\nhome = ['html', 'rss', 'json']\nsection = ['html', 'rss']\n")
	write("layouts/single.html", "<html><body><main><h1>{{ .Title }}</h1>{{ .Content }}</main></body></html>")
	write("layouts/section.html", "<html><body><main>{{ range .Pages }}<article><h2><a href=\"{{ .RelPermalink }}\">{{ .Title }}</a></h2>{{ .Content }}</article>{{ end }}</main></body></html>")
	write("layouts/list.html", "<html><body><main>{{ range .Pages }}<h2><a href=\"{{ .RelPermalink }}\">{{ .Title }}</a></h2>{{ .Summary }}{{ end }}</main></body></html>")
	write("layouts/home.html", "<html><body><main>{{ range .Site.RegularPages }}<h2><a href=\"{{ .RelPermalink }}\">{{ .Title }}</a></h2>{{ .Summary }}{{ end }}</main></body></html>")
	write("layouts/home.json", `{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[{{ range $i, $p := .Site.RegularPages }}{{ if $i }},{{ end }}{"id":{{ .Permalink | jsonify }},"url":{{ .Permalink | jsonify }},"content_html":{{ .Content | jsonify }}}{{ end }}]}`)
	cmd := exec.Command(hugo, "--quiet")
	cmd.Dir = project
	testkit.Run(t, cmd)
	placed, wrong, missing := map[string]int{}, 0, 0
	found := placeAll(t, project, "https://example.org"+base+"/", "gone-")
	for _, f := range found {
		kind := f.link.Page[strings.LastIndexByte(f.link.Page, '.'):]
		if f.position == nil {
			if missing++; missing < 10 {
				t.Errorf("%s: %s has no position", f.link.Page, f.link.Raw)
			}
			continue
		}
		got := fmt.Sprintf("%s:%d:%d", f.position.File, f.position.Line, f.position.Column)
		raw := f.link.Raw[strings.Index(f.link.Raw, "gone-"):]
		ok := false
		for _, want := range truth[raw] {
			ok = ok || got == want
		}
		placed[kind]++
		ok = ok && strings.HasPrefix(got, "content/"+f.shows+".md:")
		if !ok {
			if wrong++; wrong < 10 {
				t.Errorf("%s: %s is at %s, want %s", f.link.Page, f.link.Raw, got, truth[raw])
			}
		}
	}
	t.Logf("%d links, %v placed, %d without a position, %d wrong", len(found), placed, missing, wrong)
	for _, kind := range []string{".html", ".xml", ".json"} {
		if placed[kind] < 200 {
			t.Errorf("%d links in %s pages, want more", placed[kind], kind)
		}
	}
}

// placedLink is a link with its position.
type placedLink struct {
	link BuiltLink
	// shows is the last page that the text before the link names. The link is in
	// the text of that page.
	shows    string
	position *Position
}

var shownPage = regexp.MustCompile(`((?:post|note)/page-\d+)/`)

// placeAll returns the links of a built project with a value that contains a
// text.
func placeAll(t *testing.T, project, base, text string) (all []placedLink) {
	t.Helper()
	s, err := site.Load(t.Context(), filepath.Join(project, "public"), site.Options{BaseURLs: []string{base}})
	testkit.Check(t, err)
	r := s.NewReader()
	defer r.Close()
	var links []BuiltLink
	for i := range s.Pages() {
		id := site.PageID(i)
		if err := r.Details(id, nil, func(_ int, d *site.Detail) {
			if strings.Contains(d.Raw, text) {
				links = append(links, BuiltLink{Page: s.Path(id), Offset: d.Offset, Raw: strings.Clone(d.Raw)})
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	found, _ := generator.Detect(project, generator.None)
	m, err := Open(context.Background(), Options{Project: project, Docroot: filepath.Join(project, "public"), Generator: found.Generator, Env: os.Environ()})
	testkit.Check(t, err)
	defer m.Close()
	positions, err := m.Locate(t.Context(), s, links)
	testkit.Check(t, err)
	shown := map[string][][]int{} // where each file names pages
	pages := map[string][]byte{}
	for i, l := range links {
		if pages[l.Page] == nil {
			if pages[l.Page], err = os.ReadFile(filepath.Join(project, "public", filepath.FromSlash(l.Page))); err != nil {
				t.Fatal(err)
			}
			shown[l.Page] = shownPage.FindAllSubmatchIndex(pages[l.Page], -1)
		}
		shows := strings.TrimSuffix(l.Page, "/index.html")
		before := sort.Search(len(shown[l.Page]), func(k int) bool { return int64(shown[l.Page][k][1]) > l.Offset })
		if !strings.Contains(shows, "/page-") && before > 0 {
			at := shown[l.Page][before-1]
			shows = string(pages[l.Page][at[2]:at[3]])
		}
		all = append(all, placedLink{l, shows, positions[i].Position})
	}
	return all
}
