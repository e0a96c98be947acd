package data

import (
	"bytes"
	"slices"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
)

// Feed reads a feed, a sitemap or sitemap index, an OPML list, or an OpenSearch
// description. The root element decides which. Other documents have no links.
// feedrules.go has the tables of links. XHTML inside is read as in
// [XMLScanner.XHTML], and HTML inside text (RSS descriptions, Atom content of type
// html) as in [html.Scanner.Scan]. The address of an entry has
// [scan.KindEntry].
//
// Relative links are resolved against xml:base
// (https://www.w3.org/TR/xmlbase/). In RSS without xml:base, the links in an
// item's text are resolved against the item's own link, as in feed readers. In
// both cases [scan.Page.Ref] differs from the value.
//
// For faults, encoding, memory and the use of text see [XMLScanner.XHTML].
func (s *XMLScanner) Feed(text []byte, opt scan.Options) *scan.Page {
	// The charset of a header is meant for HTML. Feeds declare their own.
	opt.Charset = ""
	d := &feedReader{s: s}
	p := s.read(text, opt, false, d)
	p.Anchors, p.Bases, p.Scripts = p.Anchors[:0], p.Bases[:0], p.Scripts[:0]
	return p
}

// feedReader finds the links of such a document.
type feedReader struct {
	s         *XMLScanner
	x         *reader
	root      Root
	rootURI   namespace
	defaultNS namespace // the namespace to use for names in the root's namespace
	rules     map[expandedName]*feedRule
	bases     []scopedBase
	// In an item of RSS: its address, and the texts to read when that is known.
	items    int // number of open items
	address  []byte
	contents []html.Embedded
	// guid is the number of the link that is the item's guid, from 1, or 0. A
	// guid that repeats the address is not reported.
	guid int
	// first is the number of links before the item.
	first int
}

// scopedBase is an xml:base in scope.
type scopedBase struct {
	depth int // number of open elements outside its element
	value []byte
}

// start handles the current start tag.
func (d *feedReader) start(e *element, local uint32, uri namespace) {
	x := d.x
	name := x.text[local:e.name.End]
	if len(x.open) == 0 {
		d.root = rootNames[string(name)]
		d.rules, d.defaultNS = rulesByRoot[d.root], defaultNamespaces[d.root]
		d.rootURI = uri
	}
	d.enterBase(x)
	if uri == uriHTML || uri == uriSVG || uri == uriMath {
		first := len(d.s.el.Page.Links)
		x.emit(e, local, uri)
		d.s.el.Rebase(first, d.base())
		return
	}
	if uri == uriNone || uri == d.rootURI && d.root != RootRDF {
		uri = d.defaultNS
	}
	rule := d.rules[expandedName{uri, string(name)}]
	if rule == nil {
		return
	}
	e.rule = rule
	if rule.special != nil {
		e.rule = rule.special(d, e, rule)
	}
	if e.rule == nil {
		return
	}
	if e.rule.item {
		d.items++
		d.first, d.guid = len(d.s.el.Page.Links), 0
	}
	for _, a := range e.rule.attrs {
		if v, off, ok := x.attr(a); ok && len(v) > 0 {
			d.add(e, v, off, e.rule.kind, a)
		}
	}
}

// end handles the end of an element.
func (d *feedReader) end(e *element) {
	x := d.x
	if e.rule != nil {
		switch e.rule.text {
		case textURL:
			text, off, from := x.plainText(e)
			d.url(e, text, off, from)
		case textHTML:
			text, off, from := x.plainText(e)
			if bytes.IndexByte(text, '<') < 0 {
				break
			}
			c := html.Embedded{Text: text, Off: off, From: from, Base: d.base()}
			if d.items > 0 && c.Base == nil && d.root != RootAtom {
				if from != nil {
					c.Text, c.From = d.s.el.Keep(text), slices.Clone(from)
				}
				d.contents = append(d.contents, c)
			} else {
				c.AddTo(&d.s.el.Builder, &d.s.inner, d.s.el.Tags)
			}
		}
		if e.rule.item {
			d.items--
			d.dropGUID()
			for _, c := range d.contents {
				c.Base = d.address
				c.AddTo(&d.s.el.Builder, &d.s.inner, d.s.el.Tags)
			}
			d.contents, d.address = d.contents[:0], nil
		}
	}
	if n := len(d.bases); n > 0 && d.bases[n-1].depth == len(x.open)-1 {
		d.bases = d.bases[:n-1]
	}
}

// url adds the link that is the element's text.
func (d *feedReader) url(e *element, text []byte, off uint32, from []uint32) {
	value := bytes.TrimLeft(text, scan.Space)
	skipped := len(text) - len(value)
	value = bytes.TrimRight(value, scan.Space)
	if len(value) == 0 || e.rule.absolute && !scan.IsWebURL(value) {
		return
	}
	if from == nil {
		off += uint32(skipped)
	} else {
		off = from[skipped]
		value = d.s.el.Keep(value)
	}
	x := d.x
	kind := e.rule.kind
	if e.rule.entry && len(x.open) > 1 && x.open[len(x.open)-2].rule != nil && x.open[len(x.open)-2].rule.item {
		kind = scan.KindEntry
		if v := scan.Merge(d.base(), value); d.address == nil && len(v) <= scan.MaxBase {
			d.address = v
		}
	}
	d.add(e, value, off, kind, "")
	if e.rule == guidLink && kind == scan.KindEntry {
		d.guid = len(d.s.el.Page.Links)
	}
}

// dropGUID removes the guid of the item that ends if it repeats the address
// that another element of the item gave.
func (d *feedReader) dropGUID() {
	p := &d.s.el.Page
	n := d.guid - 1
	if d.guid = 0; n < 0 {
		return
	}
	for i := d.first; i < len(p.Links); i++ {
		if i != n && p.Links[i].Kind == scan.KindEntry && bytes.Equal(p.Links[i].Value, p.Links[n].Value) {
			p.Links = slices.Delete(p.Links, n, n+1)
			return
		}
	}
}

// add adds a link of an element.
func (d *feedReader) add(e *element, value []byte, off uint32, kind scan.LinkKind, attribute string) {
	s, x := d.s, d.x
	first := len(s.el.Page.Links)
	s.el.AddNamed(scan.Link{Value: value, Off: off, TagOff: e.at.Start, Attr: scan.AttrText, Kind: kind},
		x.text[e.name.Start:e.name.End], []byte(attribute))
	s.el.Rebase(first, d.base())
}

func (d *feedReader) enterBase(x *reader) {
	for i := range x.attrs {
		a := &x.attrs[i]
		if a.uri == uriXML && a.prefixed() && string(x.text[a.local:a.name.End]) == "base" {
			v := scan.Trim(x.attrValue(a))
			if v = scan.Merge(d.base(), v); len(v) <= scan.MaxBase {
				d.bases = append(d.bases, scopedBase{len(x.open), v})
			}
		}
	}
}

// base returns the xml:base in scope, or nil.
func (d *feedReader) base() []byte {
	if n := len(d.bases); n > 0 {
		return d.bases[n-1].value
	}
	return nil
}

// attr returns the value of an attribute without prefix.
func (x *reader) attr(name string) (value []byte, off uint32, ok bool) {
	for i := range x.attrs {
		if a := &x.attrs[i]; !a.prefixed() && string(x.text[a.name.Start:a.name.End]) == name {
			return x.attrValue(a), a.val.Start, true
		}
	}
	return nil, 0, false
}

// attrValue returns the decoded value of an attribute.
func (x *reader) attrValue(a *attribute) []byte {
	if !a.decode {
		return x.text[a.val.Start:a.val.End]
	}
	x.decoded.reset(false)
	x.decode(x.text[a.val.Start:a.val.End], int(a.val.Start), false, true)
	return x.s.el.Keep(x.decoded.buf)
}

// plainText returns the text of the current element. If from is nil, the text
// is the page's text at off. Otherwise from has the offset of each byte, and
// text and from are valid until the next call.
func (x *reader) plainText(e *element) (text []byte, off uint32, from []uint32) {
	pieces := x.pieces[e.pieces:]
	switch {
	case len(pieces) == 0:
		return nil, e.at.End, nil
	case len(pieces) == 1 && !pieces[0].ref:
		return x.text[pieces[0].at.Start:pieces[0].at.End], pieces[0].at.Start, nil
	}
	x.decoded.reset(false)
	x.decodePieces(pieces)
	return x.decoded.buf, 0, x.decoded.from
}

// A Root is the kind of an XML document, which its root element decides.
type Root uint8

const (
	RootOther        Root = iota // no known document
	RootRSS                      // RSS 0.91 to 2.0
	RootRDF                      // RSS 0.90 and 1.0
	RootAtom                     // RFC 4287
	RootSitemap                  // https://www.sitemaps.org/protocol.html
	RootSitemapIndex             //
	RootOPML                     // http://opml.org/spec2.opml
	RootOpenSearch               // an OpenSearch description
)

// rootNames has the local names of root elements. The namespace does not
// matter, because feed readers and search engines also read feeds and sitemaps
// with a wrong namespace or none.
var rootNames = map[string]Root{
	"rss": RootRSS, "RDF": RootRDF, "feed": RootAtom, "urlset": RootSitemap, "sitemapindex": RootSitemapIndex,
	"opml": RootOPML, "OpenSearchDescription": RootOpenSearch,
}

// RootOf returns the kind of an XML document from its first few KiB. It returns
// RootOther for other files, and if the root element is not in head.
//
// An RDF document is a feed only if head declares a namespace of RSS.
func RootOf(head []byte) Root {
	// The names are ASCII, so UTF-16 differs only by zero bytes.
	if bytes.IndexByte(head, 0) >= 0 {
		head = bytes.ReplaceAll(head, []byte{0}, nil)
		head = bytes.TrimPrefix(bytes.TrimPrefix(head, []byte("\xFF\xFE")), []byte("\xFE\xFF"))
	}
	head = bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))
	for {
		i := skipSpace(head, 0)
		head = head[i:]
		switch {
		case len(head) < 2 || head[0] != '<':
			return RootOther
		case head[1] == '?':
			head = afterMark(head, "?>")
		case bytes.HasPrefix(head, []byte("<!--")):
			head = afterMark(head[4:], "-->")
		case head[1] == '!':
			head = afterDoctype(head)
		default:
			name := head[1:nameLen(head, 1)]
			root := rootNames[string(name[bytes.IndexByte(name, ':')+1:])]
			if root == RootRDF && !bytes.Contains(head, []byte("purl.org/rss/")) && !bytes.Contains(head, []byte("netscape.com/rdf/")) {
				return RootOther
			}
			return root
		}
	}
}

// afterMark returns the text after mark, or nil if mark is not in text.
func afterMark(text []byte, mark string) []byte {
	_, rest, _ := bytes.Cut(text, []byte(mark))
	return rest
}

// afterDoctype skips a document type without a complete parser: up to the ">"
// after its internal subset, if it has one.
func afterDoctype(text []byte) []byte {
	end := bytes.IndexByte(text, '>')
	if open := bytes.IndexByte(text, '['); open >= 0 && open < end {
		text = afterMark(text, "]")
		end = bytes.IndexByte(text, '>')
	}
	if end < 0 {
		return nil
	}
	return text[end+1:]
}
