package notify

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit/record"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/ledger/pg"
)

// GitLedger is the name of a ledger that is not lost with the machine of a CI job.
const GitLedger = "git:refs/sitelink/ledger"

// LedgerName returns the ledger of the configuration, a file as a user in the
// project's directory would write it.
func LedgerName(p *project.Project) string {
	return NameInProject(p, p.Config.Outgoing.Ledger, "outgoing.ledger")
}

// NameInProject returns the value of a key that names a file, a ref of git or a database;
// a file as a user in the project's directory would write it.
func NameInProject(p *project.Project, name, key string) string {
	if !IsFile(name) || filepath.IsAbs(name) || p.Config.Given(key) { // a flag is relative to that directory
		return name
	}
	name = filepath.Join(p.Root, filepath.FromSlash(name))
	if rel, err := filepath.Rel(p.Dir, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}

// RecordName returns the file with the addresses that the site answered at the last
// deploy: beside the ledger if that is a file, or else in the directory .sitelink.
// A found configuration cannot choose one outside of the repository.
func RecordName(p *project.Project) (string, error) {
	name := filepath.Join(filepath.Dir(LedgerName(p)), record.AddressesFile)
	if !IsFile(LedgerName(p)) {
		name = p.Show(filepath.Join(p.Root, system.StateName, record.AddressesFile))
	}
	if p.Config.Named("outgoing.ledger") {
		return name, nil
	}
	if path, where := system.Outside(p.Root, p.Abs(name)); where != "" {
		return "", text.Usage(fmt.Sprintf("the record of the last deploy is %s, %s", path, where),
			"name the ledger beside it with --ledger or in a file given with --config: a sitelink.toml of the checkout is not trusted with it")
	}
	return name, nil
}

// IsFile reports whether a ledger is a file, not a ref of git or a database.
func IsFile(name string) bool {
	return !strings.HasPrefix(name, "git:") && !strings.Contains(name, "://")
}

// ShowLedger returns the name of the ledger for messages, without a password.
func ShowLedger(p *project.Project) string {
	return WithoutPassword(p.Config.Outgoing.Ledger)
}

// WithoutPassword returns the name of a ledger or of another store, for messages.
func WithoutPassword(name string) string {
	if u, err := url.Parse(name); err == nil && u.User != nil {
		return u.Redacted()
	}
	return name
}

// ReadLedger returns what the ledger holds, without writing anything.
func ReadLedger(ctx context.Context, p *project.Project, warn func(string)) (*ledger.Snapshot, error) {
	store, err := OpenLedger(ctx, p, LedgerOptions{ReadOnly: true, Warn: warn})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return store.Load(ctx)
}

// LedgerOptions configure [OpenLedger].
type LedgerOptions struct {
	ReadOnly bool
	// AcceptLoss opens a ledger for writing that has lost rows, to record all
	// links again.
	AcceptLoss bool
	// Warn, if not nil, is called with warnings for the user.
	Warn func(string)
}

// OpenLedger opens the ledger of the configuration.
func OpenLedger(ctx context.Context, p *project.Project, opt LedgerOptions) (ledger.Store, error) {
	if err := CheckLedger(p, opt.ReadOnly); err != nil {
		return nil, err
	}
	name := LedgerName(p)
	runner := runnerName(os.Getenv)
	ended := func(other string) bool { return runnerEnded(runner, other) }
	var store ledger.Store
	var err error
	switch scheme, _, _ := strings.Cut(name, ":"); scheme {
	case "git":
		opt := ledger.GitOptions{Env: os.Environ(), Runner: runner, Ended: ended, ReadOnly: opt.ReadOnly, AcceptLoss: opt.AcceptLoss, Warn: opt.Warn}
		if p.Config.Named("outgoing.ledger") {
			store, err = ledger.OpenGit(ctx, name, opt)
		} else {
			store, err = openFoundRef(ctx, p, opt)
		}
	case "postgres", "postgresql":
		store, err = pg.Open(ctx, name, pg.Options{Runner: runner, Ended: ended, ReadOnly: opt.ReadOnly, Warn: opt.Warn})
	default:
		if strings.Contains(name, "://") {
			return nil, text.Usage(fmt.Sprintf("unknown kind of ledger: %q", name), "use a file, git:refs/sitelink/ledger or postgres://USER@HOST/DATABASE")
		}
		store, err = ledger.OpenFile(name, ledger.FileOptions{ReadOnly: opt.ReadOnly, AcceptLoss: opt.AcceptLoss, Warn: opt.Warn})
	}
	if err != nil {
		return nil, ExplainLedger(err)
	}
	return store, nil
}

// ExplainLedger adds advice to an error of opening a ledger.
func ExplainLedger(err error) error {
	switch {
	case errors.Is(err, ledger.ErrLocked):
		return text.WithHint(err, "wait until the other sitelink process ends; that releases the lock")
	case errors.Is(err, ledger.ErrNewer):
		return text.WithHint(err, "use the version of sitelink that wrote it, or a newer one")
	case errors.Is(err, ledger.ErrNoLedger):
		return text.WithHint(err, "name another file: --ledger FILE; if this was the ledger, restore it from a backup")
	case errors.As(err, new(*ledger.LostError)):
		return text.WithHint(fmt.Errorf("%w; nothing was sent, because targets could get notices again", err),
			"restore the rows: sitelink ledger verify --repair; or record all links again without sending anything: sitelink notify --record --send")
	}
	return err
}
