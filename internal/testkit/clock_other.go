//go:build !linux

package testkit

import "time"

// CPUTime returns the time that f takes.
func CPUTime(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
