package host

import (
	"fmt"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/weburl"
)

// TestNameAt: the host names that hosts give to sites name their kinds.
func TestNameAt(t *testing.T) {
	for hostname, want := range map[string]string{
		"me.github.io": "github-pages", "a-b.netlify.app": "netlify", "x.pages.dev": "cloudflare-pages", "branch.x.pages.dev": "cloudflare-pages",
		"x.vercel.app": "vercel", "x.web.app": "firebase", "x.firebaseapp.com": "firebase", "happy-sea-0.2.azurestaticapps.net": "azure-static-web-apps",
		"b.s3-website-us-east-1.amazonaws.com": "s3", "b.s3-website.eu-central-1.amazonaws.com": "s3",
		"me.gitlab.io": "gitlab-pages", "me.codeberg.page": "codeberg-pages", "x.readthedocs.io": "readthedocs", "x.workers.dev": "cloudflare-workers",
		"github.io": "", "b.s3.amazonaws.com": "", "github.io.example": "", "example.org": "", "localhost": "", "": "",
	} {
		if got := NameAt("https://" + hostname + "/a/"); got != want {
			t.Errorf("%s: %q, want %q", hostname, got, want)
		}
	}
}

// TestForm: the form that a profile names is the only one that answers without a redirect.
func TestForm(t *testing.T) {
	profiles := Profiles()
	for _, name := range []string{"vercel", "firebase", "azure-static-web-apps"} {
		for _, clean := range []bool{true, false} {
			for _, slash := range []*bool{nil, new(true), new(false)} {
				profiles = append(profiles, builtin(name)().WithURLs(clean, slash))
			}
		}
	}
	root := testkit.MakeDocroot(t, testkit.Files{"index.html": page, "page.html": page, "dir/index.html": page, "404.html": page})
	for i, p := range profiles {
		h := loadHost(t, root, Options{Profile: p})
		for name, forms := range map[string]map[weburl.Form]string{
			"page": {weburl.BareForm: "/page", weburl.SlashForm: "/page/", weburl.FileForm: "/page.html"},
			"dir":  {weburl.BareForm: "/dir", weburl.SlashForm: "/dir/"},
		} {
			want, answers := weburl.Form(""), 0
			for form, path := range forms {
				if got := predict(h, path); got.status == 200 && got.location == "" {
					want = form
					answers++
				}
			}
			if answers != 1 {
				want = ""
			}
			if got := p.Form(name == "dir"); got != want {
				t.Errorf("%d %s: %s is %q, but the host answers at %s", i, p.Name, name, got, fmt.Sprint(answers, " ", want))
			}
		}
	}
}
