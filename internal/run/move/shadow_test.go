package move

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestCopyIsApart does in the copy what a build may do, rewrite files in place and run git, and compares every byte of
// the original, the files of git among them.
func TestCopyIsApart(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	all := t.TempDir()
	git := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v in %s: %v\n%s", args, dir, err, out)
		}
		return string(out)
	}
	main := filepath.Join(all, "main")
	large := bytes.Repeat([]byte("x"), 300<<10)
	testkit.Check(t, os.Mkdir(main, 0o777))
	testkit.Check(t, os.WriteFile(filepath.Join(main, "large.bin"), large, 0o644))
	git(main, "init", "-q", "-b", "main")
	git(main, "add", ".")
	git(main, "commit", "-q", "-m", "start")
	git(main, "config", "extensions.worktreeConfig", "true")
	git(main, "worktree", "add", "-q", filepath.Join(all, "linked"))
	outer := filepath.Join(all, "outer")
	git(all, "init", "-q", "outer")
	git(outer, "submodule", "--quiet", "add", main, "sub")

	for _, root := range []string{main, filepath.Join(all, "linked"), filepath.Join(outer, "sub")} {
		t.Run(filepath.Base(root), func(t *testing.T) {
			git(root, "config", "--worktree", "a.own", root)
			git(root, "status") // refreshes the index
			before, log := snapshot(t, all), git(root, "log", "--format=%H %aI")
			s := &shadow{original: &project.Project{Root: root}, root: filepath.Join(t.TempDir(), "copy")}
			testkit.Check(t, s.copy(t.Context()))
			if got := git(s.root, "log", "--format=%H %aI"); got != log {
				t.Errorf("git log in the copy: %q, want %q", got, log)
			}
			if got := git(s.root, "status", "--porcelain"); got != "" {
				t.Errorf("git status in the copy: %q", got)
			}
			if got := git(s.root, "config", "a.own"); got != root+"\n" {
				t.Errorf("the configuration of the work tree: %q", got)
			}
			f, err := os.OpenFile(filepath.Join(s.root, "large.bin"), os.O_WRONLY, 0)
			testkit.Check(t, err)
			f.WriteString("written in place")
			f.Close()
			git(s.root, "add", ".")
			git(s.root, "commit", "-q", "-m", "by the build")
			git(s.root, "tag", "built")
			git(s.root, "config", "a.b", "c")
			git(s.root, "stash", "list")
			git(s.root, "gc", "-q", "--prune=now")
			after := snapshot(t, all)
			for name, text := range before {
				if after[name] != text {
					t.Errorf("%s changed", name)
				}
			}
			if len(after) != len(before) {
				t.Errorf("%d files, want %d", len(after), len(before))
			}
		})
	}
}

// TestCopy: the copy has neither what builds wrote nor other repositories, and links to
// the packages.
func TestCopy(t *testing.T) {
	root := testkit.MakeDocroot(t, testkit.Files{"a/b.md": "b", "link": "-> a/b.md", "up": "-> ..", "node_modules/x": "", "a/node_modules/y": "", "public/index.html": "", "a/public/z": "", "theme/.git/HEAD": "", "theme/t": "", system.StateName + "/state": ""})
	s := &shadow{original: &project.Project{Root: root, Generator: &project.Generator{Docroot: filepath.Join(root, "public")}}, root: filepath.Join(t.TempDir(), "copy")}
	testkit.Check(t, os.Chmod(filepath.Join(root, "a", "b.md"), 0o755))
	testkit.Check(t, s.copy(t.Context()))
	got := ""
	err := filepath.WalkDir(s.root, func(name string, d fs.DirEntry, err error) error {
		if target, err := os.Readlink(name); err == nil {
			got += name + " -> " + target + "\n"
		} else if !d.IsDir() {
			got += name + "\n"
		}
		return err
	})
	testkit.Check(t, err)
	got = strings.NewReplacer(s.root+"/", "", root, "ROOT").Replace(got)
	if want := "a/b.md\na/node_modules -> ROOT/a/node_modules\na/public/z\nlink -> a/b.md\nnode_modules -> ROOT/node_modules\ntheme/t\nup -> ..\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.copy(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := s.copy(t.Context()); err == nil || !strings.Contains(err.Error(), "copy "+root) {
		t.Errorf("a second copy: %v", err)
	}
}

// TestOpenCopy builds a copy, which leaves nothing behind.
func TestOpenCopy(t *testing.T) {
	hugoEnv(t)
	root := newSite(t, hugoSite)
	p, err := projectIn(t, root, "netlify")
	testkit.Check(t, err)
	c, err := OpenCopy(t.Context(), p)
	testkit.Check(t, err)
	put(t, c.Project.Dir, "content/new.md", "---\ntitle: New\n---\n")
	a, err := c.Build(t.Context())
	testkit.Check(t, err)
	if _, ok := a.Site.Lookup("new/index.html"); !ok {
		t.Error("the copy has no new page")
	}
	a.Close()
	c.Close()
	if _, err := os.Stat(filepath.Join(root, system.StateName)); err == nil {
		t.Error("the copy was not removed")
	}
}

// snapshot returns all files below a directory.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		files[name] = string(text)
		return err
	})
	testkit.Check(t, err)
	return files
}
