package store

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/incoming"
)

// Mention implements [incoming.Store].
func (s *Store) Mention(ctx context.Context, text string) (incoming.Mention, error) {
	i, ok := parseID(text)
	if !ok {
		return incoming.Mention{}, incoming.ErrNotFound
	}
	found, err := s.load(ctx, s.readers, []id{i}, "")
	if err != nil {
		return incoming.Mention{}, s.fail("read", err)
	}
	if r := found[i]; r != nil {
		return r.Mention, nil
	}
	return incoming.Mention{}, incoming.ErrNotFound
}

// page is how many mentions List reads at a time, and few how many List sorts
// rather than reading all in their order.
const page, few = 500, 5000

// List implements [incoming.Store]. Mentions are sorted by the bytes of the
// canonical URLs. A mention that is written meanwhile is listed if its place was not
// reached.
func (s *Store) List(ctx context.Context, f incoming.Filter) iter.Seq2[incoming.Mention, error] {
	return func(yield func(incoming.Mention, error) bool) {
		where, args, err := s.where(ctx, f)
		if err != nil {
			yield(incoming.Mention{}, s.fail("read", err))
			return
		}
		if f.AnyOrder {
			s.each(ctx, f, where, args, yield)
			return
		}
		count := 0
		var after []any
		for {
			limit := page
			if f.Limit > 0 {
				limit = min(page, f.Limit)
			}
			query, values := where, slices.Clone(args)
			if after != nil {
				query += " AND (target, source, action, id) > (?, ?, ?, ?)"
				values = append(values, after...)
			}
			all, err := collect(s.query(ctx, s.readers, query+" ORDER BY target, source, action, id LIMIT ?", append(values, limit)...))
			if err != nil {
				yield(incoming.Mention{}, s.fail("read", err))
				return
			}
			for _, r := range all {
				if !sameLong(f.Target, r.Target) || !sameLong(f.Source, r.Source) {
					continue
				}
				if count++; !yield(r.Mention, nil) || count == f.Limit {
					return
				}
			}
			if len(all) < limit {
				return
			}
			last := all[len(all)-1]
			action := last.Action
			if action == "" {
				action = incoming.Link
			}
			after = []any{last.target, last.source, string(action), last.id[:]}
		}
	}
}

// each lists mentions in the order in which the database has them, so that it reads
// each page of the file once. Two halves of a file are read at the same time. Each
// half is one query, which sees one state of the database: a mention that changes
// meanwhile is neither listed twice nor left out.
func (s *Store) each(ctx context.Context, f incoming.Filter, query string, args []any, yield func(incoming.Mention, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()
	var halves []<-chan some
	read := func(query string, args ...any) {
		half := make(chan some, 2)
		halves = append(halves, half)
		readers.Go(func() {
			defer close(half)
			s.read(ctx, half, query, args)
		})
	}
	if s.postgres {
		read(query, args...)
	} else {
		var middle int64
		if err := s.queryRow(ctx, s.readers, "SELECT coalesce(max(rowid), 0) / 2 FROM sitelink_mention").Scan(&middle); err != nil {
			yield(incoming.Mention{}, s.fail("read", err))
			return
		}
		read(query+" AND rowid <= ?", append(slices.Clone(args), middle)...)
		read(query+" AND rowid > ?", append(slices.Clone(args), middle)...)
	}
	count := 0
	for turn := 0; len(halves) > 0; turn++ { // in turn, so that the order does not depend on time
		at := turn % len(halves)
		some, ok := <-halves[at]
		if !ok {
			halves = slices.Delete(halves, at, at+1)
			continue
		}
		for _, m := range some.mentions {
			if !sameLong(f.Target, m.Target) || !sameLong(f.Source, m.Source) {
				continue
			}
			if count++; !yield(m, nil) || count == f.Limit {
				return
			}
		}
		if some.err != nil {
			yield(incoming.Mention{}, s.fail("read", some.err))
			return
		}
	}
}

// some are some of the mentions of a list, or the error at its end.
type some struct {
	mentions []incoming.Mention
	err      error
}

// read sends the mentions that a query finds, until ctx ends.
func (s *Store) read(ctx context.Context, to chan<- some, query string, args []any) {
	send := func(next some) bool {
		select {
		case to <- next:
			return true
		case <-ctx.Done():
			return false
		}
	}
	rows, err := s.query(ctx, s.readers, query, args...)
	if err != nil {
		send(some{err: err})
		return
	}
	defer rows.Close()
	var mentions []incoming.Mention
	for rows.Next() {
		r, err := scan(rows)
		if err != nil {
			send(some{err: err})
			return
		}
		if mentions = append(mentions, r.Mention); len(mentions) == page {
			if !send(some{mentions: mentions}) {
				return
			}
			mentions = make([]incoming.Mention, 0, page)
		}
	}
	send(some{mentions, rows.Err()})
}

// sameLong reports whether a URL is the wanted one, if that is too long for its
// column. The query has compared the others.
func sameLong(wanted, raw string) bool {
	if len(wanted) < maxKey/3 { // the canonical form escapes bytes
		return true
	}
	a, ok := canonicalURL(wanted)
	b, _ := canonicalURL(raw)
	return !ok || a == b
}

// where returns the query for the mentions that the filter selects. SQLite does not
// know which index is best, so the query names one.
func (s *Store) where(ctx context.Context, f incoming.Filter) (query string, args []any, err error) {
	index := "order"
	conditions := []string{"1 = 1"}
	in := func(column string, n int) { conditions = append(conditions, column+" IN ("+marks(n)+")") }
	switch {
	case len(f.States) == 1 && f.States[0] == incoming.Approved:
		conditions = append(conditions, "state = 'approved'")
		if f.Source != "" {
			index = "host"
		}
	case len(f.States) > 0:
		in("state", len(f.States))
		for _, state := range f.States {
			args = append(args, string(state))
		}
		var n int
		if f.AnyOrder {
			break
		}
		err := s.queryRow(ctx, s.readers, "SELECT count(*) FROM (SELECT 1 FROM sitelink_mention WHERE state IN ("+marks(len(args))+") LIMIT ?) AS few",
			append(slices.Clone(args), few)...).Scan(&n)
		if err != nil {
			return "", nil, err
		}
		if n < few {
			index = "state"
		}
	}
	if len(f.Action) > 0 {
		in("action", len(f.Action))
		for _, action := range f.Action {
			if action == "" {
				action = incoming.Link
			}
			args = append(args, string(action))
		}
	}
	if f.Source != "" {
		if canonical, ok := canonicalURL(f.Source); ok {
			conditions = append(conditions, "source_host = ? AND source = ?")
			args = append(args, cut(hostOf(canonical)), cut(canonical))
		} else {
			conditions = append(conditions, "source_host = ?")
			args = append(args, canonicalHost(f.Source))
		}
	}
	if f.Target != "" {
		if canonical, ok := canonicalURL(f.Target); ok {
			index = "order"
			conditions = append(conditions, "target = ?")
			args = append(args, cut(canonical))
		} else {
			var any []string
			for _, scheme := range []string{"http://", "https://"} {
				for _, end := range []string{"/", ":"} {
					prefix := scheme + canonicalHost(f.Target) + end
					any = append(any, "substr(target, 1, ?) = ?")
					args = append(args, len(prefix), prefix)
				}
			}
			conditions = append(conditions, "("+strings.Join(any, " OR ")+")")
		}
	}
	if !f.Since.IsZero() {
		conditions = append(conditions, "received >= ?")
		args = append(args, micros(f.Since))
	}
	table := "sitelink_mention"
	switch {
	case s.postgres:
	case f.AnyOrder && index == "order" && f.Target == "" && len(f.States) == 0:
		table += " NOT INDEXED"
	case f.AnyOrder && index == "order" && f.Target == "":
		table += " INDEXED BY sitelink_mention_state"
	default:
		table += " INDEXED BY sitelink_mention_" + index
	}
	return "SELECT " + columns + " FROM " + table + " WHERE " + strings.Join(conditions, " AND "), args, nil
}

// canonicalURL returns the canonical form of a URL. ok is false for a host.
func canonicalURL(text string) (canonical string, ok bool) {
	key, err := incoming.KeyOf(incoming.Notice{Source: text, Target: text})
	return key.Source, err == nil
}

// canonicalHost returns a host as it is in canonical URLs.
func canonicalHost(text string) string {
	if canonical, ok := canonicalURL("http://" + text + "/"); ok {
		return hostOf(canonical)
	}
	return strings.ToLower(text)
}

// Counts implements [incoming.Store].
func (s *Store) Counts(ctx context.Context) (map[incoming.State]int64, error) {
	rows, err := s.query(ctx, s.readers, "SELECT state, count(*) FROM sitelink_mention GROUP BY state")
	if err != nil {
		return nil, s.fail("read", err)
	}
	defer rows.Close()
	counts := map[incoming.State]int64{}
	for rows.Next() {
		var state incoming.State
		var n int64
		if err := rows.Scan(&state, &n); err != nil {
			return nil, s.fail("read", err)
		}
		counts[state] = n
	}
	return counts, s.fail("read", rows.Err())
}

// RulesVersion implements [incoming.Store].
func (s *Store) RulesVersion(ctx context.Context) (string, error) {
	var n int64
	err := s.queryRow(ctx, s.readers, "SELECT rules FROM sitelink_store").Scan(&n)
	return strconv.FormatInt(n, 10), s.fail("read", err)
}

// Rules implements [incoming.Store].
func (s *Store) Rules(ctx context.Context) ([]incoming.Rule, error) {
	rows, err := s.query(ctx, s.readers, "SELECT pattern, verdict, note FROM sitelink_rule")
	if err != nil {
		return nil, s.fail("read", err)
	}
	defer rows.Close()
	var all []incoming.Rule
	for rows.Next() {
		var r incoming.Rule
		if err := rows.Scan(&r.Pattern, &r.Verdict, &r.Note); err != nil {
			return nil, s.fail("read", err)
		}
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		return nil, s.fail("read", err)
	}
	slices.SortFunc(all, func(a, b incoming.Rule) int { return strings.Compare(a.Pattern, b.Pattern) })
	return all, nil
}

// SetRules implements [incoming.Store].
func (s *Store) SetRules(ctx context.Context, list []incoming.Rule) error {
	tx, end, err := s.begin(ctx, true)
	if err != nil {
		return s.fail("write", err)
	}
	defer end()
	// First, so that two calls wait for each other.
	if _, err := s.exec(ctx, tx, "UPDATE sitelink_store SET rules = rules + 1"); err != nil {
		return s.fail("write", err)
	}
	for _, r := range list {
		query, args := "DELETE FROM sitelink_rule WHERE pattern = ?", []any{clean(r.Pattern)}
		if r.Verdict != "" {
			query = "INSERT INTO sitelink_rule (pattern, verdict, note) VALUES (?, ?, ?) ON CONFLICT (pattern) DO UPDATE SET verdict = excluded.verdict, note = excluded.note"
			args = append(args, clean(string(r.Verdict)), clean(r.Note))
		}
		if _, err := s.exec(ctx, tx, query, args...); err != nil {
			return s.fail("write", err)
		}
	}
	return s.fail("write", tx.Commit())
}
