package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
)

// briefSections lists sections as "name pages/files", edges as
// "from>to links/broken".
func briefSections(sections []Section, edges []Edge) (secs, arrows []string) {
	for _, s := range sections {
		secs = append(secs, fmt.Sprintf("%s %d/%d", s.Name, s.Pages, s.Files))
	}
	for _, e := range edges {
		arrows = append(arrows, fmt.Sprintf("%s>%s %d/%d", sections[e.From].Name, sections[e.To].Name, e.Links, e.Broken))
	}
	return secs, arrows
}

func TestSections(t *testing.T) {
	many := files{"index.html": plain}
	for i := range 9 {
		for j := range i + 1 {
			many[fmt.Sprintf("s%d/%d.html", i, j)] = plain + "<a href=/>"
		}
	}
	for _, c := range []struct {
		name  string
		files files
		opt   isite.Options
		limit int
		want  []string
		edges []string
	}{
		{"broken links keep their direction", files{
			"index.html":  plain + "<a href=blog/a.html><a href=gone.html><a href=https://other.example/>",
			"blog/a.html": plain + "<a href=../img/x.png><a href=../img/y.png><a href=b.html><a href=a.html#nope>",
			"img/x.png":   "",
		}, isite.Options{}, 9,
			[]string{"/ 1/1", "blog/ 1/1", "img/ 0/1"},
			[]string{"/>/ 1/1", "/>blog/ 1/0", "blog/>blog/ 2/2", "blog/>img/ 2/1"}},
		{"a directory that does not exist", files{"p.html": plain + "<a href=old/x/y.html><a href=old/>", "d/q.html": plain + "<a href=x/y/z.html><a href=/%64/e>"},
			isite.Options{}, 9, []string{"/ 1/1", "d/ 1/1", "no such directory 0/0"},
			[]string{"/>no such directory 2/2", "d/>d/ 2/2"}},
		{"the section that dominates is split", files{
			"index.html": plain, "about/a.html": plain, "docs/index.html": plain + "<a href=api/a.html><a href=../index.html>",
			"docs/api/a.html": plain + "<a href=../guide/g.html>", "docs/api/b.html": plain, "docs/guide/g.html": plain,
		}, isite.Options{}, 9,
			[]string{"/ 1/1", "about/ 1/1", "docs/ 1/1", "docs/api/ 2/2", "docs/guide/ 1/1"},
			[]string{"docs/>/ 1/0", "docs/>docs/api/ 1/0", "docs/api/>docs/guide/ 1/0"}},
		{"the smallest are put together", many, isite.Options{}, 6,
			[]string{"/ 1/1", "s6/ 7/7", "s7/ 8/8", "s8/ 9/9", "other 21/21"},
			[]string{"s6/>/ 7/0", "s7/>/ 8/0", "s8/>/ 9/0", "other>/ 21/0"}},
		{"below a base path", files{"index.html": plain + "<a href=/sub/d/n.html><a href=/d/>", "d/p.html": plain},
			exampleOrg, 9, []string{"/ 1/1", "d/ 1/1"}, []string{"/>d/ 1/1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := load(t, tempDocroot(t, c.files), c.opt)
			r, err := Run(t.Context(), handle(s), Options{})
			if err != nil {
				t.Fatal(err)
			}
			secs, arrows := briefSections(Sections(handle(s), r.Findings, c.limit))
			if !slices.Equal(secs, c.want) {
				t.Errorf("sections\n got %q\nwant %q", secs, c.want)
			}
			if !slices.Equal(arrows, c.edges) {
				t.Errorf("edges\n got %q\nwant %q", arrows, c.edges)
			}
		})
	}
}

// TestSectionsCountEveryLink: the edges contain each link that a file answers
// or should answer exactly once, and each broken link as broken.
func TestSectionsCountEveryLink(t *testing.T) {
	s := load(t, tempDocroot(t, files{
		"index.html": plain + "<a href=a/><a href=b/c/d.html><a href=a/#x><a href=#top><a href=mailto:x@y.example>",
		"a/i.html":   plain + "<a href=../index.html><img src=no.png usemap=#m><a href=/A/I.html><a href=a%00><a href=../../../x>",
		"b/c/d.html": plain + strings.Repeat("<a href=gone/><a href=../../a/i.html>", 50),
	}), isite.Options{})
	r, err := Run(t.Context(), handle(s), Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, edges := Sections(handle(s), r.Findings, 9)
	links, broken := 0, 0
	for _, e := range edges {
		links += e.Links
		broken += e.Broken
	}
	if want := r.Summary.Links - 1; links != want { // the address of a mailbox leads nowhere
		t.Errorf("%d links on edges, want %d", links, want)
	}
	if broken != r.Summary.Errors || broken == 0 {
		t.Errorf("%d broken links on edges, want %d", broken, r.Summary.Errors)
	}
}
