package templates

import (
	"bytes"
	"strings"
	"testing"
)

var headerEndpoints = Endpoints{Pingback: `https://h.example/x?a=1&b="2"&c=%C3%A9`, Webmention: "https://h.example/wm?a=$1&b=2"}

// The rule is put into files of all kinds, is read there with the values of the
// elements (PB-16), replaced, put in again without change, and taken out to the
// byte.
func TestHeaderRules(t *testing.T) {
	texts := map[string][]string{
		"_headers":     {"", "/*", "/*\n  A: b\n/a\n  C: d\n/*\r\n  E: f\n", "/a\n  C: d\n/*\n", "/*\n  X-Frame-Options: DENY\n", "# no end", "/a\r\n  Link: </s.css>; rel=preload\r\n", "\n\n"},
		".htaccess":    {"", "Options -Indexes\n<FilesMatch x>\nHeader set X-Y z\n</FilesMatch>"},
		"netlify.toml": {"", "[build]\n  publish = 'public'", "[[headers]]\nfor = '/x'\n[headers.values]\nX-A = 'b'\n", "[build]\r\npublish = 'public'\r\n"},
		"vercel.json": {"", "{}", "{}\n", "{ }", `{"headers":[]}`, `{"headers": [ ]}`, "{\n  \"cleanUrls\": true\n}\n",
			"{\n  \"headers\": [\n    { \"source\": \"/a\", \"headers\": [] }\n  ]\n}\n", `{"a":{"headers":1},"headers":[{"source":"/a","headers":[]}]}`,
			"{\n  \"headers\": [\n  ]\n}"},
		"firebase.json": {`{"hosting":{}}`, "{\n  \"hosting\": {\n    \"public\": \"public\"\n  }\n}\n", `{"x":[{"hosting":1}],"hosting":{"headers":[ {"source":"/a","headers":[]}]}}`},
	}
	old := Endpoints{Webmention: "https://old.example/"}
	for profile, files := range map[string][]string{"netlify": {"_headers", "netlify.toml"}, "cloudflare-pages": {"_headers"},
		"apache": {".htaccess"}, "vercel": {"vercel.json"}, "firebase": {"firebase.json"}} {
		rules := HeaderRules(profile, headerEndpoints)
		if len(rules) != len(files) {
			t.Fatalf("%s has %d rules, want %d", profile, len(rules), len(files))
		}
		for i, rule := range rules {
			if rule.File != files[i] {
				t.Fatalf("%s: %s, want %s", profile, rule.File, files[i])
			}
			for _, text := range texts[rule.File] {
				out, err := rule.Insert([]byte(text))
				if err != nil {
					t.Errorf("%s %q: %v", rule.File, text, err)
					continue
				}
				if text == "" && rule.File == "vercel.json" && string(out) != rule.Text {
					t.Errorf("a new file is %q, shown is %q", out, rule.Text)
				}
				checkHeaders(t, rule.File, out, headerEndpoints)
				if again, err := rule.Insert(out); err != nil || !bytes.Equal(again, out) {
					t.Errorf("%s: a second time\n%s\nwas\n%s\n%v", rule.File, again, out, err)
				}
				stale, err := HeaderRules(profile, old)[i].Insert(out)
				if err != nil {
					t.Errorf("%s: %v", rule.File, err)
				}
				checkHeaders(t, rule.File, stale, old)
				if back, err := rule.Insert(stale); err != nil || !bytes.Equal(back, out) {
					t.Errorf("%s: replaced it is\n%s\nwas\n%s\n%v", rule.File, back, out, err)
				}
				if back, err := rule.Remove(out); err != nil || string(back) != text {
					t.Errorf("%s: taken out it is %q, was %q, %v", rule.File, back, text, err)
				}
			}
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
		if line := strings.Split(string(text), "\n")[v.Line-1]; !strings.Contains(line, "h.example") && !strings.Contains(line, "old.example") {
			t.Errorf("%s: line %d is %q", file, v.Line, line)
		}
	}
	if got != want {
		t.Errorf("%s names %+v, want %+v\n%s", file, got, want, text)
	}
}

// A user's edit around the rule, or after it, stays.
func TestHeaderRuleEdited(t *testing.T) {
	rule := HeaderRules("netlify", headerEndpoints)[0]
	// It goes to the lines for all paths, where there are some, also later.
	for _, text := range []string{"/*\n  A: b\n", "/*\n# sitelink:begin\n  X-Pingback: https://old.example/\n# sitelink:end\n  A: b\n",
		"# sitelink:begin\n/*\n  X-Pingback: https://old.example/\n# sitelink:end\n/*\n  A: b\n"} {
		want := "/*\n# sitelink:begin\n" + strings.TrimPrefix(rule.Text, "/*\n") + "# sitelink:end\n  A: b\n"
		if out, err := rule.Insert([]byte(text)); err != nil || string(out) != want {
			t.Errorf("%q, %v; want %q", out, err, want)
		}
	}
	out, err := rule.Insert([]byte("/a\n  A: b"))
	if err != nil {
		t.Fatal(err)
	}
	edited := "# first\n" + string(out) + "/b\n  C: d\n"
	if again, err := rule.Insert([]byte(edited)); err != nil || string(again) != edited {
		t.Errorf("%q, %v", again, err)
	}
	if back, err := rule.Remove([]byte(edited)); err != nil || string(back) != "# first\n/a\n  A: b\n/b\n  C: d\n" {
		t.Errorf("%q, %v", back, err)
	}
}

func TestHeaderRulesRefused(t *testing.T) {
	for _, c := range []struct{ name, profile, text, want string }{
		{"PB-14/own_header", "cloudflare-pages", "/*\n  x-pingback: https://other.example/\n", "_headers:2: the file already names a pingback endpoint"},
		{"PB-14/own_link", "vercel", `{"headers":[{"source":"/a","headers":[{"key":"link","value":"</s>; rel=preload, <https://o/>; rel=\"me webmention\""}]}]}`,
			"vercel.json:1: the file already names a webmention endpoint"},
		{"splat", "netlify-splat", "", "would replace :splat"},
		{"no_end", "apache", "# sitelink:begin\n", "has no end"},
		{"no_beginning", "apache", "# sitelink:end\n", "has no beginning"},
		{"twice", "apache", "# sitelink:begin\n# sitelink:end\n# sitelink:begin\n# sitelink:end\n", "twice"},
		{"broken_json", "vercel", "{\n\"a\":\n}", "vercel.json: line 3: invalid character"},
		{"cut_json", "vercel", "{", "vercel.json: line 1: unexpected end"},
		{"no_object", "vercel", "[]", "want an object"},
		{"no_list", "vercel", `{"headers":{}}`, `"headers" is not a list`},
		{"no_hosting", "firebase", "{}", `there is no object "hosting"`},
		{"several_sites", "firebase", `{"hosting":[{"target":"a"}]}`, `"hosting" is not an object`},
		{"binary", "apache", "\x00", "not UTF-8 text"},
		{"large", "apache", strings.Repeat("#\n", maxHeaderFile), "larger than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := HeaderRules(c.profile, headerEndpoints)
			if c.profile == "netlify-splat" {
				rules = HeaderRules("netlify", Endpoints{Webmention: "https://h.example/:splat"})[:1]
			}
			if out, err := rules[len(rules)-1].Insert([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %v; want %q", out, err, c.want)
			}
		})
	}
	toml := HeaderRules("netlify", headerEndpoints)[1]
	for text, want := range map[string]string{"headers = []": "netlify.toml", "[a\n": "netlify.toml"} {
		if out, err := toml.Insert([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v", text, out, err)
		}
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
			continue
		}
		if _, err := rules[0].Insert(nil); err == nil {
			t.Errorf("%s: inserted into no file", profile)
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

// FuzzHeaderRule: whatever a file holds, a rule goes in and out again without a
// trace, or not at all.
func FuzzHeaderRule(f *testing.F) {
	for _, text := range []string{"", "{}", "/*\n  a: b", `{"hosting":{"headers":[{}]}}`, "# sitelink:begin\n# sitelink:end\n", "[[headers]]\nfor='/*'\n", `{"headers":[ ]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, profile := range []string{"netlify", "apache", "vercel", "firebase"} {
			for _, rule := range HeaderRules(profile, headerEndpoints) {
				clean, err := rule.Remove(text)
				if err != nil {
					continue
				}
				out, err := rule.Insert(clean)
				if err != nil {
					continue
				}
				if back, err := rule.Remove(out); err != nil || !bytes.Equal(back, clean) {
					t.Fatalf("%s: %q became %q, then %q, %v", rule.File, clean, out, back, err)
				}
				if again, err := rule.Insert(out); err != nil || !bytes.Equal(again, out) {
					t.Fatalf("%s: %q became %q, then %q, %v", rule.File, clean, out, again, err)
				}
			}
		}
	})
}
