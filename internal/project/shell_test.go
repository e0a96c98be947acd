package project

import (
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestCommandsBound: a Makefile or package.json that calls itself in ever more ways is read as
// far as the limits go. Without them, the first case does not end.
func TestCommandsBound(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"targets":   {"Makefile": "html: " + strings.Repeat("a ", 2000) + "\na: " + strings.Repeat("b ", 2000) + "\nb: " + strings.Repeat("c ", 2000) + "\nc:\n\techo\n"},
		"variables": {"Makefile": "X = " + strings.Repeat("$(Y)", 200) + "\nY = " + strings.Repeat("$(Z)", 200) + "\nZ = " + strings.Repeat("hugo;", 200) + "\nhtml:\n\t$(X)\n"},
		"commands":  {"Makefile": "html:\n" + strings.Repeat("\thugo; hugo\n", 20_000)},
		"scripts":   {"package.json": `{"scripts": {"build": "` + strings.Repeat("npm run a;", 1000) + `", "a": "` + strings.Repeat("npm run b;", 1000) + `", "b": "` + strings.Repeat("npm run build;", 1000) + `"}}`},
	} {
		dir := t.TempDir()
		testkit.AddFiles(t, dir, files)
		s := &survey{Project: &Project{Dir: dir, Root: dir, dirs: []string{dir}}, own: dir}
		s.scripts()
		if n := len(s.made); n > maxCommands {
			t.Errorf("%s: %d projects built", name, n)
		}
	}
}
