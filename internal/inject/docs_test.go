package inject

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// docs/guide/link-elements.md lists the themes as the table has them.
func TestManualListsTheThemes(t *testing.T) {
	text, err := os.ReadFile("../../docs/guide/link-elements.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "The table of themes:")
	section, _, _ = strings.Cut(section, "A theme has the name")
	var want strings.Builder
	for _, row := range Themes() {
		fmt.Fprintf(&want, "%-16s%s\n", row.Name, row.Stub)
	}
	if !strings.Contains(section, "```text\n"+want.String()+"```") {
		t.Errorf("documented\n%s\nwant\n%s", section, want.String())
	}
	for _, mark := range []string{"{{/* sitelink:begin */}}" + callOf(".") + "{{/* sitelink:end */}}"} {
		if !strings.Contains(string(text), mark) {
			t.Errorf("%s is not shown", mark)
		}
	}
}
