package system

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

func TestOutside(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "repo")
	for _, dir := range []string{"repo/in/deep", "repo/.git/hooks", "elsewhere"} {
		testkit.Check(t, os.MkdirAll(filepath.Join(base, filepath.FromSlash(dir)), 0o755))
	}
	for name, to := range map[string]string{
		"repo/out": "../elsewhere", "repo/dangling": "../elsewhere/new", "repo/chain": "out/new", "repo/within": "in/deep",
		"repo/git": ".git", "repo/loop": "loop", "repo/to-socket": "socket", "repo/in/up": "..", "link": "repo", "repo/absolute": "/etc/passwd",
	} {
		testkit.Check(t, os.Symlink(to, filepath.Join(base, filepath.FromSlash(name))))
	}
	t.Chdir(root) // a socket has a short name
	l := testkit.Must(net.Listen("unix", "socket"))(t)
	defer l.Close()
	for name, want := range map[string]string{
		"repo": "", "repo/a": "", "repo/in/deep/a": "", "repo/new/deep/a": "", "repo/within/a": "", "link/in/a": "",
		"repo/in/up/in/a": "", "repo/..a": "", "repo/.gitignore": "", "repo/.github/a": "",
		"elsewhere": "outside", "repo/../elsewhere": "outside", "repo/out": "outside", "repo/out/a": "outside",
		"repo/dangling": "outside", "repo/chain": "outside", "repo/in/up/out/a": "outside", "repo/absolute": "outside",
		"repo-2/a":  "outside",
		"repo/.git": "git", "repo/.git/hooks/x": "git", "repo/.GIT/config": "git", "repo/git/config": "git", "repo/in/.git/config": "git",
		"repo/loop": "too many", "repo/socket": "no regular file", "repo/to-socket": "no regular file",
	} {
		path, where := Outside(root, filepath.Join(base, filepath.FromSlash(name)))
		if (where == "") != (want == "") || !strings.Contains(where, want) || (where == "") != (path == "") {
			t.Errorf("Outside(repo, %s) = %q, %q, want %q", name, path, where, want)
		}
	}
}
