package xml

import (
	"bytes"
	"slices"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/ascii"
	"github.com/sitelink/sitelink/internal/scan/html"
)

// Data reads an XML document that is no page: a feed, a sitemap or sitemap
// index, an OPML list, an OpenSearch description. Its root element decides
// which; any other document has no links. Links are those of the tables in
// xmldatarules.go; XHTML inside is read as in [Scanner.XML], and HTML inside
// text (RSS descriptions, Atom content of type html) as in [Scanner.HTML]. The
// address of an entry has [KindEntry].
//
// Relative links obey xml:base (https://www.w3.org/TR/xmlbase/), and in RSS
// without one those in an item's text start at the item's own link, as feed
// readers have it: [Page.Ref] then differs from the value.
//
// Faults, encoding, memory and the life of text are those of [Scanner.XML].
func (s *Scanner) Feed(text []byte, opt scan.Options) *scan.Page {
	// A header's charset is for HTML; feeds go by their own declaration.
	opt.Charset = ""
	d := &feedReader{s: s}
	p := s.read(text, opt, false, d)
	p.Anchors, p.Bases, p.HasScript = p.Anchors[:0], p.Bases[:0], false
	return p
}

// xmlData takes the links of such a document.
type feedReader struct {
	s       *Scanner
	x       *reader
	root    Root
	rootURI namespace
	home    namespace // the namespace that the root's stands for
	rules   map[expandedName]*feedRule
	bases   []scopedBase
	// In an item of RSS: its address, and the text to read when that is known.
	items    int // open
	address  []byte
	contents []html.Embedded
	// guid is the number of the link that is the item's guid, from 1; 0 for
	// none. One that repeats the address is no second link.
	guid int
	// first is how many links the page had before the item.
	first int
}

// xmlBase is an xml:base in scope.
type scopedBase struct {
	depth int // open elements outside of the one that has it
	value []byte
}

// start handles the start tag at hand.
func (d *feedReader) start(e *element, local uint32, uri namespace) {
	x := d.x
	name := x.text[local:e.name.End]
	if len(x.open) == 0 {
		d.root = rootNames[string(name)]
		d.rules, d.home = rulesByRoot[d.root], homes[d.root]
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
		uri = d.home
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

// url adds the link that an element's text is.
func (d *feedReader) url(e *element, text []byte, off uint32, from []uint32) {
	value := bytes.TrimLeft(text, ascii.Space)
	skipped := len(text) - len(value)
	value = bytes.TrimRight(value, ascii.Space)
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

// dropGUID takes the guid of the item that ends off the page when it repeats
// the address that another element of the item gave.
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
func (d *feedReader) add(e *element, value []byte, off uint32, kind scan.Kind, attribute string) {
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
			v := bytes.Trim(x.attrValue(a), ascii.Space)
			if v = scan.Merge(d.base(), v); len(v) <= scan.MaxBase {
				d.bases = append(d.bases, scopedBase{len(x.open), v})
			}
		}
	}
}

// base returns the xml:base in scope, nil for none.
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

// attrValue returns the value of an attribute, decoded.
func (x *reader) attrValue(a *attribute) []byte {
	if !a.decode {
		return x.text[a.val.Start:a.val.End]
	}
	x.sink.reset(false)
	x.decode(x.text[a.val.Start:a.val.End], int(a.val.Start), false, true)
	return x.s.el.Keep(x.sink.buf)
}

// plainText returns the text of the element at hand. Its source is what stands
// at off when from is nil, else from has the offset of each byte; text and from
// are then valid until the next call.
func (x *reader) plainText(e *element) (text []byte, off uint32, from []uint32) {
	parts := x.parts[e.parts:]
	switch {
	case len(parts) == 0:
		return nil, e.at.End, nil
	case len(parts) == 1 && !parts[0].ref:
		return x.text[parts[0].at.Start:parts[0].at.End], parts[0].at.Start, nil
	}
	x.sink.reset(false)
	for _, p := range parts {
		b := x.text[p.at.Start:p.at.End]
		if p.ref {
			x.decode(b, int(p.at.Start), false, false)
			continue
		}
		x.sink.buf = append(x.sink.buf, b...)
		for i := p.at.Start; i < p.at.End; i++ {
			x.sink.from = append(x.sink.from, i)
		}
	}
	return x.sink.buf, 0, x.sink.from
}

// A Root is what the root element of an XML document makes of it.
type Root uint8

const (
	RootOther        Root = iota // nothing that holds links
	RootRSS                      // RSS 0.91 to 2.0
	RootRDF                      // RSS 0.90 and 1.0
	RootAtom                     // RFC 4287
	RootSitemap                  // https://www.sitemaps.org/protocol.html
	RootSitemapIndex             //
	RootOPML                     // http://opml.org/spec2.opml
	RootOpenSearch               // an OpenSearch description
)

// rootNames: the local name tells, whatever the namespace: feeds and sitemaps
// with a wrong one or none are read by their readers too.
var rootNames = map[string]Root{
	"rss": RootRSS, "RDF": RootRDF, "feed": RootAtom, "urlset": RootSitemap, "sitemapindex": RootSitemapIndex,
	"opml": RootOPML, "OpenSearchDescription": RootOpenSearch,
}

// RootOf tells from the first bytes of a file, a few KiB of them, what XML
// document it is. RootOther also stands for what is no XML, and for a document
// whose root element lies beyond head.
//
// An RDF document is a feed only when its head declares a namespace of RSS.
func RootOf(head []byte) Root {
	// The names sought are ASCII: UTF-16 is the same but for the zero bytes.
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
			head = behind(head, "?>")
		case bytes.HasPrefix(head, []byte("<!--")):
			head = behind(head[4:], "-->")
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

// behind returns what follows mark, nil when it is not there.
func behind(text []byte, mark string) []byte {
	_, rest, _ := bytes.Cut(text, []byte(mark))
	return rest
}

// afterDoctype skips a document type, roughly: to the ">" behind its internal
// subset, if it has one.
func afterDoctype(text []byte) []byte {
	end := bytes.IndexByte(text, '>')
	if open := bytes.IndexByte(text, '['); open >= 0 && open < end {
		text = behind(text, "]")
		end = bytes.IndexByte(text, '>')
	}
	if end < 0 {
		return nil
	}
	return text[end+1:]
}
