package templates

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/endpoint"
	"github.com/sitelink/sitelink/internal/scan/html"
)

// Endpoints are the addresses that a site's pages name: absolute http or https
// URIs in ASCII, or "" for no endpoint. Create them with [NewEndpoints]. Elements
// and headers use the same values (PB-16).
type Endpoints struct {
	// Pingback is the XML-RPC server, Webmention the webmention endpoint.
	Pingback, Webmention string
}

// NewEndpoints checks addresses as a user wrote them, "" for no endpoint, and
// returns them in the form to publish. See [Endpoint].
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

// maxEndpointBytes limits the length of an endpoint. Both elements, with their
// entities and everything before them, have to fit into the first 5,000 bytes
// of a page.
const maxEndpointBytes = 500

// Endpoint checks one address and returns it in the form to publish. The address
// must be an absolute http or https URI (PB-13, PB-22) without user and
// fragment. Endpoint escapes characters that a URI cannot contain, such as
// spaces and non-ASCII letters, as the bytes of their UTF-8 (PB-24), and turns a
// non-ASCII host into its ASCII name. Everything else stays as written.
func Endpoint(text string) (string, error) {
	switch {
	case !utf8.ValidString(text):
		return "", errors.New("the address is not valid UTF-8")
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", fmt.Errorf("the address contains a control character: %q", text)
	case strings.Contains(text, `\`):
		return "", fmt.Errorf("the address contains a backslash: %q", text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("not a valid address: %w", err)
	}
	scheme, rest, _ := strings.Cut(text, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority := rest[:end]
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.Opaque != "":
		return "", fmt.Errorf("must be an absolute http or https address, not %q", text)
	case u.User != nil:
		return "", errors.New("the address contains a user name, which every page would publish") // not quoted: it may hold a password
	case strings.Contains(text, "#"):
		return "", fmt.Errorf("the address has a fragment, which endpoints cannot have: %q", text)
	}
	authority, err = asciiAuthority(authority)
	if err != nil {
		return "", err
	}
	uri := scheme + "://" + authority + escape(rest[end:])
	if bad := brokenEscape(uri); bad != "" {
		return "", fmt.Errorf("%q in the address is not an escape; write %%25 for a percent sign", bad)
	}
	if len(uri) > maxEndpointBytes {
		return "", fmt.Errorf("the address is longer than %d bytes", maxEndpointBytes)
	}
	return uri, nil
}

// asciiAuthority returns host and port, with the host in its ASCII form.
func asciiAuthority(authority string) (string, error) {
	host, port := authority, ""
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		host, port = authority[:i], authority[i:]
	}
	for i := range len(host) {
		if host[i] >= utf8.RuneSelf {
			ascii, err := idna.Lookup.ToASCII(host)
			if err != nil {
				return "", fmt.Errorf("%q is not a valid host name: %w", host, err)
			}
			return ascii + port, nil
		}
	}
	if strings.ContainsAny(host, "%\"<>&'^`{|} ") {
		return "", fmt.Errorf("%q is not a valid host name", host)
	}
	return host + port, nil
}

// escape percent-encodes the characters that RFC 2396 (2.4.3) excludes from a
// URI, except the quotation mark, which becomes an entity in the element (PB-23).
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

// brokenEscape returns the first % that does not start an escape, with the two
// characters after it; "" when there is none.
func brokenEscape(uri string) string {
	isHex := func(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }
	for i := range len(uri) {
		if uri[i] == '%' && (i+2 >= len(uri) || !isHex(uri[i+1]) || !isHex(uri[i+2])) {
			return uri[i:min(i+3, len(uri))]
		}
	}
	return ""
}

// IsZero reports whether e has no endpoint.
func (e Endpoints) IsZero() bool { return e == Endpoints{} }

// HTML returns the elements, pingback first, with nothing between them, or ""
// without endpoints. The pingback element has, byte for byte, one of the two
// forms that the specification allows (PB-20) and that its pattern finds
// (PB-25):
//
//	<link rel="pingback" href="URI">
//	<link rel="pingback" href="URI" />
//
// The second one is for xhtml. The webmention element has the same form. The
// only entities are &amp;, &lt;, &gt; and &quot; (PB-23).
//
// Spec: Pingback 1.0, 2.2, https://www.hixie.ch/specs/pingback/pingback#TOC2.2
func (e Endpoints) HTML(xhtml bool) string {
	return e.PingbackHTML(xhtml) + e.WebmentionHTML(xhtml)
}

// PingbackHTML returns the pingback element of [Endpoints.HTML].
func (e Endpoints) PingbackHTML(xhtml bool) string {
	return endpoint.ElementHTML("pingback", e.Pingback, xhtml)
}

// WebmentionHTML returns the webmention element of [Endpoints.HTML].
func (e Endpoints) WebmentionHTML(xhtml bool) string {
	return endpoint.ElementHTML("webmention", e.Webmention, xhtml)
}

// faultTexts describe the faults to a person.
var faultTexts = map[endpoint.ElementFault]string{
	endpoint.FaultAddress:     "names another address",
	endpoint.FaultRelative:    "has an address that is not absolute",
	endpoint.FaultForm:        "is not written in the form that clients look for",
	endpoint.FaultUnquoted:    "has lost its quotes",
	endpoint.FaultTwice:       "occurs twice",
	endpoint.FaultSecondMatch: "is matched by text that is not an element",
	endpoint.FaultBody:        "is in the body",
	endpoint.FaultLate:        "ends after the first 5,000 bytes",
	endpoint.FaultInvalid:     "is on a page with two heads",
}

// Verify checks that a page of HTML has the elements of e: each once, in the
// head as the parser sees it, in the form that clients look for, and within the
// first 5,000 bytes (PB-8, PB-9, PB-20 to PB-22, PB-35). The error joins all
// faults, each with its byte offset in the page; it is nil when there are none.
// "sitelink check" reports the same faults for built pages. Verify is safe for
// concurrent use.
func Verify(page []byte, e Endpoints) error {
	var s html.Scanner
	has, faults := endpoint.NewInspector(e.Pingback, e.Webmention).Page(s.Scan(page, scan.Options{}), false)
	var all []error
	if e.Pingback != "" && has&endpoint.HasPingback == 0 {
		all = append(all, errors.New("the pingback element is missing"))
	}
	if e.Webmention != "" && has&endpoint.HasWebmention == 0 {
		all = append(all, errors.New("the webmention element is missing"))
	}
	for _, f := range faults {
		what := "the " + f.Rel() + " element"
		if f.Rel() == "" {
			what = "an element"
		}
		all = append(all, fmt.Errorf("offset %d: %s %s", f.Off, what, faultTexts[f.Fault()]))
	}
	return errors.Join(all...)
}
