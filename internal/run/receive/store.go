// Package receive runs the receiver for the command: it opens the store of
// mentions that the configuration names, loads the sites, and joins the packages
// below incoming. Its other half is what sitelink mentions does with a store.
//
// It prints nothing; lines for the user go to functions in the options.
package receive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/store"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/notify"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// StoreName returns the store of the configuration: a file as a user in the
// project's directory would write it, or an address.
func StoreName(p *project.Project) string {
	name := p.Config.Incoming.Store
	if !notify.IsFile(name) || filepath.IsAbs(name) || p.Config.Given("incoming.store") { // a flag is relative to that directory
		return name
	}
	return p.Show(filepath.Join(p.Root, filepath.FromSlash(name)))
}

// showStore returns the name for messages, without a password.
func showStore(p *project.Project) string {
	return notify.WithoutPassword(StoreName(p))
}

// StoreOptions configure [OpenStore].
type StoreOptions struct {
	// MustExist refuses to make a new file.
	MustExist bool
	// ReadOnly changes nothing, not even the form of an older store.
	ReadOnly bool
	// Serve opens the store for the receiver, which is the only one that works
	// its queue when the store is a file.
	Serve bool
	// Log, if not nil, takes warnings about background work.
	Log *slog.Logger
}

// OpenStore opens the store of the configuration. A configuration that was found,
// not named, may come with a hostile checkout: its store must be a file inside the
// repository.
func OpenStore(ctx context.Context, p *project.Project, opt StoreOptions) (*store.Store, error) {
	name := StoreName(p)
	if !p.Config.Named("incoming.store") {
		// A configuration that was found cannot name a store outside the repository.
		const hint = "name it with --store or in a file given with --config: a sitelink.toml of the checkout is not trusted with it"
		if !notify.IsFile(name) {
			return nil, text.Usage(fmt.Sprintf("store in [incoming]: %s is not used, because --config does not name the configuration", showStore(p)), hint)
		}
		for _, ending := range []string{"", "-wal", "-shm", "-journal", ".lock", "-worker", ".key", callsEnding} {
			if path, where := system.Outside(p.Root, p.Abs(name)+ending); where != "" {
				return nil, text.Usage(fmt.Sprintf("store in [incoming]: %s is %s", path, where), hint)
			}
		}
	}
	if notify.IsFile(name) {
		name = p.Abs(name)
		_, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && opt.MustExist:
			return nil, text.WithHint(fmt.Errorf("there is no store %s", showStore(p)), "sitelink serve creates one; --store names another")
		case errors.Is(err, fs.ErrNotExist) && filepath.Base(filepath.Dir(name)) == system.StateName:
			if err := system.MakeState(filepath.Dir(name)); err != nil {
				return nil, err
			}
		}
	}
	return store.Open(ctx, name, store.Options{Worker: opt.Serve, Existing: opt.MustExist, ReadOnly: opt.ReadOnly, Retain: p.Config.Incoming.Retention, Log: opt.Log})
}

// HasStore reports whether there is a store to read: a file, or a symbolic link to
// one, which [OpenStore] opens and refuses by the same rules. A store in PostgreSQL
// counts only if the user named it, see checkFound.
func HasStore(p *project.Project) bool {
	name := StoreName(p)
	if !notify.IsFile(name) {
		return p.Config.Named("incoming.store")
	}
	info, err := os.Stat(p.Abs(name))
	return err == nil && info.Mode().IsRegular()
}

// Changes returns the changes of our links that other sites reported and the receiver
// proved, see [incoming.Changes]; none if there is no store.
func Changes(ctx context.Context, p *project.Project) ([]incoming.LinkChange, error) {
	if !HasStore(p) {
		return nil, nil
	}
	store, err := OpenStore(ctx, p, StoreOptions{MustExist: true, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	changes, err := incoming.Changes(ctx, store)
	return changes, errors.Join(err, store.Close())
}

// Backup copies the store of the configuration into a file. The receiver may run
// meanwhile.
func Backup(ctx context.Context, p *project.Project, file string) error {
	s, err := OpenStore(ctx, p, StoreOptions{MustExist: true})
	if err != nil {
		return err
	}
	return errors.Join(s.Backup(ctx, p.Abs(file)), s.Close())
}
