package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/disk"
)

// ErrUsePgDump means that the store is in PostgreSQL, which has its own programs
// for backups.
var ErrUsePgDump = errors.New("PostgreSQL has its own backups: use pg_dump, and psql or pg_restore")

// Backup writes the store to a file, or replaces the file, with mode 0600. The
// backup has what was written when Backup was called; the store is in use meanwhile. An
// incomplete file is never left under this name. For PostgreSQL, Backup returns
// [ErrUsePgDump].
func (s *Store) Backup(ctx context.Context, name string) error {
	if s.postgres {
		return s.fail("back up", ErrUsePgDump)
	}
	if same(name, s.name) {
		return s.fail("back up", errors.New("the backup needs another name"))
	}
	err := replace(name, func(temporary string) error {
		_, err := s.readers.ExecContext(ctx, "VACUUM INTO ?", temporary)
		return err
	})
	return s.fail("back up", err)
}

// Restore replaces the SQLite file of a store by a backup. It fails, and leaves the
// file as it is, if the backup is damaged or was written by a newer version ([ErrNewer]),
// or if another process works on the store. The error names the file.
func Restore(ctx context.Context, backup, name string) error {
	s := &Store{name: backup}
	if same(backup, name) {
		return s.fail("restore", errors.New("the backup is the store itself"))
	}
	if err := s.intact(ctx); err != nil {
		return s.fail("restore", err)
	}
	unlock, err := lock(name)
	if err == nil {
		defer unlock()
		err = replace(name, func(temporary string) error {
			if err := copyFile(temporary, backup); err != nil {
				return err
			}
			// SQLite would apply the log of the old file to the new one.
			for _, suffix := range []string{"-wal", "-shm"} {
				if err := os.Remove(name + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
					return err
				}
			}
			return nil
		})
	}
	return (&Store{name: name}).fail("restore", err)
}

// intact checks a backup.
func (s *Store) intact(ctx context.Context) error {
	if _, err := os.Stat(s.name); err != nil {
		return disk.Cause(err)
	}
	db, err := openFile(s.name, true, 4<<10)
	if err != nil {
		return err
	}
	defer db.Close()
	have, err := s.versionOf(ctx, db)
	if err == nil && have == 0 {
		err = errors.New("it has no mentions")
	}
	if err != nil {
		return err
	}
	var result string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&result); err != nil {
		return err
	}
	if result != "ok" {
		return fmt.Errorf("the file is damaged (%s); use another backup", result)
	}
	return nil
}

// same reports whether two names are of the same file.
func same(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// replace writes a temporary file beside the file, and renames it when it is
// complete and synced.
func replace(name string, write func(temporary string) error) error {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, filepath.Base(name)+".*.tmp") // with mode 0600
	if err != nil {
		return fmt.Errorf("create a file in %s: %w", dir, disk.Cause(err))
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := write(f.Name()); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return disk.Cause(err)
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return disk.Cause(err)
	}
	if d, err := os.Open(dir); err == nil { // not on Windows
		d.Sync()
		d.Close()
	}
	return nil
}

func copyFile(to, from string) error {
	r, err := os.Open(from)
	if err != nil {
		return disk.Cause(err)
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return disk.Cause(err)
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Close())
}

// expirable are the states of mentions that Expire deletes.
var expirable = []incoming.State{incoming.Refused, incoming.Rejected, incoming.Gone}

// Expire deletes mentions that are denied, rejected or gone, and that were received
// and last looked at before a time. It returns how many. It deletes a few at a time,
// so that notices need not wait. [Options.Retain] lets Work call it.
func (s *Store) Expire(ctx context.Context, before time.Time) (deleted int64, err error) {
	unlocked := ""
	if s.postgres { // waiting for others out of their order could be a deadlock
		unlocked = " FOR UPDATE SKIP LOCKED"
	}
	var ids []any
	flush := func() error {
		if len(ids) == 0 {
			return nil
		}
		args := slices.Concat(ids, []any{string(expirable[0]), string(expirable[1]), string(expirable[2])})
		n, err := s.exec(ctx, s.writer, "DELETE FROM sitelink_mention WHERE id IN (SELECT id FROM sitelink_mention WHERE id IN ("+
			marks(len(ids))+") AND state IN (?, ?, ?)"+unlocked+")", args...)
		deleted += n
		ids = ids[:0]
		return err
	}
	for m, err := range s.List(ctx, incoming.Filter{States: expirable}) {
		if err != nil {
			return deleted, err
		}
		if !m.Received.Before(before) || !m.Fetched.Before(before) {
			continue
		}
		i, _ := parseID(m.ID)
		if ids = append(ids, i[:]); len(ids) == 100 {
			if err := flush(); err != nil {
				return deleted, s.fail("delete some of", err)
			}
		}
	}
	return deleted, s.fail("delete some of", flush())
}
