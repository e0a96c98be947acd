package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/ledger/pg"
)

// ledgerName returns the ledger of the configuration, a file as a path from
// the working directory.
func ledgerName(cfg *config.Config) (string, error) {
	name := cfg.Outgoing.Ledger
	if !ledgerIsFile(name) || filepath.IsAbs(name) {
		return name, nil
	}
	root, err := projectRoot()
	if err != nil {
		return "", err
	}
	name = filepath.Join(root, filepath.FromSlash(name))
	// Messages show it as the user would type it.
	if here, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(here, name); err == nil && filepath.IsLocal(rel) {
			return rel, nil
		}
	}
	return name, nil
}

// ledgerFlag returns the ledger that a flag names: a file is one from the
// working directory, as all paths of flags are.
func ledgerFlag(name string) (string, error) {
	if !ledgerIsFile(name) {
		return name, nil
	}
	return filepath.Abs(name)
}

// ledgerIsFile tells a file from a ref of git and a database.
func ledgerIsFile(name string) bool {
	return !strings.HasPrefix(name, "git:") && !strings.Contains(name, "://")
}

// shownLedger is the name of the ledger for messages: without a password.
func shownLedger(cfg *config.Config) string {
	if u, err := url.Parse(cfg.Outgoing.Ledger); err == nil && u.User != nil {
		return u.Redacted()
	}
	return cfg.Outgoing.Ledger
}

// readLedger returns what the ledger holds, without writing anything.
func (a *app) readLedger(ctx context.Context, cfg *config.Config) (*ledger.Snapshot, error) {
	store, err := a.openLedger(ctx, cfg, true)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return store.Load(ctx)
}

// openLedger opens the ledger of the configuration.
func (a *app) openLedger(ctx context.Context, cfg *config.Config, readOnly bool) (ledger.Store, error) {
	name, err := ledgerName(cfg)
	if err != nil {
		return nil, err
	}
	var store ledger.Store
	switch scheme, _, _ := strings.Cut(name, ":"); scheme {
	case "git":
		store, err = ledger.OpenGit(ctx, name, ledger.GitOptions{Env: os.Environ(), Runner: runnerName(), ReadOnly: readOnly, Warn: a.ui.warning})
	case "postgres", "postgresql":
		store, err = pg.Open(ctx, name, pg.Options{Runner: runnerName(), ReadOnly: readOnly, Warn: a.ui.warning})
	default:
		if strings.Contains(name, "://") {
			return nil, &usageError{fmt.Sprintf("no ledger is kept at %q", name), "write a file, git:refs/sitelink/ledger or postgres://USER@HOST/DATABASE"}
		}
		store, err = ledger.OpenFile(name, ledger.FileOptions{ReadOnly: readOnly, Warn: a.ui.warning})
	}
	if err != nil {
		return nil, explainLedger(err)
	}
	return store, nil
}

// runnerName is a name for this process that no other runner has.
func runnerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:8])
}

// explainLedger adds advice to an error of opening a ledger.
func explainLedger(err error) error {
	switch {
	case errors.Is(err, ledger.ErrLocked):
		return &failure{err, "wait until the other sitelink has ended; the lock goes with its process"}
	case errors.Is(err, ledger.ErrNewer):
		return &failure{err, "use the version of sitelink that wrote it, or a newer one"}
	case errors.Is(err, ledger.ErrNoLedger):
		return &failure{err, "name another file: --ledger FILE"}
	}
	return err
}
