package redirect

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestNext(t *testing.T) {
	set := New(Options{}, Netlify("r", []byte("/a /us 302 Country=us\n/a /de 302 Language=de\n/a /b\n")))
	req := Request{Path: "/a", Stage: AfterFiles}
	var got []string
	hit, ok := set.Match(req)
	for ; ok; hit, ok = set.Next(req, hit) {
		got = append(got, hit.To)
	}
	if strings.Join(got, " ") != "/us /de /b" {
		t.Errorf("got %q", got)
	}
	if set.Unjudged() != 2 || set.Len() != 3 || set.Rules()[0].Conditions[0] != "Country=us" {
		t.Errorf("%d of %d rules not judged", set.Unjudged(), set.Len())
	}
}

func TestFilesInOrder(t *testing.T) {
	set := New(Options{}, Netlify("_redirects", []byte("/a /first\n")), NetlifyTOML("netlify.toml", []byte("[[redirects]]\nfrom=\"/a\"\nto=\"/second\"\n")))
	if hit, _ := set.Match(Request{Path: "/a", Stage: AfterFiles}); hit.To != "/first" {
		t.Errorf("got %q, want the rule of the first file", hit.To)
	}
}

// manyRules returns a set of n rules of the usual kinds.
func manyRules(n int) *Set {
	var rules strings.Builder
	for i := range n {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&rules, "/blog/%d/old-title-%d /blog/%d/\n", 2000+i%20, i, i)
		case 1:
			fmt.Fprintf(&rules, "/docs/v%d/* /docs/latest/:splat 302\n", i)
		case 2:
			fmt.Fprintf(&rules, "/user%d/:id/:what /people/:id/:what 301!\n", i)
		case 3:
			fmt.Fprintf(&rules, "/shop/item%d id=:id /item/:id\n", i)
		}
	}
	return New(Options{}, Netlify("_redirects", []byte(rules.String())))
}

func TestNoAllocationWithoutMatch(t *testing.T) {
	set := manyRules(1000)
	for _, path := range []string{"/blog/2001/none", "/docs/none/x/y", "/user2/1/2/3", "/nowhere", "/%C3%BC"} {
		req := Request{Path: path, Query: "a=b", Stage: AfterFiles}
		if n := testing.AllocsPerRun(100, func() {
			if _, ok := set.Match(req); ok || set.MayMatch("/nowhere") {
				t.Fatal("a rule matches")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}

func TestConcurrent(t *testing.T) {
	set := New(Options{}, Vercel("vercel.json", []byte(`{"redirects":[{"source":"/a/:x(\\d+)","destination":"/b/:x"}]}`)))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				if hit, _ := set.Match(Request{Path: "/a/1"}); hit.To != "/b/1" {
					t.Errorf("got %q", hit.To)
				}
			}
		})
	}
	group.Wait()
}

// A pattern of Netlify that is matched segment by segment takes the paths that its regular
// expression takes. 40,000 expressions took 300 MB.
func TestSegments(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(words ...string) (s string) {
		for range 1 + rnd.IntN(4) {
			s += words[rnd.IntN(len(words))]
		}
		return s
	}
	matched := 0
	for range 20_000 {
		source, path := pick("/a", "/:x", "/b.c", "/:y")+pick("", "", "/*", "/"), pick("/a", "/b.c", "/", "/x", "/é", "/a\n")+pick("", "/", "//", "x", "/a")
		p, splat, problem := netlifyPattern(source)
		if problem != "" || p.form != expressed || p.expr != nil {
			continue
		}
		expr := regexp.MustCompile(`:[a-z]+`).ReplaceAllString(regexp.QuoteMeta(strings.TrimSuffix(source, "/")), "([^/]+)") + "/?$"
		if splat {
			expr = strings.Replace(expr, `/\*/?$`, "(?:/(.*))?$", 1)
		}
		want := regexp.MustCompile("^" + expr).FindStringSubmatch(path)
		got, ok := p.matches(path)
		if ok != (want != nil) || ok && !slices.Equal(got, want[1:]) {
			t.Fatalf("%s for %q: %q %t, want %q", source, path, got, ok, want)
		}
		if ok {
			matched++
		}
	}
	if matched < 1000 {
		t.Errorf("%d paths matched", matched)
	}
}
