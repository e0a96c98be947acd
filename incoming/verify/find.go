package verify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"

	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Evidence is what a look at a page found about one target.
type Evidence struct {
	Result Result
	// Fault is a fault code of pingback, 0 if the link was found. Reason says the
	// same in words.
	Fault  int
	Reason string
	// Title, Excerpt, Lang, AuthorName and AuthorURL are what the page says about
	// itself. They are set if the link was found.
	Title, Excerpt, Lang  string
	AuthorName, AuthorURL string
}

// Find looks for a link to the target in the page. A target with a fragment needs
// a link with this fragment; for one without, any fragment will do (A-PB-2,
// PB-69).
func (p *Response) Find(target string) (e Evidence) {
	defer func() {
		// A page must not be able to stop a receiver, whatever the parser makes of
		// it.
		if failure := recover(); failure != nil {
			e = Evidence{Result: NotHTML, Fault: FaultNoLink, Reason: "the page cannot be parsed"}
		}
	}()
	if p.Result != "" {
		return Evidence{Result: p.Result, Fault: p.Fault, Reason: p.Reason}
	}
	doc, err := p.parse()
	if unknown := unknownEncoding(""); errors.As(err, &unknown) {
		return Evidence{Result: NotHTML, Fault: FaultNoLink, Reason: err.Error()}
	}
	if err != nil {
		return Evidence{Result: NotHTML, Fault: FaultNoLink, Reason: "the page cannot be parsed"}
	}
	if status := doc.metaStatus(); status != "" {
		return Evidence{Result: Gone, Fault: FaultNoSource, Reason: "the page says that its status is " + status}
	}
	wanted, err := newTarget(target)
	if err != nil {
		return Evidence{Result: NotLinked, Fault: FaultNoLink, Reason: "the target is not a valid URL"}
	}
	link := doc.find(wanted)
	if link == nil {
		e := Evidence{Result: NotLinked, Fault: FaultNoLink, Reason: "the page does not link to the target"}
		if p.truncated {
			e.Reason = fmt.Sprintf("the first %d bytes of the page do not link to the target", len(p.body))
		}
		return e
	}
	e = doc.describe(link)
	e.Result = Linked
	return e
}

// document is a parsed page.
type document struct {
	page *Response
	root *html.Node
	base weburl.URL
	// encoding is that of the queries of relative links.
	encoding encoding.Encoding
}

// errTooDeep means that elements are nested too deeply.
var errTooDeep = errors.New("elements are nested too deeply")

// unknownEncoding is the name of an encoding that the Encoding Standard does not have.
type unknownEncoding string

func (e unknownEncoding) Error() string {
	return fmt.Sprintf("the page is in the encoding %.40q, which is unknown", string(e))
}

// parse parses the page as a browser without scripts does.
func (p *Response) parse() (*document, error) {
	contentType := p.header.Get("Content-Type")
	if label := p.label(contentType); label != "" {
		if known, _ := charset.Lookup(label); known == nil {
			return nil, unknownEncoding(label)
		}
	}
	enc, name, _ := charset.DetermineEncoding(p.body, contentType)
	text := p.body
	if name != "utf-8" {
		decoded, err := io.ReadAll(enc.NewDecoder().Reader(bytes.NewReader(p.body)))
		if err != nil {
			return nil, err
		}
		text = decoded
	}
	doc := &document{page: p, encoding: enc}
	var err error
	if p.xhtml {
		doc.root, err = parseXML(text)
	}
	if doc.root == nil {
		// Text that is not well-formed is read like HTML: its author sees a page
		// in a browser that is as lenient.
		doc.root, err = scanhtml.Parse(text, false)
	}
	if err != nil {
		return nil, err
	}
	if doc.base, err = weburl.Parse(p.URL); err != nil {
		return nil, err
	}
	for n := range doc.elements() {
		if href, ok := attr(n, "href"); ok && n.DataAtom == atom.Base {
			if u, err := doc.base.Resolve(href); err == nil && (u.Scheme() == "http" || u.Scheme() == "https") {
				doc.base = u
			}
			break // only the first one counts
		}
	}
	return doc, nil
}

// label returns the name that the page gives its encoding: in the header, or else in its
// beginning; "" if it gives none. Browsers guess where they do not know the name, and so would
// read another text than its author wrote.
func (p *Response) label(contentType string) string {
	if _, parameters, err := mime.ParseMediaType(contentType); err == nil && strings.TrimSpace(parameters["charset"]) != "" {
		return parameters["charset"]
	}
	const prescanned = 1024 // of the HTML Living Standard
	if m := metaCharset().FindSubmatch(p.body[:min(len(p.body), prescanned)]); m != nil {
		return string(m[1])
	}
	return ""
}

var metaCharset = text.Regexp(`(?i)<meta[^>]*[\s;"']charset\s*=\s*["']?\s*([^"'\s/>;]+)`)

// elements returns the elements of the page in document order, except those in a
// template.
func (d *document) elements() func(func(*html.Node) bool) {
	return func(yield func(*html.Node) bool) {
		for n := d.root; n != nil; {
			if n.Type == html.ElementNode && !yield(n) {
				return
			}
			n = scanhtml.Next(n, n.DataAtom != atom.Template)
		}
	}
}

func attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name && (a.Namespace == "" || a.Namespace == "xlink" && name == "href") {
			return a.Val, true
		}
	}
	return "", false
}

// metaStatus returns the status of a page that says in a meta element that it was
// deleted (Webmention, 3.2.5), or "".
func (d *document) metaStatus() string {
	for n := range d.elements() {
		if n.DataAtom != atom.Meta {
			continue
		}
		equiv, _ := attr(n, "http-equiv")
		content, _ := attr(n, "content")
		status, _, _ := strings.Cut(strings.TrimSpace(content), " ")
		if strings.EqualFold(equiv, "status") && (status == "410" || status == "404") {
			return status
		}
	}
	return ""
}

// target is a URL to look for.
type target struct{ canonical, fragment string }

func newTarget(raw string) (target, error) {
	u, err := weburl.Parse(raw)
	if err != nil {
		return target{}, err
	}
	return targetOf(u)
}

func targetOf(u weburl.URL) (target, error) {
	c, err := weburl.Canonical(u.WithoutFragment())
	return target{c, string(weburl.PercentDecode(nil, u.Fragment()))}, err
}

// linkAttributes are the attributes that mention another page, by element. A link
// element is not a link that visitors see.
var linkAttributes = map[atom.Atom][]string{
	atom.A: {"href"}, atom.Area: {"href"}, atom.Img: {"src"}, atom.Image: {"href"}, atom.Audio: {"src"}, atom.Video: {"src", "poster"},
	atom.Source: {"src"}, atom.Track: {"src"}, atom.Iframe: {"src"}, atom.Embed: {"src"}, atom.Object: {"data"},
	atom.Blockquote: {"cite"}, atom.Q: {"cite"}, atom.Ins: {"cite"}, atom.Del: {"cite"},
}

// find returns the first element that links to the target, or nil.
func (d *document) find(wanted target) *html.Node {
	for n := range d.elements() {
		for _, name := range linkAttributes[n.DataAtom] {
			if value, ok := attr(n, name); ok && d.leadsTo(value, wanted) {
				return n
			}
		}
	}
	return nil
}

// leadsTo reports whether the value of a link leads to the target (PB-56).
func (d *document) leadsTo(value string, wanted target) bool {
	u, err := d.base.ResolveWith(strings.Trim(value, "\t\n\f\r "), d.encoding)
	if err != nil || u.Scheme() != "http" && u.Scheme() != "https" || u.HasCredentials() {
		return false
	}
	got, err := targetOf(u)
	return err == nil && got.canonical == wanted.canonical && (wanted.fragment == "" || got.fragment == wanted.fragment)
}
