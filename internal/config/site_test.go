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
		"[site]\nroot = \"en\"\n":                       "sitelink.toml:1:2: site is a list of tables",
		"site = 1\n":                                    "sitelink.toml:1:1: site is a list of tables",
		"[[site]]\nroot = \"en\"\n":                     "sitelink.toml:1:3: site: the table needs base, the address of its root",
		"[[site]]\nrot = \"en\"\n":                      `sitelink.toml:2:1: unknown key "rot" in [[site]]`,
		"[[site]]\nroot = 1\n":                          "sitelink.toml:2:1: root: want a string, got the number 1",
		"[[site]]\nbase = \"en.example\"\n":             "sitelink.toml:2:1: base: want an absolute http or https URL",
		"[[site]]\nbase = \"https://me@en.example/\"\n": "sitelink.toml:2:1: base: want an absolute http or https URL",
		text + "[[site]]\nroot = \"/x/../en\"\nbase = \"https://b.example/\"\n": `sitelink.toml:7:3: site: the root "en" has an address already`,
	} {
		if _, err := loadHost(t, text); err == nil || err.Error() != want {
			t.Errorf("%q\ngot  %v\nwant %s", text, err, want)
		}
	}
	t.Chdir(t.TempDir())
	write(t, "sitelink.toml", "base-url = \"https://example.org/\"\n"+text)
	if _, err := Load(Request{}); err == nil || err.Error() != "sitelink.toml:1: base-url is the address of the whole docroot, and [[site]] gives parts of it others" {
		t.Errorf("base-url beside [[site]]: %v", err)
	}
	write(t, "sitelink.toml", text)
	cfg, err = Load(Request{Flags: []Setting{{"base-url", []string{"https://stage.example/"}}}})
	if err != nil || len(cfg.Sites) != 0 || strings.Join(cfg.BaseURLs, " ") != "https://stage.example/" {
		t.Errorf("with --base-url: %+v, %v", cfg, err)
	}
}
