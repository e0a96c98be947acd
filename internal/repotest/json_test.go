package repotest

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rawJSON are the files that write JSON which only sitelink reads, or that holds no text of
// others.
var rawJSON = []string{
	"check/finding.go",              // findings that a hook remembers
	"hook/githook/findings.go",      // the same
	"internal/redirect/write.go",    // the user's rule files
	"internal/destination/undo.go",  // the journal of fix and mv
	"internal/run/receive/book.go",  // calls to send
	"internal/run/setup/record.go",  // what init wrote
	"internal/generator/command.go", // a configuration for Jekyll, in the scratch directory
	"docs/site/main.go",             // the manual
}

// TestHiddenEscaped: each file that encodes JSON escapes hidden characters.
func TestHiddenEscaped(t *testing.T) {
	encodes := regexp.MustCompile(`\bjson\.(Marshal|MarshalIndent|NewEncoder)\(`)
	found := 0
	for _, name := range goFiles(t) {
		text := readFile(t, name)
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "bench/") || strings.HasPrefix(name, "internal/testkit/") || !encodes.MatchString(text) {
			continue
		}
		found++
		escapes := strings.Contains(text, "text.EscapeHidden(") || strings.Contains(text, "text.JSONWriter(")
		if escapes == slices.Contains(rawJSON, name) {
			t.Errorf("%s: write JSON by text.JSONWriter or text.EscapeHidden, or say in rawJSON why not", name)
		}
	}
	if found < 15 {
		t.Errorf("%d files encode JSON, there are more", found)
	}
}
