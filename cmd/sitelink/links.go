package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/fault"
)

const linksLong = `links answers questions about a site: which pages link to a page, a URL or an anchor, what a page
links to, which other sites the site links to, which anchors its pages define, and which files no page
links to. Without a question, it prints every link. Broken links are part of the answer and do not
change the exit code.

TARGET and PAGE are paths in the docroot (blog/index.html), site paths (/blog/) or URLs. A TARGET may
have a fragment; without one, links to any fragment count.

docs/reference/links.md describes the answers and their fields.
`

const linksExample = `  # which pages link to a page that is about to move, and to one anchor of it
  sitelink links public --to /guide/install/
  sitelink links public --to /guide/install/#windows

  # all addresses on other sites, as a table
  sitelink links public --external --format csv --output external.csv

  # draw the links of one page with Graphviz
  sitelink links public --from index.html --format dot | dot -Tsvg > index.svg`

const linksExitCodes = `Exit codes:
  0    the question was answered
  2    wrong usage or configuration
  3    the work could not be done
  130  interrupted
`

// linksQuestion is what the flags of links ask.
type linksQuestion struct {
	to, from                              string
	external, anchors, addresses, orphans bool
	format, output, config                string
}

func linksCommand(c *cli) *cobra.Command {
	var q linksQuestion
	cmd := &cobra.Command{
		Use:               "links [DIR]",
		Short:             "answer questions about a site's links",
		Long:              linksLong + "\n" + linksExitCodes,
		Example:           linksExample,
		Args:              oneDirectory,
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"to", "from", "output", "config"} {
				if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
					return fault.Usage(fmt.Sprintf("--%s: the value is empty", name), "")
				}
			}
			if err := q.check(); err != nil {
				return err
			}
			cfg, err := c.configure(cmd, args, q.config)
			if err != nil {
				return err
			}
			return runLinks(cmd.Context(), c, cfg, q)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&q.to, "to", "", "list links to `TARGET`: a page, a URL, or an anchor of one")
	flags.StringVar(&q.from, "from", "", "list the links of `PAGE`, or with --anchors its anchors")
	flags.BoolVar(&q.external, "external", false, "list each address on other sites once, with the number of links to it")
	flags.BoolVar(&q.anchors, "anchors", false, "list the anchors that pages define")
	flags.BoolVar(&q.addresses, "addresses", false, "list the paths that the host answers, and the file for each")
	flags.BoolVar(&q.orphans, "orphans", false, "list files that no page links to, and pages that no chain of links reaches")
	addWordFlag(cmd, &q.format, "format", "text", "print the answer as `FORMAT`: text, jsonl, csv or dot", "text", "jsonl", "csv", "dot")
	flags.StringVar(&q.output, "output", "-", "write the answer to `FILE`, replacing it atomically; - means standard output")
	flags.StringVar(&q.config, "config", "", "read `FILE` instead of searching for sitelink.toml")
	addSiteKeyFlags(cmd)
	return cmd
}

// check refuses questions that make no sense together.
func (q *linksQuestion) check() error {
	var lists []string
	for _, l := range []struct {
		name string
		on   bool
	}{{"--external", q.external}, {"--anchors", q.anchors}, {"--addresses", q.addresses}, {"--orphans", q.orphans}} {
		if l.on {
			lists = append(lists, l.name)
		}
	}
	switch {
	case len(lists) > 1:
		return fault.Usage(strings.Join(lists, " and ")+" are two questions", "run links once for each")
	case len(lists) == 0 || q.external && q.format == "dot":
		return nil
	case q.format == "dot":
		return fault.Usage(lists[0]+" has no picture: dot shows links", "use --format jsonl or csv")
	case q.to != "" && !q.external:
		return fault.Usage("--to and "+lists[0]+" do not go together", "leave one of them out")
	case q.from != "" && !q.anchors && !q.external:
		return fault.Usage("--from and "+lists[0]+" do not go together", "leave one of them out")
	}
	return nil
}
