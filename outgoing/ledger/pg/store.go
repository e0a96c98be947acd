package pg

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sitelink/sitelink/internal/postgres"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Store is the [ledger.Store] in a database. It is safe for concurrent use.
type Store struct {
	name   string // without the password
	pool   *pgxpool.Pool
	runner string
	ended  func(runner string) bool
	lease  time.Duration
	none   bool // the store is read-only and there are no tables
	// columns are those of a notice. The tables of a store that is read-only may
	// have an earlier version.
	columns string

	once    sync.Once
	stop    context.CancelFunc
	stopped chan struct{}
}

var _ ledger.Store = (*Store)(nil)

// Options configure [Open].
type Options struct {
	// Runner identifies this run. It must be unique among all runners.
	Runner string
	// Ended, if not nil, reports whether the runner with that name has ended for
	// certain. Its claims are taken over at once.
	Ended func(runner string) bool
	// ReadOnly opens the database for [Store.Load] only. No table is created.
	ReadOnly bool
	// Lease is how long other runners do not touch the notices that this runner
	// has claimed, if it dies: 5 min. While it lives, it renews the lease.
	Lease time.Duration
	// Warn, if not nil, is called when a lease cannot be renewed.
	Warn func(string)
}

// Open connects to a database, postgres://USER@HOST/DATABASE, and creates the
// tables if there are none. Add ?search_path=SCHEMA to keep the ledgers of several
// sites apart.
func Open(ctx context.Context, address string, opt Options) (*Store, error) {
	s := &Store{name: postgres.Redacted(address), runner: opt.Runner, ended: opt.Ended, lease: opt.Lease, stopped: make(chan struct{})}
	if s.lease <= 0 {
		s.lease = 5 * time.Minute
	}
	var err error
	if s.pool, err = postgres.Open(ctx, address); err != nil {
		return nil, s.fail("open", err)
	}
	have, err := tables.Version(ctx, s.pool)
	if err == nil && !opt.ReadOnly && have < len(tables.Migrations) {
		err = tables.Migrate(ctx, s.pool)
		have = len(tables.Migrations)
	}
	if err != nil {
		s.pool.Close()
		return nil, s.fail("open", err)
	}
	s.none, s.columns = have == 0, noticeColumns
	if have == 1 {
		s.columns = strings.Replace(noticeColumns, "problems, cure", "'', ''", 1)
	}
	if !opt.ReadOnly {
		if err := s.clampTimes(ctx, opt.Warn); err != nil {
			s.pool.Close()
			return nil, s.fail("open", err)
		}
	}
	renew, stop := context.WithCancel(context.Background())
	s.stop = stop
	go s.renew(renew, opt.Warn)
	return s, nil
}

// clampTimes limits times that are too far in the future, because they are from a
// clock that was wrong.
func (s *Store) clampTimes(ctx context.Context, warn func(string)) error {
	var clamped int64
	for _, update := range []string{
		"UPDATE sitelink_notice SET next = now() + interval '30 days' WHERE next > now() + interval '30 days 1 hour'",
		"UPDATE sitelink_notice SET lease = now() + interval '1 hour' WHERE lease > now() + interval '2 hours'",
		"UPDATE sitelink_peer SET until = now() + interval '30 days' WHERE until > now() + interval '30 days 1 hour'",
	} {
		tag, err := s.pool.Exec(ctx, update)
		if err != nil {
			return err
		}
		clamped += tag.RowsAffected()
	}
	if clamped > 0 && warn != nil {
		warn(fmt.Sprintf("%s: times too far in the future, because a clock was wrong: %d; they are limited to 30 days from now", s.name, clamped))
	}
	return nil
}

func (s *Store) fail(what string, err error) error {
	return fmt.Errorf("%s ledger %s: %w", what, s.name, err)
}

func keyID(k ledger.Key) []byte { return postgres.ID(k.Source, k.Target, string(k.Protocol)) }

const noticeColumns = `source, target, protocol, event, replacement, hash, state, endpoint, status, fault, message, location, attempts, tried, next, problems, cure`

func scanNotice(row pgx.CollectableRow) (n ledger.Notice, err error) {
	var tried, next *time.Time
	err = row.Scan(&n.Source, &n.Target, &n.Protocol, &n.Event, &n.Replacement, &n.Hash, &n.State, &n.Endpoint, &n.Status, &n.Fault,
		&n.Message, &n.Location, &n.Attempts, &tried, &next, &n.Problems, &n.Cure)
	n.Tried, n.Next = when(tried), when(next)
	return n, err
}

func when(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// orNull returns a time as the tables store it: in whole seconds, null for zero.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}

// Load returns the current state, read in one transaction.
func (s *Store) Load(ctx context.Context) (*ledger.Snapshot, error) {
	if s.none {
		return &ledger.Snapshot{New: true}, nil
	}
	snap := &ledger.Snapshot{}
	read := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, s.pool, read, func(tx pgx.Tx) (err error) {
		if err = tx.QueryRow(ctx, "SELECT base FROM sitelink_ledger").Scan(&snap.Base); err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, `SELECT url, hash, gone, replacement FROM sitelink_page ORDER BY url COLLATE "C"`)
		if snap.Pages, err = pgx.CollectRows(rows, pgx.RowToStructByPos[ledger.Page]); err != nil {
			return err
		}
		rows, _ = tx.Query(ctx, `SELECT source, target FROM sitelink_link ORDER BY source COLLATE "C", target COLLATE "C"`)
		if snap.Links, err = pgx.CollectRows(rows, pgx.RowToStructByPos[ledger.Link]); err != nil {
			return err
		}
		rows, _ = tx.Query(ctx, "SELECT "+s.columns+` FROM sitelink_notice ORDER BY source COLLATE "C", target COLLATE "C", protocol COLLATE "C"`)
		if snap.Notices, err = pgx.CollectRows(rows, scanNotice); err != nil {
			return err
		}
		rows, _ = tx.Query(ctx, `SELECT origin, protocol, until FROM sitelink_peer ORDER BY origin COLLATE "C", protocol COLLATE "C"`)
		snap.Unsupported, err = pgx.CollectRows(rows, pgx.RowToStructByPos[ledger.UnsupportedHost])
		for i := range snap.Unsupported {
			snap.Unsupported[i].Until = snap.Unsupported[i].Until.UTC()
		}
		return err
	})
	if err != nil {
		return nil, s.fail("read", err)
	}
	snap.New = snap.Base == ""
	return snap, nil
}

// Plan applies the change in one transaction. A notice that another runner has
// claimed or delivered for the same event of the same content is left unchanged:
// that runner deployed the same.
func (s *Store) Plan(ctx context.Context, base string, c ledger.Change) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// Only one plan at a time, because two could deadlock.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(lockKey)); err != nil {
			return err
		}
		var of string
		if err := tx.QueryRow(ctx, "SELECT base FROM sitelink_ledger").Scan(&of); err != nil {
			return err
		}
		if err := c.Accept(of, base); err != nil {
			return err
		}
		batch := &pgx.Batch{}
		if of == "" || !ledger.SameSite(of, base) {
			batch.Queue("UPDATE sitelink_ledger SET base = $1", base)
		}
		for _, l := range c.Dropped {
			batch.Queue("DELETE FROM sitelink_link WHERE id = $1", postgres.ID(l.Source, l.Target))
		}
		for _, p := range c.Pages {
			batch.Queue(`INSERT INTO sitelink_page VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE
				SET hash = excluded.hash, gone = excluded.gone, replacement = excluded.replacement`,
				postgres.ID(p.URL), p.URL, p.Hash, p.Gone, p.Replacement)
		}
		for _, l := range c.Links {
			batch.Queue("INSERT INTO sitelink_link VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING", postgres.ID(l.Source, l.Target), l.Source, l.Target)
		}
		for i := range c.Notices {
			n := &c.Notices[i]
			putNotice(batch, n, ` WHERE NOT (excluded.state = 'pending' AND excluded.hash <> ''
				AND sitelink_notice.event = excluded.event AND sitelink_notice.hash = excluded.hash
				AND (sitelink_notice.lease > now() OR sitelink_notice.state NOT IN ('pending', 'in-flight', 'retry')))
				AND NOT (excluded.state = 'retry' AND sitelink_notice.state <> 'permanent')`, "", 0.0)
			if n.Protocol == ledger.AnyProtocol && n.State == ledger.Pending && n.Hash != "" {
				// Another runner has delivered it with a protocol already.
				batch.Queue(`DELETE FROM sitelink_notice WHERE id = $1 AND EXISTS (SELECT FROM sitelink_notice other
					WHERE other.id IN ($2, $3) AND other.event = $4 AND other.hash = $5)`, keyID(n.Key),
					postgres.ID(n.Source, n.Target, string(ledger.Webmention)), postgres.ID(n.Source, n.Target, string(ledger.Pingback)), n.Event, n.Hash)
			}
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return s.fail("write", err)
	}
	return nil
}

// putNotice queues the writing of a row. condition is a WHERE clause for replacing
// an existing one. claim has the values from $19 on: the runner, its lease and those
// of the condition.
func putNotice(batch *pgx.Batch, n *ledger.Notice, condition string, claim ...any) {
	batch.Queue(`INSERT INTO sitelink_notice (id, `+noticeColumns+`, runner, lease)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
			CASE WHEN $19 = '' THEN NULL ELSE now() + make_interval(secs => $20) END)
		ON CONFLICT (id) DO UPDATE SET event = excluded.event, replacement = excluded.replacement, hash = excluded.hash,
			state = excluded.state, endpoint = excluded.endpoint, status = excluded.status, fault = excluded.fault,
			message = excluded.message, location = excluded.location, attempts = excluded.attempts, tried = excluded.tried,
			next = excluded.next, problems = excluded.problems, cure = excluded.cure, runner = excluded.runner, lease = excluded.lease`+condition,
		append([]any{keyID(n.Key), n.Source, n.Target, n.Protocol, n.Event, n.Replacement, n.Hash, n.State, n.Endpoint, n.Status, n.Fault,
			clean(n.Message), n.Location, n.Attempts, orNull(n.Tried), orNull(n.Next), n.Problems, clean(n.Cure)}, claim...)...)
}

// clean replaces bytes that PostgreSQL does not accept in a text from another
// server.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

// Claim leases rows that no other runner has. A notice has the state InFlight if
// another runner had begun it and then ended or stopped renewing the lease.
func (s *Store) Claim(ctx context.Context, now time.Time, limit int) ([]ledger.Notice, error) {
	held, err := s.held(ctx, now, true)
	if err != nil {
		return nil, s.fail("claim from", err)
	}
	ended := []string{}
	for _, h := range held {
		ended = append(ended, h.Runner)
	}
	rows, _ := s.pool.Query(ctx, `WITH due AS (
			SELECT id FROM sitelink_notice
			WHERE state IN ('pending', 'in-flight', 'retry') AND (next IS NULL OR next <= $1) AND (lease IS NULL OR lease < now() OR runner = ANY($5))
			ORDER BY source COLLATE "C", target COLLATE "C", protocol COLLATE "C" LIMIT $2 FOR UPDATE SKIP LOCKED),
		claimed AS (
			UPDATE sitelink_notice SET runner = $3, lease = now() + make_interval(secs => $4)
			WHERE id IN (SELECT id FROM due) RETURNING `+noticeColumns+`)
		SELECT * FROM claimed ORDER BY source COLLATE "C", target COLLATE "C", protocol COLLATE "C"`,
		now.UTC(), limit, s.runner, s.lease.Seconds(), ended)
	notices, err := pgx.CollectRows(rows, scanNotice)
	if err != nil {
		return nil, s.fail("claim from", err)
	}
	return notices, nil
}

// held returns the notices due at now that other runners have claimed: those of
// runners that have ended for certain, or those of the others.
func (s *Store) held(ctx context.Context, now time.Time, ended bool) (list []ledger.Held, err error) {
	rows, _ := s.pool.Query(ctx, `SELECT runner, count(*), 0, min(lease) FROM sitelink_notice
		WHERE state IN ('pending', 'in-flight', 'retry') AND (next IS NULL OR next <= $1) AND lease >= now() AND runner NOT IN ('', $2)
		GROUP BY runner ORDER BY runner COLLATE "C"`, now.UTC(), s.runner)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ledger.Held])
	for _, h := range all {
		if h.Until = h.Until.UTC(); ended == (s.ended != nil && s.ended(h.Runner)) {
			list = append(list, h)
		}
	}
	return list, err
}

// Held returns the notices due at now that other runners have claimed.
func (s *Store) Held(ctx context.Context, now time.Time) ([]ledger.Held, error) {
	list, err := s.held(ctx, now, false)
	if err != nil {
		return nil, s.fail("read", err)
	}
	return list, nil
}

var errLease = errors.New("the lease of a notice ended before it was sent, so another runner may have it")

// Begin marks the row as in flight. It fails if the lease has ended.
func (s *Store) Begin(ctx context.Context, k ledger.Key) error {
	tag, err := s.pool.Exec(ctx, "UPDATE sitelink_notice SET state = 'in-flight' WHERE id = $1 AND runner = $2 AND lease > now()", keyID(k), s.runner)
	if err == nil && tag.RowsAffected() == 0 {
		err = errLease
	}
	if err != nil {
		return s.fail("write", err)
	}
	return nil
}

// Record writes the outcome. This runner keeps its claim to an open notice until
// Close. If another runner has taken the notice over because the lease had ended,
// only a success is still written, and only while the other runner has no outcome.
func (s *Store) Record(ctx context.Context, from ledger.Key, n ledger.Notice) error {
	batch := &pgx.Batch{} // a batch is one transaction
	if from != n.Key {
		batch.Queue("DELETE FROM sitelink_notice WHERE id = $1", keyID(from))
	}
	runner := ""
	if n.Open() {
		runner = s.runner
	}
	putNotice(batch, &n, ` WHERE sitelink_notice.runner = $21 OR sitelink_notice.state IN ('pending', 'in-flight', 'retry')
		AND (sitelink_notice.lease IS NULL OR excluded.state IN ('done', 'accepted'))`, runner, s.lease.Seconds(), s.runner)
	if err := s.pool.SendBatch(ctx, batch).Close(); err != nil {
		return s.fail("write", err)
	}
	return nil
}

// RecordUnsupported writes that a host does not support a protocol.
func (s *Store) RecordUnsupported(ctx context.Context, h ledger.UnsupportedHost) error {
	_, err := s.pool.Exec(ctx, `INSERT INTO sitelink_peer VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO UPDATE SET until = excluded.until`,
		postgres.ID(h.Origin, string(h.Protocol)), h.Origin, h.Protocol, orNull(h.Until))
	if err != nil {
		return s.fail("write", err)
	}
	return nil
}

// renew renews the leases of this runner until ctx ends.
func (s *Store) renew(ctx context.Context, warn func(string)) {
	defer close(s.stopped)
	ticker := time.NewTicker(s.lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		_, err := s.pool.Exec(ctx, "UPDATE sitelink_notice SET lease = now() + make_interval(secs => $2) WHERE runner = $1 AND lease > now()", s.runner, s.lease.Seconds())
		if err != nil && ctx.Err() == nil && warn != nil {
			warn(s.fail("renew the leases in", err).Error())
		}
	}
}

// Close releases the notices that were claimed and not delivered.
func (s *Store) Close() (err error) {
	s.once.Do(func() {
		s.stop()
		<-s.stopped
		defer s.pool.Close()
		if s.none {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err = s.pool.Exec(ctx, "UPDATE sitelink_notice SET runner = '', lease = NULL WHERE runner = $1 AND runner <> ''", s.runner); err != nil {
			err = s.fail("close", err)
		}
	})
	return err
}

// tables are the tables of a ledger. URLs may be too long for an index, so the key of a
// row is a hash. The lock is also that of plans.
var tables = postgres.Schema{Table: "sitelink_ledger", Lock: lockKey, Migrations: migrations, Newer: ledger.ErrNewer}

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
`, `
ALTER TABLE sitelink_notice ADD COLUMN problems text NOT NULL DEFAULT '', ADD COLUMN cure text NOT NULL DEFAULT '';
`}

// lockKey is the advisory lock for changes to the tables and for plans.
const lockKey = 0x7369746c696e6b // "sitelink"
