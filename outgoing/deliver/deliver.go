// Package deliver tells targets what a ledger says they are to be told. Open
// notices leave a [ledger.Store], senders carry them to the targets, outcomes
// go back into the store, each of them durable before the next step:
//
//	claim -> source is live -> endpoint -> begin (durable) -> send -> record (durable)
//
// A run that is killed loses nothing: what it had not begun is open still, what
// it had begun and not recorded is known to be in flight.
package deliver

import (
	"context"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Options say how notices are delivered. The zero value of a field is its
// default, named beside it.
type Options struct {
	// Senders are asked in this order; the first for which the target has an
	// endpoint delivers.
	Senders []outgoing.Sender
	// Besides deliver as well, whatever the others do.
	Besides []outgoing.Sender
	// Named deliver only notices that name their protocol.
	Named []outgoing.Sender

	// Targets fetches the pages that notices are about.
	Targets fetch.Doer
	// Sources fetches the site's own pages, to see whether they are live. Nil
	// sends without looking.
	Sources fetch.Doer
	Live    Live

	// Hosts is how many hosts are worked on at once: 64. Each gets one notice
	// at a time.
	Hosts int
	// Window is how many notices are claimed ahead: 4096.
	Window int
	// Patience is how long this run waits for a target that names a time, such
	// as by Retry-After: 90 s. Longer waits are left to a later run.
	Patience time.Duration
	// Attempts is after how many a notice is given up: 8.
	Attempts int

	// Progress, if not nil, is told how far the work is. Calls do not overlap.
	Progress func(Progress)
}

// Live bounds the wait for the source pages.
type Live struct {
	// Deadline is how long to wait for a page to be live: 5 min; negative for
	// one look.
	Deadline time.Duration
	// Bust adds a query to the address that no cache has seen.
	Bust bool
	// MaxBody bounds a page: 16 MiB.
	MaxBody int64
}

// Progress is how far a run is.
type Progress struct {
	Claimed, Finished, Failed int
	// Waiting are source pages that are not live yet.
	Waiting int
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&o.Live.Deadline, 5*time.Minute)
	set(&o.Patience, 90*time.Second)
	for _, n := range []struct {
		field *int
		to    int
	}{{&o.Hosts, 64}, {&o.Window, 4096}, {&o.Attempts, len(schedule) + 3}} {
		if *n.field <= 0 {
			*n.field = n.to
		}
	}
	if o.Live.MaxBody <= 0 {
		o.Live.MaxBody = 16 << 20
	}
	return o
}

// Run delivers the notices of the store that are due, until none is left or ctx
// ends. Then it begins nothing more, but finishes and records what is in
// flight. Failures of notices are in the report; an error is one of the store,
// with the report of what was done until then.
func Run(ctx context.Context, store ledger.Store, opt Options) (*Report, error) {
	opt = opt.withDefaults()
	snapshot, err := store.Load(ctx)
	if err != nil {
		return &Report{}, err
	}
	d := &delivery{opt: opt, store: store, gates: newGates(), known: map[ledger.Key]ledger.Notice{}}
	d.remember(snapshot.Notices)
	return newScheduler(d).run(ctx)
}

// delivery is what the workers of one run share.
type delivery struct {
	opt   Options
	store ledger.Store
	gates *gates
	// known are notices of earlier runs, as of the start ([delivery.remember]).
	known map[ledger.Key]ledger.Notice
}
