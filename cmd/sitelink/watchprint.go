package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
)

// The lines around what a check says, by which editors know that it has begun
// and ended: docs/guide/watch.md promises them.
const (
	watchBegins = "sitelink: check begins"
	watchEnds   = "sitelink: check ends: "
)

// errReaderGone: whoever read the output has seen enough.
var errReaderGone = errors.New("the reader has gone")

// watchPrinter writes what a watch has to say, in text or as JSON lines.
type watchPrinter struct {
	out   stream
	text  report.TextOptions
	jsonl bool
	all   bool
	buf   []byte
}

func newWatchPrinter(c *cli, p *project.Project, flags watchFlags) *watchPrinter {
	return &watchPrinter{
		out: c.stdout(), jsonl: flags.format == "jsonl", all: flags.list == "all",
		text: report.TextOptions{Prefix: p.Docroot, Color: c.colorsReport(p.Config.Color, "-")},
	}
}

// begin says that a check begins.
func (p *watchPrinter) begin() error {
	if p.jsonl {
		p.buf = append(p.buf, `{"event":"begin"}`...)
	} else {
		p.buf = append(p.buf, watchBegins...)
	}
	p.buf = append(p.buf, '\n')
	return p.flush()
}

// end says what a check found: how many findings came and which went, and of
// list the new ones or all.
func (p *watchPrinter) end(c *watchedCheck, fixed, list []check.Finding) error {
	event := "new"
	if p.all {
		event = "finding"
	} else if err := p.findings("fixed", fixed); err != nil {
		return err
	}
	if err := p.findings(event, list); err != nil {
		return err
	}
	if p.jsonl {
		p.buf = fmt.Appendf(p.buf, `{"event":"end","new":%d,"fixed":%d,"errors":%d,"warnings":%d}`, len(c.New), len(fixed), c.errors, c.warnings)
	} else {
		p.buf = fmt.Appendf(p.buf, "%s%s new, %s fixed; %s, %s", watchEnds, thousands(len(c.New)), thousands(len(fixed)),
			count(c.errors, "error"), count(c.warnings, "warning"))
	}
	p.buf = append(p.buf, '\n')
	return p.flush()
}

// failed says that a check could not be made now. The next change is a new
// attempt.
func (p *watchPrinter) failed(err error) error {
	if p.jsonl {
		p.buf = append(p.buf, `{"event":"failed","message":`...)
		p.buf = append(report.AppendString(p.buf, err.Error()), '}')
	} else {
		p.buf = append(p.buf, watchEnds+"cannot check now: "+visible(err.Error())...)
	}
	p.buf = append(p.buf, '\n')
	return p.flush()
}

// findings writes some, a part at a time: there may be very many.
func (p *watchPrinter) findings(event string, fs []check.Finding) error {
	for i := range fs {
		p.finding(event, &fs[i])
		if len(p.buf) > 1<<16 {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *watchPrinter) finding(event string, f *check.Finding) {
	switch {
	case p.jsonl:
		p.buf = append(p.buf, `{"event":`...)
		p.buf = strconv.AppendQuote(p.buf, event)
		p.buf = append(p.buf, `,"finding":`...)
		p.buf = append(report.AppendFinding(p.buf, f), "}\n"...)
	case event == "fixed":
		p.buf = report.AppendFixed(p.buf, f, p.text)
	default:
		p.buf = report.AppendText(p.buf, f, p.text)
	}
}

// flush writes what is ready, whole lines: somebody may be reading them.
func (p *watchPrinter) flush() error {
	_, err := p.out.Write(p.buf)
	p.buf = p.buf[:0]
	switch {
	case err != nil:
		return fmt.Errorf("write %w", err)
	case p.out.gone:
		return errReaderGone
	}
	return nil
}
