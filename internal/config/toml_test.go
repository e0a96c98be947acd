package config

import (
	"reflect"
	"testing"
)

func TestFileFaults(t *testing.T) {
	for _, c := range []struct{ name, file, want, hint string }{
		{"syntax", "docroot = \"a\"\nindex = [\n", "sitelink.toml:2:10: array is incomplete", ""},
		{"duplicate key", "docroot = \"a\"\n\ndocroot = \"b\"\n", "sitelink.toml:3:1: key docroot is already defined", ""},
		{"unknown key", "# one\nbase_url = \"https://example.org\"\n", `sitelink.toml:2:1: unknown key "base_url"`, `did you mean "base-url"?`},
		{"unknown key in check", "[check]\n  fomat = \"json\"\n", `sitelink.toml:2:3: unknown key "fomat" in [check]`, `did you mean "format"?`},
		{"unknown key, near in the other table", "fomat = \"json\"\n", `sitelink.toml:1:1: unknown key "fomat"`, `did you mean "format" in [check]?`},
		{"nothing near", "\r\nxyzzy = 1\r\n", `sitelink.toml:2:1: unknown key "xyzzy"`, ""},
		{"key of check at the top", "jobs = 2\n", `sitelink.toml:1:1: the key jobs belongs in [check]`, ""},
		{"top key in check", "[check]\nindex = \"a\"\n", `sitelink.toml:2:1: the key index belongs at the top of the file, above the first table`, ""},
		{"unknown table", "[chek]\njobs = 2\nfoo = 3\n", `sitelink.toml:1:2: unknown table "chek"`, `did you mean "check"?`},
		{"key as table", "[docroot]\n", "sitelink.toml:1:2: docroot: must be a string, not a table", ""},
		{"check as list", "[[check]]\n", "sitelink.toml:1:3: check: must be a table, not a list", "write [check]"},
		{"check as value", "check = 1\n", "sitelink.toml:1:1: check: must be a table, not the number 1", "write [check]"},
		{"wrong type", "docroot = 1\n", "sitelink.toml:1:1: docroot: must be a string, not the number 1", ""},
		{"list in a string", "docroot = [\"a\"]\n", "sitelink.toml:1:1: docroot: must be a string, not a list", ""},
		{"number in a list", "index = [\"a\", 1979-05-27]\n", "sitelink.toml:1:1: index: must be a list of strings, but contains a date or time", ""},
		{"string for a number", "[check]\njobs = \"2\"\n", "sitelink.toml:2:1: jobs: must be a whole number, not a string", ""},
		{"number out of range", "[check]\njobs = 100000\n", `sitelink.toml:2:1: jobs: must be a whole number from 0 to 1024, not "100000"`, ""},
		{"string for a bool", "[check]\nfragments = \"true\"\n", "sitelink.toml:2:1: fragments: must be true or false, not a string", ""},
		{"wrong word", "[check]\nformat = \"jsn\"\n", `sitelink.toml:2:1: format: unknown format "jsn"`, `did you mean "json"?`},
		{"unknown profile", "profile = \"ngnix\"\n", `sitelink.toml:1:1: profile: unknown profile "ngnix"`, "profiles are generic, linklint"},
		{"rule without reason", "[[ignore]]\nurl = \"/a\"\n\n[[ignore]]\nurl = \"/b\"\nreason = \"x\"\n",
			"sitelink.toml:1:3: ignore: the rule needs a reason", `add reason = "..."`},
		{"rule that matches all", "[[ignore]]\nreason = \"x\"\n", "sitelink.toml:1:3: ignore: the rule needs a url, page, fragment or code", ""},
		{"rule with unknown key", "[[ignore]]\nulr = \"/a\"\nreason = \"x\"\n", `sitelink.toml:2:1: unknown key "ulr" in [[ignore]]`, `did you mean "url"?`},
		{"rule with wrong type", "[[ignore]]\nurl = [\"/a\"]\nreason = \"x\"\n", `sitelink.toml:2:1: url: must be a string, not a list`, ""},
		{"rule with unknown code", "[[ignore]]\ncode = \"mising-file\"\nreason = \"x\"\n",
			`sitelink.toml:1:3: ignore: unknown code "mising-file"`, `did you mean "missing-file"?`},
		{"rule with a broken pattern", "[[ignore]]\nurl = \"/[a\"\nreason = \"x\"\n", `sitelink.toml:1:3: ignore: invalid pattern "/[a"`,
			`patterns may contain *, **, ?, [a-z] and {a,b}; write \[ for a plain bracket`},
		{"rule as table", "[ignore]\nurl = \"/a\"\n", "sitelink.toml:1:2: ignore: must be a list of tables, not a table", "write [[ignore]]"},
		{"rule as dotted key", "ignore.url = \"/a\"\n", "sitelink.toml:1:1: ignore: must be a list of tables, not a table", "write [[ignore]]"},
		{"rules as string", "ignore = \"/a\"\n", "sitelink.toml:1:1: ignore: must be a list of tables, not a string", "write [[ignore]]"},
		{"not UTF-8", "docroot = \"\xff\"\n", "sitelink.toml:1:12: invalid UTF-8 character in basic string", ""},
		{"binary", "\x00\x01\x02", "sitelink.toml:1:1: invalid character at start of key: U+0000", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(t, c.file, nil)
			if got := message(err); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := hintFor(err); got != c.hint {
				t.Errorf("got  hint %s\nwant hint %s", got, c.hint)
			}
		})
	}
}

// TOML has several ways to write one thing; all of them are read.
func TestFileForms(t *testing.T) {
	want := []Ignore{
		{URL: "/a/**", Reason: "moves in May"},
		{Page: "b.html", Code: "missing-file", Reason: "is generated"},
	}
	for name, file := range map[string]string{
		"tables": "[check]\njobs = 2\n[[ignore]]\nurl = '/a/**'\nreason = \"moves in May\"\n" +
			"[[ignore]]\npage = \"b.html\"\ncode = \"missing-file\"\nreason = \"is generated\"\n",
		"inline": "check = {jobs = 2}\nignore = [{url = \"/a/**\", reason = \"moves in May\"},\n" +
			" {page = \"b.html\", code = \"missing-file\", reason = \"is generated\"}]\n",
		"dotted": "check.jobs = 2\n[[ignore]]\n\"url\" = \"/a/**\"\nreason = '''moves in May'''\n" +
			"[[\"ignore\"]]\npage = \"b.html\"\ncode = \"missing-file\"\nreason = \"is generated\"\n",
		"byte order mark": "\xef\xbb\xbfcheck.jobs = 2\r\n[[ignore]]\r\nurl = \"/a/**\"\r\nreason = \"moves in May\"\r\n" +
			"[[ignore]]\r\npage = \"b.html\"\r\ncode = \"missing-file\"\r\nreason = \"is generated\"\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := load(t, file, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.Jobs != 2 {
				t.Errorf("got %d jobs", c.Jobs)
			}
			for i := range c.Ignores {
				c.Ignores[i].Origin = ""
			}
			if !reflect.DeepEqual(c.Ignores, want) {
				t.Errorf("got %+v", c.Ignores)
			}
		})
	}
}

func TestRuleOrigins(t *testing.T) {
	file := "\n[[ignore]]\nurl = \"/a\"\nreason = \"x\"\n"
	c, err := load(t, file, map[string]string{"SITELINK_IGNORE": "/b"}, Setting{"ignore", []string{"/c", "page=d"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range c.Ignores {
		got = append(got, r.Origin)
	}
	want := []string{"sitelink.toml:2", "SITELINK_IGNORE", "--ignore", "--ignore"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestIgnoreFlag(t *testing.T) {
	for _, c := range []struct {
		text string
		want Ignore
		err  string
	}{
		{text: "/search?q=*", want: Ignore{URL: "/search?q=*"}},
		{text: "/a/{b,c}", want: Ignore{URL: "/a/{b,c}"}},
		{text: "page=blog/{a,b}/*,url=/x?y=z,fragment=L*,code=missing-fragment,reason=line numbers, mostly",
			want: Ignore{Page: "blog/{a,b}/*", URL: "/x?y=z", Fragment: "L*", Code: "missing-fragment", Reason: "line numbers, mostly"}},
		{text: "pages=1", want: Ignore{URL: "pages=1"}},
		{text: "page=a,page=b", err: "the rule has two fields named page"},
		{text: "page=,url=b", err: "the field page is empty"},
		{text: "url=", err: "the field url is empty"},
	} {
		got, err := parseIgnore(c.text)
		if got != c.want || message(err) != c.err {
			t.Errorf("parseIgnore(%q) = %+v, %v", c.text, got, err)
		}
	}
}
