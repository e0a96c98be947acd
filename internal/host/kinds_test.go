package host

import "testing"

// TestKindAt: the host names that hosts give to sites name their kinds.
func TestKindAt(t *testing.T) {
	for hostname, want := range map[string]string{
		"me.github.io": "github-pages", "a-b.netlify.app": "netlify", "x.pages.dev": "cloudflare-pages", "branch.x.pages.dev": "cloudflare-pages",
		"x.vercel.app": "vercel", "x.web.app": "firebase", "x.firebaseapp.com": "firebase", "happy-sea-0.2.azurestaticapps.net": "azure-static-web-apps",
		"b.s3-website-us-east-1.amazonaws.com": "s3", "b.s3-website.eu-central-1.amazonaws.com": "s3",
		"github.io": "", "b.s3.amazonaws.com": "", "github.io.example": "", "example.org": "", "localhost": "", "": "",
	} {
		if k, ok := KindAt(hostname); k.Name != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", hostname, k.Name, want)
		}
	}
}
