package check

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/testkit"

	isite "github.com/sitelink/sitelink/internal/site"
)

// oracle walks a site by the addresses in the rows of all its links. It is a
// direct implementation of LL-17 and LL-20, with A-LL-1, and reads every page.
// It returns the pages judged, sorted.
func oracle(t *testing.T, s *isite.Site, from, skip []string) []string {
	t.Helper()
	all, _ := rows(t, s, Options{})
	edges := map[string][]string{} // the addresses that a page links to
	file := map[string]string{}    // the page that answers an address
	for _, f := range all {
		if f.Status != 200 || !strings.HasPrefix(f.Target, "/") {
			continue
		}
		addr, _, _ := strings.Cut(cmp.Or(f.Final, f.Target), "?")
		edges[f.Page] = append(edges[f.Page], addr)
		file[addr] = cmp.Or(f.File, strings.TrimPrefix(addr, "/"))
	}
	in := func(sets []string, addr string) bool {
		return slices.ContainsFunc(sets, func(text string) bool { return linkset(t, text).Match(addr) })
	}
	judged, followed := map[string]bool{}, map[string]bool{}
	var visit func(addr string, isSeed bool)
	visit = func(addr string, isSeed bool) {
		name := file[addr]
		if !strings.HasSuffix(name, ".html") {
			return
		}
		taken := in(from, addr) && !in(skip, addr)
		if !taken && !(isSeed && strings.HasSuffix(addr, "/") && !in(skip, addr)) {
			return
		}
		judged[name] = judged[name] || taken
		if !followed[name] {
			followed[name] = true
			for _, next := range edges[name] {
				visit(next, false)
			}
		}
	}
	for _, text := range from {
		seed := linkset(t, text).Seed()
		a := s.Answer(seed)
		if !a.State.Answers() || a.Node == docroot.NoNode {
			continue
		}
		addr := cmp.Or(a.Final, seed)
		file[addr] = s.Tree().Path(a.Node)
		visit(addr, true)
	}
	var out []string
	for name, yes := range judged {
		if yes {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// TestWalkAgainstOracle: for random sites and linksets, the walk over records
// judges the same pages as a walk over all rows (LL-9, LL-17, LL-20).
func TestWalkAgainstOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 109))
	names := []string{"index.html", "a.html", "b/index.html", "b/a.html", "b/c/index.html", "b/c/x.html", "d/index.html", "d/b.html", "t.txt"}
	links := []string{"/", "/index.html", "/a.html", "/b/", "/b", "/b/index.html", "/b/a.html#x", "/b/c/", "/b/c", "/b/c/index.html?q", "/b/c/x.html", "/d/", "/d/b.html",
		"/t.txt", "/gone.html", "//h.example/", "mailto:x@y.z"}
	sets := []string{"/@", "/", "/#", "/#/#", "/b/@", "/b/#", "/@.html", "/@index.html", "/@/", "/b/c/x.html", "/d/index.html", "/b", "/x@", "/@c@"}
	judged, sites := 0, testkit.Longer(20, 60)
	for n := range sites {
		fs := files{}
		for _, name := range names {
			var out []string
			for range r.IntN(5) {
				out = append(out, links[r.IntN(len(links))])
			}
			fs[name] = page(out...)
		}
		s := load(t, tempDocroot(t, fs), isite.Options{})
		for range 12 {
			pick := func(k int) (out []string) {
				for range k {
					out = append(out, sets[r.IntN(len(sets))])
				}
				return out
			}
			opt := Options{From: pick(1 + r.IntN(3)), Skip: pick(r.IntN(2))}
			c := testkit.Must(scopeOf(context.Background(), s, opt))(t)
			var got []string
			for i, in := range c.in {
				if in {
					got = append(got, s.Path(isite.PageID(i)))
				}
			}
			slices.Sort(got)
			want := oracle(t, s, opt.From, opt.Skip)
			judged += len(want)
			if !slices.Equal(got, want) {
				t.Fatalf("site %d, from %q, skip %q:\n got %q\nwant %q\n%s", n, opt.From, opt.Skip, got, want, fmt.Sprint(fs))
			}
			left := slices.Clone(c.skipped)
			if slices.ContainsFunc(left, func(p string) bool { return slices.Contains(got, p) }) {
				t.Fatalf("judged %q and skipped %q", got, left)
			}
		}
	}
	if judged < sites*10 {
		t.Errorf("only %d pages were judged on %d sites", judged, sites)
	}
}
