package data

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/sitelink/sitelink/internal/scan"
)

// namespace is a namespace name.
type namespace int32

const (
	uriNone namespace = iota
	uriHTML
	uriSVG
	uriMath
	uriXLink
	uriXML
	uriXMLNS
	uriRSS
	uriAtom
	uriContent
	uriMedia
	uriITunes
	uriPodcast
	uriWFW
	uriSitemap
	uriSitemapImage
	uriSitemapVideo
	uriOutline
	uriOpenSearch
	uriOthers // the first number for other names, in the order of their appearance
)

var wellKnownURIs = map[string]namespace{
	"":                                     uriNone,
	"http://www.w3.org/1999/xhtml":         uriHTML,
	"http://www.w3.org/2000/svg":           uriSVG,
	"http://www.w3.org/1998/Math/MathML":   uriMath,
	"http://www.w3.org/1999/xlink":         uriXLink,
	"http://www.w3.org/XML/1998/namespace": uriXML,
	"http://www.w3.org/2000/xmlns/":        uriXMLNS,

	"http://purl.org/rss/1.0/":                        uriRSS,
	"http://my.netscape.com/rdf/simple/0.9/":          uriRSS,
	"http://channel.netscape.com/rdf/simple/0.9/":     uriRSS,
	"http://backend.userland.com/rss2":                uriRSS,
	"http://www.w3.org/2005/Atom":                     uriAtom,
	"http://purl.org/atom/ns#":                        uriAtom,
	"http://purl.org/rss/1.0/modules/content/":        uriContent,
	"http://search.yahoo.com/mrss/":                   uriMedia,
	"http://search.yahoo.com/mrss":                    uriMedia,
	"http://www.itunes.com/dtds/podcast-1.0.dtd":      uriITunes,
	"https://podcastindex.org/namespace/1.0":          uriPodcast,
	"http://wellformedweb.org/CommentAPI/":            uriWFW,
	"http://www.sitemaps.org/schemas/sitemap/0.9":     uriSitemap,
	"http://www.google.com/schemas/sitemap-image/1.1": uriSitemapImage,
	"http://www.google.com/schemas/sitemap-video/1.1": uriSitemapVideo,
	"http://a9.com/-/spec/opensearch/1.1/":            uriOpenSearch,
}

// namespaces holds the namespace declarations in scope.
type namespaces struct {
	uris  map[string]namespace
	inner map[string]int32 // by prefix: the innermost declaration, from 1, or 0
	stack []binding
}

type binding struct {
	prefix string // "" for the default namespace
	uri    namespace
	outer  int32 // the declaration that this one hides
}

// uri returns the number of a namespace name.
func (ns *namespaces) uri(name []byte) namespace {
	if u, ok := wellKnownURIs[string(name)]; ok {
		return u
	}
	u, ok := ns.uris[string(name)]
	if !ok {
		if ns.uris == nil {
			ns.uris = map[string]namespace{}
		}
		u = uriOthers + namespace(len(ns.uris))
		ns.uris[string(name)] = u
	}
	return u
}

func (ns *namespaces) bind(prefix []byte, uri namespace) {
	if ns.inner == nil {
		ns.inner = map[string]int32{}
	}
	b := binding{prefix: string(prefix), uri: uri, outer: ns.inner[string(prefix)]}
	ns.stack = append(ns.stack, b)
	ns.inner[b.prefix] = int32(len(ns.stack))
}

// find returns the namespace of a prefix. ok is false if the prefix is
// undeclared.
func (ns *namespaces) find(prefix []byte) (uri namespace, ok bool) {
	switch string(prefix) {
	case "xml":
		return uriXML, true
	case "xmlns":
		return uriXMLNS, true
	}
	if n := ns.inner[string(prefix)]; n > 0 {
		return ns.stack[n-1].uri, true
	}
	return uriNone, len(prefix) == 0
}

// mark and release limit the scope of declarations to their element.
func (ns *namespaces) mark() int { return len(ns.stack) }

func (ns *namespaces) release(mark int) {
	for n := len(ns.stack); n > mark; n-- {
		b := &ns.stack[n-1]
		ns.inner[b.prefix] = b.outer
	}
	clear(ns.stack[mark:])
	ns.stack = ns.stack[:mark]
}

// names applies the declarations of the current tag and finds the namespaces of
// its names. It returns the offset of the element's local name, and its
// namespace. As in Chromium, a duplicate attribute and an attribute with an
// undeclared prefix end the document; most other errors do not.
func (x *reader) names(name scan.Span) (local uint32, uri namespace) {
	if len(x.attrs) > 1 {
		if i := x.duplicate(false); i >= 0 {
			x.fail(int(x.attrs[i].name.Start), "duplicate attribute "+x.name(x.attrs[i].name))
			return 0, 0
		}
	}
	prefixed := 0 // number of attributes with a prefix
	for i := range x.attrs {
		a := &x.attrs[i]
		if string(x.text[a.name.Start:a.name.End]) == "xmlns" {
			x.declare(a, nil)
		} else if k, ok := x.colon(a.name); !ok {
			x.fail(int(a.name.Start), "bad attribute name "+x.name(a.name))
			return 0, 0
		} else if k > 0 {
			a.local = k + 1
			if prefixed++; string(x.text[a.name.Start:k]) == "xmlns" {
				x.declare(a, x.text[a.local:a.name.End])
			}
		}
	}
	local = name.Start
	k, ok := x.colon(name)
	if !ok {
		x.warnOrFail(int(name.Start), "bad element name "+x.name(name))
	}
	prefix := []byte(nil)
	if k > 0 {
		prefix, local = x.text[name.Start:k], k+1
	}
	uri, ok = x.ns.find(prefix)
	if !ok {
		x.warnOrFail(int(name.Start), "undeclared prefix of element "+x.name(name))
	}
	if prefixed == 0 {
		return local, uri
	}
	for i := range x.attrs {
		a := &x.attrs[i]
		if !a.prefixed() {
			continue
		}
		if a.uri, ok = x.ns.find(x.text[a.name.Start : a.local-1]); !ok {
			x.fail(int(a.name.Start), "undeclared prefix of attribute "+x.name(a.name))
			return 0, 0
		}
	}
	if prefixed > 1 {
		if i := x.duplicate(true); i >= 0 {
			x.warn(int(x.attrs[i].name.Start), "attribute "+x.name(x.attrs[i].name)+" is repeated with another prefix")
		}
	}
	return local, uri
}

// duplicate returns the first attribute with the same name as an earlier one,
// or -1. It compares expanded names, or the names as written.
func (x *reader) duplicate(expanded bool) int {
	if len(x.attrs) <= fewAttrs {
		for j := range x.attrs {
			for i := range j {
				if x.compare(int32(i), int32(j), expanded) == 0 {
					return j
				}
			}
		}
		return -1
	}
	x.order = x.order[:0]
	for i := range x.attrs {
		x.order = append(x.order, int32(i))
	}
	slices.SortStableFunc(x.order, func(i, j int32) int { return x.compare(i, j, expanded) })
	first := -1
	for n := 1; n < len(x.order); n++ {
		i, j := x.order[n-1], x.order[n]
		if (first < 0 || int(j) < first) && x.compare(i, j, expanded) == 0 {
			first = int(j)
		}
	}
	return first
}

// fewAttrs is the largest number of attributes for comparing every pair.
const fewAttrs = 8

func (x *reader) compare(i, j int32, expanded bool) int {
	a, b := &x.attrs[i], &x.attrs[j]
	if !expanded {
		return bytes.Compare(x.text[a.name.Start:a.name.End], x.text[b.name.Start:b.name.End])
	}
	if c := cmp.Compare(a.uri, b.uri); c != 0 {
		return c
	}
	return bytes.Compare(x.text[a.local:a.name.End], x.text[b.local:b.name.End])
}

// warnOrFail is fail for SVG files, and warn for others.
func (x *reader) warnOrFail(off int, reason string) {
	if x.svg {
		x.fail(off, reason)
	} else {
		x.warn(off, reason)
	}
}

// colon returns the offset of the colon in a qualified name, or 0. ok is false
// if the name is not a qualified name (Namespaces in XML, rule 7).
func (x *reader) colon(name scan.Span) (at uint32, ok bool) {
	b := x.text[name.Start:name.End]
	k := bytes.IndexByte(b, ':')
	if k < 0 {
		return 0, true
	}
	rest := b[k+1:]
	if k == 0 || nameLen(rest, 0) == 0 || bytes.IndexByte(rest, ':') >= 0 {
		return 0, false
	}
	return name.Start + uint32(k), true
}

// declare binds a prefix to the value of an attribute. If prefix is nil, it
// binds the default namespace.
func (x *reader) declare(a *attribute, prefix []byte) {
	value := x.text[a.val.Start:a.val.End]
	if a.decode {
		x.decoded.reset(false)
		x.decode(value, int(a.val.Start), false, true)
		value = x.decoded.buf
	}
	uri := x.ns.uri(value)
	reserved := string(prefix) == "xml" || string(prefix) == "xmlns"
	switch {
	case string(prefix) == "xml" && uri == uriXML:
	case reserved || uri == uriXMLNS || uri == uriXML:
		x.warn(int(a.name.Start), "namespace declaration "+x.name(a.name)+" of a reserved name")
	case prefix != nil && uri == uriNone:
		x.warn(int(a.name.Start), "empty namespace declaration "+x.name(a.name))
	default:
		x.ns.bind(prefix, uri)
	}
}
