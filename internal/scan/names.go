package scan

import "encoding/binary"

// Tag is an element's name, as far as the scanner tells elements apart.
type Tag uint8

// Attr is an attribute's name, as far as the scanner tells attributes apart.
type Attr uint8

const (
	tagOther Tag = iota
	TagA
	TagApplet
	TagArea
	TagAudio
	TagBase
	TagBgsound
	TagBlockquote
	TagBody
	TagButton
	TagCaption
	TagCol
	TagColgroup
	TagDel
	TagEmbed
	TagForm
	TagFrame
	TagFrameset
	TagHead
	TagHTML
	TagIframe
	TagImage
	TagImg
	TagInput
	TagIns
	TagLink
	TagMap
	TagMath
	TagMeta
	TagNoembed
	TagNoframes
	TagNoscript
	TagObject
	TagPlaintext
	TagQ
	TagScript
	TagSelect
	TagSource
	TagStyle
	TagSVG
	TagTable
	TagTbody
	TagTd
	TagTemplate
	TagTextarea
	TagTfoot
	TagTh
	TagThead
	TagTitle
	TagTr
	TagTrack
	TagVideo
	TagXmp
	tagCount
)

const (
	attrOther Attr = iota
	AttrAction
	AttrArchive
	AttrBackground
	AttrCharset
	AttrCite
	AttrClassid
	AttrClipPath
	AttrCode
	AttrCodebase
	AttrContent
	AttrData
	AttrDynsrc
	AttrFill
	AttrFilter
	AttrFormaction
	AttrHref
	AttrHTTPEquiv
	AttrID
	AttrImagesrcset
	AttrItemprop
	AttrLongdesc
	AttrLowsrc
	AttrManifest
	AttrMarkerEnd
	AttrMarkerMid
	AttrMarkerStart
	AttrMask
	AttrName
	AttrPing
	AttrPoster
	AttrProfile
	AttrProperty
	AttrRel
	AttrShadowrootmode
	AttrSrc
	AttrSrcset
	AttrStroke
	AttrStyle
	AttrType
	AttrUsemap
	AttrXlinkHref
	// AttrText stands for the element's text (style, JSON-LD); its name is empty.
	AttrText
	// attrIgnored stands for frequent attributes that mean nothing here: the
	// tokenizer is done with a name sooner when it knows it.
	attrIgnored
	attrCount
)

// String returns the attribute's name, "" for [AttrText].
func (a Attr) String() string { return attrNames[a] }

var attrNames = [attrCount]string{
	AttrAction: "action", AttrArchive: "archive", AttrBackground: "background", AttrCharset: "charset",
	AttrCite: "cite", AttrClassid: "classid", AttrClipPath: "clip-path", AttrCode: "code",
	AttrCodebase: "codebase", AttrContent: "content", AttrData: "data", AttrDynsrc: "dynsrc",
	AttrFill: "fill", AttrFilter: "filter", AttrFormaction: "formaction", AttrHref: "href",
	AttrHTTPEquiv: "http-equiv", AttrID: "id", AttrImagesrcset: "imagesrcset", AttrItemprop: "itemprop", AttrLongdesc: "longdesc",
	AttrLowsrc: "lowsrc", AttrManifest: "manifest", AttrMarkerEnd: "marker-end", AttrMarkerMid: "marker-mid",
	AttrMarkerStart: "marker-start", AttrMask: "mask", AttrName: "name", AttrPing: "ping",
	AttrPoster: "poster", AttrProfile: "profile", AttrProperty: "property", AttrRel: "rel", AttrShadowrootmode: "shadowrootmode", AttrSrc: "src",
	AttrSrcset: "srcset", AttrStroke: "stroke", AttrStyle: "style", AttrType: "type", AttrUsemap: "usemap",
	AttrXlinkHref: "xlink:href",
}

// foldASCII turns upper-case ASCII letters to lower case, eight at a time.
const (
	foldASCII = 0x2020202020202020
)

// pack returns the lower-cased name as one word; the caller has made sure
// that len(name) is 1 to 8. Only names of letters may be compared with it:
// folding by OR maps other bytes together.
func pack(name []byte) uint64 {
	var w uint64
	for i := len(name) - 1; i >= 0; i-- {
		w = w<<8 | uint64(name[i]|0x20)
	}
	return w
}

// packAt is pack for a name inside text, in one load where text is long enough.
func packAt(text []byte, i, n int) uint64 {
	if i+8 <= len(text) {
		w := binary.LittleEndian.Uint64(text[i:]) | foldASCII
		return w & (1<<(uint(n)*8) - 1) // n == 8: the shift gives 0, minus 1 is all ones
	}
	return pack(text[i : i+n])
}

// tagAt returns the tag whose name is text[i:j].
func tagAt(text []byte, i, j int) Tag {
	n := j - i
	if n > 8 {
		return longTag(text[i:j])
	}
	return tagSlots.find(packAt(text, i, n))
}

func longTag(name []byte) Tag {
	switch {
	case foldEqual(name, "blockquote"):
		return TagBlockquote
	case foldEqual(name, "plaintext"):
		return TagPlaintext
	}
	return tagOther
}

// attrAt returns the attribute whose name is text[i:j].
func attrAt(text []byte, i, j int) Attr {
	n := j - i
	if n > 8 {
		return longAttr(text[i:j])
	}
	return Attr(attrSlots.find(packAt(text, i, n)))
}

func longAttr(name []byte) Attr {
	switch name[0] | 0x20 {
	case 'b', 'c', 'f', 'h', 'i', 'm', 's', 'x':
		for _, a := range longAttrs {
			if foldEqual(name, attrNames[a]) {
				return a
			}
		}
	}
	return attrOther
}

var longAttrs = [...]Attr{AttrBackground, AttrClipPath, AttrFormaction, AttrHTTPEquiv, AttrImagesrcset,
	AttrMarkerEnd, AttrMarkerMid, AttrMarkerStart, AttrShadowrootmode, AttrXlinkHref}

// foldEqual tells whether b is the lower-case ASCII name, in any letter case.
// Unlike bytes.EqualFold it does not take U+017F for an s.
func foldEqual(b []byte, name string) bool {
	if len(b) != len(name) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != name[i] {
			return false
		}
	}
	return true
}

// slots is a hash table from packed names to codes without collision, so that
// a look-up is one multiplication and one comparison.
type slots struct {
	mul  uint64
	key  [slotCount]uint64
	code [slotCount]Tag
}

const (
	slotBits  = 9
	slotCount = 1 << slotBits
)

func (t *slots) find(w uint64) Tag {
	h := w * t.mul >> (64 - slotBits)
	if t.key[h] == w {
		return t.code[h]
	}
	return 0
}

// newSlots searches for a multiplier under which no two names collide, from
// mul on. mul is one that does, so that nothing is searched for when the
// program starts; TestSlots says so when the names change.
func newSlots(names map[string]Tag, mul uint64) *slots {
	words := make([]uint64, 0, len(names))
	codes := make(map[uint64]Tag, len(names))
	for name, code := range names {
		w := pack([]byte(name))
		words, codes[w] = append(words, w), code
	}
	t := &slots{mul: mul}
search:
	for ; ; t.mul += 0x632BE59BD9B4E01A {
		t.key = [slotCount]uint64{}
		for _, w := range words {
			h := w * t.mul >> (64 - slotBits)
			if t.key[h] != 0 {
				continue search
			}
			t.key[h], t.code[h] = w, codes[w]
		}
		return t
	}
}

var tagNames = [tagCount]string{
	TagA: "a", TagApplet: "applet", TagArea: "area", TagAudio: "audio", TagBase: "base", TagBgsound: "bgsound",
	TagBlockquote: "blockquote", TagBody: "body", TagButton: "button", TagCaption: "caption", TagCol: "col",
	TagColgroup: "colgroup", TagDel: "del", TagEmbed: "embed", TagForm: "form", TagFrame: "frame",
	TagFrameset: "frameset", TagHead: "head", TagHTML: "html", TagIframe: "iframe", TagImage: "image",
	TagImg: "img", TagInput: "input", TagIns: "ins", TagLink: "link", TagMap: "map", TagMath: "math",
	TagMeta: "meta", TagNoembed: "noembed", TagNoframes: "noframes", TagNoscript: "noscript",
	TagObject: "object", TagPlaintext: "plaintext", TagQ: "q", TagScript: "script", TagSelect: "select",
	TagSource: "source", TagStyle: "style", TagSVG: "svg", TagTable: "table", TagTbody: "tbody", TagTd: "td",
	TagTemplate: "template", TagTextarea: "textarea", TagTfoot: "tfoot", TagTh: "th", TagThead: "thead",
	TagTitle: "title", TagTr: "tr", TagTrack: "track", TagVideo: "video", TagXmp: "xmp",
}

var (
	tagSlots  = newSlots(tagWords(), tagMultiplier)
	attrSlots = newSlots(attrWords(), attrMultiplier)
)

const (
	tagMultiplier  = 0xF077ABFD763E601F
	attrMultiplier = 0x87291ABA0E8A9E6B
)

// shortNames maps the names that packAt can hold to their index.
func shortNames(names []string) map[string]Tag {
	m := map[string]Tag{}
	for i, n := range names {
		if n != "" && len(n) <= 8 {
			m[n] = Tag(i)
		}
	}
	return m
}

// tagWords are the short tag names, and the frequent ones that mean nothing
// here: a name that the table knows needs no second look.
func tagWords() map[string]Tag {
	m := shortNames(tagNames[:])
	for _, n := range []string{"b", "br", "code", "dd", "details", "div", "dl", "dt", "em", "footer", "h1", "h2", "h3", "h4",
		"h5", "h6", "header", "hr", "i", "label", "li", "main", "nav", "ol", "option", "p", "path", "pre", "section",
		"small", "span", "strong", "sub", "summary", "sup", "tt", "ul", "var", "wbr"} {
		m[n] = tagOther
	}
	return m
}

// attrWords are the short attribute names, the ignored ones included.
func attrWords() map[string]Tag {
	m := shortNames(attrNames[:])
	for _, n := range []string{"class", "title", "lang", "width", "height", "align", "valign", "target", "value", "alt",
		"role", "scope", "colspan", "rowspan", "border", "dir", "size", "color", "loading", "for"} {
		m[n] = Tag(attrIgnored)
	}
	return m
}
