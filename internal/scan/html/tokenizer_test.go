package html

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

// tokenizerCase is one of html5lib's tokenizer tests, which golang.org/x/net
// contains: https://github.com/html5lib/html5lib-tests/tree/master/tokenizer
type tokenizerCase struct {
	Description   string
	Input         string
	Output        [][]any
	InitialStates []string
	LastStartTag  string
	DoubleEscaped bool
	Errors        []struct{ Code string }

	file string
}

// tokenizerCases returns the cases with their second layer of escapes decoded,
// and the number of cases left out for each reason.
func tokenizerCases(t *testing.T) (cases []tokenizerCase, skipped map[string]int) {
	t.Helper()
	dir := filepath.Join(testkit.ModuleDir(t, "golang.org/x/net"), "html/testdata/html5lib-tests/tokenizer")
	names := testkit.Must(filepath.Glob(filepath.Join(dir, "*.test")))(t)
	skipped = map[string]int{}
	for _, name := range names {
		b := testkit.Read(t, name)
		var file struct {
			Tests             []tokenizerCase
			XMLViolationTests []json.RawMessage
		}
		if err := json.Unmarshal(b, &file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		skipped["wants characters replaced that XML forbids"] += len(file.XMLViolationTests)
		for _, c := range file.Tests {
			c.file = filepath.Base(name)
			if loneSurrogate(c) {
				skipped["has a lone surrogate, which UTF-8 cannot hold"]++
				continue
			}
			cases = append(cases, c.unescaped())
		}
	}
	return cases, skipped
}

var unicodeEscape = regexp.MustCompile(`\\u[0-9A-Fa-f]{4}`)

// loneSurrogate reports whether an escape of the second layer is a surrogate.
func loneSurrogate(c tokenizerCase) bool {
	for _, m := range unicodeEscape.FindAllString(c.Input, -1) {
		if r, _ := strconv.ParseUint(m[2:], 16, 16); c.DoubleEscaped && 0xD800 <= r && r <= 0xDFFF {
			return true
		}
	}
	return false
}

func (c tokenizerCase) unescaped() tokenizerCase {
	if len(c.InitialStates) == 0 {
		c.InitialStates = []string{"Data state"}
	}
	if !c.DoubleEscaped {
		return c
	}
	plain := func(s string) string {
		return unicodeEscape.ReplaceAllStringFunc(s, func(m string) string {
			r, _ := strconv.ParseUint(m[2:], 16, 16)
			return string(rune(r))
		})
	}
	c.Input = plain(c.Input)
	for _, token := range c.Output {
		for i := range token {
			switch v := token[i].(type) {
			case string:
				token[i] = plain(v)
			case map[string]any:
				attrs := map[string]any{}
				for name, value := range v {
					attrs[plain(name)] = plain(value.(string))
				}
				token[i] = attrs
			}
		}
	}
	return c
}

// knownFor maps the attribute names in the tests to names that the scanner
// knows. For the standard's tokenizer all names are alike.
var knownFor = map[string]string{"a": "href", "b": "src", "c": "cite", "x": "ping", "y": "type", "z": "data", "aa": "name",
	"ab": "poster", "ay": "property", "az": "style", "foo": "code", "id": "id", "o": "action", "t": "content"}

// withKnownNames replaces the attribute names of c in input and output.
func (c tokenizerCase) withKnownNames() tokenizerCase {
	names := map[string]bool{}
	out := slices.Clone(c.Output)
	for i, token := range out {
		if token[0] != "StartTag" {
			continue
		}
		attrs := map[string]any{}
		for name, value := range token[2].(map[string]any) {
			if known, ok := knownFor[name]; ok {
				names[name] = true
				attrs[known] = value
			}
		}
		out[i] = []any{token[0], token[1], attrs}
	}
	c.Output = out
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c.Input = renameAttribute(c.Input, name, knownFor[name])
	}
	return c
}

// renameAttribute replaces name wherever it can be the name of an attribute.
func renameAttribute(input, name, known string) string {
	var out strings.Builder
	for i := 0; i < len(input); {
		j := i + len(name)
		if i > 0 && j <= len(input) && strings.EqualFold(input[i:j], name) && strings.IndexByte("\t\n\f\r /\"'", input[i-1]) >= 0 &&
			(j == len(input) || strings.IndexByte("\t\n\f\r />=", input[j]) >= 0) {
			to := known
			if input[i:j] == strings.ToUpper(name) {
				to = strings.ToUpper(known)
			}
			out.WriteString(to)
			i = j
			continue
		}
		out.WriteByte(input[i])
		i++
	}
	return out.String()
}

// walkTokens reads text in the data state and lists the tags, and the text
// between them, that the scanner's functions find. No tag changes the state,
// because these tests have no tree builder.
func walkTokens(text []byte) (tokens []string, chars string) {
	flush := func(b []byte) { chars += string(b) }
	var s Scanner
	s.el.Reset(text, "utf-8")
	from := 0
	for i := 0; i < len(text); {
		if text[i] != '<' || i+1 == len(text) {
			i++
			continue
		}
		c := text[i+1]
		end := i
		switch {
		case scan.Class[c]&scan.ClassLetter != 0:
			j, _ := scan.NameAt(text, i+1)
			var set scan.AttrSet
			next, _, ok := scan.ReadAttrs(text, j, &set)
			end = next
			if ok {
				tokens = append(tokens, startToken(text[i+1:j], attrsOf(text, &set)))
			}
		case c == '/' && i+2 < len(text) && scan.Class[text[i+2]]&scan.ClassLetter != 0:
			j, _ := scan.NameAt(text, i+2)
			next, _, ok := scan.ReadAttrs(text, j, nil)
			end = next
			if ok {
				tokens = append(tokens, "</"+tokenName(text[i+2:j]))
			}
		case c == '/' && i+2 < len(text), c == '?':
			end = scan.After(text, i+2, '>')
		case c == '!':
			end = s.declaration(i)
		}
		if end == i {
			i++
			continue
		}
		flush(text[from:i])
		i, from = end, end
	}
	flush(text[from:])
	return tokens, chars
}

// pageIDs reads the whole case as a page, with attribute a as id, and returns
// the ids found and expected. The tags of these tests have no effect on the
// tree.
func pageIDs(c tokenizerCase) (got, want []string) {
	for _, token := range c.Output {
		if token[0] == "StartTag" {
			for _, name := range []string{"a", "id"} {
				if id, _ := token[2].(map[string]any)[name].(string); id != "" {
					want = append(want, id)
				}
			}
		}
	}
	if want == nil && !strings.Contains(c.Input, "<") {
		return nil, nil
	}
	for _, a := range new(Scanner).Scan([]byte(renameAttribute(c.Input, "a", "id")), scan.Options{Charset: "utf-8"}).Anchors {
		got = append(got, string(a.Name))
	}
	return got, want
}

func tokenName(b []byte) string {
	return strings.ReplaceAll(string(bytes.ToLower(b)), "\x00", "\uFFFD")
}

func startToken(name []byte, attrs map[string]string) string {
	out := "<" + tokenName(name)
	for _, a := range slices.Sorted(maps.Keys(attrs)) {
		out += fmt.Sprintf(" %s=%q", a, attrs[a])
	}
	return out
}

func attrsOf(text []byte, set *scan.AttrSet) map[string]string {
	out := map[string]string{}
	for a := scan.AttrOther + 1; a < scan.AttrText; a++ {
		if set.Has(a) {
			out[a.String()] = string(scan.DecodeRefs(nil, text[set.Val[a].Start:set.Val[a].End], nil))
		}
	}
	return out
}

// wantTokens lists the same for the expected output.
func wantTokens(c tokenizerCase) (tokens []string, chars string) {
	for _, token := range c.Output {
		switch token[0] {
		case "StartTag":
			attrs := map[string]string{}
			for name, value := range token[2].(map[string]any) {
				attrs[name] = value.(string)
			}
			tokens = append(tokens, startToken([]byte(token[1].(string)), attrs))
		case "EndTag":
			tokens = append(tokens, "</"+token[1].(string))
		case "Character":
			chars += token[1].(string)
		}
	}
	return tokens, chars
}

// TestHTML_13_2_5_tokenizer runs html5lib's tokenizer tests. It checks tags,
// attributes and the extent of text in every state that a page can put the
// scanner into.
func TestHTML_13_2_5_tokenizer(t *testing.T) {
	cases, skipped := tokenizerCases(t)
	run, values := 0, 0
	for _, c := range cases {
		for _, state := range c.InitialStates {
			fail := func(got, want any) {
				t.Errorf("%s: %s (%s): %q\n got %q\nwant %q", c.file, c.Description, state, c.Input, got, want)
			}
			switch state {
			case "Data state":
				if got, want := pageIDs(c); !slices.Equal(got, want) {
					fail(got, want)
				}
				c := c.withKnownNames()
				got, gotChars := walkTokens([]byte(c.Input))
				want, wantChars := wantTokens(c)
				if !slices.Equal(got, want) {
					fail(got, want)
				}
				values += len(want)
				// References outside tags are not decoded, because no link is
				// there.
				if !strings.Contains(c.Input, "&") && newlines(gotChars) != wantChars {
					fail(newlines(gotChars), wantChars)
				}
				run++
			case "RCDATA state", "RAWTEXT state", "Script data state":
				if c.LastStartTag == "" {
					// No end tag matches. The scanner searches for one by name.
					c.LastStartTag = "xmp"
				}
				got, want := rawText(c, state), firstText(c)
				if state == "RCDATA state" && strings.Contains(c.Input, "&") {
					skipped["references in RCDATA, which holds no link"]++
					continue
				}
				if got != want {
					fail(got, want)
				}
				run++
			case "PLAINTEXT state":
				p := new(Scanner).Scan([]byte("<plaintext>"+c.Input), scan.Options{Charset: "utf-8"})
				if len(p.Links)+len(p.Anchors) != 0 {
					fail(p.Links, nil)
				}
				run++
			case "CDATA section state":
				// The section ends where its text ends. A tag after it counts.
				text := "<svg><![CDATA[" + c.Input
				_, chars := wantTokens(c)
				p := new(Scanner).Scan([]byte(text+"<g id=x>"), scan.Options{Charset: "utf-8"})
				closed := strings.Contains(c.Input, "]]>")
				if got := len(p.Anchors) == 1; got != closed {
					fail(got, closed)
				}
				if closed && !strings.Contains(newlines(c.Input), chars[:strings.Index(newlines(c.Input), "]]>")]) {
					fail(c.Input, chars)
				}
				run++
			default:
				t.Errorf("%s: unknown state %q", c.file, state)
			}
		}
	}
	t.Logf("%d cases run, %d start and end tags compared", run, values)
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		t.Logf("%d cases skipped: %s", skipped[reason], reason)
	}
	if run < 7000 || values < 440 {
		t.Errorf("%d cases run, %d tags compared: tests are missing", run, values)
	}
}

// newlines is the preprocessing of the input stream (HTML 13.2.3.5).
func newlines(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// rawText returns the text up to the end tag that closes the element.
func rawText(c tokenizerCase, state string) string {
	text := []byte(c.Input)
	end := 0
	if state == "Script data state" && c.LastStartTag == "script" {
		end = scan.ScriptEnd(text, 0)
	} else {
		end = scan.RawEnd(text, 0, c.LastStartTag)
	}
	// An end tag that is cut by the end of the file is not a tag, and its text
	// is lost.
	return strings.ReplaceAll(newlines(string(text[:end])), "\x00", "\uFFFD")
}

// firstText returns the text before the first tag.
func firstText(c tokenizerCase) string {
	out := ""
	for _, token := range c.Output {
		if token[0] != "Character" {
			break
		}
		out += token[1].(string)
	}
	return out
}

// TestHTML_13_2_5_72_references_in_attributes puts every text of html5lib's
// tests that is one character reference into an attribute. There, references
// without semicolon do not count before "=", a letter or a digit (HTML
// 13.2.5.73).
func TestHTML_13_2_5_72_references_in_attributes(t *testing.T) {
	cases, _ := tokenizerCases(t)
	run, kept := 0, 0
	var s Scanner
	for _, c := range cases {
		if c.InitialStates[0] != "Data state" || !strings.HasPrefix(c.Input, "&") || strings.Count(c.Input, "&") != 1 ||
			strings.ContainsAny(c.Input, "<\"\r\x00") || !utf8.ValidString(c.Input) {
			continue
		}
		_, want := wantTokens(c)
		// The text after the reference is at the end of both.
		tail := 0
		for tail < len(want) && tail < len(c.Input) && want[len(want)-1-tail] == c.Input[len(c.Input)-1-tail] {
			tail++
		}
		if taken := len(c.Input) - tail; want != c.Input && tail > 0 && c.Input[taken-1] != ';' && !strings.HasPrefix(c.Input, "&#") {
			if next := c.Input[taken]; next == '=' || scan.IsAlnum(next) {
				want = c.Input
				kept++
			}
		}
		for _, form := range []string{`<a href="%s">`, `<a href='%s' id=x>`, "<a href=%s>"} {
			if form != `<a href="%s">` && strings.ContainsAny(c.Input, "'> \t\n\f`=") {
				continue
			}
			p := s.Scan(fmt.Appendf(nil, form, c.Input), scan.Options{Charset: "utf-8"})
			if len(p.Links) != 1 || string(p.Links[0].Value) != want {
				t.Errorf("%s: %s: "+form+": got %q, want %q", c.file, c.Description, c.Input, values(p), want)
			}
		}
		run++
		if tail > 0 || want == c.Input || strings.HasPrefix(c.Input, "&#") || strings.HasSuffix(c.Input, ";") {
			continue
		}
		// For a reference that needs no semicolon, the next byte decides.
		for _, follow := range []string{"=", "=x", "a", "Z", "0"} {
			if got := string(scan.DecodeRefs(nil, []byte(c.Input+follow), nil)); got != c.Input+follow {
				t.Errorf("%s: got %q, want it as written", c.Input+follow, got)
			}
			kept++
		}
		for _, follow := range []string{"-", " ", "#x", "/", "&", "\u00E9", "_"} {
			if got := string(scan.DecodeRefs(nil, []byte(c.Input+follow), nil)); got != want+follow {
				t.Errorf("%s: got %q, want %q", c.Input+follow, got, want+follow)
			}
		}
	}
	t.Logf("%d references run as attribute values; %d times one without semicolon stays as written", run, kept)
	if run < 4600 || kept < 500 {
		t.Errorf("%d references, %d kept: tests are missing", run, kept)
	}
}

// values lists the values of the page's links.
func values(p *scan.Page) []string {
	out := []string{}
	for i := range p.Links {
		out = append(out, string(p.Links[i].Value))
	}
	return out
}
