package site

import (
	"testing"

	"github.com/sitelink/sitelink/internal/host"
)

// TestRoots: languages with hosts of their own (Hugo's multihost) are roots of
// one docroot; links from one host to another are internal.
func TestRoots(t *testing.T) {
	fs := files{
		"en/index.html":     "en",
		"en/x/index.html":   "x",
		"en/a.css":          "",
		"fr/index.html":     "fr",
		"fr/x/index.html":   "x",
		"fr/seul.html":      "seul",
		"frx/index.html":    "none of fr's",
		"index.html":        "no root",
		"en/deep/base.html": `<base href="https://fr.example/sub/">`,
	}
	cases := []struct {
		page, link string
		state      host.State
		target     string
	}{
		{"en/x/index.html", "/x/", host.StateOK, "/en/x/"},
		{"en/x/index.html", "../a.css", host.StateOK, "/en/a.css"},
		{"en/x/index.html", "../../a.css", host.StateAboveRoot, "/en/a.css"},
		{"en/x/index.html", "/en/x/", host.StateMissingDirectory, "/en/en/x/"},
		{"en/x/index.html", "", host.StateOK, "/en/x/index.html"},
		{"en/x/index.html", "http://fr.example:8080/sub/seul.html", host.StateOK, "/fr/seul.html"},
		{"en/x/index.html", "//fr.example:8080/sub/none.html", host.StateMissingFile, "/fr/none.html"},
		{"en/x/index.html", "http://fr.example:8080/sub/x", host.StateRedirect, "/fr/x"},
		{"en/x/index.html", "http://fr.example:8080/sub", host.StateRedirect, "/fr"},
		{"en/x/index.html", "http://fr.example:8080/seul.html", host.StateOutsideBase, "/seul.html"},
		{"en/x/index.html", "http://fr.example/sub/seul.html", host.StateExternal, "http://fr.example/sub/seul.html"},
		{"en/x/index.html", "https://en.example", host.StateOK, "/en/"},
		{"fr/x/index.html", "/sub/seul.html", host.StateOK, "/fr/seul.html"},
		{"fr/x/index.html", "../seul.html", host.StateOK, "/fr/seul.html"},
		{"fr/x/index.html", "/x/", host.StateOutsideBase, "/x/"},
		{"fr/x/index.html", "https://en.example/a.css", host.StateOK, "/en/a.css"},
		{"en/deep/base.html", "seul.html", host.StateExternal, "https://fr.example/sub/seul.html"},
		{"index.html", "en/x/", host.StateOK, "/en/x/"},
		{"frx/index.html", "/frx/", host.StateOK, "/frx/"},
	}
	for _, tc := range cases {
		fs[tc.page] += `<a href="` + tc.link + `">`
	}
	root := tempDocroot(t, fs)
	s := load(t, root, Options{Roots: []host.Root{{Dir: "en", Base: "https://en.example/"}, {Dir: "/fr/", Base: "http://fr.example:8080/sub/"}}})
	seen := map[string]int{}
	for _, tc := range cases {
		d := details(t, s, tc.page)[seen[tc.page]]
		if seen[tc.page]++; d.State != tc.state || d.Target != tc.target {
			t.Errorf("%s on %s: %s, target %s; want %s, %s", tc.link, tc.page, stateName(t, d.State), d.Target, stateName(t, tc.state), tc.target)
		}
	}
	for path, want := range map[string]string{"/en/x/": "https://en.example/x/", "/fr": "http://fr.example:8080/sub", "/frx/": "/frx/"} {
		if origin, on := s.Public(path); origin+on != want {
			t.Errorf("%s is published as %s, want %s", path, origin+on, want)
		}
	}
	if !s.Published() || s.BasePath() != "" || s.BaseURL() != "" {
		t.Error("a rooted site has addresses, but no single one")
	}
	if res, err := s.Request("/fr/seul.html"); err != nil || res.State != host.StateOK {
		t.Errorf("a path in the docroot: %+v, %v", res, err)
	}
	if _, err := Load(t.Context(), root, Options{Roots: []host.Root{{Dir: "en", Base: "ftp://en.example/"}}}); err == nil {
		t.Error("a root at ftp: no error")
	}
}

// TestBasePathAlone: a base path is known where the host is not.
func TestBasePathAlone(t *testing.T) {
	s := loadFiles(t, files{"index.html": `<a href="/sub/a/"><a href="/a/"><a href="a/">`, "a/index.html": ""}, Options{BasePath: "/sub/"})
	for i, want := range []host.State{host.StateOK, host.StateOutsideBase, host.StateOK} {
		if d := details(t, s, "index.html")[i]; d.State != want {
			t.Errorf("%s: %s, want %s", d.Raw, stateName(t, d.State), stateName(t, want))
		}
	}
	if s.Published() || s.Authority() != "" || s.BaseURL() != "" {
		t.Errorf("no host is known, got %q, %q", s.Authority(), s.BaseURL())
	}
}
