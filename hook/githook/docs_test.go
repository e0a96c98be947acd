package githook

import (
	"os"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// docs/guide/git-hooks.md shows what `hook install` prints for each manager, and
// .pre-commit-hooks.yaml has the id that its snippet names.
func TestSnippetsDocumented(t *testing.T) {
	manual, err := os.ReadFile("../../docs/guide/git-hooks.md")
	testkit.Check(t, err)
	manifest, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	testkit.Check(t, err)
	if len(snippets) != 5 {
		t.Fatalf("%d snippets", len(snippets))
	}
	for name, text := range snippets {
		if !strings.Contains(string(manual), "\n"+text+"```\n") {
			t.Errorf("docs/guide/git-hooks.md does not show the snippet of %s", name)
		}
	}
	if !strings.Contains(string(manifest), "- id: sitelink\n") {
		t.Error(".pre-commit-hooks.yaml has no id sitelink")
	}
}
