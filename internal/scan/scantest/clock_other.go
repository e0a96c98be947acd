//go:build !linux

package scantest

import "time"

// cost returns the time that f takes.
func cost(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
