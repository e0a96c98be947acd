package host

import (
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

const page = "<!doctype html><title>x</title>"

// TestWebHostsSeen compares the profiles with answers of the real hosts that
// others recorded: the observations of
// https://github.com/slorber/trailing-slash-guide, made on deployments of one
// docroot. "=" is 200 at the address itself, "-" is 404, and anything else is
// the address where redirects end with 200.
func TestWebHostsSeen(t *testing.T) {
	root := testkit.MakeDocroot(t, testkit.Files{"index.html": page, "file.html": page, "folder/index.html": page, "both.html": page, "both/index.html": page})
	requests := []string{"/file", "/file/", "/file.html", "/folder", "/folder/", "/folder/index.html", "/both", "/both/", "/both.html", "/both/index.html"}
	tests := []struct {
		name    string
		profile Profile
		want    string
	}{
		{"github_pages", builtin("github-pages")(), "= - = /folder/ = = = = = ="},
		// /file/ was 404 in 2021; since then, Azure documents that it answers.
		{"azure", builtin("azure-static-web-apps")(), "= = = = = = = = = ="},
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
			s := loadHost(t, root, Options{Profile: test.profile})
			for i, want := range strings.Fields(test.want) {
				got := "-"
				switch r := finally(s, requests[i]); {
				case r.status == 200 && r.location == "":
					got = "="
				case r.status == 200:
					got = r.location
				}
				if got != want {
					t.Errorf("%s: got %s, but the host's answer is %s", requests[i], got, want)
				}
			}
		})
	}
}
