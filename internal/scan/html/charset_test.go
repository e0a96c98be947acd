package html

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
	"golang.org/x/net/html/charset"
)

// inCharset returns text in the named encoding.
func inCharset(t *testing.T, name, text string) []byte {
	t.Helper()
	enc, _ := charset.Lookup(name)
	if enc == nil {
		t.Fatalf("no encoding %s", name)
	}
	b := testkit.Must(enc.NewEncoder().Bytes([]byte(text)))(t)
	return b
}

// TestCharset_HTML_13_2_3_2: the page's encoding determines its values, and
// offsets lead to the right bytes of the file.
func TestCharset_HTML_13_2_3_2(t *testing.T) {
	const (
		cafe  = `<p>ça</p><a href="café.html" id=é>x</a><img src=plain.png>`
		nihon = `<p>表示ソ</p><a href="表示ソ.html" id=ソ>x</a><img src=plain.png>`
	)
	late := `<!--` + strings.Repeat("x", 3000) + `-->`
	declared := func(name string) string { return `<meta charset=` + name + `>` }
	for _, c := range []struct {
		name    string
		page    []byte
		opt     scan.Options
		charset string
		value   string
		id      string
		written string // the bytes of the value in the file
	}{
		{"UTF-8_BOM", []byte("\uFEFF" + declared("shift_jis") + cafe), scan.Options{}, "utf-8", "café.html", "é", "café.html"},
		{"UTF-8_declared", []byte(declared("UTF8") + cafe), scan.Options{}, "utf-8", "café.html", "é", "café.html"},
		{"UTF-16_LE_BOM", testkit.UTF16(nihon, "\xFF\xFE", false), scan.Options{}, "utf-16le", "表示ソ.html", "ソ", string(testkit.UTF16("表示ソ.html", "", false))},
		{"UTF-16_BE_BOM", testkit.UTF16("𝄞"+nihon, "\xFE\xFF", true), scan.Options{}, "utf-16be", "表示ソ.html", "ソ", string(testkit.UTF16("表示ソ.html", "", true))},
		{"BOM_over_header", testkit.UTF16(cafe, "\xFF\xFE", false), scan.Options{Charset: "utf-8"}, "utf-16le", "café.html", "é", string(testkit.UTF16("café.html", "", false))},
		{"undeclared_is_windows-1252", []byte(cafe), scan.Options{}, "windows-1252", "cafÃ©.html", "Ã©", "café.html"},
		{"undeclared_Latin-1", inCharset(t, "windows-1252", cafe), scan.Options{}, "windows-1252", "café.html", "é", "caf\xE9.html"},
		{"default", []byte(cafe), scan.Options{DefaultCharset: "utf-8"}, "utf-8", "café.html", "é", "café.html"},
		{"Latin-1_means_windows-1252", []byte(declared("iso-8859-1") + "<a href='\x80.html' id='\x93'>"), scan.Options{}, "windows-1252", "€.html", "“", "\x80.html"},
		{"declared_late", []byte(late + declared("utf-8") + cafe), scan.Options{}, "utf-8", "café.html", "é", "café.html"},
		{"declared_after_the_link", append(inCharset(t, "iso-8859-5", `<a href="Ж.html" id=Ж>`), declared("iso-8859-5")...), scan.Options{}, "iso-8859-5", "Ж.html", "Ж", "\xB6.html"},
		{"http-equiv", []byte(`<meta content="text/html; charset='utf-8'" http-equiv=Content-Type>` + cafe), scan.Options{}, "utf-8", "café.html", "é", "café.html"},
		{"first_known_one_counts", []byte(declared("nonsense") + declared("utf-8") + declared("shift_jis") + cafe), scan.Options{}, "utf-8", "café.html", "é", "café.html"},
		{"not_in_a_comment", []byte("<!--" + declared("shift_jis") + "--><script>'" + declared("gbk") + "'</script>" + declared("utf-8") + cafe), scan.Options{}, "utf-8", "café.html", "é", "café.html"},
		{"Shift_JIS", append([]byte(declared("Shift_JIS")), inCharset(t, "shift_jis", nihon)...), scan.Options{}, "shift_jis", "表示ソ.html", "ソ", string(inCharset(t, "shift_jis", "表示ソ.html"))},
		{"GBK", append([]byte(declared("gb2312")), inCharset(t, "gbk", `<a href="丂亊.html" id=丂>`)...), scan.Options{}, "gbk", "丂亊.html", "丂", string(inCharset(t, "gbk", "丂亊.html"))},
		{"Big5", append([]byte(declared("big5")), inCharset(t, "big5", `<a href="功能.html" id=功>`)...), scan.Options{}, "big5", "功能.html", "功", string(inCharset(t, "big5", "功能.html"))},
		{"EUC-JP", append([]byte(declared("euc-jp")), inCharset(t, "euc-jp", nihon)...), scan.Options{}, "euc-jp", "表示ソ.html", "ソ", string(inCharset(t, "euc-jp", "表示ソ.html"))},
		{"windows-1251", append([]byte(declared("cp1251")), inCharset(t, "windows-1251", `<a href="я.html" id=я>`)...), scan.Options{}, "windows-1251", "я.html", "я", "\xFF.html"},
		{"ISO-2022-JP", append([]byte(declared("iso-2022-jp")), inCharset(t, "iso-2022-jp", nihon)...), scan.Options{}, "iso-2022-jp", "表示ソ.html", "ソ", ""},
		{"x-user-defined_means_windows-1252", []byte(declared("x-user-defined") + "<a href='caf\xE9.html' id='\xE9'>"), scan.Options{}, "windows-1252", "café.html", "é", "caf\xE9.html"},
		{"UTF-16_in_meta_means_UTF-8", []byte(declared("utf-16le") + cafe), scan.Options{}, "utf-8", "café.html", "é", "café.html"},
		{"header_wins", []byte(declared("shift_jis") + cafe), scan.Options{Charset: "utf-8"}, "utf-8", "café.html", "é", "café.html"},
		{"header_names_legacy", []byte(declared("utf-8") + "<a href='caf\xE9.html' id='\xE9'>"), scan.Options{Charset: "latin1"}, "windows-1252", "café.html", "é", "caf\xE9.html"},
		{"header_UTF-16", testkit.UTF16(cafe, "", false), scan.Options{Charset: "utf-16le"}, "utf-16le", "café.html", "é", string(testkit.UTF16("café.html", "", false))},
		{"unknown_header", []byte(declared("utf-8") + cafe), scan.Options{Charset: "nonsense"}, "utf-8", "café.html", "é", "café.html"},
		{"references_are_Unicode", []byte(declared("windows-1251") + `<a href="caf&eacute;&#233;.html" id="&#xe9;">`), scan.Options{}, "windows-1251", "caféé.html", "é", "caf&eacute;&#233;.html"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := new(Scanner).Scan(c.page, c.opt)
			if got := p.Charset(); got != c.charset {
				t.Errorf("charset %q, want %q", got, c.charset)
			}
			if len(p.Links) == 0 || string(p.Links[0].Value) != c.value {
				t.Fatalf("links %q, want %q first", values(p), c.value)
			}
			if len(p.Anchors) != 1 || string(p.Anchors[0].Name) != c.id {
				t.Errorf("anchors %q, want %q", anchorRows(p), c.id)
			}
			off := p.Source(p.Links[0].Off)
			if off > int64(len(c.page)) || !bytes.HasPrefix(c.page[off:], []byte(c.written)) {
				t.Errorf("Source: %d, want the offset of %q in %q", off, c.written, c.page)
			}
			for i := range p.Links {
				if string(p.Links[i].Value) != "plain.png" {
					continue
				}
				want := bytes.Index(c.page, []byte("plain.png"))
				if want < 0 {
					want = bytes.Index(c.page, testkit.UTF16("plain.png", "", c.charset == "utf-16be"))
				}
				if got := p.Source(p.Links[i].Off); got != int64(want) {
					t.Errorf("Source of plain.png: %d, want %d", got, want)
				}
			}
			if end := p.Source(uint32(len(p.Text))); end != int64(len(c.page)) {
				t.Errorf("Source of the end: %d of %d bytes", end, len(c.page))
			}
		})
	}
}

// TestCharset_trailBytes: in Shift_JIS a backslash, and in ISO-2022-JP a quote
// or "<", can be the second half of a character. Then it has no syntactic
// meaning.
func TestCharset_trailBytes(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"Shift_JIS_backslash", "<meta charset=shift_jis><a href=\"\x83\x5C/x\">", "ソ/x"},
		{"ISO-2022-JP_quote", "<meta charset=iso-2022-jp><a href=\"\x1B$B!\"\x1B(B/x\">", "、/x"},
		{"ISO-2022-JP_bracket", "<meta charset=iso-2022-jp><p>\x1B$B$<a \x1B(B</p><a href=\"x\">", "x"},
		{"invalid_UTF-8", "<meta charset=utf-8><a href=\"a\xFFb\xE2\x82c\">", "a\uFFFDb\uFFFDc"},
		{"invalid_Shift_JIS", "<meta charset=shift_jis><a href=\"\xFFb\">", "\uFFFDb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := new(Scanner).Scan([]byte(c.page), scan.Options{})
			if len(p.Links) != 1 || string(p.Links[0].Value) != c.want {
				t.Errorf("got %q, want %q", values(p), c.want)
			}
		})
	}
}

// TestCharset_reuse: the declaration of one page has no effect on the next.
func TestCharset_reuse(t *testing.T) {
	var s Scanner
	if p := s.Scan([]byte("<meta charset=shift_jis><a href='\x83\x5C'>"), scan.Options{}); string(p.Links[0].Value) != "ソ" {
		t.Errorf("got %q", values(p))
	}
	if p := s.Scan([]byte("<a href='\xE9'>"), scan.Options{}); string(p.Links[0].Value) != "é" || p.Source(p.Links[0].Off) != 9 || p.Charset() != "windows-1252" {
		t.Errorf("got %q in %s", values(p), p.Charset())
	}
	if p := s.Scan([]byte("<a href='x'>"), scan.Options{}); string(p.Links[0].Value) != "x" || p.Charset() != "windows-1252" {
		t.Errorf("got %q in %s", values(p), p.Charset())
	}
}
