//go:build integration && linux

package main

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// releases are two releases of the documentation in Debian's packages. least keeps
// a test from passing on nothing.
var releases = []struct {
	before, now string
	least       int
}{
	{"clang-14-doc/usr/share/doc/clang-14/html", "clang-16-doc/usr/share/doc/clang-16/html", 50},
	{"clang-16-doc/usr/share/doc/clang-16/html", "clang-14-doc/usr/share/doc/clang-14/html", 200},
}

// TestSinceReleases: between two releases of real documentation, exactly those
// addresses and ids are gone that Python's web server and HTML parser miss, whether
// the older one is a directory or the record of a deploy.
func TestSinceReleases(t *testing.T) {
	t.Parallel()
	corpora := os.Getenv("SITELINK_CORPORA")
	if corpora == "" {
		t.Skip("SITELINK_CORPORA is not set: it names a directory that holds clang-14-doc/ as unpacked by dpkg -x")
	}
	for i, r := range releases {
		before, now := filepath.Join(corpora, filepath.FromSlash(r.before)), filepath.Join(corpora, filepath.FromSlash(r.now))
		want := truth(t, before, now, r.least)
		dir := t.TempDir()
		equalGone(t, "directory "+r.before, foundGone(t, dir, now, "--since", before), want)
		if i == 0 { // as good as the directory: once is enough
			sinceRun(t, dir, "deploy", before, "--no-check", "--base-url", "https://docs.example/", "--", "true")
			equalGone(t, "record of "+r.before, foundGone(t, dir, now), want)
		}
	}
}

// histories are two commits of real Hugo sites, in modules. The redirects of kind's
// site are in a file of the host: rules that answered are gone too.
var histories = []struct {
	module, dir, before, now string
	least                    int
	gone                     string // one of the differences
}{
	{"github.com/rclone/rclone", "docs", "v1.62.2", "v1.68.2", 100, ""},
	{"sigs.k8s.io/kind", "site", "v0.5.1", "v0.17.0", 20, "/v1alpha3"},
}

// TestSinceCommits: the same between two commits of real Hugo sites. sitelink builds
// the older one.
func TestSinceCommits(t *testing.T) {
	for _, h := range histories {
		site, dir := newModuleSite(t, h.module, h.dir), t.TempDir()
		var built []string
		for _, version := range []string{h.before, h.now} {
			site.commit(version)
			out := filepath.Join(dir, version)
			site.run("hugo", "--quiet", "--destination", out)
			built = append(built, out)
		}
		want := truth(t, built[0], built[1], h.least)
		if h.gone != "" && !slices.Contains(want, h.gone) {
			t.Errorf("truth.py does not find that %s is gone", h.gone)
		}
		equalGone(t, "commit of "+h.module, foundGone(t, site.dir, built[1], "--since", h.before), want)
		if left := site.run("git", "worktree", "list"); strings.Count(string(left), "\n") != 1 {
			t.Errorf("working trees are left:\n%s", left)
		}
	}
}

// truth returns what a script finds without sitelink.
func truth(t *testing.T, before, now string, least int) []string {
	t.Helper()
	out, err := exec.Command("python3", filepath.Join("testdata", "since", "truth.py"), before, now).Output()
	if err != nil {
		t.Fatalf("truth.py %s %s: %v", before, now, err)
	}
	want := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(want) < least {
		t.Fatalf("truth.py finds %d differences between %s and %s, want at least %d", len(want), before, now, least)
	}
	return want
}

// foundGone returns what sitelink finds in the docroot now.
func foundGone(t *testing.T, dir, now string, args ...string) (found []string) {
	t.Helper()
	args = append([]string{"check", now, "--format", "jsonl", "--fail-on", "never", "--source", "off"}, args...)
	for line := range strings.Lines(string(sinceRun(t, dir, args...))) {
		var f struct{ Code, Target, Fragment string }
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		target, err := url.PathUnescape(f.Target)
		switch {
		case f.Code == "address-gone" && err == nil:
			found = append(found, target)
		case f.Code == "anchor-gone" && err == nil:
			found = append(found, target+"#"+f.Fragment)
		}
	}
	return found
}

// sinceRun runs the command in a directory and returns its standard output.
func sinceRun(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("sitelink", args...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SITELINK_") })
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("sitelink %q: %v\n%s", args, err, exit.Stderr)
	}
	testkit.Check(t, err)
	return out
}

func equalGone(t *testing.T, name string, got, want []string) {
	t.Helper()
	got, want = slices.Clone(got), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	anchors := 0
	for _, w := range want {
		if strings.Contains(w, "#") {
			anchors++
		}
	}
	t.Logf("%s: %d addresses and %d ids are gone, sitelink finds %d", name, len(want)-anchors, anchors, len(got))
	if slices.Equal(got, want) {
		return
	}
	t.Errorf("%s: sitelink finds %d, there are %d", name, len(got), len(want))
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("not found: %s", w)
		}
	}
	for _, g := range got {
		if !slices.Contains(want, g) {
			t.Errorf("not gone: %s", g)
		}
	}
}
