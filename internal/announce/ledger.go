package announce

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/ledger/pg"
)

// LedgerName returns the ledger of the configuration, a file as a user in the
// project's directory would write it.
func LedgerName(p *project.Project) string {
	name := p.Config.Outgoing.Ledger
	if !IsFile(name) || filepath.IsAbs(name) {
		return name
	}
	name = filepath.Join(p.Root, filepath.FromSlash(name))
	if rel, err := filepath.Rel(p.Dir, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}

// IsFile reports whether a ledger is a file, not a ref of git or a database.
func IsFile(name string) bool {
	return !strings.HasPrefix(name, "git:") && !strings.Contains(name, "://")
}

// ShowLedger returns the name of the ledger for messages, without a password.
func ShowLedger(p *project.Project) string {
	name := p.Config.Outgoing.Ledger
	if u, err := url.Parse(name); err == nil && u.User != nil {
		return u.Redacted()
	}
	return name
}

// ReadLedger returns what the ledger holds, without writing anything.
func ReadLedger(ctx context.Context, p *project.Project, warn func(string)) (*ledger.Snapshot, error) {
	store, err := OpenLedger(ctx, p, true, warn)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return store.Load(ctx)
}

// OpenLedger opens the ledger of the configuration. warn takes lines for the
// user.
func OpenLedger(ctx context.Context, p *project.Project, readOnly bool, warn func(string)) (ledger.Store, error) {
	if err := CheckLedger(p, readOnly); err != nil {
		return nil, err
	}
	name := LedgerName(p)
	var store ledger.Store
	var err error
	switch scheme, _, _ := strings.Cut(name, ":"); scheme {
	case "git":
		opt := ledger.GitOptions{Env: os.Environ(), Runner: runnerName(), ReadOnly: readOnly, Warn: warn}
		if p.Config.LedgerNamed() {
			store, err = ledger.OpenGit(ctx, name, opt)
		} else {
			store, err = openFoundRef(ctx, p, opt)
		}
	case "postgres", "postgresql":
		store, err = pg.Open(ctx, name, pg.Options{Runner: runnerName(), ReadOnly: readOnly, Warn: warn})
	default:
		if strings.Contains(name, "://") {
			return nil, fault.Usage(fmt.Sprintf("unknown kind of ledger: %q", name), "use a file, git:refs/sitelink/ledger or postgres://USER@HOST/DATABASE")
		}
		store, err = ledger.OpenFile(name, ledger.FileOptions{ReadOnly: readOnly, Warn: warn})
	}
	if err != nil {
		return nil, ExplainLedger(err)
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

// ExplainLedger adds advice to an error of opening a ledger.
func ExplainLedger(err error) error {
	switch {
	case errors.Is(err, ledger.ErrLocked):
		return fault.New(err, "wait until the other sitelink process ends; that releases the lock")
	case errors.Is(err, ledger.ErrNewer):
		return fault.New(err, "use the version of sitelink that wrote it, or a newer one")
	case errors.Is(err, ledger.ErrNoLedger):
		return fault.New(err, "name another file: --ledger FILE")
	}
	return err
}
