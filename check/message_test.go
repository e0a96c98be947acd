package check

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

var update = flag.Bool("update", false, "write the golden file of messages")

// messageFixtures are docroots for the messages that no other fixture produces.
var messageFixtures = []fixture{
	{name: "markdown", files: files{"post/index.html": plain + `<a href="../other.md#a"><a href="/x.md">`, "other/index.html": plain + "<p id=a>"}},
	{name: "script", files: asking(readsHash, routes(12)...)},
	{name: "entries", sopt: exampleOrg, files: files{"p.html": plain, "d/index.html": plain, "n.html": plain + "<meta name=robots content=noindex>", "harbour.html": plain,
		"alias.html": plain + "<meta http-equiv=refresh content='0; url=p.html'>",
		"s.xml":      sitemap("https://example.org/sub/d", "/sub/Harbour.html", "/sub/harbor.html", "/sub/n.html", "/sub/alias.html", "/sub/p.html#nope", "https://h/"),
		"i.xml":      sitemapIndex("/sub/i.xml", "/sub/j.xml", "/sub/p.html", "/sub/gone.xml"), "j.xml": sitemapIndex("/sub/s.xml"),
		"f.xml": "<rss><channel><item><link>/sub/gone/</link></item><item><link>/sub/p.html#nope</link></item></channel></rss>"}},
	{name: "files", files: files{"p.html": plain + "<link rel=manifest href=m.json>", "f.xml": "<rss><channel>\n<title>a & b</title></channel></rss>",
		"m.json": "{\n \"start_url\": \"p.html\",\n}", "a.css": "a{b:url(\"p.html\n}", "s.svg": "<svg xmlns='http://www.w3.org/2000/svg'><b></svg>"}},
	{name: "linksets", files: files{"index.html": page("a.html"), "a.html": plain, "sub/index.html": plain, "i.gif": ""},
		opt: Options{From: []string{"/", "/sub", "/x@", "/none/@", "/i.gif"}}},
	{name: "limit", files: files{"index.html": page("a.html"), "a.html": plain}, opt: Options{Limit: 1}},
	{name: "orphans", files: files{"index.html": plain, "a.html": page("b.html"), "b.html": page("b.html"), "i.gif": ""}, opt: Options{Orphans: true}},
}

// TestMessages asserts every message of a finding about a link or file. Other
// tests compare code and place, and leave the wording to this test.
func TestMessages(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the fixtures need permissions, pipes and symbolic links")
	}
	var lines []string
	codes := map[Code]bool{}
	for _, x := range append(slices.Clone(fixtures), messageFixtures...) {
		if x.change != nil {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			r := run(t, x.load(t), x.opt)
			for i := range r.Findings {
				f := &r.Findings[i]
				codes[f.Code] = true
				if f.Code == ReadError || strings.HasPrefix(string(f.Code), "redirect-") {
					continue // messages of the system and of package redirect
				}
				if strings.TrimRight(f.Message, ".") != f.Message || f.Message == "" || strings.Contains(f.Message, "\n") {
					t.Errorf("%s: the message %q is not a single line without a full stop", brief(f), f.Message)
				}
				lines = append(lines, string(f.Code)+" "+f.Verdict.String()+": "+f.Message)
			}
		})
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	slices.SortStableFunc(lines, func(a, b string) int {
		code := func(line string) string { before, _, _ := strings.Cut(line, " "); return before }
		return cmp.Compare(code(a), code(b))
	})
	if len(codes) < 40 {
		t.Errorf("only %d codes have messages", len(codes))
	}
	got := strings.Join(lines, "\n") + "\n"
	golden := filepath.Join("testdata", "messages.txt")
	if *update {
		testkit.Check(t, os.MkdirAll("testdata", 0o755))
		testkit.Check(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want := testkit.Read(t, golden)
	if got != string(want) {
		t.Errorf("the messages differ from %s; run go test ./check -run Messages -update and read the difference\ngot:\n%s", golden, got)
	}
}

// TestNotes tests the notes of a summary about the site as a whole.
func TestNotes(t *testing.T) {
	notes := func(x files, want string) Summary {
		sum := run(t, load(t, tempDocroot(t, x), isite.Options{}), Options{}).Summary
		if len(sum.Notes) != 1 || sum.Notes[0] != want {
			t.Errorf("notes %q, want %q", sum.Notes, want)
		}
		return sum
	}
	notes(files{"p.html": plain, "s.xml": sitemap("https://example.org/p.html")},
		"addresses in sitemaps and feeds that were not checked, because the site's own address is not known: 1; set base-url")
	sum := notes(files{"index.html": serverScript + `<a href="http://localhost:1313/sub/x/">`, "x/index.html": serverScript},
		"hugo server wrote 2 pages: do not publish this docroot; run hugo, or sitelink check --build; links to http://localhost:1313/sub/ count as links to this site")
	notes(files{"index.html": plain, "x/index.html": serverScript, "y/index.html": serverScript},
		"the sources no longer produce 2 pages that an earlier hugo server wrote: x/index.html, y/index.html; do not publish this docroot: empty it and run hugo, or run sitelink check --build")
	notes(files{"index.html": plain, "1.html": serverScript, "2.html": serverScript, "3.html": serverScript, "4.html": serverScript},
		"the sources no longer produce 4 pages that an earlier hugo server wrote: 1.html, 2.html, 3.html, ...; do not publish this docroot: empty it and run hugo, or run sitelink check --build")
	sum.Docroot = "public"
	if err := Deployable(&sum); err == nil || err.Error() != "docroot public must not be published: hugo server wrote 2 pages; run hugo, or sitelink check --build" {
		t.Errorf("Deployable: %v", err)
	}
}
