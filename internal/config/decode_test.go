package config

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// loadFile runs Load with a file of that text.
func loadFile(t *testing.T, text string, input Input) (*Config, error) {
	t.Helper()
	input.File = filepath.Join(t.TempDir(), "sitelink.toml")
	testkit.Write(t, input.File, text)
	return Load(input)
}

func TestHook(t *testing.T) {
	c, err := loadFile(t, `hook = { build = "hugo", branches = ["main", "release-*"], baseline = "remote", timeout = "1m30s" }`, Input{})
	testkit.Check(t, err)
	if got := c.Hook; got.Build != "hugo" || !slices.Equal(got.Branches, []string{"main", "release-*"}) || got.Baseline != "remote" || got.Timeout != 90*time.Second {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"[hook]\nbild = 'x'":        `:2:1: unknown key "bild" in [hook]`,
		"[[hook]]\nbuild = 'x'":     ":1:3: hook: must be a table, not a list",
		"hook = 'x'":                ":1:1: hook: must be a table, not a string",
		"[hook]\nbuild = ''":        ":2:1: build: the value is empty",
		"[hook]\nbuild = 3":         ":2:1: build: must be a string, not the number 3",
		"[hook]\nbranches = ['[']":  ":2:1: branches: must be the name of a branch, or a pattern",
		"[hook]\nbaseline = 'main'": `:2:1: baseline: must be remote or none, not "main"`,
		"[hook]\ntimeout = 60":      `:2:1: timeout: must be a time such as "90s" or "5m", not the number 60`,
		"[hook]\ntimeout = '-1s'":   `:2:1: timeout: must be a time from 1ms to 24h, not "-1s"`,
		"[hook]\ntimeout = '25h'":   ":2:1: timeout: must be a time",
		"[hok]\nbuild = 'x'":        `:1:2: unknown table "hok"`,
	} {
		if _, err := loadFile(t, text, Input{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

var hostKeysForTest = []HostKey{
	{Name: "index", Type: "list", Check: func([]string) error { return nil }},
	{Name: "page", Type: "word", Check: func(v []string) error {
		if v[0] != "serve" {
			return errors.New("must be serve")
		}
		return nil
	}},
	{Name: "nul", Type: "status", Check: func([]string) error { return nil }},
	{Name: "drop-query", Type: "switch", Check: func([]string) error { return nil }},
}

func loadHost(t *testing.T, text string) (*Config, error) {
	t.Helper()
	l := newLoader(Input{HostKeys: hostKeysForTest})
	l.toml("sitelink.toml", ".", []byte(text))
	return l.cfg, errors.Join(l.errs...)
}

// The table [host] takes the keys that the input names, with their types.
func TestHostTable(t *testing.T) {
	want := []HostSetting{{"index", []string{"a.html", "b.html"}}, {"page", []string{"serve"}}, {"nul", []string{"404"}}, {"drop-query", []string{"true"}}}
	for _, text := range []string{
		"[host]\nindex = [\"a.html\", \"b.html\"]\npage = \"serve\"\nnul = 404\ndrop-query = true\n",
		"host = {index = [\"a.html\", \"b.html\"], page = \"serve\", nul = 404, drop-query = true}\n",
	} {
		cfg, err := loadHost(t, text)
		if err != nil || !reflect.DeepEqual(cfg.Host, want) {
			t.Errorf("%s: got %v, %v", text, cfg.Host, err)
		}
	}
	for text, want := range map[string]string{
		"[host]\npge = \"serve\"\n":        `sitelink.toml:2:1: unknown key "pge" in [host]`,
		"[host]\npage = \"other\"\n":       "sitelink.toml:2:1: page: must be serve",
		"[host]\nnul = \"404\"\n":          "sitelink.toml:2:1: nul: must be a whole number, not a string",
		"[host]\ndrop-query = \"true\"\n":  "sitelink.toml:2:1: drop-query: must be true or false, not a string",
		"[host]\npage = [\"serve\"]\n":     "sitelink.toml:2:1: page: must be a string, not a list",
		"[[host]]\npage = \"serve\"\n":     "sitelink.toml:1:3: host: must be a table, not a list",
		"host = 1\n":                       "sitelink.toml:1:1: host: must be a table, not the number 1",
		"[redirect]\nfrom = \"/a\"\n":      "sitelink.toml:1:2: redirect: must be a list of tables, not a table",
		"redirect = 1\n":                   "sitelink.toml:1:1: redirect: must be a list of tables, not the number 1",
		"[[redirect]]\nto = \"/a\"\n":      "sitelink.toml:1:3: redirect: the rule needs a key from, with a path that begins with a slash",
		"[[redirect]]\nfrom = \"/a\"\n":    "sitelink.toml:1:3: redirect: the rule needs a key to",
		"[[redirect]]\nfom = \"/a\"\n":     `sitelink.toml:2:1: unknown key "fom" in [[redirect]]`,
		"[[redirect]]\nstatus = 500\n":     "sitelink.toml:2:1: status: must be 200, 301, 302, 303, 307, 308, 404 or 410, not \"500\"",
		"[[redirect]]\nforce = 1\n":        "sitelink.toml:2:1: force: must be true or false, not the number 1",
		"[[redirect]]\nfrom = [\"/a\"]\n":  "sitelink.toml:2:1: from: must be a string, not a list",
		"[[redirect]]\nstatus = \"301\"\n": "sitelink.toml:2:1: status: must be 200, 301, 302, 303, 307, 308, 404 or 410, not a string",
	} {
		if _, err := loadHost(t, text); err == nil || err.Error() != want {
			t.Errorf("%q\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// A [[redirect]] table keeps its place, since findings name the rule.
func TestRedirectTables(t *testing.T) {
	cfg, err := loadHost(t, "[[redirect]]\nfrom = \"/old/*\"\nto = \"/new/:splat\"\n\n[[redirect]]\nfrom = \"/gone\"\nstatus = 410\nforce = true\n")
	want := []Redirect{
		{From: "/old/*", To: "/new/:splat", Status: 301, File: "sitelink.toml", Line: 2},
		{From: "/gone", Status: 410, Force: true, File: "sitelink.toml", Line: 6},
	}
	if err != nil || !reflect.DeepEqual(cfg.Redirects, want) {
		t.Errorf("got %+v, %v", cfg.Redirects, err)
	}
	cfg, err = loadHost(t, "redirect = [\n  {from = \"/gone\", status = 410, force = true},\n]\n")
	if err != nil || len(cfg.Redirects) != 1 || cfg.Redirects[0].Line != 2 {
		t.Errorf("in one line: got %+v, %v", cfg.Redirects, err)
	}
}

func TestOutgoing(t *testing.T) {
	c, err := loadFile(t, `
[outgoing]
enabled = true
ledger = "git:refs/sitelink/ledger"
pages = "post/**"
deny = ["*.evil.example", "https://a.example/x/**"]
rel = []
protocols = ["pingback"]
pace = "0s"
max-notices = 0
[fetch]
allow-address = ["127.0.0.1", "fd00::/8"]
timeout = "5s"
`, Input{})
	testkit.Check(t, err)
	o := c.Outgoing
	if !o.Enabled || o.Ledger != "git:refs/sitelink/ledger" || !slices.Equal(o.Pages, []string{"post/**"}) || len(o.Deny) != 2 ||
		len(o.Rel) != 0 || !slices.Equal(o.Protocols, []string{"pingback"}) || o.Pace != 0 || o.MaxNotices != 0 || o.Live != 10*time.Minute {
		t.Errorf("%+v", o)
	}
	if a := c.Fetch.AllowAddress; len(a) != 2 || a[0].String() != "127.0.0.1/32" || a[1].String() != "fd00::/8" || c.Fetch.Timeout != 5*time.Second {
		t.Errorf("%+v", c.Fetch)
	}
}

// What a peer is, the sender knows.
func TestOutgoingPeers(t *testing.T) {
	text := "[outgoing]\nlink-peers = ['b.example', 'http://c.example/x']\n"
	c, err := loadFile(t, text, Input{})
	if err != nil || !slices.Equal(c.Outgoing.LinkPeers, []string{"b.example", "http://c.example/x"}) ||
		slices.Contains(c.Outgoing.Protocols, "link") {
		t.Errorf("%+v, %v", c, err)
	}
	_, err = loadFile(t, text, Input{Peer: func(text string) error {
		if strings.Contains(text, "/x") {
			return errors.New("no host")
		}
		return nil
	}})
	if err == nil || !strings.Contains(err.Error(), "sitelink.toml:2:1: link-peers: no host") {
		t.Errorf("got %v", err)
	}
}

func TestOutgoingFaults(t *testing.T) {
	for text, want := range map[string]string{
		"[outgoing]\nlegder = 'x'":            `:2:1: unknown key "legder" in [outgoing]`,
		"[outgoing]\nenabled = 'yes'":         "enabled: must be true or false",
		"[outgoing]\nprotocols = ['pingbak']": `protocols: must be webmention, pingback, link or websub, not "pingbak"`,
		"[outgoing]\nprotocols = []":          "protocols: must have at least one",
		"[outgoing]\npace = '1'":              "pace: must be a time",
		"[outgoing]\nmax-notices = -1":        "max-notices: must be a whole number",
		"[outgoing]\nallow = ['a[']":          "allow: must be a host",
		"[outgoing]\nrel = ['']":              "rel: the value is empty",
		"[fetch]\nallow-address = 'x'":        `must be an address or a network such as 127.0.0.0/8, not "x"`,
		"[fetch]\ntimeout = '0s'":             "timeout: must be a time",
	} {
		if _, err := loadFile(t, text, Input{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestExternalHosts: [[external.host]] says what differs for some hosts. A zero would
// mean that a key is not set, so no key takes one.
func TestExternalHosts(t *testing.T) {
	text := "[external]\n[[external.host]]\nhost = \"*.a.example\"\npace = \"5s\"\n" +
		"accept = [\"403\"]\nmissing = [\"400\", \"451\"]\nblocked = [\"404\"]\n"
	want := []ExternalHost{{Host: "*.a.example", Pace: 5 * time.Second,
		Accept: []string{"403"}, Missing: []string{"400", "451"}, Blocked: []string{"404"}, Origin: "sitelink.toml:2"}}
	cfg, err := load(t, text, nil)
	if err != nil || !reflect.DeepEqual(cfg.External.Hosts, want) {
		t.Errorf("got %+v, %v", cfg, err)
	}
	for line, want := range map[string]string{
		"pace = \"0s\"":                         "pace: must be a time from 1ms to 24h, not \"0s\"",
		"missing = [\"4xx\"]":                   "missing: must be a status such as 403, not \"4xx\"",
		"accept = [\"404\"]\nblocked=[\"404\"]": "external.host: the status 404 is in accept and in blocked",
	} {
		if _, err := load(t, "[[external.host]]\nhost = \"a.example\"\n"+line+"\n", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// TestSiteTables: [[site]] gives parts of the docroot their own addresses.
// One address for one run means the whole docroot.
func TestSiteTables(t *testing.T) {
	text := "[[site]]\nroot = \"en/\"\nbase = \"https://en.example/\"\n[[site]]\nroot = \".\"\nbase = \"http://example.org:8080/sub\"\n"
	want := []Site{{"en", "https://en.example/"}, {"", "http://example.org:8080/sub"}}
	cfg, err := loadHost(t, text)
	if err != nil || !reflect.DeepEqual(cfg.Sites, want) {
		t.Errorf("got %+v, %v", cfg, err)
	}
	for text, want := range map[string]string{
		"[site]\nroot = \"en\"\n":                       "sitelink.toml:1:2: site: must be a list of tables, not a table",
		"site = 1\n":                                    "sitelink.toml:1:1: site: must be a list of tables, not the number 1",
		"[[site]]\nroot = \"en\"\n":                     "sitelink.toml:1:3: site: the table needs a key base, the address of its root",
		"[[site]]\nrot = \"en\"\n":                      `sitelink.toml:2:1: unknown key "rot" in [[site]]`,
		"[[site]]\nroot = 1\n":                          "sitelink.toml:2:1: root: must be a string, not the number 1",
		"[[site]]\nbase = \"en.example\"\n":             "sitelink.toml:2:1: base: must be an absolute http or https URL, not \"en.example\"",
		"[[site]]\nbase = \"https://me@en.example/\"\n": "sitelink.toml:2:1: base: must not contain a user name",
		text + "[[site]]\nroot = \"/x/../en\"\nbase = \"https://b.example/\"\n": `sitelink.toml:7:3: site: another table gives the root "en" an address already`,
	} {
		if _, err := loadHost(t, text); err == nil || err.Error() != want {
			t.Errorf("%q\ngot  %v\nwant %s", text, err, want)
		}
	}
	t.Chdir(t.TempDir())
	testkit.Write(t, "sitelink.toml", "base-url = \"https://example.org/\"\n"+text)
	if _, err := Load(Input{}); err == nil || err.Error() != "sitelink.toml:1: base-url is the address of the whole docroot and cannot be combined with [[site]] tables" {
		t.Errorf("base-url beside [[site]]: %v", err)
	}
	testkit.Write(t, "sitelink.toml", text)
	cfg, err = Load(Input{Flags: []Setting{{"base-url", []string{"https://stage.example/"}}}})
	if err != nil || len(cfg.Sites) != 0 || strings.Join(cfg.BaseURLs, " ") != "https://stage.example/" {
		t.Errorf("with --base-url: %+v, %v", cfg, err)
	}
}

func loadTemplates(t *testing.T, text string) (Templates, error) {
	t.Helper()
	cfg, err := loadFile(t, text, Input{Endpoint: func(text string) (string, error) {
		if strings.HasPrefix(text, "/") {
			return "", errors.New("must be an absolute address")
		}
		return strings.ReplaceAll(text, " ", "%20"), nil
	}})
	if err != nil {
		return Templates{}, err
	}
	return cfg.Templates, nil
}

func TestTemplates(t *testing.T) {
	for text, want := range map[string]Templates{
		"": {Kinds: []string{"home", "page"}},
		"[templates]\npingback = 'http://h/a b'\nwebmention = 'https://h/wm'\npages = ['post/**', 'x.html']\nexclude = 'post/old/**'\nkinds = 'page'\n": {
			Pingback: "http://h/a%20b", Webmention: "https://h/wm",
			Pages: []string{"post/**", "x.html"}, Exclude: []string{"post/old/**"}, Kinds: []string{"page"}},
		"[templates]\nheaders = true": {Kinds: []string{"home", "page"}, Headers: true},
		"templates = { webmention = 'https://h/wm', kinds = ['list', 'home'] }": {
			Webmention: "https://h/wm", Kinds: []string{"list", "home"}},
	} {
		if got, err := loadTemplates(t, text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"[templates]\npingbak = 'x'":         `:2:1: unknown key "pingbak" in [templates]`,
		"[[templates]]\npingback = 'x'":      ":1:3: templates: must be a table, not a list",
		"templates = 'x'":                    ":1:1: templates: must be a table, not a string",
		"[templates]\npingback = '/xmlrpc'":  ":2:1: pingback: must be an absolute address", // PB-13
		"[templates]\nwebmention = ''":       ":2:1: webmention: the value is empty",
		"[templates]\nwebmention = 3":        ":2:1: webmention: must be a string, not the number 3",
		"[templates]\npages = ['/post/**']":  `:2:1: pages: must be a pattern of page paths such as post/**, without a leading slash, not "/post/**"`,
		"[templates]\nexclude = '['":         ":2:1: exclude: must be a pattern",
		"[templates]\nkinds = ['pages']":     `:2:1: kinds: must be home, page or list, not "pages"`,
		"[templates]\nheaders = 'yes'":       ":2:1: headers: must be true or false, not a string",
		"[templates]\nkinds = []":            ":2:1: kinds: must have at least one of home, page or list",
		"[template]\npingback = 'http://h/'": `:1:2: unknown table "template"`,
	} {
		if _, err := loadTemplates(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestTablesInTables: a list of tables below a table can be written in three ways.
func TestTablesInTables(t *testing.T) {
	for _, text := range []string{
		"[external]\npace = '2s'\n[[external.host]]\nhost = 'a.example'\n[[external.host]]\nhost = 'b.example'\n",
		"[external]\nhost = [{host = 'a.example'}, {host = 'b.example'}]\n",
		"external = {host = [{host = 'a.example'}, {host = 'b.example'}]}\n",
	} {
		got, err := load(t, text, nil)
		if err != nil || len(got.External.Hosts) != 2 || got.External.Hosts[1].Host != "b.example" {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"[external.host]\nhost = 'x'":                ":1:2: external.host: must be a list of tables, not a table",
		"[[external.host]]\nhost = 'x'\nhostt = 'x'": `:3:1: unknown key "hostt" in [[external.host]]`,
		"[[external.host]]\nhost = 3":                ":2:1: host: must be a string, not the number 3",
		"[[external.host]]\nhost = ' '":              ":2:1: host: the value is empty",
		"[external]\nhost = 'x'":                     ":2:1: external.host: must be a list of tables, not a string",
		"[external]\nhost = ['x']":                   ":2:1: external.host: must be a list of tables, not a string in a list",
		"[external]\nhost.host = 'x'":                ":2:1: external.host: must be a list of tables, not a table",
	} {
		if _, err := load(t, text, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

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
			c := testkit.Must(load(t, file, nil))(t)
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
	c := testkit.Must(load(t, file, map[string]string{"SITELINK_IGNORE": "/b"}, Setting{"ignore", []string{"/c", "page=d"}}))(t)
	var got []string
	for _, r := range c.Ignores {
		got = append(got, r.Origin)
	}
	want := []string{"sitelink.toml:2", "SITELINK_IGNORE", "--ignore", "--ignore"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
