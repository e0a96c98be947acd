package remote

import (
	"net/netip"
	"sync"
	"time"
)

// addresses keep a pace for each address that several names share, such as that of a host
// with many blogs. Each name keeps its own pace too. The zero value with a spacing is
// ready; it is safe for concurrent use.
type addresses struct {
	// spacing is the time between two requests to one address; 0 for none.
	spacing time.Duration

	mu   sync.Mutex
	of   map[string]netip.Addr // of names that were connected to
	many map[netip.Addr]bool   // several names have it
	next map[netip.Addr]time.Time
	slot map[string]time.Time // when it is the turn of a name that had to wait
}

// shareOf is the number of requests to an address that several names share in the time of
// the pace of one name.
const shareOf = 10

// connect is called before a connection is opened. It returns how long the name has to
// wait, 0 if it may connect.
func (a *addresses) connect(name string, addr netip.Addr) time.Duration {
	if a.spacing <= 0 {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of, a.many, a.next, a.slot = map[string]netip.Addr{}, map[netip.Addr]bool{}, map[netip.Addr]time.Time{}, map[string]time.Time{}
	}
	if _, known := a.of[name]; known {
		return 0 // its requests wait before they begin
	}
	if _, seen := a.next[addr]; seen {
		a.many[addr] = true
	}
	wait := a.turn(name, addr, time.Now())
	if wait == 0 {
		a.of[name] = addr
	}
	return wait
}

// begin is called before a request begins. It returns when it may.
func (a *addresses) begin(name string, now time.Time) time.Time {
	if a.spacing <= 0 {
		return now
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	addr, known := a.of[name]
	if !known || !a.many[addr] {
		return now
	}
	return now.Add(a.turn(name, addr, now))
}

// turn takes the next turn of an address for a name, and returns how long it has to wait.
func (a *addresses) turn(name string, addr netip.Addr, now time.Time) time.Duration {
	if at, waits := a.slot[name]; waits {
		if wait := at.Sub(now); wait > 0 {
			return wait
		}
		delete(a.slot, name)
		return 0
	}
	next := a.next[addr]
	if !next.After(now) {
		a.next[addr] = now.Add(a.spacing)
		return 0
	}
	a.slot[name], a.next[addr] = next, next.Add(a.spacing)
	return next.Sub(now)
}
