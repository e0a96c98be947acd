package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func loadTemplates(t *testing.T, text string) (Templates, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sitelink.toml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(Request{File: file, Endpoint: func(text string) (string, error) {
		if strings.HasPrefix(text, "/") {
			return "", errors.New("want an absolute address")
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
		"[templates]\npingback = '/xmlrpc'":  ":2:1: pingback: want an absolute address", // PB-13
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

// docs/reference/configuration.md lists exactly the keys of [templates], with the kinds.
func TestManualListsTheTemplatesKeys(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	templates, _ := root.key("templates")
	kinds, _ := templates.table.key("kinds")
	var documented, want []string
	for _, row := range manualRows(t, string(text), "The endpoints", "key") {
		documented = append(documented, strings.Trim(row[0], "`"))
		if row[0] != "`kinds`" {
			continue
		}
		for _, kind := range kinds.Values {
			if !strings.Contains(row[1], "`"+kind+"`") {
				t.Errorf("the kind %s is missing", kind)
			}
		}
		if got, want := strings.ReplaceAll(row[2], "`", ""), kinds.Default; got != want {
			t.Errorf("documented default %q, is %q", got, want)
		}
	}
	want = slices.DeleteFunc(templates.table.names(), func(name string) bool { return name == "theme" })
	if !slices.Equal(documented, want) {
		t.Errorf("documented keys\n%q\nkeys\n%q", documented, want)
	}
}
