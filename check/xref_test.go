package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/site"
)

// TestXref: LL-107, the found files with their referrers, and the pages with
// what they link to.
func TestXref(t *testing.T) {
	s := load(t, tempDocroot(t, files{
		"index.html": page("a.html", "sub/", "a.html#x", "gone.html", "i.gif", "noidx/", "mailto:x@y.z"),
		"a.html":     page("/", "#self", "i.gif"), "sub/index.html": page("../i.gif", "http://h.example/"), "i.gif": "", "noidx/t.txt": "", "alone.html": plain,
	}), site.Options{Profile: site.Linklint})
	x := NewXref(s)
	var to, from []string
	tree := s.Tree()
	for n := range x.Targets() {
		var pages []string
		for id := range x.To(n) {
			pages = append(pages, s.Path(id))
		}
		if len(pages) != x.Referrers(n) {
			t.Errorf("%s has %d referrers, listed are %q", tree.Path(n), x.Referrers(n), pages)
		}
		to = append(to, tree.Path(n)+" < "+strings.Join(pages, " "))
	}
	slices.Sort(to)
	if want := []string{"a.html < a.html index.html", "i.gif < a.html index.html sub/index.html", "index.html < a.html", "noidx < index.html",
		"sub/index.html < index.html"}; !slices.Equal(to, want) {
		t.Errorf("LL-107: got\n\t%s\nwant\n\t%s", strings.Join(to, "\n\t"), strings.Join(want, "\n\t"))
	}
	for i := range s.Pages() {
		var targets []string
		for n := range x.From(site.PageID(i)) {
			targets = append(targets, tree.Path(n))
		}
		from = append(from, s.Path(site.PageID(i))+" > "+strings.Join(targets, " "))
	}
	if want := []string{"a.html > index.html a.html i.gif", "alone.html > ", "index.html > a.html sub/index.html i.gif noidx", "sub/index.html > i.gif"}; !slices.Equal(from, want) {
		t.Errorf("LL-107: got\n\t%s\nwant\n\t%s", strings.Join(from, "\n\t"), strings.Join(want, "\n\t"))
	}
	for n := range x.Targets() { // an iterator that is left early
		if x.Referrers(n) > 0 {
			break
		}
		t.Fatal("a target without referrer")
	}
}
