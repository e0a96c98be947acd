package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/git"
	"github.com/sitelink/sitelink/internal/system"
)

// GitOptions configure [OpenGit] and [ReadGit].
type GitOptions struct {
	// Dir is a directory in the clone, and Env the environment of git.
	Dir string
	Env []string
	// Warn is that of [Open].
	Warn func(string)
}

// upstream is the ref of a cache that is kept in git. The file of the cache, in the
// directory of git, only has what could not be pushed.
type upstream struct {
	name    string
	ref     *git.Ref
	fetched string // the file of the commit that was seen last
}

const (
	gitFile  = "status.jsonl"
	gitTries = 20
	// gitTime limits the push at the end of a run.
	gitTime = 2 * time.Minute
)

// OpenGit opens the cache in a ref of a remote repository, git:REF or git:REMOTE:REF,
// where the default remote is origin: for runners that keep no files. What is learned
// is in the directory of git within a second. Close merges it with what others have
// pushed meanwhile, and pushes the result.
func OpenGit(ctx context.Context, name string, opt GitOptions) (*Cache, error) {
	u, file, err := fetchGit(ctx, name, opt)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return nil, fmt.Errorf("open status cache %s: %w", name, system.Cause(err))
	}
	c, err := Open(file, opt.Warn)
	if err != nil {
		return nil, err
	}
	if err = loadRows(name, strings.NewReader(u.fetched), c.rows, c.warn); err != nil {
		c.Close()
		return nil, err
	}
	c.upstream = u
	return c, nil
}

// ReadGit returns the records of a cache that [OpenGit] keeps, sorted by URL, and
// changes nothing but git's copy of the ref.
func ReadGit(ctx context.Context, name string, opt GitOptions) ([]Record, error) {
	u, _, err := fetchGit(ctx, name, opt)
	if err != nil {
		return nil, err
	}
	if opt.Warn == nil {
		opt.Warn = func(string) {}
	}
	rows := map[string]string{}
	if err := loadRows(name, strings.NewReader(u.fetched), rows, opt.Warn); err != nil {
		return nil, err
	}
	return records(rows), nil
}

// fetchGit fetches the ref. It returns the name of the file in the directory of git.
func fetchGit(ctx context.Context, name string, opt GitOptions) (u *upstream, file string, err error) {
	fail := func(err error) error { return fmt.Errorf("open status cache %s: %w", name, err) }
	command := git.Command{Dir: opt.Dir, Env: opt.Env, Limit: maxBytes, Foreground: true}
	ref, dir, err := git.OpenRef(ctx, command, name, "status", gitFile)
	if err != nil {
		return nil, "", fail(err)
	}
	u = &upstream{name: name, ref: ref}
	if u.fetched, _, err = ref.Fetch(ctx); err != nil {
		return nil, "", fail(err)
	}
	return u, filepath.Join(dir, gitFile), nil
}

// push merges the rows of this clone with those of the remote, and pushes the result,
// which rows is then.
func (u *upstream) push(rows map[string]string, removed map[string]bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), gitTime)
	defer cancel()
	for range gitTries {
		if err := loadRows(u.name, strings.NewReader(u.fetched), rows, func(string) {}); err != nil {
			return err
		}
		for url := range removed {
			delete(rows, url)
		}
		var b strings.Builder
		b.WriteString(headerLine + "\n")
		for _, url := range slices.Sorted(maps.Keys(rows)) {
			b.WriteString(rows[url] + "\n")
		}
		text := b.String()
		if text == u.fetched || u.fetched == "" && len(rows) == 0 {
			return nil
		}
		pushErr := u.ref.Push(ctx, text, "sitelink: status cache")
		if pushErr == nil {
			return nil
		}
		// Whatever git's message is: if the ref has changed, another runner was faster.
		fetched, changed, err := u.ref.Fetch(ctx)
		if err != nil || !changed {
			return errors.Join(pushErr, err)
		}
		u.fetched = fetched
	}
	return fmt.Errorf("other runners changed it first, %d times in a row", gitTries)
}
