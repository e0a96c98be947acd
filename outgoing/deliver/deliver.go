package deliver

import (
	"context"
	"slices"
	"time"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Options configure a run. The zero value of a field selects the default named
// beside it.
type Options struct {
	// Senders are tried in this order. The first that finds an endpoint at the
	// target sends the notice.
	Senders []outgoing.Sender
	// Additional senders send a notice of their own, whatever the others do.
	Additional []outgoing.Sender
	// Named senders only send notices that already name their protocol.
	Named []outgoing.Sender

	// Targets fetches the pages that notices are about. Required.
	Targets outgoing.Doer
	// Sources fetches the site's own pages, to check that they are live. If nil,
	// notices are sent without this check.
	Sources outgoing.Doer
	Live    LiveOptions

	// Recheck are failed notices that might succeed now. Run fetches their pages
	// with Sources. It sends a notice again if its page is live and no longer has
	// the same problems.
	Recheck []ledger.Notice

	// Hosts is the number of hosts to send to in parallel: 64. Each gets one
	// notice at a time.
	Hosts int
	// Window is the number of notices to claim in advance: 4096.
	Window int
	// MaxWait is how long this run waits for a target that names a time, for
	// example with Retry-After: 90 s. Longer waits are left to a later run.
	MaxWait time.Duration
	// Attempts is the number of attempts after which a notice has failed: 8.
	Attempts int

	// Progress, if not nil, is called as the run advances. Calls do not overlap.
	Progress func(Progress)
}

// LiveOptions configure the check that source pages are live.
type LiveOptions struct {
	// Deadline is how long to wait for a page to be live: 5 min. If negative,
	// the page is fetched once.
	Deadline time.Duration
	// MaxBody limits the size of a page: 16 MiB.
	MaxBody int64
}

// Progress is the progress of a run, in notices.
type Progress struct {
	Claimed, Finished, Failed int
	// Waiting is the number of source pages that are not live yet.
	Waiting int
	// WaitingFor is one of them, and why visitors do not see it as it was built: URL: REASON. It is empty until a page
	// was fetched in vain.
	WaitingFor string
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&o.Live.Deadline, 5*time.Minute)
	set(&o.MaxWait, 90*time.Second)
	for _, n := range []struct {
		field *int
		to    int
	}{{&o.Hosts, 64}, {&o.Window, 4096}, {&o.Attempts, len(retryDelays) + 3}} {
		if *n.field <= 0 {
			*n.field = n.to
		}
	}
	if o.Live.MaxBody <= 0 {
		o.Live.MaxBody = 16 << 20
	}
	return o
}

// Run sends the notices of the store that are due, until none is left or ctx
// ends. When ctx ends, Run begins no further notices, but finishes and records
// those in flight. Failed notices are part of the report; an error means that
// the store failed, and comes with the report up to that point.
func Run(ctx context.Context, store ledger.Store, opt Options) (*Report, error) {
	opt = opt.withDefaults()
	snapshot, err := store.Load(ctx)
	if err != nil {
		return &Report{}, err
	}
	d := &delivery{opt: opt, store: store, gates: newGates(), earlier: map[ledger.Key]ledger.Notice{}}
	if err := d.recheck(ctx, snapshot.Base); err != nil {
		return &Report{}, err
	}
	// Some notices decide about new ones: those of additional senders, and the delivered
	// ones of protocols that announce a link once.
	keep := map[ledger.Protocol]func(ledger.State) bool{}
	for _, s := range d.opt.Senders {
		if sendsOnce(s) {
			keep[s.Protocol()] = func(state ledger.State) bool { return state == ledger.Done }
		}
	}
	for _, s := range d.opt.Additional {
		keep[s.Protocol()] = func(ledger.State) bool { return true }
	}
	for _, n := range snapshot.Notices {
		if keeps := keep[n.Protocol]; keeps != nil && keeps(n.State) {
			d.earlier[n.Key] = n
		}
	}
	return newScheduler(d).run(ctx)
}

// delivery is the state that the workers of a run share.
type delivery struct {
	opt   Options
	store ledger.Store
	gates *gates
	// earlier has notices of earlier runs, as of the start: those that decide about new ones.
	earlier map[ledger.Key]ledger.Notice
}

// Outcome is the result of one notice in a run.
type Outcome struct {
	ledger.Notice
	// Via says where the endpoint was found.
	Via string
	// Repeated is set if an earlier run had begun the notice without recording
	// the outcome, and it was sent again.
	Repeated bool
	// NotRepeated is set if an earlier run had begun the notice without
	// recording the outcome, and it was not sent again because a repeat may do
	// harm.
	NotRepeated bool
}

// Failed reports whether the target could not be notified. A target that does
// not take notices is not a failure.
func (d *Outcome) Failed() bool { return d.State == ledger.Permanent || d.Open() }

// Report is the result of a run.
type Report struct {
	// Results are sorted by the key of the notice.
	Results []Outcome
	// NotTried is the number of notices that were claimed but not tried before
	// the run ended.
	NotTried int
	// Stopped is the error of the context if it ended the run early, or "".
	Stopped string
}

// Add adds the results of a later run. The result of a notice that both runs tried
// is that of the later one.
func (r *Report) Add(later *Report) {
	tried := make(map[ledger.Key]bool, len(later.Results))
	for i := range later.Results {
		tried[later.Results[i].Key] = true
	}
	r.Results = slices.DeleteFunc(r.Results, func(d Outcome) bool { return tried[d.Key] })
	r.Results = append(r.Results, later.Results...)
	r.NotTried, r.Stopped = later.NotTried, later.Stopped
	r.sort()
}

// Count returns the number of notices with that state.
func (r *Report) Count(s ledger.State) int {
	return r.count(func(d *Outcome) bool { return d.State == s })
}

// Failed returns the number of notices that failed.
func (r *Report) Failed() int { return r.count((*Outcome).Failed) }

// Repeated returns the number of notices that were sent although an earlier run
// may have sent them, and the number that were not sent for that reason.
func (r *Report) Repeated() (repeated, notRepeated int) {
	return r.count(func(d *Outcome) bool { return d.Repeated }), r.count(func(d *Outcome) bool { return d.NotRepeated })
}

func (r *Report) count(match func(*Outcome) bool) int {
	n := 0
	for i := range r.Results {
		if match(&r.Results[i]) {
			n++
		}
	}
	return n
}

func (r *Report) sort() {
	slices.SortFunc(r.Results, func(a, b Outcome) int { return ledger.CompareKeys(a.Key, b.Key) })
}
