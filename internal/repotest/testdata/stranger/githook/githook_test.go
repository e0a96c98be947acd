// Package githook_test uses package githook as a program with a pre-push hook of
// its own would.
package githook_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/hook"
	"github.com/sitelink/sitelink/hook/githook"
)

// repository makes a repository in a temporary directory, without the
// configuration of the user who runs the test.
func repository(t *testing.T) githook.Git {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	home := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org"}
	git := githook.Git{Env: env, Dir: t.TempDir()}
	run(t, git, "init", "-q", "-b", "main", ".")
	return git
}

func run(t *testing.T, git githook.Git, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = git.Dir, git.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes a page and returns the id of its commit.
func commit(t *testing.T, git githook.Git, page string) string {
	t.Helper()
	name := filepath.Join(git.Dir, "public", "index.html")
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, git, "add", "-A")
	run(t, git, "commit", "-q", "-m", "page")
	return run(t, git, "rev-parse", "HEAD")
}

func TestInstall(t *testing.T) {
	ctx, git := context.Background(), repository(t)
	repo, err := githook.Open(ctx, git)
	if err != nil {
		t.Fatal(err)
	}
	hookFile := filepath.Join(repo.Common, "hooks", "pre-push")
	const before = "#!/bin/sh\nexit 0\n"
	if err := os.WriteFile(hookFile, []byte(before), 0o755); err != nil {
		t.Fatal(err)
	}
	if s, err := repo.Status(ctx); err != nil || s.Method != githook.NotInstalled || !s.Foreign {
		t.Fatalf("status before: %+v, %v", s, err)
	}
	for range 2 { // it may be repeated
		s, err := repo.Install(ctx, githook.InstallOptions{Program: "/opt/sitelink", Site: "docs"})
		if err != nil || s.Method != githook.ByConfig && s.Method != githook.ByChain {
			t.Fatalf("install: %+v, %v", s, err)
		}
	}
	if s, err := repo.Uninstall(ctx); err != nil || s.Method == githook.NotInstalled {
		t.Fatalf("uninstall: status before %+v, %v", s, err)
	}
	if err := repo.RemoveData(ctx); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(hookFile); err != nil || string(text) != before {
		t.Errorf("the hook that was there before is now %q, %v", text, err)
	}
	if s, err := repo.Status(ctx); err != nil || s.Method != githook.NotInstalled {
		t.Errorf("status after: %+v, %v", s, err)
	}
}

// TestCheckPush reads what git writes to a pre-push hook, and checks the commits.
func TestCheckPush(t *testing.T) {
	ctx, git := context.Background(), repository(t)
	good := commit(t, git, `<!doctype html><title>t</title><a href="/">home</a>`)
	bad := commit(t, git, `<!doctype html><title>t</title><a href="/gone/">gone</a>`)
	checked := 0
	push := githook.Push{
		Docroot:  "public",
		CacheKey: "version 1",
		Check: func(ctx context.Context, site, _ string) (githook.Report, error) {
			checked++
			result, err := hook.Check(ctx, hook.Site{Docroot: filepath.Join(site, "public")})
			if err != nil {
				return githook.Report{}, err
			}
			return githook.Report{Docroot: "public", Findings: result.Findings}, nil
		},
	}
	none := strings.Repeat("0", len(good))
	lines := "refs/heads/main " + bad + " refs/heads/main " + good + "\n" +
		"refs/heads/old " + good + " refs/heads/old " + none + "\n" +
		"refs/heads/same " + good + " refs/heads/same " + none + "\n" +
		"(delete) " + none + " refs/heads/gone " + good + "\n"
	refs, err := githook.ReadRefs(strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	repo, refs, err := githook.OpenPush(ctx, git, refs)
	if err != nil {
		t.Fatal(err)
	}
	results, warnings, err := repo.CheckPush(ctx, refs, push)
	if err != nil || len(warnings) > 0 || len(results) != 2 || checked != 2 {
		t.Fatalf("results %+v, warnings %q, %v, %d checks", results, warnings, err, checked)
	}
	if r := results[0]; len(r.Findings) != 1 || r.Origin != githook.FromWorkTree || r.Commit != bad {
		t.Errorf("main: %+v", r)
	}
	if r := results[1]; len(r.Findings) != 0 || r.Origin != githook.FromCheckout || !slices.Equal(r.Refs, []string{"refs/heads/old", "refs/heads/same"}) {
		t.Errorf("old and same: %+v", r)
	}

	push.Branches = []string{"o*"}
	results, _, err = repo.CheckPush(ctx, refs, push)
	if err != nil || len(results) != 1 || results[0].Origin != githook.FromCache || checked != 2 {
		t.Errorf("a tree that passed: %+v, %v, %d checks", results, err, checked)
	}
	if stale := repo.StaleTrees(); len(stale) > 0 {
		t.Errorf("temporary trees are left: %q", stale)
	}

	push.Branches, push.Build, push.CacheKey = []string{"main"}, "echo no template >&2; exit 7", "version 2"
	_, _, err = repo.CheckPush(ctx, refs, push)
	var failed *githook.BuildError
	if !errors.As(err, &failed) || !slices.Equal(failed.Output, []string{"no template"}) {
		t.Errorf("a build that fails: %v", err)
	}
}

func TestNoRepository(t *testing.T) {
	git := repository(t)
	if _, err := githook.Open(context.Background(), git.In(t.TempDir())); !errors.Is(err, githook.ErrNoWorkTree) {
		t.Errorf("got %v, want %v", err, githook.ErrNoWorkTree)
	}
}
