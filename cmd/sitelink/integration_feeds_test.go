//go:build integration && linux

package main_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// hugoSite are the sources of a site with feeds, sitemap and a JSON Feed.
var hugoSite = map[string]string{
	"config.toml": "baseURL = \"https://example.org/blog/\"\ntitle = \"Harbour\"\n[outputs]\nhome = [\"HTML\", \"RSS\", \"JSON\"]\n",
	"layouts/_default/single.html": `<!doctype html><title>{{.Title}}</title><link rel=canonical href="{{.Permalink}}">` +
		`<link rel=stylesheet href="{{"css/a.css" | relURL}}"><h1>{{.Title}}</h1>{{.Content}}`,
	"layouts/_default/list.html": `<!doctype html><title>{{.Title}}</title>{{range .AlternativeOutputFormats}}<link rel="{{.Rel}}" href="{{.Permalink}}">{{end}}` +
		`{{range .Pages}}<p>{{.Title}}</p>{{end}}`,
	"layouts/index.json": `{"version":"https://jsonfeed.org/version/1.1","title":{{.Title | jsonify}},"items":[{{range $i, $p := .Site.RegularPages}}{{if $i}},{{end}}` +
		`{"id":{{.Permalink | jsonify}},"url":{{.Permalink | jsonify}},"content_html":{{.Content | jsonify}}}{{end}}]}`,
	"static/css/a.css":  "body { background: url(\"../sea.png\") }\n",
	"static/sea.png":    "",
	"static/robots.txt": "User-agent: *\nSitemap: https://example.org/blog/sitemap.xml\n",
}

// TestHugoFeeds: in what Hugo builds, every entry of its sitemap and feeds is
// there; when one page goes, exactly the entries that name it are reported, as
// encoding/xml reads them.
func TestHugoFeeds(t *testing.T) {
	t.Parallel()
	hugo, err := exec.LookPath("hugo")
	if err != nil {
		t.Fatal("hugo is not installed; .ci/run installs it")
	}
	source := t.TempDir()
	for name, text := range hugoSite {
		writeSource(t, source, name, text)
	}
	for i := range 12 {
		writeSource(t, source, fmt.Sprintf("content/post/Knots ü %d.md", i),
			fmt.Sprintf("---\ntitle: Tides & <knots> %d\ndate: 2024-01-%02d\n---\nSee [the next](../knots-ü-%d/) and ![the sea](/blog/sea.png).\n", i, i+1, (i+1)%12))
	}
	testkit.Run(t, exec.Command(hugo, "--source", source, "--destination", "public"))
	docroot := filepath.Join(source, "public")
	const gone = "/blog/post/knots-%C3%BC-4/"

	entries := 0
	check := func(bad bool) {
		t.Helper()
		want, got := map[string]int{}, map[string]int{}
		for _, page := range xmlFiles(t, docroot) {
			want[page] = entriesOf(t, filepath.Join(docroot, page), gone)
		}
		eachLink(t, docroot, []string{"--base-url", "https://example.org/blog/"}, func(r *row) {
			switch r.Code {
			case "sitemap-entry", "feed-entry":
				if !bad || r.Target != gone {
					t.Errorf("%+v", r)
				}
				if strings.HasSuffix(r.Page, ".xml") {
					got[r.Page]++
				}
			case "":
				if strings.HasSuffix(r.Page, ".xml") {
					entries++
				}
			default:
				if !bad {
					t.Errorf("%+v", r)
				}
			}
		})
		if bad && (want["sitemap.xml"] != 1 || want["index.xml"] != 1) {
			t.Errorf("the page that goes is not in %v", want)
		}
		for page, n := range want {
			if bad && got[page] != n {
				t.Errorf("%s: %d entries reported, it has %d", page, got[page], n)
			}
		}
	}
	check(false)
	if entries < 40 {
		t.Errorf("only %d links of feeds and sitemaps seen", entries)
	}
	testkit.Check(t, os.RemoveAll(filepath.Join(docroot, "post", "knots-ü-4")))
	check(true)
}

func writeSource(t *testing.T, dir, name, text string) {
	t.Helper()
	testkit.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
}

// xmlFiles are the XML files of a docroot, at least a sitemap and two feeds.
func xmlFiles(t *testing.T, docroot string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(docroot, func(name string, _ fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(docroot, name); strings.HasSuffix(rel, ".xml") {
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil || len(names) < 3 || !slices.Contains(names, "sitemap.xml") {
		t.Fatalf("%q, %v", names, err)
	}
	return names
}

// entriesOf counts the elements loc and link of a file that name path. It
// leaves out guid, which repeats the link.
func entriesOf(t *testing.T, name, path string) int {
	t.Helper()
	f := testkit.Must(os.Open(name))(t)
	defer f.Close()
	n, element := 0, ""
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return n
		}
		testkit.Check(t, err)
		switch e := token.(type) {
		case xml.StartElement:
			element = e.Name.Local
		case xml.EndElement:
			element = ""
		case xml.CharData:
			if (element == "loc" || element == "link") && strings.HasSuffix(strings.TrimSpace(string(e)), path) {
				n++
			}
		}
	}
}
