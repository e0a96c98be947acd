package githook_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook"
	"github.com/sitelink/sitelink/hook/githook"
)

// Install the hook, look at what is set up, and remove it again.
func ExampleRepo_Install() {
	ctx, git, remove := newRepository()
	defer remove()

	repo, err := githook.Open(ctx, git)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := repo.Install(ctx, githook.InstallOptions{Program: "/usr/local/bin/sitelink"}); err != nil {
		fmt.Println(err)
		return
	}
	status, err := repo.Status(ctx)
	fmt.Println("installed:", status.Method != githook.NotInstalled, err)

	if _, err := repo.Uninstall(ctx); err != nil {
		fmt.Println(err)
	}
	status, err = repo.Status(ctx)
	fmt.Println("installed:", status.Method != githook.NotInstalled, err)
	// Output:
	// installed: true <nil>
	// installed: false <nil>
}

// A pre-push hook of your own: check what git says is pushed.
func ExampleRepo_CheckPush() {
	ctx, git, remove := newRepository()
	defer remove()
	commit(git, "public/index.html", `<!doctype html><title>Home</title><a href="/about/">About</a>`)

	// In a hook, read the refs from standard input with githook.ReadRefs.
	refs := []githook.Ref{{Local: "main", Commit: "HEAD", Remote: "refs/heads/main"}}
	repo, refs, err := githook.OpenPush(ctx, git, refs)
	if err != nil {
		fmt.Println(err)
		return
	}
	results, _, err := repo.CheckPush(ctx, refs, githook.Push{
		Docroot: "public",
		Check: func(ctx context.Context, site, docroot string) (githook.Report, error) {
			result, err := hook.Check(ctx, hook.Site{Docroot: filepath.Join(site, "public")})
			if err != nil {
				return githook.Report{}, err
			}
			return githook.Report{Docroot: "public", Findings: result.Findings}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, result := range results {
		for _, f := range result.Findings {
			fmt.Println(strings.Join(result.Refs, " "), f.Page, f.Code == check.MissingDirectory)
		}
	}
	// Output:
	// refs/heads/main index.html true
}

func ExampleReadRefs() {
	const id, none = "5c0c9a3d5e8a4a5f9d8d1f1c0b7a6e5d4c3b2a19", "0000000000000000000000000000000000000000"
	refs, err := githook.ReadRefs(strings.NewReader(
		"refs/heads/main " + id + " refs/heads/main " + none + "\n" +
			"(delete) " + none + " refs/heads/old " + id + "\n"))
	for _, ref := range refs {
		fmt.Printf("%s new %v deleted %v\n", ref.Remote, ref.Before == "", ref.Commit == "")
	}
	fmt.Println(err)
	// Output:
	// refs/heads/main new true deleted false
	// refs/heads/old new false deleted true
	// <nil>
}

// newRepository makes an empty repository in a temporary directory, without the
// configuration of the user who runs the examples.
func newRepository() (ctx context.Context, git githook.Git, remove func()) {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org"}
	git = githook.Git{Env: env}.In(filepath.Join(dir, "repository"))
	run(githook.Git{Env: env, Dir: dir}, "init", "-q", "-b", "main", "repository")
	return context.Background(), git, func() { _ = os.RemoveAll(dir) }
}

// commit adds a file to the repository.
func commit(git githook.Git, name, text string) {
	file := filepath.Join(git.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		panic(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		panic(err)
	}
	run(git, "add", "-A")
	run(git, "commit", "-q", "-m", name)
}

func run(git githook.Git, args ...string) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = git.Dir, git.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("git %s: %v\n%s", strings.Join(args, " "), err, out))
	}
}
