package githook

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// fakeGit puts a program before git on PATH. The program reports another version. It
// fails in the run with the number in the file failing. The file count has the number
// of runs.
func fakeGit(t *testing.T, version string) (failing, count string) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	failing, count = filepath.Join(dir, "failing"), filepath.Join(dir, "count")
	text := fmt.Sprintf("#!/bin/sh\nn=0 f=0\n{ read -r n <%s; read -r f <%s; } 2>/dev/null\nn=$((n + 1))\necho $n >%[1]s\n[ $f = $n ] && { echo >&2 fatal: injected; exit 128; }\n"+
		"[ \"$1\" = version ] && { echo 'git version %[3]s'; exit; }\nexec %[4]s \"$@\"\n", count, failing, version, real)
	testkit.Check(t, os.WriteFile(filepath.Join(dir, "git"), []byte(text), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return failing, count
}

// Newer versions of git need no hook file.
func TestConfigHooks(t *testing.T) {
	fakeGit(t, "2.53.1")
	p := newProject(t)
	ctx, r := t.Context(), p.repo()
	status := func(want Method, sites ...string) {
		t.Helper()
		if s, err := r.Status(ctx); err != nil || s.Method != want || !slices.Equal(s.Sites, sites) {
			t.Errorf("method %d, sites %q, %v; want %d, %q", s.Method, s.Sites, err, want, sites)
		}
	}
	install := func(site string) {
		t.Helper()
		if _, err := r.Install(ctx, InstallOptions{Program: "/opt/my sitelink", Site: site}); err != nil {
			t.Fatal(err)
		}
	}
	install("a") // a file
	status(ByFile, "a")
	fakeGit(t, "2.54")
	status(ByFile, "a")
	install("b/") // moves it to the configuration
	status(ByConfig, "a", "b")
	if got := p.run("config", "--get-regexp", "hook"); got != "hook.sitelink.pre-push.command '/opt/my sitelink' hook run pre-push --dir a --dir b --stdin\nhook.sitelink.pre-push.event pre-push" {
		t.Errorf("configuration %q", got)
	}
	hooks := filepath.Join(p.git.Dir, ".git", "hooks")
	if _, err := os.Stat(filepath.Join(hooks, "pre-push")); err == nil {
		t.Error("the hook file is still there")
	}
	if before, err := r.Uninstall(ctx, "a"); err != nil || before.Method != ByConfig {
		t.Errorf("%+v, %v", before, err)
	}
	status(ByConfig, "b")
	p.write("lefthook.toml", "")
	if s, err := r.Status(ctx); err != nil || s.Manager != "lefthook" || s.Git != "2.54" {
		t.Errorf("%+v, %v", s, err)
	}
	fakeGit(t, "2.53")
	status(NotInstalled) // git ignores the configuration
	fakeGit(t, "3.0")
	status(ByConfig, "b")
	if _, err := r.Uninstall(ctx); err != nil {
		t.Error(err)
	}
	status(NotInstalled)
	for text, want := range map[string]string{"git lfs pre-push": "lfs", "overcommit": ".overcommit.yml", "lefthook": "lefthook.yml", "hook-impl": ".pre-commit-config.yaml", "# https://pre-commit.com": ".pre-commit-config.yaml", "": "", "x": ""} {
		testkit.Check(t, os.RemoveAll(filepath.Join(p.git.Dir, "lefthook.toml")))
		p.write(".git/hooks/pre-push", text)
		if s, err := r.Status(ctx); err != nil || s.LFS != (want == "lfs") || !s.LFS && s.ManagerFile != want || s.Foreign != (text != "") {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
	}
	for _, version := range []string{"2", "x.1", "2.x", ""} {
		fakeGit(t, version)
		if _, err := r.Status(ctx); err == nil || err.Error() != fmt.Sprintf("git version: cannot read the version number in %q", version) && version != "" {
			t.Errorf("version %q: %v", version, err)
		}
	}
}

// Each run of git can fail. E is its error, e another one, w a warning, and a dot nothing
// of that.
func TestGitFails(t *testing.T) {
	failing, count := fakeGit(t, "2.54")
	p := newProject(t)
	p.commit("a/public/bad", "", "b/public/bad", "")
	one := p.commit("a/public/bad", "x", "a/x.md", "")
	two := p.commit("a/public/bad", "x y", "a/x.md", "1")
	p.write("untracked", "")
	ctx, r := t.Context(), p.repo()
	push := func() ([]string, error) {
		testkit.Check(t, os.RemoveAll(r.dataPath("")))
		_, warnings, err := r.CheckPush(ctx, []Ref{{Commit: two, Remote: "refs/heads/main", Before: one}}, Push{Site: "a", Others: []string{"b"}, Check: p.check, OnlyNew: true, Env: p.git.Env})
		return warnings, err
	}
	installed := func() { testkit.Check(t, r.installConfig(ctx, InstallOptions{Program: "x"}, []string{"a", "b"})) }
	for _, c := range []struct {
		name, want string
		run        func() ([]string, error)
		before     func()
	}{
		{"open", "E", func() ([]string, error) { _, err := Open(ctx, p.git); return nil, err }, nil},
		{"many branches", "EE", func() ([]string, error) {
			_, _, err := OpenPush(ctx, p.git, slices.Repeat([]Ref{{Commit: two, Remote: "refs/heads/x"}}, 251))
			return nil, err
		}, nil},
		{"status", "EEEE", func() ([]string, error) { _, err := r.Status(ctx); return nil, err }, nil},
		{"install", "EEEEEEEEEE", func() ([]string, error) { _, err := r.Install(ctx, InstallOptions{Program: "x"}); return nil, err }, nil},
		{"uninstall", "EEEEEE", func() ([]string, error) { _, err := r.Uninstall(ctx, "a"); return nil, err }, installed},
		{"commit", "E", func() ([]string, error) { _, err := r.CommitID(ctx, "HEAD"); return nil, err }, nil},
		{"newer", "EE", func() ([]string, error) { _, err := r.NewerSource(ctx, "HEAD", "a", "a/public"); return nil, err }, nil},
		{"push", "EEEEEEEE.w.", push, nil},
		{"push of a branch", "EEEEE.", func() ([]string, error) {
			testkit.Check(t, os.RemoveAll(r.dataPath("")))
			_, warnings, err := r.CheckPush(ctx, []Ref{{Commit: two, Remote: "refs/heads/new"}}, Push{Site: "a", Check: p.check, OnlyNew: true})
			return warnings, err
		}, nil},
	} {
		got := ""
		for i := 1; ; i++ {
			_ = os.Remove(failing)
			if c.before != nil {
				c.before()
			}
			testkit.Check(t, os.WriteFile(failing, fmt.Appendln(nil, i), 0o666))
			_ = os.Remove(count)
			warnings, err := c.run()
			n, _ := os.ReadFile(count)
			if strings.TrimSpace(string(n)) < fmt.Sprint(i) && len(strings.TrimSpace(string(n))) <= len(fmt.Sprint(i)) {
				break
			}
			switch {
			case err != nil && strings.Contains(err.Error(), "injected"):
				got += "E"
			case err != nil:
				got += "e"
			case len(warnings) > 0:
				got += "w"
			default:
				got += "."
			}
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// Files that are in the way are errors.
func TestInTheWay(t *testing.T) {
	p := newProject(t)
	one := p.commit("public/bad", "")
	p.write("untracked", "")
	ctx, r := t.Context(), p.repo()
	push := func() error {
		_, warnings, err := r.CheckPush(ctx, []Ref{{Commit: one, Remote: "refs/heads/main"}}, Push{Check: p.check, Build: "true", Env: p.git.Env})
		for _, w := range warnings {
			err = errors.Join(err, errors.New(w))
		}
		return err
	}
	for _, c := range []struct {
		name, file, want string
		run              func() error
	}{
		{"data", ".git/sitelink", "make ", push},
		{"findings", ".git/sitelink/findings", "the result is not remembered: ", push},
		{"findings, removed", ".git/sitelink/trees/x", "", func() error { return r.RemoveData(ctx) }},
		{"hooks", ".git/hooks", "pre-push: ", func() error { _, err := r.Install(ctx, InstallOptions{Program: "/x"}); return err }},
		{"original, a loop", ".git/hooks/" + originalHook, "read ", func() error {
			name := filepath.Join(p.git.Dir, ".git", "hooks", originalHook)
			if err := errors.Join(os.Remove(name), os.Symlink(originalHook, name)); err != nil {
				return fmt.Errorf("read nothing, there are no links: %w", err)
			}
			_, err := r.Status(ctx)
			return err
		}},
		{"original", ".git/hooks/" + originalHook, "was not written by sitelink", func() error {
			p.write(".git/hooks/pre-push", "x")
			_, err := r.Install(ctx, InstallOptions{Program: "/x"})
			return err
		}},
	} {
		name := filepath.Join(p.git.Dir, c.file)
		testkit.Check(t, os.RemoveAll(name))
		p.write(c.file, "")
		err := c.run()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
		testkit.Check(t, os.RemoveAll(name))
	}
	for err, want := range map[error]string{
		&GitError{"x", "why", 1}: "git x: why", &GitError{"x", "", 1}: "git x: exit code 1", &ManagedError{Manager: "husky"}: "husky manages the hooks of this repository",
		&UnknownCommitError{"x"}: `the repository has no commit "x"`, &SubmoduleError{"sub", strings.Repeat("1", 40)}: "the submodule sub does not have commit 111111111111",
		&SharedHooksError{"global", "/h"}:         "core.hooksPath in the global configuration makes all repositories share the hooks in /h",
		&DiskFullError{"/d", 2048, os.ErrInvalid}: "invalid argument: the disk of /d has 2 KiB left", &BuildError{"make", os.ErrInvalid, nil}: `build with "make": invalid argument`,
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}
