package templates

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Endpoints are the addresses that a site's pages name: absolute http or https
// URIs in ASCII, "" for none. [NewEndpoints] makes them; its values are the
// same in elements and headers (PB-16).
type Endpoints struct {
	// Pingback is the XML-RPC server, Webmention the webmention endpoint.
	Pingback, Webmention string
}

// NewEndpoints checks the addresses that a user wrote, each "" for none, and
// returns them as they are published. See [Endpoint].
func NewEndpoints(pingback, webmention string) (Endpoints, error) {
	var e Endpoints
	for _, v := range []struct {
		name, text string
		field      *string
	}{{"pingback", pingback, &e.Pingback}, {"webmention", webmention, &e.Webmention}} {
		if v.text == "" {
			continue
		}
		uri, err := Endpoint(v.text)
		if err != nil {
			return Endpoints{}, fmt.Errorf("%s: %w", v.name, err)
		}
		*v.field = uri
	}
	return e, nil
}

// maxEndpointBytes bounds an endpoint: both elements have to fit into the
// first 5,000 bytes of a page, entities included, beside what stands before.
const maxEndpointBytes = 500

// Endpoint checks one address and returns it as it is published. It must be an
// absolute http or https URI (PB-13, PB-22) without user and fragment. What an
// address cannot hold, such as a blank or a letter that is not ASCII, leaves as
// %-escapes of its UTF-8 (PB-24), a host with such letters as its ASCII name.
// All else stays as it was written.
func Endpoint(text string) (string, error) {
	switch {
	case !utf8.ValidString(text):
		return "", errors.New("the address is not UTF-8")
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", fmt.Errorf("the address holds a control character: %q", text)
	case strings.Contains(text, `\`):
		return "", fmt.Errorf("the address holds a backslash: %q", text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("no address: %w", err)
	}
	scheme, rest, _ := strings.Cut(text, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority := rest[:end]
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.Opaque != "":
		return "", fmt.Errorf("want an absolute http or https address, got %q", text)
	case u.User != nil:
		return "", errors.New("the address names a user, and would publish it") // not quoted: it may hold a password
	case strings.Contains(text, "#"):
		return "", fmt.Errorf("the address has a fragment: %q", text)
	}
	authority, err = asciiAuthority(authority)
	if err != nil {
		return "", err
	}
	uri := scheme + "://" + authority + escape(rest[end:])
	if bad := brokenEscape(uri); bad != "" {
		return "", fmt.Errorf("%q begins no escape in the address; a plain percent sign is %%25", bad)
	}
	if len(uri) > maxEndpointBytes {
		return "", fmt.Errorf("the address is longer than %d bytes", maxEndpointBytes)
	}
	return uri, nil
}

// asciiAuthority returns host and port with the host's name in ASCII.
func asciiAuthority(authority string) (string, error) {
	host, port := authority, ""
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		host, port = authority[:i], authority[i:]
	}
	for i := range len(host) {
		if host[i] >= utf8.RuneSelf {
			ascii, err := idna.Lookup.ToASCII(host)
			if err != nil {
				return "", fmt.Errorf("the host %q is no name: %w", host, err)
			}
			return ascii + port, nil
		}
	}
	if strings.ContainsAny(host, "%\"<>&'^`{|} ") {
		return "", fmt.Errorf("the host %q is no name", host)
	}
	return host + port, nil
}

// escape %-escapes what RFC 2396 (2.4.3) keeps out of a URI, but for the
// quotation mark, which has an entity in the element (PB-23).
func escape(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("<>^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// brokenEscape returns the first % with what follows that is no escape.
func brokenEscape(uri string) string {
	isHex := func(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }
	for i := range len(uri) {
		if uri[i] == '%' && (i+2 >= len(uri) || !isHex(uri[i+1]) || !isHex(uri[i+2])) {
			return uri[i:min(i+3, len(uri))]
		}
	}
	return ""
}

// IsZero tells whether there is no endpoint.
func (e Endpoints) IsZero() bool { return e == Endpoints{} }

// HTML returns the elements, pingback first, one after the other with nothing
// between them; "" when there is no endpoint. The pingback element has, byte
// for byte, one of the two forms that the specification allows (PB-20), which
// is what its pattern finds (PB-25):
//
//	<link rel="pingback" href="URI">
//	<link rel="pingback" href="URI" />
//
// the second with xhtml. The webmention element is made likewise. There are no
// entities but &amp;, &lt;, &gt; and &quot; (PB-23).
//
// Spec: Pingback 1.0, 2.2, https://www.hixie.ch/specs/pingback/pingback#TOC2.2
func (e Endpoints) HTML(xhtml bool) string {
	return e.PingbackHTML(xhtml) + e.WebmentionHTML(xhtml)
}

// PingbackHTML is the first part of [Endpoints.HTML].
func (e Endpoints) PingbackHTML(xhtml bool) string { return element("pingback", e.Pingback, xhtml) }

// WebmentionHTML is the second part of [Endpoints.HTML].
func (e Endpoints) WebmentionHTML(xhtml bool) string {
	return element("webmention", e.Webmention, xhtml)
}

func element(rel, uri string, xhtml bool) string {
	if uri == "" {
		return ""
	}
	end := `">`
	if xhtml {
		end = `" />`
	}
	return `<link rel="` + rel + `" href="` + entities.Replace(uri) + end
}

// entities are those that a pingback client expands; each once (PB-29).
var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
