package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) completionCommand() *cobra.Command {
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
			return &usageError{"completion takes the name of one shell", "shells are " + strings.Join(shells, ", ")}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			write := map[string]func(io.Writer) error{
				"bash":       func(w io.Writer) error { return cmd.Root().GenBashCompletionV2(w, true) },
				"zsh":        cmd.Root().GenZshCompletion,
				"fish":       func(w io.Writer) error { return cmd.Root().GenFishCompletion(w, true) },
				"powershell": cmd.Root().GenPowerShellCompletionWithDesc,
			}[args[0]]
			if write == nil {
				hint := "shells are " + strings.Join(shells, ", ")
				if near, ok := config.Nearest(args[0], shells); ok {
					hint = fmt.Sprintf("did you mean %q?", near)
				}
				return &usageError{fmt.Sprintf("no completion for %q", args[0]), hint}
			}
			var script strings.Builder
			if err := write(&script); err != nil {
				return fmt.Errorf("write completion: %w", err)
			}
			return a.print(script.String())
		},
	}
}
