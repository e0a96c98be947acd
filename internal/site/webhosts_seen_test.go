package site

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestWebHostsSeen: what the hosts themselves answered to others. These are
// the observations of https://github.com/slorber/trailing-slash-guide, made on
// deployments of one docroot; "=" is 200 at the address itself, "-" is 404,
// anything else the address at which redirects end with 200.
func TestWebHostsSeen(t *testing.T) {
	root := tempDocroot(t, files{"index.html": plain, "file.html": plain, "folder/index.html": plain, "both.html": plain, "both/index.html": plain})
	requests := []string{"/file", "/file/", "/file.html", "/folder", "/folder/", "/folder/index.html", "/both", "/both/", "/both.html", "/both/index.html"}
	tests := []struct {
		name    string
		profile Profile
		want    string
	}{
		{"github_pages", builtin("github-pages")(), "= - = /folder/ = = = = = ="},
		{"netlify_pretty_urls", builtin("netlify")(), "= /file = /folder/ = = = /both = ="},
		{"cloudflare_pages", builtin("cloudflare-pages")(), "= /file /file /folder/ = /folder/ = = /both /both/"},
		{"vercel", builtin("vercel")(), "- - = = = = = = = ="},
		{"vercel_without_slash", builtin("vercel")().WithURLs(false, new(false)), "- - = = /folder = = /both = ="},
		{"vercel_with_slash", builtin("vercel")().WithURLs(false, new(true)), "- - = /folder/ = = /both/ = = ="},
		{"vercel_clean_without_slash", builtin("vercel")().WithURLs(true, new(false)), "= /file /file = /folder /folder = /both /both /both"},
		{"vercel_clean_with_slash", builtin("vercel")().WithURLs(true, new(true)), "/file/ = /file/ /folder/ = /folder/ /both/ = /both/ /both/"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := load(t, root, Options{Profile: test.profile})
			for i, want := range strings.Fields(test.want) {
				got := "-"
				switch r := finally(s, requests[i]); {
				case r.status == 200 && r.location == "":
					got = "="
				case r.status == 200:
					got = r.location
				}
				if got != want {
					t.Errorf("%s: got %s, the host says %s", requests[i], got, want)
				}
			}
		})
	}
}

// TestAnyCase: LL-110 is not for a host that takes names in any letter case;
// the link works there, and somebody should know that it does nowhere else.
func TestAnyCase(t *testing.T) {
	fs := files{"pic.png": "", "Sub/A.html": plain, "Sub/index.html": plain, "a/x.html": plain, "a/X.html": plain}
	table(t, fs, Options{Profile: builtin("netlify")()}, "p.html", []row{
		{"exact", "pic.png", "OK 200 /pic.png = pic.png"},
		{"file", "Pic.PNG", "ServerDependent 200 /Pic.PNG = pic.png"},
		{"directory", "sub/A.html", "ServerDependent 200 /sub/A.html = Sub/A.html"},
		{"directory_redirected", "SUB", "ServerDependent 200 /SUB = Sub/index.html > /SUB/"},
		{"page", "sub/a", "ServerDependent 200 /sub/a = Sub/A.html"},
		{"exact_first", "a/X.html", "OK 200 /a/X.html = a/X.html"},
		{"missing", "Pic.gif", "MissingFile 404 /Pic.gif"},
	})
}

// TestWebHostsFast: on the docroot of path edge cases the fast path of every
// profile says what the slow path says.
func TestWebHostsFast(t *testing.T) {
	profiles := Profiles()
	for _, name := range []string{"vercel", "firebase"} {
		for _, slash := range []*bool{nil, new(true), new(false)} {
			p := builtin(name)().WithURLs(true, slash)
			p.Name += "-clean"
			profiles = append(profiles, p)
		}
	}
	table := readHostTable(t, "cloudflare-pages.txt")
	root := hostDocroot(t, "")
	for _, p := range profiles {
		rnd := rand.New(rand.NewPCG(3, 3))
		for _, page := range []string{"page.html", "dir/inner.html"} {
			site := fastSite{name: p.Name, s: load(t, root, Options{Profile: p}), page: page}
			r := site.resolver(t)
			for _, row := range table.rows {
				href := row.request
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
