package scan

// Tag is the name of an element that the scanners treat in a special way.
type Tag uint8

// Attr is the name of an attribute that the scanners know.
type Attr uint8

const (
	// TagOther is every element without a constant.
	TagOther Tag = iota
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
	TagCount
)

const (
	// AttrOther is every attribute without a constant.
	AttrOther Attr = iota
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
	AttrCursor
	AttrData
	AttrDynsrc
	AttrExempt
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
	AttrSrcdoc
	AttrSrcset
	AttrStroke
	AttrStyle
	AttrType
	AttrUsemap
	AttrXlinkHref
	// AttrText stands for the element's text (style, JSON-LD). Its name is "".
	AttrText
	AttrCount
)

// String returns the attribute's name, "" for [AttrText].
func (a Attr) String() string { return attrNames[a] }

var attrNames = [AttrCount]string{
	AttrAction: "action", AttrArchive: "archive", AttrBackground: "background", AttrCharset: "charset",
	AttrCite: "cite", AttrClassid: "classid", AttrClipPath: "clip-path", AttrCode: "code",
	AttrCodebase: "codebase", AttrContent: "content", AttrCursor: "cursor", AttrData: "data", AttrDynsrc: "dynsrc",
	AttrExempt: "data-sitelink-ignore",
	AttrFill:   "fill", AttrFilter: "filter", AttrFormaction: "formaction", AttrHref: "href",
	AttrHTTPEquiv: "http-equiv", AttrID: "id", AttrImagesrcset: "imagesrcset", AttrItemprop: "itemprop", AttrLongdesc: "longdesc",
	AttrLowsrc: "lowsrc", AttrManifest: "manifest", AttrMarkerEnd: "marker-end", AttrMarkerMid: "marker-mid",
	AttrMarkerStart: "marker-start", AttrMask: "mask", AttrName: "name", AttrPing: "ping",
	AttrPoster: "poster", AttrProfile: "profile", AttrProperty: "property", AttrRel: "rel", AttrShadowrootmode: "shadowrootmode", AttrSrc: "src",
	AttrSrcdoc: "srcdoc", AttrSrcset: "srcset", AttrStroke: "stroke", AttrStyle: "style", AttrType: "type", AttrUsemap: "usemap",
	AttrXlinkHref: "xlink:href",
}

// String returns the element's name in lower case, "" for [TagOther].
func (t Tag) String() string { return tagNames[t] }

var tagNames = [TagCount]string{
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
