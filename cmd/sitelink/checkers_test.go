package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/docs"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/text"
)

// TestCheckers: each example for people who come from another checker is a command with
// flags that exist, or a line that sitelink.toml accepts. If check lacks a flag of the
// other checker, its error names what does the same.
func TestCheckers(t *testing.T) {
	if n := len(docs.Options()); n < 100 {
		t.Fatalf("only %d options were read", n)
	}
	for _, o := range docs.Options() {
		example := o.Example
		if strings.HasPrefix(example, "--") {
			example = "sitelink check public " + example
		}
		if command, is := strings.CutPrefix(example, "sitelink "); is {
			words := testkit.Must(splitWords(command))(t)
			root := rootCommand(&cli{})
			cmd, rest, err := root.Find(words)
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err != nil || cmd == root {
				t.Errorf("%s %q: %s: %v", o.Checker, o.Names, example, err)
			}
			continue
		}
		dir := t.TempDir()
		testkit.Check(t, os.WriteFile(filepath.Join(dir, "sitelink.toml"), []byte(example+"\n"), 0o600))
		c := &cli{env: env{Getenv: func(string) string { return "" }}}
		if _, err := c.loadConfig(config.Input{Dir: dir}); err != nil {
			t.Errorf("%s %q: %s: %v", o.Checker, o.Names, example, err)
		}
	}
	for _, o := range docs.Options() {
		for _, name := range o.Names {
			root := rootCommand(&cli{})
			cmd, _, _ := root.Find([]string{"check"})
			if strings.Contains(name, " ") || strings.HasPrefix(name, "@") || strings.HasPrefix(name, ".") || len(name) == 1 || cmd.Flags().Lookup(name) != nil {
				continue
			}
			err := cmd.ParseFlags([]string{"--" + name + "=1"})
			if err != nil {
				err = flagError(cmd, err)
			}
			hint, _ := text.Hint(err)
			known := slices.ContainsFunc(docs.Options(), func(o docs.Option) bool {
				return slices.Contains(o.Names, name) && strings.Contains(hint, o.Ours)
			})
			if !known && !strings.HasPrefix(name, "no-") {
				t.Errorf("%s: --%s: %v", o.Checker, name, err)
			}
		}
	}
}
