package html

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/scantest"
	"github.com/sitelink/sitelink/internal/scan/token"
)

// FuzzPage holds the fast path, and its decision when not to trust itself,
// against x/net/html's tree. Every page is read as it is and with an id and a
// link put into each start tag.
func FuzzPage(f *testing.F) {
	for _, text := range scantest.TreeTests(f) {
		f.Add(text)
	}
	for _, c := range scantest.PageSeeds {
		f.Add([]byte(c))
	}
	var s Scanner
	f.Fuzz(func(t *testing.T, text []byte) {
		scantest.CheckPage(t, s.Scan(text, scan.Options{}))
		scantest.CheckPage(t, s.Scan(text, scan.Options{Tags: scan.Linklint}))
		if !utf8.Valid(text) || oracleIsWrong(text) || oracleIsWrong(probe(text)) {
			return
		}
		compare(t, &s, text)
		compare(t, &s, probe(text))
	})
}

// oracleIsWrong names the constructs in which x/net/html differs from
// browsers, or cannot be compared because the probe changes the meaning.
func oracleIsWrong(text []byte) bool {
	lower := bytes.ToLower(text)
	for _, c := range []string{
		"<frameset", "<frame", // raw-text start tags inside frameset swallow what follows in its tokenizer
		"\x00", // it drops NUL in some places
		"\xEF\xBB\xBF",
		"<caption",                // it takes a cell inside one (13.2.6.4.11)
		"<plaintext", "<!doctype", // the probe does not belong into them
	} {
		if bytes.Contains(lower, []byte(c)) {
			return true
		}
	}
	return escapedLess(lower)
}

// escapedLess: in the escaped states of script, "<" and neither a letter nor a
// slash stays in them (HTML 13.2.5.23); its tokenizer leaves them.
func escapedLess(text []byte) bool {
	_, script, _ := bytes.Cut(text, []byte("<script"))
	_, rest, _ := bytes.Cut(script, []byte("<!--"))
	for {
		_, after, ok := bytes.Cut(rest, []byte("<"))
		if !ok {
			return false
		}
		if len(after) == 0 || after[0] != '/' && token.Class[after[0]]&token.ClassLetter == 0 {
			return true
		}
		rest = after
	}
}
