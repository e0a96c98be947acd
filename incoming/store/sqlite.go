package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sitelink/sitelink/internal/system"
)

// busyTimeout is how long a connection waits for others.
const busyTimeout = 10 * time.Second

// openFile opens an SQLite file. The directory of its name and the characters that
// have a meaning in a URI are escaped. Each connection has a cache of so many KiB.
// begin syncs what must be durable.
func openFile(name string, readOnly bool, cache int) (*sql.DB, error) {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	values := url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "synchronous(NORMAL)", "wal_autocheckpoint(4000)", "journal_size_limit(67108864)"}, "_txlock": {"immediate"}, "_timezone": {"UTC"}, "_time_format": {"sqlite"}}
	values.Add("_pragma", fmt.Sprintf("cache_size(-%d)", cache))
	if readOnly {
		values.Set("mode", "ro")
	} else {
		values.Set("mode", "rw")
		values.Add("_pragma", "journal_mode(WAL)")
	}
	escaped := (&url.URL{Path: filepath.ToSlash(absolute)}).EscapedPath()
	if !strings.HasPrefix(escaped, "/") {
		escaped = "/" + escaped // a drive letter
	}
	return sql.Open("sqlite", "file://"+escaped+"?"+values.Encode())
}

// isBusy reports whether another connection has locked the file.
func isBusy(err error) bool {
	var file *sqlite.Error
	return errors.As(err, &file) && file.Code()&0xff == sqlite3.SQLITE_BUSY
}

// create creates the file of a database that only its owner reads: it has the
// addresses of peers. SQLite gives its other files the same mode.
func create(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %s; create it first", filepath.Dir(name))
	case err != nil:
		return system.Cause(err)
	}
	return f.Close()
}

// readOnly is the error of a file that this process cannot write.
const readOnly = "the file or its directory is read-only for this user; change their owner or mode"

// lock makes this process the worker of the file, until unlock is called or the
// process ends. The lock is on a file of its own, because a process that closes a
// file loses SQLite's locks on it.
func lock(name string) (unlock func() error, err error) {
	f, err := os.OpenFile(name+"-worker", os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		return nil, errors.New(readOnly + " (" + filepath.Base(name) + "-worker cannot be written)")
	}
	if err != nil {
		return nil, fmt.Errorf("create %s-worker: %w", name, system.Cause(err))
	}
	if err := system.TryLock(f); err != nil {
		f.Close()
		if errors.Is(err, system.ErrLocked) {
			return nil, errors.New("another sitelink serve is using it; stop that one first, or use PostgreSQL to share the work")
		}
		return nil, fmt.Errorf("lock %s-worker: %w", name, system.Cause(err))
	}
	return f.Close, nil
}

// fail names the database and explains the errors that a person can do something
// about.
func (d *database) fail(action string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var known *storeError
	if errors.As(err, &known) {
		return err
	}
	return &storeError{fmt.Sprintf("%s the mentions in %s", action, d.name), d.explain(err), err}
}

// storeError is an error of the database.
type storeError struct {
	action string
	text   string
	err    error
}

func (e *storeError) Error() string { return e.action + ": " + e.text }
func (e *storeError) Unwrap() error { return e.err }

func (d *database) explain(err error) string {
	var file *sqlite.Error
	var server *pgconn.PgError
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &file):
		switch file.Code() & 0xff {
		case sqlite3.SQLITE_FULL:
			return "the disk is full; free some space"
		case sqlite3.SQLITE_READONLY:
			return readOnly
		case sqlite3.SQLITE_CORRUPT:
			return "the file is damaged; restore a backup (" + file.Error() + ")"
		case sqlite3.SQLITE_NOTADB:
			return "the file is not an SQLite database; name another file, or restore a backup"
		case sqlite3.SQLITE_CANTOPEN:
			return "the file cannot be opened; check that this user may read it and write its directory"
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return fmt.Sprintf("another program has locked the file for %.0f seconds; stop it and try again", busyTimeout.Seconds())
		case sqlite3.SQLITE_IOERR:
			return "the disk failed or is full (" + file.Error() + ")"
		}
	case errors.As(err, &connect):
		return "the server cannot be reached; check that it runs and that the address is right (" + connect.Unwrap().Error() + ")"
	case errors.As(err, &server):
		return server.Message + " (SQLSTATE " + server.Code + ")"
	}
	return err.Error()
}
