package site

import (
	"cmp"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/testkit"
)

// serverTables are the answers that TestServerAnswers of cmd/sitelink recorded.
var serverTables = map[string]host.Autoindex{"plain": host.AutoindexError, "listing": host.AutoindexList}

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
		for _, profile := range append(slices.Clone(table.Servers), host.Generic.Name) {
			t.Run(profile+"/"+name, func(t *testing.T) {
				server := profile
				if server == host.Generic.Name {
					server = "nginx"
				}
				answers := table.Of(server)
				p, ok := host.ProfileByName(profile)
				if !ok {
					t.Fatalf("no profile %s", profile)
				}
				s, err := Load(t.Context(), docroot, Options{Profile: p, Autoindex: autoindex})
				testkit.Check(t, err)
				all := details(t, s, testkit.HostPage)
				records := s.Page(pageID(t, s, testkit.HostPage)).All()
				if len(all) != len(cases) {
					t.Fatalf("%d links on the page, want %d", len(all), len(cases))
				}
				differ := 0
				for i, c := range cases {
					key := testkit.HostKey(c.Target)
					want, ok := answers[key]
					if !ok {
						t.Fatalf("%s was never requested", key)
					}
					d := &all[i]
					got := testkit.HostAnswer{Status: d.Status, Final: testkit.HostKey(cmp.Or(d.Final, d.Target))}
					if d.Target != c.Target || !testkit.HostAgrees(server, c.Target, got, want) {
						differ++
						t.Errorf("%s: got %d %s, but %s answered %v", key, got.Status, got.Final, server, want)
					}
					if d.State.IsError() != (d.Status < 200 || d.Status >= 300) && d.State != host.StatePrivate {
						t.Errorf("%s: state %s with status %d", key, stateName(t, d.State), d.Status)
					}
					if state := s.State(&records[i]); state != d.State {
						t.Errorf("%s: the record has %s, but the detail has %s", key, stateName(t, state), stateName(t, d.State))
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
	page := []byte("<!doctype html><meta charset=utf-8><title>links</title>\n")
	for _, c := range testkit.HostCases() {
		page = fmt.Appendf(page, "<a href=\"%s\">x</a>\n", html.EscapeString(c.Href))
	}
	testkit.Check(t, os.WriteFile(filepath.Join(docroot, testkit.HostPage), page, 0o644))
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
	all := details(t, s, testkit.HostPage)
	fine := 0
	for i, c := range testkit.HostCases() {
		d, key := &all[i], testkit.HostKey(c.Target)
		if d.State.IsError() || d.State.IsWarning() {
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
