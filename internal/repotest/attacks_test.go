package repotest

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestAttacks: every item of docs/design/attacks.md names tests, and each of them
// exists.
func TestAttacks(t *testing.T) {
	const document = "docs/design/attacks.md"
	named := regexp.MustCompile("`([a-z/]+)`: ((?:Test|Fuzz)[A-Za-z0-9]+(?:, (?:Test|Fuzz)[A-Za-z0-9]+)*)(?:; |$)")
	tests := map[string]string{} // text of the tests of a directory
	rows := 0
	for line := range strings.Lines(readFile(t, document)) {
		row, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok {
			continue
		}
		rows++
		groups := named.FindAllStringSubmatch(row, -1)
		if groups == nil {
			t.Errorf("%s: no names of tests: %s", document, row)
		}
		for _, m := range groups {
			dir := m[1]
			if _, ok := tests[dir]; !ok {
				tests[dir] = readTests(t, dir)
			}
			for name := range strings.SplitSeq(m[2], ", ") {
				if !strings.Contains(tests[dir], "\nfunc "+name+"(") {
					t.Errorf("%s: package %s has no %s", document, dir, name)
				}
			}
		}
	}
	if rows < 40 {
		t.Errorf("%s: %d rows", document, rows)
	}
}

// readTests returns the text of all test files of a directory.
func readTests(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("%s has no tests: %v", dir, err)
	}
	var all strings.Builder
	for _, name := range files {
		text := testkit.Read(t, name)
		all.Write(text)
	}
	return all.String()
}
