package weburl

import (
	"encoding/json"
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/idna"

	"github.com/sitelink/sitelink/internal/testkit"
)

// The web platform tests come with the module that is the oracle of
// FuzzResolve; -wpt names a directory with another edition of them.
var wptDir = flag.String("wpt", "", "directory of urltestdata.json and toascii.json")

func wptFile(t testing.TB, name string) []json.RawMessage {
	t.Helper()
	dir := *wptDir
	if dir == "" {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/nlnwa/whatwg-url").Output()
		if err != nil {
			t.Fatalf("find the test data: %v", err)
		}
		dir = filepath.Join(strings.TrimSpace(string(out)), "testdata")
	}
	data := testkit.Read(t, filepath.Join(dir, name))
	var rows, cases []json.RawMessage
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	for _, row := range rows {
		if row[0] == '{' {
			cases = append(cases, row)
		}
	}
	if len(cases) < 30 {
		t.Fatalf("%s holds %d cases", name, len(cases))
	}
	return cases
}

// newer are test cases with a result that the standard has changed since the
// oracle's edition, with their present result: the host, or the path.
var newer = map[string]string{
	// A domain in ASCII is taken whatever Punycode it holds (domain parser,
	// "When beStrict is false and domain is an ASCII string").
	"http://a.b.c.xn--pokxncvks":  "a.b.c.xn--pokxncvks",
	"http://a.b.c.XN--pokxncvks":  "a.b.c.xn--pokxncvks",
	"http://a.b.c.Xn--pokxncvks":  "a.b.c.xn--pokxncvks",
	"http://10.0.0.xn--pokxncvks": "10.0.0.xn--pokxncvks",
	"http://10.0.0.XN--pokxncvks": "10.0.0.xn--pokxncvks",
	"http://10.0.0.xN--pokxncvks": "10.0.0.xn--pokxncvks",
	"file://xn--/p":               "xn--",
	"https://xn--/":               "xn--",
	"xn--a":                       "xn--a",
	"xn--a.xn--zca":               "xn--a.xn--zca",
	"xn--ls8h=":                   "xn--ls8h=",
	"xn--1ug.example":             "xn--1ug.example",
	"xn--a-yoc":                   "xn--a-yoc",
	"xn--zn7c.com":                "xn--zn7c.com",
	// The path percent-encode set holds ^.
	"foo://host/ !\"$%&'()*+,-./:;<=>@[\\]^_`{|}~": "/%20!%22$%&'()*+,-./:;%3C=%3E@[\\]%5E_%60%7B|%7D~",
	"wss://host/ !\"$%&'()*+,-./:;<=>@[\\]^_`{|}~": "/%20!%22$%&'()*+,-./:;%3C=%3E@[/]%5E_%60%7B|%7D~",
}

// unicode15 are the domains of newer editions that the IDNA tables of Unicode
// 15 refuse, and those of Unicode 16 allow. Go 1.27 brings the latter.
var unicode15 = map[string]bool{
	"look\u180Eout.net": true,
	"look\u206Bout.net": true,
	"\u04C0.com":        true,
	"\U0002F868.com":    true,
	"\u2183.com":        true,
}

// TestWPT is url/resources/urltestdata.json of the web platform tests.
func TestWPT(t *testing.T) {
	passed := 0
	for _, row := range wptFile(t, "urltestdata.json") {
		var c struct {
			Input, Href, Protocol, Username, Password, Hostname, Port, Pathname, Search, Hash string

			Base    *string
			Failure bool
		}
		testkit.Check(t, json.Unmarshal(row, &c))
		var base URL
		if c.Base != nil {
			var err error
			if base, err = Parse(*c.Base); err != nil {
				if !c.Failure {
					t.Errorf("base %q: %v", *c.Base, err)
				}
				continue
			}
		}
		u, err := base.Resolve(c.Input)
		if want, ok := newer[c.Input]; ok && *wptDir == "" {
			if err != nil || u.Host() != want && u.Path() != want {
				t.Errorf("%q: got %q, %v, want host or path %q", c.Input, u, err, want)
			}
			continue
		}
		if (err != nil) != c.Failure {
			t.Errorf("%q against %q: got %q, %v, want failure %v", c.Input, base, u, err, c.Failure)
			continue
		}
		if err != nil {
			passed++
			continue
		}
		prefixed := func(mark, s string) string {
			if s == "" {
				return ""
			}
			return mark + s
		}
		ok := true
		for _, f := range []struct{ name, got, want string }{
			{"href", u.String(), c.Href},
			{"protocol", u.Scheme() + ":", c.Protocol},
			{"username", u.Username(), c.Username},
			{"password", u.Password(), c.Password},
			{"hostname", u.Host(), c.Hostname},
			{"port", u.Port(), c.Port},
			{"pathname", u.Path(), c.Pathname},
			{"search", prefixed("?", u.Query()), c.Search},
			{"hash", prefixed("#", u.Fragment()), c.Hash},
		} {
			if f.got != f.want {
				ok = false
				t.Errorf("%q against %q: %s is %q, want %q", c.Input, base, f.name, f.got, f.want)
			}
		}
		if ok {
			passed++
		}
	}
	if passed < 800 {
		t.Errorf("%d cases passed", passed)
	}
}

// TestWPTToASCII is url/resources/toascii.json of the web platform tests.
func TestWPTToASCII(t *testing.T) {
	for _, row := range wptFile(t, "toascii.json") {
		var c struct {
			Input  string
			Output *string
		}
		testkit.Check(t, json.Unmarshal(row, &c))
		u, err := Parse("https://" + c.Input + "/x")
		if want, ok := newer[c.Input]; ok {
			c.Output = &want
		}
		switch {
		case unicode15[c.Input] && idna.UnicodeVersion < "16":
			if err == nil {
				t.Errorf("%q: got %q, which tables of Unicode %s allow", c.Input, u.Host(), idna.UnicodeVersion)
			}
		case err != nil && c.Output != nil:
			t.Errorf("%q: %v, want %q", c.Input, err, *c.Output)
		case err == nil && c.Output == nil:
			t.Errorf("%q: got %q, want failure", c.Input, u.Host())
		case err == nil && u.Host() != *c.Output:
			t.Errorf("%q: got %q, want %q", c.Input, u.Host(), *c.Output)
		}
	}
}
