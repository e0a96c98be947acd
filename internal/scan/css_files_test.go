package scan_test

import (
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

// All tests use one sheetScanner: what it read before must not matter.
var sheetScanner scan.CSSScanner

func readSheet(text []byte) *scan.Page { return sheetScanner.Scan(text, scan.Options{}) }

type fileCase struct {
	Name, In string
	Read     func(text []byte) *scan.Page
	Want     []string
	Fault    string
}

var sheetCases = []fileCase{
	{"css", "@import 'a.css';\n@import url(b.css) screen;\nbody{background:url( \"i\\2e png\" ) } /* url(no) */\np{cursor:image-set('x.png' 1x,url(y.png) 2x)}\n@namespace url(http://no/);",
		readSheet, []string{"@import (text) link a.css", "@import (text) link b.css", `url (text) link i.png at i\2e `, "url (text) link x.png", "url (text) link y.png"}, ""},
	{"css_bom", "\xEF\xBB\xBFa{b:url(x)}", readSheet, []string{"url (text) link x"}, ""},
	{"css_charset", "@charset \"windows-1252\";a{b:url(caf\xe9)}", readSheet, []string{"url (text) link café"}, ""},
	{"css_charset_is_utf8", "@charset \"utf-16\";a{b:url(é)}", readSheet, []string{"url (text) link é"}, ""},
	{"css_not_utf8", "a{b:url(caf\xe9)}", readSheet, []string{"url (text) link caf\uFFFD at caf\xe9)}"}, ""},
	{"css_utf16", "\xFF\xFE" + "a\x00{\x00b\x00:\x00u\x00r\x00l\x00(\x00x\x00)\x00}\x00", readSheet, []string{"url (text) link x"}, ""},
	{"css_unclosed_string", "a{b:url(x)}\nc{d:url(\"never\n}e{f:url(y)}", readSheet, []string{"url (text) link x", "url (text) link y"}, "a string is not closed on its line"},
	{"css_unclosed_comment", "a{b:url(x)} /* c{d:url(y)}", readSheet, []string{"url (text) link x"}, "a comment is never closed"},
	{"css_bad_url", "a{b:url(x y)}c{d:url(z)}", readSheet, []string{"url (text) link z"}, "white space, a quote or a parenthesis in url() without quotes"},
	{"css_cut_off", "a{b:url(x)}c{d:url(z", readSheet, []string{"url (text) link x", "url (text) link z"}, "url( is never closed"},
	{"css_source_map", "a{b:url(x)}\n/*# sourceMappingURL=a.css.map */", readSheet, []string{"url (text) link x"}, ""},
}

func TestSheets(t *testing.T) {
	for _, c := range sheetCases {
		testkit.RunFile(t, testkit.FileCase(c))
	}
}

// FuzzFiles: any bytes give links inside the text, in order.
func FuzzFiles(f *testing.F) {
	for _, c := range sheetCases {
		f.Add([]byte(c.In))
	}
	var s scan.CSSScanner
	f.Fuzz(func(t *testing.T, text []byte) {
		p := s.Scan(text, scan.Options{})
		testkit.CheckPage(t, p)
		for _, fault := range p.Faults {
			if fault.Kind != scan.FaultCSS || fault.Name == "" || int(fault.Off) > len(p.Text) {
				t.Fatalf("fault %+v", fault)
			}
		}
	})
}

// TestSheets_linear reads sheets that repeat one unit.
func TestSheets_linear(t *testing.T) {
	for _, c := range []struct {
		Name           string
		Read           func(text []byte) *scan.Page
		Before, Repeat string
	}{
		{"sheet", readSheet, "", "@import 'a';b{c:url(d)}"},
		{"sheet strings", readSheet, "", "a{b:url('\n"},
		{"sheet urls", readSheet, "", "url(a b"},
	} {
		testkit.CheckRepetition(t, testkit.Repetition(c))
	}
}
