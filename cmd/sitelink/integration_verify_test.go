//go:build integration && linux

package main_test

import (
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/run/live"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestVerifyServers: the profile of a web server predicts all that it answers, and where
// another profile does not, that is said to be the better one.
func TestVerifyServers(t *testing.T) {
	t.Parallel()
	docroot := t.TempDir()
	openToAll(t, docroot)
	for name, text := range map[string]string{
		"index.html": "<title>h</title>", "about/index.html": "<title>a</title>", "blog/index.html": "<title>b</title>",
		"blog/one.html": "<title>1</title>", "blog/two.html": "<title>2</title>", "blog/Three four.html": "<title>3</title>",
		"ü/index.html": "<title>ü</title>", "style.css": "body {}", "empty/file.txt": "x", "404.html": "<title>404</title>",
	} {
		testkit.Write(t, filepath.Join(docroot, name), text)
	}
	client := fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Pace: -1})
	for _, software := range servers {
		t.Run(software.profile, func(t *testing.T) {
			t.Parallel()
			server := software.start(t, site{docroot: docroot, types: true})
			for _, p := range host.Profiles() {
				h, err := host.Load(t.Context(), docroot, host.Options{BaseURLs: []string{"http://" + server.addr + "/"}, Profile: p})
				testkit.Check(t, err)
				seen, err := live.Verify(t.Context(), h, live.Options{Client: client})
				testkit.Check(t, err)
				groups, err := live.Explain(t.Context(), h, seen)
				testkit.Check(t, err)
				switch differs := slices.ContainsFunc(seen, func(o live.Observation) bool { return o.Differs() }); {
				case differs && p.Name == software.profile:
					for _, g := range groups {
						t.Errorf("%s: %s: %s", p.Name, g.Text, g.Differences)
					}
				case differs && groups[0].Key != `profile = "`+software.profile+`"`:
					t.Errorf("%s: %s: %s", p.Name, groups[0].Text, groups[0].Differences)
				case differs && !strings.Contains(groups[0].Text, software.profile):
					t.Errorf("%s: the text does not name %s: %s", p.Name, software.profile, groups[0].Text)
				}
			}
		})
	}
}
