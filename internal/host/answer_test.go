package host

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/weburl"
)

func TestMain(m *testing.M) {
	testkit.InMemory()
	m.Run()
}

// TestAnswer answers decoded paths with all kinds of characters.
func TestAnswer(t *testing.T) {
	s := loadHost(t, testkit.MakeDocroot(t, testkit.Files{"index.html": page, "a b%20#?.html": page, "ä/index.html": page}), Options{})
	for path, want := range map[string]State{
		"/": StateOK, "/a b%20#?.html": StateOK, "/ä/": StateOK, "/ä": StateRedirect, "/a": StateMissingFile, "/a/": StateMissingDirectory,
	} {
		if a := s.Answer(path); a.State != want {
			t.Errorf("%s: got state %d, want %d", path, a.State, want)
		}
	}
}

// TestQuick compares the quick way to resolve a link with Resolve, on random pages.
// testdata/quick.txt has how many of 4,000 links it resolves: a smaller number makes
// checks slower.
func TestQuick(t *testing.T) {
	root := testkit.Varied(t)
	rooted := []Root{{"a", "https://a.example/"}, {"noidx", "https://n.example/sub/"}, {"lnk", "https://l.example/"}}
	options := []Options{{}, {Autoindex: AutoindexList}, {BaseURLs: []string{"https://example.org/"}}, {BaseURLs: []string{"https://example.org/a/", "http://h.example:8080/"}},
		{Roots: rooted}, {Roots: []Root{{"", "https://a.example/"}, {"a/b", "https://a.example/a/"}}}, {Maps: []MapRule{{"/a", "/noidx"}, {From: "/up"}}},
		{Profile: builtin("netlify")(), Rules: []*redirect.File{redirect.Netlify("_redirects", []byte("/a/b/* /p.html 301!\n/noidx/ /p.html 301!\n/p /a.html 301!\n"))}}}
	for _, p := range Profiles() {
		options = append(options, Options{Profile: p})
	}
	for _, table := range webHostTables {
		options = append(options, Options{Profile: table.profile()})
	}
	var lines []string
	for i, opt := range options {
		h := loadHost(t, root, opt)
		rnd := rand.New(rand.NewPCG(3, uint64(i)))
		took := 0
		for i := range 4000 {
			id := docroot.NodeID(rnd.IntN(h.tree.Len()))
			if h.tree.Nodes[id].Kind != docroot.KindFile || h.Resolve(must(weburl.Parse(h.PageAddress(id))), nil).State > StateRedirect {
				continue // a link to it has a warning, one to itself has none
			}
			r := quickOn(h, id)
			href := testkit.Href(rnd)
			if i%2 == 0 {
				href = [...]string{"", "/", "../", "../../", "./a/../"}[rnd.IntN(5)] + h.tree.Path(docroot.NodeID(rnd.IntN(h.tree.Len()))) + [...]string{"", "", "/", "/..", "?q", "#f", "?q#f"}[rnd.IntN(7)]
			}
			want, fragment := Resolved{State: StateBadURL, Node: docroot.NoNode}, ""
			if u, err := must(weburl.Parse(h.PageAddress(id))).Resolve(href); err == nil {
				want, fragment = h.Resolve(u, nil), u.Fragment()
				if u.Notes()&(weburl.NoteAboveRoot|weburl.NoteBackslash) != 0 {
					want.State = StateAboveRoot // package site warns
				}
			}
			diff, ok := compareQuick(&r, href, want, fragment)
			if diff != "" {
				t.Fatalf("%d, %s: %s: %s", i, h.profile.Name, h.tree.Path(id), diff)
			}
			if ok {
				took++
			}
		}
		lines = append(lines, fmt.Sprintf("%d %s: %d", i, opt.Profile.Name, took))
	}
	golden(t, "quick.txt", strings.Join(lines, "\n")+"\n")
}

// A walk that begins where the last long path led finds what one from the docroot finds.
func TestDeepWalk(t *testing.T) {
	deep := strings.Repeat("/d", 150)
	root := testkit.MakeDocroot(t, testkit.Files{deep + "/index.html": page, deep + "/e/f.html": page, strings.Repeat("/d", 64) + "/up.html": page})
	for _, p := range Profiles() {
		h := loadHost(t, root, Options{Profile: p})
		for range 2 { // the first round fills the memory of the second
			for _, end := range []string{"/", "", "/index.html", "/e/f.html", "/e/f", "/e/", "/e", "/gone/a", "/../d/", "//e/", "/..", "/./e/f.html", strings.Repeat("/..", 87) + "/d/up.html",
				strings.Repeat("/..", 86) + "/up.html", "/D/", strings.Repeat("/..", 151)} {
				for _, from := range []string{deep, deep[:2*64], deep[:2*128], "/" + deep, strings.ToUpper(deep)} {
					got, want := h.AnswerRequest(from+end, ""), h.WithTree(h.tree).AnswerRequest(from+end, "")
					if got != want {
						t.Errorf("%s: %s%s: %+v, want %+v", p.Name, from, end, got, want)
					}
				}
			}
		}
		if d := h.deep.Load(); d == nil || d.depth != 128 && d.depth != 64 {
			t.Errorf("%s: no walk is remembered: %+v", p.Name, d)
		}
	}
}
