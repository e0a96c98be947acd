package check

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"net/url"
	"strings"
)

// Difference is what two results of one site do not have in common.
type Difference struct {
	// New are the findings that only the later result has, Fixed those that only
	// the earlier one has, both in order.
	New, Fixed []Finding
}

// Compare returns the findings that are new or fixed between two results, by
// their fingerprints. A finding that only moved on its page is neither. Both
// lists must be in the order of [Result.Findings]. Comparing takes little time
// when few pages differ.
func Compare(before, after []Finding) Difference {
	if len(before) == 0 {
		return Difference{New: after}
	}
	before, after = dropEqualPages(before, after)
	old, now := Fingerprints(before), Fingerprints(after)
	return Difference{New: missingFrom(old, after, now), Fixed: missingFrom(now, before, old)}
}

// dropEqualPages leaves out the findings of pages on which nothing differs, but
// not those that are reported once for a target: the page is not part of their
// fingerprint.
func dropEqualPages(a, b []Finding) (x, y []Finding) {
	for len(a) > 0 || len(b) > 0 {
		var page string
		if len(b) == 0 || len(a) > 0 && a[0].Page <= b[0].Page {
			page = a[0].Page
		} else {
			page = b[0].Page
		}
		i, j := pageEnd(a, page), pageEnd(b, page)
		all := !equalFindings(a[:i], b[:j])
		x, y = appendFindings(x, a[:i], all), appendFindings(y, b[:j], all)
		a, b = a[i:], b[j:]
	}
	return x, y
}

// pageEnd returns how many of the first findings are about the page.
func pageEnd(fs []Finding, page string) int {
	n := 0
	for n < len(fs) && fs[n].Page == page {
		n++
	}
	return n
}

func equalFindings(a, b []Finding) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Offset != b[i].Offset || a[i].Code != b[i].Code || a[i].Target != b[i].Target {
			return false // most differences show here
		}
		x := a[i]
		if x.node = b[i].node; x != b[i] { // the numbers of nodes change when names come and go
			return false
		}
	}
	return true
}

// appendFindings appends all findings, or only those that are reported once for
// a target.
func appendFindings(dst, fs []Finding, all bool) []Finding {
	for i := range fs {
		if all || fs[i].Code == ScriptFragment || fs[i].Code == FeedRelative || fs[i].Code == OutsideBase {
			dst = append(dst, fs[i])
		}
	}
	return dst
}

// missingFrom returns the findings with fingerprints that are not in have. ids
// are the fingerprints of fs.
func missingFrom(have []string, fs []Finding, ids []string) []Finding {
	has := make(map[string]bool, len(have))
	for _, id := range have {
		has[id] = true
	}
	var out []Finding
	for i, id := range ids {
		if !has[id] {
			out = append(out, fs[i])
		}
	}
	return out
}

// fingerprintVersion begins what is hashed. It changes when the meaning of the
// hashed fields changes, so that an old fingerprint is never taken for a new one.
const fingerprintVersion = "sitelink/1"

// Fingerprints returns, for each of fs in order, a text that identifies the same
// finding in another run: 32 lower-case hexadecimal digits, unique among fs.
//
// A fingerprint is a hash of the page, the code, the element and attribute, the
// target and fragment (or the raw value where there is no target, or the text of a
// redirect rule), and the number of equal findings before this one in fs. Line,
// column, offset, message, suggestion and source do not count: a finding that
// moves stays the same, and a second link to the same missing file on one page is
// a new one. A fragment that only a script can serve is reported once for its
// target, on any page, so only the target counts. Links that are relative to their
// feed, or lead outside the base path, are reported once for the site.
//
// fs must be in the order of [Result.Findings]. Findings may be left out, but
// only all of a page together. Calls may be concurrent.
func Fingerprints(fs []Finding) []string {
	out := make([]string, len(fs))
	seen := make(map[[sha256.Size]byte]uint64, len(fs))
	h := sha256.New()
	var key [sha256.Size]byte
	for i := range fs {
		h.Reset()
		hashIdentity(h, &fs[i])
		h.Sum(key[:0])
		n := seen[key]
		seen[key] = n + 1
		if n > 0 {
			h.Write(binary.AppendUvarint(nil, n))
			h.Sum(key[:0])
		}
		out[i] = hex.EncodeToString(key[:16])
	}
	return out
}

// hashIdentity writes the fields that identify f. The length of each field goes
// before it, so that no two lists of fields give the same bytes.
func hashIdentity(h hash.Hash, f *Finding) {
	add := func(field string) {
		var size [binary.MaxVarintLen64]byte
		h.Write(size[:binary.PutUvarint(size[:], uint64(len(field)))])
		_, _ = io.WriteString(h, field) // a hash never fails
	}
	add(fingerprintVersion)
	add(string(f.Code))
	switch f.Code {
	case ScriptFragment:
		add(targetFile(f))
		return
	case FeedRelative, OutsideBase: // one for the site
		return
	}
	add(f.Page)
	add(f.Element)
	add(f.Attribute)
	if f.Target != "" {
		add("target")
		add(f.Target)
		add(f.Fragment)
		return
	}
	add("raw")
	add(f.Raw)
	if f.about != "" {
		add(f.about)
	}
}

// targetFile is the path of the page that f leads to, the same for /a/ and
// /a/index.html.
func targetFile(f *Finding) string {
	if f.File != "" {
		return f.File
	}
	path, _, _ := strings.Cut(f.Target, "?")
	if f.Final != "" {
		path, _, _ = strings.Cut(f.Final, "?")
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	return strings.TrimPrefix(path, "/")
}
