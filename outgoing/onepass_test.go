package outgoing

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"

	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/testkit"
)

// bothWays reads a page in one pass and by the parser, and fails if they
// differ: in the reason for an exclusion, in the links or in the hash. sure
// reports whether the one pass could read the page.
func bothWays(t *testing.T, w *pageWorker, text []byte) (said pageResult, sure bool) {
	t.Helper()
	page, ok := w.outliner.Read(text)
	if !ok {
		return pageResult{}, false
	}
	e := Entry{Page: "a/b.html", URL: base + "a/b.html"}
	said = w.result(e, page, nil, true)
	doc, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("the parser fails (%v), but the one pass is sure: %.1000q", err, text)
	}
	page, tree := scanhtml.OutlineOf(doc)
	if parsed := w.result(e, page, tree, true); !reflect.DeepEqual(said, parsed) {
		t.Fatalf("%.1000q\n in one pass %+v\n by the parser %+v", text, said, parsed)
	}
	return said, true
}

func onePassWorker(t testing.TB, internal bool) *pageWorker {
	t.Helper()
	r := testkit.Must(Options{Rel: DefaultRel, Internal: internal}.compile())(t)
	return &pageWorker{reading: &reading{rules: r, origin: strings.TrimSuffix(base, "/")}}
}

var onePassSeeds = []string{
	post("P", a("https://x.example/1"), a("/b/"), a("//y.example"), "one &amp; two"), TombstonePage,
	"<article>" + a("https://x.example/") + "</article><article></article>", "<article><h1>T</h1>" + a("https://x.example/") + "</article><article></article>",
	`<article class="h-entry"><h1 class=p-name>T</h1><a class=u-in-reply-to href=https://r.example/>r</a><div class=e-content>` + a("https://x.example/a?b&amp;c") + `</div></article>`,
	`<div class="h&#45;entry"><p class=e-content>` + a("https://x.example/") + `</p></div>`, "<base href=https://b.example/><main>" + a("c") + "</main>",
	`<main><nav><a href=https://n.example/>n</a></nav><p data-no-mention><a href=https://m.example/></a></p><a rel="nofollow" href=https://f.example/></a><img src=a alt="x &lt; y"></main>`,
	"<div class=h-feed><div class=h-entry></div><div class=h-entry></div></div>", "<ul><li>a<li><a href=https://x.example/>b</a></ul>",
	`<svg class=h-entry><a href="https://x.example/"></a></svg><meta http-equiv=status content=410>`, "<p><b>a<p>b",
}

// TestOnePass: both ways to read a page give the same result, and one pass is
// enough for pages that generators write.
func TestOnePass(t *testing.T) {
	w := onePassWorker(t, false)
	links := 0
	for i, text := range onePassSeeds {
		said, sure := bothWays(t, w, []byte(text))
		if last := i == len(onePassSeeds)-1; sure == last {
			t.Errorf("%q: sure is %t", text, sure)
		}
		links += len(said.entry.Targets)
	}
	if links != 9 {
		t.Errorf("%d links found, want 9", links)
	}
}

// FuzzOnePass compares the one pass with the parser.
func FuzzOnePass(f *testing.F) {
	for _, text := range onePassSeeds {
		f.Add([]byte(text))
	}
	with, without := onePassWorker(f, true), onePassWorker(f, false)
	f.Fuzz(func(t *testing.T, text []byte) {
		bothWays(t, with, text)
		bothWays(t, without, text)
	})
}

// TestOnePassCorpora compares both on every page of the
// directories in SITELINK_CORPORA, and logs how many pages were left to the
// parser.
func TestOnePassCorpora(t *testing.T) {
	root := os.Getenv("SITELINK_CORPORA")
	if root == "" {
		t.Skip("set SITELINK_CORPORA to a directory of unpacked documentation packages")
	}
	dirs := testkit.Must(os.ReadDir(root))(t)
	for _, d := range dirs {
		t.Run(d.Name(), func(t *testing.T) {
			w := onePassWorker(t, false)
			files, unsure, links := 0, 0, 0
			err := filepath.WalkDir(filepath.Join(root, d.Name()), func(name string, e os.DirEntry, err error) error {
				if err != nil || !e.Type().IsRegular() || !strings.HasSuffix(name, ".html") {
					return err
				}
				text, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				files++
				said, sure := bothWays(t, w, text)
				if !sure {
					unsure++
				}
				links += len(said.entry.Targets)
				return nil
			})
			testkit.Check(t, err)
			t.Logf("%d pages with %d links, %d (%.2f %%) left to the parser", files, links, unsure, 100*float64(unsure)/float64(max(files, 1)))
		})
	}
}

// A page without links to other sites is not hashed, unless the ledger has it.
func TestSilentPageIsNotHashed(t *testing.T) {
	w := onePassWorker(t, false)
	page, ok := w.outliner.Read([]byte(post("P", "no link")))
	if !ok {
		t.Fatal("unsure")
	}
	if m := w.result(Entry{URL: base}, page, nil, false); m.entry.Hash != "" {
		t.Errorf("hash %s", m.entry.Hash)
	}
	if m := w.result(Entry{URL: base}, page, nil, true); m.entry.Hash == "" {
		t.Error("no hash of a page that the ledger knows")
	}
}
