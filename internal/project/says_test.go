package project

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/weburl"
)

// TestSample: pages come from all parts of a docroot, the same ones each time, and from
// nowhere else.
func TestSample(t *testing.T) {
	files := testkit.Files{"node_modules/a.html": "", ".git/a.html": "", "css/a.css": "", "en/a.html": ""}
	for i := range 600 {
		files[fmt.Sprintf("archive/%04d.html", i)] = ""
	}
	for i := range 100 {
		files[fmt.Sprintf("blog/%02d/x/index.html", i)] = ""
		files[fmt.Sprintf("top%02d.html", i)] = ""
	}
	root := testkit.MakeDocroot(t, files)
	testkit.Check(t, os.Symlink(t.TempDir(), filepath.Join(root, "away")))
	testkit.Check(t, os.Symlink(filepath.Join(root, "top00.html"), filepath.Join(root, "link.html")))
	pages := sample(root, ".", samplePages)
	if again := sample(root, ".", samplePages); !slices.Equal(pages, again) || len(pages) > samplePages || len(pages) < samplePages/2 {
		t.Errorf("got %d pages, and then %d", len(pages), len(again))
	}
	parts := map[string]int{}
	for _, p := range pages {
		parts[strings.TrimRight(strings.Split(p, "/")[0], "0123456789.html")]++
	}
	for _, part := range []string{"archive", "blog", "en", "top"} {
		if parts[part] == 0 {
			t.Errorf("no page of %s: %v", part, parts)
		}
	}
	if len(parts) != 4 || slices.Max([]int{parts["archive"], parts["blog"], parts["top"]}) > samplePages/2 {
		t.Errorf("pages by part: %v", parts)
	}
}

// TestOwnFlags: the build has the flags of the command that makes what is published, not those
// of another workflow that builds the same project, and their settings.
func TestOwnFlags(t *testing.T) {
	const publish = "uses: actions/upload-pages-artifact@v3"
	root := testkit.MakeDocroot(t, testkit.Files{
		".git/HEAD":                   "",
		".github/workflows/a.yml":     "jobs: {a: {steps: [{run: hugo --environment test --buildDrafts}]}}",
		".github/workflows/b.yml":     "jobs:\n a:\n  steps:\n  - run: hugo --minify -e preview -b ${{ steps.x.y }}\n  - {" + publish + ", with: {path: public}}\n  - {uses: actions/deploy-pages@v4}\n",
		"config/_default/hugo.toml":   "baseURL = 'https://a.example/'",
		"config/preview/hugo.toml":    "publishDir = 'out'\nbaseURL = 'https://preview.example/'",
		"config/production/hugo.toml": "baseURL = 'https://production.example/'",
	})
	p := testkit.Must(Find(t.Context(), root, Options{}))(t)
	if got := p.Generator.Command("OUT", false, nil).String(); got != "hugo --destination OUT --minify -e preview" || !slices.Equal(p.BaseURLs, []string{"https://preview.example/"}) {
		t.Errorf("%s for %s", got, p.BaseURLs)
	}
}

// TestListen: what most pages say wins, and what a docroot can hold does no harm.
func TestListen(t *testing.T) {
	page := func(address string) string { return `<link rel=canonical href="` + address + `"><a href="a">a</a>` }
	deep := strings.Repeat("/x", 30000)
	for name, c := range map[string]struct {
		files testkit.Files
		want  said
	}{
		"two of three":     {testkit.Files{"index.html": page("https://a.example/"), "b.html": page("https://a.example/b"), "c.html": page("https://b.example/c")}, said{base: "https://a.example/", form: weburl.BareForm}},
		"one of one":       {testkit.Files{"index.html": page("https://a.example/")}, said{}},
		"silence counts":   {testkit.Files{"index.html": page("https://a.example/"), "b.html": page("https://a.example/b"), "c.html": "", "d.html": ""}, said{form: weburl.BareForm}},
		"not their own":    {testkit.Files{"index.html": page("https://a.example/x/"), "b.html": page("https://a.example/"), "c.html": page("https://a.example/")}, said{form: weburl.BareForm}},
		"not an address":   {testkit.Files{"index.html": page("https://[/"), "b.html": page("//a.example/b"), "c.html": page("javascript:c.html")}, said{form: weburl.BareForm}},
		"no public host":   {testkit.Files{"index.html": page("http://192.168.0.1/"), "b.html": page("http://192.168.0.1/b")}, said{form: weburl.BareForm}},
		"deep sitemap":     {testkit.Files{"index.html": "", "sitemap.xml": "<loc>https://a.example" + deep + "</loc><loc>https://a.example" + deep + "</loc>"}, said{}},
		"sitemap of files": {testkit.Files{"index.html": "", "b.html": "", "sitemap-0.xml": "<loc>https://a.example/d/b</loc><loc>https://a.example/d/</loc><loc>https://b.example/</loc>"}, said{base: "https://a.example/d/", from: "sitemap-0.xml"}},
		"generator":        {testkit.Files{"index.html": `<meta name="generator" content="mkdocs-1.6.1, mkdocs-material-9.5">`, "b.html": `<meta content='MkDocs 1' name='generator'>`}, said{generator: "mkdocs"}},
		"beyond the limit": {testkit.Files{"index.html": strings.Repeat(" ", sampleBytes) + page("https://a.example/"), "b.html": strings.Repeat(" ", sampleBytes) + page("https://a.example/b")}, said{}},
	} {
		if got := listen(testkit.MakeDocroot(t, c.files)); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
	if got := listen(filepath.Join(t.TempDir(), "gone")); got != (said{}) {
		t.Errorf("no docroot: got %+v", got)
	}
}
