package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
)

const ledgerLong = `ledger looks after what 'sitelink notify' remembers: the links of each page as of the last
deploy, and whom it told what, with what answer. docs/reference/ledger.md describes the file.
`

const ledgerExample = `  # what is open, and what failed
  sitelink ledger show

  # is the file whole? after a merge with conflicts, or a crash
  sitelink ledger verify

  # let git merge it: once in each clone, with a line in .gitattributes
  git config merge.sitelink.driver 'sitelink ledger merge %O %A %B'
  echo '.sitelink/ledger.jsonl merge=sitelink' >>.gitattributes`

var ledgerWords = []string{"show", "verify", "compact", "export", "merge"}

func (a *app) ledgerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "ledger",
		Short:   "look after what was told to whom",
		Long:    ledgerLong,
		Example: ledgerExample,
		Args: func(_ *cobra.Command, args []string) error {
			hint := "write one of show, verify, compact, export and merge"
			if len(args) == 0 {
				return &usageError{"ledger needs a command", hint}
			}
			if near, ok := config.Nearest(args[0], ledgerWords); ok {
				hint = fmt.Sprintf("did you mean %q?", "ledger "+near)
			}
			return &usageError{fmt.Sprintf("unknown command %q", "ledger "+args[0]), hint}
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(a.ledgerShowCommand(), a.ledgerVerifyCommand(), a.ledgerCompactCommand(), a.ledgerExportCommand(), a.ledgerMergeCommand())
	return cmd
}

// ledgerSub makes a subcommand that works on the ledger of the configuration.
func (a *app) ledgerSub(use, short, long string, work func(cmd *cobra.Command, cfg *config.Config) error) *cobra.Command {
	var file, name string
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.configure(cmd, nil, file)
			if err != nil {
				return err
			}
			if name != "" {
				if cfg.Outgoing.Ledger, err = ledgerFlag(name); err != nil {
					return err
				}
			}
			return work(cmd, cfg)
		},
	}
	cmd.Flags().StringVar(&name, "ledger", "", "the `LEDGER`: a file, git:REF or postgres://... (default: ledger in [outgoing])")
	cmd.Flags().StringVar(&file, "config", "", "read `FILE` instead of looking for sitelink.toml")
	return cmd
}

func (a *app) ledgerShowCommand() *cobra.Command {
	var all bool
	cmd := a.ledgerSub("show", "print what is open and what failed, and count the rest",
		"show counts the rows of the ledger and lists the notices that are still to be sent, with the\n"+
			"time of their next attempt, and those that failed. It writes nothing.",
		func(cmd *cobra.Command, cfg *config.Config) error { return a.ledgerShow(cmd.Context(), cfg, all) })
	cmd.Flags().BoolVarP(&all, "all", "a", false, "list every notice")
	return cmd
}

func (a *app) ledgerVerifyCommand() *cobra.Command {
	return a.ledgerSub("verify", "say whether the ledger is whole",
		"verify reads the ledger and its journal and names each line that is not as it should be:\n"+
			"marks of a merge conflict, several rows for one thing, lines that cannot be read. It says\n"+
			"what sitelink makes of it, and writes nothing; compact puts it right. Exit 1 if there is any.",
		func(cmd *cobra.Command, cfg *config.Config) error { return a.ledgerVerify(cmd.Context(), cfg) })
}

func (a *app) ledgerCompactCommand() *cobra.Command {
	return a.ledgerSub("compact", "write the ledger anew, sorted, and empty its journal",
		"compact puts what the journal holds into the ledger and sorts it. Lines that cannot be read\n"+
			"are kept in a file beside it, whose name ends in .damaged.",
		func(cmd *cobra.Command, cfg *config.Config) error { return a.ledgerCompact(cmd.Context(), cfg) })
}

func (a *app) ledgerExportCommand() *cobra.Command {
	var output string
	cmd := a.ledgerSub("export", "print the whole ledger as JSON Lines",
		"export prints the ledger as the file that it is, or would be: sorted, an object a line.\n"+
			"It works for a ledger in git or in a database too.",
		func(cmd *cobra.Command, cfg *config.Config) error { return a.ledgerExport(cmd.Context(), cfg, output) })
	cmd.Flags().StringVar(&output, "output", "-", "write it to `FILE`; - is standard output")
	return cmd
}

func (a *app) ledgerMergeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge BASE OURS THEIRS",
		Short: "merge two states of a ledger, for git",
		Long: "merge is a merge driver of git: OURS and THEIRS came from BASE, and what both did to it is\n" +
			"written to OURS. It cannot conflict. docs/reference/ledger.md says how git is told of it.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 3 {
				return &usageError{fmt.Sprintf("merge takes three files, got %d", len(args)), "git calls it: sitelink ledger merge %O %A %B"}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.ledgerMerge(args[0], args[1], args[2]) },
	}
}
