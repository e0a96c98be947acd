package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/git"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// A ledger that a found configuration names, or the default one, belongs to a
// checkout that may be hostile. A file must stay inside the repository. A ref of
// git can be read, from the remote that the repository was cloned from. Anything
// else needs the user's word: --ledger or --config.

// CheckLedger returns an error for a ledger that a found configuration cannot
// choose. Writing needs more trust than reading.
func CheckLedger(p *project.Project, readOnly bool) error {
	if p.Config.Named("outgoing.ledger") {
		return nil
	}
	name := LedgerName(p)
	if IsFile(name) {
		file := p.Abs(name)
		for _, ending := range []string{"", "lock", "journal", "damaged"} {
			sibling := file
			if ending != "" {
				sibling = strings.TrimSuffix(file, ".jsonl") + "." + ending
			}
			if path, where := system.Outside(p.Root, sibling); where != "" {
				return text.Usage(fmt.Sprintf("ledger in [outgoing]: %s is %s", path, where),
					"name it with --ledger or in a file given with --config: a sitelink.toml of the checkout is not trusted with it")
			}
		}
		return nil
	}
	if ref, ok := strings.CutPrefix(name, "git:"); ok && strings.HasPrefix(ref, "refs/") && !strings.Contains(ref, ":") && readOnly {
		return nil
	}
	return text.Usage(fmt.Sprintf("ledger in [outgoing]: %s is not used, because --config does not name the configuration", ShowLedger(p)),
		"name the ledger with --ledger or the file with --config")
}

// openFoundRef opens git:REF for reading. git runs in an empty repository of its
// own, so that nothing in the configuration of the checkout takes effect, except
// the address of the remote and the headers for it that CI writes there.
func openFoundRef(ctx context.Context, p *project.Project, opt ledger.GitOptions) (ledger.Store, error) {
	name := LedgerName(p)
	fail := func(err error) error { return fmt.Errorf("open ledger %s: %w", name, err) }
	repo, err := git.Open(ctx, p.Root, p.Env())
	if err != nil {
		return nil, fail(err)
	}
	address, err := repo.Run(ctx, "config", "--local", "--get", "remote.origin.url")
	if err != nil {
		return nil, fail(errors.New("the repository has no remote named origin"))
	}
	url, err := remoteAddress(repo.Root, strings.TrimSuffix(string(address), "\n"))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sitelink-ledger-")
	if err != nil {
		return nil, fail(system.Cause(err))
	}
	store := &temporaryGit{dir: dir}
	env := append(git.WithoutLocal(opt.Env), "GIT_ALLOW_PROTOCOL=file:http:https:ssh")
	own := git.Command{Dir: dir, Env: env}
	for _, args := range [][]string{{"init", "--quiet", "--template="}, {"config", "remote.origin.url", url}} {
		if _, err := own.Run(ctx, args...); err != nil {
			os.RemoveAll(dir)
			return nil, fail(err)
		}
	}
	opt.Dir, opt.Env, opt.ReadOnly = dir, append(env, headers(ctx, repo)...), true
	if store.Git, err = ledger.OpenGit(ctx, name, opt); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return store, nil
}

// temporaryGit is a ledger that was fetched into a repository of its own.
type temporaryGit struct {
	*ledger.Git
	dir string
}

func (t *temporaryGit) Close() error { return errors.Join(t.Git.Close(), os.RemoveAll(t.dir)) }

// remoteAddress returns the address of a remote that may be read: on another
// host, or a repository of this machine outside the checkout.
func remoteAddress(root, address string) (string, error) {
	refuse := func(why string) error {
		return text.Usage(fmt.Sprintf("ledger in [outgoing]: the remote origin, %s, is %s", address, why), "name the ledger with --ledger")
	}
	scheme, rest, isURL := strings.Cut(address, "://")
	switch {
	case strings.HasPrefix(address, "-"), strings.Contains(address, "::"):
		return "", refuse("not an address")
	case isURL && scheme != "file":
		return address, nil // git refuses other protocols
	case isURL:
		address = rest
	default:
		// HOST:PATH, unless a slash comes first.
		if host, _, ok := strings.Cut(address, ":"); ok && !strings.Contains(host, "/") {
			return address, nil
		}
	}
	if !filepath.IsAbs(address) {
		address = filepath.Join(root, address)
	}
	if _, where := system.Outside(root, address); !strings.HasPrefix(where, "outside") {
		return "", refuse("a path inside the checkout")
	}
	return address, nil
}

// headers returns variables with the extra headers for requests that the
// repository configures: CI gives git its token that way.
func headers(ctx context.Context, repo *git.Repository) (env []string) {
	out, err := repo.Run(ctx, "config", "--local", "-z", "--get-regexp", `^http\.(.*\.)?extraheader$`)
	if err != nil {
		return nil // there are none
	}
	n := 0
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		key, value, ok := strings.Cut(entry, "\n")
		if !ok {
			continue
		}
		i := strconv.Itoa(n)
		env = append(env, "GIT_CONFIG_KEY_"+i+"="+key, "GIT_CONFIG_VALUE_"+i+"="+value)
		n++
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(n))
}
