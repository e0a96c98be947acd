package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// database is an SQLite file or a PostgreSQL database with the tables of a store. Its
// methods run one statement or transaction each.
type database struct {
	name     string // the file, or the address without the password
	postgres bool
	unlock   func() error // releases the lock of the worker

	// writer has one connection for SQLite, which has one writer anyway: callers
	// wait for it in order. readers has more. For PostgreSQL both are the same.
	writer, readers *sql.DB

	secret [32]byte // see idOf
}

func (d *database) openPostgres(_ context.Context, address string, _ Options) error {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		d.name = "the PostgreSQL address"
		return errors.New("it is not valid; write postgres://USER@HOST/DATABASE") // the error of pgx may contain the password
	}
	d.name = fmt.Sprintf("postgres://%s@%s/%s", config.User, config.Host, config.Database)
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "sitelink"
	}
	config.RuntimeParams["timezone"] = "UTC"
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	d.writer = stdlib.OpenDB(*config)
	d.writer.SetMaxOpenConns(16)
	d.writer.SetMaxIdleConns(8)
	d.writer.SetConnMaxIdleTime(time.Minute)
	d.readers = d.writer
	return nil
}

func (d *database) openSQLite(ctx context.Context, name string, opt Options) error {
	if strings.Contains(name, "://") {
		return errors.New("it is neither a file name nor an address that begins with postgres://")
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && (opt.Existing || opt.ReadOnly):
		return errors.New("there is no such file")
	case errors.Is(err, fs.ErrNotExist):
		err = create(name)
	case err == nil && info.IsDir():
		err = errors.New("it is a directory, not a file")
	}
	if err != nil {
		return err
	}
	if opt.Worker {
		if d.unlock, err = lock(name); err != nil {
			return err
		}
	}
	if d.writer, err = openFile(name, opt.ReadOnly, 32<<10); err != nil {
		return err
	}
	if d.readers, err = openFile(name, opt.ReadOnly, 4<<10); err != nil {
		return err
	}
	d.writer.SetMaxOpenConns(1)
	d.writer.SetMaxIdleConns(1)
	d.readers.SetMaxOpenConns(4)
	d.readers.SetMaxIdleConns(4)
	// The first connection makes a new file one with a write-ahead log. If other processes
	// do so at the same time, SQLite fails at once instead of waiting.
	for deadline := time.Now().Add(busyTimeout); ; {
		err := d.writer.PingContext(ctx)
		if !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (d *database) closeDatabase() error {
	var all []error
	if d.readers != nil && d.readers != d.writer {
		all = append(all, d.readers.Close())
	}
	if d.writer != nil {
		all = append(all, d.writer.Close())
	}
	if d.unlock != nil {
		all = append(all, d.unlock())
	}
	return errors.Join(all...)
}

// querier is a connection or a transaction.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func (d *database) exec(ctx context.Context, db querier, query string, args ...any) (int64, error) {
	result, err := db.ExecContext(ctx, d.bind(query), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (d *database) query(ctx context.Context, db querier, query string, args ...any) (*sql.Rows, error) {
	return db.QueryContext(ctx, d.bind(query), args...)
}

func (d *database) queryRow(ctx context.Context, db querier, query string, args ...any) *sql.Row {
	return db.QueryRowContext(ctx, d.bind(query), args...)
}

// bind replaces ? by $1, $2, ... for PostgreSQL. The texts of queries have no other
// question marks.
func (d *database) bind(query string) string {
	if !d.postgres {
		return query
	}
	var b strings.Builder
	n := 0
	for part := range strings.SplitSeq(query, "?") {
		if n > 0 {
			fmt.Fprintf(&b, "$%d", n)
		}
		b.WriteString(part)
		n++
	}
	return b.String()
}

// marks returns n question marks, separated by commas.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// begin begins a transaction. end rolls it back unless it was committed. The
// transactions of an SQLite file that need not be durable are not synced: results, which
// another look would bring again. They survive a crash of the process, and the next
// durable one syncs them as well.
func (d *database) begin(ctx context.Context, durable bool) (tx *sql.Tx, end func(), err error) {
	if d.postgres {
		tx, err := d.writer.BeginTx(ctx, nil)
		return tx, func() { tx.Rollback() }, err
	}
	conn, err := d.writer.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	if durable {
		_, err = conn.ExecContext(ctx, "PRAGMA synchronous = FULL")
	}
	if err == nil {
		tx, err = conn.BeginTx(ctx, nil)
	}
	end = func() {
		if tx != nil {
			tx.Rollback()
		}
		if durable {
			conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA synchronous = NORMAL")
		}
		conn.Close()
	}
	if err != nil {
		end()
	}
	return tx, end, err
}
