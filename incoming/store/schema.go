package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrNewer means that a newer version of sitelink has written the database. It is
// left as it is.
var ErrNewer = errors.New("a newer version of sitelink has written it; update sitelink")

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
// due is the time of the next look. until is the time before which only the process that
// looks at the mention may do so, and begun counts the looks that were begun since one
// ended. looks counts the applied looks, and tries the failed calls of verify since.
//
// Version 1 had jobs of River, and claim was the number of a job's claim. A process of that
// version fails once the column has another name, rather than taking a part of the queue.
var migrations = []string{`
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
`, `
DROP INDEX sitelink_mention_due;
ALTER TABLE sitelink_mention RENAME COLUMN claim TO until;
ALTER TABLE sitelink_mention ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;
UPDATE sitelink_mention SET until = 0 WHERE until <> 0;
CREATE INDEX sitelink_mention_due ON sitelink_mention (due) WHERE due > 0;
`}

// text returns a migration in the SQL of the database.
func (s *Store) text(sql string) string {
	if s.postgres {
		return strings.NewReplacer(" BLOB", " bytea", " KEY ", ` text COLLATE "C" `).Replace(sql)
	}
	return strings.NewReplacer(" KEY ", " TEXT ").Replace(sql)
}

// lockKey is the advisory lock for changes to the tables in PostgreSQL.
const lockKey = 0x6d656e74696f6e // "mention"

// migrate migrates the tables to the current version, unless another process does.
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
	if have, err = s.versionOf(ctx, tx); err != nil || have == len(migrations) {
		return err
	}
	if have > 0 && !s.postgres && !s.opt.Worker { // an older worker would fail
		unlock, err := lock(s.name)
		if err != nil {
			return fmt.Errorf("migrate its tables to version %d: %w", len(migrations), err)
		}
		defer unlock()
	}
	if have == 1 {
		if err := s.dropJobs(ctx, tx); err != nil {
			return err
		}
	}
	for n, text := range migrations[have:] {
		for statement := range strings.SplitSeq(s.text(text), ";\n") {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("create the tables of version %d: %w", have+n+1, err)
			}
		}
	}
	query, args := "UPDATE sitelink_store SET version = ?", []any{len(migrations)}
	if have == 0 {
		secret := make([]byte, len(s.secret))
		rand.Read(secret)
		query, args = "INSERT INTO sitelink_store (version, secret, rules) VALUES (?, ?, 0)", append(args, secret)
	}
	if _, err := s.exec(ctx, tx, query, args...); err != nil {
		return err
	}
	return tx.Commit()
}

// riverTables are the tables of River, which had the queue in version 1.
var riverTables = []string{"river_client_queue", "river_client", "river_job", "river_leader", "river_migration", "river_queue"}

// dropJobs drops the tables of River: what is due is also in our own table. If another
// program uses them in PostgreSQL, only our jobs go.
func (s *Store) dropJobs(ctx context.Context, tx *sql.Tx) error {
	var others int
	if err := s.queryRow(ctx, tx, "SELECT count(*) FROM river_queue WHERE name <> 'sitelink'").Scan(&others); err != nil {
		return err
	}
	if others > 0 {
		_, err := s.exec(ctx, tx, "DELETE FROM river_job WHERE queue = 'sitelink'")
		return err
	}
	statements := []string{}
	for _, name := range riverTables {
		statements = append(statements, "DROP TABLE "+name)
	}
	if s.postgres {
		statements = append(statements, "DROP FUNCTION river_job_state_in_bitmask", "DROP TYPE river_job_state")
	}
	for _, statement := range statements {
		if _, err := s.exec(ctx, tx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// versionOf returns the version of the tables, 0 if there are none.
func (s *Store) versionOf(ctx context.Context, db querier) (have int, err error) {
	if there, err := s.hasTable(ctx, db, "sitelink_store"); err != nil || !there {
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

// hasTable reports whether there is a table with this name.
func (s *Store) hasTable(ctx context.Context, db querier, name string) (bool, error) {
	query := "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?"
	if s.postgres {
		// Not to_regclass: within a transaction, its cache does not notice that
		// another process has created the table.
		query = `SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE c.relname = ? AND n.nspname = ANY (current_schemas(false))`
	}
	var n int
	err := s.queryRow(ctx, db, query, name).Scan(&n)
	return n > 0, err
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
