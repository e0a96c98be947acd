package endpoint

// How link elements are written, and what can be wrong with the ones on a page. Package
// templates writes them, and the check of a built site verifies them.

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/sitelink/sitelink/internal/scan"
	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/text"
)

// MaxEnd is the offset before which an element in the head has to end: clients
// may stop reading there (PB-35; Pingback 1.0, 2.3).
const MaxEnd = 5000

// ElementHTML returns the element for one relation, "pingback" or "webmention", byte
// for byte in one of the two forms that the specification allows (PB-20); the
// second one with xhtml. It returns "" when uri is empty.
func ElementHTML(rel, uri string, xhtml bool) string {
	if uri == "" {
		return ""
	}
	end := `">`
	if xhtml {
		end = `" />`
	}
	return `<link rel="` + rel + `" href="` + entities.Replace(uri) + end
}

// entities are the ones that a pingback client expands (PB-29).
var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// ElementLength returns the length of the element, written as [ElementHTML] does, at the
// start of text; 0 when text starts with something else.
func ElementLength(text []byte) int {
	for _, rel := range [...]string{"pingback", "webmention"} {
		start := `<link rel="` + rel + `" href="`
		if !bytes.HasPrefix(text, []byte(start)) {
			continue
		}
		k := bytes.IndexByte(text[len(start):], '"')
		if k < 1 {
			return 0
		}
		for _, end := range [...]string{`">`, `" />`} {
			if bytes.HasPrefix(text[len(start)+k:], []byte(end)) {
				return len(start) + k + len(end)
			}
		}
		return 0
	}
	return 0
}

// ElementFault is what is wrong with the elements of a page.
type ElementFault uint8

const (
	// FaultAddress: the element names another address than the configuration.
	FaultAddress ElementFault = iota
	// FaultRelative: the address is not absolute (PB-22).
	FaultRelative
	// FaultForm: the element is written in a form that clients which search
	// the text of the page do not find (PB-20).
	FaultForm
	// FaultUnquoted: a FaultForm because a minifier removed the quotes.
	FaultUnquoted
	// FaultTwice: the page has this element already (PB-21).
	FaultTwice
	// FaultSecondMatch: text that is not an element looks like one to
	// clients (PB-21).
	FaultSecondMatch
	// FaultBody: the element is in the body, as the parser sees it.
	FaultBody
	// FaultLate: the element ends after the first [MaxEnd] bytes (PB-35).
	FaultLate
	// FaultInvalid: the page has a second head (PB-9).
	FaultInvalid
)

var faultNames = [...]string{"address", "relative", "form", "unquoted", "twice", "second-match", "body", "late", "invalid"}

// String returns the name of the fault: the finding code without "endpoint-".
func (f ElementFault) String() string { return faultNames[f] }

// faultBits is the number of bits of [PageFault.What] that hold the ElementFault; the
// bits above hold the element.
const faultBits = 4

// A PageFault is a fault and its place on a page.
type PageFault struct {
	// Off is an offset in the text of the page that was scanned.
	Off uint32
	// What packs the fault and the element it is about.
	What uint8
}

// Fault returns what is wrong.
func (f PageFault) Fault() ElementFault { return ElementFault(f.What & (1<<faultBits - 1)) }

// Rel returns the element that has the fault: "pingback", "webmention", or ""
// for the page itself.
func (f PageFault) Rel() string {
	switch scan.AdvertRel(f.What >> faultBits) {
	case scan.AdvertPingback:
		return "pingback"
	case scan.AdvertWebmention:
		return "webmention"
	}
	return ""
}

// HasElements is the set of elements that a page has, correct or not.
type HasElements uint8

const (
	HasPingback   = HasElements(scan.AdvertPingback)
	HasWebmention = HasElements(scan.AdvertWebmention)
)

// An Inspector compares the elements of pages with the configured endpoints. It
// is not safe for concurrent use.
type Inspector struct {
	elements []inspected
	faults   []PageFault
}

// inspected is one element as the configuration wants it.
type inspected struct {
	rel scan.AdvertRel
	uri string
	// start is the element up to the address, head up to the quote after it.
	start, head []byte
}

// NewInspector returns an inspector for these two endpoints. An endpoint that is
// empty is not inspected.
func NewInspector(pingback, webmention string) *Inspector {
	in := &Inspector{}
	for _, want := range []struct {
		rel scan.AdvertRel
		uri string
	}{{scan.AdvertPingback, pingback}, {scan.AdvertWebmention, webmention}} {
		if want.uri == "" {
			continue
		}
		html := ElementHTML(PageFault{What: uint8(want.rel) << faultBits}.Rel(), want.uri, false)
		in.elements = append(in.elements, inspected{rel: want.rel, uri: want.uri,
			start: []byte(html[:strings.Index(html, `href="`)+len(`href="`)]), head: []byte(strings.TrimSuffix(html, ">"))})
	}
	return in
}

// Page inspects one scanned page. Its text must still be valid. The faults are
// in the order of the elements, and valid until the next call. Page does not
// know whether the page should have the elements at all.
func (in *Inspector) Page(p *scan.Page, xml bool) (HasElements, []PageFault) {
	in.faults = in.faults[:0]
	var has HasElements
	for i := range in.elements {
		e := &in.elements[i]
		first := true
		for _, a := range p.Adverts {
			switch {
			case a.Rel&e.rel == 0:
				continue
			case !first:
				in.add(a.TagOff, FaultTwice, e.rel)
				continue
			}
			first, has = false, has|HasElements(e.rel)
			in.element(p, a.TagOff, e, xml)
		}
		if e.rel == scan.AdvertPingback { // text that looks like an element to clients, but is not
			findPattern(p.Text, func(off int) {
				if !slices.ContainsFunc(p.Adverts, func(a scan.Advert) bool { return int(a.TagOff) == off }) {
					in.add(uint32(off), FaultSecondMatch, scan.AdvertPingback)
				}
			})
		}
	}
	if has != 0 && p.SecondHead != 0 {
		in.add(p.SecondHead-1, FaultInvalid, 0)
	}
	return has, in.faults
}

func (in *Inspector) add(off uint32, f ElementFault, rel scan.AdvertRel) {
	in.faults = append(in.faults, PageFault{off, uint8(f) | uint8(rel)<<faultBits})
}

// element checks how one element is written and, if that is correct, where.
func (in *Inspector) element(p *scan.Page, off uint32, e *inspected, xml bool) {
	rest := p.Text[off:]
	end := 0
	if bytes.HasPrefix(rest, e.head) {
		end = patternEnd(rest, len(e.head)-2) // from the value's last character on
	}
	if end == 0 {
		if f, wrong := e.judge(rest); wrong {
			in.add(off, f, e.rel)
			return
		}
		end = 1 + bytes.IndexByte(rest, '>')
	}
	if h := scanhtml.ReadHead(p.Text, xml, int(off)+1); h.Whole && h.Body <= int(off) {
		in.add(off, FaultBody, e.rel)
	} else if at := off + uint32(end); at > MaxEnd/2 && p.Source(at) > MaxEnd { // UTF-16 doubles
		in.add(off, FaultLate, e.rel)
	}
}

// judge returns what is wrong with an element that differs from our form.
func (e *inspected) judge(rest []byte) (f ElementFault, wrong bool) {
	z := html.NewTokenizer(bytes.NewReader(rest[:min(len(rest), 4*MaxEnd)]))
	z.Next()
	tag := rest[:min(len(z.Raw()), len(rest))]
	href, has := "", false
	for _, a := range z.Token().Attr {
		if a.Key == "href" && !has {
			href, has = strings.Trim(a.Val, "\t\n\f\r "), true
		}
	}
	switch scheme := strings.ToLower(href[:min(len(href), len("https:"))]); {
	case href == e.uri:
		if n := len(e.start); bytes.HasPrefix(tag, e.start) && patternEnd(tag, n) == len(tag) && expand(tag[n:]) == e.uri {
			return 0, false
		}
		if unquoted().Match(tag) {
			return FaultUnquoted, true
		}
		return FaultForm, true
	case has && !strings.HasPrefix(scheme, "http:") && scheme != "https:":
		return FaultRelative, true
	}
	return FaultAddress, true
}

// unquoted matches an attribute if a minifier has removed its quotes.
var unquoted = text.Regexp(`(?i)[\t\n\f\r ](?:rel|href)=[^"'\t\n\f\r >]`)

// expand returns the value up to the quote with its entities expanded, as a
// client does (PB-29).
func expand(value []byte) string {
	value, _, _ = bytes.Cut(value, []byte(`"`))
	return strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", `"`).Replace(string(value))
}

// needle is how every text starts that a pingback client takes for the element
// (PB-25), anywhere on the page.
const needle = `<link rel="pingback" href="`

// findPattern calls f with the offset of each text that matches the pattern of
// Pingback 1.0, 2.3: <link rel="pingback" href="([^"]+)" ?/?>.
func findPattern(text []byte, f func(off int)) {
	for at := 0; ; at += len(needle) {
		n := bytes.Index(text[at:], []byte(needle))
		if n < 0 {
			return
		}
		if at += n; patternEnd(text, at+len(needle)) > 0 {
			f(at)
		}
	}
}

// patternEnd returns the end of an element of that form with a value that
// starts at i, or 0 if the form differs.
func patternEnd(text []byte, i int) int {
	k := bytes.IndexByte(text[i:], '"')
	if k < 1 {
		return 0
	}
	j := i + k + 1
	if j < len(text) && text[j] == ' ' {
		j++
	}
	if j < len(text) && text[j] == '/' {
		j++
	}
	if j < len(text) && text[j] == '>' {
		return j + 1
	}
	return 0
}
