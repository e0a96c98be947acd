package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrNewer means that a newer version of sitelink has written the database. It is
// left as it is.
var ErrNewer = errors.New("a newer version of sitelink has written it; update sitelink")

// migrations[0] creates the tables, and each further one migrates them to the next
// version. A database of a later version is refused. The same text serves both
// databases; BLOB, TEXT and KEY stand for the types that differ.
//
// A mention is found by its id, which follows from its key; see idOf. Its rows are
// listed by target and source in their canonical form. Both are cut to maxKey bytes,
// because PostgreSQL has no index on longer texts; target_sent and source_sent have
// the whole text, unless it is the same. Times are microseconds since 1970, 0 for none.
//
// The hosts of approved mentions are indexed, because each verification asks whether
// a host is known. An index of all hosts would cost a page for each notice.
//
// due is the time of the next look. until is the time before which only the process that
// looks at the mention may do so, and begun counts the looks that were begun since one
// ended. looks counts the applied looks, and tries the failed calls of verify since.
//
// The first version with a release is 2: what a development version wrote before that is
// refused.
var migrations = []string{`
CREATE TABLE sitelink_store (version INTEGER NOT NULL, secret BLOB NOT NULL, rules BIGINT NOT NULL);
CREATE TABLE sitelink_mention (
	id BLOB NOT NULL PRIMARY KEY, action TEXT NOT NULL, protocol TEXT NOT NULL,
	source KEY NOT NULL, target KEY NOT NULL, source_sent TEXT NOT NULL, target_sent TEXT NOT NULL,
	source_host KEY NOT NULL, replacement TEXT NOT NULL, state KEY NOT NULL,
	title TEXT NOT NULL, excerpt TEXT NOT NULL, lang TEXT NOT NULL, author_name TEXT NOT NULL, author_url TEXT NOT NULL,
	fault INTEGER NOT NULL, reason TEXT NOT NULL, received BIGINT NOT NULL, verified BIGINT NOT NULL,
	subscribed INTEGER NOT NULL, peer TEXT NOT NULL, due BIGINT NOT NULL, fetched BIGINT NOT NULL, failures INTEGER NOT NULL,
	until BIGINT NOT NULL, looks INTEGER NOT NULL, tries INTEGER NOT NULL, begun INTEGER NOT NULL DEFAULT 0);
CREATE INDEX sitelink_mention_order ON sitelink_mention (target, source, action);
CREATE INDEX sitelink_mention_state ON sitelink_mention (state);
CREATE INDEX sitelink_mention_host ON sitelink_mention (source_host) WHERE state = 'approved';
CREATE INDEX sitelink_mention_due ON sitelink_mention (due) WHERE due > 0;
CREATE TABLE sitelink_rule (pattern TEXT NOT NULL PRIMARY KEY, verdict TEXT NOT NULL, note TEXT NOT NULL);
`}

// firstVersion is the version of the tables after the first migration.
const firstVersion = 2

// text returns a migration in the SQL of the database.
func (d *database) text(sql string) string {
	if d.postgres {
		return strings.NewReplacer(" BLOB", " bytea", " KEY ", ` text COLLATE "C" `).Replace(sql)
	}
	return strings.NewReplacer(" KEY ", " TEXT ").Replace(sql)
}

// lockKey is the advisory lock for changes to the tables in PostgreSQL.
const lockKey = 0x6d656e74696f6e // "mention"

// migrate creates the tables, or migrates them to the current version, unless another
// process does.
func (d *database) migrate(ctx context.Context, opt Options) error {
	done, err := d.migrated(ctx, d.readers)
	if err != nil || done == len(migrations) {
		return err
	}
	if done == 0 && (opt.Existing || opt.ReadOnly) {
		return errors.New("it has no mentions yet; sitelink serve creates the tables")
	}
	if opt.ReadOnly {
		return errors.New("its tables are of an older version; open it for writing once, so that they are migrated")
	}
	tx, end, err := d.begin(ctx, true)
	if err != nil {
		return err
	}
	defer end()
	if d.postgres {
		if _, err := d.exec(ctx, tx, "SELECT pg_advisory_xact_lock(?)", int64(lockKey)); err != nil {
			return err
		}
	}
	if done, err = d.migrated(ctx, tx); err != nil || done == len(migrations) {
		return err
	}
	if done > 0 && !d.postgres && !opt.Worker { // an older worker would fail
		unlock, err := lock(d.name)
		if err != nil {
			return fmt.Errorf("migrate its tables: %w", err)
		}
		defer unlock()
	}
	for n, text := range migrations[done:] {
		for statement := range strings.SplitSeq(d.text(text), ";\n") {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("create the tables of version %d: %w", done+n+firstVersion, err)
			}
		}
	}
	query, args := "UPDATE sitelink_store SET version = ?", []any{len(migrations) - 1 + firstVersion}
	if done == 0 {
		secret := make([]byte, len(d.secret))
		rand.Read(secret)
		query, args = "INSERT INTO sitelink_store (version, secret, rules) VALUES (?, ?, 0)", append(args, secret)
	}
	if _, err := d.exec(ctx, tx, query, args...); err != nil {
		return err
	}
	return tx.Commit()
}

// migrated returns how many migrations a database has had, 0 if it has no tables.
func (d *database) migrated(ctx context.Context, db querier) (done int, err error) {
	query := "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'sitelink_store'"
	if d.postgres {
		// Not to_regclass: within a transaction, its cache does not notice that
		// another process has created the table.
		query = `SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE c.relname = 'sitelink_store' AND n.nspname = ANY (current_schemas(false))`
	}
	var tables, version int
	if err := d.queryRow(ctx, db, query).Scan(&tables); err != nil || tables == 0 {
		return 0, err
	}
	if err := d.queryRow(ctx, db, "SELECT version FROM sitelink_store").Scan(&version); err != nil {
		return 0, err
	}
	switch done = version - firstVersion + 1; {
	case done > len(migrations):
		return 0, fmt.Errorf("%w (the version of its tables is %d)", ErrNewer, version)
	case done < 1:
		return 0, fmt.Errorf("a development version of sitelink wrote it (the version of its tables is %d); remove it to start a new one", version)
	}
	return done, nil
}

// interfered reports whether a transaction failed because another process changed
// the same rows.
func interfered(err error) bool {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		switch server.Code {
		case "40001", "40P01", "23505": // serialization failure, deadlock, unique violation
			return true
		}
	}
	return errors.Is(err, errInterfered)
}

var errInterfered = errors.New("another process wrote the same mentions")
