package external

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/check/remote"
	"github.com/sitelink/sitelink/check/remote/pg"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/notify"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// CacheName returns the name of the status cache of a project, a file in the form in
// which this process can open it.
func CacheName(p *project.Project) string {
	return notify.NameInProject(p, p.Config.External.StatusCache, "external.status-cache")
}

// openCache opens the status cache of a project.
func openCache(ctx context.Context, p *project.Project, warn func(string)) (*remote.Cache, error) {
	name, err := cacheName(p)
	if err != nil {
		return nil, err
	}
	if isDatabase(name) {
		store, err := pg.Open(ctx, name, pg.Options{})
		if err != nil {
			return nil, hinted(err)
		}
		return remote.OpenStore(store, warn), nil
	}
	if isGit(name) {
		cache, err := remote.OpenGit(ctx, name, gitOptions(p, warn))
		return cache, hinted(err)
	}
	if err := system.MakeState(filepath.Dir(name)); err != nil {
		return nil, err
	}
	cache, err := remote.Open(name, warn)
	return cache, hinted(err)
}

// Records returns what the status cache of a project knows, and changes nothing; none
// if there is no cache, or one that a configuration that was found cannot name.
func Records(ctx context.Context, p *project.Project, warn func(string)) ([]remote.Record, error) {
	name, err := cacheName(p)
	switch {
	case err != nil && !notify.IsFile(CacheName(p)) && warn != nil:
		warn(err.Error())
		return nil, nil
	case err != nil:
		return nil, err
	case isDatabase(name):
		store, err := pg.Open(ctx, name, pg.Options{ReadOnly: true})
		if err != nil {
			return nil, hinted(err)
		}
		defer store.Close()
		return remote.ReadStore(ctx, store, warn)
	case isGit(name):
		records, err := remote.ReadGit(ctx, name, gitOptions(p, warn))
		return records, hinted(err)
	}
	records, err := remote.Read(name, warn)
	return records, hinted(err)
}

func isGit(name string) bool { return strings.HasPrefix(name, "git:") }

func gitOptions(p *project.Project, warn func(string)) remote.GitOptions {
	return remote.GitOptions{Dir: p.Root, Env: os.Environ(), Warn: warn}
}

func isDatabase(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// cacheName is CacheName with two errors: for an unknown kind of status cache, and for
// one that the configuration of a checkout must not choose: a file outside of the
// repository, a ref of git or a database.
func cacheName(p *project.Project) (string, error) {
	name := CacheName(p)
	switch {
	case !notify.IsFile(name) && !isDatabase(name) && !isGit(name):
		return "", text.Usage(fmt.Sprintf("unknown kind of status cache: %q", notify.WithoutPassword(name)), "use a file, git:refs/sitelink/status or postgres://USER@HOST/DATABASE")
	case p.Config.Named("external.status-cache"):
		return name, nil
	case !notify.IsFile(name):
		return "", text.Usage(fmt.Sprintf("status-cache in [external]: %s is not used, because --config does not name the configuration", notify.WithoutPassword(name)),
			"name the status cache with --status-cache or the file with --config")
	}
	for _, file := range []string{name, strings.TrimSuffix(name, ".jsonl") + ".lock", runLock(name)} {
		if path, where := system.Outside(p.Root, p.Abs(file)); where != "" {
			return "", text.Usage(fmt.Sprintf("status-cache in [external]: %s is %s", path, where),
				"name it with --status-cache or in a file given with --config: a sitelink.toml of the checkout is not trusted with it")
		}
	}
	return name, nil
}

// runLock returns the name of the file that a run locks while it asks with a status
// cache in a file.
func runLock(name string) string { return strings.TrimSuffix(name, ".jsonl") + ".run.lock" }

// LockRun waits until no other run asks with a status cache: together, they would ask
// each host twice as often. It returns nil for a cache that is not a file: a database has
// claims. The lock ends when it is closed.
func LockRun(ctx context.Context, p *project.Project, warn func(string)) (*os.File, error) {
	name, err := cacheName(p)
	if err != nil || !notify.IsFile(name) {
		return nil, err
	}
	if err := system.MakeState(filepath.Dir(name)); err != nil {
		return nil, err
	}
	lock, err := system.Lock(ctx, runLock(name), func() {
		warn(fmt.Sprintf("another run asks with the status cache %s; this one waits until it has ended", name))
	})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("lock status cache %s: %w", name, err)
	}
	return lock, err
}

// hinted adds what to do about an error of the cache.
func hinted(err error) error {
	if errors.Is(err, remote.ErrNewer) {
		return text.WithHint(err, "use the version of sitelink that wrote it, or a newer one; or name another status cache: --status-cache FILE")
	}
	return err
}
