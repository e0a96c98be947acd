package data

import (
	"bytes"

	"github.com/sitelink/sitelink/internal/scan"
)

// textUse is the use of an element's text.
type textUse uint8

const (
	textNone textUse = iota
	textURL
	textHTML
)

// expandedName is a name with its namespace.
type expandedName struct {
	uri   namespace
	local string
}

// feedRule describes where an element holds links.
type feedRule struct {
	text  textUse
	kind  scan.LinkKind
	attrs []string // without prefix
	// item means that the element is an entry of a feed. entry means that its
	// text is the address of the item around it.
	item, entry bool
	// special, if set, chooses a rule by the attributes.
	special func(d *feedReader, e *element, r *feedRule) *feedRule
	// absolute means that only an absolute URL is a link.
	absolute bool
}

// defaultNamespaces are the namespaces in which names without a namespace, or
// in the namespace of the root element, are looked up.
var defaultNamespaces = map[Root]namespace{
	RootRSS: uriRSS, RootRDF: uriRSS, RootAtom: uriAtom, RootSitemap: uriSitemap, RootSitemapIndex: uriSitemap,
	RootOPML: uriOutline, RootOpenSearch: uriOpenSearch,
}

var rulesByRoot = map[Root]map[expandedName]*feedRule{
	RootRSS: feedRules, RootRDF: feedRules, RootAtom: feedRules,
	RootSitemap: sitemapRules, RootSitemapIndex: sitemapRules,
	RootOPML: {
		{uriOutline, "outline"}: {attrs: []string{"htmlUrl", "xmlUrl", "url"}},
		{uriOutline, "ownerId"}: {text: textURL, kind: scan.KindMetadata},
	},
	RootOpenSearch: {
		{uriOpenSearch, "Url"}:   {kind: scan.KindMetadata, special: openSearchURL},
		{uriOpenSearch, "Image"}: {text: textURL},
	},
}

var (
	textLink = &feedRule{text: textURL}
	textItem = &feedRule{text: textURL, entry: true}
	textPage = &feedRule{text: textHTML}
	textAtom = &feedRule{special: atomText}
	attrURL  = &feedRule{attrs: []string{"url"}}
	attrHref = &feedRule{attrs: []string{"href"}}
	attrSrc  = &feedRule{attrs: []string{"src"}}
	guidLink = &feedRule{text: textURL, entry: true, absolute: true}
	atomHTML = &feedRule{text: textHTML, attrs: []string{"src"}}
	feedItem = &feedRule{item: true}
	// atomEntryLink is the address of an entry.
	atomEntryLink = &feedRule{attrs: []string{"href"}, kind: scan.KindEntry}
	feedRules     = map[expandedName]*feedRule{
		// https://www.rssboard.org/rss-specification and RSS 1.0
		{uriRSS, "item"}:        feedItem,
		{uriRSS, "link"}:        textItem,
		{uriRSS, "guid"}:        {special: permanentLink},
		{uriRSS, "url"}:         textLink, // of image
		{uriRSS, "comments"}:    textLink,
		{uriRSS, "docs"}:        textLink,
		{uriRSS, "description"}: textPage,
		{uriRSS, "enclosure"}:   attrURL,
		{uriRSS, "source"}:      attrURL,
		{uriContent, "encoded"}: textPage,
		// RFC 4287
		{uriAtom, "entry"}:     feedItem,
		{uriAtom, "link"}:      {attrs: []string{"href"}, special: atomLink},
		{uriAtom, "content"}:   textAtom,
		{uriAtom, "summary"}:   textAtom,
		{uriAtom, "title"}:     textAtom,
		{uriAtom, "subtitle"}:  textAtom,
		{uriAtom, "rights"}:    textAtom,
		{uriAtom, "icon"}:      textLink,
		{uriAtom, "logo"}:      textLink,
		{uriAtom, "uri"}:       textLink, // of author and contributor
		{uriAtom, "generator"}: {attrs: []string{"uri"}},
		// https://www.rssboard.org/media-rss
		{uriMedia, "content"}:   attrURL,
		{uriMedia, "thumbnail"}: attrURL,
		{uriMedia, "player"}:    attrURL,
		{uriMedia, "peerLink"}:  attrHref,
		{uriMedia, "subTitle"}:  attrHref,
		{uriMedia, "license"}:   attrHref,
		// https://help.apple.com/itc/podcasts_connect/
		{uriITunes, "image"}:        attrHref,
		{uriITunes, "new-feed-url"}: textLink,
		// https://podcastindex.org/namespace/1.0
		{uriPodcast, "transcript"}: attrURL,
		{uriPodcast, "chapters"}:   attrURL,
		{uriPodcast, "funding"}:    attrURL,
		{uriPodcast, "trailer"}:    attrURL,
		{uriPodcast, "license"}:    attrURL,
		{uriPodcast, "person"}:     {attrs: []string{"href", "img"}},
		{uriPodcast, "source"}:     {attrs: []string{"uri"}},
		// https://web.archive.org/web/2012/http://wellformedweb.org/CommentAPI/
		{uriWFW, "comment"}:    textLink,
		{uriWFW, "commentRss"}: textLink,
	}
	sitemapRules = map[expandedName]*feedRule{
		// https://www.sitemaps.org/protocol.html
		{uriSitemap, "loc"}: {text: textURL, kind: scan.KindEntry},
		// https://developers.google.com/search/docs/crawling-indexing/sitemaps
		{uriSitemapImage, "loc"}:           textLink,
		{uriSitemapImage, "license"}:       textLink,
		{uriSitemapVideo, "thumbnail_loc"}: textLink,
		{uriSitemapVideo, "content_loc"}:   textLink,
		{uriSitemapVideo, "player_loc"}:    textLink,
	}
)

// permanentLink chooses the rule of guid, which is a link unless isPermaLink is
// false. Many guids without that attribute are not URLs, so only absolute ones
// count.
func permanentLink(d *feedReader, _ *element, _ *feedRule) *feedRule {
	if v, _, ok := d.x.attr("isPermaLink"); ok && scan.EqualFold(scan.Trim(v), "false") {
		return nil
	}
	return guidLink
}

// atomLink chooses the rule of link. It is the address of an entry if its
// relation is alternate or missing (RFC 4287, 4.2.7.2).
func atomLink(d *feedReader, _ *element, _ *feedRule) *feedRule {
	rel, _, _ := d.x.attr("rel")
	rel = bytes.TrimPrefix(scan.Trim(rel), []byte("http://www.iana.org/assignments/relation/"))
	if n := len(d.x.open); d.root == RootAtom && n > 0 && d.x.open[n-1].rule == feedItem &&
		(len(rel) == 0 || string(rel) == "alternate") {
		return atomEntryLink
	}
	return attrHref
}

// atomText chooses the rule of a text construct or of content: its text is HTML
// if its type says so (RFC 4287, 3.1.1).
func atomText(d *feedReader, _ *element, _ *feedRule) *feedRule {
	typ, _, _ := d.x.attr("type")
	if typ = scan.Trim(typ); scan.EqualFold(typ, "html") || scan.EqualFold(typ, "text/html") {
		return atomHTML
	}
	return attrSrc
}

// openSearchURL adds the link of a Url element. Its template has parameters in
// braces. Only the text before the query is checked, and a template with
// parameters in that text names no file.
func openSearchURL(d *feedReader, e *element, r *feedRule) *feedRule {
	v, off, ok := d.x.attr("template")
	path, _, query := bytes.Cut(v, []byte("?"))
	if !ok || len(path) == 0 || bytes.IndexByte(path, '{') >= 0 {
		return nil
	}
	d.add(e, v, off, r.kind, "template")
	if query {
		d.s.el.SetRef(off, path)
	}
	return nil
}
