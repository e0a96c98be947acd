package host

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/testkit"
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

// TestExistence compares what the tree reports to the rule check about a path
// with the profile's answer for it.
func TestExistence(t *testing.T) {
	root := testkit.Varied(t)
	options := []Options{{}, {Autoindex: AutoindexList}, {BaseURLs: []string{"https://example.org/a/", "http://h.example:8080/"}},
		{Roots: []Root{{"a", "https://a.example/"}, {"noidx", "https://n.example/sub/"}, {"lnk", "https://l.example/"}}},
		{Maps: []MapRule{{"/a", "/noidx"}, {From: "/up"}}}}
	for _, p := range Profiles() {
		options = append(options, Options{Profile: p})
	}
	for i, opt := range options {
		t.Run(fmt.Sprint(i, opt.Profile.Name), func(t *testing.T) {
			h := loadHost(t, root, opt)
			rnd := rand.New(rand.NewPCG(3, uint64(i)))
			exists := (&loader{h}).existence()
			there, bad := 0, 0
			for i := range 20000 {
				path := "/" + h.Tree().Path(docroot.NodeID(rnd.IntN(h.Tree().Len())))
				switch {
				case i%3 == 0:
					path = "/" + testkit.Href(rnd)
				case i%7 == 0:
					path += "/"
				case i%5 == 0:
					path += "/none/x.html"
				case i%13 == 0:
					path = "/none" + path
				case i%11 == 0:
					path = path[:rnd.IntN(len(path))+1]
				}
				got, want := exists(path), (&loader{h}).filesAnswer(path)
				if got {
					there++
				}
				if got != want && bad < 8 {
					bad++
					t.Errorf("%q: %t, want %t", path, got, want)
				}
			}
			if there < 2000 {
				t.Errorf("only %d paths exist: the test proves too little", there)
			}
		})
	}
}
