package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.InMemory()
	m.Run()
}

// fixture is a repository with one commit, and a place where the programs that
// it names leave a mark.
type fixture struct {
	t         *testing.T
	root, ran string
	env       []string
}

func newFixture(t *testing.T) *fixture {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("the tests of this package need git")
	}
	base := testkit.Must(filepath.EvalSymlinks(t.TempDir()))(t)
	f := &fixture{t: t, root: filepath.Join(base, "repo"), ran: filepath.Join(base, "ran")}
	f.env = append(os.Environ(), "HOME="+base, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	f.write("repo/a.txt", "text\n")
	f.git("init", "-q", "-b", "main", ".")
	f.write("repo/.git/info/exclude", "ignored\n")
	f.git("add", "-A")
	f.git("commit", "-q", "-m", "one")
	return f
}

func (f *fixture) base() string { return filepath.Dir(f.root) }

func (f *fixture) write(name, text string) {
	f.t.Helper()
	name = filepath.Join(f.base(), filepath.FromSlash(name))
	testkit.Check(f.t, os.MkdirAll(filepath.Dir(name), 0o755))
	testkit.Check(f.t, os.WriteFile(name, []byte(text), 0o755))
}

// git runs git as the person who makes the repository.
func (f *fixture) git(args ...string) string {
	f.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = f.root, f.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// program writes a script that leaves the mark, and returns its path.
func (f *fixture) program() string {
	f.write("evil", "#!/bin/sh\ntouch '"+f.ran+"'\nexit 1\n")
	return filepath.Join(f.base(), "evil")
}

func (f *fixture) hasRun() bool {
	_, err := os.Lstat(f.ran)
	return err == nil
}

// TestUntrustedStartsNothing runs every reading command in repositories with a
// configuration that names programs. The trusted command shows that the attack
// works.
func TestUntrustedStartsNothing(t *testing.T) {
	read := [][]string{{"ls-files", "-z", "-o", "-c"}, {"cat-file", "blob", "HEAD:a.txt"}, {"ls-tree", "-r", "HEAD"},
		{"rev-parse", "--verify", "HEAD^{tree}"}, {"config", "--list"}, {"check-ignore", "-q", "--no-index", "ignored"}, {"version"}}
	attacks := []struct {
		name   string
		make   func(f *fixture)
		proof  []string // starts the program when the repository is trusted
		broken bool     // the commands fail
	}{
		{"fsmonitor", func(f *fixture) { f.git("config", "core.fsmonitor", f.program()) }, []string{"status"}, false},
		{"promisor", func(f *fixture) {
			evil := f.program()
			f.git("config", "core.repositoryformatversion", "1")
			f.git("config", "extensions.partialClone", "o")
			f.git("config", "remote.o.promisor", "true")
			f.git("config", "remote.o.url", f.base())
			f.git("config", "remote.o.uploadpack", evil)
			f.git("config", "protocol.file.allow", "always")
			blob := f.git("rev-parse", "HEAD:a.txt")
			testkit.Check(t, os.Remove(filepath.Join(f.root, ".git", "objects", blob[:2], blob[2:])))
		}, []string{"cat-file", "blob", "HEAD:a.txt"}, true},
		{"signature", func(f *fixture) {
			f.git("config", "gpg.program", f.program())
			f.git("config", "log.showSignature", "true")
		}, nil, false},
		{"pager", func(f *fixture) { f.git("config", "core.pager", f.program()) }, nil, false},
		{"textconv", func(f *fixture) {
			f.git("config", "diff.x.textconv", f.program())
			f.git("config", "filter.x.smudge", f.program())
			f.write("repo/.gitattributes", "* diff=x filter=x\n")
		}, []string{"cat-file", "--filters", "HEAD:a.txt"}, false},
		{"alias", func(f *fixture) { f.git("config", "alias.ls-files", "!"+f.program()) }, nil, false},
		{"hooks", func(f *fixture) {
			f.program()
			f.git("config", "core.hooksPath", f.base())
			for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout"} {
				f.write(hook, "#!/bin/sh\ntouch '"+f.ran+"'\n")
			}
		}, []string{"update-ref", "refs/x", "HEAD"}, false},
	}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			f := newFixture(t)
			a.make(f)
			for _, args := range read {
				out, err := Command{Dir: f.root, Env: f.env, Untrusted: true}.Run(context.Background(), args...)
				if err != nil && !a.broken {
					t.Errorf("git %v: %v\n%s", args, err, out)
				}
				if f.hasRun() {
					t.Fatalf("git %v ran a program of the repository", args)
				}
			}
			if a.proof == nil {
				return
			}
			_, _ = Command{Dir: f.root, Env: f.env}.Run(context.Background(), a.proof...)
			if !f.hasRun() {
				t.Errorf("the attack does not work: git %v ran nothing", a.proof)
			}
		})
	}
}

// TestUntrustedEnvironment checks that variables of git name no program either,
// and that commands that write are refused.
func TestUntrustedEnvironment(t *testing.T) {
	f := newFixture(t)
	evil := f.program()
	env := append(slices.Clone(f.env), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0="+evil,
		"GIT_CONFIG_PARAMETERS='core.fsmonitor'='"+evil+"'", "GIT_SSH_COMMAND="+evil, "GIT_TRACE="+f.ran, "GIT_DIR=elsewhere",
		"GIT_EXEC_PATH="+f.base(), "GIT_ALTERNATE_OBJECT_DIRECTORIES="+f.base())
	c := Command{Dir: f.root, Env: env, Untrusted: true}
	if out, err := c.Run(context.Background(), "ls-files"); err != nil || string(out) != "a.txt\n" || f.hasRun() {
		t.Errorf("ls-files printed %q, %v; a program ran: %v", out, err, f.hasRun())
	}
	for _, args := range [][]string{{"status"}, {"fetch", "origin"}, {"diff"}, {"worktree", "add", "x"}, {"-c", "x=y", "push"}} {
		if _, err := c.Run(context.Background(), args...); err == nil {
			t.Errorf("git %v ran in an untrusted repository", args)
		}
	}
}

func TestOpen(t *testing.T) {
	other := func(f *fixture) string { // a repository elsewhere
		dir := filepath.Join(f.base(), "other")
		f.git("clone", "-q", "--no-local", f.root, dir)
		return dir
	}
	rewrite := func(f *fixture, gitDir string) { // .git becomes a file
		testkit.Check(t, os.RemoveAll(filepath.Join(f.root, ".git")))
		f.write("repo/.git", "gitdir: "+gitDir+"\n")
	}
	for _, test := range []struct {
		name string
		make func(f *fixture) (root string)
		ok   bool
	}{
		{"plain", func(f *fixture) string { return f.root }, true},
		{"linked working tree", func(f *fixture) string {
			f.git("worktree", "add", "-q", "--detach", "../linked")
			return filepath.Join(f.base(), "linked")
		}, true},
		{"submodule", func(f *fixture) string {
			f.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other(f), "sub")
			return filepath.Join(f.root, "sub")
		}, true},
		{".git inside", func(f *fixture) string {
			testkit.Check(t, os.Rename(filepath.Join(f.root, ".git"), filepath.Join(f.root, "store")))
			f.write("repo/.git", "gitdir: store\n")
			return f.root
		}, true},
		{".git file that leads outside", func(f *fixture) string {
			rewrite(f, filepath.Join(other(f), ".git"))
			return f.root
		}, false},
		{".git link that leads outside", func(f *fixture) string {
			dir := other(f)
			testkit.Check(t, os.RemoveAll(filepath.Join(f.root, ".git")))
			testkit.Check(t, os.Symlink(filepath.Join(dir, ".git"), filepath.Join(f.root, ".git")))
			return f.root
		}, false},
		{"linked working tree of another", func(f *fixture) string {
			f.git("worktree", "add", "-q", "--detach", "../linked")
			f.write("stolen/.git", "gitdir: "+filepath.Join(f.root, ".git", "worktrees", "linked")+"\n")
			return filepath.Join(f.base(), "stolen")
		}, false},
		{"core.worktree", func(f *fixture) string { f.git("config", "core.worktree", f.base()); return f.root }, false},
		{"commondir", func(f *fixture) string {
			f.write("repo/.git/commondir", filepath.Join(other(f), ".git")+"\n")
			return f.root
		}, false},
		{"objects link", func(f *fixture) string {
			dir := filepath.Join(other(f), ".git", "objects")
			objects := filepath.Join(f.root, ".git", "objects")
			testkit.Check(t, errors.Join(os.RemoveAll(objects), os.Symlink(dir, objects)))
			return f.root
		}, false},
		{"alternates", func(f *fixture) string {
			f.write("repo/.git/objects/info/alternates", filepath.Join(other(f), ".git", "objects")+"\n")
			return f.root
		}, false},
		{"alternates inside", func(f *fixture) string {
			f.write("repo/.git/objects/info/alternates", "../more\n")
			f.write("repo/.git/more/info/alternates", "# none\n")
			return f.root
		}, true},
		{"no .git", func(f *fixture) string {
			f.write("repo/below/x", "")
			return filepath.Join(f.root, "below")
		}, false},
		{"an empty .git below a repository", func(f *fixture) string {
			f.write("repo/below/.git/x", "")
			return filepath.Join(f.root, "below")
		}, false},
		{"an empty .git in a bare repository", func(f *fixture) string {
			f.git("clone", "-q", "--bare", f.root, "bare")
			f.write("repo/bare/.git/x", "")
			return filepath.Join(f.root, "bare")
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			r, err := Open(context.Background(), test.make(f), f.env)
			if err == nil {
				err = r.Alternates(context.Background())
			}
			if (err == nil) != test.ok {
				t.Errorf("error %v, want one: %v", err, !test.ok)
			}
		})
	}
}

func TestPath(t *testing.T) {
	f := newFixture(t)
	f.write("repo/nested/.git/x", "")
	f.write("repo/below/x", "")
	testkit.Check(t, os.Symlink(f.base(), filepath.Join(f.root, "up")))
	r := testkit.Must(Open(context.Background(), f.root, f.env))(t)
	for name, want := range map[string]string{
		"a.txt": "a.txt", "below/x": "below/x", "gone/deeper/x": "gone/deeper/x", "up/repo/a.txt": "a.txt",
		"nested/x": "", "up/x": "", "../x": "",
	} {
		got, err := r.Path(filepath.Join(f.root, name))
		var outside *OutsideError
		if got != want || (want == "") != errors.As(err, &outside) {
			t.Errorf("Path(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
}

func TestRefNames(t *testing.T) {
	for name, want := range map[string]string{
		"git:refs/sitelink/ledger":                            "origin refs/sitelink/ledger",
		"git:upstream:refs/x/y":                               "upstream refs/x/y",
		"git:https://git.example:8443/a/b.git:refs/x/y":       "https://git.example:8443/a/b.git refs/x/y",
		"git:git@git.example:a/b.git:refs/sitelink/of:blog/x": "",
		"git:refs/heads/main":                                 "",
		"git:ledger":                                          "",
		"git:--upload-pack=x:refs/x/y":                        "",
	} {
		remote, ref, ok := parseRef(name)
		got := ""
		if ok {
			got = remote + " " + ref
		}
		if got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
