//go:build integration && linux

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestHugoSitemap: the sitemap that Hugo writes begins with a newline since some
// version. Chromium rejects such a file; sitelink warns and reads its entries.
func TestHugoSitemap(t *testing.T) {
	t.Parallel()
	hugo := os.Getenv("SITELINK_HUGO")
	if hugo == "" {
		t.Skip("SITELINK_HUGO is not set: it names a Hugo newer than Debian's; .ci/run builds one")
	}
	source := t.TempDir()
	for name, text := range map[string]string{
		"hugo.toml":           "baseURL = 'https://example.org/'\ntitle = 't'\n",
		"layouts/single.html": "<!doctype html><title>t</title>",
		"layouts/list.html":   "<!doctype html><title>t</title>",
		"content/a.md":        "---\ntitle: a\n---\n",
	} {
		writeSource(t, source, name, text)
	}
	testkit.Run(t, exec.Command(hugo, "--source", source, "--disableKinds", "taxonomy,RSS"))
	docroot := filepath.Join(source, "public")
	text := testkit.Read(t, filepath.Join(docroot, "sitemap.xml"))
	newline := strings.HasPrefix(string(text), "\n<?xml")
	entries := 0
	eachLink(t, docroot, []string{"--base-url", "https://example.org/"}, func(r *row) {
		if r.Page == "sitemap.xml" && r.Element == "loc" && r.Verdict == "ok" {
			entries++
		}
	})
	out, _ := exec.Command(sitelinkProgram(t), "check", docroot).CombinedOutput()
	warned := strings.Contains(string(out), "begins with an empty line, which strict programs reject")
	if want := strings.Count(string(text), "<loc>"); entries != want || want < 2 {
		t.Errorf("sitelink reads %d of the %d entries", entries, want)
	}
	b := testkit.StartBrowser(t, true)
	b.Load(serveFixtures(t, docroot) + "/a/index.html")
	var rejected bool
	b.Eval(`fetch("/sitemap.xml").then(r => r.text()).then(s => new DOMParser().parseFromString(s, "text/xml").querySelector("parsererror") != null)`, &rejected)
	if !newline {
		t.Log("this Hugo writes no newline before the declaration")
	}
	if warned != newline || rejected != newline {
		t.Errorf("the sitemap begins with a newline: %v, sitelink warns: %v, Chromium rejects it: %v", newline, warned, rejected)
	}
}

// TestChromiumJSONLD: relative URLs of JSON-LD lead where Chromium resolves them,
// against the base URL of the page (JSON-LD 1.1, 9.5.2).
func TestChromiumJSONLD(t *testing.T) {
	t.Parallel()
	const data = `{"@context":"https://schema.org","url":"about.html","sameAs":["../x/","?q"],"image":"img/a.png","mainEntityOfPage":{"@id":"p/"},"name":"n.png"}`
	docroot := writeFixtures(t, map[string]string{
		"d/index.html": `<!doctype html><title>x</title><script type="application/ld+json">` + data + `</script>`,
		"e/index.html": `<!doctype html><title>x</title><base href="/f/g/"><script type="application/ld+json">` + data + `</script>`,
	})
	got := map[string][]string{}
	eachLink(t, docroot, nil, func(r *row) { got[r.Page] = append(got[r.Page], r.Target) })
	b := startChromium(t)
	origin := serveFixtures(t, docroot)
	for page, links := range got {
		b.Load(origin + "/" + page)
		var want []string
		b.Eval(`["about.html", "../x/", "?q", "img/a.png", "p/"].map(v => new URL(v, document.baseURI)).map(u => u.pathname + u.search)`, &want)
		if !slices.Equal(links, want) {
			t.Errorf("%s: sitelink finds %q, Chromium resolves to %q", page, links, want)
		}
	}
	if len(got) != 2 {
		t.Errorf("links of %d pages", len(got))
	}
}
