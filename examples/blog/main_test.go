package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/site"
	"github.com/sitelink/sitelink/templates"
)

// TestRun builds the blog: it reports the broken links, exits with 1, and removes
// the temporary directory.
func TestRun(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	code, err := run(t.Context(), nil, &out)
	if code != 1 || err != nil {
		t.Fatalf("exit code %d, %v", code, err)
	}
	for _, want := range []string{
		"examples/blog/content/walks/night-walk.md:9:48: no such file: ../notes/fog-lamp.md\nbuilt 32 pages from 30 Markdown files\n",
		"examples/blog/content/walks/flood.md:14:11: error: ",
		": 7 errors; 5 causes\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestPlaces compares the position of every finding with the Markdown: the broken
// destination is written at that line and column.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	b, err := newBlog(project, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.build(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "walks", "flood", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	if err := templates.Verify(text, templates.Endpoints{Webmention: "https://webmention.example/hedge-and-stile"}); err != nil {
		t.Error(err)
	}
	result, err := hook.Check(t.Context(), hook.Site{Docroot: dir, BaseURL: baseURL, Sources: b.links.Sources})
	if err != nil {
		t.Fatal(err)
	}
	asWritten := map[string]string{
		"/places/orchard-gate/":                  "/places/orchard-gate/",
		"/notes/boots/#lace":                     "boots.md#lace",
		"/img/Gate.svg":                          "/img/Gate.svg",
		"/walks/river-crossings/#stepping-stone": "river-crossings.md#stepping-stone",
		"/notes/fog-lamp/":                       "../notes/fog-lamp.md",
	}
	seen := map[string]bool{}
	for _, f := range result.Findings {
		want := asWritten[f.Raw]
		if f.Source == nil || want == "" {
			t.Errorf("%s: %s has no position", f.Page, f.Raw)
			continue
		}
		seen[f.Raw] = true
		text, err := project.ReadFile(strings.TrimPrefix(f.Source.File, "examples/blog/"))
		if err != nil {
			t.Error(err)
			continue
		}
		line := []rune(strings.Split(string(text), "\n")[f.Source.Line-1])
		if at := string(line[f.Source.Column-1:]); !strings.HasPrefix(at, want) {
			t.Errorf("%s:%d:%d: found %q, want %q", f.Source.File, f.Source.Line, f.Source.Column, at, want)
		}
	}
	if len(seen) != len(asWritten) {
		t.Errorf("found %v", seen)
	}

	// The same site without sources has the same findings.
	plain, err := hook.Check(t.Context(), hook.Site{Docroot: dir, BaseURL: baseURL})
	if err != nil {
		t.Fatal(err)
	}
	got, want := check.Fingerprints(result.Findings), check.Fingerprints(plain.Findings)
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("findings with sources %v, without %v", got, want)
	}
}

// TestFeed checks that the feed is an Atom feed whose entries are pages of the site.
func TestFeed(t *testing.T) {
	dir := t.TempDir()
	b, err := newBlog(project, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.build(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "feed.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var f feed
	if err := xml.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Entries) != newest || f.Updated != f.Entries[0].Updated {
		t.Errorf("%d entries, updated %s", len(f.Entries), f.Updated)
	}
	for _, e := range f.Entries {
		if _, err := os.Stat(filepath.Join(dir, strings.TrimPrefix(e.Link.Href, baseURL), "index.html")); err != nil {
			t.Error(err)
		}
	}
}

// TestMentions: the mentions of a page are shown as text, and the blog does not send
// notices about them.
func TestMentions(t *testing.T) {
	dir := t.TempDir()
	b, err := newBlog(project, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.build(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "walks", "ridge", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `<li lang="en"><a href="https://maps.example/ridge?from=feed&amp;n=1" rel="nofollow ugc">The ridge &amp; its &lt;em&gt;two&lt;/em&gt; gates</a> by Robin`
	if !bytes.Contains(text, []byte(want)) || bytes.Count(text, []byte("</li>")) != 2 {
		t.Errorf("the page lacks %s:\n%s", want, text)
	}
	s, err := site.Load(t.Context(), dir, site.Options{BaseURLs: []string{baseURL}})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := outgoing.Read(t.Context(), s, &ledger.Snapshot{}, outgoing.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries.List {
		if strings.Contains(strings.Join(e.Targets, " "), "maps.example") {
			t.Errorf("%s would notify %q", e.URL, e.Targets)
		}
	}
}

func TestErrors(t *testing.T) {
	if code, err := run(t.Context(), []string{"a", "b"}, io.Discard); code != 2 || err == nil {
		t.Errorf("two directories: %d, %v", code, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, err := run(t.Context(), []string{file}, io.Discard); code != 3 || err == nil {
		t.Errorf("a file as docroot: %d, %v", code, err)
	}
	for text, want := range map[string]string{
		"# no front matter\n":         "no front matter",
		"---\ntitle: x\n":             "no front matter",
		"---\ndate: May\n---\nx":      `line 2: date "May"`,
		"---\ntitle: x\nz: y\n---\nx": `line 3: unknown key "z"`,
	} {
		if _, err := parsePage("a.md", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
