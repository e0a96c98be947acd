// Package site_test uses package site as a program outside of this repository
// would.
package site_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/site"
)

func TestLoad(t *testing.T) {
	ctx, docroot := context.Background(), t.TempDir()
	if _, err := site.Load(ctx, docroot, site.Options{}); !errors.Is(err, site.ErrNoPages) {
		t.Errorf("empty docroot: %v", err)
	}
	if err := os.WriteFile(filepath.Join(docroot, "index.html"), []byte(`<a href="/old">x</a><a href="/about">y</a>`), 0o644); err != nil {
		t.Fatal(err)
	}
	opt := site.Options{
		BaseURLs:  []string{"https://blog.example/"},
		Profile:   "caddy",
		Host:      map[string][]string{"fallback": {"index.html"}},
		Redirects: []site.Redirect{{From: "/old", To: "https://other.example/", Status: 302, Force: true}},
		Autoindex: site.AutoindexError,
		Base:      site.BaseHTML5,
		Jobs:      1,
		Progress:  func(done, total int) {},
	}
	if !slices.Contains(site.Profiles(), opt.Profile) {
		t.Errorf("profiles: %q", site.Profiles())
	}
	s, err := site.Load(ctx, docroot, opt)
	if err != nil {
		t.Fatal(err)
	}
	if s.Docroot() != docroot || s.BaseURL() != "https://blog.example/" || s.Files() != 1 || !slices.Equal(s.Pages(), []string{"index.html"}) {
		t.Errorf("%s at %s: %d files, pages %q", s.Docroot(), s.BaseURL(), s.Files(), s.Pages())
	}
	result, err := check.Run(ctx, s, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var codes []check.Code
	for _, f := range result.Findings {
		codes = append(codes, f.Code)
	}
	if !slices.Equal(codes, []check.Code{check.ViaRedirect, check.Fallback}) {
		t.Errorf("codes %q", codes)
	}
}
