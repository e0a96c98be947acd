package check

import (
	"fmt"
	"strings"

	"github.com/sitelink/sitelink/internal/host"

	isite "github.com/sitelink/sitelink/internal/site"
)

// The address of an entry of a sitemap or feed is judged by what it is for:
// readers and search engines come by it to a page of this site.

// entryCause says why the address of an entry is reported although a file
// answers; 0 when there is no reason.
func entryCause(s *isite.Site, kind isite.PageKind, l *isite.Link, state host.State) cause {
	if kind != isite.PageSitemap && kind != isite.PageIndex || !state.Answers() {
		return 0
	}
	target, isPage := s.PageOf(l.Node)
	switch {
	case state == host.StateRedirect, state == host.StateViaRedirect, state == host.StateAlias:
		return causeMoved
	case kind == isite.PageSitemap:
		if isPage && s.Page(target).NoIndex() {
			return causeNoIndex
		}
	case isPage && s.Page(target).Kind() == isite.PageSitemap:
	case !isPage && strings.HasSuffix(s.Tree().Name(l.Node), ".txt"):
		// A list of addresses is a sitemap, too.
	default:
		return causeNoSitemap
	}
	return 0
}

// judge says what a bad link of a page is reported as.
func judge(s *isite.Site, id isite.PageID, b badLink) judgement {
	j := b.why.judgement()
	if p := s.Page(id); j.verdict == Error && p.All()[b.link].IsEntry() {
		switch p.Kind() {
		case isite.PageSitemap, isite.PageIndex:
			j.code = SitemapEntry
		case isite.PageFeed, isite.PageJSONFeed:
			j.code = FeedEntry
		}
	}
	return j
}

// underlying returns the code that a link would have if it were no entry; ""
// when it is none, or when nothing is wrong with it as a link.
func underlying(d *isite.Detail, code Code) Code {
	if (code == SitemapEntry || code == FeedEntry) && d.State.IsError() {
		return judgementOf[d.State].code
	}
	return ""
}

// entryMessage says what is wrong with an entry.
func entryMessage(s *isite.Site, d *isite.Detail, f *Link) string {
	path, _, _ := strings.Cut(d.Target, "?")
	switch {
	case f.Code == NoIndexInSitemap:
		return "the sitemap lists " + path + ", which asks not to be indexed"
	case d.State == host.StateAlias:
		to := ""
		if target, ok := s.PageOf(d.Node); ok {
			to = s.Page(target).Alias()
		}
		return fmt.Sprintf("the sitemap lists %s, which only sends visitors on to %s", path, to)
	case d.State == host.StateRedirect, d.State == host.StateViaRedirect:
		return fmt.Sprintf("the sitemap lists %s, which redirects to %s", path, d.Final)
	case d.State.Answers():
		if target, ok := s.PageOf(d.Node); ok && s.Page(target).Kind() == isite.PageIndex {
			if s.Path(target) == f.Page {
				return "the sitemap index lists itself"
			}
			return "the sitemap index lists " + path + ", which is an index too: search engines do not follow it"
		}
		return "the sitemap index lists " + path + ", which is no sitemap"
	}
	g := *f
	g.Code = underlying(d, f.Code)
	what := "the sitemap lists it, but "
	if f.Code == FeedEntry {
		what = "the feed leads to it, but "
	}
	if g.Code == MissingFragment {
		return what + fmt.Sprintf("%s has no element with id %q", s.Tree().Path(d.Node), f.Fragment)
	}
	return what + plainMessage(s, d, &g)
}
