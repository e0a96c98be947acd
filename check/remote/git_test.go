package remote

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// clones returns clones of a new repository, and a function that runs git in one.
func clones(t *testing.T, n int) (dirs []string, run func(dir string, args ...string) string) {
	t.Helper()
	base := t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(base, "config"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	run = func(dir string, args ...string) string { return testkit.Git(t, dir, args...) }
	run(base, "init", "-q", "--bare", "remote.git")
	for i := range n {
		dir := filepath.Join(base, fmt.Sprint("clone", i))
		run(base, "clone", "-q", "remote.git", dir)
		dirs = append(dirs, dir)
	}
	return dirs, run
}

const statusRef = "git:refs/sitelink/status"

func openGit(t *testing.T, dir string) *Cache {
	t.Helper()
	c := testkit.Must(OpenGit(t.Context(), statusRef, GitOptions{Dir: dir, Env: os.Environ(), Warn: func(s string) { t.Error(s) }}))(t)
	return c
}

func readGit(t *testing.T, dir string) (urls []string) {
	t.Helper()
	all := testkit.Must(ReadGit(t.Context(), statusRef, GitOptions{Dir: dir, Env: os.Environ()}))(t)
	for _, r := range all {
		urls = append(urls, r.URL)
	}
	return urls
}

// Two clones that push at once merge, and a clone without anything new pushes nothing.
func TestGitMerges(t *testing.T) {
	dirs, run := clones(t, 3)
	if got := readGit(t, dirs[0]); got != nil {
		t.Errorf("new: %q", got)
	}
	first := openGit(t, dirs[0])
	first.Put(okRecord("https://gone.example/", 1))
	closeCache(t, first)
	var wg sync.WaitGroup
	var want []string
	for i, dir := range dirs[:2] {
		c := openGit(t, dir)
		url := fmt.Sprintf("https://%d.example/", i)
		c.Put(okRecord(url, 2))
		c.Put(okRecord("https://both.example/", float64(3+i)))
		if i == 0 {
			c.Remove("https://gone.example/")
		}
		want = append(want, url)
		wg.Go(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	want = append(want, "https://both.example/")
	got := slices.DeleteFunc(readGit(t, dirs[2]), func(url string) bool { return url == "https://gone.example/" }) // the other may have kept it
	if !slices.Equal(got, want) {
		t.Errorf("merged: %q", got)
	}
	last := openGit(t, dirs[2])
	if r := last.Get("https://both.example/"); !r.Asked.Equal(at(4)) {
		t.Errorf("both: %+v", r)
	}
	before := run(dirs[2], "ls-remote", "origin")
	last.Put(last.Get("https://both.example/"))
	closeCache(t, last)
	if after := run(dirs[2], "ls-remote", "origin"); after != before {
		t.Errorf("pushed without a change: %s", after)
	}
	if text := run(dirs[2], "cat-file", "blob", "refs/sitelink-fetched/"+localName(t, dirs[2])+":status.jsonl"); !strings.HasPrefix(text, headerLine+"\n") {
		t.Errorf("the file: %s", text)
	}
}

// localName returns the name of the directory in that of git.
func localName(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, ".git", "sitelink"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	return entries[0].Name()
}

// What cannot be pushed stays in the directory of git, and the next run pushes it.
func TestGitOffline(t *testing.T) {
	dirs, run := clones(t, 2)
	c := openGit(t, dirs[0])
	c.Put(okRecord("https://a.example/", 1))
	run(dirs[0], "remote", "set-url", "origin", filepath.Join(dirs[0], "nowhere"))
	err := c.Close()
	if err == nil || !strings.Contains(err.Error(), "write status cache "+statusRef+": git push: ") || !strings.Contains(err.Error(), "the next run pushes them") {
		t.Errorf("error %v", err)
	}
	if _, err := OpenGit(t.Context(), statusRef, GitOptions{Dir: dirs[0], Env: os.Environ()}); err == nil {
		t.Error("opened without a remote")
	}
	run(dirs[0], "remote", "set-url", "origin", filepath.Join(filepath.Dir(dirs[0]), "remote.git"))
	closeCache(t, openGit(t, dirs[0]))
	if got := readGit(t, dirs[1]); !slices.Equal(got, []string{"https://a.example/"}) {
		t.Errorf("pushed: %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dirs[0], ".git", "sitelink", "*", "status*.j*")); left != nil {
		t.Errorf("left: %q", left)
	}
	for _, name := range []string{"git:main", "git:refs/heads/main", "git:--upload-pack=x:refs/x", "git:refs/../x"} {
		if _, err := OpenGit(t.Context(), name, GitOptions{Dir: dirs[0]}); err == nil || !strings.Contains(err.Error(), "want git:REF") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
