package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"

	isite "github.com/sitelink/sitelink/internal/site"
)

// TestXref: LL-107, the files found with their referrers, and the pages with
// their targets.
func TestXref(t *testing.T) {
	s := load(t, tempDocroot(t, files{
		"index.html": page("a.html", "sub/", "a.html#x", "gone.html", "i.gif", "noidx/", "mailto:x@y.z"),
		"a.html":     page("/", "#self", "i.gif"), "sub/index.html": page("../i.gif", "http://h.example/"), "i.gif": "", "noidx/t.txt": "", "alone.html": plain,
	}), isite.Options{Profile: host.Linklint})
	x := NewXref(handle(s))
	var to, from []string
	for file, n := range x.Targets() {
		pages := slices.Collect(x.To(file))
		if len(pages) != n {
			t.Errorf("%d pages link to %s, but the list has %q", n, file, pages)
		}
		to = append(to, file+" < "+strings.Join(pages, " "))
	}
	slices.Sort(to)
	if want := []string{"a.html < a.html index.html", "i.gif < a.html index.html sub/index.html", "index.html < a.html", "noidx < index.html",
		"sub/index.html < index.html"}; !slices.Equal(to, want) {
		t.Errorf("LL-107: got\n\t%s\nwant\n\t%s", strings.Join(to, "\n\t"), strings.Join(want, "\n\t"))
	}
	for i := range s.Pages() {
		page := s.Path(isite.PageID(i))
		from = append(from, page+" > "+strings.Join(slices.Collect(x.From(page)), " "))
	}
	if want := []string{"a.html > index.html a.html i.gif", "alone.html > ", "index.html > a.html sub/index.html i.gif noidx", "sub/index.html > i.gif"}; !slices.Equal(from, want) {
		t.Errorf("LL-107: got\n\t%s\nwant\n\t%s", strings.Join(from, "\n\t"), strings.Join(want, "\n\t"))
	}
	for file, n := range x.Targets() { // stop the iterator early
		if n > 0 {
			break
		}
		t.Fatalf("no page links to the target %s", file)
	}
}
