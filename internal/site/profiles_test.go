package site

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestAnyCase: LL-110 does not apply to a host that ignores letter case. The
// link works on that host, but it gets a warning because it would fail on
// others.
func TestAnyCase(t *testing.T) {
	fs := files{"pic.png": "", "Sub/A.html": plain, "Sub/index.html": plain, "a/x.html": plain, "a/X.html": plain}
	table(t, fs, Options{Profile: profile(t, "netlify")}, "p.html", []row{
		{"exact", "pic.png", "OK 200 /pic.png = pic.png"},
		{"file", "Pic.PNG", "ServerDependent 200 /Pic.PNG = pic.png"},
		{"directory", "sub/A.html", "ServerDependent 200 /sub/A.html = Sub/A.html"},
		{"directory_redirected", "SUB", "ServerDependent 200 /SUB = Sub/index.html > /SUB/"},
		{"page", "sub/a", "ServerDependent 200 /sub/a = Sub/A.html"},
		{"exact_first", "a/X.html", "OK 200 /a/X.html = a/X.html"},
		{"missing", "Pic.gif", "MissingFile 404 /Pic.gif"},
	})
}

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

// A changed profile counts as another host.
func TestChangedProfile(t *testing.T) {
	p, _ := host.ProfileByName("nginx")
	for key, value := range map[string]string{"page": "serve", "page-file": "redirect", "deny": "secret*", "denied": "404", "slashes": "redirect"} {
		testkit.Check(t, p.Set(key, []string{value}))
	}
	table(t, files{"a/page.html": plain, "secret.html": plain, "index.html": plain}, Options{Profile: p}, "index.html", []row{
		{"page", "/a/page", "OK 200 /a/page = a/page.html"},
		{"page-file", "/a/page.html", "Redirect 200 /a/page.html = a/page.html > /a/page"},
		{"page-slash", "/a/page/", "MissingDirectory 404 /a/page/"},
		{"deny", "/secret.html", "Unreadable 404 /secret.html"},
		{"slashes", "/a//page", "Redirect 200 /a//page = a/page.html > /a/page"},
	})
}
