package pingback

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/answer"
)

// searched is how much of a page is searched for the element: more than the
// five kilobytes of section 5, for pages that begin with a long style sheet
// (PB-34, A-PB-8).
const searched = 64 << 10

// pattern is that of section 2.3, byte for byte. All clients are to agree with
// it, so that nothing else is an element: neither upper case nor single quotes
// nor another order of the attributes (PB-25, PB-32).
var pattern = regexp.MustCompile(`<link rel="pingback" href="([^"]+)" ?/?>`)

// entities are the four that the specification allows in the element's address,
// each replaced once (PB-29).
var entities = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", `"`)

// Discover looks for the target's server as section 2.3 says: the first
// X-Pingback header, else the first text of the body that matches the pattern.
// The header wins even when it is of no use (A-PB-1). A page that is gone has no
// server; one that fails for now is an error of type [*answer.StatusError].
func (s *Sender) Discover(ctx context.Context, t outgoing.Target) (outgoing.Endpoint, error) {
	page, err := t.Page(ctx)
	if err != nil {
		return outgoing.Endpoint{}, err
	}
	if gone, err := answer.Target(page, time.Now()); gone != "" || err != nil {
		return outgoing.Endpoint{Via: gone}, err
	}
	if values := http.Header(page.Header).Values("X-Pingback"); len(values) > 0 {
		return usable(strings.TrimSpace(values[0]), "X-Pingback header"), nil
	}
	if !searchable(http.Header(page.Header).Get("Content-Type")) {
		return outgoing.Endpoint{}, nil
	}
	if server, found := element(page.Body); found {
		return usable(server, "<link>"), nil
	}
	return outgoing.Endpoint{}, nil
}

// element returns the address of the first match of the pattern in the part of
// a page that is searched, its entities expanded.
func element(body []byte) (server string, found bool) {
	match := pattern.FindSubmatch(body[:min(len(body), searched)])
	if match == nil {
		return "", false
	}
	return entities.Replace(string(match[1])), true
}

// searchable tells whether a body of this media type can hold the element:
// text, XML, and what has no type (A-PB-10).
func searchable(contentType string) bool {
	if strings.TrimSpace(contentType) == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && media == "" {
		return true
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "/xml") || strings.HasSuffix(media, "+xml")
}

// usable is the endpoint of an address that a page advertises, or none with the
// reason.
func usable(server, via string) outgoing.Endpoint {
	u, err := url.Parse(server)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return outgoing.Endpoint{Via: fmt.Sprintf("%s, which names no absolute http address: %.200q", via, server)}
	case u.User != nil:
		return outgoing.Endpoint{Via: fmt.Sprintf("%s, which names a user: %.200q", via, u.Redacted())}
	}
	return outgoing.Endpoint{URL: server, Via: via}
}
