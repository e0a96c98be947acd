// Package postgres opens the databases of packages that share something between
// machines: a connection pool, a name for messages that has no password, and tables
// with a version that are migrated forwards.
package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Open returns a pool of connections to a database, postgres://USER@HOST/DATABASE. It
// connects when the pool is used.
func Open(ctx context.Context, address string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, errors.New("the address is not valid") // the error of pgx contains the password
	}
	return pgxpool.NewWithConfig(ctx, config)
}

// Redacted returns the address of a database for messages, without its password.
func Redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "postgres://..."
	}
	u.RawQuery = ""
	return u.Redacted()
}

// ID returns a key for texts that may be too long for an index.
func ID(parts ...string) []byte {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return h.Sum(nil)
}

// Schema describes the tables of a package.
type Schema struct {
	// Table has one row, with the version of all tables in its column version. The
	// first migration creates it with version 1.
	Table string
	// Lock is the key of the advisory lock for changes to the tables.
	Lock int64
	// Migrations[n] migrates the tables from version n to n+1.
	Migrations []string
	// Newer is the error about tables with a higher version than all of these.
	Newer error
}

// Version returns the version of the tables, 0 if there are none. The error is
// Schema.Newer if it is too high.
func (s *Schema) Version(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) (have int, err error) {
	var there bool
	// Not to_regclass: within a transaction, its cache does not notice that another
	// process has created the table.
	err = db.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relname = $1 AND n.nspname = ANY (current_schemas(false)))`, s.Table).Scan(&there)
	if err != nil || !there {
		return 0, err
	}
	if err := db.QueryRow(ctx, "SELECT version FROM "+s.Table).Scan(&have); err != nil {
		return 0, err
	}
	if most := len(s.Migrations); have > most {
		return 0, fmt.Errorf("%w: the version of its tables is %d, this sitelink reads up to %d", s.Newer, have, most)
	}
	return have, nil
}

// Migrate migrates the tables to the current version, in one transaction. Several
// processes may do so at the same time.
func (s *Schema) Migrate(ctx context.Context, db *pgxpool.Pool) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", s.Lock); err != nil {
			return err
		}
		have, err := s.Version(ctx, tx)
		if err != nil || have == len(s.Migrations) {
			return err
		}
		for ; have < len(s.Migrations); have++ {
			if _, err := tx.Exec(ctx, s.Migrations[have]); err != nil {
				return fmt.Errorf("create the tables of version %d: %w", have+1, err)
			}
		}
		_, err = tx.Exec(ctx, "UPDATE "+s.Table+" SET version = $1", have)
		return err
	})
}
