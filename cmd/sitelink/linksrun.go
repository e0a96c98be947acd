package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/site"
)

// runLinks does the work of `sitelink links`.
func runLinks(ctx context.Context, c *cli, cfg *config.Config, q linksQuestion) error {
	run, err := c.load(ctx, cfg)
	if err != nil {
		return err
	}
	out, err := c.openOutput(q.output)
	if err != nil {
		return err
	}
	defer out.Discard()
	ask := linksAnswer{cli: c, site: run.Site, q: q, out: out, opt: audit.CheckOptions(run.Project), prefix: run.Project.Docroot}
	ask.opt.From, ask.opt.Skip, ask.opt.Limit = nil, nil, 0 // questions are about the whole site
	ask.opt.Orphans, ask.opt.More = false, nil              // and about links
	if err := ask.write(ctx); err != nil {
		return err
	}
	return out.Commit()
}

// linksAnswer is one question on its way to the output.
type linksAnswer struct {
	cli    *cli
	site   *site.Site
	q      linksQuestion
	opt    check.Options
	out    io.Writer
	prefix string // of pages in text
}

func (l *linksAnswer) write(ctx context.Context) error {
	switch {
	case l.q.anchors:
		return l.anchors(ctx)
	case l.q.addresses:
		return l.addresses(ctx)
	case l.q.orphans:
		return l.orphans(ctx)
	case l.q.external && l.q.to == "" && l.q.from == "" && l.q.format != "dot":
		return l.externals(ctx)
	}
	return l.rows(ctx)
}

// rows writes links.
func (l *linksAnswer) rows(ctx context.Context) error {
	var render func(dst []byte, link *check.Link) []byte
	begin, end := "", ""
	switch l.q.format {
	case "jsonl":
		render = report.AppendLink
	case "csv":
		begin = string(report.LinkRecord(&check.Link{}).AppendCSVHeader(nil))
		render = func(dst []byte, link *check.Link) []byte { return report.LinkRecord(link).AppendCSV(dst) }
	case "dot":
		begin, end = report.DotBegin, report.DotEnd
		// External addresses are shown to those who ask for them: most sites
		// have more of them than pages.
		away := l.q.external || l.q.to != "" || l.q.from != ""
		render = func(dst []byte, link *check.Link) []byte {
			file := link.AnsweringFile(audit.Handle(l.site))
			if file == "" && link.Verdict == check.Unchecked && !away {
				return dst
			}
			return report.AppendDot(dst, link, file)
		}
	default:
		opt := report.TextOptions{Prefix: l.prefix}
		render = func(dst []byte, link *check.Link) []byte { return report.AppendLinkText(dst, link, nil, opt) }
	}
	if err := l.print(begin); err != nil {
		return err
	}
	query := check.Query{From: l.q.from, To: l.q.to, External: l.q.external}
	result, err := check.WriteLinks(ctx, audit.Handle(l.site), l.opt, query, check.LinkWriter{W: l.out, Append: render})
	if err != nil {
		return unanswered(err)
	}
	for _, f := range result.Findings {
		if f.Code != check.Changed && f.Code != check.ReadError {
			continue // a fault of a file; its links are listed
		}
		l.cli.ui.warning(fmt.Sprintf("%s: %s", f.Page, f.Message))
	}
	return l.print(end)
}

// unanswered makes a question that names nothing wrong usage.
func unanswered(err error) error {
	if errors.Is(err, check.ErrNotFound) {
		return fault.Usage(err.Error(), "name a path in the docroot, a site path or a URL")
	}
	return err
}

func (l *linksAnswer) externals(ctx context.Context) error {
	all, err := check.ExternalTargets(ctx, audit.Handle(l.site), l.opt)
	if err != nil {
		return err
	}
	text := func(dst []byte, x *check.ExternalTarget) []byte {
		to := x.Target
		if x.Fragment != "" {
			to += "#" + x.Fragment
		}
		return fmt.Appendf(dst, "%s: %s from %s, first at %s:%d:%d\n", visible(to), count(x.Links, "link"), count(x.Pages, "page"),
			visible(x.Page), x.Line, x.Column)
	}
	return writeList(l, len(all), func(i int) report.Record { return report.ExternalRecord(l.site.BaseURL(), &all[i]) },
		func(dst []byte, i int) []byte { return text(dst, &all[i]) }, report.ExternalRecord("", &check.ExternalTarget{}))
}

func (l *linksAnswer) addresses(ctx context.Context) error {
	all, err := check.Addresses(ctx, audit.Handle(l.site))
	if err != nil {
		return err
	}
	text := func(dst []byte, i int) []byte {
		x := &all[i]
		dst = fmt.Appendf(dst, "%s -> %s", visible(x.Path), visible(x.File))
		if x.Final != "" {
			dst = fmt.Appendf(dst, ", redirected to %s", visible(x.Final))
		}
		return append(dst, '\n')
	}
	record := func(x check.Address) report.Record {
		if l.site.Rooted() { // each part of the docroot as its own site
			return publicAddress(l.site, x)
		}
		return report.AddressRecord(l.site.BaseURL(), l.site.Authority(), l.site.BasePath()+"/", x)
	}
	return writeList(l, len(all), func(i int) report.Record { return record(all[i]) }, text, record(check.Address{}))
}

func (l *linksAnswer) orphans(ctx context.Context) error {
	all, err := check.Orphans(ctx, audit.Handle(l.site), nil)
	if err != nil {
		return err
	}
	text := func(dst []byte, i int) []byte {
		o := &all[i]
		dst = append(dst, visible(o.Path)...)
		switch {
		case o.Alias != "":
			dst = fmt.Appendf(dst, " (alias of %s)", visible(o.Alias))
		case o.Linked:
			dst = append(dst, " (linked, but not from the start)"...)
		}
		return append(dst, '\n')
	}
	return writeList(l, len(all), func(i int) report.Record { return report.OrphanRecord(&all[i]) }, text, report.OrphanRecord(&check.OrphanFile{}))
}

func (l *linksAnswer) anchors(ctx context.Context) error {
	base := l.site.BaseURL()
	var buf []byte
	render := func(dst []byte, x check.Anchor) []byte {
		dst = append(append(append(dst, visible(x.Page)...), '#'), visible(x.Name)...)
		if x.Kind == "map" {
			dst = append(dst, " (map)"...)
		}
		return append(dst, '\n')
	}
	switch l.q.format {
	case "jsonl":
		render = func(dst []byte, x check.Anchor) []byte { return report.AnchorRecord(base, x).AppendJSON(dst) }
	case "csv":
		buf = report.AnchorRecord("", check.Anchor{}).AppendCSVHeader(buf)
		render = func(dst []byte, x check.Anchor) []byte { return report.AnchorRecord(base, x).AppendCSV(dst) }
	}
	err := check.Anchors(ctx, audit.Handle(l.site), l.opt, l.q.from, func(x check.Anchor) error {
		if buf = render(buf, x); len(buf) < 64<<10 {
			return nil
		}
		err := l.print(string(buf))
		buf = buf[:0]
		return err
	})
	if err != nil {
		return unanswered(err)
	}
	return l.print(string(buf))
}

// writeList writes n answers that are in memory.
func writeList(l *linksAnswer, n int, record func(i int) report.Record, text func(dst []byte, i int) []byte, sample report.Record) error {
	var buf []byte
	if l.q.format == "csv" {
		buf = sample.AppendCSVHeader(buf)
	}
	for i := range n {
		switch l.q.format {
		case "jsonl":
			buf = record(i).AppendJSON(buf)
		case "csv":
			buf = record(i).AppendCSV(buf)
		default:
			buf = text(buf, i)
		}
		if len(buf) >= 64<<10 {
			if err := l.print(string(buf)); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	return l.print(string(buf))
}

func (l *linksAnswer) print(text string) error {
	if text == "" {
		return nil
	}
	if _, err := io.WriteString(l.out, text); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}
