// Package pg keeps a ledger in tables of PostgreSQL, so that several
// runners deliver its notices at once: each claims rows that no other has
// locked or leased. Rows and outcomes enter as of [ledger.Store]; nothing but
// the tables sitelink_* of the schema that the address chooses is touched.
package pg

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Store is the [ledger.Store] in a database. It is safe for concurrent use.
type Store struct {
	name   string // without the password
	pool   *pgxpool.Pool
	runner string
	lease  time.Duration
	none   bool // read-only, and there are no tables

	once    sync.Once
	stop    context.CancelFunc
	stopped chan struct{}
}

var _ ledger.Store = (*Store)(nil)

// Options are those of [Open].
type Options struct {
	// Runner names this run, for others: unique among all runners.
	Runner string
	// ReadOnly opens for [Store.Load] alone: no table is made.
	ReadOnly bool
	// Lease is how long others leave alone what this runner claimed, should it
	// die: 5 min. While it lives, it renews that.
	Lease time.Duration
	// Note is told what goes wrong besides.
	Note func(string)
}

// Open connects to the database of an address postgres://USER@HOST/DATABASE and
// makes the tables where there are none. ?search_path=SCHEMA in the address
// keeps the ledgers of several sites apart.
func Open(ctx context.Context, address string, opt Options) (*Store, error) {
	s := &Store{name: redacted(address), runner: opt.Runner, lease: opt.Lease, stopped: make(chan struct{})}
	if s.lease <= 0 {
		s.lease = 5 * time.Minute
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: the address cannot be read", s.name) // pgx would quote the password
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, s.fail("open", err)
	}
	have, err := versionOf(ctx, s.pool)
	if err == nil && !opt.ReadOnly && have < version {
		err = migrate(ctx, s.pool)
		have = version
	}
	if err != nil {
		s.pool.Close()
		return nil, s.fail("open", err)
	}
	s.none = have == 0
	renew, stop := context.WithCancel(context.Background())
	s.stop = stop
	go s.renew(renew, opt.Note)
	return s, nil
}

func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "postgres://..."
	}
	u.RawQuery = ""
	return u.Redacted()
}

func (s *Store) fail(what string, err error) error {
	return fmt.Errorf("%s ledger %s: %w", what, s.name, err)
}

// id is the key of a row.
func id(parts ...string) []byte {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return h.Sum(nil)
}

func keyID(k ledger.Key) []byte { return id(k.Source, k.Target, string(k.Protocol)) }

const noticeColumns = `source, target, protocol, event, replacement, hash, state, endpoint, status, fault, message, location, attempts, tried, next`

func scanNotice(row pgx.CollectableRow) (n ledger.Notice, err error) {
	var tried, next *time.Time
	err = row.Scan(&n.Source, &n.Target, &n.Protocol, &n.Event, &n.Replacement, &n.Hash, &n.State, &n.Endpoint, &n.Status, &n.Fault,
		&n.Message, &n.Location, &n.Attempts, &tried, &next)
	n.Tried, n.Next = when(tried), when(next)
	return n, err
}

func when(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// orNull is a time as the tables have it: whole seconds, null for none.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}

// Load returns the present state, all of it as of one moment.
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
		rows, _ = tx.Query(ctx, "SELECT "+noticeColumns+` FROM sitelink_notice ORDER BY source COLLATE "C", target COLLATE "C", protocol COLLATE "C"`)
		if snap.Notices, err = pgx.CollectRows(rows, scanNotice); err != nil {
			return err
		}
		rows, _ = tx.Query(ctx, `SELECT origin, protocol, until FROM sitelink_peer ORDER BY origin COLLATE "C", protocol COLLATE "C"`)
		snap.Peers, err = pgx.CollectRows(rows, pgx.RowToStructByPos[ledger.Peer])
		for i := range snap.Peers {
			snap.Peers[i].Until = snap.Peers[i].Until.UTC()
		}
		return err
	})
	if err != nil {
		return nil, s.fail("read", err)
	}
	snap.New = snap.Base == ""
	return snap, nil
}

// Plan makes the change in one transaction. A notice that another runner has
// claimed or delivered for the same event of the same entry stays as it is: that
// runner made the same deploy.
func (s *Store) Plan(ctx context.Context, base string, c ledger.Change) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		// One plan at a time: two would lock rows in different orders.
		batch.Queue("SELECT pg_advisory_xact_lock($1)", int64(lockKey))
		batch.Queue("UPDATE sitelink_ledger SET base = $1", base)
		for _, l := range c.Dropped {
			batch.Queue("DELETE FROM sitelink_link WHERE id = $1", id(l.Source, l.Target))
		}
		for _, p := range c.Pages {
			batch.Queue(`INSERT INTO sitelink_page VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE
				SET hash = excluded.hash, gone = excluded.gone, replacement = excluded.replacement`,
				id(p.URL), p.URL, p.Hash, p.Gone, p.Replacement)
		}
		for _, l := range c.Links {
			batch.Queue("INSERT INTO sitelink_link VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING", id(l.Source, l.Target), l.Source, l.Target)
		}
		for i := range c.Notices {
			n := &c.Notices[i]
			putNotice(batch, n, ` WHERE NOT (excluded.state = 'pending' AND excluded.hash <> ''
				AND sitelink_notice.event = excluded.event AND sitelink_notice.hash = excluded.hash
				AND (sitelink_notice.lease > now() OR sitelink_notice.state NOT IN ('pending', 'in-flight', 'retry')))`, "", 0)
			if n.Protocol == ledger.AnyProtocol && n.State == ledger.Pending && n.Hash != "" {
				// Another runner has brought it to a protocol already.
				batch.Queue(`DELETE FROM sitelink_notice WHERE id = $1 AND EXISTS (SELECT FROM sitelink_notice twin
					WHERE twin.id IN ($2, $3) AND twin.event = $4 AND twin.hash = $5)`, keyID(n.Key),
					id(n.Source, n.Target, string(ledger.Webmention)), id(n.Source, n.Target, string(ledger.Pingback)), n.Event, n.Hash)
			}
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return s.fail("write", err)
	}
	return nil
}

// putNotice queues the writing of a row; condition guards one that is there.
func putNotice(batch *pgx.Batch, n *ledger.Notice, condition, runner string, lease time.Duration) {
	batch.Queue(`INSERT INTO sitelink_notice (id, `+noticeColumns+`, runner, lease)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
			CASE WHEN $17 = '' THEN NULL ELSE now() + make_interval(secs => $18) END)
		ON CONFLICT (id) DO UPDATE SET event = excluded.event, replacement = excluded.replacement, hash = excluded.hash,
			state = excluded.state, endpoint = excluded.endpoint, status = excluded.status, fault = excluded.fault,
			message = excluded.message, location = excluded.location, attempts = excluded.attempts, tried = excluded.tried,
			next = excluded.next, runner = excluded.runner, lease = excluded.lease`+condition,
		keyID(n.Key), n.Source, n.Target, n.Protocol, n.Event, n.Replacement, n.Hash, n.State, n.Endpoint, n.Status, n.Fault,
		clean(n.Message), n.Location, n.Attempts, orNull(n.Tried), orNull(n.Next), runner, lease.Seconds())
}

// clean drops from a text of another server what a database does not take.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

// Claim leases rows that no other runner has. What a runner claimed that did not
// renew its lease was perhaps sent if it had begun it: then it has the state
// InFlight.
func (s *Store) Claim(ctx context.Context, now time.Time, limit int) ([]ledger.Notice, error) {
	rows, _ := s.pool.Query(ctx, `WITH due AS (
			SELECT id FROM sitelink_notice
			WHERE state IN ('pending', 'in-flight', 'retry') AND (next IS NULL OR next <= $1) AND (lease IS NULL OR lease < now())
			ORDER BY source COLLATE "C", target COLLATE "C", protocol COLLATE "C" LIMIT $2 FOR UPDATE SKIP LOCKED),
		claimed AS (
			UPDATE sitelink_notice SET runner = $3, lease = now() + make_interval(secs => $4)
			WHERE id IN (SELECT id FROM due) RETURNING `+noticeColumns+`)
		SELECT * FROM claimed ORDER BY source COLLATE "C", target COLLATE "C", protocol COLLATE "C"`,
		now.UTC(), limit, s.runner, s.lease.Seconds())
	notices, err := pgx.CollectRows(rows, scanNotice)
	if err != nil {
		return nil, s.fail("claim from", err)
	}
	return notices, nil
}

// errLease is the error of a row that another runner may have.
var errLease = errors.New("the lease of a notice ended before it was sent; another runner may have it")

// Begin marks the row as in flight. It fails when the lease has ended.
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

// Record writes the outcome. An open notice stays this runner's until Close.
func (s *Store) Record(ctx context.Context, from ledger.Key, n ledger.Notice) error {
	batch := &pgx.Batch{} // one transaction, as all that is sent at once
	if from != n.Key {
		batch.Queue("DELETE FROM sitelink_notice WHERE id = $1", keyID(from))
	}
	runner := ""
	if n.Open() {
		runner = s.runner
	}
	putNotice(batch, &n, "", runner, s.lease)
	if err := s.pool.SendBatch(ctx, batch).Close(); err != nil {
		return s.fail("write", err)
	}
	return nil
}

// Remember writes what is known of a peer.
func (s *Store) Remember(ctx context.Context, p ledger.Peer) error {
	_, err := s.pool.Exec(ctx, `INSERT INTO sitelink_peer VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO UPDATE SET until = excluded.until`,
		id(p.Origin, string(p.Protocol)), p.Origin, p.Protocol, orNull(p.Until))
	if err != nil {
		return s.fail("write", err)
	}
	return nil
}

// renew keeps what this runner has claimed until it ends.
func (s *Store) renew(ctx context.Context, note func(string)) {
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
		if err != nil && ctx.Err() == nil && note != nil {
			note(s.fail("renew the claims in", err).Error())
		}
	}
}

// Close gives back what was claimed and not delivered.
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
