//go:build integration

package source

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

// brokenSite is a Hugo project of many pages with one broken link each, at a
// known position.
type brokenSite struct {
	dir  string
	want map[string]Position // by raw value
}

// constructs are the ways to write a destination; @ is the broken link.
var constructs = []string{
	"[text](@)", "[text](<@> \"title\")", "![picture](@)", "[ref][r%d]\n\n[r%d]: @ 'title'", "> quoted [text](\n> @)",
	"- item\n\n  1. [text](@)", "|a|b|\n|-|-|\n|ä|[text](@)|", "<a class=x href=\"@\">raw</a>", "<div>\n<img src='@'>\n</div>",
	`{{< figure src="@" >}}`, "{{< figure\n  src=`/ok.png`\n  link=\"@\" >}}", "é note[^1]\n\n[^1]: see [text](@)", "Term\n: [text](@)",
	"{{< box >}}[inner](@){{< /box >}}", "### Heading [text](@)", "**bold *and [text](@)***",
}

func newBrokenSite(t *testing.T, pages int) *brokenSite {
	b := &brokenSite{t.TempDir(), map[string]Position{}}
	write := func(name, text string) {
		file := filepath.Join(b.dir, filepath.FromSlash(name))
		testkit.Write(t, file, text)
	}
	write("config.toml", "baseURL = 'https://example.org/sub/'\ndisableKinds = ['taxonomy', 'term']\nsummaryLength = 5\n[markup.goldmark.renderer]\nunsafe = true\n[permalinks]\nnews = '/:year/:slug/'\n")
	write("layouts/_default/single.html", "<nav><a href=\"/shared/\">s</a></nav><main>{{ .Content }}</main><footer><a href=\"/shared/\">s</a>{{ with .Params.image }}<img src=\"{{ . }}\">{{ end }}</footer>")
	write("layouts/_default/list.html", "<main>{{ .Content }}{{ range .Pages }}<article><a href=\"{{ .RelPermalink }}\">{{ .Title }}</a>{{ .Summary }}</article>{{ end }}</main>")
	write("layouts/shortcodes/box.html", "<div>{{ .Inner | markdownify }}</div>")
	rnd := rand.New(rand.NewPCG(5, 5))
	for i := range pages {
		raw := fmt.Sprintf("/gone-%d/", i)
		text := fmt.Sprintf("---\ntitle: \"Page %d\"\ndate: 2024-02-03\n", i)
		switch i % 10 {
		case 3:
			text += fmt.Sprintf("slug: other-%d\n", i)
		case 4:
			text += fmt.Sprintf("url: /else/where-%d/\n", i)
		}
		construct := constructs[i%len(constructs)]
		if i%25 == 9 {
			text += "image: @\n"
			construct = "[fine](/ok.png)"
		}
		text += "---\n"
		for range rnd.IntN(6) {
			text += []string{"Some [shared](/shared/) words.\n\n", "`[code](/shared/)` and [fine](/sub/ok.png)\n\n", "<!-- [x](/shared/) -->\n\n"}[rnd.IntN(3)]
		}
		text += strings.ReplaceAll(construct, "%d", fmt.Sprint(i)) + "\n\nAfter [shared](/shared/).\n"
		before, _, _ := strings.Cut(text, "@")
		file := fmt.Sprintf("content/%s/p%d.md", []string{"post", "news", "deep/er"}[i%3], i)
		if i%7 == 0 {
			file = fmt.Sprintf("content/post/Bundle %d/index.md", i)
		}
		write(file, strings.Replace(text, "@", raw, 1))
		b.want[raw] = Position{File: file, Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])}
	}
	return b
}

// TestHugoBreaks builds a site of 500 pages with 500 known broken links with
// each installed Hugo, and locates them.
func TestHugoBreaks(t *testing.T) {
	for _, hugo := range hugos(t) {
		t.Run(versionOf(t, hugo), func(t *testing.T) { testHugoBreaks(t, hugo) })
	}
}

func testHugoBreaks(t *testing.T, hugo string) {
	b := newBrokenSite(t, 500)
	cmd := exec.Command(hugo, "--quiet")
	cmd.Dir = b.dir
	testkit.Run(t, cmd)
	docroot := filepath.Join(t.TempDir(), "elsewhere")
	testkit.Check(t, os.Rename(filepath.Join(b.dir, "public"), docroot))
	s, err := site.Load(t.Context(), docroot, site.Options{BaseURLs: []string{"https://example.org/sub/"}})
	testkit.Check(t, err)
	var links []BuiltLink
	reached := map[string]bool{}
	r := s.NewReader()
	defer r.Close()
	for id := range site.PageID(s.Pages()) {
		err := r.Details(id, nil, func(_ int, d *site.Detail) {
			if strings.HasPrefix(d.Raw, "/gone-") {
				raw := strings.Clone(d.Raw)
				reached[raw] = true
				links = append(links, BuiltLink{Page: s.Path(id), Offset: d.Offset, Raw: raw})
			}
		})
		testkit.Check(t, err)
	}
	if len(reached) < 495 {
		t.Errorf("%d of 500 breaks reached a page", len(reached))
	}
	sameList(t, hugo, b.dir, docroot)
	m, err := Open(t.Context(), Options{Project: b.dir, Docroot: docroot, Generator: Hugo, Env: os.Environ()})
	testkit.Check(t, err)
	defer m.Close()
	places, err := m.Locate(t.Context(), s, links)
	testkit.Check(t, err)
	exact := 0
	for i, p := range places {
		want := b.want[links[i].Raw]
		switch {
		case p.Position == nil:
			t.Logf("%s in %s: no place, want %v", links[i].Raw, links[i].Page, want)
		case *p.Position == want:
			exact++
		case p.File != want.File:
			t.Errorf("%s in %s: wrong file %v, want %v", links[i].Raw, links[i].Page, *p.Position, want)
		default:
			t.Logf("%s in %s: %v, want %v", links[i].Raw, links[i].Page, *p.Position, want)
		}
	}
	share := float64(exact) / float64(len(links))
	t.Logf("%d of %d links exact, %.2f %%", exact, len(links), 100*share)
	if share < 0.99 {
		t.Errorf("%.2f %% are exact, want 99 %%", 100*share)
	}
}
