package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestThemes(t *testing.T) {
	want := []Theme{{"my-theme", "head/mine.html"}, {"other", "x.html"}}
	for _, text := range []string{
		"[templates]\nkinds = 'page'\n[[templates.theme]]\nname = 'my-theme'\nstub = 'head/mine.html'\n[[templates.theme]]\nname = 'other'\nstub = 'x.html'\n",
		"[templates]\ntheme = [{name = 'my-theme', stub = 'head/mine.html'}, {name = 'other', stub = 'x.html'}]\n",
		"templates = {theme = [{name = 'my-theme', stub = 'head/mine.html'}, {name = 'other', stub = 'x.html'}]}\n",
	} {
		if got, err := loadTemplates(t, text); err != nil || !reflect.DeepEqual(got.Themes, want) {
			t.Errorf("%q: %+v, %v", text, got.Themes, err)
		}
	}
	for text, want := range map[string]string{
		"[templates.theme]\nname = 'x'":                    ":1:2: templates.theme: must be a list of tables, not a table",
		"[[templates.theme]]\nname = 'x'":                  ":1:3: templates.theme: the table needs a key stub",
		"[[templates.theme]]\nstub = 'x'":                  ":1:3: templates.theme: the table needs a key name",
		"[[templates.theme]]\nname = 'x'\nstubb = 'x'":     `:3:1: unknown key "stubb" in [[templates.theme]]`,
		"[[templates.theme]]\nname = 3\nstub = 'x'":        ":2:1: name: must be a string, not the number 3",
		"[[templates.theme]]\nname = ' '\nstub = 'x'":      ":2:1: name: the value is empty",
		"[[templates.theme]]\nname = 'x'\nstub = '/etc/x'": `:3:1: stub: must be the path of a partial such as head/custom.html, not "/etc/x"`,
		"[[templates.theme]]\nname = 'x'\nstub = '../x'":   ":3:1: stub: must be the path of a partial",
		"[[templates.theme]]\nname = 'x'\nstub = 'a\"b'":   ":3:1: stub: must be the path of a partial",
		"[templates]\ntheme = 'x'":                         ":2:1: templates.theme: must be a list of tables, not a string",
		"[templates]\ntheme = ['x']":                       ":2:1: templates.theme: must be a list of tables, not a string in a list",
		"[templates]\ntheme.name = 'x'":                    ":2:1: templates.theme: must be a list of tables, not a table",
	} {
		if _, err := loadTemplates(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
