package pg

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sitelink/sitelink/check/remote"
	"github.com/sitelink/sitelink/internal/postgres"
)

// Store is the [remote.Store] in a database.
type Store struct {
	name  string // without the password
	pool  *pgxpool.Pool
	lease time.Duration
	// run identifies this run under its current lease.
	run  string
	none bool // the store is read-only and the tables do not exist
}

var _ remote.Store = (*Store)(nil)

// Options configure [Open]. The zero value of a field selects the default named beside
// it.
type Options struct {
	// ReadOnly opens the database for [remote.ReadStore] only. No table is created.
	ReadOnly bool
	// Lease is how long other runs leave the hosts alone that this run has claimed, if it
	// dies: 30 s. While it lives, it renews the lease.
	Lease time.Duration
}

// tables are the tables of a status cache. URLs may be too long for an index, so the key
// of a row is a hash. A run has the hosts with its name while its lease lasts.
var tables = postgres.Schema{Table: "sitelink_status", Lock: 0x737461747573, Newer: remote.ErrNewer, Migrations: []string{`
CREATE TABLE sitelink_status (one boolean PRIMARY KEY DEFAULT true CHECK (one), version integer NOT NULL);
CREATE TABLE sitelink_status_row (id bytea PRIMARY KEY, url text NOT NULL, asked timestamptz NOT NULL, record text NOT NULL);
CREATE TABLE sitelink_status_run (run text PRIMARY KEY, lease timestamptz NOT NULL);
CREATE TABLE sitelink_status_host (
	id bytea PRIMARY KEY, host text NOT NULL, run text, wanted boolean NOT NULL DEFAULT false,
	ready timestamptz NOT NULL DEFAULT now(), pace double precision NOT NULL DEFAULT 0, until timestamptz);
CREATE INDEX sitelink_status_host_run ON sitelink_status_host (run) WHERE run IS NOT NULL;
INSERT INTO sitelink_status (version) VALUES (1);
`, `SELECT 1 -- only so that older versions refuse: rows say by themselves what they are
`}}

// Open connects to a database, postgres://USER@HOST/DATABASE, and creates the tables if
// they do not exist. Add ?search_path=SCHEMA to use the tables of another schema. The error
// is [remote.ErrNewer] if a newer version of sitelink made the tables.
func Open(ctx context.Context, address string, opt Options) (*Store, error) {
	s := &Store{name: postgres.Redacted(address), lease: opt.Lease}
	if s.lease <= 0 {
		s.lease = 30 * time.Second
	}
	var err error
	if s.pool, err = postgres.Open(ctx, address); err != nil {
		return nil, s.fail("open", err)
	}
	have, err := tables.Version(ctx, s.pool)
	s.none = have == 0
	if err == nil && !opt.ReadOnly && have < len(tables.Migrations) {
		err = tables.Migrate(ctx, s.pool)
		s.none = false
	}
	if err != nil {
		s.pool.Close()
		return nil, s.fail("open", err)
	}
	return s, nil
}

func (s *Store) fail(what string, err error) error {
	return fmt.Errorf("%s status cache %s: %w", what, s.name, err)
}

// Lease is how long claims last.
func (s *Store) Lease() time.Duration { return s.lease }

// Rows returns the rows of URLs, those of all URLs for nil.
func (s *Store) Rows(ctx context.Context, urls []string) ([]remote.Row, error) {
	if s.none {
		return nil, nil
	}
	query, args := "SELECT url, asked, record FROM sitelink_status_row", []any(nil)
	if urls != nil {
		query, args = query+" WHERE id = ANY($1)", []any{ids(urls)}
	}
	rows, _ := s.pool.Query(ctx, query, args...)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[remote.Row])
	if err != nil {
		return nil, s.fail("read", err)
	}
	return all, nil
}

// ids returns the keys of URLs or hosts.
func ids(texts []string) [][]byte {
	all := make([][]byte, len(texts))
	for i, t := range texts {
		all[i] = postgres.ID(t)
	}
	return all
}

// Save writes a change in one transaction. Rows and hosts are locked in the order of
// their keys, so that two runs never wait for each other.
func (s *Store) Save(ctx context.Context, c *remote.Change) error {
	rows := slices.Clone(c.Rows)
	urls, asked, texts := make([]string, len(rows)), make([]time.Time, len(rows)), make([]string, len(rows))
	for i, r := range rows {
		urls[i], asked[i], texts[i] = clean(r.URL), r.Asked, clean(r.Text)
	}
	hosts := make([]string, len(c.Hosts))
	ready, pace := make([]float64, len(hosts)), make([]float64, len(hosts))
	until, released := make([]*time.Time, len(hosts)), make([]bool, len(hosts))
	for i, h := range c.Hosts {
		hosts[i], ready[i], pace[i], released[i] = h.Name, h.Ready.Seconds(), h.Interval.Seconds(), h.Released
		if !h.Until.IsZero() {
			until[i] = &h.Until
		}
	}
	batch := &pgx.Batch{} // a batch is one transaction
	if len(c.Removed) > 0 {
		batch.Queue(`WITH old AS (SELECT id FROM sitelink_status_row WHERE id = ANY($1) ORDER BY id FOR UPDATE)
			DELETE FROM sitelink_status_row WHERE id IN (SELECT id FROM old)`, ids(c.Removed))
	}
	if len(rows) > 0 {
		batch.Queue(`INSERT INTO sitelink_status_row (id, url, asked, record)
			SELECT * FROM unnest($1::bytea[], $2::text[], $3::timestamptz[], $4::text[]) AS new (id, url, asked, record) ORDER BY id
			ON CONFLICT (id) DO UPDATE SET asked = excluded.asked, record = excluded.record
			WHERE excluded.asked >= sitelink_status_row.asked OR sitelink_status_row.asked > now() + interval '1 hour'`, ids(urls), urls, asked, texts)
	}
	if len(hosts) > 0 {
		batch.Queue("SELECT FROM sitelink_status_host WHERE id = ANY($1) ORDER BY id FOR UPDATE", ids(hosts))
		batch.Queue(`UPDATE sitelink_status_host AS h SET ready = now() + make_interval(secs => new.ready), pace = new.pace, until = new.until,
				run = CASE WHEN new.released THEN NULL ELSE h.run END
			FROM unnest($2::bytea[], $3::float8[], $4::float8[], $5::timestamptz[], $6::boolean[]) AS new (id, ready, pace, until, released)
			WHERE h.id = new.id AND h.run = $1`, s.run, ids(hosts), ready, pace, until, released)
	}
	if err := s.pool.SendBatch(ctx, batch).Close(); err != nil {
		return s.fail("write", err)
	}
	return nil
}

// clean replaces bytes that PostgreSQL does not accept in a text.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

// Renew extends the lease, or begins a new one under a new name.
func (s *Store) Renew(ctx context.Context) (wanted []string, err error) {
	var lost error
	if s.run != "" {
		tag, err := s.pool.Exec(ctx, "UPDATE sitelink_status_run SET lease = now() + make_interval(secs => $2) WHERE run = $1 AND lease > now()", s.run, s.lease.Seconds())
		if err != nil {
			return nil, s.fail("renew the lease in", err)
		}
		if tag.RowsAffected() == 0 {
			lost = remote.ErrLeaseLost
		}
	}
	if s.run == "" || lost != nil {
		run := rand.Text()
		batch := &pgx.Batch{}
		batch.Queue("DELETE FROM sitelink_status_run WHERE lease < now() - interval '1 day'") // of processes that were killed
		batch.Queue("INSERT INTO sitelink_status_run VALUES ($1, now() + make_interval(secs => $2))", run, s.lease.Seconds())
		if err := s.pool.SendBatch(ctx, batch).Close(); err != nil {
			return nil, s.fail("begin a lease in", err)
		}
		s.run = run
		return nil, lost
	}
	rows, _ := s.pool.Query(ctx, "SELECT host FROM sitelink_status_host WHERE run = $1 AND wanted", s.run)
	if wanted, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return nil, s.fail("read", err)
	}
	return wanted, nil
}

// Claim claims hosts that no other run has, or that a run has with a lease that ended.
// That run may have sent a request after it saved the host's state, so this run waits
// as if the last request had just begun. A pace that is ten minutes old means nothing.
func (s *Store) Claim(ctx context.Context, hosts []string) ([]remote.Host, error) {
	hosts = slices.Clone(hosts)
	keys := ids(hosts)
	batch := &pgx.Batch{} // a batch is one transaction
	batch.Queue(`INSERT INTO sitelink_status_host (id, host) SELECT * FROM unnest($1::bytea[], $2::text[]) AS new (id, host) ORDER BY id
		ON CONFLICT (id) DO NOTHING`, keys, hosts)
	batch.Queue("SELECT FROM sitelink_status_host WHERE id = ANY($1) ORDER BY id FOR UPDATE", keys)
	// This statement sees what others wrote while the one before waited.
	var claimed []remote.Host
	batch.Queue(`UPDATE sitelink_status_host AS h SET run = $2, wanted = false,
			pace = CASE WHEN ready < now() - interval '10 minutes' THEN 0 ELSE pace END,
			ready = CASE WHEN run <> $2 THEN greatest(ready, now() + make_interval(secs => pace)) ELSE ready END
		WHERE id = ANY($1) AND (run IS NULL OR run = $2 OR NOT EXISTS (SELECT FROM sitelink_status_run r WHERE r.run = h.run AND r.lease > now()))
		RETURNING host, greatest(extract(epoch FROM ready - now()), 0)::float8, pace, until`, keys, s.run).Query(func(rows pgx.Rows) (err error) {
		claimed, err = pgx.CollectRows(rows, scanHost)
		return err
	})
	batch.Queue("UPDATE sitelink_status_host SET wanted = true WHERE id = ANY($1) AND run <> $2 AND NOT wanted", keys, s.run)
	if err := s.pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, s.fail("claim hosts in", err)
	}
	return claimed, nil
}

func scanHost(row pgx.CollectableRow) (h remote.Host, err error) {
	var ready, pace float64
	var until *time.Time
	if err := row.Scan(&h.Name, &ready, &pace, &until); err != nil {
		return h, err
	}
	h.Ready, h.Interval = time.Duration(ready*float64(time.Second)), time.Duration(pace*float64(time.Second))
	if until != nil {
		h.Until = until.UTC()
	}
	return h, nil
}

// Close gives up all claims.
func (s *Store) Close() error {
	defer s.pool.Close()
	if s.run == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	batch := &pgx.Batch{}
	batch.Queue("UPDATE sitelink_status_host SET run = NULL WHERE run = $1", s.run)
	batch.Queue("DELETE FROM sitelink_status_run WHERE run = $1", s.run)
	if err := s.pool.SendBatch(ctx, batch).Close(); err != nil {
		return s.fail("close", err)
	}
	return nil
}
