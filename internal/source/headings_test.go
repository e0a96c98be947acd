package source

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestHeadings: anchors lead to the headings that create them, and nowhere if
// several positions could have created them. Asking for all at once gives the
// same as asking for each.
func TestHeadings(t *testing.T) {
	project, want := extract(t, "testdata/headings/hugo.txtar")
	docroot := filepath.Join(project, "public")
	s, err := site.Load(t.Context(), docroot, site.Options{})
	testkit.Check(t, err)
	detected, _ := generator.Detect(project, generator.None)
	m, err := Open(t.Context(), Options{Project: project, Docroot: docroot, Generator: detected.Generator})
	testkit.Check(t, err)
	defer m.Close()
	var anchors []Anchor
	for _, line := range want {
		fields := strings.Fields(line)
		anchors = append(anchors, Anchor{strings.TrimPrefix(fields[0], "public/"), fields[1]})
	}
	anchors = append(anchors, anchors[0], Anchor{"no/page.html", "x"})
	got, err := m.Headings(t.Context(), s, anchors)
	testkit.Check(t, err)
	for i, line := range want {
		fields := strings.SplitN(line, " ", 3)
		if text := shownHeading(got[i]); text != fields[2] {
			t.Errorf("%s %s: got %s, want %s", fields[0], fields[1], text, fields[2])
		}
	}
	if a, b := shownHeading(got[0]), shownHeading(got[len(want)]); a != b || got[len(want)+1] != nil {
		t.Errorf("two calls: %s, then %s; without a page: %v", a, b, got[len(want)+1])
	}
}

func shownHeading(h *Heading) string {
	if h == nil {
		return "-"
	}
	return fmt.Sprintf("%s %q", shown(&h.Position), h.Title)
}
