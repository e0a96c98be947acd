package html

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/scan"
)

// Namespace is the namespace of an element.
type Namespace uint8

const (
	HTML Namespace = iota
	SVG
	MathML
)

// Elements adds the links and anchors of elements to a page. Call Emit for each
// start tag, and StyleText and ScriptText for the text of those elements.
// The HTML scanner uses it, and the XML scanner for XHTML and SVG.
type Elements struct {
	scan.Builder
	Tags scan.Tags
	// Attrs are the attributes of the current tag, as ranges of the page's text.
	Attrs scan.AttrSet
	// Inert means that the current tag is inside a template, Shadow that it is
	// inside a declarative shadow root or begins one. Links there count, but
	// names belong to the shadow tree.
	Inert, Shadow bool
	// Around is the [scan.Link.Exempt] of the elements around the current tag.
	Around *string

	exempt *string  // of the current tag
	tag    scan.Tag // the value for Link.Tag
	at     scan.Span

	inner *Scanner // reads srcdoc attributes; nil before the first
	depth int      // of the documents in srcdoc attributes
}

// Emit adds the links and anchors of a start tag. at is its range in the page's
// text. The new links are sorted by offset.
func (e *Elements) Emit(tag scan.Tag, ns Namespace, at scan.Span) {
	set := &e.Attrs
	if set.Has(scan.AttrID) {
		e.Anchor(scan.AttrID, scan.AnchorID)
	}
	first := len(e.Page.Links)
	e.tag, e.at = tag, at
	e.Exemption()
	switch {
	case e.Tags == scan.Linklint:
		if ns != HTML {
			return
		}
		e.rules(linklintTable[tag])
	case ns != HTML:
		e.tag = scan.TagOther // svg has its own image and a
		if set.Seen&(1<<scan.AttrHref|1<<scan.AttrXlinkHref) != 0 {
			e.foreignHref(ns)
		}
		e.rules(foreignRules)
		if set.Has(scan.AttrStyle) {
			e.take(rule{scan.AttrStyle, scan.KindLink, shapeCSS})
		}
	default:
		e.rules(modernTable[tag])
		if set.Has(scan.AttrStyle) {
			e.take(rule{scan.AttrStyle, scan.KindLink, shapeCSS})
		}
	}
	if ns == HTML {
		e.special()
	}
	// Nearly always there are few links and they are in order, so this is an
	// insertion sort. With two long lists in one tag that would take quadratic
	// time.
	if len(e.Page.Links)-first > 32 {
		slices.SortStableFunc(e.Page.Links[first:], func(a, b scan.Link) int { return cmp.Compare(a.Off, b.Off) })
		return
	}
	for links, i := e.Page.Links, first+1; i < len(links); i++ {
		for j := i; j > first && links[j].Off < links[j-1].Off; j-- {
			links[j], links[j-1] = links[j-1], links[j]
		}
	}
}

// Exemption returns the [scan.Link.Exempt] of the current tag.
func (e *Elements) Exemption() *string {
	if e.exempt = e.Around; e.Attrs.Has(scan.AttrExempt) {
		reason := string(e.value(e.Attrs.Val[scan.AttrExempt]))
		e.exempt = &reason
	}
	return e.exempt
}

// Anchor adds the anchor that an attribute of the current tag defines, unless
// it is empty or not of the page.
func (e *Elements) Anchor(a scan.Attr, kind scan.AnchorKind) {
	sp := e.Attrs.Val[a]
	if sp.Start == sp.End || e.Inert || e.Shadow {
		return
	}
	e.Page.Anchors = append(e.Page.Anchors, scan.Anchor{Name: e.value(sp), Off: sp.Start, Kind: kind})
}

// source returns the source text of an attribute of the current tag.
func (e *Elements) source(a scan.Attr) []byte {
	sp := e.Attrs.Val[a]
	return e.Page.Text[sp.Start:sp.End]
}

// value returns the value of the attribute at sp as the DOM has it. It usually
// is a part of the page's text, and otherwise a part of the arena.
func (e *Elements) value(sp scan.Span) []byte {
	raw := e.Page.Text[sp.Start:sp.End]
	class := scan.ClassifyValue(raw)
	if class == 0 {
		return raw
	}
	if class&scan.ValueNonASCII != 0 {
		e.NonASCII = true
	}
	if class&scan.ValueDecode == 0 {
		return raw
	}
	from := len(e.Arena)
	e.Arena = scan.DecodeRefs(e.Arena, raw, nil)
	return e.Arena[from:len(e.Arena):len(e.Arena)]
}

func (e *Elements) rules(rules []rule) {
	for _, r := range rules {
		if e.Attrs.Has(r.attr) {
			e.take(r)
		}
	}
}

// addLink adds a link of the current tag, except references into a shadow tree.
func (e *Elements) addLink(value []byte, off uint32, attr scan.Attr, kind scan.LinkKind) {
	e.Page.Links = append(e.Page.Links, scan.Link{Value: value, Off: off, TagOff: e.at.Start, Tag: e.tag, Attr: attr, Kind: kind, Inert: e.Inert, Exempt: e.exempt})
	if e.Shadow && (kind == scan.KindMap || len(value) > 0 && value[0] == '#') {
		last := len(e.Page.Links) - 1
		if kind == scan.KindMap || kind == scan.KindReference || e.tag == scan.TagOther && e.Page.Element(&e.Page.Links[last]) != "a" {
			e.Page.Links = e.Page.Links[:last]
		}
	}
}

// take adds the links in one attribute.
func (e *Elements) take(r rule) {
	sp := e.Attrs.Val[r.attr]
	switch r.shape {
	case shapeURL:
		e.addLink(e.value(sp), sp.Start, r.attr, r.kind)
	case shapeCSS:
		if bytes.IndexByte(e.Page.Text[sp.Start:sp.End], '(') < 0 {
			return // without a parenthesis there is no url()
		}
		v, places := e.composite(sp)
		e.css(v, r.attr, r.kind, places)
	case shapeSrcset:
		v, places := e.composite(sp)
		srcset(v, func(start, end int) {
			e.addLink(v[start:end], places.at(start), r.attr, r.kind)
		})
	case shapeList, shapeCommas:
		v, places := e.composite(sp)
		for i := 0; i < len(v); {
			isEnd := func(c byte) bool {
				return scan.IsSpace(c) || c == ',' && r.shape == shapeCommas
			}
			if isEnd(v[i]) {
				i++
				continue
			}
			j := i
			for j < len(v) && !isEnd(v[j]) {
				j++
			}
			e.addLink(v[i:j], places.at(i), r.attr, r.kind)
			i = j
		}
	}
}

// css adds the URLs of a style sheet or a list of declarations.
func (e *Elements) css(text []byte, attr scan.Attr, kind scan.LinkKind, places places) {
	scan.CSSURLs(text, func(css scan.CSSKind, start, end int, value []byte) {
		k := kind
		if k == scan.KindLink {
			k = css.Kind()
		}
		if len(value) > 0 && value[0] == '#' {
			k = scan.KindReference
		}
		e.addLink(e.Value(text, start, end, value), places.at(start), attr, k)
	})
}

// places converts offsets in a decoded value to offsets in the page's text.
type places struct {
	start uint32
	table []uint32 // nil if the value is the same as its source text
}

func (p places) at(i int) uint32 {
	switch {
	case p.table == nil:
		return p.start + uint32(i)
	case i < len(p.table):
		return p.start + p.table[i]
	case len(p.table) > 0:
		return p.start + p.table[len(p.table)-1]
	}
	return p.start
}

// composite is value for attributes that hold several URLs. It also returns
// where each byte of the value is in the page's text.
func (e *Elements) composite(sp scan.Span) ([]byte, places) {
	v := e.value(sp)
	raw := e.Page.Text[sp.Start:sp.End]
	if len(raw) == 0 || len(v) == len(raw) && &v[0] == &raw[0] {
		return v, places{start: sp.Start}
	}
	var table []uint32
	v = scan.DecodeRefs(nil, raw, &table)
	return v, places{start: sp.Start, table: table}
}

// StyleText adds the URLs in the text of a style element. at is the range of
// its tag, and Attrs has its attributes.
func (e *Elements) StyleText(at, content scan.Span) {
	if e.Tags == scan.Linklint || content.Start == content.End {
		return
	}
	if e.Attrs.Has(scan.AttrType) {
		if kind := e.source(scan.AttrType); len(kind) > 0 && !scan.EqualFold(kind, "text/css") {
			return // HTML 4.2.6: not a style sheet to browsers
		}
	}
	text := e.Page.Text[content.Start:content.End]
	e.NoteBytes(text)
	e.tag, e.at = scan.TagStyle, at
	e.css(text, scan.AttrText, scan.KindLink, places{start: content.Start})
}

// shape is how an attribute's value holds URLs.
type shape uint8

const (
	shapeURL    shape = iota // the whole value is one
	shapeList                // several, separated by spaces (ping)
	shapeCommas              // several, separated by commas (archive of applet)
	shapeSrcset              // HTML 4.8.4.2.2
	shapeCSS                 // declarations with url()
)

// rule is one row of a link table: an attribute, and the kind of its links.
type rule struct {
	attr  scan.Attr
	kind  scan.LinkKind
	shape shape
}

// modernTable lists the attributes that hold links, by element. It is the union
// of what browsers follow and what other link checkers find. special.go has the
// rules for base, meta, the relations of link, and applet.
var modernTable = [scan.TagCount][]rule{
	scan.TagA:          {{scan.AttrHref, scan.KindLink, shapeURL}, {scan.AttrPing, scan.KindPing, shapeList}},
	scan.TagArea:       {{scan.AttrHref, scan.KindLink, shapeURL}, {scan.AttrPing, scan.KindPing, shapeList}},
	scan.TagAudio:      {{scan.AttrSrc, scan.KindResource, shapeURL}},
	scan.TagBgsound:    {{scan.AttrSrc, scan.KindLink, shapeURL}},
	scan.TagBlockquote: {{scan.AttrCite, scan.KindMetadata, shapeURL}},
	scan.TagBody:       {{scan.AttrBackground, scan.KindLink, shapeURL}},
	scan.TagButton:     {{scan.AttrFormaction, scan.KindAction, shapeURL}},
	scan.TagDel:        {{scan.AttrCite, scan.KindMetadata, shapeURL}},
	scan.TagEmbed:      {{scan.AttrSrc, scan.KindLink, shapeURL}},
	scan.TagForm:       {{scan.AttrAction, scan.KindAction, shapeURL}},
	scan.TagFrame:      {{scan.AttrSrc, scan.KindLink, shapeURL}, {scan.AttrLongdesc, scan.KindLink, shapeURL}},
	scan.TagHead:       {{scan.AttrProfile, scan.KindMetadata, shapeList}},
	scan.TagHTML:       {{scan.AttrManifest, scan.KindLink, shapeURL}},
	scan.TagIframe:     {{scan.AttrSrc, scan.KindLink, shapeURL}, {scan.AttrLongdesc, scan.KindLink, shapeURL}},
	scan.TagImage:      imgRules,
	scan.TagImg:        imgRules,
	scan.TagInput: {{scan.AttrSrc, scan.KindResource, shapeURL}, {scan.AttrFormaction, scan.KindAction, shapeURL},
		{scan.AttrUsemap, scan.KindMap, shapeURL}},
	scan.TagIns:  {{scan.AttrCite, scan.KindMetadata, shapeURL}},
	scan.TagLink: {{scan.AttrHref, scan.KindLink, shapeURL}, {scan.AttrImagesrcset, scan.KindResource, shapeSrcset}},
	scan.TagObject: {{scan.AttrData, scan.KindLink, shapeURL}, {scan.AttrClassid, scan.KindLink, shapeURL},
		{scan.AttrArchive, scan.KindLink, shapeList}, {scan.AttrUsemap, scan.KindMap, shapeURL}},
	scan.TagQ:      {{scan.AttrCite, scan.KindMetadata, shapeURL}},
	scan.TagScript: {{scan.AttrSrc, scan.KindResource, shapeURL}},
	scan.TagSource: {{scan.AttrSrc, scan.KindResource, shapeURL}, {scan.AttrSrcset, scan.KindResource, shapeSrcset}},
	scan.TagTable:  backgroundRules,
	scan.TagTbody:  backgroundRules,
	scan.TagTd:     backgroundRules,
	scan.TagTfoot:  backgroundRules,
	scan.TagTh:     backgroundRules,
	scan.TagThead:  backgroundRules,
	scan.TagTr:     backgroundRules,
	scan.TagTrack:  {{scan.AttrSrc, scan.KindResource, shapeURL}},
	scan.TagVideo:  {{scan.AttrSrc, scan.KindResource, shapeURL}, {scan.AttrPoster, scan.KindLink, shapeURL}},
}

var (
	backgroundRules = []rule{{scan.AttrBackground, scan.KindLink, shapeURL}}
	imgRules        = []rule{{scan.AttrSrc, scan.KindResource, shapeURL}, {scan.AttrSrcset, scan.KindResource, shapeSrcset},
		{scan.AttrLowsrc, scan.KindLink, shapeURL}, {scan.AttrDynsrc, scan.KindLink, shapeURL}, {scan.AttrLongdesc, scan.KindLink, shapeURL},
		{scan.AttrUsemap, scan.KindMap, shapeURL}}
)

// foreignHref adds the link in the href or xlink:href of an svg or math
// element. Browsers prefer href (SVG 2, 16.1.6). Chromium requests scripts of
// svg whatever their type is.
func (e *Elements) foreignHref(ns Namespace) {
	if !e.Page.Prefixed { // otherwise the XML scanner has looked
		name := e.Page.Text[e.at.Start+1 : e.at.End]
		if k := bytes.IndexAny(name, "\t\n\f\r />"); k >= 0 {
			name = name[:k]
		}
		if !HasLink(ns, name) {
			return
		}
	}
	attr := scan.AttrHref
	if !e.Attrs.Has(attr) {
		if attr = scan.AttrXlinkHref; ns == MathML {
			return
		}
	}
	e.take(rule{attr, scan.KindLink, shapeURL})
}

// HasLink reports whether the href of a foreign element with that local name
// is a link. No browser follows xlink:href of MathML elements; see foreignHref.
func HasLink(ns Namespace, name []byte) bool {
	lower := bytes.ToLower(name)
	return ns == SVG && svgLinks[string(lower)] || ns == MathML && !mathWithoutLink[string(lower)]
}

// svgLinks are the elements of svg, in lower case, with an href that is a link
// or a reference (SVG 2; SVG Animations; Filter Effects; SVG 1.1 for fonts).
var svgLinks = map[string]bool{"a": true, "image": true, "use": true, "script": true, "feimage": true, "textpath": true, "mpath": true,
	"lineargradient": true, "radialgradient": true, "pattern": true, "animate": true, "animatemotion": true, "animatetransform": true,
	"set": true, "discard": true, "tref": true, "cursor": true, "filter": true, "altglyph": true, "glyphref": true, "font-face-uri": true,
	"color-profile": true, "animatecolor": true}

// mathWithoutLink are the elements of MathML with an href that no browser
// follows. Firefox follows the href of all others (MathML 3, 2.1.6), Chromium
// of none.
var mathWithoutLink = map[string]bool{"mprescripts": true, "none": true, "malignmark": true, "mglyph": true, "semantics": true,
	"annotation": true, "annotation-xml": true}

// foreignRules apply to every element of svg and math.
var foreignRules = []rule{
	{scan.AttrClipPath, scan.KindReference, shapeCSS}, {scan.AttrCursor, scan.KindLink, shapeCSS}, {scan.AttrFill, scan.KindReference, shapeCSS},
	{scan.AttrFilter, scan.KindReference, shapeCSS}, {scan.AttrMarkerEnd, scan.KindReference, shapeCSS},
	{scan.AttrMarkerMid, scan.KindReference, shapeCSS}, {scan.AttrMarkerStart, scan.KindReference, shapeCSS},
	{scan.AttrMask, scan.KindReference, shapeCSS}, {scan.AttrStroke, scan.KindReference, shapeCSS}}

// linklintTable is the table of linklint (LL-38 to LL-53). special.go has the
// rules for anchors by name, applet, base and meta.
var linklintTable = [scan.TagCount][]rule{
	scan.TagA:       {{scan.AttrHref, scan.KindLink, shapeURL}},
	scan.TagArea:    {{scan.AttrHref, scan.KindLink, shapeURL}},
	scan.TagBgsound: {{scan.AttrSrc, scan.KindLink, shapeURL}},
	scan.TagBody:    {{scan.AttrBackground, scan.KindLink, shapeURL}},
	scan.TagEmbed:   {{scan.AttrSrc, scan.KindLink, shapeURL}},
	scan.TagForm:    {{scan.AttrAction, scan.KindAction, shapeURL}},
	scan.TagFrame:   {{scan.AttrSrc, scan.KindLink, shapeURL}},
	scan.TagImg: {{scan.AttrSrc, scan.KindLink, shapeURL}, {scan.AttrLowsrc, scan.KindLink, shapeURL}, {scan.AttrDynsrc, scan.KindLink, shapeURL},
		{scan.AttrUsemap, scan.KindMap, shapeURL}},
	scan.TagInput:  {{scan.AttrSrc, scan.KindLink, shapeURL}},
	scan.TagScript: {{scan.AttrSrc, scan.KindLink, shapeURL}},
}

// srcset calls emit with the range of each candidate's URL in value, in order.
// The value is a srcset or imagesrcset attribute with its character references
// decoded. It may hold any bytes. srcset allocates nothing and takes linear
// time.
//
// A candidate with invalid descriptors ("a.png 1q") is left out, because
// browsers do not load it.
//
// Spec: HTML,
// https://html.spec.whatwg.org/multipage/images.html#parse-a-srcset-attribute
func srcset(value []byte, emit func(start, end int)) {
	for i := 0; ; {
		for i < len(value) && (value[i] == ',' || scan.IsSpace(value[i])) {
			i++
		}
		if i == len(value) {
			return
		}
		start := i
		for i < len(value) && !scan.IsSpace(value[i]) {
			i++
		}
		end := i
		// Commas inside a URL belong to it (data:), and commas at its end close
		// the candidate. The first byte is not a comma, so the loop ends.
		for value[end-1] == ',' {
			end--
		}
		valid := true
		if end == i {
			from := i
			i = skipDescriptors(value, i)
			valid = validDescriptors(value[from:i])
		}
		if valid {
			emit(start, end)
		}
	}
}

// validDescriptors reports whether browsers accept the descriptors of a
// candidate, which may end with a comma: nothing, a density, or a width, with
// which a height may be.
func validDescriptors(list []byte) bool {
	list = bytes.TrimSuffix(list, []byte(","))
	var seen [3]bool // w, x, h
	for len(list) > 0 {
		if scan.IsSpace(list[0]) {
			list = list[1:]
			continue
		}
		n := 0
		for n < len(list) && !scan.IsSpace(list[n]) {
			n++
		}
		number, unit := list[:n-1], bytes.IndexByte([]byte("wxh"), list[n-1])
		list = list[n:]
		if unit < 0 || seen[unit] || !validNumber(number, unit == 1) {
			return false
		}
		seen[unit] = true
	}
	return !(seen[1] && (seen[0] || seen[2])) && (!seen[2] || seen[0])
}

// validNumber reports whether s is a positive integer or, for a density, a
// floating-point number that is not negative (HTML 2.3.4).
func validNumber(s []byte, density bool) bool {
	if !density {
		for _, c := range s {
			if !scan.IsDigit(c) {
				return false
			}
		}
		return len(bytes.TrimLeft(s, "0")) > 0
	}
	if len(s) == 0 || !scan.IsDigit(s[len(s)-1]) || bytes.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789.eE+-", r) }) >= 0 || s[0] == '+' {
		return false
	}
	f, err := strconv.ParseFloat(string(s), 64)
	return (err == nil || errors.Is(err, strconv.ErrRange)) && f >= 0
}

// skipDescriptors returns the offset after the comma that ends the descriptors
// at i, or len(value). Commas inside parentheses do not count; they are
// reserved for future descriptors. Parentheses do not nest, and an open one
// extends to the end.
func skipDescriptors(value []byte, i int) int {
	parens := false
	for ; i < len(value); i++ {
		switch value[i] {
		case '(':
			parens = true
		case ')':
			parens = false
		case ',':
			if !parens {
				return i + 1
			}
		}
	}
	return i
}
