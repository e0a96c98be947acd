package config

import (
	"reflect"
	"strings"
	"testing"
)

// TestSiteTables: [[site]] gives parts of the docroot addresses of their own;
// whoever names one address for one run means the whole docroot.
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
	write(t, "sitelink.toml", "base-url = \"https://example.org/\"\n"+text)
	if _, err := Load(Request{}); err == nil || err.Error() != "sitelink.toml:1: base-url is the address of the whole docroot and cannot be combined with [[site]] tables" {
		t.Errorf("base-url beside [[site]]: %v", err)
	}
	write(t, "sitelink.toml", text)
	cfg, err = Load(Request{Flags: []Setting{{"base-url", []string{"https://stage.example/"}}}})
	if err != nil || len(cfg.Sites) != 0 || strings.Join(cfg.BaseURLs, " ") != "https://stage.example/" {
		t.Errorf("with --base-url: %+v, %v", cfg, err)
	}
}
