package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/docs"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestCommandsDocument: docs/reference/commands.md has the help of all commands. go test ./cmd/sitelink -run CommandsDocument -update rewrites it.
func TestCommandsDocument(t *testing.T) {
	root, _ := documentedCommands()
	var b strings.Builder
	b.WriteString("# Commands\n\n" +
		"`sitelink COMMAND -h` shows the flags of a command that matter most, `sitelink COMMAND --help` all of them. Commands that\n" +
		"check a site also accept the [configuration flags](configuration.md). This page is generated from the help texts.\n" +
		"Every command has `--config FILE`, which reads FILE instead of searching for sitelink.toml. Exit codes mean this, if the\n" +
		"command does not list others:\n")
	commonExits := exitRows(root, "check", "")
	b.WriteString("\n| exit code | meaning |\n|---|---|\n" + commonExits)
	byName := map[string]*cobra.Command{}
	for _, c := range root.Commands() {
		byName[c.Name()] = c
	}
	for _, group := range commandGroups {
		fmt.Fprintf(&b, "\n## %s\n", group.title)
		for _, name := range group.commands {
			if name == "help" {
				continue
			}
			commandSection(t, &b, "###", commonExits, byName[name])
			for _, c := range byName[name].Commands() {
				commandSection(t, &b, "####", commonExits, c)
			}
		}
	}
	name := filepath.Join("..", "..", "docs", "reference", "commands.md")
	if *update {
		testkit.Check(t, os.WriteFile(name, []byte(b.String()), 0o644))
		return
	}
	got, err := os.ReadFile(name)
	if err != nil || string(got) != b.String() {
		t.Errorf("%s differs from the help (%v); run go test ./cmd/sitelink -run CommandsDocument -update", name, err)
	}
}

// helpOf names a page of the manual in a help text.
var helpOf = regexp.MustCompile(`sitelink help ([a-z-]+/)?([a-z-]+)`)

// commandSection writes the section of one command.
func commandSection(t *testing.T, b *strings.Builder, mark, commonExits string, c *cobra.Command) {
	t.Helper()
	link := func(text string) string {
		return helpOf.ReplaceAllStringFunc(text, func(command string) string {
			name := strings.TrimPrefix(command, "sitelink help ")
			if cmd, _, err := c.Root().Find([]string{name}); err == nil && cmd != c.Root() {
				return command
			}
			page, ok := docs.Page(name)
			files := testkit.Must(filepath.Glob("../../docs/*/" + path.Base(name) + ".md"))(t)
			if !ok || len(files) == 0 {
				t.Errorf("%s: %s prints no page", c.CommandPath(), command)
				return command
			}
			title, _, _ := strings.Cut(strings.TrimPrefix(page, "# "), "\n")
			return "[" + title + "](../" + path.Base(path.Dir(filepath.ToSlash(files[0]))) + "/" + path.Base(name) + ".md)"
		})
	}
	escape := strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`)
	long, _ := splitLong(c)
	fmt.Fprintf(b, "\n%s %s\n\n`%s`: %s.\n", mark, strings.TrimPrefix(c.CommandPath(), "sitelink "), c.UseLine(), c.Short)
	if c.Example != "" && strings.TrimSpace(c.Example) != c.CommandPath() {
		b.WriteString("\n```sh\n")
		for line := range strings.Lines(c.Example + "\n") {
			b.WriteString(strings.TrimPrefix(line, "  "))
		}
		b.WriteString("```\n")
	}
	for paragraph := range strings.SplitSeq(long, "\n\n") {
		if strings.HasPrefix(paragraph, "  ") {
			b.WriteString("\n```text\n" + strings.ReplaceAll(strings.TrimPrefix(paragraph, "  "), "\n  ", "\n") + "\n```\n")
		} else if paragraph != "" {
			b.WriteString("\n" + link(escape.Replace(paragraph)) + "\n")
		}
	}
	rows, above := "", ""
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if key, isKey := f.Value.(*keyFlag); (!isKey || key.key.ID() != key.key.Name) && !f.Hidden && f.Name != "help" && f.Name != "config" {
			row := fmt.Sprintf("| `%s` | %s |\n", strings.TrimSpace(flagTerm(f)), strings.ReplaceAll(escape.Replace(flagUsage(f)), "|", `\|`))
			if strings.Contains(b.String(), row) {
				above += ", `" + strings.TrimSpace(flagTerm(f)) + "`"
			} else {
				rows += row
			}
		}
	})
	if rows != "" {
		b.WriteString("\n| flag | meaning |\n|---|---|\n" + rows)
	}
	if above != "" {
		b.WriteString("\nThese flags mean the same as above: " + above[2:] + ".\n")
	}
	if rows := exitRows(c, "", commonExits); rows != "" {
		b.WriteString("\n| exit code | meaning |\n|---|---|\n" + rows)
	}
}

// exitRows returns the exit codes of c, or of its command with that name, without
// those that are in common.
func exitRows(c *cobra.Command, name, common string) (rows string) {
	for _, of := range c.Commands() {
		if name != "" && of.Name() == name {
			c = of
		}
	}
	_, exits := splitLong(c)
	for line := range strings.Lines(exits) {
		code, meaning, _ := strings.Cut(strings.TrimSpace(line), " ")
		if row := fmt.Sprintf("| %s | %s |\n", code, strings.TrimSpace(meaning)); code != "" && !strings.Contains(common, row) {
			rows += row
		}
	}
	return rows
}
