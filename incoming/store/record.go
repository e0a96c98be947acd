package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sitelink/sitelink/incoming"
)

const (
	// maxBatch limits the calls that share a transaction.
	maxBatch = 256
	// maxRetries limits how often a transaction is repeated because another process
	// interfered.
	maxRetries = 10
	// commitTimeout limits a transaction in PostgreSQL, so that a lost connection
	// does not hold up the others.
	commitTimeout = 30 * time.Second
)

// op is a change that waits for the writer.
type op struct {
	ctx     context.Context
	ids     []id
	durable bool               // what is written must survive a power cut
	apply   func(*batch) error // called by the writer; calls put last
	err     error
	panic   any
	done    chan struct{}
}

// do lets the writer apply a change to the mentions with these IDs.
func (s *Store) do(ctx context.Context, ids []id, durable bool, apply func(*batch) error) error {
	o := &op{ctx: ctx, ids: ids, durable: durable, apply: apply, done: make(chan struct{})}
	if durable {
		s.waiting.Add(1)
		defer s.waiting.Add(-1)
	}
	select {
	case s.ops <- o:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return errClosed
	}
	select {
	case <-o.done:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.stopped:
		return errClosed
	}
	if o.panic != nil {
		panic(o.panic)
	}
	return o.err
}

var errClosed = errors.New("the store of mentions is closed")

// Record implements [incoming.Store]. In an SQLite file, decide is called once, unless
// the writing of the calls that it joined failed. In PostgreSQL, it is also called again
// when another process wrote the same mentions, up to 10 times.
func (s *Store) Record(ctx context.Context, keys []incoming.Key, decide func([]*incoming.Mention) ([]*incoming.Mention, error)) error {
	ids := make([]id, len(keys))
	for i, k := range keys {
		ids[i] = s.idOf(k)
	}
	return s.do(ctx, ids, true, func(b *batch) error {
		current := make([]*incoming.Mention, len(ids))
		for i, id := range ids {
			if r := b.get(id); r != nil {
				current[i] = &r.Mention
			}
		}
		all, err := decide(current)
		if err != nil {
			return err
		}
		if len(all) != 0 && len(all) != len(keys) {
			return fmt.Errorf("store: decide returned %d mentions for %d keys", len(all), len(keys))
		}
		for i, m := range all {
			if m == nil {
				continue
			}
			r := b.get(ids[i])
			if r == nil {
				r = &row{id: ids[i], source: keys[i].Source, target: keys[i].Target}
			}
			r.Mention = *m
			r.ID = ids[i].String()
			if m.ID != "" && m.ID != r.ID {
				return fmt.Errorf("store: decide returned the mention %s for the key of %s", m.ID, r.ID)
			}
			m.ID = r.ID
			b.put(r)
		}
		return nil
	})
}

// Update implements [incoming.Store]. As with Record, change may be called again, and must
// not use the store.
func (s *Store) Update(ctx context.Context, text string, change func(*incoming.Mention) error) (incoming.Mention, error) {
	var result incoming.Mention
	i, ok := parseID(text)
	if !ok {
		return result, incoming.ErrNotFound
	}
	err := s.do(ctx, []id{i}, true, func(b *batch) error {
		r := b.get(i)
		if r == nil {
			return incoming.ErrNotFound
		}
		if err := change(&r.Mention); err != nil {
			return err
		}
		r.ID = text
		b.put(r)
		result = r.Mention
		return nil
	})
	if err != nil {
		return incoming.Mention{}, err
	}
	return result, nil
}

// write is the only writer of mentions in this process. It joins the changes that
// wait into one transaction, so that they share a sync.
func (s *Store) write() {
	defer close(s.stopped)
	for {
		var ops []*op
		select {
		case o := <-s.ops:
			ops = append(ops, o)
		case <-s.closing:
			return
		}
		for more := true; more && len(ops) < maxBatch; {
			select {
			case o := <-s.ops:
				ops = append(ops, o)
			default:
				more = false
			}
		}
		s.commit(ops)
		select {
		case s.changed <- struct{}{}:
		default:
		}
		for _, o := range ops {
			close(o.done)
		}
	}
}

// commit applies the changes in one transaction. If that fails, it tries each by
// itself, so that one that cannot be written does not harm the others.
func (s *Store) commit(ops []*op) {
	err := s.transaction(ops)
	if err == nil {
		return
	}
	for _, o := range ops {
		if len(ops) > 1 {
			err = s.transaction([]*op{o})
		}
		if err != nil {
			o.err = s.fail("write", err)
		}
	}
}

// transaction applies the changes in one transaction, again and again if another process
// interferes. It sets the errors of the changes that were not applied for a reason of
// their own.
func (s *Store) transaction(ops []*op) (err error) {
	ctx, cancel := context.Background(), func() {}
	if s.postgres {
		ctx, cancel = context.WithTimeout(ctx, commitTimeout)
	}
	defer cancel()
	for range maxRetries {
		if err = s.tryTransaction(ctx, ops); !interfered(err) {
			break
		}
	}
	return err
}

func (s *Store) tryTransaction(ctx context.Context, ops []*op) error {
	durable := slices.ContainsFunc(ops, func(o *op) bool { return o.durable })
	tx, end, err := s.begin(ctx, durable)
	if err != nil {
		return err
	}
	defer end()
	var ids []id
	for _, o := range ops {
		ids = append(ids, o.ids...)
	}
	slices.SortFunc(ids, compareIDs)
	ids = slices.Compact(ids)
	b := &batch{now: s.opt.Now(), dirty: map[id]*row{}}
	if b.stored, err = s.load(ctx, tx, ids, true); err != nil {
		return err
	}
	for _, o := range ops {
		if o.err = o.ctx.Err(); o.err == nil {
			o.run(b)
		}
	}
	created, changed := b.sorted()
	if n, err := s.insert(ctx, tx, created, "NOTHING"); err != nil {
		return err
	} else if n != int64(len(created)) {
		return errInterfered
	}
	if _, err := s.insert(ctx, tx, changed, doUpdate); err != nil {
		return err
	}
	if len(b.dirty) == 0 {
		return nil
	}
	if durable {
		s.commits.Add(1)
	}
	return tx.Commit()
}

// run calls apply. A panic is passed on to the caller.
func (o *op) run(b *batch) {
	o.panic = nil
	defer func() {
		if p := recover(); p != nil {
			o.panic, o.err = p, errors.New("panic")
		}
	}()
	o.err = o.apply(b)
}

// batch is what the changes of one transaction read and write.
type batch struct {
	now    time.Time
	stored map[id]*row // as in the database
	dirty  map[id]*row // to be written
}

// get returns a copy of a mention as the changes before have left it, or nil.
func (b *batch) get(i id) *row {
	r := b.dirty[i]
	if r == nil {
		r = b.stored[i]
	}
	if r == nil {
		return nil
	}
	c := *r
	return &c
}

// put writes a mention. If its Due is another than before, put ends the claim.
func (b *batch) put(r *row) {
	before := b.get(r.id)
	r.Received, r.Verified, r.Due, r.Fetched = rounded(r.Received), rounded(r.Verified), rounded(r.Due), rounded(r.Fetched)
	if before == nil || !before.Due.Equal(r.Due) {
		r.until, r.begun = 0, 0
	}
	b.dirty[r.id] = r
}

// rounded returns the time as the database keeps it.
func rounded(t time.Time) time.Time { return fromMicros(micros(t)) }

// sorted returns the new and the changed rows, sorted by ID so that two processes
// lock them in the same order.
func (b *batch) sorted() (created, changed []*row) {
	for i, r := range b.dirty {
		if b.stored[i] == nil {
			created = append(created, r)
		} else {
			changed = append(changed, r)
		}
	}
	for _, list := range [][]*row{created, changed} {
		slices.SortFunc(list, func(a, b *row) int { return compareIDs(a.id, b.id) })
	}
	return created, changed
}

func compareIDs(a, b id) int { return bytes.Compare(a[:], b[:]) }
