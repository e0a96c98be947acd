package deliver

import (
	"fmt"
	"time"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// schedule is how long to wait after each attempt; the last one repeats.
var schedule = []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// wait returns how long to wait after the attempt of that number, from 1. A
// target that names a time is obeyed. A server that fails (5xx) gets ten times
// as long as one that only asks for less, or does not answer at all: whoever
// repairs it is not helped by requests.
func wait(o outgoing.Outcome, attempt int) time.Duration {
	if o.After > 0 && attempt <= 3 {
		return o.After
	}
	step := attempt - 1
	if o.Status >= 500 {
		step++
	}
	return max(o.After, schedule[min(step, len(schedule)-1)])
}

// settle makes a notice of an outcome: what the ledger keeps of it.
func settle(n ledger.Notice, o outgoing.Outcome, now time.Time, attempts int) ledger.Notice {
	n.State, n.Endpoint, n.Status, n.Fault, n.Message, n.Location = o.State, o.Endpoint, o.Status, o.Fault, o.Message, o.Location
	n.Attempts++
	n.Tried, n.Next = now, time.Time{}
	if n.State != ledger.Retry {
		return n
	}
	if n.Attempts >= attempts {
		n.State = ledger.Permanent
		n.Message = fmt.Sprintf("given up after %d attempts: %s", n.Attempts, o.Message)
		return n
	}
	n.Next = ceil(now.Add(wait(o, n.Attempts)))
	return n
}

// ceil rounds up to whole seconds, which a ledger keeps: a notice is never due
// before the target said.
func ceil(t time.Time) time.Time {
	if whole := t.Truncate(time.Second); whole.Before(t) {
		return whole.Add(time.Second)
	}
	return t
}
