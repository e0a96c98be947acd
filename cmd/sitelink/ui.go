package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/text"
)

// The rules of what is printed, and where:
//
//   - Standard output carries the report and nothing else, so that it can be
//     piped, redirected and parsed. Help and versions count as reports when the
//     user asks for them.
//   - Everything else goes to standard error, one line each:
//     "sitelink: error: read docroot public: no such file or directory",
//     "sitelink: hint: build the site first". Lines are in lower case and have no
//     full stop. An error names the object and the cause; a hint says what to type
//     next.
//   - Nothing that a file or an argument contains reaches a terminal unescaped.
//   - Progress is one line on a terminal, for work that takes more than a second,
//     and is erased before anything else is printed.
//   - The exit code says what happened: scripts read neither stream.

// ui writes to standard error. It is safe for concurrent use: a signal may
// interrupt at any time.
type ui struct {
	mu  sync.Mutex
	env env
	// drawn: the last line is progress, which goes before anything is printed.
	drawn bool
}

func newUI(e env) *ui { return &ui{env: e} }

// line prints "sitelink: " and the text. Errors of standard error are dropped:
// there is no other place to report them.
func (u *ui) line(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.clear()
	fmt.Fprintf(u.env.Stderr, "sitelink: %s\n", visible(text))
}

func (u *ui) warning(text string) { u.line("warning: " + text) }
func (u *ui) note(text string)    { u.line("note: " + text) }

// ask prints a question, behind which the answer is typed.
func (u *ui) ask(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.clear()
	fmt.Fprintf(u.env.Stderr, "sitelink: %s", visible(text))
}

// draw shows text as the line of progress.
func (u *ui) draw(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	fmt.Fprintf(u.env.Stderr, "\r\x1b[K%s", visible(text))
	u.drawn = true
}

// erase removes the line of progress.
func (u *ui) erase() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.clear()
}

func (u *ui) clear() {
	if u.drawn {
		fmt.Fprint(u.env.Stderr, "\r\x1b[K")
		u.drawn = false
	}
}

// report prints what went wrong, if anything did, and returns the exit code.
func (u *ui) report(err error) int {
	if err == nil {
		return exitClean
	}
	if errors.Is(err, errFindings) {
		return exitFindings
	}
	if errors.Is(err, errNotices) {
		return exitNotices
	}
	if errors.Is(err, context.Canceled) { // and no signal has printed it
		u.line("interrupted")
		return exitInterrupted
	}
	code := exitFailed
	for _, e := range fault.Flatten(err) {
		message := e.Error()
		hint, usage := fault.Hint(e)
		var invalid *config.Error
		if errors.As(e, &invalid) {
			hint, usage = invalid.Hint, true
		}
		if usage {
			code = exitUsage
		}
		u.line("error: " + message)
		if hint != "" {
			u.line("hint: " + hint)
		}
	}
	return code
}

// Names, numbers and nouns in lines for a person.
var (
	visible   = text.Visible
	thousands = text.Thousands
	count     = text.Count
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

// isTerminal reports whether f is a terminal.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// wantsColor decides on colour for one stream. The user's --color comes first,
// then the conventions: NO_COLOR (https://no-color.org) off with any value but
// the empty one, CLICOLOR_FORCE on with any but 0, TERM=dumb off, and at last
// whether the stream is a terminal.
func wantsColor(when string, isTTY bool, getenv func(string) string) bool {
	switch when {
	case "always":
		return true
	case "never":
		return false
	}
	if getenv("NO_COLOR") != "" {
		return false
	}
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return isTTY && getenv("TERM") != "dumb"
}
