package main

import (
	"fmt"
	"time"
)

// timer prints how long each stage took. A nil timer does nothing, so that
// callers need not ask.
type timer struct {
	ui   *ui
	last time.Time
}

// newTimer returns nil unless SITELINK_DEBUG asks for timing.
func newTimer(u *ui) *timer {
	if !u.debugs("timing") {
		return nil
	}
	return &timer{ui: u, last: time.Now()}
}

// stage ends the stage of that name; the next one begins.
func (t *timer) stage(name string) {
	if t == nil {
		return
	}
	now := time.Now()
	t.ui.line(fmt.Sprintf("timing: %-6s %8.1f ms", name, float64(now.Sub(t.last).Microseconds())/1000))
	t.last = now
}
