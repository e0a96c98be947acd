package main

// What a package of sitelink needs beside the program: its version, completion
// scripts for shells, and a manual page.

import (
	_ "embed"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/text"
)

// version is set by the linker in releases: -ldflags "-X main.version=1.2.3".
var version string

// licenses are those of sitelink, of Go, and of each module that is linked.
//
//go:generate go test -run Licenses -update
//go:embed licenses.txt
var licenses string

func versionCommand(c *cli) *cobra.Command {
	show := false
	cmd := &cobra.Command{
		Use:  "version",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if show {
				return c.print(licenses)
			}
			return c.print("sitelink " + versionLine() + "\n")
		},
	}
	cmd.Flags().BoolVar(&show, "licenses", false, "print the licences of sitelink and of everything that it contains")
	return cmd
}

// versionNumber returns the version alone, or "" if the binary does not know it.
func versionNumber() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return ""
}

// versionLine returns "1.2.3 (commit 0123456789ab, go1.26.0 linux/amd64)",
// without the parts that the binary does not know.
func versionLine() string {
	v, commit := versionNumber(), ""
	if info, ok := debug.ReadBuildInfo(); ok {
		commit = commitOf(info)
	}
	if v == "" {
		v = "devel"
	}
	if commit != "" {
		commit = "commit " + commit + ", "
	}
	return fmt.Sprintf("%s (%s%s %s/%s)", v, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// commitOf returns the revision that the binary was built from, with a + if the
// working tree had changes.
func commitOf(info *debug.BuildInfo) string {
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + modified
}

var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:       "completion " + strings.Join(shells, "|"),
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return text.Usage("completion needs the name of one shell", "shells are "+strings.Join(shells, ", "))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			write := map[string]func(io.Writer) error{
				"bash":       func(w io.Writer) error { return cmd.Root().GenBashCompletionV2(w, true) },
				"zsh":        cmd.Root().GenZshCompletion,
				"fish":       func(w io.Writer) error { return cmd.Root().GenFishCompletion(w, true) },
				"powershell": cmd.Root().GenPowerShellCompletionWithDesc,
			}[args[0]]
			if write == nil {
				return text.Usage(fmt.Sprintf("no completion for the shell %q", args[0]),
					"shells are "+strings.Join(shells, ", "))
			}
			var script strings.Builder
			if err := write(&script); err != nil {
				return fmt.Errorf("write completion: %w", err)
			}
			return c.print(script.String())
		},
	}
}

// manCommand prints the manual page, for people who build packages. It is
// hidden from the help.
func manCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:    "man",
		Short:  "print the manual page",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.print(manual(cmd.Root()))
		},
	}
}

// manual returns the page sitelink(1): the help of every command as it is, in the
// macros of man(7). It contains neither date nor version, so that it changes only
// when the commands change.
func manual(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH \"%s\" \"1\" \"\" \"%s\"\n.SH \"NAME\"\n%s \\- %s\n", strings.ToUpper(root.Name()), root.Name(), root.Name(), escapeRoff(root.Short))
	section := func(title, text string) {
		b.WriteString(".SH \"" + escapeRoff(title) + "\"\n.nf\n")
		for line := range strings.Lines(text) {
			b.WriteString(`\&` + escapeRoff(line)) // \& keeps a dot from beginning a request
		}
		b.WriteString(".fi\n")
	}
	const width = 72 // of a terminal with 80 columns, without the indentation
	section("COMMANDS", help(root, false, width))
	section("ENVIRONMENT AND FILES", environment)
	for _, c := range visibleCommands(root) {
		section(strings.ToUpper(c.CommandPath()), help(c, false, width))
	}
	return b.String()
}

// visibleCommands returns the commands below root that are not hidden, each
// before its subcommands.
func visibleCommands(root *cobra.Command) []*cobra.Command {
	var commands []*cobra.Command
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			commands = append(append(commands, c), visibleCommands(c)...)
		}
	}
	return commands
}

// environment is what no help text of a command says.
const environment = `SITELINK_*            the value of a configuration flag: SITELINK_FAIL_ON for
                      --fail-on. Lists are separated by commas
SITELINK_CONFIG       the configuration file
SOURCE_DATE_EPOCH     seconds since 1970, used instead of the clock to decide
                      which entries of a baseline have expired
SITELINK_SOURCE_LINKS where the report html leads from a source position: vscode,
                      none, or an address with {file}, {line} and {column}
SITELINK_DEBUG        timing prints the time of each stage to standard error
NO_COLOR, CLICOLOR_FORCE, TERM
                      turn color off, on without a terminal, and off with dumb
sitelink.toml, .sitelink.toml, .config/sitelink.toml
                      the configuration, in the working directory or above it,
                      up to the root of the repository
`

// escapeRoff escapes plain text for a line of roff: a backslash would begin an
// escape, and a hyphen would become a typographic one that cannot be copied.
func escapeRoff(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
}
