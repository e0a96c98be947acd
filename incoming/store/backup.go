package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/system"
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
	if was, err := os.Stat(name); err == nil {
		if own, err := os.Stat(s.name); err == nil && os.SameFile(was, own) {
			return s.fail("back up", errors.New("the backup needs another name"))
		}
	}
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, filepath.Base(name)+".*.tmp") // with mode 0600
	if err != nil {
		return s.fail("back up", fmt.Errorf("create a file in %s: %w", dir, system.Cause(err)))
	}
	defer os.Remove(f.Name())
	defer f.Close()
	_, err = s.readers.ExecContext(ctx, "VACUUM INTO ?", f.Name())
	if err == nil {
		err = system.Cause(f.Sync())
	}
	if err == nil {
		err = system.Cause(os.Rename(f.Name(), name))
		system.OS.SyncDir(dir)
	}
	return s.fail("back up", err)
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
