//go:build integration && linux

package main_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCrawlServers: on real documentation, a check of the running server judges each link as a
// check of the docroot with the server's profile, on the pages that links lead to.
func TestCrawlServers(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("SITELINK_CORPORA")
	if dir == "" {
		t.Skip("SITELINK_CORPORA is not set: it names a directory that holds python3.11-doc/ as unpacked by dpkg -x")
	}
	for _, c := range corpora[:2] {
		docroot := filepath.Join(dir, c.pkg, filepath.FromSlash(c.docroot))
		for _, software := range servers {
			t.Run(c.pkg+"/"+software.profile, func(t *testing.T) {
				server := software.start(t, site{docroot: docroot, types: true})
				pages := map[string]bool{}
				var want, got []row
				eachLink(t, "http://"+server.addr+"/", nil, func(r *row) {
					pages[r.Page] = true
					got = append(got, *r)
				})
				eachLink(t, docroot, []string{"--profile", software.profile}, func(r *row) {
					if pages[r.Page] {
						want = append(want, *r)
					}
				})
				for i := range min(len(got), len(want)) {
					a, b := got[i], want[i]
					if b.Code == "broken-symlink" { // servers answer as if it were missing, or unreadable
						a.Code, a.Status = b.Code, b.Status
					}
					if a.Raw == "" || a.Raw[0] == '#' { // /a/ is its own address, not /a/index.html
						a.Target = b.Target
					}
					if a != b {
						t.Fatalf("the server gives %+v, the docroot %+v", a, b)
					}
				}
				if len(got) != len(want) || len(got) < 20_000 || len(pages) < 500 {
					t.Errorf("%d links on the server, %d in the docroot, %d pages", len(got), len(want), len(pages))
				}
			})
		}
	}
}
