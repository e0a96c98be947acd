package check

import (
	"cmp"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	isite "github.com/sitelink/sitelink/internal/site"
)

// Messages say in one line what is wrong with which object, why, and where it
// helps what to do next. They begin with a lower case letter and have no full
// stop: reports put the place in front of them and the code after them.

// message describes what is wrong with a link. l has the verdict and the code.
func message(s *isite.Site, d *isite.Detail, l *Link) string {
	m := linkMessage(s, d, l)
	if d.Base != "" && l.Verdict == Error && l.Code != FeedRelative {
		m += "; the address was resolved against " + d.Base
	}
	if d.Note != "" && l.Code != MissingFragment && l.Code != BadURL {
		m += " (" + d.Note + ")"
	}
	if len(m) > maxMessage { // the target has the whole address
		m = strings.ToValidUTF8(m[:maxMessage], "") + "..."
	}
	return m
}

// maxMessage is how long a message is at most, in bytes. Addresses can have 8 KiB.
const maxMessage = 1 << 10

func linkMessage(s *isite.Site, d *isite.Detail, l *Link) string {
	path, _, _ := strings.Cut(d.Target, "?")
	switch l.Code {
	case MissingFile:
		// The author may mean a published Markdown file: an alternate of a page, or another
		// file for language models.
		if isMarkdownPath(l.Raw) && l.Element != "link" {
			if page, known := s.Lookup(l.Page); !known || !isMarkdown(s, page) {
				generator, _ := s.Advice()
				return "file not found: " + path + markdownAdvice(generator)
			}
		}
		return "file not found: " + path
	case MissingDirectory:
		return "directory not found: " + path
	case MissingIndex:
		if d.Final != "" {
			path, _, _ = strings.Cut(d.Final, "?")
		}
		return fmt.Sprintf("%s has no index file (%s)", path, strings.Join(s.IndexNames(), ", "))
	case MissingFragment:
		if d.Kind == scan.KindFont {
			return fmt.Sprintf("%s has no font with id %q, and few browsers load SVG fonts: add a source in WOFF2", s.Tree().Path(d.Node), shownFragment(l.Fragment))
		}
		if ownAddress(s, l.Page, l.Raw, l.Fragment) != "" {
			return fmt.Sprintf("the base element makes #%s lead to %s, which has no such id; this page has it", shownFragment(l.Fragment), s.Tree().Path(d.Node))
		}
		if _, isPage := s.PageOf(d.Node); !isPage {
			return fmt.Sprintf("%s has no line %s", s.Tree().Path(d.Node), shownFragment(l.Fragment))
		}
		return fmt.Sprintf("%s has no element with id %q", s.Tree().Path(d.Node), shownFragment(l.Fragment))
	case MissingMap:
		if l.Fragment == "" {
			return "usemap names no map; write # and the name of a map element of this page"
		}
		return fmt.Sprintf("the page has no map named %q", shownFragment(l.Fragment))
	case WrongCase:
		return fmt.Sprintf("the letter case of %s is wrong: the file is %s", path, s.Tree().Path(d.Node))
	case MissingBase:
		if d.State == host.StateGluedBase {
			return fmt.Sprintf("%s lacks a slash after the base path %s of the site: %s is meant", path, s.BasePath(), d.Meant)
		}
		_, meant := s.Public(d.Meant)
		return fmt.Sprintf("%s lacks the base path %s/ of the site: %s is there", path, strings.TrimSuffix(meant, d.Target), meant)
	case WrongHost:
		_, host, _ := strings.Cut(path, "://")
		host, _, _ = strings.Cut(host, "/")
		switch {
		case strings.HasPrefix(path, "/"):
			return fmt.Sprintf("browsers look for %s on this site, because a slash is missing after the scheme", path)
		case host == "http" || host == "https":
			return fmt.Sprintf("browsers look for a host called %s: the address has two schemes", host)
		case d.Meant == "":
			return fmt.Sprintf("browsers look for a host called %s, not for /%s on this site", host, host)
		}
		return fmt.Sprintf("browsers look for a host called %s: %s is meant", host, d.Meant)
	case LocalAddress:
		if d.State == host.StateDevServer {
			return path + " is the address of the generator's server on the author's machine: visitors find " + d.Meant + " on this site"
		}
		return "visitors cannot reach " + path + ": it is an address of the author's machine or network, as a development build has; build the site for its base URL"
	case MixedContent:
		return "browsers do not load this by http:, because the page has an https address (mixed content)"
	case DeadScheme:
		switch scheme, _, _ := strings.Cut(path, ":"); {
		case scheme == "file":
			return "browsers open no file: address from a page of a site"
		case len(scheme) == 1:
			return fmt.Sprintf("browsers take %s: for an unknown scheme; it is a drive of the author's machine", strings.ToUpper(scheme))
		default:
			return fmt.Sprintf("no browser knows the scheme %s:", scheme)
		}
	case OutsideDocroot:
		switch {
		case d.State == host.StateBehindSymlink:
			return path + " goes through a symbolic link that leaves the docroot; a deployment may not copy its target"
		case l.Verdict == Warning:
			return "the link climbs above the root of the site; browsers stop there and request " + path
		}
		return "the link climbs above the root of the site, and " + path + " is not found there"
	case BrokenSymlink:
		if d.Note != "" {
			return path + " leads to a broken symbolic link"
		}
		return path + " is a symbolic link whose target does not exist"
	case Unreadable:
		if l.Verdict == Warning {
			return "only the owner of " + path + " may read it, so the server will refuse it; allow it with chmod a+r"
		}
		if d.Status != http.StatusForbidden && d.Status != http.StatusNotFound && d.Note != "" {
			return "the server does not send " + path
		}
		return "the server has no permission to read " + path
	case SpecialFile:
		return path + " is a pipe, socket or device, not a regular file"
	case BadURL:
		if d.Status != 0 {
			return fmt.Sprintf("the host refuses %s: %s", path, d.Note)
		}
		return "not a valid URL: " + d.Note
	case EmptyLink:
		if l.Verdict == Warning {
			return strings.TrimSpace(l.Raw) + " names no recipient"
		}
		return cmp.Or(l.Attribute, "the address") + " is empty, so browsers load nothing"
	case MappingLoop:
		return "the map rules form a loop"
	case ViaRedirect:
		if target, ok := s.PageOf(d.Node); ok && d.State == host.StateAlias {
			return fmt.Sprintf("%s is an alias page that sends visitors on to %s", path, s.Page(target).Alias())
		}
		return fmt.Sprintf("%s redirects to %s", path, d.Final)
	case EndlessRedirect:
		if d.Status == http.StatusRequestURITooLong {
			return "the host redirects " + path + " without end"
		}
		return "the host redirects " + path + " in a loop"
	case UnresolvedRef:
		if d.Kind == scan.KindUndefined {
			return fmt.Sprintf("the label %q has no definition, so the brackets are shown as text", d.Raw)
		}
		return "the generator could not resolve a reference to a page, and wrote this value instead"
	case Fallback:
		return fmt.Sprintf("file not found: %s; the host sends its fallback page %s instead", path, s.Tree().Path(d.Node))
	case Autoindex:
		return path + " has no index file, so the host shows a directory listing"
	case Backslash:
		return "the link to " + path + " contains a backslash; write a slash"
	case DoubleSlash:
		return path + " contains an empty path segment (//)"
	case ServerDependent:
		return "not every server finds " + path
	case FeedRelative:
		return fmt.Sprintf("feed readers resolve this link against %s and find nothing; it only works relative to the feed", d.Base)
	case SitemapEntry, FeedEntry, NoIndexInSitemap:
		return entryMessage(s, d, l)
	case ScriptFragment:
		return fmt.Sprintf("the fragment #%s of %s is left to a script", l.Fragment, s.Tree().Path(d.Node))
	case Credentials:
		return "the URL contains a user name or password, which every visitor can see"
	}
	return string(l.Code)
}

// markdownAdvice says what to do about the path of a Markdown file that a generator
// left as it is.
func markdownAdvice(generator string) string {
	switch generator {
	case "hugo":
		return "; Hugo did not turn this path of a Markdown file into an address: correct it, or let Hugo's link render hook resolve such paths"
	case "mkdocs", "docusaurus", "zola":
		return "; no page is made from a Markdown file at this path: correct it"
	}
	return "; this is the path of a Markdown file that the generator did not turn into an address: correct it, or write the address of the page"
}

// entryMessage describes what is wrong with an entry of a sitemap or feed.
func entryMessage(s *isite.Site, d *isite.Detail, l *Link) string {
	path, _, _ := strings.Cut(d.Target, "?")
	target, isPage := s.PageOf(d.Node)
	own, _ := s.Lookup(l.Page)
	from, known := s.PageOf(own)
	switch {
	case l.Code == NoIndexInSitemap:
		return "the sitemap lists " + path + ", but that page asks search engines not to index it"
	case d.State == host.StateAlias:
		to := ""
		if isPage {
			to = s.Page(target).Alias()
		}
		return fmt.Sprintf("the sitemap lists %s, which is an alias page that sends visitors on to %s", path, to)
	case d.State == host.StateViaRedirect:
		return fmt.Sprintf("the sitemap lists %s, which redirects to %s", path, d.Final)
	case !d.State.Answers():
		plain := *l
		plain.Code = l.linkCode
		return entryKind(l) + linkMessage(s, d, &plain)
	case !known || s.Page(from).Kind() != isite.PageIndex:
		return entryKind(l) + fmt.Sprintf("%s has no element with id %q", s.Tree().Path(d.Node), shownFragment(l.Fragment))
	case !isPage || s.Page(target).Kind() != isite.PageIndex:
		return "the sitemap index lists " + path + ", which is not a sitemap"
	case s.Path(target) == l.Page:
		return "the sitemap index lists itself"
	}
	return "the sitemap index lists " + path + ", which is a sitemap index too; search engines do not follow it"
}

// feedRelativeMessage describes links that are relative to their feeds. first is
// the message of the first link.
func feedRelativeMessage(links, feeds int, first string, relativeURLs bool) string {
	cure := "; add xml:base with the address of the feed to the feed's root element"
	if relativeURLs {
		cure = "; Hugo writes such links with relativeURLs = true: set it to false, or add xml:base with the address of the feed to the feed's root element"
	}
	if links == 1 {
		return first + cure
	}
	of := "the feed"
	if feeds > 1 {
		of = fmt.Sprintf("%d feeds", feeds)
	}
	return fmt.Sprintf("%d links of %s only work relative to the feed, but feed readers resolve them against the address of the item", links, of) + cure
}

func entryKind(l *Link) string {
	if l.Code == FeedEntry {
		return "broken feed entry: "
	}
	return "broken sitemap entry: "
}

// isMarkdownPath reports whether a link, as written, is the relative path of a
// Markdown file. Authors write such a path to link to another page, and
// generators leave it unchanged when they cannot find the file.
func isMarkdownPath(raw string) bool {
	raw, _ = cutValue(raw)
	if strings.Contains(raw, ":") || strings.HasPrefix(raw, "//") {
		return false
	}
	switch strings.ToLower(path.Ext(raw)) {
	case ".md", ".markdown", ".mdown", ".mdx":
		return true
	}
	return false
}
