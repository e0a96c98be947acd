package source

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestSourceForm: the form in which an author writes a suggested address.
func TestSourceForm(t *testing.T) {
	for _, g := range []struct {
		generator Generator
		dir       string
		rows      []string // what is written, what the page has, the suggestion, the form
	}{
		{MkDocs, "docs/", []string{
			"instal.md /g/instal/ /g/install/ install.md", "./instal.md#x /g/instal/#x /g/install/ ./install.md#x", "../tope.md /tope/ /top/ ../top.md",
			"install.md#y /g/install/#y /g/install/#z install.md#z", "install.md#y install.md#y /g/install/#z /g/install/#z", "install.md /g/install/ /g/install/#z /g/install/#z",
			"instal instal /g/install/ install.md", "instal#x instal#x /g/install/ install.md#x", "instal.html instal.html /g/install.html install.md",
			"/g/instal.md /g/instal.md /g/install/ /g/install/", "https://x.example/instal.md https://x.example/instal.md /g/install/ /g/install/",
			"wholly-else.md /g/wholly-else/ /top/ ../top.md", "wholly-else.md /g/wholly-else/ /nothing/ ", "wholly-else.md /g/wholly-else/  ", "wholly wholly /nothing/ /nothing/",
			"deep/only.md /g/deep/only/  ../other/only.md", "../img/multpage.png ../img/multpage.png  ../img/multipage.png", "img/multpage.png img/multpage.png  ", "../img/multpage.gif ../img/multpage.gif  ", "a%20b.md /g/a%20b/ /nothing/ a-b.md"}},
		{Docusaurus, "docs/", []string{"instal.md /docs/g/instal /docs/g/install install.md", "instal /docs/g/instal /docs/g/install install.md"}},
		{Zola, "content/", []string{"@/g/instal.md /g/instal/ /g/install/ @/g/install.md", "@/g/instal.md#x /g/instal/#x /g/install/ @/g/install.md#x"}},
		{"sphinx", "", []string{
			"instal.md #instal.md  install.md", "./instal.md#x #./instal.md#x  ./install.md#x", "../g/instal #../g/instal  install", "instal.html #instal.html #y install.md",
			"/g/instal.md #/g/instal.md  /g/install.md", "../tope.md #../tope.md  ../top.md", "wholly-else.md #wholly-else.md  ", "install.md#y install.html#y install.html#z install.md#z"}},
		{"mdbook", "src/", []string{"instal.md#y instal.html#y install.html#y install.md#y", "install.md#y install.html#y install.html#z install.md#z"}},
		{Jekyll, "docs/", []string{"instal.md instal.md /g/install/ /g/install/", "install.md#y /g/install/#y /g/install/#z install.md#z"}},
	} {
		dir := t.TempDir()
		text := ""
		for _, row := range g.rows {
			text += "[a](" + strings.Fields(row)[0] + ")\n"
		}
		for name, text := range map[string]string{"g/page.md": text, "g/install.md": "", "top.md": "", "img/multipage.png": "", "other/only.md": "", "g/a-b.md": "", "x.html": text} {
			testkit.Write(t, filepath.Join(dir, g.dir, name), text)
		}
		testkit.Write(t, filepath.Join(dir, "README.md"), text)
		if g.dir != "" { // not content
			testkit.Write(t, filepath.Join(dir, "elsewhere/instal.md"), "")
		}
		testkit.Write(t, filepath.Join(dir, "public/index.html"), "")
		m, err := Open(t.Context(), Options{Project: dir, Docroot: filepath.Join(dir, "public"), Generator: g.generator})
		testkit.Check(t, err)
		s, err := site.Load(t.Context(), filepath.Join(dir, "public"), site.Options{})
		testkit.Check(t, err)
		_, err = m.Locate(t.Context(), s, nil)
		testkit.Check(t, err)
		for i, row := range g.rows {
			f := strings.Split(row, " ")
			l := BuiltLink{Page: "g/page/index.html", Raw: f[1]}
			if got := m.SourceForm(&Position{File: g.dir + "g/page.md", Line: i + 1, Column: 5}, &l, f[2]); got != f[3] {
				t.Errorf("%s: %s: got %q", g.generator, row, got)
			}
			for _, p := range []Position{{File: g.dir + "x.html", Line: i + 1, Column: 5}, {File: "none.md", Line: i + 1, Column: 5}, {File: g.dir + "g/page.md", Line: i + 1, Column: 1}} {
				if got := m.SourceForm(&p, &l, f[2]); got != f[2] {
					t.Errorf("%s: %s at %+v: got %q", g.generator, row, p, got)
				}
			}
		}
		m.Close()
	}
}

// TestWantsFile: an address is written as the path of a file where the generator wants that
// and the links beside it do not show another manner.
func TestWantsFile(t *testing.T) {
	for _, tc := range []struct {
		generator Generator
		name      string
		others    string
		want      bool
	}{
		{MkDocs, "sub/page.html", "", true}, {MkDocs, "sub/page/", "/a b.md", true}, {Docusaurus, "../intro", "/docs/a https://x.example/ #y", true},
		{Docusaurus, "../intro", "../other", false}, {Docusaurus, "../intro", "../other a.md#x", true}, {Docusaurus, "/docs/intro", "", false},
		{Docusaurus, "pic.png", "", false}, {Docusaurus, "", "", false}, {"vitepress", "../intro", "", false}, {Hugo, "../intro/", "a.md", false},
	} {
		if got := WantsFile(tc.generator, tc.name, strings.Fields(tc.others)); got != tc.want {
			t.Errorf("%s: %q beside %q: %v", tc.generator, tc.name, tc.others, got)
		}
	}
}
