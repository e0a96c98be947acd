package main

import (
	"fmt"
	"time"
)

const (
	progressAfter = time.Second            // shorter work needs no comfort
	progressEvery = 100 * time.Millisecond // faster is flicker
)

// progress draws how far the work is. A nil progress draws nothing.
type progress struct {
	ui    *ui
	now   func() time.Time
	after time.Time // nothing is drawn before
}

// newProgress returns nil where progress is not wanted. "true" draws from the
// start and on anything, "auto" after a second and on terminals that can erase
// a line.
func newProgress(u *ui, when string, now func() time.Time) *progress {
	p := &progress{ui: u, now: now}
	switch when {
	case "true":
		return p
	case "auto":
		if u.env.StderrTTY && u.env.Getenv("TERM") != "dumb" {
			p.after = now().Add(progressAfter)
			return p
		}
	}
	return nil
}

// pages draws the state of reading. Calls must not overlap.
func (p *progress) pages(done, total int) {
	if p == nil {
		return
	}
	now := p.now()
	if now.Before(p.after) {
		return
	}
	p.after = now.Add(progressEvery)
	p.ui.draw(fmt.Sprintf("reading pages: %s of %s", thousands(done), thousands(total)))
}

// done erases the line.
func (p *progress) done() {
	if p != nil {
		p.ui.erase()
	}
}
