package store

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/incoming"
)

// Mention implements [incoming.Store].
func (s *Store) Mention(ctx context.Context, text string) (incoming.Mention, error) {
	i, ok := parseID(text)
	if !ok {
		return incoming.Mention{}, incoming.ErrNotFound
	}
	found, err := s.load(ctx, s.readers, []id{i}, false)
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
	if !s.postgres {
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
