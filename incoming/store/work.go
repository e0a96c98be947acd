package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/sitelink/sitelink/incoming"
)

const (
	// lookTimeout limits a look. takeover is how long after its claim another process
	// takes a mention over: its process has ended, or has lost the database.
	lookTimeout = 15 * time.Second
	takeover    = 20 * time.Second
	// slotWait limits how long a claimed mention waits for its look to begin, so that
	// the look has enough time left.
	slotWait = 3 * time.Second
	// maxBegun is how often a look is begun without an end before the mention is
	// postponed: looking at it may end the process.
	maxBegun = 5
	// maxClaims limits the mentions that are claimed at a time.
	maxClaims = 128
	// manyWaiting is how many changes must wait for the disk before a look gives way to
	// them. The look then waits for giveWayPause and asks again, up to giveWayTries
	// times. With 32 looks at a time, at least 320 per second begin.
	manyWaiting  = 16
	giveWayPause = 5 * time.Millisecond
	giveWayTries = 20
	// stopTimeout is how long Work waits for the running looks when it ends, before it ends them.
	stopTimeout = 200 * time.Millisecond
	// expireEvery is the time between two looks for mentions to delete.
	expireEvery = time.Hour
)

// backoffs are the times after which verify is called again when it has failed.
var backoffs = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour}

// worker verifies mentions.
type worker struct {
	*Store
	verify func(context.Context, incoming.Mention) (func(*incoming.Mention), error)
	slots  chan struct{} // one for each look that runs
	looks  sync.WaitGroup
}

// Work implements [incoming.Store]. The store must have been opened with
// [Options.Worker], and Work is called once. ctx of verify ends after 15 seconds.
//
// While verify runs, another call may change the mention. The change applies to the
// mention as it is then, with Due zero: set Due to the time of the next look. If
// verify fails, it is called again after a minute at first, later after up to 6 hours.
func (s *Store) Work(ctx context.Context, verify func(context.Context, incoming.Mention) (func(*incoming.Mention), error)) error {
	switch {
	case !s.opt.Worker:
		return s.fail("verify", errors.New("the store was opened without Options.Worker"))
	case !s.working.CompareAndSwap(false, true):
		return s.fail("verify", errors.New("this process does so already"))
	}
	w := &worker{Store: s, verify: verify, slots: make(chan struct{}, s.opt.Parallel)}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var expiry sync.WaitGroup
	expiry.Go(func() { s.expire(ctx) })
	for ctx.Err() == nil {
		pause := 2 * s.tick // for what other processes change, and for what becomes due
		n, err := w.claim(ctx, running)
		switch {
		case err != nil && ctx.Err() == nil: // the server may be restarting
			s.opt.Log.Warn(s.fail("verify", err).Error())
			pause = s.tick
		case n == maxClaims:
			continue
		}
		select {
		case <-ctx.Done():
		case <-s.changed:
		case <-time.After(pause):
		}
	}
	expiry.Wait()
	ended := make(chan struct{})
	go func() {
		w.looks.Wait()
		close(ended)
	}()
	for range 2 {
		select {
		case <-ended:
			return nil
		case <-time.After(stopTimeout):
			cancel()
		}
	}
	return s.fail("stop verifying", errors.New("a mention is still being verified"))
}

// claim claims mentions that are due and begins a look at each. It waits until a look can
// begin, and returns how many mentions it claimed. running ends when the looks have to.
//
// A claim is a time until which other processes leave the mention alone. So nothing has to
// be cleared up after a process that is killed: its mentions are claimed again later.
func (w *worker) claim(ctx, running context.Context) (claimed int, err error) {
	select {
	case w.slots <- struct{}{}:
		<-w.slots
	case <-ctx.Done():
		return 0, nil
	}
	clock, locked := "CAST(unixepoch('subsec') * 1000000 AS INTEGER)", ""
	if w.postgres { // the clock of the server, because those of the processes may differ
		clock, locked = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)", " FOR UPDATE SKIP LOCKED"
	}
	all, err := collect(w.query(ctx, w.writer, `WITH due AS MATERIALIZED (
			SELECT id FROM sitelink_mention WHERE due > 0 AND due <= ? AND until <= `+clock+` ORDER BY due LIMIT ?`+locked+`)
		UPDATE sitelink_mention SET until = `+clock+` + ?, begun = begun + 1 WHERE id IN (SELECT id FROM due) RETURNING `+columns,
		micros(w.opt.Now()), maxClaims, takeover.Microseconds()))
	if err != nil {
		return 0, err
	}
	late := time.NewTimer(slotWait)
	defer late.Stop()
	for i, r := range all {
		select {
		case w.slots <- struct{}{}:
			w.looks.Go(func() {
				defer func() { <-w.slots }()
				w.look(running, r)
			})
			continue
		case <-late.C:
		case <-ctx.Done():
		}
		w.release(ctx, all[i:]...)
		break
	}
	return len(all), nil
}

// look verifies one mention and writes the result: the change, or the time of the next
// try. If the result cannot be written, the mention is claimed again later.
func (w *worker) look(ctx context.Context, r *row) {
	w.giveWay(ctx)
	change, failed := func(*incoming.Mention) {}, errors.New("the process ended each time")
	if r.begun <= maxBegun {
		change, failed = w.call(ctx, r.Mention)
	}
	if failed != nil && ctx.Err() != nil { // this process ends
		w.release(ctx, r)
		return
	}
	if failed != nil {
		w.opt.Log.Warn("verification failed", "mention", r.ID, "error", failed)
	}
	w.finish(ctx, []*row{r}, func(b *batch, now *row) {
		now.until, now.begun = 0, 0
		if failed != nil {
			now.Due = b.now.Add(backoffs[min(now.tries, len(backoffs)-1)])
			now.tries++
			return
		}
		now.Due = time.Time{}
		change(&now.Mention)
		now.ID = r.ID
		now.looks++
		now.tries = 0
	})
}

// release ends the claims of mentions that were not looked at.
func (w *worker) release(ctx context.Context, claimed ...*row) {
	until := claimed[0].until // all were claimed at once
	w.finish(ctx, claimed, func(_ *batch, now *row) {
		if now.until == until {
			now.until, now.begun = 0, now.begun-1
		}
	})
}

// finish changes claimed mentions, unless another process was faster. It does so even if
// this process ends.
func (w *worker) finish(ctx context.Context, claimed []*row, change func(*batch, *row)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	var ids []id
	for _, r := range claimed {
		ids = append(ids, r.id)
	}
	err := w.do(ctx, ids, false, func(b *batch) error {
		for _, r := range claimed {
			if now := b.get(r.id); now != nil && now.looks == r.looks {
				change(b, now)
				b.put(now)
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errClosed) {
		w.opt.Log.Warn(w.fail("write what verifying found to", err).Error())
	}
}

// call calls verify. A panic counts as a failure.
func (w *worker) call(ctx context.Context, m incoming.Mention) (change func(*incoming.Mention), err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	change, err = w.verify(ctx, m)
	if err == nil && change == nil {
		change = func(*incoming.Mention) {}
	}
	return change, err
}

// giveWay lets those go first who wait for an answer, if there are many: a look takes
// more of the processor than an answer. It does not wait for long, so that looks go on
// whatever the load.
func (w *worker) giveWay(ctx context.Context) {
	for range giveWayTries {
		if w.waiting.Load() < manyWaiting {
			return
		}
		select {
		case <-time.After(giveWayPause):
		case <-ctx.Done():
			return
		}
	}
}

// expire deletes mentions that have expired, until ctx ends.
func (s *Store) expire(ctx context.Context) {
	if s.opt.Retain <= 0 {
		return
	}
	ticker := time.NewTicker(10 * s.tick)
	defer ticker.Stop()
	for expired := (time.Time{}); ; {
		if now := s.opt.Now(); now.Sub(expired) >= expireEvery {
			if _, err := s.Expire(ctx, now.Add(-s.opt.Retain)); err == nil {
				expired = now
			} else if ctx.Err() == nil {
				s.opt.Log.Warn(err.Error())
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
