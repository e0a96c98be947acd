package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

// version is that of the tables. A database of a higher one is refused.
const version = 1

// migrations bring a database from the version of their place to the next.
// Addresses may be longer than what an index takes: rows are found by a hash.
var migrations = []string{`
CREATE TABLE sitelink_ledger (one boolean PRIMARY KEY DEFAULT true CHECK (one), version integer NOT NULL, base text NOT NULL DEFAULT '');
CREATE TABLE sitelink_page (id bytea PRIMARY KEY, url text NOT NULL, hash text NOT NULL, gone boolean NOT NULL, replacement text NOT NULL);
CREATE TABLE sitelink_link (id bytea PRIMARY KEY, source text NOT NULL, target text NOT NULL);
CREATE TABLE sitelink_notice (
	id bytea PRIMARY KEY, source text NOT NULL, target text NOT NULL, protocol text NOT NULL,
	event text NOT NULL, replacement text NOT NULL, hash text NOT NULL, state text NOT NULL,
	endpoint text NOT NULL, status integer NOT NULL, fault integer, message text NOT NULL, location text NOT NULL,
	attempts integer NOT NULL, tried timestamptz, next timestamptz, runner text NOT NULL DEFAULT '', lease timestamptz);
CREATE INDEX sitelink_notice_open ON sitelink_notice (next) WHERE state IN ('pending', 'in-flight', 'retry');
CREATE TABLE sitelink_peer (id bytea PRIMARY KEY, origin text NOT NULL, protocol text NOT NULL, until timestamptz NOT NULL);
INSERT INTO sitelink_ledger (version) VALUES (1);
`}

// lockKey is the advisory lock under which the tables are made: of two runners
// that come first, one waits.
const lockKey = 0x7369746c696e6b // "sitelink"

// migrate brings the tables to the present version, in one transaction.
func migrate(ctx context.Context, db beginner) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(lockKey)); err != nil {
			return err
		}
		have, err := versionOf(ctx, tx)
		if err != nil {
			return err
		}
		for ; have < version; have++ {
			if _, err := tx.Exec(ctx, migrations[have]); err != nil {
				return fmt.Errorf("make the tables of version %d: %w", have+1, err)
			}
		}
		_, err = tx.Exec(ctx, "UPDATE sitelink_ledger SET version = $1", version)
		return err
	})
}

// versionOf returns the version of the tables, 0 where there are none.
func versionOf(ctx context.Context, db querier) (have int, err error) {
	var there bool
	if err := db.QueryRow(ctx, "SELECT to_regclass('sitelink_ledger') IS NOT NULL").Scan(&there); err != nil || !there {
		return 0, err
	}
	if err := db.QueryRow(ctx, "SELECT version FROM sitelink_ledger").Scan(&have); err != nil {
		return 0, err
	}
	if have > version {
		return 0, fmt.Errorf("%w: the version of its tables is %d, this sitelink knows %d", ledger.ErrNewer, have, version)
	}
	return have, nil
}

type beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}
