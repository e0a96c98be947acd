package send

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"strings"

	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"github.com/sitelink/sitelink/internal/scan/endpoint"
	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
)

// Discover finds the endpoint of the target (section 3.1.2): the first Link
// header with the relation webmention, or else the first <link> or <a> element
// with it in document order. A relative URL is resolved against the URL of the
// page after redirects; an empty one means that page. Endpoints are not cached,
// because some are valid for one notice only.
//
// A target that is missing has no endpoint. ProblemsFor one that fails temporarily, the
// error is an [*outgoing.UnavailableError].
func (s *Webmention) Discover(ctx context.Context, t *outgoing.Target) (outgoing.Endpoint, error) {
	page, missing, err := t.Page(ctx)
	if page == nil {
		return outgoing.Endpoint{Via: missing}, err
	}
	base, err := weburl.Parse(page.URL)
	if err != nil {
		return outgoing.Endpoint{}, fmt.Errorf("parse URL of the target: %w", err)
	}
	for _, field := range page.Header.Values("Link") {
		links, _ := endpoint.Links(field)
		for _, link := range links {
			if hasRelation(link.Rel) && isAbout(link, base) {
				return webmentionEndpoint(base, link.Target, "Link header"), nil
			}
		}
	}
	contentType := page.Header.Get("Content-Type")
	if !isHTML(contentType) {
		return outgoing.Endpoint{}, nil
	}
	element, href := firstElement(page.Body, contentType)
	if element == "" {
		return outgoing.Endpoint{}, nil
	}
	return webmentionEndpoint(base, href, "<"+element+">"), nil
}

// isAbout reports whether a Link header is about the page. Its anchor parameter
// may name another resource (RFC 8288, section 3.2).
func isAbout(link endpoint.HeaderLink, page weburl.URL) bool {
	if !link.Anchored {
		return true
	}
	anchor, err := page.Resolve(link.Anchor)
	return err == nil && anchor.String() == page.WithoutFragment()
}

// isHTML reports whether a response with this Content-Type is read as HTML. A
// missing type counts as HTML.
func isHTML(contentType string) bool {
	if strings.TrimSpace(contentType) == "" {
		return true
	}
	media, _, _ := mime.ParseMediaType(contentType)
	return media == "text/html" || media == "application/xhtml+xml"
}

// firstElement returns the name and href of the first <link> or <a> that has
// both the relation and an href, or "". Comments, raw text and templates do not
// contain elements; noscript does, because scripts do not run here.
func firstElement(body []byte, contentType string) (element, href string) {
	text, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		// An empty body: charset.NewReader asks for its first byte.
		return "", ""
	}
	body, _ = io.ReadAll(text) // reading from memory does not fail
	root, err := scanhtml.Parse(body, false)
	if err != nil {
		return "", ""
	}
	for n := root; n != nil; n = scanhtml.Next(n, n.DataAtom != atom.Template) {
		if scanhtml.IsElement(n, atom.Link) || scanhtml.IsElement(n, atom.A) {
			rel, _ := scanhtml.Attr(n, "rel")
			if href, present := scanhtml.Attr(n, "href"); present && hasRelation(rel) {
				return n.Data, href
			}
		}
	}
	return "", ""
}

// webmentionEndpoint returns the endpoint with a URL that a page advertises. If the URL
// cannot be used, the endpoint has no URL and Via says why.
func webmentionEndpoint(base weburl.URL, ref, via string) outgoing.Endpoint {
	u, err := base.Resolve(ref)
	switch {
	case err != nil, u.Scheme() != "http" && u.Scheme() != "https":
		return outgoing.Endpoint{Via: fmt.Sprintf("%s, but its URL is not an http or https URL: %.200q", via, ref)}
	case u.HasCredentials():
		return outgoing.Endpoint{Via: via + ", but its URL contains a user name"}
	}
	return outgoing.Endpoint{URL: u.WithoutFragment(), Via: via}
}

// hasRelation reports whether a list of relation types contains webmention.
// Types are case-insensitive (RFC 8288, section 2.1; HTML Standard, 4.6.7).
func hasRelation(rel string) bool {
	for token := range strings.FieldsFuncSeq(rel, asciiSpace) {
		if strings.EqualFold(token, "webmention") {
			return true
		}
	}
	return false
}

// asciiSpace reports whether r is white space in HTML.
func asciiSpace(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == '\f' || r == '\r'
}
