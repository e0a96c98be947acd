package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shownOutput is a block that shows what a command of sitelink prints on stdout,
// in the repository's root or, after "demo", in a copy of testdata/demo.
var shownOutput = regexp.MustCompile("(?m)^<!-- output( in demo)?: sitelink (.*) -->\n```(?:text)?\n((?:.*\n)*?)```$")

// TestDocOutputs runs the commands whose output the documents show.
func TestDocOutputs(t *testing.T) {
	binary := build(t, "./cmd/sitelink")
	// Without the generators of the developer's machine.
	t.Setenv("PATH", t.TempDir())
	demo := t.TempDir()
	if err := os.CopyFS(demo, os.DirFS(filepath.Join("testdata", "demo"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(demo, ".git"), 0o755); err != nil { // the root of a repository
		t.Fatal(err)
	}
	shown := 0
	for _, document := range documents(t) {
		text := readFile(t, document)
		changed := shownOutput.ReplaceAllStringFunc(text, func(block string) string {
			shown++
			match := shownOutput.FindStringSubmatch(block)
			dir := root
			if match[1] != "" {
				dir = demo
			}
			got, _, _ := runSitelink(t, binary, dir, strings.Fields(match[2])...)
			if got != match[3] && !*update {
				t.Errorf("%s does not show what sitelink %s prints; run go test ./internal/house -update\ngot:\n%s\nwant:\n%s",
					document, match[2], got, match[3])
			}
			return strings.TrimSuffix(block, match[3]+"```") + got + "```"
		})
		if *update && changed != text {
			if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(document)), []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if shown < 4 {
		t.Errorf("only %d outputs found", shown)
	}
}
