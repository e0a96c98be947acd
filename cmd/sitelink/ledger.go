package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/project"
)

const ledgerLong = `ledger inspects and maintains the record of sitelink notify: the links of each page at the last deploy,
the notices that were sent, and the answers. docs/reference/ledger.md describes the file.
`

const ledgerExample = `  # list notices that are waiting or have failed
  sitelink ledger show

  # verify the file after a merge conflict or a crash
  sitelink ledger verify

  # let git merge ledgers: once in each clone, with a line in .gitattributes
  git config merge.sitelink.driver 'sitelink ledger merge %O %A %B'
  echo '.sitelink/ledger.jsonl merge=sitelink' >>.gitattributes`

func ledgerCommand(c *cli) *cobra.Command {
	return withCommands(&cobra.Command{
		Use:     "ledger",
		Short:   "inspect and maintain the record of sent notices",
		Long:    ledgerLong,
		Example: ledgerExample,
	}, ledgerShowCommand(c), ledgerVerifyCommand(c), ledgerCompactCommand(c), ledgerExportCommand(c), ledgerMergeCommand(c))
}

// ledgerSub makes a subcommand that works on the ledger of the configuration.
func ledgerSub(c *cli, use, short, long string, work func(cmd *cobra.Command, p *project.Project) error) *cobra.Command {
	var file, name string
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: "  sitelink ledger " + use, Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.configure(cmd, nil, file)
			if err != nil {
				return err
			}
			if name != "" {
				if cfg.Outgoing.Ledger, err = ledgerFlag(name); err != nil {
					return err
				}
			}
			p, err := c.findRoot(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			return work(cmd, p)
		},
	}
	cmd.Flags().StringVar(&name, "ledger", "", "use `LEDGER`: a file, git:REF or postgres://... (default: ledger in [outgoing])")
	cmd.Flags().StringVar(&file, "config", "", "read `FILE` instead of searching for sitelink.toml")
	return cmd
}

func ledgerShowCommand(c *cli) *cobra.Command {
	var all bool
	cmd := ledgerSub(c, "show", "list notices that are waiting or have failed, and count the rest",
		"show counts the rows of the ledger. It lists the notices that are still to be sent, with the\n"+
			"time of their next attempt, and those that failed. It changes nothing.",
		func(cmd *cobra.Command, p *project.Project) error { return showLedger(cmd.Context(), c, p, all) })
	cmd.Flags().BoolVarP(&all, "all", "a", false, "list every notice")
	return cmd
}

func ledgerVerifyCommand(c *cli) *cobra.Command {
	return ledgerSub(c, "verify", "report damage in the ledger",
		"verify reads the ledger and its journal and reports each damaged line: marks of a merge\n"+
			"conflict, several rows for the same thing, lines that cannot be read. It explains how\n"+
			"sitelink interprets them and changes nothing; compact repairs them. It exits 1 if a line is\n"+
			"damaged.",
		func(cmd *cobra.Command, p *project.Project) error { return verifyLedger(cmd.Context(), c, p) })
}

func ledgerCompactCommand(c *cli) *cobra.Command {
	return ledgerSub(c, "compact", "rewrite the ledger, sorted, and empty its journal",
		"compact moves the journal into the ledger and sorts it. It keeps lines that cannot be read in\n"+
			"a file beside the ledger whose name ends in .damaged.",
		func(cmd *cobra.Command, p *project.Project) error { return compactLedger(cmd.Context(), c, p) })
}

func ledgerExportCommand(c *cli) *cobra.Command {
	var output string
	cmd := ledgerSub(c, "export", "print the whole ledger as JSON Lines",
		"export prints the ledger in the format of its file: sorted, one object per line. It also works\n"+
			"for a ledger in git or in a database.",
		func(cmd *cobra.Command, p *project.Project) error { return exportLedger(cmd.Context(), c, p, output) })
	cmd.Flags().StringVar(&output, "output", "-", "write the ledger to `FILE`; - means standard output")
	return cmd
}

func ledgerMergeCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "merge BASE OURS THEIRS",
		Short: "merge two versions of a ledger, for git",
		Long: "merge is a merge driver for git: it applies the changes from BASE to OURS and from BASE to\n" +
			"THEIRS, and writes the result to OURS. There are no conflicts. docs/reference/ledger.md\n" +
			"explains how to configure git.",
		Example: "  # as git calls it\n  sitelink ledger merge %O %A %B",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 3 {
				return fault.Usage(fmt.Sprintf("merge takes three files, got %d", len(args)), "git calls it: sitelink ledger merge %O %A %B")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return mergeLedgers(c, args[0], args[1], args[2]) },
	}
}
