package incoming

import (
	"cmp"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"
	"golang.org/x/time/rate"
)

// limiter limits the rate of events by key, with a token bucket for each key. A
// bucket holds the tokens of one minute. A bucket that was not used for a minute
// is full again and can be forgotten. To bound memory, limiter drops the older
// half of the buckets each minute, or earlier if there are too many.
type limiter struct {
	perMinute int // 0 for no limit

	mu         sync.Mutex
	young, old map[string]*rate.Limiter
	rotation   time.Time
}

// maxBuckets limits the buckets in each half of a limiter.
const maxBuckets = 1 << 15

func newLimiter(perMinute int) *limiter {
	return &limiter{perMinute: max(perMinute, 0), young: make(map[string]*rate.Limiter)}
}

// take takes n tokens for a key. If there are too few, it takes none and returns
// how long to wait. More tokens than a full bucket holds are taken as a full one.
func (l *limiter) take(key string, n int, now time.Time) (wait time.Duration, ok bool) {
	if l.perMinute == 0 {
		return 0, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Before(l.rotation) {
		l.rotation = now // the clock was set back
	}
	if now.Sub(l.rotation) >= time.Minute || len(l.young) >= maxBuckets {
		l.old, l.young, l.rotation = l.young, make(map[string]*rate.Limiter), now
	}
	bucket := cmp.Or(l.young[key], l.old[key])
	if bucket == nil {
		bucket = rate.NewLimiter(rate.Limit(float64(l.perMinute)/60), l.perMinute)
	}
	l.young[key] = bucket
	taken := bucket.ReserveN(now, min(n, l.perMinute))
	if wait := taken.DelayFrom(now); wait > 0 {
		taken.CancelAt(now)
		return wait.Round(time.Second) + time.Second, false
	}
	return 0, true
}

// peerKey returns the key of a peer's address. One customer of a network usually
// has a whole block of 2^64 IPv6 addresses.
func peerKey(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		if block, err := addr.Prefix(64); err == nil {
			return block.String()
		}
	}
	return addr.String()
}

// siteKey returns the key of the site that a host belongs to: its registrable
// domain, because the owner of a domain can make any number of hosts.
func siteKey(host string) string {
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host = host[:i] // without the port
	}
	host = strings.TrimSuffix(host, ".")
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return host
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}
