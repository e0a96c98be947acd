package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/report"
)

const explainLong = `explain prints every step from a link to its verdict: the page and its base, the URL, the base URL
and map rules, how the host's profile and redirect rules change the path, the file that answers, and
the fragment. Each step names what decided it: a key of the profile (see sitelink profile NAME), or
the file and line of a rule.

LINK is a link as written in a page, such as ../a/#b. It is resolved as a link of --from PAGE, a path
below the docroot. Without --from, it is resolved as a link of the page at the root.

If the page has the link, explain also prints where: in the page and, if the project is known, in
its sources.
`

func explainCommand(c *cli) *cobra.Command {
	var file, from string
	cmd := &cobra.Command{
		Use:   "explain LINK",
		Short: "explain the verdict of a link, step by step",
		Long:  explainLong + "\n" + exitCodes,
		Example: "  # how does Netlify answer /blog?\n  sitelink explain /blog --docroot public --profile netlify\n\n" +
			"  # a link as written in blog/index.html\n  sitelink explain '../a/#b' --from blog/index.html",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.Usage(fmt.Sprintf("explain takes one link, got %d", len(args)), "quote a link that contains spaces or #")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.configure(cmd, nil, file)
			if err != nil {
				return err
			}
			return runExplain(cmd.Context(), c, cfg, from, args[0])
		},
	}
	addKeyFlags(cmd, notForExplain...)
	cmd.Flags().StringVar(&file, "config", "", "read `FILE` instead of searching for sitelink.toml")
	cmd.Flags().StringVar(&from, "from", "", "resolve LINK as a link of `PAGE`, a path below the docroot")
	return cmd
}

// notForExplain are the keys that choose pages or shape a report: explain has
// one page and no report.
var notForExplain = []string{"from", "skip", "limit", "orphans", "fail-on", "format", "group-by", "all", "show", "output", "color", "progress"}

// runExplain does the work of `sitelink explain`. It returns [errFindings] when
// the link is broken.
func runExplain(ctx context.Context, c *cli, cfg *config.Config, from, link string) error {
	run, err := c.load(ctx, cfg)
	if err != nil {
		return err
	}
	e, err := check.Explain(ctx, audit.Handle(run.Site), audit.CheckOptions(run.Project), from, link)
	if errors.Is(err, check.ErrNotFound) {
		return fault.Usage("--from: "+err.Error(), "name it by its path below the docroot, such as blog/index.html")
	}
	if err != nil {
		return err
	}
	places, err := run.PlaceOccurrences(ctx, e.Page, e.Occurrences)
	if err != nil {
		return err
	}
	if err := c.print(explanation(e, link, places)); err != nil {
		return err
	}
	if e.Link.Verdict == check.Error && e.Ignored == "" {
		return errFindings
	}
	return nil
}

// explanation returns what the command prints. places are where the occurrences
// are written in the sources.
func explanation(e *check.Explanation, link string, places []*check.Position) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", link)
	b.WriteString(e.String())
	l := &e.Link
	verdict := l.Verdict.String()
	if l.Code != "" {
		verdict += " " + string(l.Code)
	}
	if l.Message != "" {
		verdict += ": " + l.Message
	}
	fmt.Fprintf(&b, "%s\n", verdict)
	if e.Suggestion != "" {
		fmt.Fprintf(&b, "did you mean %s?\n", e.Suggestion)
	}
	if e.Ignored != "" {
		fmt.Fprintf(&b, "accepted by %s\n", e.Ignored)
	}
	for i, p := range e.Occurrences {
		fmt.Fprintf(&b, "at %s:%d:%d\n", e.Page, p.Line, p.Column)
		if s := places[i]; s != nil {
			fmt.Fprintf(&b, "  written at %s:%d:%d", visible(s.File), s.Line, s.Column)
			if words := report.DescribeSource(s); words != "" {
				fmt.Fprintf(&b, ", in %s", words)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
