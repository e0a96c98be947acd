package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/sitelink/sitelink/incoming"
)

// Options configure [Open]. The zero value is for a program that reads and changes
// mentions, but does not verify them.
type Options struct {
	// Worker opens the store for [Store.Work]. An SQLite file has one worker at a
	// time: Open fails if another process is it.
	Worker bool
	// Existing lets Open fail if there is no database yet, instead of creating it.
	Existing bool
	// ReadOnly opens the database for reading. It must exist.
	ReadOnly bool
	// Retain, if not 0, lets Work delete mentions that are rejected, gone or denied
	// this long after they were received and last looked at.
	Retain time.Duration
	// Parallel is how many mentions are verified at the same time: 32.
	Parallel int
	// Now returns the time: time.Now.
	Now func() time.Time
	// Log, if not nil, gets warnings about background work.
	Log *slog.Logger
}

// Store is an [incoming.Store]. It is safe for concurrent use.
type Store struct {
	name     string // the file, or the address without the password
	address  string
	postgres bool
	opt      Options
	unlock   func() error // releases the lock of the worker

	// writer has one connection for SQLite, which has one writer anyway: callers
	// wait for it in order. readers has more. For PostgreSQL both are the same.
	writer, readers *sql.DB
	prepared        prepared // of the writer
	repeated        repeated // of the readers

	secret [32]byte // see idOf

	ops     chan *op
	closing chan struct{}
	stopped chan struct{}
	once    sync.Once
	working atomic.Bool
	waiting atomic.Int64  // durable changes that are not written yet
	commits atomic.Int64  // durable transactions, for the benchmark
	tick    time.Duration // five times the pause between two looks for what is due
}

var _ incoming.Store = (*Store)(nil)

// Open opens the store at address: the name of an SQLite file, or
// postgres://USER@HOST/DATABASE. It creates the database's tables, or migrates
// them to the current version. Close the store at the end.
//
// The error names the file or the server, never the password, and says what to do. It is
// [ErrNewer] if the database is of a newer version.
func Open(ctx context.Context, address string, opt Options) (*Store, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Parallel <= 0 {
		opt.Parallel = 32
	}
	s := &Store{name: address, address: address, opt: opt, ops: make(chan *op, maxBatch), closing: make(chan struct{}), stopped: make(chan struct{}), tick: time.Second}
	s.postgres = strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
	var err error
	if s.postgres {
		err = s.openPostgres(address)
	} else {
		err = s.openSQLite(ctx, address)
	}
	if err == nil {
		err = s.start(ctx)
	}
	if err != nil {
		s.closeAll()
		return nil, s.fail("open", err)
	}
	go s.write()
	return s, nil
}

// start migrates the tables and reads what the store needs.
func (s *Store) start(ctx context.Context) error {
	if err := s.migrate(ctx); err != nil {
		return err
	}
	var secret []byte
	if err := s.queryRow(ctx, s.readers, "SELECT secret FROM sitelink_store").Scan(&secret); err != nil {
		return err
	}
	copy(s.secret[:], secret)
	if s.opt.Worker && !s.postgres {
		// The previous worker has ended, because this process has its lock. What it was
		// looking at need not wait for its claims to end.
		_, err := s.exec(ctx, s.writer, "UPDATE sitelink_mention SET until = 0 WHERE due > 0 AND due <= ? AND until > 0", micros(s.opt.Now()))
		return err
	}
	return nil
}

func (s *Store) openPostgres(address string) error {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		s.name = "the PostgreSQL address"
		return errors.New("it is not valid; write postgres://USER@HOST/DATABASE") // the error of pgx may contain the password
	}
	s.name = fmt.Sprintf("postgres://%s@%s/%s", config.User, config.Host, config.Database)
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "sitelink"
	}
	config.RuntimeParams["timezone"] = "UTC"
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	s.writer = stdlib.OpenDB(*config)
	s.writer.SetMaxOpenConns(16)
	s.writer.SetMaxIdleConns(8)
	s.writer.SetConnMaxIdleTime(time.Minute)
	s.readers = s.writer
	return nil
}

func (s *Store) openSQLite(ctx context.Context, name string) error {
	if strings.Contains(name, "://") {
		return errors.New("it is neither a file name nor an address that begins with postgres://")
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && (s.opt.Existing || s.opt.ReadOnly):
		return errors.New("there is no such file")
	case errors.Is(err, fs.ErrNotExist):
		err = create(name)
	case err == nil && info.IsDir():
		err = errors.New("it is a directory, not a file")
	}
	if err != nil {
		return err
	}
	if s.opt.Worker {
		if s.unlock, err = lock(name); err != nil {
			return err
		}
	}
	if s.writer, err = openFile(name, s.opt.ReadOnly, 32<<10); err != nil {
		return err
	}
	if s.readers, err = openFile(name, s.opt.ReadOnly, 4<<10); err != nil {
		return err
	}
	s.repeated.db = s.readers
	s.writer.SetMaxOpenConns(1)
	s.writer.SetMaxIdleConns(1)
	s.readers.SetMaxOpenConns(4)
	s.readers.SetMaxIdleConns(4)
	return connect(ctx, s.writer)
}

// Close closes the store. Changes that are not written yet fail. A second call does
// nothing.
func (s *Store) Close() (err error) {
	s.once.Do(func() {
		close(s.closing)
		<-s.stopped
		if err = s.closeAll(); err != nil {
			err = s.fail("close", err)
		}
	})
	return err
}

func (s *Store) closeAll() error {
	var all []error
	if s.readers != nil && s.readers != s.writer {
		all = append(all, s.readers.Close())
	}
	if s.writer != nil {
		all = append(all, s.writer.Close())
	}
	if s.unlock != nil {
		all = append(all, s.unlock())
	}
	return errors.Join(all...)
}

// querier is a connection or a transaction.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func (s *Store) exec(ctx context.Context, db querier, query string, args ...any) (int64, error) {
	result, err := db.ExecContext(ctx, s.bind(query), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (s *Store) query(ctx context.Context, db querier, query string, args ...any) (*sql.Rows, error) {
	if statement := s.repeated.get(ctx, db, query); statement != nil {
		return statement.QueryContext(ctx, args...)
	}
	return db.QueryContext(ctx, s.bind(query), args...)
}

func (s *Store) queryRow(ctx context.Context, db querier, query string, args ...any) *sql.Row {
	if statement := s.repeated.get(ctx, db, query); statement != nil {
		return statement.QueryRowContext(ctx, args...)
	}
	return db.QueryRowContext(ctx, s.bind(query), args...)
}

// bind replaces ? by $1, $2, ... for PostgreSQL. The texts of queries have no other
// question marks.
func (s *Store) bind(query string) string {
	if !s.postgres {
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
