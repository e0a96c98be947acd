package main

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sitelink/sitelink/docs"
)

// documentedCommands returns the root command and those that its help lists.
func documentedCommands() (root *cobra.Command, all []*cobra.Command) {
	root = rootCommand(testApp(io.Discard, io.Discard))
	return root, append(visibleCommands(root), root)
}

var flagLine = regexp.MustCompile(`^  (-\w,|   ) --`)

func TestHelpFits(t *testing.T) {
	_, commands := documentedCommands()
	for _, c := range commands {
		for _, short := range []bool{true, false} {
			for line := range strings.Lines(help(c, short, maxHelpWidth)) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > maxHelpWidth {
					t.Errorf("%s: a line of %d columns: %s", c.CommandPath(), n, line)
				}
				if strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") {
					t.Errorf("%s: spaces at the end of a line: %q", c.CommandPath(), line)
				}
			}
		}
		_, narrow, _ := strings.Cut(help(c, false, 60), "Flags:\n")
		for line := range strings.Lines(narrow) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 60 {
				t.Errorf("%s: a line of %d columns in a narrow terminal: %s", c.CommandPath(), n, line)
			}
		}
	}
}

func TestShortHelp(t *testing.T) {
	_, commands := documentedCommands()
	for _, c := range commands {
		shown := 0
		text := help(c, true, maxHelpWidth)
		for line := range strings.Lines(text) {
			if flagLine.MatchString(line) {
				shown++
			}
		}
		if shown > maxShortFlags {
			t.Errorf("%s -h shows %d flags, at most %d are allowed: add the command to shortFlags", c.CommandPath(), shown, maxShortFlags)
		}
		if !strings.Contains(text, "--help ") {
			t.Errorf("%s -h does not mention --help", c.CommandPath())
		}
	}
	root, _ := documentedCommands()
	for path, names := range shortFlags {
		c, rest, err := root.Find(strings.Fields(path))
		if err != nil || len(rest) > 0 {
			t.Errorf("shortFlags: no command %s", path)
			continue
		}
		for _, name := range names {
			if c.Flags().Lookup(name) == nil {
				t.Errorf("shortFlags: %s has no flag --%s", path, name)
			}
		}
	}
}

// Each flag is in the long help once; those of the configuration have a section
// of their own, after the examples.
func TestLongHelp(t *testing.T) {
	_, commands := documentedCommands()
	for _, c := range commands {
		text := help(c, false, maxHelpWidth)
		sections := []string{"\nUsage:\n", "\nExamples:\n", "\nFlags:\n", "\nConfiguration flags, also keys of sitelink.toml:\n", "\nExit codes:\n"}
		last := 0
		for _, s := range sections {
			if i := strings.Index(text, s); i >= 0 && i < last {
				t.Errorf("%s: the section %q is misplaced", c.CommandPath(), s)
			} else if i >= 0 {
				last = i
			}
		}
		own, keys, _ := strings.Cut(text, sections[3])
		for line := range strings.Lines(own) {
			if name := strings.Fields(line + " x")[0]; flagLine.MatchString(line) && name == "--base-url" {
				t.Errorf("%s: --base-url is not among the configuration flags", c.CommandPath())
			}
		}
		if c.Flags().Lookup("base-url") != nil && !strings.Contains(keys, "--base-url URL") {
			t.Errorf("%s: the section of configuration flags lacks --base-url", c.CommandPath())
		}
	}
}

// check has the flags that all commands on a site share, so it decides how many there are.
func TestCheckFlags(t *testing.T) {
	const most = 25
	n := 0
	checkCommand(testApp(io.Discard, io.Discard)).Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			n++
		}
	})
	if n > most {
		t.Errorf("check shows %d flags, more than %d: mark keys as rare, or remove some", n, most)
	}
}

func TestCommandGroups(t *testing.T) {
	root, _ := documentedCommands()
	if len(commandGroups) < 4 {
		t.Errorf("%d groups", len(commandGroups))
	}
	var grouped []string
	for _, g := range commandGroups {
		grouped = append(grouped, g.commands...)
	}
	for _, c := range root.Commands() {
		if c.Hidden == slices.Contains(grouped, c.Name()) {
			t.Errorf("the command %s must be hidden or in one of commandGroups", c.Name())
		}
	}
	if len(grouped) != len(slices.Compact(slices.Sorted(slices.Values(grouped)))) {
		t.Errorf("a command is in two groups: %q", grouped)
	}
}

// Each command has an example, and each example is a command line that the
// flags accept.
func TestExamplesParse(t *testing.T) {
	_, commands := documentedCommands()
	for _, c := range commands {
		if c.Name() == "help" {
			continue
		}
		own := false
		for line := range strings.Lines(c.Example) {
			if words := exampleWords(t, line); words != nil {
				found := parseExample(t, line, words)
				own = own || found != nil && strings.HasPrefix(found.CommandPath(), c.CommandPath())
			}
		}
		if !own {
			t.Errorf("%s has no example of its own", c.CommandPath())
		}
	}
}

// exampleWords returns the arguments of sitelink in a line of an example, nil if
// the line does not run it.
func exampleWords(t *testing.T, line string) []string {
	t.Helper()
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "#") {
		return nil
	}
	words, err := splitWords(line)
	if err != nil {
		t.Errorf("%s: %v", line, err)
	}
	i := slices.Index(words, "sitelink")
	if i < 0 {
		return nil
	}
	words = words[i+1:]
	if end := slices.IndexFunc(words, func(w string) bool { return strings.ContainsAny(w[:min(1, len(w))], "|>&") }); end >= 0 {
		words = words[:end]
	}
	return slices.Clip(words)
}

func parseExample(t *testing.T, line string, words []string) *cobra.Command {
	t.Helper()
	root := rootCommand(testApp(io.Discard, io.Discard))
	c, rest, err := root.Find(words)
	if err == nil && !c.DisableFlagParsing {
		err = c.ParseFlags(rest)
	}
	if err == nil {
		err = c.ValidateArgs(c.Flags().Args())
	}
	if err != nil {
		t.Errorf("the example %q: %v", line, err)
	}
	return c
}

// -h and --help print different amounts, whatever stands around them.
func TestHelpFlags(t *testing.T) {
	texts := map[string]string{}
	for _, args := range []string{"check -h", "check --help", "help check", "check public -h --orphans"} {
		var out bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), env{Stdout: &out, Stderr: io.Discard, Getenv: func(string) string { return "" }}); code != exitClean {
			t.Errorf("%s: exit code %d", args, code)
		}
		texts[args] = out.String()
	}
	if texts["check -h"] != texts["check public -h --orphans"] || texts["check --help"] != texts["help check"] {
		t.Error("the same help differs")
	}
	if s, l := len(texts["check -h"]), len(texts["check --help"]); s == 0 || l < 2*s {
		t.Errorf("-h has %d bytes, --help %d", s, l)
	}
}

// maxFlags is how many flags of its own a command may have, beside those of the configuration
// that all commands on a site share.
const maxFlags = 25

// TestFlags counts the flags of each command.
func TestFlags(t *testing.T) {
	root, _ := documentedCommands()
	for _, c := range visibleCommands(root) {
		n := 0
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if key, isKey := f.Value.(*keyFlag); (!isKey || key.key.ID() != key.key.Name) && !f.Hidden && f.Name != "help" && f.Name != "config" {
				n++
			}
		})
		if n > maxFlags {
			t.Errorf("%s has %d flags of its own, more than %d", c.CommandPath(), n, maxFlags)
		}
	}
}

// TestHelpPages: sitelink help NAME prints something for each NAME in a help text.
func TestHelpPages(t *testing.T) {
	root, _ := documentedCommands()
	found := regexp.MustCompile(`sitelink help ([a-z/-]*[a-z])`).FindAllStringSubmatch(helpTexts, -1)
	if len(found) < 10 {
		t.Errorf("%d pages named", len(found))
	}
	for _, m := range found {
		if _, ok := docs.Page(m[1]); !ok {
			if c, _, err := root.Find([]string{m[1]}); err != nil || c == root {
				t.Errorf("sitelink help %s prints nothing", m[1])
			}
		}
	}
}
