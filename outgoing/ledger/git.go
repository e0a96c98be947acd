package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// Load returns the current state as far as this runner knows it.
func (g *Git) Load(ctx context.Context) (*Snapshot, error) {
	s, err := g.local.Load(ctx)
	if err != nil {
		return nil, err
	}
	s.New = g.isNew
	return s, nil
}

// Warnings returns the problems found in the local files and in the fetched
// ledger.
func (g *Git) Warnings() []Warning {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append(slices.Clone(g.local.Warnings()), g.warnings...)
}

// Lost returns a [*LostError] if rows of the ledger are lost, and nil otherwise.
func (g *Git) Lost() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost != nil {
		return g.lost
	}
	return g.local.Lost()
}

// Plan pushes the change, merged with what other runners planned meanwhile.
func (g *Git) Plan(ctx context.Context, base string, c Change) error {
	if err := g.local.writable(); err != nil {
		return err
	}
	c = c.toSeconds()
	var refused error
	err := g.exchange(ctx, func(b *records) bool {
		if refused = c.Accept(b.base, base); refused != nil {
			return false
		}
		planned := newRecords()
		planned.base = b.base
		planned.apply(base, c)
		for k, n := range planned.notices {
			// Another runner deployed the same and is delivering this notice.
			if old, ok := b.notices[k]; ok && old.Event == n.Event && old.Hash == n.Hash && n.Hash != "" && n.State == Pending && (old.Runner != "" || !old.Open()) {
				planned.notices[k] = old
			}
		}
		c.Notices = planned.sortedNotices()
		b.apply(base, c)
		b.dropDuplicates()
		return true
	})
	err = errors.Join(err, refused)
	if err == nil {
		g.mu.Lock()
		g.isNew = false
		g.mu.Unlock()
	}
	return err
}

// Claim pushes the claim of this runner before it returns the notices. If another
// runner has ended or stopped renewing a lease, it may have sent the notice.
// Claim returns such a notice with the state InFlight, unless the journal of that
// runner is here and knows more.
func (g *Git) Claim(ctx context.Context, now time.Time, limit int) (claimed []Notice, err error) {
	if err := g.local.writable(); err != nil {
		return nil, err
	}
	err = g.exchange(ctx, func(b *records) bool {
		at := g.now().UTC()
		free := g.free(at)
		claimed = b.due(now, limit, func(n *Notice) bool {
			if n.Runner == g.runner {
				return n.Lease.IsZero() // otherwise it is claimed already
			}
			return free(n)
		})
		for i := range claimed {
			n := &claimed[i]
			if n.Runner != "" && !slices.Contains(g.previous, n.Runner) {
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

// free returns a function that reports whether no other runner has a claim to a
// notice at that time.
func (g *Git) free(at time.Time) func(*Notice) bool {
	ended := map[string]bool{"": true}
	for _, runner := range g.previous {
		ended[runner] = true
	}
	return func(n *Notice) bool {
		if _, known := ended[n.Runner]; !known {
			ended[n.Runner] = g.ended(n.Runner)
		}
		return ended[n.Runner] || n.Lease.Before(at)
	}
}

// Held fetches the ledger and returns the notices due at now that other runners
// have claimed.
func (g *Git) Held(ctx context.Context, now time.Time) ([]Held, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	base := g.seen
	if _, err := g.fetch(ctx); err != nil {
		return nil, err
	}
	if err := g.updateLocal(base, g.seen); err != nil {
		return nil, err
	}
	free := g.free(g.now())
	by := map[string]Held{}
	for _, n := range g.local.copyRecords().notices {
		if n.Runner == g.runner || !n.Open() || n.Next.After(now) || free(&n) {
			continue
		}
		h := by[n.Runner]
		if h.Notices == 0 || n.Lease.Before(h.Until) {
			h.Until = n.Lease
		}
		h.Runner, h.Notices = n.Runner, h.Notices+1
		h.Sent = min(h.Notices, maxUntold)
		by[n.Runner] = h
	}
	return slices.SortedFunc(maps.Values(by), func(a, b Held) int { return strings.Compare(a.Runner, b.Runner) }), nil
}

// Begin writes to the local journal that the notice is about to be sent. If the
// remote does not know the outcome of 20 notices, Begin pushes first: at most these
// are sent again if this machine is lost. Begin fails if the push fails. It also
// fails if the lease has ended, because another runner may have the notice.
func (g *Git) Begin(ctx context.Context, k Key) error {
	g.counting.Lock()
	for len(g.untold) >= maxUntold {
		ready := false
		for _, recorded := range g.untold {
			ready = ready || recorded
		}
		if g.pushing || !ready { // another worker pushes, or records its outcome
			g.changed.Wait()
			continue
		}
		g.pushing = true
		g.counting.Unlock()
		err := g.exchange(ctx, func(*records) bool { return true })
		g.counting.Lock()
		g.pushing = false
		g.changed.Broadcast()
		if err != nil {
			g.counting.Unlock()
			return err
		}
	}
	g.untold[k] = false
	g.counting.Unlock()

	g.local.mu.Lock()
	n, ok := g.local.records.notices[k]
	g.local.mu.Unlock()
	var err error
	if !ok || n.Runner != g.runner || n.Lease.Before(g.now()) {
		err = g.fail("write", errors.New("the lease of a notice ended before it was sent, so another runner may have it"))
	} else {
		err = g.local.Begin(ctx, k)
	}
	if err != nil {
		g.forget(k)
	}
	return err
}

// Record writes the outcome to the local journal. It is pushed later, together
// with others.
func (g *Git) Record(ctx context.Context, from Key, n Notice) error {
	n.Runner, n.Lease = "", time.Time{}
	if n.Open() { // this run may try again
		n.Runner, n.Lease = g.runner, g.now().Add(g.lease)
	}
	if err := g.local.Record(ctx, from, n); err != nil {
		return err
	}
	g.dirty.Store(true)
	g.counting.Lock()
	if _, ok := g.untold[from]; ok {
		g.untold[from] = true
		g.changed.Broadcast()
	}
	g.counting.Unlock()
	return nil
}

// RecordUnsupported writes the host to the local journal.
func (g *Git) RecordUnsupported(ctx context.Context, h UnsupportedHost) error {
	if err := g.local.RecordUnsupported(ctx, h); err != nil {
		return err
	}
	g.dirty.Store(true)
	return nil
}

// pushPeriodically pushes outcomes and renews the leases until the store closes.
func (g *Git) pushPeriodically() {
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
		err := g.exchange(ctx, func(b *records) bool {
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
			g.warn(fmt.Sprintf("%v; sitelink will try again", err))
		}
	}
}

// Close pushes the outcomes and releases the claims. If the push fails, the
// outcomes stay in the directory of git for the next run.
func (g *Git) Close() error {
	if g.readOnly || g.stop == nil {
		return g.local.Close()
	}
	close(g.stop)
	<-g.stopped
	g.stop = nil
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	err := g.exchange(ctx, func(b *records) bool {
		for k, n := range b.notices {
			if n.Runner == g.runner {
				n.Runner, n.Lease = "", time.Time{}
				b.notices[k] = n
			}
		}
		return true
	})
	if err != nil {
		err = fmt.Errorf("%w; the outcomes are kept in %s, and the next run pushes them", err, g.dir)
	} else if removeErr := os.Remove(g.runnersFile()); removeErr != nil {
		err = g.fail("close", removeErr)
	}
	return errors.Join(err, g.local.Close())
}
