package repotest

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/docs"
)

// shownOutput is a block that shows what a command of sitelink prints, in the
// repository's root or in a project of testdata/start.txtar. With "stderr", the
// block has the messages too, before the report.
var shownOutput = regexp.MustCompile("(?m)^<!-- output(?: in (\\w+))?( with stderr)?: sitelink (.*) -->\n```(?:text)?\n((?:.*\n)*?)```$")

// gitVersion and watchLimit are what doctor prints of the machine.
var (
	gitVersion = regexp.MustCompile(`\bgit 2\.\d+`)
	watchLimit = regexp.MustCompile(`\ballows [\d,]+`)
)

// TestDocOutputs runs the commands that the documents show the output of.
func TestDocOutputs(t *testing.T) {
	binary := build(t, "./cmd/sitelink")
	shown := 0
	for _, document := range documents(t) {
		text := readFile(t, document)
		if !shownOutput.MatchString(text) {
			continue
		}
		dir := projects(t) // of its own, because init writes into one
		changed := shownOutput.ReplaceAllStringFunc(text, func(block string) string {
			shown++
			match := shownOutput.FindStringSubmatch(block)
			in := root
			if match[1] != "" {
				in = filepath.Join(dir, match[1])
			}
			got, _, stderr := runSitelink(t, binary, in, strings.Fields(match[3])...)
			if match[2] != "" {
				got = stderr + got
			}
			got = gitVersion.ReplaceAllString(got, "git 2.39")
			got = watchLimit.ReplaceAllString(got, "allows 192,536")
			if got != match[4] && !*update {
				t.Errorf("%s does not show what sitelink %s prints; run go test ./internal/repotest -update\ngot:\n%s\nwant:\n%s",
					document, match[3], got, match[4])
			}
			return strings.TrimSuffix(block, match[4]+"```") + got + "```"
		})
		if *update && changed != text {
			write(t, filepath.Join(root, filepath.FromSlash(document)), changed)
		}
	}
	if shown < 6 {
		t.Errorf("only %d outputs found", shown)
	}
}

// shownFinding is the first line of a finding in a document.
var shownFinding = regexp.MustCompile(`(?m)^ {0,4}\S+: (?:fixed|error|warning): (.*) \[([a-z-]+)\]$`)

// TestDocFindings: a finding that a document shows begins with the words that
// sitelink prints today for its code, up to the first name: "directory not
// found:", no longer "no directory answers".
func TestDocFindings(t *testing.T) {
	words := regexp.MustCompile(`^(?:[a-z]+:? )*`)
	known := map[string]string{}
	for _, c := range docs.Codes() {
		if m := shownFinding.FindStringSubmatch(c.Finding); m != nil {
			known[c.Name] = words.FindString(m[1])
		}
	}
	shown := 0
	for _, document := range documents(t) {
		for _, m := range shownFinding.FindAllStringSubmatch(readFile(t, document), -1) {
			shown++
			if document == "docs/design/recipes.md" {
				continue // its code does not exist yet
			}
			if got := words.FindString(m[1]); got != known[m[2]] {
				t.Errorf("%s shows %q for %s; sitelink writes %q", document, m[1], m[2], known[m[2]])
			}
		}
	}
	if shown < 60 || len(known) < 60 {
		t.Errorf("%d findings in the documents, %d codes", shown, len(known))
	}
}
