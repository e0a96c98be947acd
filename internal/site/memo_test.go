package site

import (
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
)

// TestMemo: what a value resolves to does not depend on the values before it,
// although the resolver remembers the part before the fragment.
func TestMemo(t *testing.T) {
	s := loadFiles(t, files{"d/p.html": plain, "a": "", "a ": "", "d/q.html": plain}, Options{})
	p := &s.pages[pageID(t, s, "d/p.html")]
	values := []string{"/a #x", "/a ", " /a", "/a#x ", "/a", "/a #", "http://[bad", "http://[bad#top", "http://[bad", "#x", "#", "", "?q#x", "?q",
		"q.html#%zz", "q.html #x", "q.html", "mailto:a#b", "mailto:a", "data:,x#y", "javascript:a#b", "//h/#x", "//h/", "./#a", "./", "../#b", ".."}
	for _, first := range values {
		for _, second := range values {
			page, l := &scan.Page{}, &scan.Link{}
			with, without := resolver{s: s, PathResolver: host.NewPathResolver(s.Host)}, resolver{s: s, PathResolver: host.NewPathResolver(s.Host)}
			with.open(p, page)
			with.startMemo()
			without.open(p, page)
			for _, v := range []string{first, second} {
				l.Value = []byte(v)
				got, want := with.resolved(page, l, &Link{}), without.resolved(page, l, &Link{})
				if got != want {
					t.Errorf("%q after %q: %+v, want %+v", v, first, got, want)
				}
			}
		}
	}
}
