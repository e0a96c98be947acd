package lsp_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/lsp"
	"github.com/sitelink/sitelink/internal/testkit"
)

// write writes the files of a project by name; a text of "-" removes the file.
func write(t *testing.T, dir string, all map[string]string) {
	t.Helper()
	for name, text := range all {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if text == "-" {
			testkit.Check(t, os.Remove(name))
			continue
		}
		testkit.Write(t, name, text)
	}
}

// read reads the site of a project.
func read(t *testing.T, dir string, last *lsp.Snapshot) *lsp.Snapshot {
	t.Helper()
	ctx := context.Background()
	cfg := testkit.Must(config.Load(config.Input{Dir: dir}))(t)
	p := testkit.Must(project.Find(ctx, dir, project.Options{Config: cfg, Env: []string{"PATH="}}))(t)
	a := testkit.Must(audit.Open(ctx, p, audit.Options{Sources: true}))(t)
	s := testkit.Must(lsp.NewSnapshot(ctx, a, lsp.AnalysisOptions{Last: last}))(t)
	t.Cleanup(s.Close)
	return s
}

// known is who links where, and every heading.
func known(s *lsp.Snapshot) string {
	var b strings.Builder
	for id := range s.Site.Tree().Nodes {
		fmt.Fprintln(&b, s.Site.Tree().Path(docroot.NodeID(id)), s.References(nil, lsp.Subject{Node: docroot.NodeID(id)}))
	}
	fmt.Fprintf(&b, "%+v\n", s.Symbols(context.Background(), nil, ""))
	return b.String()
}

// TestReadAgain changes a project in steps. After each, a snapshot that takes over what
// the last one knows equals one that reads everything.
func TestReadAgain(t *testing.T) {
	t.Setenv("PATH", "")
	dir := t.TempDir()
	page := func(body string) string { return "<!DOCTYPE html><html><head><title>T</title></head><body>" + body }
	write(t, dir, map[string]string{
		"hugo.toml":             "baseURL = 'https://example.org/'\n",
		"content/a.md":          "---\ntitle: A\n---\n\n## One\n\n[b](/b/) [new](/new/) [rule](/rule/) [c](c.md)\n",
		"content/b.md":          "---\ntitle: B\n---\n\n## Two\n\n[a](/a/#one)\n",
		"public/index.html":     page("home"),
		"public/a/index.html":   page(`<h2 id="one">One</h2><a href="/b/">b</a><a href="/new/">n</a><a href="/rule/">r</a>`),
		"public/b/index.html":   page(`<h2 id="two">Two</h2><a href="/a/#one">a</a>`),
		"public/img/index.html": page("img"),
	})
	last := read(t, dir, nil)
	for _, step := range []struct {
		name   string
		change map[string]string
	}{
		{"nothing", nil},
		{"pages are written again", map[string]string{"public/b/index.html": page(`<h2 id="two">Two</h2>more`)}},
		{"a source", map[string]string{"content/b.md": "---\ntitle: B\n---\n\n## Three\n\nNo link.\n"}},
		{"a page comes", map[string]string{"public/new/index.html": page("new")}},
		{"a source comes", map[string]string{"content/c.md": "---\ntitle: C\n---\n\n[b](/b/)\n", "public/c/index.html": page(`<a href="/b/">b</a>`)}},
		{"a rule comes", map[string]string{"public/_redirects": "/rule/ /b/ 200\n"}},
		{"a rule changes", map[string]string{"public/_redirects": "/rule/ /a/ 200\n"}},
		{"a page becomes an alias", map[string]string{"public/new/index.html": `<!DOCTYPE html><html><head><title>x</title><meta http-equiv="refresh" content="0; url=/b/"></head></html>`}},
		{"a page has a base", map[string]string{"public/a/index.html": `<!DOCTYPE html><html><head><base href="/b/"></head><body><a href="x">x</a>`}},
		{"the configuration", map[string]string{"hugo.toml": "baseURL = 'https://example.org/sub/'\n"}},
		{"a page goes", map[string]string{"public/new/index.html": "-"}},
		{"a source goes", map[string]string{"content/c.md": "-", "public/c/index.html": "-"}},
	} {
		write(t, dir, step.change)
		last.Close()
		last = read(t, dir, last)
		if got, want := known(last), known(read(t, dir, nil)); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", step.name, got, want)
		}
	}
}
