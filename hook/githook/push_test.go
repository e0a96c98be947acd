package githook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
)

// project is a repository with a site in public. The file bad lists the site's broken
// links.
type project struct {
	*testing.T
	git Git
	// checked are the directories and docroots that were checked.
	checked []string
}

func newProject(t *testing.T) *project {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	home, dir := t.TempDir(), t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_ALLOW_PROTOCOL=file"}
	p := &project{T: t, git: Git{Env: env}.In(dir)}
	p.run("init", "-q", "-b", "main")
	return p
}

func (p *project) run(args ...string) string {
	p.Helper()
	out, err := p.git.run(p.Context(), args...)
	if err != nil {
		p.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// write writes files, given as name and text.
func (p *project) write(files ...string) {
	p.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(p.git.Dir, filepath.FromSlash(files[i]))
		testkit.Write(p, name, files[i+1])
	}
}

// commit writes files, commits everything and returns the commit.
func (p *project) commit(files ...string) string {
	p.Helper()
	p.write(files...)
	p.run("add", "-A")
	p.run("commit", "-q", "--allow-empty", "-m", "x")
	return p.run("rev-parse", "HEAD")
}

func (p *project) repo() *Repo {
	p.Helper()
	r, err := Open(p.Context(), p.git)
	testkit.Check(p, err)
	return r
}

// check is [Push.Check]: each line of the file bad is a finding.
func (p *project) check(_ context.Context, site, docroot string) (Report, error) {
	p.checked = append(p.checked, site+" "+docroot)
	if docroot == "" {
		docroot = filepath.Join(site, "public")
	}
	text, err := os.ReadFile(filepath.Join(docroot, "bad"))
	if err != nil {
		return Report{}, err
	}
	r := Report{Docroot: "public"}
	for i, raw := range strings.Fields(string(text)) {
		r.Findings = append(r.Findings, check.Finding{Page: "index.html", Raw: raw, Target: "/" + raw, Code: check.MissingFile, Offset: int64(i)})
	}
	return r, nil
}

// push pushes a commit to main, and returns the result of its tree.
func (p *project) push(commit, before string, set func(*Push)) (result TreeResult, warnings []string) {
	p.Helper()
	results, warnings, err := p.pushRefs([]Ref{{Commit: commit, Remote: "refs/heads/main", Before: before}}, set)
	if err != nil || len(results) != 1 {
		p.Fatalf("push: %+v, %v", results, err)
	}
	return results[0], warnings
}

func (p *project) pushRefs(refs []Ref, set func(*Push)) ([]TreeResult, []string, error) {
	push := Push{Check: p.check, OnlyNew: true, Env: p.git.Env, Remote: "origin"}
	if set != nil {
		set(&push)
	}
	p.checked = nil
	results, warnings, err := p.repo().CheckPush(p.Context(), refs, push)
	if left := p.trees(); len(left) > 0 {
		p.Errorf("left behind: %q", left)
	}
	if list := p.run("worktree", "list"); strings.Contains(list, "\n") {
		p.Errorf("working trees: %s", list)
	}
	return results, warnings, err
}

// trees are the entries of the directory of temporary trees.
func (p *project) trees() (names []string) {
	entries, _ := os.ReadDir(p.repo().dataPath(treesDir))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// want compares the outcome of a push: "checkout, new b, 2 old".
func (p *project) want(r TreeResult, want string) {
	p.Helper()
	got := []string{[]string{"cache", "worktree", "checkout", "remote"}[r.Origin]}
	for _, f := range r.Findings {
		got = append(got, "new "+f.Raw)
	}
	if r.OldFindings > 0 {
		got = append(got, fmt.Sprint(r.OldFindings, " old"))
	}
	for _, flag := range []struct {
		on   bool
		name string
	}{{r.NoBase && len(r.Findings) > 0, "no base"}, {r.Unfetched, "unfetched"}, {r.OldCopy != "", "copy " + r.OldCopy}} {
		if flag.on {
			got = append(got, flag.name)
		}
	}
	if text := strings.Join(got, ", "); text != want {
		p.Errorf("got %s, want %s; checked %q", text, want, p.checked)
	}
}

// A push is checked in the working tree if that is what is pushed, else in a copy; what
// the remote has already does not block it, and nothing is checked twice.
func TestCheckPush(t *testing.T) {
	p := newProject(t)
	one := p.commit("public/bad", "", "public/index.html", "1")
	r, _ := p.push(one, "", nil)
	p.want(r, "worktree")
	if want := []string{p.repo().Top + " "}; !slices.Equal(p.checked, want) || !slices.Equal(r.Refs, []string{"refs/heads/main"}) || r.Commit != one {
		t.Errorf("checked %q, result %+v", p.checked, r)
	}
	r, _ = p.push(one, "", nil)
	p.want(r, "cache")

	two := p.commit("public/bad", "a\n")
	r, _ = p.push(two, "", nil)
	p.want(r, "worktree, new a, no base")
	// What was found is known without another check.
	r, _ = p.push(two, one, nil)
	p.want(r, "cache, new a")
	r, _ = p.push(two, strings.Repeat("1", 40), nil)
	p.want(r, "cache, new a, no base, unfetched")
	r, _ = p.push(two, one, func(p *Push) { p.OnlyNew = false })
	p.want(r, "cache, new a")
	if len(p.checked) > 0 {
		t.Errorf("checked again: %q", p.checked)
	}

	three := p.commit("public/bad", "a\nb\n")
	p.write("untracked", "")
	r, _ = p.push(three, two, nil)
	p.want(r, "checkout, new b, 1 old")
	if dir := strings.Fields(p.checked[0])[0]; dir == p.repo().Top || filepath.Dir(filepath.Dir(dir)) != p.repo().dataPath(treesDir) || filepath.Base(dir) != filepath.Base(p.repo().Top) {
		t.Errorf("checked in %s", dir)
	}
	four := p.commit("readme", "x")
	r, _ = p.push(four, three, nil)
	p.want(r, "worktree, 2 old")
	r, _ = p.push(four, three, nil)
	p.want(r, "cache, 2 old")
	if len(p.checked) > 0 {
		t.Errorf("checked again: %q", p.checked)
	}
	r, _ = p.push(four, four, nil)
	p.want(r, "remote")
	// A new branch is compared with what the remote has of its history.
	p.run("update-ref", "refs/remotes/origin/main", two)
	r, _ = p.push(three, "", nil)
	p.want(r, "cache, new b, 1 old")
	r, _ = p.push(two, "", nil) // which the remote has
	p.want(r, "remote")
	r, _ = p.push(three, "", func(p *Push) { p.Remote = "other" })
	p.want(r, "cache, new a, new b, no base")
	// The commit of the remote is built once.
	testkit.Check(t, p.repo().RemoveData(t.Context()))
	for i, want := range []int{2, 1} {
		if p.push([]string{three, four}[i], two, nil); len(p.checked) != want {
			t.Errorf("push %d: checked %q", i, p.checked)
		}
	}
}

// Branches that no pattern names, tags and deletions are not checked; equal trees are
// checked once.
func TestCheckPushRefs(t *testing.T) {
	p := newProject(t)
	one := p.commit("public/bad", "a")
	refs := []Ref{{Commit: one, Remote: "refs/heads/main"}, {Commit: one, Remote: "refs/tags/v1"}, {Remote: "refs/heads/gone", Before: one},
		{Commit: one, Remote: "refs/heads/dev"}, {Commit: one, Remote: "refs/heads/old"}}
	_, known, err := OpenPush(t.Context(), p.git, refs)
	if err != nil || known[0].Tree != p.run("rev-parse", "HEAD^{tree}") || known[1].Tree != "" || known[4].Commit != one {
		t.Errorf("%+v, %v", known, err)
	}
	many := []Ref{}
	for range 251 {
		many = append(many, refs[0], refs[1])
	}
	if _, known, err := OpenPush(t.Context(), p.git, many); err != nil || slices.ContainsFunc(known, func(r Ref) bool { return r.Tree != "" != r.isBranch() }) {
		t.Errorf("many refs: %v", err)
	}
	results, _, err := p.pushRefs(known, func(p *Push) { p.Branches = []string{"main", "d*"} })
	if err != nil || len(results) != 1 || !slices.Equal(results[0].Refs, []string{"refs/heads/main", "refs/heads/dev"}) || len(p.checked) != 1 {
		t.Errorf("%+v, %v, checked %q", results, err, p.checked)
	}
	two := p.commit("public/bad", "a b")
	results, _, err = p.pushRefs([]Ref{{Commit: two, Remote: "refs/heads/main", Before: one}, {Commit: two, Remote: "refs/heads/dev", Before: two}, {Commit: two, Remote: "refs/heads/old", Before: one}}, nil)
	if err != nil || len(results) != 2 || len(results[0].Findings) != 1 || len(results[0].Refs) != 2 || results[1].Origin != FromRemote {
		t.Errorf("the same tree on other commits: %+v, %v", results, err)
	}
	if _, _, err := p.pushRefs([]Ref{{Commit: "nosuch", Remote: "refs/heads/x"}}, nil); err == nil || !strings.Contains(err.Error(), `no commit "nosuch"`) {
		t.Errorf("got %v", err)
	}
}

// The build of a commit gets an empty directory, and no variable that ties git to this
// repository. One that writes nothing there leaves the docroot to the configuration.
func TestCheckPushBuilds(t *testing.T) {
	p := newProject(t)
	one := p.commit("src", "a", "public/bad", "")
	build := func(command string) func(*Push) {
		return func(push *Push) {
			push.Build, push.Env = command, append(slices.Clone(p.git.Env), "GIT_DIR=/nonexistent", OutVariable+"=/nonexistent")
		}
	}
	r, _ := p.push(one, "", build(`test -z "$GIT_DIR" && cp src "$SITELINK_OUT/bad"`))
	p.want(r, "worktree, new a, no base")
	if out := strings.Fields(p.checked[0])[1]; filepath.Dir(out) != p.repo().dataPath(treesDir) {
		t.Errorf("built into %s", out)
	}
	r, _ = p.push(one, "", build("true"))
	p.want(r, "worktree")
	var failed *BuildError
	_, _, err := p.pushRefs([]Ref{{Commit: one, Remote: "refs/heads/main"}}, build("echo why >&2; exit 7"))
	if !errors.As(err, &failed) || failed.Command != "echo why >&2; exit 7" || !slices.Equal(failed.Output, []string{"why"}) || !strings.HasSuffix(err.Error(), "exit status 7: why") {
		t.Errorf("got %v", err)
	}
	// The commit of the remote has another build, which fails: every finding counts.
	two := p.commit("src", "a b")
	r, warnings := p.push(two, one, func(push *Push) {
		build("")(push)
		push.Configure = func(_ context.Context, commit string) (string, string, error) {
			if commit == one {
				return "false", "", nil
			}
			return `cp src "$SITELINK_OUT/bad"`, "", nil
		}
	})
	p.want(r, "worktree, new a, new b, no base")
	if len(warnings) != 1 || !strings.Contains(warnings[0], one[:12]) {
		t.Errorf("warnings %q", warnings)
	}
	// If it takes too long, nothing is compared.
	_, warnings, err = p.pushRefs([]Ref{{Commit: two, Remote: "refs/heads/main", Before: one}}, func(push *Push) {
		push.Timeout = 300 * time.Millisecond
		push.Configure = func(_ context.Context, commit string) (string, string, error) {
			if commit == one {
				return "exec sleep 60", "", nil
			}
			return `cp src "$SITELINK_OUT/bad" #`, "", nil
		}
	})
	if late := (*TimeoutError)(nil); !errors.As(err, &late) || len(warnings) > 0 {
		t.Errorf("got %v, warnings %q", err, warnings)
	}
	// A committed docroot is checked beside what the build makes.
	three := p.commit("src", "a", "public/bad", "a c")
	r, _ = p.push(three, "", func(push *Push) { build(`cp src "$SITELINK_OUT/bad"`)(push); push.Docroot = "public" })
	p.want(r, "worktree, new a, new c, no base, copy public")
	if page := r.Findings[1].Page; page != "public/index.html" || len(r.Traces) != 2 {
		t.Errorf("page %s, traces %v", page, r.Traces)
	}
	p.write(".gitignore", "public/ignored\n")
	four := p.commit()
	p.write("public/ignored", "") // the docroot of the working tree is not that of the commit
	r, _ = p.push(four, "", func(push *Push) { push.Docroot = "public" })
	p.want(r, "checkout, new a, new c, no base")
}

// A check that takes too long ends with a TimeoutError, and one that ctx ends with its
// cause; nothing is remembered.
func TestCheckPushEnds(t *testing.T) {
	p := newProject(t)
	refs := []Ref{{Commit: p.commit("public/bad", ""), Remote: "refs/heads/main"}}
	var late *TimeoutError
	_, _, err := p.pushRefs(refs, func(push *Push) { push.Build, push.Timeout = "exec sleep 60", 50*time.Millisecond })
	if !errors.As(err, &late) || late.Timeout != 50*time.Millisecond || !strings.Contains(err.Error(), "within 50ms") {
		t.Errorf("got %v", err)
	}
	wrong := errors.New("wrong")
	if _, _, err := p.pushRefs(refs, func(push *Push) {
		push.Check = func(context.Context, string, string) (Report, error) { return Report{}, wrong }
	}); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
	if _, _, err := p.pushRefs(refs, func(push *Push) {
		push.Configure = func(context.Context, string) (string, string, error) { return "", "", wrong }
	}); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
	// A result that holds for a day, and one that is damaged, are made again.
	daily := func(day string) func(*Push) {
		return func(push *Push) {
			push.Today = day
			push.Check = func(ctx context.Context, site, docroot string) (Report, error) {
				r, err := p.check(ctx, site, docroot)
				r.ValidToday = true
				return r, err
			}
		}
	}
	for i, day := range []string{"2026-01-01", "2026-01-01", "2026-01-02"} {
		r, _ := p.push(refs[0].Commit, "", daily(day))
		p.want(r, []string{"worktree", "cache", "worktree"}[i])
	}
	found, err := os.ReadDir(p.repo().dataPath(foundDir))
	if err != nil || len(found) != 1 {
		t.Fatalf("remembered %v, %v", found, err)
	}
	testkit.Check(t, os.WriteFile(filepath.Join(p.repo().dataPath(foundDir), found[0].Name()), []byte("{"), 0o644))
	r, warnings := p.push(refs[0].Commit, "", daily("2026-01-02"))
	if p.want(r, "worktree"); len(warnings) != 1 || !strings.Contains(warnings[0], "damaged") {
		t.Errorf("warnings %q", warnings)
	}
	if err := p.repo().RemoveData(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(p.repo().dataPath("")); err == nil {
		t.Error("the remembered results are still there")
	}
}

// A temporary tree has the submodules, and links to what a build needs and git ignores. A
// tree that a killed run left is removed.
func TestCheckout(t *testing.T) {
	library := newProject(t)
	library.commit("theme", "blue")
	p := newProject(t)
	zero := p.commit("x", "")
	p.run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.git.Dir, "sub")
	p.write("node_modules/x", "1", "web/node_modules/y", "2", ".gitignore", "node_modules\n", "web/public/bad", "", "web/resources/_gen/z", "")
	one := p.commit()
	p.write("untracked", "")
	seen := ""
	look := func(push *Push) {
		push.Site = "web"
		push.Check = func(_ context.Context, site, _ string) (Report, error) {
			for _, name := range []string{"../sub/theme", "../node_modules/x", "node_modules/y", "../untracked"} {
				text, _ := os.ReadFile(filepath.Join(site, name))
				seen += string(text) + " "
			}
			return Report{}, nil
		}
	}
	stale := filepath.Join(p.repo().dataPath(treesDir), "999999999-1")
	testkit.Check(t, os.MkdirAll(stale, 0o755))
	testkit.Write(t, stale+indexSuffix, "")
	if got := p.repo().StaleTrees(); !slices.Equal(got, []string{stale}) {
		t.Errorf("stale %q", got)
	}
	p.write("sub/theme", "red")
	p.run("-C", "sub", "commit", "-qam", "x")
	r, warnings := p.push(one, "", look)
	if p.want(r, "checkout"); seen != "blue 1 2  " || len(warnings) > 0 {
		t.Errorf("seen %q, warnings %q", seen, warnings)
	}
	if changed := p.run("-C", "sub", "status", "--porcelain"); changed != "" {
		t.Errorf("the submodule has changed: %s", changed)
	}
	seen = ""
	if p.push(zero, "", look); seen != " 1   " {
		t.Errorf("seen %q in a commit without the site", seen)
	}
	// A commit of the submodule that is not here.
	p.run("update-index", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",sub")
	p.run("commit", "-q", "-m", "x")
	var missing *SubmoduleError
	_, _, err := p.pushRefs([]Ref{{Commit: p.run("rev-parse", "HEAD"), Remote: "refs/heads/main"}}, look)
	if !errors.As(err, &missing) || missing.Path != "sub" || missing.Commit != strings.Repeat("1", 40) {
		t.Errorf("got %v", err)
	}
}

// Of several sites, only changes of the pushed one matter.
func TestOtherSites(t *testing.T) {
	p := newProject(t)
	one := p.commit("a/public/bad", "", "b/deep/public/bad", "", "shared", "1")
	set := func(push *Push) { push.Site, push.Others = "a", []string{"a", "b/deep"} }
	r, _ := p.push(one, "", set)
	p.want(r, "worktree")
	r, _ = p.push(p.commit("b/deep/public/bad", "x"), "", set)
	p.want(r, "cache")
	for _, name := range []string{"shared", "b/other"} {
		r, _ = p.push(p.commit(name, "2"), "", set)
		p.want(r, "worktree")
	}
	two := p.commit("a/public/bad", "z", "b/deep/public/bad", "1")
	p.want(first(p.push(two, one, set)), "worktree, new z")
	p.want(first(p.push(p.commit("b/deep/public/bad", "2"), two, set)), "remote")
	p.want(first(p.push(p.commit("a/public/bad", ""), "", set)), "cache")
	p.run("rm", "-rq", "b")
	p.want(first(p.push(p.commit("c/x", ""), "", func(push *Push) { push.Site, push.Others = "a", []string{"b/deep", "c"} })), "cache")
	r, _ = p.push(p.commit("b/deep/public/bad", "y"), "", func(push *Push) { push.Site, push.Others = "a", []string{"a", "."} })
	p.want(r, "worktree")
}

func first(r TreeResult, _ []string) TreeResult { return r }

// What commands ask of a repository.
func TestRepo(t *testing.T) {
	p := newProject(t)
	ctx := t.Context()
	one := p.commit("site/public/index.html", "1", "site/a.md", "1")
	r := p.repo()
	for name, want := range map[string]bool{"site": true, "site/a.md": true, ".": true, "none": false, "../x": false} {
		if got := r.CommitContains(ctx, one, filepath.Join(r.Top, name)); got != want {
			t.Errorf("contains %s: %v", name, got)
		}
		if got := r.Tracks(ctx, filepath.Join(r.Top, name)); got != want {
			t.Errorf("tracks %s: %v", name, got)
		}
	}
	newer := func(commit string) string {
		got, err := r.NewerSource(ctx, commit, "site", "site/public")
		testkit.Check(t, err)
		return got
	}
	p.commit("README.md", "2", "site/sitelink.toml", "")
	if got := newer("HEAD"); got != "" {
		t.Errorf("newer than the docroot: %s", got)
	}
	two := p.commit("site/a.md", "2")
	if got := newer("HEAD"); got != two {
		t.Errorf("newer than the docroot: %q, want %s", got, two)
	}
	if got := r.Remotes(ctx); got != "" {
		t.Errorf("remotes %q", got)
	}
	p.run("remote", "add", "origin", "https://example.org/x.git")
	if got := r.Remotes(ctx); got != "https://example.org/x.git\n" {
		t.Errorf("remotes %q", got)
	}
	var unknown *UnknownCommitError
	if _, err := r.CommitID(ctx, "nosuch"); !errors.As(err, &unknown) || unknown.Name != "nosuch" {
		t.Errorf("got %v", err)
	}
	unknown = nil
	if _, err := r.CheckCommit(ctx, "nosuch", Push{Check: p.check}); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
	if id, err := r.CommitID(ctx, "HEAD~1"); err != nil || id == two || len(id) != 40 {
		t.Errorf("%s, %v", id, err)
	}
	report, err := r.CheckCommit(ctx, "HEAD", Push{Site: "site", Build: `echo a >"$SITELINK_OUT/bad"`, Check: p.check, Env: p.git.Env, Timeout: time.Minute})
	if err != nil || len(report.Findings) != 1 || strings.HasPrefix(p.checked[0], r.Top+string(filepath.Separator)+"site") {
		t.Errorf("%+v, %v, checked %q", report, err, p.checked)
	}
	if _, err := Open(ctx, Git{Env: p.git.Env}.In(t.TempDir())); !errors.Is(err, ErrNoWorkTree) {
		t.Errorf("no repository: %v", err)
	}
}

// The hook file runs sitelink for each site and then the hook that was there before, which
// an uninstall restores.
func TestHookFile(t *testing.T) {
	p := newProject(t)
	p.commit("a/x", "")
	ctx, r := t.Context(), p.repo()
	status := func(want Method, sites ...string) Status {
		t.Helper()
		s, err := r.Status(ctx)
		if err != nil || s.Method != want || !slices.Equal(s.Sites, sites) {
			t.Errorf("method %d, sites %q, %v; want %d, %q", s.Method, s.Sites, err, want, sites)
		}
		return s
	}
	s := status(NotInstalled)
	if s.ConfigHooks {
		t.Skip("this git runs hooks by configuration")
	}
	log := filepath.Join(t.TempDir(), "log")
	program := filepath.Join(t.TempDir(), "my sitelink")
	script := func(name, text string) {
		testkit.Check(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("#!/bin/sh\n"+text), 0o755)))
	}
	script(program, `{ echo "sitelink $*"; cat; } >>`+log+"\nexit ${EXIT:-0}\n")
	old := `{ echo "old $*"; cat; } >>` + log + "\n"
	script(s.File, old)
	if s := status(NotInstalled); !s.Foreign {
		t.Error("the hook that is there is not foreign")
	}
	install := func(site string) {
		t.Helper()
		if _, err := r.Install(ctx, InstallOptions{Program: program, Site: site}); err != nil {
			t.Fatal(err)
		}
	}
	install(".")
	status(ByChain, ".")
	install("a")
	install("a")
	status(ByChain, ".", "a")
	runHook := func(env ...string) (string, error) {
		_ = os.Remove(log)
		cmd := exec.Command(s.File, "origin", "url")
		cmd.Dir, cmd.Env, cmd.Stdin = r.Top, append(slices.Clone(p.git.Env), env...), strings.NewReader("refs\n\n")
		err := cmd.Run()
		text, _ := os.ReadFile(log)
		return string(text), err
	}
	if got, err := runHook(); err != nil || got != "sitelink hook run pre-push --dir . --dir a --stdin origin url\nrefs\n\nold origin url\nrefs\n\n" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := runHook("EXIT=1"); err == nil || strings.Contains(got, "old") {
		t.Errorf("%q, %v", got, err)
	}
	if before, err := r.Uninstall(ctx, "a"); err != nil || before.Method != ByChain {
		t.Errorf("%+v, %v", before, err)
	}
	status(ByChain, ".")
	if _, err := r.Uninstall(ctx); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(s.File); err != nil || string(text) != "#!/bin/sh\n"+old {
		t.Errorf("restored %q, %v", text, err)
	}
	testkit.Check(t, os.Remove(s.File))
	install(".")
	status(ByFile, ".")
	if got, err := runHook(); err != nil || got != "sitelink hook run pre-push --stdin origin url\nrefs\n\n" {
		t.Errorf("%q, %v", got, err)
	}
	testkit.Check(t, os.Remove(program))
	var exit *exec.ExitError
	if _, err := runHook(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("without the program: %v", err)
	}
	if _, err := r.Uninstall(ctx, "."); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(s.File); err == nil {
		t.Error("the hook file is still there")
	}
	// A file of a manager that runs sitelink already is left alone.
	p.write("lefthook.yml", Snippet("lefthook", "a"))
	if s := status(ByManager, "a"); s.Manager != "lefthook" || s.ManagerFile != "lefthook.yml" {
		t.Errorf("%+v", s)
	}
	var managed *ManagedError
	if _, err := r.Install(ctx, InstallOptions{Program: program, Site: "b"}); !errors.As(err, &managed) || !slices.Equal(managed.Sites, []string{"a", "b"}) {
		t.Errorf("got %v", err)
	}
	install("a")
	if _, err := r.Uninstall(ctx, "a"); err != nil {
		t.Error(err)
	}
}
