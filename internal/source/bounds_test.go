package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/testkit"
)

// What a page may cost to compare with templates is counted, the same with any number of
// workers, and what is left out is named.
func TestCostly(t *testing.T) {
	project := t.TempDir()
	var page, layout strings.Builder
	for i := range 50 {
		fmt.Fprintf(&page, "<a class=%d href=/m/x%d>z</a>\n", i, i)
		fmt.Fprintf(&layout, "<a class={{ . }} href=\"/m{{ a }}/x%d\">\n", i)
	}
	for name, text := range map[string]string{
		"hugo.toml": "title = 'x'\n", "public/index.html": page.String(), "layouts/index.html": layout.String(),
		"content/a.md": strings.Repeat("*a_ ", 20_000), "public/a/index.html": "<p><a href=/y>y</a>",
	} {
		testkit.Check(t, os.MkdirAll(filepath.Dir(filepath.Join(project, name)), 0o755))
		testkit.Check(t, os.WriteFile(filepath.Join(project, name), []byte(text), 0o644))
	}
	docroot := filepath.Join(project, "public")
	s, err := site.Load(t.Context(), docroot, site.Options{})
	testkit.Check(t, err)
	m, err := Open(t.Context(), Options{Project: project, Docroot: docroot, Generator: Hugo})
	testkit.Check(t, err)
	defer m.Close()
	r, err := m.useSite(s)
	testkit.Check(t, err)
	defer r.Close()
	links := []BuiltLink{{Page: "index.html", Raw: "/m/x7", Offset: int64(strings.Index(page.String(), "/m/x7"))}}
	for _, tt := range []struct {
		perPage int
		costly  int
	}{{1 << 20, 0}, {-32 * page.Len(), 1}} {
		c := &composer{Map: m, perPage: tt.perPage}
		c.locatePage(r, links, make([]Place, 1))
		if got := m.Costly(); len(got) != tt.costly || len(got) > 0 && got[0] != "layouts/index.html" {
			t.Errorf("allowed %d: costly %q", tt.perPage, got)
		}
	}
	(&composer{Map: m}).locatePage(r, []BuiltLink{{Page: "a/index.html", Raw: "/y", Offset: 13}}, make([]Place, 1))
	if got := m.Costly(); len(got) != 2 || got[0] != "content/a.md" {
		t.Errorf("costly %q", got)
	}
}

// Nothing is looked for farther away than a bound: a template or page may be a megabyte
// of one element, action or quote.
func TestOutlineIsBounded(t *testing.T) {
	deep := read.NewOutline([]byte("<i>" + strings.Repeat("<b>", read.MaxDepth) + "</i><p>"))
	if got := deep.Tags[len(deep.Tags)-1].Parent; got != read.MaxDepth {
		t.Errorf("an end tag ends element %d, which is farther away than %d", got, read.MaxDepth)
	}
	if got := read.NewOutline([]byte("<script><a href=x><script><b>")); len(got.Tags) != 4 {
		t.Errorf("%d tags", len(got.Tags))
	}
	long := read.MaskActions([]byte(`{{ "` + strings.Repeat("a", read.FarAround) + `}}b" }}{{ c`))
	if want := strings.Repeat("\x01", read.FarAround+6) + `b" }}{{ c`; string(long) != want {
		t.Errorf("masked %d bytes", strings.Count(string(long), "\x01"))
	}
	far := read.NewOutline([]byte("<p>" + strings.Repeat(" ", read.FarAround) + "<a href=x>"))
	if far.IsFirst(1) || far.Before(1) != "" {
		t.Error("looks too far back")
	}
}

// Comparing what is around two tags costs what it takes, and no more than so many texts
// with the same first word are looked for.
func TestSearchIsBounded(t *testing.T) {
	long := read.NewOutline([]byte("<p " + strings.Repeat("a=b ", 1000) + "><a href=x>"))
	if _, cost, _ := fitParents(long, 1, long, 1); cost < 10_000 {
		t.Errorf("tags of 4,000 bytes cost %d", cost)
	}
	w := newTextSearch()
	for i := range 2 * maxTexts {
		w.add(fmt.Sprintf("/a/ %d", i))
	}
	if n := len(w.byWord["/a/"]); n != maxTexts {
		t.Errorf("looks for %d texts", n)
	}
}
