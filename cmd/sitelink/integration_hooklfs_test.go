//go:build integration && unix

package main

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestHookLFS: the hook of the real git-lfs and ours both get what git says is
// pushed. A push that goes uploads all, and without sitelink git-lfs works as
// before. One that is stopped uploads nothing, but with the hooks of git 2.54:
// that git runs all of them, whatever the first one says.
func TestHookLFS(t *testing.T) {
	if _, err := exec.LookPath("git-lfs"); err != nil {
		t.Skip("git-lfs is not installed; .ci/run installs it")
	}
	dir, _ := pushed(t, "")
	remote := filepath.Join(t.TempDir(), "remote.git")
	testkit.Git(t, dir, "init", "-q", "--bare", remote)
	testkit.Git(t, dir, "remote", "add", "origin", "file://"+remote)
	testkit.Git(t, dir, "lfs", "install", "--local")
	out := command(t, dir, "sitelink", "hook", "install")
	if !strings.Contains(out, "pre-push: installed") {
		t.Errorf("install: %s", out)
	}
	runsAll := strings.Contains(out, "in the configuration of git")
	if out := command(t, dir, "sitelink", "hook", "status"); !strings.Contains(out, "git-lfs: its hook runs too\n") {
		t.Errorf("status: %s", out)
	}
	uploaded := func() (n int) {
		_ = filepath.WalkDir(filepath.Join(remote, "lfs", "objects"), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				n++
			}
			return nil
		})
		return n
	}
	testkit.Git(t, dir, "lfs", "track", "*.bin")
	commit := func(page, large string) {
		t.Helper()
		testkit.Write(t, filepath.Join(dir, "public", "a.html"), page)
		testkit.Write(t, filepath.Join(dir, "public", "large.bin"), large)
		testkit.Git(t, dir, "add", "-A")
		testkit.Git(t, dir, "commit", "-q", "-m", large)
	}
	commit(`<title>t</title><a href="gone.html">t</a>`, "first")
	cmd := exec.Command("git", "push", "origin", "main")
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(said), "public/a.html:1:26: error: ") || uploaded() != 0 && !runsAll {
		t.Errorf("a broken link: %v, %d objects of git-lfs are at the remote\n%s", err, uploaded(), said)
	}
	commit(`<title>t</title><a href="large.bin">t</a>`, "second")
	if out := testkit.Git(t, dir, "push", "origin", "main"); !strings.Contains(out, "main: links are fine") || uploaded() != 2 {
		t.Errorf("a good push: %d objects of git-lfs are at the remote, want 2\n%s", uploaded(), out)
	}
	command(t, dir, "sitelink", "hook", "uninstall")
	commit(`<title>t</title><a href="large.bin">t</a>`, "third")
	if out := testkit.Git(t, dir, "push", "origin", "main"); strings.Contains(out, "sitelink") || uploaded() != 3 {
		t.Errorf("uninstalled: %d objects of git-lfs are at the remote, want 3\n%s", uploaded(), out)
	}
}
