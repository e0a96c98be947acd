package generator

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestHugoModules reads the mounts in the configuration of a project and of its theme.
func TestHugoModules(t *testing.T) {
	const usual = "data=data layouts=layouts i18n=i18n assets=assets static=static"
	tests := []struct{ name, text, want string }{
		{"hugo.toml", "theme = 'x'\n[languages.fr]\ncontentDir = 'content/french'\n", "content/french=content:fr " + usual},
		{"hugo.toml", "theme = ['x']\n[languages.fr]\ncontentDir = 'content/french'\n[languages.en]\n", "content/french=content:fr content=content " + usual},
		{"hugo.yaml", "theme: x\nmodule:\n  mounts:\n    - Source: pages\n      target: content/sub\n      lang: de\n    - {source: missing, target: static}\n",
			"pages=content/sub:de " + usual},
		{"config/_default/module.json", `{"imports":[{"path":"x"}],"mounts":[{"source":"pages","target":"data","sites":{"matrix":{"languages":["fr"]}}},{"source":"no target"}]}`,
			"pages=data:fr content=content layouts=layouts i18n=i18n assets=assets static=static"},
		{"config/_default/languages.toml", "[nl]\ncontentDir = 'inhoud'\n", "inhoud=content:nl " + usual},
		{"hugo.toml", "not [ toml", "content=content " + usual},
	}
	for _, tt := range tests {
		dir := testkit.MakeDocroot(t, map[string]string{tt.name: tt.text, "pages/a.md": "", "themes/x/layouts/a.html": "", "themes/x/static/a": ""})
		h, _ := Project{Dir: dir}.Hugo(nil) // a fault is as nothing
		want := []string{"project " + tt.want}
		if strings.Contains(tt.text, "x") && !strings.Contains(tt.text, "not") {
			want = append(want, "x layouts=layouts static=static")
		} else if strings.Contains(tt.text, "imports") {
			want = append(want, "x layouts=layouts static=static")
		}
		if got := modulesText(h); got != strings.Join(want, "\n") {
			t.Errorf("%s %q:\n got %s\nwant %s", tt.name, tt.text, got, strings.Join(want, "\n"))
		}
	}
}

// TestHugoFrom: the docroot and the base URL are from the file that has them, not from one
// that only has modules or menus.
func TestHugoFrom(t *testing.T) {
	files := map[string]string{
		"hugo.toml": "baseURL = 'https://example.org/'\n", "config/_default/menus.toml": "[[main]]\nname = 'x'\n",
		"config/_default/module.toml": "[[mounts]]\nsource = 'layouts'\ntarget = 'layouts'\n",
	}
	for _, want := range []string{"hugo.toml", "config/production/hugo.toml"} {
		files[want] = "baseURL = 'https://example.org/'\n"
		if h, err := (Project{Dir: testkit.MakeDocroot(t, files)}).Hugo(nil); err != nil || h.From != want {
			t.Errorf("from %q, want %q: %v", h.From, want, err)
		}
	}
	files["hugo.toml"], files["config/production/hugo.toml"] = "", ""
	if h, err := (Project{Dir: testkit.MakeDocroot(t, files)}).Hugo(nil); err != nil || h.From != "hugo.toml" {
		t.Errorf("from %q: %v", h.From, err)
	}
}

func modulesText(h *HugoSite) string {
	var all []string
	for _, m := range h.Modules {
		text := m.Path
		for _, mt := range m.Mounts {
			text += " " + strings.TrimSuffix(mt.Source+"="+mt.Target+":"+mt.Lang, ":")
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

// TestHugoModuleDirs: modules are in _vendor, in the cache of modules by go.mod, where
// go.mod or the configuration replaces them, or below themesDir. A module imports
// others, but leads nowhere outside of itself.
func TestHugoModuleDirs(t *testing.T) {
	root := testkit.MakeDocroot(t, map[string]string{
		"site/hugo.toml": "[module]\nreplacements = 'example.org/r -> ../../replaced'\n[[module.imports]]\npath = 'example.org/v'\n[[module.imports]]\npath = 'example.org/A'\n" +
			"[[module.imports]]\npath = 'example.org/local'\n[[module.imports]]\npath = 'example.org/r'\n[[module.imports]]\npath = 'missing'\n[[module.imports]]\npath = 'off'\ndisable = true\n[permalinks]\n_merge = 'shallow'\npost = '/p/:slug/'\n",
		"site/go.mod":                               "module x\n\nrequire example.org/A v1.2.0 // indirect\nrequire (\n\texample.org/local v0.0.0\n)\nreplace example.org/local => ../local\n",
		"site/_vendor/modules.txt":                  "# example.org/v v1.0.0\n",
		"site/_vendor/example.org/v/layouts/a.html": "",
		"cache/example.org/!a@v1.2.0/hugo.toml":     "[permalinks]\nnews = '/n/:slug/'\n[[module.imports]]\npath = '../../secret'\n[[module.imports]]\npath = 'b'\n[[module.mounts]]\nsource = '../../../secret'\ntarget = 'content'\n[[module.mounts]]\nsource = 'pages'\ntarget = 'content/a'\n",
		"cache/example.org/!a@v1.2.0/pages/a.md":    "",
		"site/themes/b/content/b.md":                "",
		"site/themes/off/content/b.md":              "",
		"local/static/a":                            "",
		"replaced/assets/a":                         "",
		"secret/content/s.md":                       "",
	})
	h, err := Project{Dir: filepath.Join(root, "site")}.Hugo([]string{"GOMODCACHE=" + filepath.Join(root, "cache")})
	testkit.Check(t, err)
	got := strings.Split(modulesText(h), "\n")[1:]
	want := "[example.org/v layouts=layouts example.org/A pages=content/a b content=content example.org/local static=static ../../replaced assets=assets]"
	if fmt.Sprint(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if p := tableOf(h.config["permalinks"]); p["news"] != "/n/:slug/" || p["post"] != "/p/:slug/" {
		t.Errorf("permalinks %v", p)
	}
}

// TestHugoMounts: a module has at most maxMounts mounts, which can all be of the same files.
func TestHugoMounts(t *testing.T) {
	dir := testkit.MakeDocroot(t, map[string]string{"hugo.toml": strings.Repeat("[[module.mounts]]\nsource = 'a'\ntarget = 'content/a'\n", 3*maxMounts), "a/x.md": ""})
	h := testkit.Must(Project{Dir: dir}.Hugo(nil))(t)
	if n := len(h.Modules[0].Mounts); n > maxMounts+10 { // and the usual ones
		t.Errorf("%d mounts", n)
	}
}
