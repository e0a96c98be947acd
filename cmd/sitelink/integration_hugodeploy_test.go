//go:build integration

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestHugoDeploy: deploy --build publishes nothing that is broken, and deploy notices
// what a command that runs Hugo has published.
func TestHugoDeploy(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		p.files("baseURL = 'https://example.org/'\n", map[string]string{"content/a.md": page("hi")})
		p.sitelink(exitClean, []string{"deploy", "--build", "--", "cp", "-r", "public", "live"}, `note: building with hugo --destination .*/public$`, `^ok: checked 2 pages`, "!changed")
		if _, err := os.Stat(filepath.Join(p.dir, "live/a/index.html")); err != nil {
			t.Error(err)
		}
		testkit.Write(t, filepath.Join(p.dir, "content/b.md"), page("[gone](/gone/) [other](https://other.example/)"))
		p.sitelink(exitFindings, []string{"deploy", "--build", "--", "touch", "published"}, `^content/b\.md:4:\d+: error: directory not found: /gone/`, `^sitelink: not deployed`)
		if _, err := os.Stat(filepath.Join(p.dir, "published")); err == nil {
			t.Error("a broken site was published")
		}
		testkit.Write(t, filepath.Join(p.dir, "content/b.md"), page("[a](/a/)"))
		p.hugo()
		testkit.Write(t, filepath.Join(p.dir, "content/b.md"), page("[gone](/gone/)"))
		p.sitelink(exitFindings, []string{"deploy", "--", "hugo"}, `^ok: checked 3 pages`, `note: the command changed public after the check`,
			`^content/b\.md:4:\d+: error: directory not found: /gone/`, `^sitelink: deployed, but the check found errors`)
	})
}
