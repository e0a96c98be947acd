//go:build integration

package export

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/site"
)

// hugos returns the Hugo programs to test with: Debian's, and the one in SITELINK_HUGO.
func hugos(t *testing.T) []string {
	t.Helper()
	found := []string{"hugo"}
	if name := os.Getenv("SITELINK_HUGO"); name != "" {
		found = append(found, name)
	}
	for _, name := range found {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("%s is missing: apt-get install hugo", name)
		}
	}
	return found
}

const hugoPage = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{{ .Title }}</title></head>
<body><main><h1>{{ .Title }}</h1>{{ .Content }}
{{ partial "sitelink/mentions.html" . }}</main></body></html>
`

// makeHugo writes a site with an export into a directory.
func makeHugo(t *testing.T, f Format, live string, mentions []incoming.Mention) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"hugo.toml": "baseURL = 'https://our.example/'\ntitle = 'Site'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\ndisablePathToLower = true\n[params.sitelink]\nlive = '" + live + "'\n",
		"layouts/partials/sitelink/mentions.html": HugoPartial,
		"layouts/_default/single.html":            hugoPage,
		"layouts/_default/list.html":              hugoPage,
		"static/sitelink-mentions.js":             Script,
		"content/_index.md":                       "---\ntitle: Home\n---\n",
		"content/posts/knots.md":                  "---\ntitle: Knots\n---\n[a](/About/)\n",
		"content/posts/été.md":                    "---\ntitle: Été\n---\n",
		"content/About.md":                        "---\ntitle: About\n---\n",
		"content/alone.md":                        "---\ntitle: Alone\n---\n",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		testkit.Write(t, name, text)
	}
	mustWrite(t, filepath.Join(dir, "data", "mentions"), f, mentions...)
	return dir
}

func buildHugo(t *testing.T, hugo, dir string) (docroot string) {
	t.Helper()
	docroot = filepath.Join(dir, "public")
	cmd := exec.Command(hugo, "--noBuildLock")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HUGO_CACHEDIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", hugo, err, out)
	} else if strings.Contains(string(out), "deprecated") {
		t.Errorf("%s reports the partial:\n%s", hugo, out)
	}
	return docroot
}

// shown is what a page shows of its mentions.
type shown struct {
	titles, excerpts, authors, links []string
	elements                         map[string]int // of the whole page
}

func readShown(t *testing.T, name string) (s shown) {
	t.Helper()
	f := testkit.Must(os.Open(name))(t)
	defer f.Close()
	root := testkit.Must(html.Parse(f))(t)
	s.elements = map[string]int{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		s.elements[n.Data]++
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s: <%s %s>", name, n.Data, a.Key)
			}
		}
		if n.Parent.Data != "li" {
			continue
		}
		text := ""
		for c := range n.Descendants() {
			if c.Type == html.TextNode {
				text += c.Data
			}
		}
		switch n.Data {
		case "a":
			s.titles = append(s.titles, text)
			for _, a := range n.Attr {
				if a.Key == "href" {
					s.links = append(s.links, a.Val)
				} else if a.Key == "rel" && a.Val != "nofollow ugc" {
					t.Errorf("rel=%q", a.Val)
				}
			}
		case "p":
			s.excerpts = append(s.excerpts, text)
		case "span":
			s.authors = append(s.authors, text)
		}
	}
	return s
}

// hostileMentions are mentions of one page with a hostile text in each field.
func hostileMentions() (all []incoming.Mention) {
	for i, text := range hostile {
		all = append(all, incoming.Mention{ID: fmt.Sprint(i), Protocol: incoming.Webmention, State: incoming.Approved,
			Source: fmt.Sprintf("https://a.example/%02d?%%22%%3E=%%27", i), Target: "https://our.example/posts/knots/",
			Title: text, Excerpt: text, Lang: text, Author: incoming.Author{Name: text, URL: "javascript:alert(1)"}, Received: time.Unix(1700000000+int64(i), 0)})
	}
	return all
}

// TestHugo: real Hugo shows hostile mentions as text, from each format of data.
func TestHugo(t *testing.T) {
	all := append(hostileMentions(), from("https://b.example/", "/posts/%C3%A9t%C3%A9/"), from("https://c.example/", "/About/"), from("https://d.example/", "/"))
	browser := testkit.StartBrowser(t, true)
	browser.Listen()
	for _, hugo := range hugos(t) {
		for _, f := range []Format{JSON, YAML, TOML} {
			t.Run(filepath.Base(filepath.Dir(hugo))+"/"+string(f), func(t *testing.T) {
				docroot := buildHugo(t, hugo, makeHugo(t, f, "", all))
				s := readShown(t, filepath.Join(docroot, "posts", "knots", "index.html"))
				if len(s.links) != len(hostile) {
					t.Fatalf("%d of %d mentions are shown", len(s.links), len(hostile))
				}
				excerpts, authors := 0, 0
				for i, text := range hostile {
					want := plain(text)
					title := want
					if want == "" {
						title = "a.example"
					} else {
						if folded(s.excerpts[excerpts]) != folded(want) || folded(s.authors[authors]) != folded(want) {
							t.Errorf("%q is shown as %q by %q", text, s.excerpts[excerpts], s.authors[authors])
						}
						excerpts++
						authors++
					}
					if folded(s.titles[i]) != folded(title) || !strings.HasPrefix(s.links[i], fmt.Sprintf("https://a.example/%02d?", i)) {
						t.Errorf("%q is shown as %q with %q", text, s.titles[i], s.links[i])
					}
				}
				for name := range s.elements {
					if !slices.Contains(strings.Fields("html head meta title body main h1 p a section h2 ul li span time"), name) {
						t.Errorf("an element <%s> was injected", name)
					}
				}
				for file, source := range map[string]string{"posts/été": "https://b.example/", "About": "https://c.example/", "": "https://d.example/"} {
					if s := readShown(t, filepath.Join(docroot, filepath.FromSlash(file), "index.html")); !slices.Equal(s.links, []string{source}) {
						t.Errorf("%q shows %q", file, s.links)
					}
				}
				if s := readShown(t, filepath.Join(docroot, "alone", "index.html")); s.elements["section"] != 0 {
					t.Error("a page without mentions has an empty section")
				}

				// No script runs, and nothing is sent to the sources of the mentions.
				browser.Load("file://" + filepath.Join(docroot, "posts", "knots", "index.html"))
				var links int
				browser.Eval("document.querySelectorAll('.sitelink-mentions li a[rel=\"nofollow ugc\"]').length", &links)
				if messages := browser.Console(); links != len(hostile) || len(messages) > 0 {
					t.Errorf("Chromium: %d links, %q", links, messages)
				}
				loaded := testkit.Must(site.Load(t.Context(), docroot, site.Options{BaseURLs: []string{"https://our.example/"}}))(t)
				entries, err := outgoing.Read(t.Context(), loaded, &ledger.Snapshot{}, outgoing.Options{}, nil)
				if err != nil || len(entries.List) > 0 {
					t.Errorf("the shown mentions are notified: %+v, %v", entries.List, err)
				}
			})
		}
	}
}

// folded returns a text as HTML shows it: with white space folded.
func folded(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestLiveScript: the script adds approved mentions as text, and none that is on the
// page already.
func TestLiveScript(t *testing.T) {
	if len(Script) > 999 {
		t.Errorf("the script has %d bytes, more than a few hundred", len(Script))
	}
	store := incomingtest.NewStore(nil)
	receiver := httptest.NewServer(Live(store))
	defer receiver.Close()
	old := from("https://b.example/", "/posts/knots/")
	docroot := buildHugo(t, "hugo", makeHugo(t, JSON, receiver.URL, []incoming.Mention{old}))
	store.Add(append(hostileMentions()[:3], old, from("https://new.example/", "/alone/"))...)
	files := httptest.NewServer(http.FileServer(http.Dir(docroot)))
	defer files.Close()

	browser := testkit.StartBrowser(t, true)
	browser.Listen()
	for path, want := range map[string]int{"/posts/knots/": 4, "/alone/": 1} {
		browser.Load(files.URL + path)
		var titles []string
		for deadline := time.Now().Add(30 * time.Second); len(titles) < want && time.Now().Before(deadline); {
			browser.Eval("[...document.querySelectorAll('.sitelink-mentions:not([hidden]) li a[rel=\"nofollow ugc\"]')].map(a => a.textContent)", &titles)
		}
		if len(titles) != want {
			got, _ := json.Marshal(titles)
			t.Errorf("%s shows %s, want %d mentions", path, got, want)
		}
		if messages := browser.Console(); len(messages) > 0 && !strings.Contains(strings.Join(messages, ""), "favicon") {
			t.Errorf("%s: %q", path, messages)
		}
	}
}
