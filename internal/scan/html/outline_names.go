package html

import (
	"github.com/sitelink/sitelink/internal/scan"
	"golang.org/x/net/html/atom"
)

// elementKind is the name of an element, if tree construction depends on it or
// if it is frequent. It is 0 for all others.
type elementKind = uint8

// elementRule is the effect of an element's start tag in body (HTML
// 13.2.6.4.7).
type elementRule uint8

const (
	ruleOther   elementRule = iota // becomes an element
	ruleBlock                      // closes a paragraph
	ruleHeading                    // closes a paragraph, and the heading around it
	ruleForm
	ruleItem // li, dd, dt
	ruleButton
	ruleFormat // is opened again if it was not closed
	ruleMarker // object and similar elements, in which nothing is opened again
	ruleTable
	ruleVoid
	ruleHeadVoid // link and similar elements: void, and allowed in head
	ruleInput
	ruleRule // hr
	ruleMute // its text is left out: script, style, noscript
	ruleFrame
	ruleTitle // its content has no elements: title, textarea
	ruleArea
	ruleSelect
	ruleOption
	ruleOptgroup
	ruleRuby
	ruleForeign
	ruleTablePart // a part of a table
	ruleUnsure
)

type element struct {
	name    string
	atom    atom.Atom
	rule    elementRule
	special bool // ends the search for an open li (HTML 13.2.4.2)
	implied bool // its end tag may be implied (13.2.6.3)
}

// The kinds that the code names.
const (
	kindOther elementKind = iota
	kindText
	kindHTML
	kindHead
	kindBody
	kindA
	kindNobr
	kindP
	kindLi
	kindDd
	kindDt
	kindAddress
	kindDiv
	kindForm
	kindButton
	kindSelect
	kindOption
	kindOptgroup
	kindRuby
	kindRp
	kindRt
	kindTable
	kindCaption
	kindColgroup
	kindCol
	kindTbody
	kindThead
	kindTfoot
	kindTr
	kindTd
	kindTh
	kindScript
	kindNoscript
	kindObject
	kindApplet
	kindMarquee
	kindSVG
	kindMath
	kindH1
	kindH6 = kindH1 + 5
	// kindFirst is the first of the kinds that only have a rule.
	kindFirst = kindH6 + 1
)

var (
	elements    = elementTable()
	elementSlot = scan.NewSlots(elementWords(), elementMultiplier)
	longElement = elementsByName(func(name string) bool { return len(name) > 8 })
)

const elementMultiplier = 0x1190C99BB3E61B2F

func elementTable() []element {
	t := make([]element, kindFirst)
	for kind, e := range map[elementKind]element{
		kindHTML: {name: "html", rule: ruleUnsure, special: true}, kindHead: {name: "head", rule: ruleUnsure, special: true},
		kindBody: {name: "body", rule: ruleUnsure, special: true}, kindA: {name: "a", rule: ruleFormat}, kindNobr: {name: "nobr", rule: ruleFormat},
		kindP: {name: "p", rule: ruleBlock, special: true, implied: true}, kindLi: {name: "li", rule: ruleItem, special: true, implied: true},
		kindDd: {name: "dd", rule: ruleItem, special: true, implied: true}, kindDt: {name: "dt", rule: ruleItem, special: true, implied: true},
		kindAddress: {name: "address", rule: ruleBlock, special: true}, kindDiv: {name: "div", rule: ruleBlock, special: true},
		kindForm: {name: "form", rule: ruleForm, special: true}, kindButton: {name: "button", rule: ruleButton, special: true},
		kindSelect: {name: "select", rule: ruleSelect, special: true}, kindOption: {name: "option", rule: ruleOption, implied: true},
		kindOptgroup: {name: "optgroup", rule: ruleOptgroup, implied: true}, kindRuby: {name: "ruby"},
		kindRp: {name: "rp", rule: ruleRuby, implied: true}, kindRt: {name: "rt", rule: ruleRuby, implied: true},
		kindTable: {name: "table", rule: ruleTable, special: true}, kindCaption: {name: "caption", rule: ruleTablePart, special: true},
		kindColgroup: {name: "colgroup", rule: ruleTablePart, special: true}, kindCol: {name: "col", rule: ruleTablePart, special: true},
		kindTbody: {name: "tbody", rule: ruleTablePart, special: true}, kindThead: {name: "thead", rule: ruleTablePart, special: true},
		kindTfoot: {name: "tfoot", rule: ruleTablePart, special: true}, kindTr: {name: "tr", rule: ruleTablePart, special: true},
		kindTd: {name: "td", rule: ruleTablePart, special: true}, kindTh: {name: "th", rule: ruleTablePart, special: true},
		kindScript: {name: "script", rule: ruleMute, special: true}, kindNoscript: {name: "noscript", rule: ruleMute, special: true},
		kindObject: {name: "object", rule: ruleMarker, special: true},
		kindApplet: {name: "applet", rule: ruleMarker, special: true}, kindMarquee: {name: "marquee", rule: ruleMarker, special: true},
		kindSVG: {name: "svg", rule: ruleForeign}, kindMath: {name: "math", rule: ruleForeign},
	} {
		t[kind] = e
	}
	for i := range elementKind(6) {
		t[kindH1+i] = element{name: "h" + string('1'+rune(i)), rule: ruleHeading, special: true}
	}
	for _, group := range []struct {
		rule    elementRule
		special bool
		names   []string
	}{
		{ruleFormat, false, []string{"b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u"}},
		{ruleBlock, true, []string{"article", "aside", "blockquote", "center", "details", "dir", "dl", "fieldset", "figcaption", "figure",
			"footer", "header", "hgroup", "listing", "main", "menu", "nav", "ol", "pre", "section", "summary", "ul"}},
		{ruleBlock, false, []string{"dialog", "search"}},
		{ruleVoid, true, []string{"area", "br", "embed", "img", "keygen", "param", "source", "track", "wbr"}},
		{ruleHeadVoid, true, []string{"base", "basefont", "bgsound", "link", "meta"}},
		{ruleInput, true, []string{"input"}},
		{ruleRule, true, []string{"hr"}},
		{ruleMute, true, []string{"style"}},
		{ruleFrame, true, []string{"iframe"}},
		{ruleTitle, true, []string{"title"}},
		{ruleArea, true, []string{"textarea"}},
		{ruleUnsure, true, []string{"template", "frame", "frameset", "noframes", "noembed", "plaintext", "xmp"}},
		{ruleUnsure, false, []string{"image", "rb", "rtc"}},
		// Frequent names have a kind because lookups of known names are faster.
		{ruleOther, false, []string{"span", "abbr", "audio", "canvas", "cite", "data", "datalist", "del", "dfn", "g", "ins", "kbd",
			"label", "map", "mark", "path", "picture", "q", "samp", "sub", "sup", "time", "use", "var", "video"}},
	} {
		for _, name := range group.names {
			t = append(t, element{name: name, rule: group.rule, special: group.special})
		}
	}
	for i := range t {
		t[i].atom = atom.Lookup([]byte(t[i].name))
	}
	return t
}

func elementsByName(fits func(string) bool) map[string]elementKind {
	m := make(map[string]elementKind)
	for i, e := range elements {
		if e.name != "" && fits(e.name) {
			m[e.name] = elementKind(i)
		}
	}
	return m
}

// elementWords returns the short names.
func elementWords() map[string]uint8 {
	return elementsByName(func(name string) bool { return len(name) <= 8 })
}

// kindAt returns the kind of the name text[i:j] in any letter case.
func kindAt(text []byte, i, j int) elementKind {
	if j-i > 8 {
		if j-i > len("blockquote") {
			return kindOther
		}
		var buf [len("blockquote")]byte
		for k, c := range text[i:j] {
			if scan.Class[c]&scan.ClassLetter != 0 {
				c |= 0x20
			}
			buf[k] = c
		}
		return longElement[string(buf[:j-i])]
	}
	kind := elementSlot.Find(scan.PackAt(text, i, j-i))
	if kind >= kindH1 && kind <= kindH6 && text[i+1] < '1' {
		return kindOther // folding turns some control characters into digits
	}
	return kind
}

var (
	attrSlots  = scan.NewSlots(attrWords(), attrMultiplier)
	attrByName = attrsByName()
)

const attrMultiplier = 0xC24F88B5A4758DCB

func attrsByName() map[string]Attr {
	m := make(map[string]Attr)
	for i, name := range attrNames {
		if name != "" {
			m[name] = Attr(i)
		}
	}
	return m
}

func attrWords() map[string]uint8 {
	m := make(map[string]uint8)
	for name, a := range attrsByName() {
		if len(name) <= 8 {
			m[name] = uint8(a)
		}
	}
	for _, name := range []string{"id", "name", "type", "style", "width", "height", "lang", "target", "dir", "role", "scope", "border",
		"align", "valign", "colspan", "rowspan", "value", "size", "color", "loading", "for", "charset", "summary"} {
		m[name] = uint8(attrIgnored)
	}
	return m
}

// attrAt returns the attribute whose name is text[i:j].
func attrAt(text []byte, i, j int) Attr {
	switch n := j - i; {
	case n <= 8:
		return Attr(attrSlots.Find(scan.PackAt(text, i, n)))
	case scan.EqualFold(text[i:j], attrNames[AttrHTTPEquiv]):
		return AttrHTTPEquiv
	case scan.EqualFold(text[i:j], attrNames[NoMention]):
		return NoMention
	}
	return attrOther
}
