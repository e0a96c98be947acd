package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Load returns the present state, as far as this runner knows it.
func (g *Git) Load(ctx context.Context) (*Snapshot, error) {
	s, err := g.local.Load(ctx)
	if err != nil {
		return nil, err
	}
	s.New = g.isNew
	return s, nil
}

// Faults returns what was odd about the local files, and about what was fetched.
func (g *Git) Faults() []Fault {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append(slices.Clone(g.local.Faults()), g.faults...)
}

// Plan pushes the change: what another runner planned meanwhile is merged.
func (g *Git) Plan(ctx context.Context, base string, c Change) error {
	if err := g.local.writable(); err != nil {
		return err
	}
	c = c.whole()
	err := g.exchange(ctx, func(b *book) bool {
		planned := newBook()
		planned.base = b.base
		planned.apply(base, c)
		for k, n := range planned.notices {
			// Of another runner's deploy of the same: it is on its way already.
			if old, ok := b.notices[k]; ok && old.Event == n.Event && old.Hash == n.Hash && n.Hash != "" && n.State == Pending && (old.Runner != "" || !old.Open()) {
				planned.notices[k] = old
			}
		}
		c.Notices = planned.sortedNotices()
		b.apply(base, c)
		b.settleTwins()
		return true
	})
	if err == nil {
		g.mu.Lock()
		g.isNew = false
		g.mu.Unlock()
	}
	return err
}

// Claim pushes that this runner delivers the notices, before it gets them.
// What a runner claimed that did not renew its lease was perhaps sent: it comes
// with the state InFlight.
func (g *Git) Claim(ctx context.Context, now time.Time, limit int) (claimed []Notice, err error) {
	if err := g.local.writable(); err != nil {
		return nil, err
	}
	err = g.exchange(ctx, func(b *book) bool {
		at := g.now().UTC()
		claimed = b.due(now, limit, func(n *Notice) bool {
			if n.Runner == g.runner {
				return n.Lease.IsZero() // the others are in hand
			}
			return n.Runner == "" || n.Lease.Before(at)
		})
		for i := range claimed {
			n := &claimed[i]
			if n.Runner != "" {
				n.State = InFlight
			}
			n.Runner, n.Lease = g.runner, at.Add(g.lease).Truncate(time.Second)
			b.notices[n.Key] = *n
			n.Runner, n.Lease = "", time.Time{}
		}
		return len(claimed) > 0
	})
	if err != nil {
		return nil, err
	}
	return claimed, nil
}

// Begin notes in the local journal that the notice is about to be sent. It
// fails when the lease has ended: another runner may have the notice.
func (g *Git) Begin(ctx context.Context, k Key) error {
	g.local.mu.Lock()
	n, ok := g.local.book.notices[k]
	g.local.mu.Unlock()
	if !ok || n.Runner != g.runner || n.Lease.Before(g.now()) {
		return g.fail("write", errors.New("the lease of a notice ended before it was sent; another runner may have it"))
	}
	return g.local.Begin(ctx, k)
}

// Record notes the outcome in the local journal; it is pushed with others.
func (g *Git) Record(ctx context.Context, from Key, n Notice) error {
	n.Runner, n.Lease = "", time.Time{}
	if n.Open() { // this run may try again
		n.Runner, n.Lease = g.runner, g.now().Add(g.lease)
	}
	if err := g.local.Record(ctx, from, n); err != nil {
		return err
	}
	g.dirty.Store(true)
	return nil
}

// Remember notes the peer in the local journal.
func (g *Git) Remember(ctx context.Context, p Peer) error {
	if err := g.local.Remember(ctx, p); err != nil {
		return err
	}
	g.dirty.Store(true)
	return nil
}

// pushing pushes outcomes from time to time, and renews the leases.
func (g *Git) pushing() {
	defer close(g.stopped)
	every := min(pushEvery, g.lease/3)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-g.stop:
			return
		case <-ticker.C:
		}
		g.mu.Lock()
		dirty, since := g.dirty.Load(), g.now().Sub(g.pushed)
		g.mu.Unlock()
		if !dirty && since < g.lease/3 {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), g.lease/3)
		err := g.exchange(ctx, func(b *book) bool {
			mine := false
			for k, n := range b.notices {
				if n.Runner == g.runner {
					n.Lease, mine = g.now().UTC().Add(g.lease).Truncate(time.Second), true
					b.notices[k] = n
				}
			}
			return mine || dirty
		})
		cancel()
		if err != nil {
			g.note(fmt.Sprintf("%v; it is tried again", err))
		}
	}
}

// Close pushes what was recorded and gives back what was claimed. When it
// cannot be pushed, it stays in the directory of git for the next run.
func (g *Git) Close() error {
	if g.readOnly || g.stop == nil {
		return g.local.Close()
	}
	close(g.stop)
	<-g.stopped
	g.stop = nil
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	err := g.exchange(ctx, func(b *book) bool {
		for k, n := range b.notices {
			if n.Runner == g.runner {
				n.Runner, n.Lease = "", time.Time{}
				b.notices[k] = n
			}
		}
		return true
	})
	if err != nil {
		err = fmt.Errorf("%w; what was recorded is kept in %s and pushed by the next run", err, g.dir)
	}
	return errors.Join(err, g.local.Close())
}
