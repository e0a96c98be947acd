package scan

import (
	"encoding/binary"
)

// Slots is a hash table without collisions from names of up to eight letters to
// codes. A lookup costs one multiplication and one comparison.
type Slots struct {
	Mul  uint64
	Key  [SlotCount]uint64
	Code [SlotCount]uint8
}

const (
	SlotBits  = 9
	SlotCount = 1 << SlotBits
)

// Find returns the code of a packed name, 0 if the table does not have it.
func (t *Slots) Find(w uint64) uint8 {
	h := w * t.Mul >> (64 - SlotBits)
	if t.Key[h] == w {
		return t.Code[h]
	}
	return 0
}

// NewSlots makes the table of names. It searches for a multiplier without
// collisions, starting with mul. If mul is such a multiplier, the start of the
// program costs no search. A test prints the right one when the names change.
func NewSlots(names map[string]uint8, mul uint64) *Slots {
	words := make([]uint64, 0, len(names))
	codes := make(map[uint64]uint8, len(names))
	for name, code := range names {
		w := pack([]byte(name))
		words, codes[w] = append(words, w), code
	}
	t := &Slots{Mul: mul}
search:
	for ; ; t.Mul += 0x632BE59BD9B4E01A {
		t.Key = [SlotCount]uint64{}
		for _, w := range words {
			h := w * t.Mul >> (64 - SlotBits)
			if t.Key[h] != 0 {
				continue search
			}
			t.Key[h], t.Code[h] = w, codes[w]
		}
		return t
	}
}

// FoldASCII, combined with a word by OR, turns its eight upper-case letters to
// lower case.
const FoldASCII = 0x20 * Ones

// pack returns a name of 1 to 8 bytes in lower case as one word. The folding by
// OR changes other bytes than letters too, so compare the result with names of
// letters only.
func pack(name []byte) uint64 {
	var w uint64
	for i := len(name) - 1; i >= 0; i-- {
		w = w<<8 | uint64(name[i]|0x20)
	}
	return w
}

// PackAt returns the name text[i:i+n], which has 1 to 8 bytes, as a word for
// [Slots.Find].
func PackAt(text []byte, i, n int) uint64 {
	if i+8 <= len(text) {
		w := binary.LittleEndian.Uint64(text[i:]) | FoldASCII
		return w & (1<<(uint(n)*8) - 1) // n == 8: the shift gives 0, minus 1 is all ones
	}
	return pack(text[i : i+n])
}

// TagAt returns the tag whose name is text[i:j].
func TagAt(text []byte, i, j int) Tag {
	n := j - i
	if n > 8 {
		return longTag(text[i:j])
	}
	return Tag(TagSlots.Find(PackAt(text, i, n)))
}

func longTag(name []byte) Tag {
	switch {
	case EqualFold(name, "blockquote"):
		return TagBlockquote
	case EqualFold(name, "plaintext"):
		return TagPlaintext
	}
	return TagOther
}

// AttrAt returns the attribute whose name is text[i:j].
func AttrAt(text []byte, i, j int) Attr {
	n := j - i
	if n > 8 {
		return longAttr(text[i:j])
	}
	return Attr(AttrSlots.Find(PackAt(text, i, n)))
}

func longAttr(name []byte) Attr {
	switch name[0] | 0x20 {
	case 'd':
		// htmltest and html-proofer call it data-proofer-ignore.
		if n := len(name); n == 20 && EqualFold(name, "data-sitelink-ignore") || n == 19 && EqualFold(name, "data-proofer-ignore") {
			return AttrExempt
		}
	case 'b', 'c', 'f', 'h', 'i', 'm', 's', 'x':
		for _, a := range longAttrs {
			if EqualFold(name, a.String()) {
				return a
			}
		}
	}
	return AttrOther
}

var longAttrs = [...]Attr{AttrBackground, AttrClipPath, AttrFormaction, AttrHTTPEquiv, AttrImagesrcset,
	AttrMarkerEnd, AttrMarkerMid, AttrMarkerStart, AttrShadowrootmode, AttrXlinkHref}

// The tables of tag and attribute names.
var (
	TagSlots  = NewSlots(tagWords(), tagMultiplier)
	AttrSlots = NewSlots(attrWords(), attrMultiplier)
)

const (
	tagMultiplier  = 0xF077ABFD763E601F
	attrMultiplier = 0x87291ABA0E8A9E6B
)

// tagWords returns the short tag names, and frequent names that mean nothing to
// the scanner: a name in the table is recognised in fewer steps.
func tagWords() map[string]uint8 {
	m := map[string]uint8{}
	for tag := range TagCount {
		if name := tag.String(); name != "" && len(name) <= 8 {
			m[name] = uint8(tag)
		}
	}
	for _, n := range []string{"b", "br", "code", "dd", "details", "div", "dl", "dt", "em", "footer", "h1", "h2", "h3", "h4",
		"h5", "h6", "header", "hr", "i", "label", "li", "main", "nav", "ol", "option", "p", "path", "pre", "section",
		"small", "span", "strong", "sub", "summary", "sup", "tt", "ul", "var", "wbr"} {
		m[n] = uint8(TagOther)
	}
	return m
}

// attrWords returns the short attribute names, and those of [AttrIgnored].
func attrWords() map[string]uint8 {
	m := map[string]uint8{}
	for attr := range AttrCount {
		if name := attr.String(); name != "" && len(name) <= 8 {
			m[name] = uint8(attr)
		}
	}
	for _, n := range []string{"class", "title", "lang", "width", "height", "align", "valign", "target", "value", "alt",
		"role", "scope", "colspan", "rowspan", "border", "dir", "size", "color", "loading", "for"} {
		m[n] = uint8(AttrIgnored)
	}
	return m
}

// BreaksOut reports whether an HTML element of this name ends an svg or math
// subtree (HTML 13.2.6.5). font ends it only with some attributes, but counts
// here: callers leave such pages to a complete parser anyway.
func BreaksOut(name []byte) bool {
	if len(name) > len("blockquote") {
		return false
	}
	var buf [len("blockquote")]byte
	for i, c := range name {
		if Class[c]&ClassLetter != 0 {
			c |= 0x20
		}
		buf[i] = c
	}
	return breakoutNames[string(buf[:len(name)])]
}

var breakoutNames = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range []string{"b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt",
		"em", "embed", "font", "h1", "h2", "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu",
		"meta", "nobr", "ol", "p", "pre", "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table",
		"tt", "u", "ul", "var"} {
		m[n] = true
	}
	return m
}()
