//go:build integration && unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A push of a Hugo site: built by the real Hugo in a temporary tree, with the
// caches of the working tree, and without a byte left in it. Nothing has to be
// configured for it.
func TestHookHugo(t *testing.T) {
	if _, err := exec.LookPath("hugo"); err != nil {
		t.Skip("hugo is not installed; .ci/run installs it")
	}
	for _, test := range []struct{ name, config, site, flag string }{
		{"found", "", "", "."},
		{"found below the root", "", "docs/site", "docs/site"},
		{"found in docs", "", "docs", "."},
		{"configured", "[hook]\nbuild = 'hugo --quiet -d \"$SITELINK_OUT\"'\n", "", "."},
	} {
		t.Run(test.name, func(t *testing.T) { pushHugo(t, test.config, test.site, test.flag) })
	}
}

// pushHugo pushes a Hugo site in a directory of the repository; flag is the
// value of --dir.
func pushHugo(t *testing.T, config, site, flag string) {
	dir, _ := pushed(t, "")
	for name, text := range map[string]string{
		"sitelink.toml":                  config,
		"config.toml":                    "baseURL = 'https://example.org/'\ntitle = 't'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\nenableGitInfo = true\n",
		".gitignore":                     "/resources/\n/public/\n.hugo_build.lock\n",
		"layouts/_default/single.html":   "<title>{{ .Title }}</title>{{ .Content }}<p>{{ .GitInfo.Subject }}",
		"layouts/_default/list.html":     "<title>t</title>{{ range .Pages }}<a href=\"{{ .RelPermalink }}\">t</a>{{ end }}",
		"content/good.md":                "---\ntitle: good\n---\n[home](/)\n",
		"resources/_gen/images/kept.txt": "kept",
	} {
		write(t, filepath.Join(dir, site, filepath.FromSlash(name)), text)
	}
	gitIn(t, dir, "rm", "-r", "-q", "public")
	os.Remove(filepath.Join(dir, "dirty.html"))
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-q", "-m", "a Hugo site")
	write(t, filepath.Join(dir, "dirty.txt"), "dirty")
	run := func(want int, says string) {
		t.Helper()
		cmd := exec.Command("sitelink", "hook", "run", "--commit", "HEAD", "--dir", flag)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		checkExit(t, err, want)
		if !strings.Contains(string(out), says) {
			t.Errorf("%s\nhas no %q", out, says)
		}
	}
	run(exitClean, "HEAD: links are fine")
	write(t, filepath.Join(dir, site, "content", "bad.md"), "---\ntitle: bad\n---\n[gone](/gone/) [home](https://example.org/nowhere/)\n")
	gitIn(t, dir, "add", "-A", ":(exclude)dirty.txt")
	gitIn(t, dir, "commit", "-q", "-m", "bad")
	os.Remove(filepath.Join(dir, site, "content", "bad.md"))
	run(exitFindings, "content/bad.md:4:8: error: directory not found: /gone/")
	run(exitFindings, "content/bad.md:4:23: error: directory not found: /nowhere/") // the site's own address
	if n, known := trees(t, dir); n > 0 || known {
		t.Errorf("%d trees are left, known to git: %v", n, known)
	}
	if text, err := os.ReadFile(filepath.Join(dir, site, "resources", "_gen", "images", "kept.txt")); err != nil || string(text) != "kept" {
		t.Errorf("the cache was harmed: %q, %v", text, err)
	}
}

// A Hugo site that says nothing of hooks: its docroot is not in the commit, so
// Hugo builds it, and its own configuration tells the address.
func TestHookHugoUnset(t *testing.T) {
	if _, err := exec.LookPath("hugo"); err != nil {
		t.Skip("hugo is not installed; .ci/run installs it")
	}
	dir, _ := pushed(t, "")
	for name, text := range map[string]string{
		"config.toml":                  "baseURL = 'https://example.org/sub/'\ntitle = 't'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\n",
		".gitignore":                   "/resources/\n/public/\n.hugo_build.lock\n",
		"layouts/_default/single.html": "<title>{{ .Title }}</title>{{ .Content }}",
		"layouts/_default/list.html":   "<title>t</title>{{ range .Pages }}<a href=\"{{ .RelPermalink }}\">t</a>{{ end }}",
		"content/good.md":              "---\ntitle: good\n---\n[home](/sub/)\n",
	} {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	os.Remove(filepath.Join(dir, "sitelink.toml"))
	gitIn(t, dir, "rm", "-r", "-q", "--cached", "public")
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-q", "-m", "a Hugo site")
	run := func(want int, says string) {
		t.Helper()
		cmd := exec.Command("sitelink", "hook", "run", "--commit", "HEAD")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		checkExit(t, err, want)
		if !strings.Contains(string(out), says) {
			t.Errorf("%s\nhas no %q", out, says)
		}
	}
	run(exitClean, "HEAD: links are fine")
	run(exitClean, "HEAD: passed before")
	write(t, filepath.Join(dir, "content", "bad.md"), "---\ntitle: bad\n---\n[gone](/sub/gone/)\n")
	gitIn(t, dir, "add", "content")
	gitIn(t, dir, "commit", "-q", "-m", "bad")
	run(exitFindings, "content/bad.md:4:8: error: directory not found: /sub/gone/")
	write(t, filepath.Join(dir, "dirty.txt"), "dirty") // then in a copy
	run(exitFindings, "error: directory not found: /sub/gone/")
	if _, err := os.Stat(filepath.Join(dir, ".sitelink")); err == nil {
		t.Error("a push has left a build in the project")
	}
}
