package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
)

// debugs tells whether SITELINK_DEBUG asks for a topic.
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

// traceRow appends the two lines of a link, without what stands in front.
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
