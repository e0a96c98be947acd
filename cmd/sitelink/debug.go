package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
)

// debugs reports whether SITELINK_DEBUG asks for a topic.
func (u *ui) debugs(topic string) bool {
	return slices.Contains(strings.Split(u.env.Getenv("SITELINK_DEBUG"), ","), topic)
}

// traceLinks prints to standard error what SITELINK_DEBUG asks for: with walk the
// pages that --from, --skip and --limit let through, with links every link as
// it is written and where it leads (LL-76).
func traceLinks(ctx context.Context, c *cli, run *audit.Audit) error {
	s, opt := run.Site, audit.CheckOptions(run.Project)
	if c.ui.debugs("walk") {
		steps, err := check.Walk(ctx, audit.Handle(s), opt)
		if err != nil {
			return err
		}
		for _, step := range steps {
			c.ui.line(fmt.Sprintf("walk: %-6s %s", step.Kind, step.Path))
		}
	}
	if !c.ui.debugs("links") {
		return nil
	}
	opt.Ignore = nil
	_, err := check.WriteLinks(ctx, audit.Handle(s), opt, check.Query{}, check.LinkWriter{W: traceWriter{c.ui}, Append: traceRow})
	return err
}

// traceRow appends the two lines of a link, without the prefix of [ui.line].
func traceRow(dst []byte, l *check.Link) []byte {
	dst = fmt.Appendf(dst, "%s:%d:%d: <%s", oneLine(l.Page), l.Line, l.Column, l.Element)
	if l.Attribute == "" {
		dst = fmt.Appendf(dst, "> %s\n", oneLine(l.Raw))
	} else {
		dst = fmt.Appendf(dst, " %s=%q>\n", l.Attribute, l.Raw)
	}
	target := l.Target
	if l.Fragment != "" {
		target += "#" + l.Fragment
	}
	switch {
	case target == "":
		dst = fmt.Appendf(dst, "==> NO LINK (%s)\n", l.Code)
	case strings.HasPrefix(target, "/"):
		dst = fmt.Appendf(dst, "==> LOCAL LINK %s\n", oneLine(target))
	default:
		dst = fmt.Appendf(dst, "==> LINK %s\n", oneLine(target))
	}
	return dst
}

var lineEnds = strings.NewReplacer("\n", `\n`, "\r", `\r`)

func oneLine(text string) string { return lineEnds.Replace(text) }

// traceWriter prints each line that it is given.
type traceWriter struct{ ui *ui }

func (w traceWriter) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		w.ui.line("links: " + strings.TrimSuffix(line, "\n"))
	}
	return len(p), nil
}

// timer prints how long each stage took. A nil timer does nothing.
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

// stage ends the stage of that name and begins the next.
func (t *timer) stage(name string) {
	if t == nil {
		return
	}
	now := time.Now()
	t.ui.line(fmt.Sprintf("timing: %-6s %8.1f ms", name, float64(now.Sub(t.last).Microseconds())/1000))
	t.last = now
}

// profiles are the files of --cpuprofile and --memprofile, "" for none.
type profiles struct{ cpu, mem string }

// profileRate is the default of the runtime: one sample per 512 KB.
const profileRate = 512 << 10

// Samples are taken only for a profile: the runtime would sample every large block,
// with its stack (1 % of a check of rust-doc).
func init() { runtime.MemProfileRate = 0 }

// start begins profiling. stop ends it and writes the files; the error of the work
// counts before that of stop.
func (p profiles) start() (stop func() error, err error) {
	var cpu *os.File
	if p.cpu != "" {
		if cpu, err = os.Create(p.cpu); err != nil {
			return nil, writeFailure(p.cpu, err)
		}
		if err := pprof.StartCPUProfile(cpu); err != nil {
			cpu.Close()
			return nil, writeFailure(p.cpu, err)
		}
	}
	if p.mem != "" {
		runtime.MemProfileRate = profileRate
	}
	return func() error {
		if cpu != nil {
			pprof.StopCPUProfile()
			if err := cpu.Close(); err != nil {
				return writeFailure(p.cpu, err)
			}
		}
		if p.mem == "" {
			return nil
		}
		mem, err := os.Create(p.mem)
		if err != nil {
			return writeFailure(p.mem, err)
		}
		runtime.GC() // so that the profile shows what is live
		err = pprof.Lookup("allocs").WriteTo(mem, 0)
		if closeErr := mem.Close(); err == nil {
			err = closeErr
		}
		return writeFailure(p.mem, err)
	}, nil
}
