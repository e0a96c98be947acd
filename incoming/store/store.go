package store

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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

// Store is an [incoming.Store]: a database, and the queue of changes to it. It is safe
// for concurrent use.
type Store struct {
	*database
	address string
	opt     Options

	ops     chan *op
	closing chan struct{}
	stopped chan struct{}
	once    sync.Once
	working atomic.Bool
	waiting atomic.Int64  // durable changes that are not written yet
	commits atomic.Int64  // durable transactions, for the benchmark
	tick    time.Duration // half of the pause between two looks for what is due
	changed chan struct{} // this process has written: something may be due
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
	db := &database{name: address, postgres: strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")}
	open := db.openSQLite
	if db.postgres {
		open = db.openPostgres
	}
	err := open(ctx, address, opt)
	if err == nil {
		err = db.migrate(ctx, opt)
	}
	var secret []byte
	if err == nil {
		err = db.queryRow(ctx, db.readers, "SELECT secret FROM sitelink_store").Scan(&secret)
	}
	if err == nil && opt.Worker && !db.postgres {
		// The previous worker has ended, because this process has its lock. What it was
		// looking at need not wait for its claims to end.
		_, err = db.exec(ctx, db.writer, "UPDATE sitelink_mention SET until = 0 WHERE due > 0 AND due <= ? AND until > 0", micros(opt.Now()))
	}
	if err != nil {
		db.closeDatabase()
		return nil, db.fail("open", err)
	}
	copy(db.secret[:], secret)
	s := &Store{database: db, address: address, opt: opt, ops: make(chan *op, maxBatch), closing: make(chan struct{}), stopped: make(chan struct{}), tick: time.Second, changed: make(chan struct{}, 1)}
	go s.write()
	return s, nil
}

// Close closes the store. Changes that are not written yet fail. A second call does
// nothing.
func (s *Store) Close() (err error) {
	s.once.Do(func() {
		close(s.closing)
		<-s.stopped
		if err = s.closeDatabase(); err != nil {
			err = s.fail("close", err)
		}
	})
	return err
}
