package scan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// foundURLs returns the URLs that CSSURLs finds, and marks those of @import.
func foundURLs(t *testing.T, text string) []string {
	t.Helper()
	var found []string
	CSSURLs([]byte(text), func(kind CSSKind, start, end int, value []byte) {
		if raw := text[start:end]; !strings.Contains(raw, `\`) && raw != string(value) {
			t.Errorf("range holds %q, value is %q", raw, value)
		}
		if kind == Import {
			found = append(found, "import "+string(value))
			return
		}
		found = append(found, string(value))
	})
	return found
}

type urlCase struct {
	name, in string
	want     []string
}

func testURLs(t *testing.T, cases []urlCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := foundURLs(t, c.in); !slices.Equal(got, c.want) {
				t.Errorf("URLs(%q) = %q, want %q", c.in, got, c.want)
			}
			if oracle := oracle(c.in); !slices.Equal(oracle, c.want) {
				t.Errorf("the oracle has %q, want %q", oracle, c.want)
			}
		})
	}
}

// https://www.w3.org/TR/css-syntax-3/#consume-url-token
func TestCSSSyntax_4_3_6_url_token(t *testing.T) {
	testURLs(t, []urlCase{
		{"plain", "a{background:url(a.png)}", []string{"a.png"}},
		{"style_attribute", "background:url(a.png) no-repeat;color:red", []string{"a.png"}},
		{"white_space", "url( \t\r\n\fa.png \n)", []string{"a.png"}},
		{"name_in_upper_case", "URL(a) Url(b) uRL(c)", []string{"a", "b", "c"}},
		{"two", "url(a),url(b)", []string{"a", "b"}},
		{"fragment_and_query", "src:url(a.eot?#iefix)", []string{"a.eot?#iefix"}},
		{"at_sign_slash_comma", "url(//h/a@2x,b;c{d}e)", []string{"//h/a@2x,b;c{d}e"}},
		{"not_a_comment_inside", "url(/*a*/)", []string{"/*a*/"}},
		{"non_ASCII", "url(é.png)", []string{"é.png"}},
		{"no_UTF8", "url(\xff)", []string{"\xff"}},
		{"NUL", "url(a\x00b)", []string{"a\x00b"}},
		{"empty", "url() url( ) url(", nil},
		{"unclosed", "a{background:url(a.png", []string{"a.png"}},
		{"unclosed_space", "url(a.png \n", []string{"a.png"}},
		{"unclosed_backslash", `url(a\`, []string{"a\ufffd"}},
		{"bad_space_inside", "url(a b) url(c)", []string{"c"}},
		{"bad_quote", "url(a'b) url(c)", []string{"c"}},
		{"bad_parenthesis", "url(a(b) url(c)", []string{"c"}},
		{"bad_control", "url(a\x01b) url(\x7f) url(c)", []string{"c"}},
		{"bad_backslash_newline", "url(a\\\nb) url(c)", []string{"c"}},
		{"bad_remnants_escape", `url(a b\) url(c) url(d)`, []string{"d"}},
		{"bad_unclosed", "url(a b url(c", nil},
		{"data_unquoted", `url(data:image/gif;base64,R0lG+/=)`, []string{"data:image/gif;base64,R0lG+/="}},
		{"data_unquoted_with_quotes_is_bad", `url(data:image/svg+xml,<svg xmlns='http://x'/>) url(c)`, []string{"c"}},
	})
}

// https://www.w3.org/TR/css-syntax-3/#consume-ident-like-token
func TestCSSSyntax_4_3_4_url_function(t *testing.T) {
	testURLs(t, []urlCase{
		{"double_quotes", `url("a.png")`, []string{"a.png"}},
		{"single_quotes", `url('a.png')`, []string{"a.png"}},
		{"white_space", "url(\n \"a b.png\" \n)", []string{"a b.png"}},
		{"parenthesis_inside", `url("a).png")`, []string{"a).png"}},
		{"url_inside", `url("url(a)")`, []string{"url(a)"}},
		{"attr_inside_data", `url("data:image/svg+xml,%3Csvg attr(x) fill='url(%23a)'/%3E") url(b)`, []string{"data:image/svg+xml,%3Csvg attr(x) fill='url(%23a)'/%3E", "b"}},
		{"modifier", `url("a" foo) url(b)`, []string{"a", "b"}},
		{"empty", `url("") url('')`, nil},
		{"unclosed", `url("a.png`, []string{"a.png"}},
		{"parenthesis_unclosed", `url("a.png"`, []string{"a.png"}},
		{"bad_string", "url(\"a\n) url(b)", []string{"b"}},
		{"comment_before_string_is_bad", `url(/**/"a") url(b)`, []string{"b"}},
		{"space_before_parenthesis", "url (a)", nil},
		{"comment_before_parenthesis", "url/**/(a)", nil},
		{"longer_name", "curl(a) -url(b) --url(c) url2(d) my_url(e) éurl(f) xurl\x00(g)", nil},
		{"unit", "1url(a) 1.5url(b) -1url(c) 1e3url(d) 5-url(e)", nil},
		{"hash", "#url(a)", nil},
		{"at_keyword", "@url(a) @-url(b)", nil},
		{"behind_delimiter", ".url(a) +url(b) %url(c) >url(d) ,url(e) 5%url(f)", []string{"a", "b", "c", "d", "e", "f"}},
		{"behind_tokens", `"x"url(a)/**/url(b)url(c))url(d)}url(e)`, []string{"a", "b", "c", "d", "e"}},
		{"src_is_no_URL", `src("a")`, nil},
		{"url_prefix", `url-prefix(a) url-prefix("b")`, nil},
		{"other_functions", `attr(href) rgba(0,0,0,.5) var(--url) format("woff") local("A")`, nil},
	})
}

// https://www.w3.org/TR/css-syntax-3/#consume-escaped-code-point
func TestCSSSyntax_4_3_7_escapes(t *testing.T) {
	testURLs(t, []urlCase{
		{"in_name", `u\72l(a) \75rl(b) u\072 l(c) ur\6c(d) ur\6C (e) \55\52\4c(f)`, []string{"a", "b", "c", "d", "e", "f"}},
		{"letter_in_name", `\url(a) u\rl(b)`, []string{"a", "b"}},
		{"in_name_of_string_function", `u\72l("a")`, []string{"a"}},
		{"in_longer_name", `xu\72l(a) u\72lx(b) \2d url(c) \1f600url(d)`, nil},
		{"in_hash", `#u\72l(a) \#url(b) #\75rl(c)`, nil},
		{"in_unit", `1\75rl(a) 1u\72l(b)`, nil},
		{"in_at_keyword", `@u\72l(a) @\75rl(b)`, nil},
		{"behind_delimiter", `.\75rl(a) 1.\75rl(b)`, []string{"a", "b"}},
		{"no_function", `u\72l (a) u\72l;`, nil},
		{"no_escape", "\\\nurl(a) u\\\nrl(b)", []string{"a"}},
		{"at_the_end", `ur\`, nil},
		{"hex_and_space", `url("\26 B") url(\26 B)`, []string{"&B", "&B"}},
		{"hex_six_digits", `url(\000026B)`, []string{"&B"}},
		{"hex_and_line_end", "url(\"\\26\r\nB\\26\nB\\26\fB\")", []string{"&B&B&B"}},
		{"hex_and_one_space", `url("a\26  b")`, []string{"a& b"}},
		{"hex_space_at_end", `url(a\26 )`, []string{"a&"}},
		{"zero_surrogate_too_large", `url(\0 \d800 \110000 \ffffff)`, []string{"\ufffd\ufffd\ufffd\ufffd"}},
		{"emoji", `url(\1F600)`, []string{"\U0001F600"}},
		{"letter", `url(a\)b\(c\'d\"e\ f\\)`, []string{`a)b(c'd"e f\`}},
		{"non_ASCII", `url(\é\` + "\xff)", []string{"é\ufffd"}},
		{"quote_in_string", `url("a\"b") url('a\'b')`, []string{`a"b`, `a'b`}},
		{"line_goes_on", "url(\"a\\\nb\\\r\nc\\\rd\\\fe\")", []string{"abcde"}},
		{"line_goes_on_and_nothing_else", "url(\"\\\n\")", nil},
		{"unclosed_string", `url("a\`, []string{"a"}},
	})
}

// https://www.w3.org/TR/css-syntax-3/#consume-string-token and
// https://www.w3.org/TR/css-syntax-3/#consume-comment
func TestCSSSyntax_4_3_strings_and_comments(t *testing.T) {
	testURLs(t, []urlCase{
		{"string", `a{content:"url(a)"} b{content:'url(b)'}`, nil},
		{"string_with_other_quote", `"'" url(a) '"' url(b)`, []string{"a", "b"}},
		{"string_with_escaped_quote", `"\"url(a)" url(b)`, []string{"b"}},
		{"string_with_escaped_backslash", `"\\" url(a)`, []string{"a"}},
		{"bad_string_ends_with_its_line", "\"x\nurl(a) ' \rurl(b) ' \furl(c)", []string{"a", "b", "c"}},
		{"unclosed_string", `"url(a)`, nil},
		{"selector", `a[href="url(a)"]{}`, nil},
		{"comment", "/* url(a) */ url(b) /**/url(c)/***/url(d)/*/url(x)*/", []string{"b", "c", "d"}},
		{"comment_with_quote", "/* don't */ url(a) /* \" */ url(b)", []string{"a", "b"}},
		{"comment_in_string", `"/*" url(a) "*/"`, []string{"a"}},
		{"unclosed_comment", "url(a) /* url(b)", []string{"a"}},
		{"slash", "a{font:1px/2px url(a)} / url(b) /", []string{"a", "b"}},
		{"CDO_and_CDC", "<!-- url(a) --> url(b) -->url(c)", []string{"a", "b", "c"}},
	})
}

// https://www.w3.org/TR/css-cascade-4/#at-import and other rules
func TestCSSAtRules(t *testing.T) {
	testURLs(t, []urlCase{
		{"import_string", `@import "a.css"; @import 'b.css';`, []string{"import a.css", "import b.css"}},
		{"import_url", `@import url(a.css); @import url("b.css"); @import URL( c.css );`, []string{"import a.css", "import b.css", "import c.css"}},
		{"import_no_space", `@import"a.css";@import/**/'b.css'`, []string{"import a.css", "import b.css"}},
		{"import_comments", "@import /* url(x) */ \n/*y*/ url(a.css);", []string{"import a.css"}},
		{"import_media", `@import "a.css" screen and (min-width:1px); b{x:url(c)}`, []string{"import a.css", "c"}},
		{"import_supports_is_a_condition", `@import url(a.css) layer(x) supports(background: url(b)) print; c{x:url(d)}`, []string{"import a.css", "d"}},
		{"import_case_and_escapes", `@IMPORT "a"; @\69mport "b"; @i\6d port u\72l(c);`, []string{"import a", "import b", "import c"}},
		{"import_escaped_value", `@import "a\2e css";`, []string{"import a.css"}},
		{"import_unclosed", `@import "a.css`, []string{"import a.css"}},
		{"import_bad_string", "@import \"a.css\n; @import 'b';", []string{"import b"}},
		{"import_bad_url", "@import url(a b); @import url(c)", []string{"import c"}},
		{"import_empty", `@import ""; @import url();`, nil},
		{"import_nothing", `@import`, nil},
		{"import_name", `@import a.css; b{x:url(c)}`, []string{"c"}},
		{"import_other_function", `@import src("a"); b{x:url(c)}`, []string{"c"}},
		{"import_comment_only", `@import /* x`, nil},
		{"no_import", `@importx "a"; @ import "b"; import "c"; #@import "d"; @-import "e"; @2import "f"`, nil},
		{"import_after_statements", `<!-- @charset "x"; /**/ @layer a, b; @import "a"; @unknown x; @import "b"; -->@import url(c) layer(x);`, []string{"import a", "import b", "import c"}},
		{"import_after_rule", `@import "a"; b{c:d} @import "n"; e{f:url(g)}`, []string{"import a", "g"}},
		{"import_after_at_rule", `@font-face{src:url(a)} @import "n";`, []string{"a"}},
		{"import_after_layer_block", `@layer a{} @import "n";`, nil},
		{"import_after_namespace", `@namespace "x"; @import "n";`, nil},
		{"import_in_media", `@media print { @import "n"; a{b:url(c)} } @import url(n);`, []string{"c"}},
		{"import_after_stray_token", `; @import "n";`, nil},
		{"import_after_invalid_rules", `@unknown x; @unknown{y{}} {} 1bad{} p,{} > q{} .1{} x;{} r!{} @media; @layer; @font-face; @import "a";`, []string{"import a"}},
		{"import_in_an_invalid_rule", `@unknown { @import "n"; } 1bad{ @import "n"; } @import "a";`, []string{"import a"}},
		{"import_after_valid_rules_with_odd_selectors", `&.x > [y="]{"]::z:is(a,b) , *|* {} @import "n";`, nil},
		{"import_after_layers", `@layer a; @import "a"; @import "b" screen; @layer b; @import "n";`, []string{"import a", "import b"}},
		{"import_after_a_long_name", `@font-feature-values x{} @import "n";`, nil},
		{"charset", `@charset "utf-8"; a{x:url(b)}`, []string{"b"}},
		{"namespace", `@namespace svg url(http://www.w3.org/2000/svg); @namespace "http://x/"; @NAMESPACE url("y"); a{x:url(b)}`, []string{"b"}},
		{"namespace_escaped", `@n\61mespace url(x); a{x:url(b)}`, []string{"b"}},
		{"document", `@-moz-document url(http://x/), url-prefix("y") {a{x:url(b)}} @document url(z){a{x:url(c)}}`, []string{"b", "c"}},
		{"supports", `@supports (mask:url(x)) {a{x:url(b)}}`, []string{"b"}},
		{"font_face", `@font-face{src:url(a.woff2)format("woff2"),url("b.woff") format("woff")}`, []string{"a.woff2", "b.woff"}},
		{"media", `@media print{a{x:url(b)}}`, []string{"b"}},
		{"letters_are_not_folded_beyond_ASCII", "@import \"a\"; @\u017fupports (x:url(b)){}", []string{"import a", "b"}},
	})
}

// https://www.w3.org/TR/css-images-4/#image-set-notation
func TestCSSImages4_image_set(t *testing.T) {
	testURLs(t, []urlCase{
		{"strings", `image-set("a.png" 1x, 'b.png' 2x)`, []string{"a.png", "b.png"}},
		{"urls", `image-set(url(a.png) 1x, url("b.png") 2x)`, []string{"a.png", "b.png"}},
		{"prefixed", `-webkit-image-set("a.png" 1x)`, []string{"a.png"}},
		{"case_and_escapes", `IMAGE-SET("a") im\61ge-set("b") -WebKit-Image-Set("c")`, []string{"a", "b", "c"}},
		{"type", `image-set("a.avif" type("image/avif"), "b.png" type( "image/png" ))`, []string{"a.avif", "b.png"}},
		{"closes", `image-set("a" 1x) "b" x("c")`, []string{"a"}},
		{"url_closes", `image-set(url("a") "b") "c"`, []string{"a", "b"}},
		{"other_images_inside", `image-set(linear-gradient(red,rgb(0,0,0)) 1x, "a" 2x) "b"`, []string{"a"}},
		{"parentheses_inside", `image-set(("x") "a")`, []string{"a"}},
		{"nested", `image-set(image-set("a") "b") "c"`, []string{"a", "b"}},
		{"inside_another", `cross-fade(image-set("a" 1x), "b")`, []string{"a"}},
		{"other_names", `my-image-set("a") image-sets("b") #image-set("c") -moz-image-set("d") 1image-set("e")`, nil},
		{"comments", `image-set(/*"x"*/"a"/*)*/"b")`, []string{"a", "b"}},
		{"parenthesis_in_string", `image-set("a)" 1x, "b")`, []string{"a)", "b"}},
		{"unclosed_ends_with_the_declaration", `a{x:image-set("a" 1x;content:"b"} c{content:"d"}`, []string{"a"}},
		{"unclosed_ends_with_the_block", `a{x:image-set("a" 1x} c{content:"d"}`, []string{"a"}},
		{"empty", `image-set("" 1x)`, nil},
		{"bad_string", "image-set(\"a\n,\"b\")", []string{"b"}},
		{"deep", `image-set(` + strings.Repeat("(", 200) + `"x"` + strings.Repeat(")", 200) + `"a") "y"`, []string{"a"}},
	})
}

func TestCSS_hostile_sheets_take_linear_time(t *testing.T) {
	// If one of these took quadratic time, the test would take hours.
	const n = 1 << 20
	for _, unit := range []string{
		"url(", "url('", "\"", "/*", "(", "\\", "\\61", "@", "@import", "@import/**/", "@import \\61", "@a", "u\\72l(",
		"image-set(", "a", "a(", "url(a b", "url(a ", "#", "image-set(\"", "@import url(", "url(\\", "-", "\\\n", "\"\\\r\n",
	} {
		text := strings.Repeat(unit, n/len(unit))
		found := 0
		CSSURLs([]byte(text), func(CSSKind, int, int, []byte) { found++ })
		if found > n {
			t.Errorf("%q: %d URLs in %d bytes", unit, found, n)
		}
	}
}

func FuzzCSS(f *testing.F) {
	for _, s := range []string{
		`@import url(a.css) supports(x:url(y));a{b:url( "c" )}`, `u\72l(a\26 b)`, `image-set("a" type("b"),url(c))"d"`,
		"/*x*/url(a b)'\\\n'\"x\nurl(c)", `#url(a)1url(b)@namespace url(c);url(d`, "@\\69mport'a\\", "@supports (a:url(b)){url(c\\",
		"image-set(((\"a\")\"b\";\"c\"", "5e-\\75rl(a)-->url(\x00)\xff\\\xff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var found []string
		last := 0
		CSSURLs([]byte(text), func(kind CSSKind, start, end int, value []byte) {
			if start <= last || start >= end || end > len(text) {
				t.Fatalf("range [%d,%d) after %d of %d bytes", start, end, last, len(text))
			}
			last = end
			if raw := text[start:end]; !strings.Contains(raw, `\`) && raw != string(value) {
				t.Fatalf("range holds %q, value is %q", raw, value)
			}
			if kind == Import {
				found = append(found, "import "+string(value))
				return
			}
			found = append(found, string(value))
		})
		if want := oracle(text); !slices.Equal(found, want) {
			t.Fatalf("URLs(%q) = %q, the oracle has %q", text, found, want)
		}
	})
}

// TestCSS_random_sheets_equal_the_oracle reads sheets of a few pieces each, in
// combinations that random bytes rarely produce. The seed is fixed.
func TestCSS_random_sheets_equal_the_oracle(t *testing.T) {
	pieces := []string{
		"url(", "URL(", "u\\72l(", "\\75rl(", "image-set(", "-webkit-image-set(", "im\\61ge-set(", "type(", "(", ")", "a", "/x", "b.png",
		"@import", "@\\69mport", "@namespace", "@supports", "@-moz-document", "@", "#", ".", "-", "--", "5", "1e", "+", "%", "\"", "'", "\"s\"", "'t'",
		"\\", "\\\n", "\\61", "\\26 ", " ", "\n", "\r\n", "\f", "\t", "/*", "*/", "/**/", "/", "*", ";", "{", "}", "<!--", "-->",
		"\x00", "\xff", "é", "\x7f", ",", "?q#f", "e", "0",
	}
	random := rand.New(rand.NewPCG(1, 2))
	urls, sheets := 0, 20_000
	if os.Getenv("SITELINK_LONG") != "" { // as testkit.Longer, which imports this package; .ci/run looks for that name
		sheets = 200_000
	}
	for range sheets {
		var b strings.Builder
		for range 1 + random.IntN(14) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		text := b.String()
		got, want := foundURLs(t, text), oracle(text)
		if !slices.Equal(got, want) {
			t.Fatalf("URLs(%q) = %q, the oracle has %q", text, got, want)
		}
		urls += len(got)
	}
	if urls < sheets/20 {
		t.Errorf("only %d URLs: the sheets show little", urls)
	}
}

func TestCSS_allocates_nothing_without_escapes(t *testing.T) {
	text := benchmarkCSS()
	n := 0
	emit := func(kind CSSKind, start, end int, value []byte) { n += len(value) }
	if allocs := testing.AllocsPerRun(10, func() { CSSURLs(text, emit) }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	if n == 0 {
		t.Error("the sheet has no URLs")
	}
}

// benchmarkCSS is a typical sheet with a URL in every tenth rule.
func benchmarkCSS() []byte {
	var b bytes.Buffer
	b.WriteString("@charset \"utf-8\";\n@import url(\"reset.css\");\n")
	for i := range 400 {
		fmt.Fprintf(&b, "/* part %d */\n.sidebar-%d a:hover, .content > h%d::after {\n", i, i, i%6+1)
		fmt.Fprintf(&b, "    margin: 0 auto %dpx;\n    color: rgba(%d, 20, 30, 0.5);\n    font-family: \"Fira Sans\", Arial, sans-serif;\n", i, i%256)
		if i%10 == 0 {
			fmt.Fprintf(&b, "    background: url(../img/icon-%d.svg) no-repeat center;\n", i)
		}
		b.WriteString("    border-bottom: 1px solid var(--border-color);\n    transition: opacity .2s ease-in-out;\n    content: \"\\f101\";\n}\n")
	}
	return b.Bytes()
}
