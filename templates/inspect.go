package templates

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/sitelink/sitelink/internal/scan"
)

// Fault is what is wrong with the elements of a page.
type Fault uint8

const (
	// FaultAddress: the element names another address than the configuration.
	FaultAddress Fault = iota
	// FaultRelative: the address is not absolute (PB-22).
	FaultRelative
	// FaultForm: clients that look for the text of the element do not find it
	// (PB-20).
	FaultForm
	// FaultUnquoted: likewise, since the quotes were taken away.
	FaultUnquoted
	// FaultTwice: the page has the element before (PB-21).
	FaultTwice
	// FaultSecondMatch: text that is no element looks like one to clients
	// (PB-21).
	FaultSecondMatch
	// FaultBody: the element is in the body, as the parser sees it.
	FaultBody
	// FaultLate: the element ends behind the first 5,000 bytes (PB-35).
	FaultLate
	// FaultInvalid: the page has a second head (PB-9).
	FaultInvalid
)

// faultBits is the number of bits of a Fault in [PageFault.What]; above them
// is the element.
const faultBits = 4

// A PageFault is a fault with its place on a page.
type PageFault struct {
	// Off is an offset in the text of the page that was scanned.
	Off uint32
	// What holds the fault and the element that it is about.
	What uint8
}

// Fault returns what is wrong.
func (f PageFault) Fault() Fault { return Fault(f.What & (1<<faultBits - 1)) }

// Rel returns which element has the fault: "pingback", "webmention", or "" for
// the page.
func (f PageFault) Rel() string {
	switch scan.AdvertRel(f.What >> faultBits) {
	case scan.AdvertPingback:
		return "pingback"
	case scan.AdvertWebmention:
		return "webmention"
	}
	return ""
}

// Has tells which elements a page has, right or wrong.
type Has uint8

const (
	HasPingback   = Has(scan.AdvertPingback)
	HasWebmention = Has(scan.AdvertWebmention)
)

// An Inspector holds the elements of pages against the configuration. It is not
// safe for concurrent use.
type Inspector struct {
	elements []inspected
	faults   []PageFault
}

// inspected is one element as it should be.
type inspected struct {
	rel scan.AdvertRel
	uri string
	// start is the element up to the address, head up to the quote after it.
	start, head []byte
	// known is the beginning of a page, up to this element in its head.
	known    []byte
	knownXML bool
}

// NewInspector returns an inspector for the elements of e. Of an element for
// which e has no address it says nothing.
func NewInspector(e Endpoints) *Inspector {
	in := &Inspector{}
	for rel, uri := range map[scan.AdvertRel]string{scan.AdvertPingback: e.Pingback, scan.AdvertWebmention: e.Webmention} {
		if uri != "" {
			html := element(PageFault{What: uint8(rel) << faultBits}.Rel(), uri, false)
			in.elements = append(in.elements, inspected{rel: rel, uri: uri,
				start: []byte(html[:strings.Index(html, `href="`)+len(`href="`)]), head: []byte(strings.TrimSuffix(html, ">"))})
		}
	}
	slices.SortFunc(in.elements, func(a, b inspected) int { return int(a.rel) - int(b.rel) })
	return in
}

// Page looks at one page that was scanned, while its text is there. The faults
// are in the order of the elements, and valid until the next page. It does not
// know whether the page should have the elements at all.
func (in *Inspector) Page(p *scan.Page, xml bool) (Has, []PageFault) {
	in.faults = in.faults[:0]
	var has Has
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
			first, has = false, has|Has(e.rel)
			in.element(p, a.TagOff, e, xml)
		}
		if e.rel == scan.AdvertPingback {
			in.secondMatches(p)
		}
	}
	if has != 0 && p.SecondHead != 0 {
		in.add(p.SecondHead-1, FaultInvalid, 0)
	}
	return has, in.faults
}

func (in *Inspector) add(off uint32, f Fault, rel scan.AdvertRel) {
	in.faults = append(in.faults, PageFault{off, uint8(f) | uint8(rel)<<faultBits})
}

// element judges one element, and its place if it is as it should be.
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
	if !e.inHead(p.Text, int(off), xml) {
		in.add(off, FaultBody, e.rel)
	} else if at := off + uint32(end); at > maxElementEnd/2 && p.Source(at) > maxElementEnd { // UTF-16 doubles
		in.add(off, FaultLate, e.rel)
	}
}

// maxKnown bounds the text that is kept to compare others with.
const maxKnown = 1 << 10

// inHead tells whether an element at off is in the head. What stands before it
// is the same on most pages of a site, and then so is the answer.
func (e *inspected) inHead(text []byte, off int, xml bool) bool {
	if off > 0 && xml == e.knownXML && bytes.Equal(text[:off], e.known) {
		return true
	}
	h := scan.ReadHead(text, xml, off+1)
	is := !h.Whole || h.Body > off
	if is && off <= maxKnown {
		e.known, e.knownXML = append(e.known[:0], text[:off]...), xml
	}
	return is
}

// judge says what is wrong with an element that is not written as we do.
func (e *inspected) judge(rest []byte) (f Fault, wrong bool) {
	z := html.NewTokenizer(bytes.NewReader(rest[:min(len(rest), 4*maxElementEnd)]))
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
		if unquoted.Match(tag) {
			return FaultUnquoted, true
		}
		return FaultForm, true
	case has && !strings.HasPrefix(scheme, "http:") && scheme != "https:":
		return FaultRelative, true
	}
	return FaultAddress, true
}

// unquoted matches what a minifier makes of the attributes of the element.
var unquoted = regexp.MustCompile(`(?i)[\t\n\f\r ](?:rel|href)=[^"'\t\n\f\r >]`)

// expand returns the value up to the quote with its entities expanded, as a
// client does (PB-29).
func expand(value []byte) string {
	value, _, _ = bytes.Cut(value, []byte(`"`))
	return strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", `"`).Replace(string(value))
}

// secondMatches notes what looks like an element to clients and is none.
func (in *Inspector) secondMatches(p *scan.Page) {
	findPattern(p.Text, func(off int) {
		for _, a := range p.Adverts {
			if int(a.TagOff) == off {
				return
			}
		}
		in.add(uint32(off), FaultSecondMatch, scan.AdvertPingback)
	})
}
