package site

import (
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
)

// FuzzResolve: the fast path decides as the slow one, what answers is in the
// docroot, and what a link requests leads to the same answer again.
func FuzzResolve(f *testing.F) {
	sites := fastSites(f)
	seeds := 0
	for i := range sites {
		for _, v := range []string{"", "a.html", "/a/", "../p.html#x", "?q", "#top", "//h.example/x", "http://example.org/a", "a%2fb", "a\\b.html", "./../a//b.html", " a.html ", "mailto:x", "c:d", "%00", "lnk/../p.html"} {
			f.Add(uint8(i), v)
			seeds++
		}
	}
	if seeds < 50 {
		f.Fatalf("%d seeds", seeds)
	}
	f.Fuzz(func(t *testing.T, which uint8, v string) {
		site := &sites[int(which)%len(sites)]
		r := site.resolver(t)
		if diff, _ := compareFast(r, v); diff != "" {
			t.Errorf("%s: %q: %s", site.name, v, diff)
		}
		// Another page of the directory finds the same in the cache.
		if next := site.neighbour(t, r); next != nil {
			if diff, _ := compareFast(next, v); diff != "" {
				t.Errorf("%s: %q, from the next page: %s", site.name, v, diff)
			}
		}
		res := r.slow([]byte(v), false)
		if res.State.Answers() != (res.Node != docroot.NoNode) && res.State != host.StateWrongCase && res.State != host.StateUnreadable {
			t.Errorf("%s: %q: state %d with node %d", site.name, v, res.State, res.Node)
		}
		if res.Node != docroot.NoNode && int(res.Node) >= site.s.Tree().Len() {
			t.Fatalf("%s: %q: node %d of %d", site.name, v, res.Node, site.s.Tree().Len())
		}
		if res.State.IsError() && res.State != host.StateBadURL && res.Target == "" {
			t.Errorf("%s: %q: state %d without target", site.name, v, res.State)
		}
		// A site path, asked for on its own, gets the same answer. Warnings
		// about how it was written are gone.
		if strings.HasPrefix(res.Target, "/") && !strings.HasPrefix(res.Target, "//") && site.base == "" {
			again := r.slow([]byte(res.Target), false)
			if site.s.Rooted() { // there it is a path in the docroot
				if res.State == host.StateOutsideBase {
					return
				}
				again, _ = site.s.Request(res.Target)
			}
			if again.Target != res.Target || again.Node != res.Node || again.Status != res.Status && res.State != host.StateAboveRoot {
				t.Errorf("%s: %q: %+v, but its target %+v", site.name, v, res, again)
			}
		}
	})
}
