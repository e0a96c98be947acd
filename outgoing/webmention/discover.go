package webmention

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/answer"
)

// Discover looks for the target's endpoint (section 3.1.2): the first Link
// header with the relation webmention, else the first <link> or <a> with it in
// the order of the document. A relative address is resolved against the address
// of the page after redirects; an empty one is that page. The answer of an
// earlier notice is never used again: endpoints may be good for one notice only.
//
// A page that is gone has no endpoint; one that fails for now is an error of
// type [*answer.StatusError].
func (s *Sender) Discover(ctx context.Context, t outgoing.Target) (outgoing.Endpoint, error) {
	page, err := t.Page(ctx)
	if err != nil {
		return outgoing.Endpoint{}, err
	}
	if gone, err := answer.Target(page, time.Now()); gone != "" || err != nil {
		return outgoing.Endpoint{Via: gone}, err
	}
	base, err := weburl.Parse(page.URL)
	if err != nil {
		return outgoing.Endpoint{}, fmt.Errorf("address of the target: %w", err)
	}
	header := http.Header(page.Header)
	for _, field := range header.Values("Link") {
		for _, link := range parseLinkHeader(field) {
			if hasRelation(link.rel) && ofPage(link, base) {
				return usable(base, link.target, "Link header"), nil
			}
		}
	}
	contentType := header.Get("Content-Type")
	if !isHTML(contentType) {
		return outgoing.Endpoint{}, nil
	}
	element, href, err := firstElement(page.Body, contentType)
	if err != nil || element == "" {
		return outgoing.Endpoint{}, err
	}
	return usable(base, href, "<"+element+">"), nil
}

// ofPage tells whether a link of a header is one of the page: an anchor may say
// that it is of another resource (RFC 8288, section 3.2).
func ofPage(link headerLink, base weburl.URL) bool {
	if !link.anchored {
		return true
	}
	anchor, err := base.Resolve(link.anchor)
	return err == nil && anchor.String() == base.WithoutFragment()
}

// isHTML tells whether a media type is one of HTML; so is none at all.
func isHTML(contentType string) bool {
	if strings.TrimSpace(contentType) == "" {
		return true
	}
	media, _, _ := mime.ParseMediaType(contentType)
	return media == "text/html" || media == "application/xhtml+xml"
}

// firstElement returns the name and href of the first <link> or <a> of HTML
// that has both the relation and an href, "" if there is none. Comments, raw
// text and templates hold no elements; noscript does, since no script runs here.
func firstElement(body []byte, contentType string) (element, href string, err error) {
	text, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		// An empty body: charset.NewReader asks for its first byte.
		return "", "", nil
	}
	root, err := html.ParseWithOptions(text, html.ParseOptionEnableScripting(false))
	if err != nil {
		return "", "", fmt.Errorf("parse the target: %w", err)
	}
	for n := root; n != nil; n = next(n) {
		if n.Type != html.ElementNode || n.Namespace != "" || n.DataAtom != atom.Link && n.DataAtom != atom.A {
			continue
		}
		rel, _ := attribute(n, "rel")
		if href, present := attribute(n, "href"); present && hasRelation(rel) {
			return n.Data, href, nil
		}
	}
	return "", "", nil
}

// next is the node after n in document order, without the contents of templates.
// It goes by links of the tree, not by recursion: pages may be nested to any
// depth.
func next(n *html.Node) *html.Node {
	if n.FirstChild != nil && n.DataAtom != atom.Template {
		return n.FirstChild
	}
	for ; n != nil; n = n.Parent {
		if n.NextSibling != nil {
			return n.NextSibling
		}
	}
	return nil
}

func attribute(n *html.Node, name string) (value string, present bool) {
	for _, a := range n.Attr {
		if a.Namespace == "" && a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// usable is the endpoint of an address that a page advertises, or none with the
// reason.
func usable(base weburl.URL, ref, via string) outgoing.Endpoint {
	u, err := base.Resolve(ref)
	switch {
	case err != nil, u.Scheme() != "http" && u.Scheme() != "https":
		return outgoing.Endpoint{Via: fmt.Sprintf("%s, which names no http address: %.200q", via, ref)}
	case u.HasCredentials():
		return outgoing.Endpoint{Via: via + ", which names a user"}
	}
	return outgoing.Endpoint{URL: u.WithoutFragment(), Via: via}
}
