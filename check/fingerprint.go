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

// fingerprintVersion begins what is hashed. It changes when the key below
// changes its meaning, so that an old fingerprint can never be taken for a new
// one.
const fingerprintVersion = "sitelink/1"

// Fingerprints returns, for each of fs in order, a text that names the same
// finding in another run: 32 lower-case hexadecimal digits, unique among fs.
//
// It is made of the page, the code, the element and attribute, what the link
// leads to (target and fragment; the raw value where there is no target; the
// text of a redirect rule), and the number of equals that come before it in fs.
// Line, column, offset, message, suggestion and source are no part of it, nor
// is anything else on the page: what moves stays the same finding, and a second
// link to the same missing file on one page is a new one. Fragments that only a
// script can serve are reported once for a target and found on any page, so
// that only the target counts.
//
// fs must be in the order of [Result.Findings], and complete where equals are
// concerned: findings of one page may be left out together, not one of two
// equals. Calls may be concurrent.
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

// hashIdentity writes what makes f the same finding in every run. Each part is
// preceded by its length: no value can run into the next.
func hashIdentity(h hash.Hash, f *Finding) {
	part := func(s string) {
		var size [binary.MaxVarintLen64]byte
		h.Write(size[:binary.PutUvarint(size[:], uint64(len(s)))])
		_, _ = io.WriteString(h, s) // a hash never fails
	}
	part(fingerprintVersion)
	part(string(f.Code))
	if f.Code == ScriptFragment {
		part(answeringFile(f))
		return
	}
	part(f.Page)
	part(f.Element)
	part(f.Attribute)
	if f.Target != "" {
		part("target")
		part(f.Target)
		part(f.Fragment)
		return
	}
	part("raw")
	part(f.Raw)
	if f.about != "" {
		part(f.about)
	}
}

// answeringFile is the path of the page that f asks for, the same for /a/ and
// /a/index.html.
func answeringFile(f *Finding) string {
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
