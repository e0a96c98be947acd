package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river/rivermigrate"
)

// ErrNewer means that a newer version of sitelink has written the database. It is
// left as it is.
var ErrNewer = errors.New("a newer version of sitelink has written it; update sitelink")

// migration migrates the tables to the next version: first River's to each of the
// versions jobs, then ours. Each step is a transaction, because PostgreSQL does not
// use a value of an enumeration in the transaction that adds it.
type migration struct {
	jobs []int
	sql  string
}

// migrations[n] migrates a database from version n to n+1. A database with more
// versions than there are migrations is refused. The same text serves
// both databases; BLOB, TEXT and KEY stand for the types that differ.
//
// A mention is found by its id, which follows from its key; see idOf. Its rows are
// listed by target and source in their canonical form. Both are cut to maxKey bytes,
// because PostgreSQL has no index on longer texts; target_sent and source_sent have
// the whole text, unless it is the same. Times are microseconds since 1970, 0 for none.
//
// The hosts of approved mentions are indexed, because each verification asks whether
// a host is known. An index of all hosts would cost a page for each notice.
//
// due is the time of the next look. claim is 0 while no job has the mention, and
// otherwise the number of that job's claim. looks counts the applied looks, and tries
// the failed calls of verify since.
var migrations = []migration{{jobs: []int{4, 6}, sql: `
CREATE TABLE sitelink_store (version INTEGER NOT NULL, secret BLOB NOT NULL, rules BIGINT NOT NULL);
CREATE TABLE sitelink_mention (
	id BLOB NOT NULL PRIMARY KEY, action TEXT NOT NULL, protocol TEXT NOT NULL,
	source KEY NOT NULL, target KEY NOT NULL, source_sent TEXT NOT NULL, target_sent TEXT NOT NULL,
	source_host KEY NOT NULL, replacement TEXT NOT NULL, state KEY NOT NULL,
	title TEXT NOT NULL, excerpt TEXT NOT NULL, lang TEXT NOT NULL, author_name TEXT NOT NULL, author_url TEXT NOT NULL,
	fault INTEGER NOT NULL, reason TEXT NOT NULL, received BIGINT NOT NULL, verified BIGINT NOT NULL,
	subscribed INTEGER NOT NULL, peer TEXT NOT NULL, due BIGINT NOT NULL, fetched BIGINT NOT NULL, failures INTEGER NOT NULL,
	claim BIGINT NOT NULL, looks INTEGER NOT NULL, tries INTEGER NOT NULL);
CREATE INDEX sitelink_mention_order ON sitelink_mention (target, source, action);
CREATE INDEX sitelink_mention_state ON sitelink_mention (state);
CREATE INDEX sitelink_mention_host ON sitelink_mention (source_host) WHERE state = 'approved';
CREATE INDEX sitelink_mention_due ON sitelink_mention (due) WHERE claim = 0 AND due > 0;
CREATE TABLE sitelink_rule (pattern TEXT NOT NULL PRIMARY KEY, verdict TEXT NOT NULL, note TEXT NOT NULL);
`}}

// text returns a migration in the SQL of the database.
func (s *Store) text(sql string) string {
	if s.postgres {
		return strings.NewReplacer(" BLOB", " bytea", " KEY ", ` text COLLATE "C" `).Replace(sql)
	}
	return strings.NewReplacer(" KEY ", " TEXT ").Replace(sql)
}

// lockKey is the advisory lock for changes to the tables in PostgreSQL.
const lockKey = 0x6d656e74696f6e // "mention"

// migrate migrates the tables to the current version.
func (s *Store) migrate(ctx context.Context) error {
	have, err := s.versionOf(ctx, s.readers)
	if err != nil || have == len(migrations) {
		return err
	}
	if have == 0 && s.opt.Existing || s.opt.ReadOnly {
		if have == 0 {
			return errors.New("it has no mentions yet; sitelink serve creates the tables")
		}
		return fmt.Errorf("its tables have version %d; open it for writing once, so that they are migrated to version %d", have, len(migrations))
	}
	for ; have < len(migrations); have++ {
		next := migrations[have]
		for _, target := range next.jobs {
			err = errors.Join(err, s.step(ctx, have, func(tx *sql.Tx) error { return s.migrateJobs(ctx, tx, target) }))
		}
		if err == nil {
			err = s.step(ctx, have, func(tx *sql.Tx) error { return s.migrateMentions(ctx, tx, have) })
		}
		if err != nil {
			return fmt.Errorf("create the tables of version %d: %w", have+1, err)
		}
	}
	return nil
}

// step runs one step of a migration in a transaction, unless another process has
// migrated the tables meanwhile.
func (s *Store) step(ctx context.Context, from int, run func(tx *sql.Tx) error) error {
	tx, end, err := s.begin(ctx, true)
	if err != nil {
		return err
	}
	defer end()
	if s.postgres {
		if _, err := s.exec(ctx, tx, "SELECT pg_advisory_xact_lock(?)", int64(lockKey)); err != nil {
			return err
		}
	}
	if have, err := s.versionOf(ctx, tx); err != nil || have > from {
		return err
	}
	if err := run(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *Store) migrateJobs(ctx context.Context, tx *sql.Tx, target int) error {
	jobs, err := rivermigrate.New(s.driver, &rivermigrate.Config{Logger: s.opt.Log})
	if err != nil {
		return err
	}
	existing, err := jobs.ExistingVersionsTx(ctx, tx)
	if err != nil || len(existing) >= target {
		return err
	}
	//lint:ignore SA1019 The steps run one by one, in the transaction of ours.
	_, err = jobs.MigrateTx(ctx, tx, rivermigrate.DirectionUp, &rivermigrate.MigrateOpts{TargetVersion: target})
	return err
}

func (s *Store) migrateMentions(ctx context.Context, tx *sql.Tx, have int) (err error) {
	for statement := range strings.SplitSeq(s.text(migrations[have].sql), ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if have == 0 {
		secret := make([]byte, len(s.secret))
		rand.Read(secret)
		_, err = s.exec(ctx, tx, "INSERT INTO sitelink_store (version, secret, rules) VALUES (1, ?, 0)", secret)
	} else {
		_, err = s.exec(ctx, tx, "UPDATE sitelink_store SET version = ?", have+1)
	}
	return err
}

// versionOf returns the version of the tables, 0 if there are none.
func (s *Store) versionOf(ctx context.Context, db querier) (have int, err error) {
	there := "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'sitelink_store'"
	if s.postgres {
		// Not to_regclass: within a transaction, its cache does not notice that
		// another process has created the table.
		there = `SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE c.relname = 'sitelink_store' AND n.nspname = ANY (current_schemas(false))`
	}
	if err := s.queryRow(ctx, db, there).Scan(&have); err != nil || have == 0 {
		return 0, err
	}
	if err := s.queryRow(ctx, db, "SELECT version FROM sitelink_store").Scan(&have); err != nil {
		return 0, err
	}
	if have > len(migrations) {
		return 0, fmt.Errorf("%w (its tables have version %d, this sitelink knows %d)", ErrNewer, have, len(migrations))
	}
	return have, nil
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
