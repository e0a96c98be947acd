package generator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// FuzzScript: every value comes from the text of the program, after its names. No
// text makes the function fail.
func FuzzScript(f *testing.F) {
	for _, seed := range []string{
		"export default { site: 'https://example.org', base: \"/x\" }", "module.exports = c => ({ dir: { output: `d` } })", "a: 'b", "/* { */ // }\n}}])",
		"x('y')", "a: '\\u0041'", "`${a: 'b'}`", "{ a: { b: [ { c: 'd' } ] } }", "{ a: true, b: false && c }",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range scriptProperties(text) {
			name := strings.TrimRight(p.name, "(")
			at := strings.Index(text, name)
			value := fmt.Sprint(p.value)
			if at < 0 || !strings.Contains(text[at:], value) || strings.Contains(value, "\\") {
				t.Errorf("%q: property %+v", text, p)
			}
		}
	})
}

// FuzzDocument: hostile configuration files end, in a table or an error that
// begins with a line that the text has.
func FuzzDocument(f *testing.F) {
	for _, ext := range []string{".toml", ".yaml", ".json"} {
		for _, seed := range []string{"a: 1", "a = 1", `{"a": 1}`, "a: &x {b: *x}", "- a", "[[a]]\n[a]", "a: !!python/name:x", "\xff", "? {a: b}\n: c", "a: &a [*a, *a]"} {
			f.Add(ext, seed)
		}
	}
	f.Fuzz(func(t *testing.T, ext, text string) {
		testkit.Linear(t, []byte(text), func(text []byte) { ParseDocument(ext, text) })
		d, err := ParseDocument(ext, []byte(text))
		if err == nil {
			for k := range d {
				if k != strings.ToLower(k) {
					t.Errorf("key %q", k)
				}
			}
			return
		}
		line := 0
		for _, c := range err.Error() {
			if c < '0' || c > '9' {
				break
			}
			line = line*10 + int(c-'0')
		}
		if line < 1 || line > strings.Count(text, "\n")+strings.Count(text, "\r")+2 {
			t.Errorf("%q: %v", text, err)
		}
	})
}
