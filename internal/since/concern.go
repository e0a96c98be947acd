package since

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// maxNamed is how many pages of each kind a finding names.
const maxNamed = 3

// Links counts the broken links among findings that lead to what is gone.
func (g *Gone) Links(findings []check.Finding) {
	if len(g.list) == 0 {
		return
	}
	for i := range findings {
		f := &findings[i]
		if f.Target == "" || f.Element == "" && f.Raw == "" {
			continue
		}
		for _, n := range g.at(f.Target, f.Fragment) {
			c := &g.list[n].concerns
			c.Links += max(1, f.Count)
			if len(c.Pages) < maxNamed && !slices.Contains(c.Pages, f.Page) {
				c.Pages = append(c.Pages, f.Page)
			}
		}
	}
}

// Mention notes that a page of another site, the source, links to a URL of this
// one.
func (g *Gone) Mention(source, target string) {
	target, fragment, _ := strings.Cut(target, "#")
	r, err := g.site.Request(target)
	if err != nil || !strings.HasPrefix(r.Target, "/") {
		return
	}
	for _, n := range g.at(r.Target, fragment) {
		c := &g.list[n].concerns
		c.Mentions++
		// The smallest, because stores list mentions in no particular order.
		c.Sources = append(c.Sources, source)
		slices.Sort(c.Sources)
		c.Sources = slices.Compact(c.Sources)
		c.Sources = c.Sources[:min(len(c.Sources), maxNamed)]
	}
}

// at returns what is gone of what a link asks for: an address, or the id of a page.
// target is a site path.
func (g *Gone) at(target, fragment string) []int {
	target, _, _ = strings.Cut(target, "?")
	target, ok := strings.CutPrefix(target, g.site.BasePath())
	if !ok {
		return nil
	}
	found := g.byPath[string(weburl.PercentDecode(nil, target))]
	if len(found) == 0 {
		return nil
	}
	decoded := string(weburl.PercentDecode(nil, fragment))
	var out []int
	for _, n := range found {
		if id := g.list[n].id; id == "" || id == fragment || id == decoded {
			out = append(out, n)
		}
	}
	return out
}

// Concern adds to the findings of a check, those of [Gone.Findings] among them, whom
// it concerns that something is gone. Call it after [Gone.Links], [Gone.Mention]
// and [Gone.ReadLog].
func (g *Gone) Concern(findings []check.Finding) {
	for i := range g.list {
		x := &g.list[i]
		x.concerns.Referrers = slices.SortedFunc(maps.Keys(x.referrers), func(a, b string) int {
			return cmp.Or(cmp.Compare(x.referrers[b], x.referrers[a]), strings.Compare(a, b))
		})
		x.concerns.Referrers = x.concerns.Referrers[:min(len(x.concerns.Referrers), maxNamed)]
	}
	for i := range findings {
		f := &findings[i]
		if n, ok := g.index(f); ok {
			x := &g.list[n]
			f.Message = g.message(x)
			if c := &x.concerns; c.Links+c.Mentions+c.Requests > 0 {
				f.Concerns = c
			}
		}
	}
}

// message says what is gone, and whom it concerns as far as that is known.
func (g *Gone) message(x *gone) string {
	var m string
	switch target := g.site.BasePath() + x.address; {
	case x.id != "":
		m = fmt.Sprintf("%s had the id %q %s and lost it: links to it show the top of the page", target, x.id, g.when)
	case x.status == 200:
		m = fmt.Sprintf("%s answered %s, and the host has only a directory listing or its fallback page for it now: add an alias or a redirect", target, g.when)
	case x.status != 0 && x.status != 404:
		m = fmt.Sprintf("%s answered %s, and the host refuses it now with status %d", target, g.when, x.status)
	default:
		m = fmt.Sprintf("%s answered %s and does not answer now: add an alias or a redirect", target, g.when)
	}
	if who := whom(&x.concerns); len(who) > 0 {
		m += "; used by " + strings.Join(who, ", ")
	}
	return m
}

// whom lists who relies on an address or an anchor.
func whom(c *check.Concerns) (who []string) {
	if c.Links > 0 {
		who = append(who, named(text.Count(c.Links, "link")+" of this site", c.Pages, len(c.Pages) < maxNamed))
	}
	if c.Mentions > 0 {
		who = append(who, named(text.Count(c.Mentions, "received mention"), c.Sources, c.Mentions == len(c.Sources)))
	}
	if c.Requests > 0 {
		who = append(who, named(text.Count(c.Requests, "request"), c.Referrers, false))
	}
	return who
}

// named adds to a count of links where they are: all places, or the first.
func named(counted string, places []string, all bool) string {
	switch {
	case len(places) == 0:
		return counted
	case all:
		return counted + " (" + strings.Join(places, ", ") + ")"
	}
	return counted + " (such as from " + places[0] + ")"
}
