package host

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/weburl"
)

// serverTables are the answers that TestServerAnswers of cmd/sitelink recorded.
var serverTables = map[string]Autoindex{"plain": AutoindexError, "listing": AutoindexList}

// TestServers: for every path edge case, the profile of each server gives the
// server's answer, and generic gives that of nginx: status, and path after
// redirects.
//
// Among the cases are LL-70 (dot segments), LL-73 (percent escapes are decoded
// once), LL-84 (absent directories) and LL-110 (letter case).
func TestServers(t *testing.T) {
	docroot := pathDocroot(t)
	cases := testkit.HostCases()
	for name, autoindex := range serverTables {
		text, err := os.ReadFile(filepath.Join("testdata", "servers", name+".txt"))
		testkit.Check(t, err)
		table, err := testkit.ParseHostTable(text)
		testkit.Check(t, err)
		for _, profile := range append(slices.Clone(table.Servers), Generic.Name) {
			t.Run(profile+"/"+name, func(t *testing.T) {
				server := profile
				if server == Generic.Name {
					server = "nginx"
				}
				answers := table.Of(server)
				p, ok := ProfileByName(profile)
				if !ok {
					t.Fatalf("no profile %s", profile)
				}
				s, err := Load(t.Context(), docroot, Options{Profile: p, Autoindex: autoindex})
				testkit.Check(t, err)
				page, _ := s.Lookup(testkit.HostPage)
				quick, base := quickOn(s, page), must(weburl.Parse(s.PageAddress(page)))
				differ := 0
				for _, c := range cases {
					key := testkit.HostKey(c.Target)
					want, ok := answers[key]
					if !ok {
						t.Fatalf("%s was never requested", key)
					}
					if strings.Contains(key, "unreadable") {
						continue // whether a file can be read is known when package site opens it
					}
					u := must(base.Resolve(c.Href))
					d := s.Resolve(u, nil)
					got := testkit.HostAnswer{Status: d.Status, Final: testkit.HostKey(cmp.Or(d.Final, d.Target))}
					if d.Target != c.Target || !testkit.HostAgrees(server, c.Target, got, want) {
						differ++
						t.Errorf("%s: got %d %s, but %s answered %v", key, got.Status, got.Final, server, want)
					}
					if d.State.IsError() != (d.Status < 200 || d.Status >= 300) && d.State != StatePrivate {
						t.Errorf("%s: state %s with status %d", key, stateName(t, d.State), d.Status)
					}
					if diff, _ := compareQuick(&quick, c.Href, d, u.Fragment()); diff != "" {
						t.Error(diff)
					}
				}
				if differ > 0 {
					t.Errorf("%d of %d predictions differ", differ, len(cases))
				}
			})
		}
	}
}

// pathDocroot creates the docroot of path edge cases.
func pathDocroot(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	testkit.Check(t, err)
	docroot, err := testkit.MakeHostRoot(dir)
	testkit.Check(t, err)
	t.Cleanup(func() { testkit.UnlockHostRoot(docroot) }) // else t.TempDir cannot remove it
	testkit.Write(t, filepath.Join(docroot, testkit.HostPage), page)
	return docroot
}

// TestPortable: if generic, which follows nginx, has no warning for a link,
// Apache, Caddy and lighttpd answer it too.
func TestPortable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "servers", "plain.txt"))
	testkit.Check(t, err)
	table, err := testkit.ParseHostTable(text)
	testkit.Check(t, err)
	s, err := Load(t.Context(), pathDocroot(t), Options{})
	testkit.Check(t, err)
	answers := map[string]map[string]testkit.HostAnswer{}
	for _, server := range table.Servers {
		answers[server] = table.Of(server)
	}
	page, _ := s.Lookup(testkit.HostPage)
	base := must(weburl.Parse(s.PageAddress(page)))
	fine := 0
	for _, c := range testkit.HostCases() {
		d, key := s.Resolve(must(base.Resolve(c.Href)), nil), testkit.HostKey(c.Target)
		if d.State.IsError() || d.State.IsWarning() || strings.Contains(key, "unreadable") {
			continue
		}
		fine++
		for _, server := range table.Servers {
			if a := answers[server][key]; a.Status != 200 && !testkit.HostPeculiar(server, c.Target) {
				t.Errorf("%s: no warning, but %s answers %d", key, server, a.Status)
			}
		}
	}
	if fine < 500 {
		t.Errorf("%d links without a warning, want 500 or more", fine)
	}
}
