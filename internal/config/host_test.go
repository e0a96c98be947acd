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
	l := loader{req: Request{HostKeys: hostKeysForTest}, cfg: defaults()}
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
		"[host]\nnul = \"404\"\n":          "sitelink.toml:2:1: nul: want a number, got a string",
		"[host]\ndrop-query = \"true\"\n":  "sitelink.toml:2:1: drop-query: want true or false, got a string",
		"[host]\npage = [\"serve\"]\n":     "sitelink.toml:2:1: page: want a string, got a list",
		"[[host]]\npage = \"serve\"\n":     "sitelink.toml:1:3: host is a single table",
		"host = 1\n":                       "sitelink.toml:1:1: want a table, got the number 1",
		"[redirect]\nfrom = \"/a\"\n":      "sitelink.toml:1:2: redirect is a list of tables",
		"redirect = []\n":                  "sitelink.toml:1:1: redirect is a list of tables",
		"[[redirect]]\nto = \"/a\"\n":      "sitelink.toml:1:3: redirect: the rule needs from, a path that begins with a slash",
		"[[redirect]]\nfrom = \"/a\"\n":    "sitelink.toml:1:3: redirect: the rule needs to",
		"[[redirect]]\nfom = \"/a\"\n":     `sitelink.toml:2:1: unknown key "fom" in [[redirect]]`,
		"[[redirect]]\nstatus = 500\n":     "sitelink.toml:2:1: status: want 200, 301, 302, 303, 307, 308, 404 or 410, got the number 500",
		"[[redirect]]\nforce = 1\n":        "sitelink.toml:2:1: force: want true or false, got the number 1",
		"[[redirect]]\nfrom = [\"/a\"]\n":  "sitelink.toml:2:1: from: want a string, got a list",
		"[[redirect]]\nstatus = \"301\"\n": "sitelink.toml:2:1: status: want 200, 301, 302, 303, 307, 308, 404 or 410, got a string",
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
}
