package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "completion " + strings.Join(shells, "|"),
		Short: "print a completion script for a shell",
		Long: "completion prints a script for your shell that completes the commands, flags and values of\n" +
			"sitelink.",
		Example: "  sitelink completion bash > /etc/bash_completion.d/sitelink\n\n" +
			"  sitelink completion zsh > \"${fpath[1]}/_sitelink\"\n\n" +
			"  sitelink completion fish > ~/.config/fish/completions/sitelink.fish",
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return fault.Usage("completion needs the name of one shell", "shells are "+strings.Join(shells, ", "))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			write := map[string]func(io.Writer) error{
				"bash":       func(w io.Writer) error { return cmd.Root().GenBashCompletionV2(w, true) },
				"zsh":        cmd.Root().GenZshCompletion,
				"fish":       func(w io.Writer) error { return cmd.Root().GenFishCompletion(w, true) },
				"powershell": cmd.Root().GenPowerShellCompletionWithDesc,
			}[args[0]]
			if write == nil {
				return fault.Usage(fmt.Sprintf("no completion for the shell %q", args[0]),
					cmp.Or(config.DidYouMean(args[0], shells), "shells are "+strings.Join(shells, ", ")))
			}
			var script strings.Builder
			if err := write(&script); err != nil {
				return fmt.Errorf("write completion: %w", err)
			}
			return c.print(script.String())
		},
	}
}
