package site

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

// fastSite is a site with every construct in its docroot that the fast path
// must handle or leave to the slow path.
type fastSite struct {
	name string
	s    *Site
	page string
	base string // <base href> of the page, "" for none
}

func fastSites(t testing.TB) []fastSite {
	root := testkit.Varied(t)
	var out []fastSite
	add := func(name string, opt Options, page, base string) {
		out = append(out, fastSite{name, load(t, root, opt), page, base})
	}
	add("root", Options{}, "p.html", "")
	add("deep", Options{}, "a/b/p.html", "")
	for _, p := range host.Profiles() {
		if p.Name != host.Generic.Name {
			add(p.Name, Options{Profile: p}, "a/b/p.html", "")
		}
	}
	add("listing", Options{Autoindex: host.AutoindexList}, "p.html", "")
	add("host", Options{BaseURLs: []string{"https://example.org/"}}, "a/b.html", "")
	add("path", Options{BaseURLs: []string{"https://example.org/a/", "http://h.example:8080/"}}, "a/b.html", "")
	roots := []host.Root{{Dir: "a", Base: "https://a.example/"}, {Dir: "noidx", Base: "https://n.example/sub/"}, {Dir: "idxdir", Base: "https://i.example/"}, {Dir: "lnk", Base: "https://l.example/"}}
	for _, page := range []string{"a/b.html", "a/index.html", "a/b/p.html", "p.html", "idxdir/index.html/index.html"} {
		add("rooted_"+page, Options{Roots: roots}, page, "")
	}
	add("rooted_at_path", Options{Roots: []host.Root{{Dir: "a", Base: "https://a.example/sub/"}}}, "a/b/p.html", "")
	pages, _ := host.ProfileByName("github-pages")
	add("rooted_all", Options{Roots: []host.Root{{Dir: "", Base: "https://a.example/"}, {Dir: "a", Base: "https://b.example/"}}, Profile: pages}, "a/b.html", "")
	add("rooted_one_host", Options{Roots: []host.Root{{Dir: "", Base: "https://a.example/"}, {Dir: "a/b", Base: "https://a.example/a/"}}}, "p.html", "")
	add("rooted_base", Options{Roots: roots}, "a/b.html", "https://a.example/b/c.html")
	add("rooted_other_base", Options{Roots: roots}, "a/b.html", "https://n.example/sub/x.txt")
	add("maps", Options{Maps: []host.MapRule{{From: "/a", To: "/noidx"}, {From: "/up"}, {From: "/p.html", To: "/p.html"}}}, "p.html", "")
	add("other_base", Options{}, "p.html", "http://other.example/a/")
	add("own_base", Options{BaseURLs: []string{"https://example.org/"}}, "p.html", "https://example.org/a/b.html")
	add("same_base", Options{}, "a/b.html", "b.html")
	add("mail_base", Options{}, "p.html", "mailto:x@y")
	return out
}

// resolver returns a resolver in the state that it has when a worker opens the
// page.
func (f *fastSite) resolver(t testing.TB) *resolver {
	t.Helper()
	r := &resolver{s: f.s, PathResolver: host.NewPathResolver(f.s.Host), cache: new([cacheSize]cached)}
	page := &scan.Page{}
	if f.base != "" {
		page.Bases = []scan.Base{{Value: []byte(f.base)}}
	}
	r.open(f.s.Page(pageID(t, f.s, f.page)), page)
	return r
}

// neighbour returns a resolver with the same cache for another page of the
// directory, or nil.
func (f *fastSite) neighbour(t testing.TB, r *resolver) *resolver {
	t.Helper()
	if f.base != "" {
		return nil
	}
	for i := range f.s.Pages() {
		p := f.s.Page(PageID(i))
		if p.node != r.Page && f.s.tree.Nodes[p.node].Parent == r.Dir && p.kind == PageHTML {
			next := &resolver{s: f.s, PathResolver: host.NewPathResolver(f.s.Host), cache: r.cache}
			next.open(p, &scan.Page{})
			return next
		}
	}
	return nil
}

// compareFast describes how the fast path differs from the slow one for v. It
// returns "" if they agree or the fast path leaves v to the slow one. It tests
// the cache in front of the fast path as well. took reports whether the fast
// path decided.
func compareFast(r *resolver, v string) (diff string, took bool) {
	slow := r.resolveURL([]byte(v), false)
	defer r.remember([]byte(v), slow.State, slow.Node) // the next calls find it in the cache
	if target, ok := r.plainTarget([]byte(v)); ok && slow.State <= host.StateRedirect {
		want := slow.Target
		if slow.Fragment != "" {
			want += "#" + slow.Fragment
		}
		if target != want {
			return fmt.Sprintf("plainTarget says %q, slow %q", target, want), true
		}
	}
	for _, try := range []struct {
		name string
		f    func([]byte) (host.State, docroot.NodeID, []byte, bool)
	}{{"fast", r.ResolvePath}, {"recall", r.resolveCached}, {"recall again", r.resolveCached}} {
		state, node, frag, ok := try.f([]byte(v))
		if !ok {
			continue
		}
		took = true
		switch {
		case state != slow.State:
			return fmt.Sprintf("%s says state %d, slow %d (%s)", try.name, state, slow.State, slow.Target), true
		case state.Answers() && node != slow.Node:
			return fmt.Sprintf("%s says node %d, slow %d (%s)", try.name, node, slow.Node, slow.Target), true
		case !state.Answers() && node != docroot.NoNode && node != slow.Node:
			return fmt.Sprintf("%s names node %d for state %d", try.name, node, state), true
		case state.Answers() && len(frag) > 0 || state.Answers() && slow.Fragment != "":
			a, asksA := r.s.hash.fragment(frag)
			b, asksB := r.s.hash.fragment([]byte(slow.Fragment))
			if !bytes.Equal(frag, []byte(slow.Fragment)) || a != b || asksA != asksB {
				return fmt.Sprintf("%s says fragment %q, slow %q", try.name, frag, slow.Fragment), true
			}
		}
	}
	return "", took
}

// pathHref makes links that mostly lead to a file, which the fast path is made
// for.
func pathHref(rnd *rand.Rand, s *Site) string {
	t := s.Tree()
	p := t.Path(docroot.NodeID(rnd.IntN(t.Len())))
	switch rnd.IntN(5) {
	case 0:
		p = "/" + p
	case 1:
		p = "../" + p
	case 2:
		p = "../../" + p
	case 3:
		p = "./a/../" + p
	}
	switch rnd.IntN(8) {
	case 0:
		p += "/"
	case 1:
		p += "/.."
	case 2:
		p += "?" + testkit.HrefPieces[rnd.IntN(len(testkit.HrefPieces))]
	}
	if rnd.IntN(3) == 0 {
		p += "#" + testkit.HrefPieces[rnd.IntN(len(testkit.HrefPieces))]
	}
	return p
}

// TestFastEqualsSlow: whenever the fast path decides, its answer is that of the
// slow path, which follows the URL Standard and the profile.
func TestFastEqualsSlow(t *testing.T) {
	n := testkit.Longer(1500, 30000)
	for _, site := range fastSites(t) {
		t.Run(site.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, uint64(len(site.name))))
			r := site.resolver(t)
			took, bad := 0, map[string]bool{}
			for i := range n {
				v := testkit.Href(rnd)
				if i%2 == 0 {
					v = pathHref(rnd, site.s)
				}
				diff, ok := compareFast(r, v)
				if ok {
					took++
				}
				if diff != "" && len(bad) < 8 && !bad[diff] {
					bad[diff] = true
					t.Errorf("%q: %s", v, diff)
				}
			}
			if plain := r.PlainBase; plain && took < n/50 {
				t.Errorf("the fast path decided %d of %d links: too few to prove anything", took, n)
			}
		})
	}
}

// TestFastShort tests every link of up to three pieces of a small alphabet.
func TestFastShort(t *testing.T) {
	pieces := []string{"", "a", "a.html", "noidx", "lnk", "..", ".", "/", "?", "#", "%2e", "\\", " ", ":", "http:", "//"}
	for _, site := range fastSites(t)[:4] {
		r := site.resolver(t)
		for _, a := range pieces {
			for _, b := range pieces {
				for _, c := range pieces {
					for _, d := range []string{"", "/", "#x", "?y"} {
						if diff, _ := compareFast(r, a+b+c+d); diff != "" {
							t.Errorf("%s: %q: %s", site.name, a+b+c+d, diff)
						}
					}
				}
			}
		}
	}
}

// TestRecordsEqualDetails compares the records that the workers made of all
// pages with the answers of the slow path when the pages are read again.
func TestRecordsEqualDetails(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	fs := files{}
	dirs := []string{"", "a/", "a/b/", "c/", "c/d/e/"}
	for _, d := range dirs {
		fs[d+"index.html"], fs[d+"x.txt"] = "", ""
	}
	names := []string{}
	for i := range 120 {
		names = append(names, fmt.Sprintf("%spage%d.html", dirs[i%len(dirs)], i))
	}
	for _, name := range names {
		var b strings.Builder
		b.WriteString("<!doctype html><h1 id=top-1>")
		if rnd.IntN(6) == 0 {
			b.WriteString("<base href=/" + dirs[rnd.IntN(len(dirs))] + ">")
		}
		for range 30 {
			target := names[rnd.IntN(len(names))]
			switch rnd.IntN(6) {
			case 0:
				target = "/" + target
			case 1:
				target = "../" + target
			case 2:
				target = "#top-1"
			case 3:
				target = dirs[rnd.IntN(len(dirs))] + "?q#top-1"
			case 4:
				target = "https://example.org/" + target
			}
			b.WriteString(`<a href="` + target + `">x</a>`)
		}
		fs[name] = b.String()
	}
	root := tempDocroot(t, fs)
	for _, opt := range []Options{{}, {Profile: host.Linklint, Base: host.BaseDocumentOrder}, {BaseURLs: []string{"https://example.org/"}}, {BaseURLs: []string{"https://example.org/a"}}, {Maps: []host.MapRule{{From: "/a", To: "/c"}}}} {
		s := load(t, root, opt)
		for _, name := range names {
			records := s.Page(pageID(t, s, name)).All()
			for i, d := range details(t, s, name) {
				rec := &records[i]
				if s.State(rec) != d.State || d.State.Answers() && rec.Node != d.Node {
					t.Fatalf("%s, link %d, %q: record %s %d, detail %s %d", name, i, d.Raw, stateName(t, s.State(rec)), rec.Node, stateName(t, d.State), d.Node)
				}
			}
		}
	}
}

// FuzzResolve: the fast path decides like the slow one, the file that answers
// is in the docroot, and the target of a link gets the same answer when it is
// requested by itself.
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
		// Another page of the directory gets the same answer from the cache.
		if next := site.neighbour(t, r); next != nil {
			if diff, _ := compareFast(next, v); diff != "" {
				t.Errorf("%s: %q, from the next page: %s", site.name, v, diff)
			}
		}
		res := r.resolveURL([]byte(v), false)
		if res.State.Answers() != (res.Node != docroot.NoNode) && !res.State.IsMeant() && res.State != host.StateUnreadable && res.State != host.StateHomePage {
			t.Errorf("%s: %q: state %d with node %d", site.name, v, res.State, res.Node)
		}
		if res.Node != docroot.NoNode && int(res.Node) >= site.s.Tree().Len() {
			t.Fatalf("%s: %q: node %d of %d", site.name, v, res.Node, site.s.Tree().Len())
		}
		if res.State.IsError() && res.State != host.StateBadURL && res.Target == "" {
			t.Errorf("%s: %q: state %d without target", site.name, v, res.State)
		}
		// A site path that is requested by itself gets the same answer, without
		// the warnings about the way the link was written.
		if strings.HasPrefix(res.Target, "/") && !strings.HasPrefix(res.Target, "//") && site.base == "" {
			again := r.resolveURL([]byte(res.Target), false)
			if site.s.Rooted() { // on these sites it is a path in the docroot
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
