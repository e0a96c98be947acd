package incomingtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sitelink/sitelink/incoming"
)

// Store is an [incoming.Store] in memory. The zero value is an empty store that uses
// time.Now. It is safe for concurrent use.
//
// A store may call a function that changes mentions again when another process
// interferes. This one always calls it twice, and forgets what the first call did: a
// test fails if that makes a difference.
type Store struct {
	now func() time.Time

	mu       sync.Mutex
	fail     error
	mentions map[incoming.Key]incoming.Mention
	rules    map[string]incoming.Rule
	version  int             // of the rules
	working  map[string]bool // by ID
}

var _ incoming.Store = (*Store)(nil)

// NewStore returns an empty store. now is its clock; nil means time.Now.
func NewStore(now func() time.Time) *Store {
	return &Store{now: now}
}

func (s *Store) time() time.Time {
	if s.now == nil {
		return time.Now()
	}
	return s.now()
}

// Fail lets all later calls fail with err, or succeed again if err is nil.
func (s *Store) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

// Add records mentions as they are, with an ID if they have none, and returns
// their IDs. It panics if the source or the target of one is invalid.
func (s *Store) Add(mentions ...incoming.Mention) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range mentions {
		ids = append(ids, s.put(keyOf(m), m))
	}
	return ids
}

func keyOf(m incoming.Mention) incoming.Key {
	key, err := incoming.KeyOf(incoming.Notice{Action: m.Action, Source: m.Source, Target: m.Target})
	if err != nil {
		panic(err)
	}
	return key
}

func (s *Store) put(key incoming.Key, m incoming.Mention) (id string) {
	m.ID = cmp.Or(m.ID, rand.Text())
	if s.mentions == nil {
		s.mentions = map[incoming.Key]incoming.Mention{}
	}
	s.mentions[key] = m
	return m.ID
}

// Record implements incoming.Store.
func (s *Store) Record(ctx context.Context, keys []incoming.Key, decide func([]*incoming.Mention) ([]*incoming.Mention, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := cmp.Or(s.fail, ctx.Err()); err != nil {
		return err
	}
	call := func() ([]*incoming.Mention, error) {
		found := make([]*incoming.Mention, len(keys))
		for i, key := range keys {
			if m, ok := s.mentions[key]; ok {
				found[i] = &m
			}
		}
		return decide(found)
	}
	call()
	write, err := call()
	if err != nil {
		return err
	}
	for i, m := range write {
		if m != nil {
			m.ID = s.put(keys[i], *m)
		}
	}
	return nil
}

// Mention implements incoming.Store.
func (s *Store) Mention(ctx context.Context, id string) (incoming.Mention, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, m, err := s.find(ctx, id)
	return m, err
}

func (s *Store) find(ctx context.Context, id string) (incoming.Key, incoming.Mention, error) {
	if err := cmp.Or(s.fail, ctx.Err()); err != nil {
		return incoming.Key{}, incoming.Mention{}, err
	}
	for key, m := range s.mentions {
		if m.ID == id {
			return key, m, nil
		}
	}
	return incoming.Key{}, incoming.Mention{}, incoming.ErrNotFound
}

// List implements incoming.Store. It goes through a copy.
func (s *Store) List(ctx context.Context, f incoming.Filter) iter.Seq2[incoming.Mention, error] {
	return func(yield func(incoming.Mention, error) bool) {
		all, err := s.selected(ctx, f)
		if err != nil {
			yield(incoming.Mention{}, err)
			return
		}
		for _, m := range all {
			if !yield(m, nil) {
				return
			}
		}
	}
}

func (s *Store) selected(ctx context.Context, f incoming.Filter) ([]incoming.Mention, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := cmp.Or(s.fail, ctx.Err()); err != nil {
		return nil, err
	}
	type row struct {
		key incoming.Key
		m   incoming.Mention
	}
	var rows []row
	for key, m := range s.mentions {
		if (len(f.States) == 0 || slices.Contains(f.States, m.State)) &&
			(len(f.Action) == 0 || slices.Contains(f.Action, key.Action)) &&
			isAt(key.Target, f.Target) && isAt(key.Source, f.Source) &&
			!m.Received.Before(f.Since) {
			rows = append(rows, row{key, m})
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(strings.Compare(a.key.Target, b.key.Target), strings.Compare(a.key.Source, b.key.Source), cmp.Compare(a.key.Action, b.key.Action))
	})
	if f.Limit > 0 && len(rows) > f.Limit {
		rows = rows[:f.Limit]
	}
	all := make([]incoming.Mention, len(rows))
	for i, row := range rows {
		all[i] = row.m
	}
	return all, nil
}

// isAt reports whether a canonical URL is the wanted URL, apart from its
// fragment, or has the wanted host.
func isAt(canonical, wanted string) bool {
	if wanted == "" {
		return true
	}
	if !strings.Contains(wanted, "/") {
		u, err := url.Parse(canonical)
		return err == nil && (u.Host == wanted || u.Hostname() == wanted)
	}
	key, err := incoming.KeyOf(incoming.Notice{Source: wanted, Target: wanted})
	if err != nil {
		return false
	}
	canonical, _, _ = strings.Cut(canonical, "#")
	wanted, _, _ = strings.Cut(key.Source, "#")
	return canonical == wanted
}

// Update implements incoming.Store.
func (s *Store) Update(ctx context.Context, id string, change func(*incoming.Mention) error) (incoming.Mention, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, m, err := s.find(ctx, id)
	if err != nil {
		return m, err
	}
	forgotten := m
	change(&forgotten)
	if err := change(&m); err != nil {
		return incoming.Mention{}, err
	}
	s.put(key, m)
	return m, nil
}

// Counts implements incoming.Store.
func (s *Store) Counts(ctx context.Context) (map[incoming.State]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := map[incoming.State]int64{}
	for _, m := range s.mentions {
		counts[m.State]++
	}
	return counts, cmp.Or(s.fail, ctx.Err())
}

// Rules implements incoming.Store.
func (s *Store) Rules(ctx context.Context) ([]incoming.Rule, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rules []incoming.Rule
	for _, r := range s.rules {
		rules = append(rules, r)
	}
	slices.SortFunc(rules, func(a, b incoming.Rule) int { return strings.Compare(a.Pattern, b.Pattern) })
	return rules, cmp.Or(s.fail, ctx.Err())
}

// RulesVersion implements incoming.Store.
func (s *Store) RulesVersion(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strconv.Itoa(s.version), cmp.Or(s.fail, ctx.Err())
}

// SetRules implements incoming.Store.
func (s *Store) SetRules(ctx context.Context, rules []incoming.Rule) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := cmp.Or(s.fail, ctx.Err()); err != nil {
		return err
	}
	s.version++
	if s.rules == nil {
		s.rules = map[string]incoming.Rule{}
	}
	for _, r := range rules {
		if r.Verdict == "" {
			delete(s.rules, r.Pattern)
		} else {
			s.rules[r.Pattern] = r
		}
	}
	return nil
}

// retry is the wait after a look that failed.
const retry = time.Minute

// Work implements incoming.Store. It looks at one mention at a time. The queue
// forgets a mention after a look, unless the change sets another Due.
func (s *Store) Work(ctx context.Context, verify func(context.Context, incoming.Mention) (func(*incoming.Mention), error)) error {
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for {
		m, ok := s.take()
		if !ok {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-poll.C:
			}
			continue
		}
		change, err := verify(ctx, m)
		s.finish(m, change, err)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// take returns the mention that has been due for longest, and marks it as taken.
func (s *Store) take() (first incoming.Mention, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.time()
	for _, m := range s.mentions {
		if !m.Due.IsZero() && !m.Due.After(now) && !s.working[m.ID] && s.fail == nil && (!ok || m.Due.Before(first.Due)) {
			first, ok = m, true
		}
	}
	if ok && s.working == nil {
		s.working = map[string]bool{}
	}
	if ok {
		s.working[first.ID] = true
	}
	return first, ok
}

// finish applies the change of a look.
func (s *Store) finish(taken incoming.Mention, change func(*incoming.Mention), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.working, taken.ID)
	key, m, missing := s.find(context.Background(), taken.ID)
	if missing != nil {
		return
	}
	due := m.Due
	switch {
	case err != nil:
		m.Due = s.time().Add(retry)
	case change != nil:
		forgotten := m
		change(&forgotten)
		change(&m)
	}
	if err == nil && m.Due.Equal(due) && due.Equal(taken.Due) {
		m.Due = time.Time{}
	}
	s.put(key, m)
}

// Close implements incoming.Store.
func (s *Store) Close() error { return nil }
