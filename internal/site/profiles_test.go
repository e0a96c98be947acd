package site

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestWebHostsFast: for the docroot of path edge cases, the fast and the slow
// path of every profile agree.
func TestWebHostsFast(t *testing.T) {
	profiles := host.Profiles()
	for _, name := range []string{"vercel", "firebase"} {
		for _, slash := range []*bool{nil, new(true), new(false)} {
			p := profile(t, name).WithURLs(true, slash)
			p.Name += "-clean"
			profiles = append(profiles, p)
		}
	}
	const tables = "../host/testdata/hosts/"
	requests := testkit.Lines(t, tables+"cloudflare-pages.txt")
	requests = slices.DeleteFunc(requests, func(line string) bool { return line[0] == '#' })
	root := testkit.FromList(t, tables+"docroot.txt", "")
	for _, p := range profiles {
		rnd := rand.New(rand.NewPCG(3, 3))
		for _, page := range []string{"page.html", "dir/inner.html"} {
			site := fastSite{name: p.Name, s: load(t, root, Options{Profile: p}), page: page}
			r := site.resolver(t)
			for _, line := range requests {
				href, _, _ := strings.Cut(line, " -> ")
				if rnd.IntN(2) == 0 {
					href = strings.TrimPrefix(href, "/")
				}
				if diff, _ := compareFast(r, href); diff != "" {
					t.Errorf("%s: %s: %q: %s", p.Name, page, href, diff)
				}
			}
		}
	}
}

func profile(t testing.TB, name string) host.Profile {
	t.Helper()
	p, ok := host.ProfileByName(name)
	if !ok {
		t.Fatal("no profile " + name)
	}
	return p
}
