package config

import (
	"errors"
	"reflect"
	"testing"
)

var hostKeysForTest = []HostKey{
	{Name: "index", Type: "list", Check: func([]string) error { return nil }},
	{Name: "page", Type: "word", Check: func(v []string) error {
		if v[0] != "serve" {
			return errors.New("want serve")
		}
		return nil
	}},
	{Name: "nul", Type: "status", Check: func([]string) error { return nil }},
	{Name: "drop-query", Type: "switch", Check: func([]string) error { return nil }},
}

func loadHost(t *testing.T, text string) (*Config, error) {
	t.Helper()
	l := newLoader(Request{HostKeys: hostKeysForTest})
	l.toml("sitelink.toml", ".", []byte(text))
	return l.cfg, errors.Join(l.errs...)
}

// The table [host] takes the keys that the request names, with their types.
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
		"[host]\npage = \"other\"\n":       "sitelink.toml:2:1: page: want serve",
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
		{From: "/old/*", To: "/new/:splat", Status: 301, File: "sitelink.toml", Line: 1},
		{From: "/gone", Status: 410, Force: true, File: "sitelink.toml", Line: 5},
	}
	if err != nil || !reflect.DeepEqual(cfg.Redirects, want) {
		t.Errorf("got %+v, %v", cfg.Redirects, err)
	}
	cfg, err = loadHost(t, "redirect = [\n  {from = \"/gone\", status = 410, force = true},\n]\n")
	if err != nil || len(cfg.Redirects) != 1 || cfg.Redirects[0].Line != 2 {
		t.Errorf("in one line: got %+v, %v", cfg.Redirects, err)
	}
}
