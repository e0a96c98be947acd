package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/host"
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

const profileLong = `profile prints how a host answers paths: which file answers for a directory, whether /page is answered
by page.html, how a missing index file is reported, and so on.

Without NAME, it lists the built-in profiles. With NAME, it prints one as the table [host] of
sitelink.toml, each key with its meaning: copy the lines that differ on your host and change them.
docs/reference/profiles.md gives the source of each value.
`

func profileCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "profile [NAME]",
		Short: "show how a hosting profile answers paths",
		Long:  profileLong,
		Example: "  # list the profiles\n  sitelink profile\n\n" +
			"  # start from the profile of Caddy\n  sitelink profile caddy >> sitelink.toml",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fault.Usage(fmt.Sprintf("profile takes one name, got %d", len(args)), "")
			}
			return nil
		},
		ValidArgs: profileNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := strings.Join(profileNames(), "\n") + "\n"
			if len(args) == 1 {
				p, ok := host.ProfileByName(args[0])
				if !ok {
					return fault.Usage(fmt.Sprintf("unknown profile %q", args[0]),
						cmp.Or(config.DidYouMean(args[0], profileNames()), "sitelink profile lists the profiles"))
				}
				text = p.Describe()
			}
			return c.print(text)
		},
	}
}

// hostKeys are the keys of the table [host].
func hostKeys() []config.HostKey {
	var keys []config.HostKey
	for _, k := range host.ProfileKeys() {
		keys = append(keys, config.HostKey{Name: k.Name, Type: k.Type, Check: func(values []string) error {
			var p host.Profile
			return p.Set(k.Name, values)
		}})
	}
	return keys
}
