package main

import (
	"context"
	"fmt"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
)

// destination is one report on its way.
type destination struct {
	format report.Format
	out    output
	opt    report.Options
}

// destinations are the reports of one run. They become visible together: a
// file that cannot be written, or brought to the disk, leaves all old files as
// they were.
type destinations []destination

// openReports opens the reports that the configuration asks for.
func openReports(c *cli, p *project.Project) (destinations, error) {
	cfg := p.Config
	opt, err := reportOptions(c, p)
	if err != nil {
		return nil, err
	}
	var all destinations
	taken := map[string]string{} // file to format
	for _, f := range cfg.Formats {
		format, ok := report.ByName(f.Name)
		if !ok {
			panic("no format is named " + f.Name) // a test holds the key to the table
		}
		name := f.File
		if name == "" {
			name = cfg.Output
		}
		out, err := c.openOutput(name)
		if err != nil {
			all.discard()
			return nil, err
		}
		opt.Color = c.colorsReport(cfg.Color, name)
		all = append(all, destination{format, out, opt})
		// The names differ, what they stand for may not: a.txt and ./a.txt are
		// for the configuration to see, links only show here.
		if r, ok := out.(*replacement); ok {
			if other, twice := taken[r.target]; twice {
				all.discard()
				return nil, fault.Usage(fmt.Sprintf("the formats %s and %s go to the same file, %s", other, f.Name, r.target), "give each its own")
			}
			taken[r.target] = f.Name
		}
	}
	return all, nil
}

// write writes the findings of r to each.
func (all destinations) write(r *check.Result) error {
	for _, d := range all {
		if err := d.format.Write(d.out, r, d.opt); err != nil {
			return err
		}
	}
	return nil
}

// commit makes what was written the reports. Only when every file is complete
// and on the disk does the first one take its name.
func (all destinations) commit() error {
	for _, d := range all {
		if err := d.out.Prepare(); err != nil {
			return err
		}
	}
	for _, d := range all {
		if err := d.out.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// discard gives up what is not committed.
func (all destinations) discard() {
	for _, d := range all {
		d.out.Discard()
	}
}

// summarised tells whether one of the reports has a summary.
func (all destinations) summarised() bool {
	for _, d := range all {
		if d.format.Summary {
			return true
		}
	}
	return false
}

// addExtras works out what a report shows beside the findings, if one of them
// does.
func (all destinations) addExtras(ctx context.Context, run *audit.Audit, r *check.Result) error {
	var extras *report.Extras
	for i := range all {
		if !all[i].format.Extras {
			continue
		}
		if extras == nil {
			var err error
			if extras, err = run.Extras(ctx, r); err != nil {
				return err
			}
		}
		all[i].opt.Extras = *extras
	}
	return nil
}

// showAll lists every link in each report. The site is in memory; only the
// pages are read once more for each.
func showAll(ctx context.Context, c *cli, run *audit.Audit, all destinations) (result *check.Result, err error) {
	for _, d := range all {
		if d.format.Name == "jsonl" {
			result, err = showAllJSON(ctx, c, run, d.out)
		} else {
			result, err = showAllText(ctx, run, d.out, d.opt.TextOptions)
		}
		if err != nil {
			return nil, err
		}
	}
	return result, nil
}

// showAllJSON writes one row for each link and nothing else: faults of files are
// not links.
func showAllJSON(ctx context.Context, c *cli, run *audit.Audit, out output) (*check.Result, error) {
	result, err := run.Links(ctx, out, report.AppendSourcedLink)
	if err == nil && len(result.Findings) > 0 {
		c.ui.warning(fmt.Sprintf("faults of files not listed (leave out --show all to see them): %s", thousands(len(result.Findings))))
	}
	return result, err
}

// showAllText lists the faults of files after the links and ends with the
// summary.
func showAllText(ctx context.Context, run *audit.Audit, out output, opt report.TextOptions) (*check.Result, error) {
	result, err := run.Links(ctx, out, func(dst []byte, l *check.Link, source *check.Position) []byte {
		return report.AppendLinkText(dst, l, source, opt)
	})
	if err != nil {
		return nil, err
	}
	var rest []byte
	for i := range result.Findings {
		rest = report.AppendText(rest, &result.Findings[i], opt)
	}
	if _, err := out.Write(append(rest, '\n')); err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	counts := check.Result{Summary: result.Summary} // the findings are a part of what it counts
	return result, report.TextSummary(out, &counts, opt)
}

// colorsReport decides on colour for the report in the output of that name: the
// terminal's, or that of a file, which has none unless asked for.
func (c *cli) colorsReport(when, name string) bool {
	toStdout := name == "" || name == "-" || name == "/dev/stdout"
	if !toStdout && when == "auto" {
		return false
	}
	return wantsColor(when, c.env.StdoutTTY, c.env.Getenv)
}
