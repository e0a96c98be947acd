package main

// What is printed, and where:
//
//   - Standard output carries the report and nothing else, so that it can be
//     piped, redirected and parsed. Help and versions count as reports when
//     they were asked for.
//   - Everything else goes to standard error, one line each:
//       sitelink: error: read docroot public: no such file or directory
//       sitelink: hint: build the site first
//     Lower case, no full stop. An error names the object and the cause, a hint
//     says what to type next.
//   - Nothing that a file or an argument contains reaches a terminal raw.
//   - Progress is one line on a terminal, for work above a second, and gone
//     before anything else is printed.
//   - The exit code says what happened: scripts read neither stream.

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/text"
)

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
// there is nobody left to tell.
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
	if errors.Is(err, context.Canceled) { // and nobody has said so
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
