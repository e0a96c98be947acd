package templates

import (
	"strings"
	"testing"
)

var headerEndpoints = Endpoints{Pingback: `https://h.example/x?a=1&b="2"&c=%C3%A9`, Webmention: "https://h.example/wm?a=$1&b=2"}

// Each rule, pasted where its text belongs, is read there with the values of the elements
// (PB-16).
func TestHeaderRules(t *testing.T) {
	for profile, files := range map[string][]string{"netlify": {"_headers", "netlify.toml"}, "cloudflare-pages": {"_headers"},
		"apache": {".htaccess"}, "vercel": {"vercel.json"}, "firebase": {"firebase.json"}} {
		rules := HeaderRules(profile, headerEndpoints)
		if len(rules) != len(files) {
			t.Fatalf("%s has %d rules, want %d", profile, len(rules), len(files))
		}
		around := map[string][2]string{"_headers": {"/a\n  C: d\n", ""}, ".htaccess": {"Options -Indexes\n", ""}, "netlify.toml": {"[build]\npublish = 'public'\n", ""},
			"vercel.json": {`{"headers": [`, "]}"}, "firebase.json": {`{"hosting": {"headers": [`, "]}}"}}
		for i, rule := range rules {
			if rule.File != files[i] {
				t.Fatalf("%s: %s, want %s", profile, rule.File, files[i])
			}
			checkHeaders(t, rule.File, []byte(around[rule.File][0]+rule.Text+around[rule.File][1]), headerEndpoints)
		}
	}
}

// checkHeaders: each header once for all paths (PB-14), absolute (PB-13), with
// the endpoint's value, and no Link header for pingbacks (PB-19).
func checkHeaders(t *testing.T, file string, text []byte, want Endpoints) {
	t.Helper()
	values, err := ReadHeaders(file, text)
	if err != nil {
		t.Errorf("%s: %v\n%s", file, err, text)
		return
	}
	var got Endpoints
	for _, v := range values {
		field := &got.Webmention
		if v.Rel == "pingback" {
			field = &got.Pingback
		}
		if *field != "" || !v.All || v.IsLink != (v.Rel == "webmention") {
			t.Errorf("%s: %+v in\n%s", file, v, text)
		}
		*field = v.URI
		if line := strings.Split(string(text), "\n")[v.Line-1]; !strings.Contains(line, "h.example") {
			t.Errorf("%s: line %d is %q", file, v.Line, line)
		}
	}
	if got != want {
		t.Errorf("%s names %+v, want %+v\n%s", file, got, want, text)
	}
}

// What a person pastes into a server's own configuration.
func TestHeaderSnippets(t *testing.T) {
	for profile, want := range map[string]string{
		"nginx": "# in the http block: geo $sitelink_dollar { default \"$\"; }\n" +
			"add_header X-Pingback \"https://h.example/x?a=1&b=\\\"2\\\"&c=%C3%A9\";\n" +
			"add_header Link \"<https://h.example/wm?a=${sitelink_dollar}1&b=2>; rel=\\\"webmention\\\"\";\n",
		"caddy": "header X-Pingback `https://h.example/x?a=1&b=\"2\"&c=%C3%A9`\n" +
			"header +Link `<https://h.example/wm?a=$1&b=2>; rel=\"webmention\"`\n",
		"lighttpd": "setenv.add-response-header += (\n  \"X-Pingback\" => \"https://h.example/x?a=1&b=\\\"2\\\"&c=%C3%A9\",\n" +
			"  \"Link\" => \"<https://h.example/wm?a=$1&b=2>; rel=\\\"webmention\\\"\"\n)\n",
	} {
		rules := HeaderRules(profile, headerEndpoints)
		if len(rules) != 1 || rules[0].File != "" || rules[0].Text != want {
			t.Errorf("%s:\n%+v\nwant\n%s", profile, rules, want)
		}
	}
	for _, profile := range []string{"generic", "github-pages", "s3", "hugo-server", "linklint"} {
		if rules := HeaderRules(profile, headerEndpoints); rules != nil {
			t.Errorf("%s: %v", profile, rules)
		}
	}
	if rules := HeaderRules("nginx", Endpoints{}); rules != nil {
		t.Errorf("without endpoints: %v", rules)
	}
}

func TestReadHeaders(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		want       []HeaderValue
	}{
		"PB-19/link_to_a_pingback_server": {"_headers", "/*\n  Link: <http://h/x>; rel=\"pingback\"\n",
			[]HeaderValue{{2, "/*", true, "pingback", true, "http://h/x"}}},
		"several": {"_headers", "/a/*\n  Link: </s,x>;rel=preload;as=\"a,b\", <http://h/wm> ; rel=WebMention\n  X-Pingback: http://h/x \n",
			[]HeaderValue{{2, "/a/*", false, "webmention", true, "http://h/wm"}, {3, "/a/*", false, "pingback", false, "http://h/x"}}},
		"apache": {".htaccess", "<Files a.html>\nHeader always set x-pingback http://h/x\n</Files>\nHeader append Link \"<http://h/%%41>; rel=\\\"webmention\\\"\"\n",
			[]HeaderValue{{2, "<Files a.html>", false, "pingback", false, "http://h/x"}, {4, "", true, "webmention", true, "http://h/%41"}}},
		"toml_lists": {"netlify.toml", "[[headers]]\nfor='/*'\n[headers.values]\nLink = ['''<a>; rel=x''', '''<b>; rel=webmention''']\n",
			[]HeaderValue{{4, "/*", true, "webmention", true, "b"}}},
		"longer_in_lower_case": {"netlify.toml", "[[headers]]\nfor='/*'\n[headers.values]\nA = \"\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\u023a\"\nX-Pingback = 'b'\n",
			[]HeaderValue{{5, "/*", true, "pingback", false, "b"}}},
		"firebase_sites": {"firebase.json", `{"hosting":[{"headers":[{"glob":"**","headers":[{"key":"X-Pingback","value":"http://h/"}]}]}]}`,
			[]HeaderValue{{1, "**", true, "pingback", false, "http://h/"}}},
	} {
		got, err := ReadHeaders(c.file, []byte(c.text))
		if err != nil || len(got) != len(c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %+v, want %+v", name, got[i], c.want[i])
			}
		}
	}
}

// A damaged file is an error that names the line.
func TestReadHeadersDamaged(t *testing.T) {
	for file, c := range map[string][2]string{
		"vercel.json":   {"{\n\"a\":\n}", "vercel.json: line 3: invalid character"},
		"firebase.json": {"{", "firebase.json: line 1: unexpected end"},
		"netlify.toml":  {"[a\n", "netlify.toml: "},
	} {
		if got, err := ReadHeaders(file, []byte(c[0])); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, %v; want %q", file, got, err, c[1])
		}
	}
}
