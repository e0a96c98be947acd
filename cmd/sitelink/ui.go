package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/sitelink/sitelink/check/remote"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/setup"
	"github.com/sitelink/sitelink/internal/text"
)

// ui writes to standard error. It is safe for concurrent use: a signal may
// interrupt at any time.
type ui struct {
	mu  sync.Mutex
	env env
	// own is the command of the sitelink that the project of the working directory installs,
	// such as npx sitelink; "" for none.
	own func() string
	// drawn: the last line is progress, which goes before anything is printed.
	drawn bool
}

func newUI(e env) *ui {
	return &ui{env: e, own: sync.OnceValue(func() string {
		dir, err := workingDir()
		if err != nil {
			return ""
		}
		p, err := project.Find(context.Background(), dir, project.Options{Env: os.Environ()})
		if err != nil {
			return ""
		}
		return setup.Own(p)
	})}
}

// commands returns text with the commands of sitelink in it as the project starts them.
func (u *ui) commands(text string) string {
	if !strings.Contains(text, "sitelink ") {
		return text
	}
	return setup.Commands(u.own(), text)
}

// line prints "sitelink: " and the text. Errors of standard error are dropped:
// there is no other place to report them.
func (u *ui) line(text string) {
	text = u.commands(text)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.clear()
	fmt.Fprintf(u.env.Stderr, "sitelink: %s\n", visible(text))
}

func (u *ui) warning(text string) { u.line("warning: " + text) }
func (u *ui) note(text string)    { u.line("note: " + text) }

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
	for _, e := range text.Flatten(err) {
		message := e.Error()
		hint, usage := text.Hint(e)
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

// draw draws the state of the work, unless that was a moment ago. Calls must not
// overlap.
func (p *progress) draw(text func() string) {
	if p == nil {
		return
	}
	if now := p.now(); !now.Before(p.after) {
		p.after = now.Add(progressEvery)
		p.ui.draw(text())
	}
}

// pages draws the state of reading.
func (p *progress) pages(done, total int) {
	p.draw(func() string { return fmt.Sprintf("reading pages: %s of %s", thousands(done), thousands(total)) })
}

// sites draws the state of asking other sites.
func (p *progress) sites(done remote.Progress) {
	p.draw(func() string {
		return fmt.Sprintf("asking other sites: %s of %s, %s in flight, about %s left",
			thousands(done.Done), thousands(done.Total), count(done.Hosts, "host"), max(done.Left, time.Second).Round(time.Second))
	})
}

// done erases the line.
func (p *progress) done() {
	if p != nil {
		p.ui.erase()
	}
}

// colorsReport decides whether the report in that output has colours: on a terminal
// by [wantsColor], in a file only when the user asks for them.
func (c *cli) colorsReport(when, name string) bool {
	toStdout := name == "" || name == "-" || name == "/dev/stdout"
	if !toStdout && when == "auto" {
		return false
	}
	return wantsColor(when, c.env.StdoutTTY, c.env.Getenv)
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
