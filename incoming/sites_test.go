package incoming_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/site"
)

// manifest returns the manifest of a docroot with these files.
func manifest(t testing.TB, files map[string]string, opt site.Options, closed ...string) *incoming.Manifest {
	t.Helper()
	return incomingtest.Manifest(t, t.TempDir(), files, opt, closed...)
}

func based(urls ...string) site.Options { return site.Options{BaseURLs: urls} }

// TestLookup: which URLs are pages of ours (PB-45, PB-46, PB-12, A-PB-4).
func TestLookup(t *testing.T) {
	files := map[string]string{
		"index.html":           "<h1>Home</h1>",
		"post/index.html":      "<h1>Post</h1>",
		"about.html":           "<h1>About</h1>",
		"caf\u00e9/index.html": "<h1>Café</h1>",
		"img/cat.png":          "x",
		"paper.pdf":            "x",
		"404.html":             "<h1>Not found</h1>",
		"old/index.html":       `<meta http-equiv="refresh" content="0; url=/post/"><link rel="canonical" href="https://b.example/post/">`,
		"away/index.html":      `<meta http-equiv="refresh" content="0; url=https://elsewhere.example/"><p>moved`,
		"loop/index.html":      `<meta http-equiv="refresh" content="0; url=/loop2/">`,
		"loop2/index.html":     `<meta http-equiv="refresh" content="0; url=/loop/">`,
		"print/index.html":     `<link rel="canonical" href="/post/"><h1>Post</h1>`,
		"deleted/index.html":   `<!DOCTYPE html><head><meta http-equiv="Status" content="410 Gone"><title>Gone</title></head><body><p>Deleted.</p>`,
		"drafts/a/index.html":  "<h1>Draft</h1>",
		"empty/x.txt":          "x",
		"_redirects":           "/moved /post/ 301\n/named / 301\n/out https://elsewhere.example/ 301\n/dir/* /post/ 302\n/* / 302\n",
	}
	opt := based("https://b.example/", "https://www.b.example/")
	opt.Profile = "netlify"
	var sites incoming.Sites
	if p := sites.Lookup("https://b.example/"); p.Served {
		t.Errorf("without sites: %+v", p)
	}
	sites.Set(manifest(t, files, opt, "drafts/**"))
	const post, closed = "https://b.example/post/", "closed"
	for url, want := range map[string]string{
		post:                                "post/index.html",
		"http://b.example/post/":            "post/index.html",
		"HTTPS://B.Example:443/%70ost/":     "post/index.html",
		"https://www.b.example/post/":       "post/index.html",
		"https://b.example/post":            "post/index.html",
		"https://b.example/post/index.html": "post/index.html",
		"https://b.example/post/?utm=1":     "post/index.html",
		"https://b.example/post/#c":         "post/index.html",
		"https://b.example":                 "index.html",
		"https://b.example/caf%C3%A9/":      "café/index.html",
		"https://b.example/café/":           "café/index.html",
		"https://b.example/img/cat.png":     "img/cat.png",
		"https://b.example/paper.pdf":       "paper.pdf",
		"https://b.example/about":           "about.html",
		// Addresses from which the site redirects.
		"https://b.example/old/":   "post/index.html",
		"https://b.example/moved":  "post/index.html",
		"https://b.example/named":  "index.html",
		"https://b.example/dir/x":  "post/index.html",
		"https://b.example/print/": "post/index.html",
		// Pages that take no notices.
		"https://b.example/drafts/a/": closed,
		"https://b.example/404.html":  closed,
		"https://b.example/away/":     closed,
		"https://b.example/out":       closed,
		// Pages that do not exist. All missing pages redirect to the home page,
		// but no author expects that links to them count.
		"https://b.example/nothing":  "missing",
		"https://b.example/loop/":    "missing",
		"https://b.example/deleted/": "missing",
		// Other hosts, with other spellings of ours in their URLs.
		"https://c.example/post/":                                    "",
		"https://b.example:8443/post/":                               "",
		"https://b.example.evil.example/":                            "",
		"https://evil.example/?u=https://b.example/post/":            "",
		"https://b.example@evil.example/post/":                       "",
		"https://evil@b.example/post/":                               "",
		"ftp://b.example/post/":                                      "",
		"/post/":                                                     "",
		"https://b.example\x00.evil.example/":                        "",
		"https:b.example/" + strings.Repeat("x", 3) + "://[::1/post": "missing",
	} {
		p := sites.Lookup(url)
		got := p.Path
		switch {
		case !p.Served:
			got = ""
		case !p.Exists:
			got = "missing"
			if !p.Complete {
				t.Errorf("%s: not certain", url)
			}
		case !p.Accepts:
			got = closed
		}
		if got != want {
			t.Errorf("%s: %q (%+v), want %q", url, got, p, want)
		}
		if want == "post/index.html" && p.URL != post {
			t.Errorf("%s: URL %q", url, p.URL)
		}
	}
}

// TestSeveralSites: several hosts, several sites on one host, and a gateway
// (PB-5, PB-64).
func TestSeveralSites(t *testing.T) {
	var sites incoming.Sites
	gateway := testkit.Must(incoming.Gateway("https://shop.example/cat", incoming.ManifestOptions{Closed: []string{"admin/**"}}))(t)
	rooted := site.Options{Roots: []site.Root{{Dir: "de", URL: "https://de.example/"}, {Dir: "fr", URL: "https://fr.example/x/"}}}
	sites.Set(
		manifest(t, map[string]string{"index.html": "a", "p.html": "a"}, based("https://b.example/")),
		manifest(t, map[string]string{"index.html": "b", "q.html": "b"}, based("https://b.example/docs/")),
		manifest(t, map[string]string{"de/index.html": "d", "fr/p.html": "f"}, rooted),
		gateway,
	)
	for url, want := range map[string]string{
		"https://b.example/p.html":        "https://b.example/p.html",
		"https://b.example/docs/q.html":   "https://b.example/docs/q.html",
		"https://b.example/docs":          "https://b.example/docs/",
		"https://b.example/docs/p.html":   "",
		"https://b.example/docsx":         "",
		"https://de.example/":             "https://de.example/",
		"https://fr.example/x/p.html":     "https://fr.example/x/p.html",
		"https://fr.example/x/index.html": "",
		"https://shop.example/cat/42":     "https://shop.example/cat/42",
		"https://shop.example/other":      "",
	} {
		if p := sites.Lookup(url); p.URL != want || p.Exists != (want != "") {
			t.Errorf("%s: %+v, want %q", url, p, want)
		}
	}
	if p := sites.Lookup("https://shop.example/cat/42"); p.Complete || !p.Accepts {
		t.Errorf("gateway: %+v", p)
	}
	if p := sites.Lookup("https://shop.example/cat/admin/x"); p.Accepts {
		t.Errorf("closed at a gateway: %+v", p)
	}
	for _, base := range []string{"ftp://a.example/", "https://u@a.example/", "https://a.example/?x", "x"} {
		if _, err := incoming.Gateway(base, incoming.ManifestOptions{}); err == nil {
			t.Errorf("gateway %q: no error", base)
		}
	}
	if _, err := incoming.Gateway("https://a.example/", incoming.ManifestOptions{Closed: []string{"[a"}}); err == nil || !strings.Contains(err.Error(), `"[a"`) {
		t.Errorf("pattern: %v", err)
	}
}

// TestNoBase: a docroot without an address has no notices.
func TestNoBase(t *testing.T) {
	root := t.TempDir()
	testkit.Check(t, os.WriteFile(filepath.Join(root, "index.html"), nil, 0o644))
	s := testkit.Must(site.Load(t.Context(), root, site.Options{}))(t)
	if _, err := incoming.ReadManifest(context.Background(), s, incoming.ManifestOptions{}); !errors.Is(err, incoming.ErrNoBase) {
		t.Errorf("%v", err)
	}
}

// TestLinks: what our pages link to, for UNLINKR and LINKMOD (LK-32, LK-34, LK-21).
func TestLinks(t *testing.T) {
	var sites incoming.Sites
	sites.Set(manifest(t, map[string]string{
		"index.html":     `<a href="https://A.example:443/%7Ex?b#frag">x</a><img src="//c.example/pic.png"><a href="/post/">y</a><a href="mailto:x@a.example">z</a>`,
		"post/index.htm": "",
		"post/index.html": `<a href="https://d.example/">x</a><template><a href="https://t.example/">y</a></template>
			<a href="https://b.example/other-site/">z</a>`,
		"moved/index.html": `<meta http-equiv="refresh" content="0; url=/post/">`,
	}, based("https://b.example/")))
	for _, c := range []struct {
		source, target string
		want           bool
	}{
		{"https://b.example/", "https://a.example/~x?b", true},
		{"http://B.example/index.html", "https://a.example/~x?b#other", true},
		{"https://b.example/", "https://a.example/~x", false},
		{"https://b.example/", "https://c.example/pic.png", true},
		{"https://b.example/", "http://c.example/pic.png", true}, // without a scheme
		{"https://b.example/", "http://a.example/~x?b", false},
		{"https://b.example/", "https://d.example/", false},
		{"https://b.example/post/", "https://d.example", true},
		{"https://b.example/post/", "https://t.example/", false},
		{"https://b.example/", "https://b.example/post/", true},
		{"https://b.example/", "https://b.example/post/index.html#x", true},
		{"https://b.example/post/", "https://b.example/", false},
		{"https://b.example/none", "https://a.example/~x?b", false},
		{"https://c.example/", "https://a.example/~x?b", false},
		{"https://b.example/", "not a URL", false},
	} {
		if got := sites.Links(c.source, c.target); got != c.want {
			t.Errorf("%s to %s: %v", c.source, c.target, got)
		}
	}
}

// TestSetIsAtomic: while sites are replaced, each answer is from one of them.
func TestSetIsAtomic(t *testing.T) {
	var sites incoming.Sites
	with := manifest(t, map[string]string{"index.html": "", "a.html": ""}, based("https://b.example/"))
	without := manifest(t, map[string]string{"index.html": "", "b.html": ""}, based("https://b.example/"))
	sites.Set(with)
	var done sync.WaitGroup
	stop := make(chan struct{})
	done.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				sites.Set([]*incoming.Manifest{with, without}[i%2])
			}
		}
	})
	for range 2000 {
		if p := sites.Lookup("https://b.example/a.html"); !p.Served || !p.Complete {
			t.Errorf("%+v", p)
		}
	}
	close(stop)
	done.Wait()
}

// largeSite returns the manifest of a site with many pages.
func largeSite(t testing.TB, pages int) *incoming.Manifest {
	files := map[string]string{"index.html": "x"}
	for i := range pages {
		var links strings.Builder
		for k := range 30 {
			fmt.Fprintf(&links, `<a href="/post/%d/">x</a>`, (i*31+k*k)%pages)
		}
		for k := range 10 {
			fmt.Fprintf(&links, `<a href="https://other%d.example/%d">x</a>`, k, i)
		}
		files[fmt.Sprintf("post/%d/index.html", i)] = links.String()
	}
	return manifest(t, files, based("https://b.example/"))
}

// TestLargeSite: a large site needs little memory, and look-ups cost microseconds.
// 10,000 pages with 400,000 links were measured with 3,386 KiB and 1.6 µs; the
// limits are many times that.
func TestLargeSite(t *testing.T) {
	pages := testkit.Longer(100, 2000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m := largeSite(t, pages)
	runtime.GC()
	runtime.ReadMemStats(&after)
	var sites incoming.Sites
	sites.Set(m)
	used := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 10
	best := time.Hour
	for range 20 {
		begin := time.Now()
		for i := range 1000 {
			if p := sites.Lookup(fmt.Sprintf("https://b.example/post/%d/", i%pages)); !p.Accepts {
				t.Fatalf("%d: %+v", i, p)
			}
		}
		best = min(best, time.Since(begin)/1000)
	}
	t.Logf("%d KiB for %d pages; %s a look-up", used, pages, best)
	if used > 12<<10 || best > 100*time.Microsecond {
		t.Errorf("%d KiB, %s a look-up", used, best)
	}
	if !sites.Links("https://b.example/post/77/", "https://other3.example/77") || sites.Links("https://b.example/post/77/", "https://other3.example/78") {
		t.Error("wrong links")
	}
}
