package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// formerly ends the document: what earlier versions had.
const formerly = `
## What is called differently now

| before | now |
|---|---|
| ` + "`sitelink build`" + ` | ` + "`sitelink check --build`" + `; the old name still works |
| ` + "`sitelink check --external`" + ` | ` + "`sitelink external`" + `, which has all its flags and ` + "`--show all`" + ` |
| ` + "`sitelink diff`" + ` | ` + "`sitelink notify`" + ` without ` + "`--send`" + `; it has ` + "`--by`, `--internal` and `--tombstones`" + ` |
| ` + "`notify --bust-cache`" + ` | removed: notify sees what others see |
| ` + "`.sitelink/ledger.jsonl`, `.sitelink/status.jsonl`" + ` in git | git ignores all of ` + "`.sitelink`" + `; a file that git tracks already stays. For CI, name a [git ref](ledger.md#in-a-git-ref), or keep the directory in the cache |

A project has two files to commit, which ` + "`sitelink doctor`" + ` names: ` + "`sitelink.toml`" + ` and the baseline.
`

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
	b.WriteString(formerly)
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

// docPath is a path of a document in a help text.
var docPath = regexp.MustCompile(`docs/(guide|reference)/([a-z-]+)\.md`)

// commandSection writes the section of one command.
func commandSection(t *testing.T, b *strings.Builder, mark, commonExits string, c *cobra.Command) {
	t.Helper()
	link := func(text string) string {
		return docPath.ReplaceAllStringFunc(text, func(path string) string {
			target, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(path)))
			if err != nil {
				t.Errorf("%s: %v", c.CommandPath(), err)
			}
			title, _, _ := strings.Cut(strings.TrimPrefix(string(target), "# "), "\n")
			return "[" + title + "](../" + strings.TrimPrefix(path, "docs/") + ")"
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
