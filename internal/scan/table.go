package scan

// shape says how an attribute's value holds URLs.
type shape uint8

const (
	shapeURL    shape = iota // the whole value
	shapeList                // several, separated by spaces (ping)
	shapeCommas              // several, separated by commas (archive of applet)
	shapeSrcset              // HTML 4.8.4.2.2
	shapeCSS                 // declarations with url()
)

// rule is one row of a link table: an attribute and what its value is for.
type rule struct {
	attr  Attr
	kind  Kind
	shape shape
}

// modernTable lists the attributes that hold links, by element. It is the
// union of what browsers follow and what the link checkers known to us take.
// base, meta, link rel and applet have rules of their own in emit.go.
var modernTable = [tagCount][]rule{
	TagA:          {{AttrHref, KindLink, shapeURL}, {AttrPing, KindPing, shapeList}},
	TagArea:       {{AttrHref, KindLink, shapeURL}, {AttrPing, KindPing, shapeList}},
	TagAudio:      {{AttrSrc, KindResource, shapeURL}},
	TagBgsound:    {{AttrSrc, KindLink, shapeURL}},
	TagBlockquote: {{AttrCite, KindMetadata, shapeURL}},
	TagBody:       {{AttrBackground, KindLink, shapeURL}},
	TagButton:     {{AttrFormaction, KindAction, shapeURL}},
	TagDel:        {{AttrCite, KindMetadata, shapeURL}},
	TagEmbed:      {{AttrSrc, KindLink, shapeURL}},
	TagForm:       {{AttrAction, KindAction, shapeURL}},
	TagFrame:      {{AttrSrc, KindLink, shapeURL}, {AttrLongdesc, KindLink, shapeURL}},
	TagHead:       {{AttrProfile, KindMetadata, shapeList}},
	TagHTML:       {{AttrManifest, KindLink, shapeURL}},
	TagIframe:     {{AttrSrc, KindLink, shapeURL}, {AttrLongdesc, KindLink, shapeURL}},
	TagImage:      imgRules,
	TagImg:        imgRules,
	TagInput: {{AttrSrc, KindLink, shapeURL}, {AttrFormaction, KindAction, shapeURL},
		{AttrUsemap, KindMap, shapeURL}},
	TagIns:  {{AttrCite, KindMetadata, shapeURL}},
	TagLink: {{AttrHref, KindLink, shapeURL}, {AttrImagesrcset, KindResource, shapeSrcset}},
	TagObject: {{AttrData, KindLink, shapeURL}, {AttrClassid, KindLink, shapeURL},
		{AttrCodebase, KindMetadata, shapeURL}, {AttrArchive, KindLink, shapeList}, {AttrUsemap, KindMap, shapeURL}},
	TagQ:      {{AttrCite, KindMetadata, shapeURL}},
	TagScript: {{AttrSrc, KindResource, shapeURL}},
	TagSource: {{AttrSrc, KindResource, shapeURL}, {AttrSrcset, KindResource, shapeSrcset}},
	TagTable:  backgroundRules,
	TagTbody:  backgroundRules,
	TagTd:     backgroundRules,
	TagTfoot:  backgroundRules,
	TagTh:     backgroundRules,
	TagThead:  backgroundRules,
	TagTr:     backgroundRules,
	TagTrack:  {{AttrSrc, KindResource, shapeURL}},
	TagVideo:  {{AttrSrc, KindResource, shapeURL}, {AttrPoster, KindLink, shapeURL}},
}

var (
	backgroundRules = []rule{{AttrBackground, KindLink, shapeURL}}
	imgRules        = []rule{{AttrSrc, KindResource, shapeURL}, {AttrSrcset, KindResource, shapeSrcset},
		{AttrLowsrc, KindLink, shapeURL}, {AttrDynsrc, KindLink, shapeURL}, {AttrLongdesc, KindLink, shapeURL},
		{AttrUsemap, KindMap, shapeURL}}
)

// foreignRules hold for every element of svg and math.
var foreignRules = []rule{{AttrHref, KindLink, shapeURL}, {AttrXlinkHref, KindLink, shapeURL},
	{AttrClipPath, KindReference, shapeCSS}, {AttrFill, KindReference, shapeCSS},
	{AttrFilter, KindReference, shapeCSS}, {AttrMarkerEnd, KindReference, shapeCSS},
	{AttrMarkerMid, KindReference, shapeCSS}, {AttrMarkerStart, KindReference, shapeCSS},
	{AttrMask, KindReference, shapeCSS}, {AttrStroke, KindReference, shapeCSS}}

// linklintTable is the table of the seed (LL-38 to LL-53); a name, map name,
// applet, base and meta are in emit.go.
var linklintTable = [tagCount][]rule{
	TagA:       {{AttrHref, KindLink, shapeURL}},
	TagArea:    {{AttrHref, KindLink, shapeURL}},
	TagBgsound: {{AttrSrc, KindLink, shapeURL}},
	TagBody:    {{AttrBackground, KindLink, shapeURL}},
	TagEmbed:   {{AttrSrc, KindLink, shapeURL}},
	TagForm:    {{AttrAction, KindAction, shapeURL}},
	TagFrame:   {{AttrSrc, KindLink, shapeURL}},
	TagImg: {{AttrSrc, KindLink, shapeURL}, {AttrLowsrc, KindLink, shapeURL}, {AttrDynsrc, KindLink, shapeURL},
		{AttrUsemap, KindMap, shapeURL}},
	TagInput:  {{AttrSrc, KindLink, shapeURL}},
	TagScript: {{AttrSrc, KindLink, shapeURL}},
}
