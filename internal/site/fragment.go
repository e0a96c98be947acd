package site

import (
	"bytes"
	"hash/maphash"
	"strings"
	"unicode"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/script"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Fragments and anchors are compared as 64-bit hashes under a random key. Two
// different names of one page have the same hash with a probability of 2^-64,
// and an attacker cannot choose such names.
type hasher struct {
	id   maphash.Seed // ids, and names of a elements
	fold maphash.Seed // names of a elements in quirks mode, lower-cased
	mapn maphash.Seed // names of maps
	// prefix may be before every id, see [host.IDPrefix].
	prefix string
	// anyCase: fragments and ids are compared in lower case.
	anyCase bool
}

func newHasher() hasher {
	return hasher{id: maphash.MakeSeed(), fold: maphash.MakeSeed(), mapn: maphash.MakeSeed()}
}

// sum never returns 0, which marks a free slot in an anchor table.
func sum(seed maphash.Seed, b []byte) uint64 {
	if h := maphash.Bytes(seed, b); h != 0 {
		return h
	}
	return 1
}

// Fragment is what a link asks of its target, prepared for look-ups.
type Fragment struct {
	// Exact is the hash of the fragment as it is in the URL; Decoded of its
	// percent-decoded form, or 0 if that is the same.
	Exact, Decoded uint64
	// From and To are the parts of the fragment, or 0: the ends of a line range
	// such as 12-34 or L12-L34, or what is before and after the at sign of the
	// form [script.FormMember].
	From, To uint64
	// Form says which scripts could serve it.
	Form script.Form
}

// fragment prepares a serialised URL fragment. ask is false if every page has
// it: the fragment is empty, or "top" (HTML 7.4.6.4, "find a potential
// indicated element" and its callers).
func (h hasher) fragment(f []byte) (k Fragment, ask bool) {
	odd := uint8(0)
	for _, c := range f {
		odd |= fragmentClass[c]
	}
	if odd&hasColon != 0 {
		if i := bytes.Index(f, directive); i >= 0 {
			f = f[:i]
		}
	}
	f = h.lower(bytes.TrimPrefix(f, []byte(h.prefix)))
	if len(f) == 0 || isTop(f) {
		return k, false
	}
	k.Exact = sum(h.id, f)
	if odd&hasPercent != 0 {
		var buf, text [256]byte
		d := h.lower(scan.AppendUTF8(text[:0], weburl.PercentDecode(buf[:0], string(f))))
		if isTop(d) {
			return k, false
		}
		if !bytes.Equal(d, f) {
			k.Decoded = sum(h.id, d)
		}
	}
	if odd&(hasMark|hasDash) != 0 || f[0]|0x20 == 'l' {
		h.form(f, &k)
	}
	return k, true
}

// lower returns an id as it is compared.
func (h hasher) lower(id []byte) []byte {
	if h.anyCase {
		return bytes.ToLower(id)
	}
	return id
}

// form sets the form of a fragment, and its parts.
func (h hasher) form(f []byte, k *Fragment) {
	form, from, to := script.FormOf(f)
	k.Form = form
	if from == nil {
		return
	}
	if form == script.FormMember {
		var buf, text [256]byte
		to = scan.AppendUTF8(text[:0], weburl.PercentDecode(buf[:0], string(to)))
	}
	k.From, k.To = sum(h.id, from), sum(h.id, to)
}

// fragmentClass marks the bytes of a fragment with a special meaning. Most
// fragments have none, which one pass finds out.
var fragmentClass = [256]uint8{':': hasColon, '%': hasPercent, '-': hasDash, '/': hasMark, '!': hasMark, '=': hasMark, '@': hasMark}

const (
	hasColon   = 1 << iota // of a directive
	hasPercent             // of an escape
	hasDash                // of a line range
	hasMark                // of another form that scripts serve
)

// ParseFragment prepares the fragment of a URL, as serialised, for [Page.Has];
// asks is false if every page has it.
func (s *Site) ParseFragment(fragment string) (ask Fragment, asks bool) {
	return s.hash.fragment([]byte(fragment))
}

var directive = []byte(":~:")

func isTop(f []byte) bool {
	return len(f) == 3 && f[0]|0x20 == 't' && f[1]|0x20 == 'o' && f[2]|0x20 == 'p'
}

// anchorTable builds the hash table of a page's anchors in dst, which is all
// zero and as large as anchorRoom says: open addressing, a power of two in
// size.
func (h hasher) anchorTable(p *scan.Page, dst []uint64) {
	put := func(v uint64) {
		for i := v; ; i++ {
			e := &dst[i&uint64(len(dst)-1)]
			if *e == v {
				return
			}
			if *e == 0 {
				*e = v
				return
			}
		}
	}
	for i := range p.Anchors {
		a := &p.Anchors[i]
		switch a.Kind {
		case scan.AnchorMap:
			put(sum(h.mapn, a.Name))
		case scan.AnchorName:
			put(sum(h.id, a.Name))
			if p.Quirks {
				put(sum(h.fold, foldName(a.Name)))
			}
		default:
			put(sum(h.id, h.lower(a.Name)))
		}
	}
}

// anchorRoom returns the size of the table for a page.
func anchorRoom(p *scan.Page) int {
	n := len(p.Anchors)
	if n == 0 {
		return 0
	}
	if p.Quirks {
		n *= 2
	}
	size := 2
	for size < n+n/2 { // at most two thirds full
		size *= 2
	}
	return size
}

// foldName maps names that browsers consider equal in quirks mode to one:
// Unicode's simple case folding, as measured with Chromium.
func foldName(b []byte) []byte {
	return bytes.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, b)
}

// Has reports whether a page defines an anchor with that hash. h is 0 for none.
func (p *Page) Has(h uint64) bool {
	if h == 0 || len(p.anchors) == 0 {
		return false
	}
	for i := h; ; i++ {
		switch p.anchors[i&uint64(len(p.anchors)-1)] {
		case h:
			return true
		case 0:
			return false
		}
	}
}

// MarkDefined sets the value of each key of want that is the hash of an anchor of
// any page.
func (s *Site) MarkDefined(want map[uint64]bool) {
	for i := range s.pages {
		for _, h := range s.pages[i].anchors {
			if _, ok := want[h]; ok && h != 0 {
				want[h] = true
			}
		}
	}
}

// HasFolded reports whether a quirks mode page has an a element with the
// fragment as its name, in any letter case. fragment is as serialised.
func (s *Site) HasFolded(id PageID, fragment string) bool {
	p := &s.pages[id]
	f := []byte(TrimDirective(fragment))
	if !p.quirks || len(f) == 0 {
		return false
	}
	d := scan.AppendUTF8(nil, weburl.PercentDecode(nil, string(f)))
	return p.Has(sum(s.hash.fold, foldName(f))) || p.Has(sum(s.hash.fold, foldName(d)))
}

// TrimDirective removes a fragment directive, such as :~:text=y.
func TrimDirective(f string) string {
	f, _, _ = strings.Cut(f, string(directive))
	return f
}

// Named calls f for every anchor of a page, in document order, with the text of the
// page and the offset of the name in it. It returns the text of the page as
// UTF-8. All texts are good until the reader is used again.
func (r *Reader) Named(id PageID, f func(text, name []byte, kind scan.AnchorKind, at uint32)) ([]byte, error) {
	page, err := r.text(&r.s.pages[id])
	if err != nil {
		return nil, err
	}
	for _, a := range page.Anchors {
		f(page.Text, a.Name, a.Kind, a.Off)
	}
	return page.UTF8(), nil
}
