package generator

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestReadHugoList: rows between warnings, and which pages a build makes.
func TestReadHugoList(t *testing.T) {
	pages, err := ReadHugoList([]byte("WARN  path, of something\npath,slug,title,date,expiryDate,publishDate,draft,permalink,kind,section\n" +
		"content/a.md,,\"A, b\",2020-01-01T00:00:00Z,0001-01-01T00:00:00Z,2020-01-01T00:00:00Z,false,https://example.org/a/,page,\n" +
		"WARN in between\n" +
		"content/draft.md,,,,0001-01-01T00:00:00Z,0001-01-01T00:00:00Z,true,https://example.org/draft/,page,\n" +
		"content/later.md,,,,0001-01-01T00:00:00Z,2030-01-01T00:00:00Z,false,https://example.org/later/,page,\n" +
		"content\\over.md,,,,2021-01-01T00:00:00Z,0001-01-01T00:00:00Z,false,https://example.org/over/,page,\n"))
	if err != nil || len(pages) != 4 {
		t.Fatalf("got %+v, %v", pages, err)
	}
	now := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, want := range []bool{true, false, false, false} {
		if pages[i].PublishedAt(now) != want {
			t.Errorf("%s: published %v", pages[i].File, !want)
		}
	}
	if p := pages[3]; p.File != "content/over.md" || !p.PublishedAt(now.AddDate(-5, 0, 0)) || p.Permalink.Path != "/over/" {
		t.Errorf("got %+v", p)
	}
	for _, text := range []string{"", "Error: x", "path,title\na,b\n"} {
		if _, err := ReadHugoList([]byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestReadHugoMounts(t *testing.T) {
	all, err := ReadHugoMounts([]byte("WARN x\n{\"path\":\"project\",\"dir\":\"/p/\",\"mounts\":[{\"source\":\"static\",\"target\":\"static\"}]}\n{\"path\":\"theme\",\"dir\":\"/t\",\"mounts\":[{\"source\":\"c\",\"target\":\"content\",\"sites\":{\"matrix\":{\"languages\":[\"fr\"]}}}]}\n"))
	if err != nil || len(all) != 2 || all[1].Mounts[0].Lang != "fr" || all[0].Mounts[0].Target != "static" || all[1].Dir != "/t" {
		t.Errorf("got %+v, %v", all, err)
	}
	for _, text := range []string{"", "hello", `{"path":`} {
		if _, err := ReadHugoMounts([]byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// TestConfiguredModules reads the mounts in Hugo's configuration, in its three
// languages, without Hugo.
func TestConfiguredModules(t *testing.T) {
	const usual = "static=static layouts=layouts data=data i18n=i18n assets=assets "
	tests := []struct{ name, text, want string }{
		{"hugo.toml", "[languages.fr]\ncontentDir = 'content/french'\n[[module.mounts]]\nsource = \"pages\"\ntarget = 'content'\n[[module.mounts]]\ntarget = \"layouts\"\nsource = \"tpl\"\n",
			usual + "tpl=layouts content/french=content:fr pages=content"},
		{"hugo.yaml", "languages:\n  de:\n    contentDir: content/de\nmodule:\n  mounts:\n    - Source: pages\n      target: content/sub\n      lang: de\n",
			usual + "content/de=content:de pages=content/sub:de"},
		{"config/_default/module.json", `{"mounts":[{"source":"data2","target":"data"},{"source":"no target"}]}`, usual + "data2=data content=content"},
		{"config/_default/languages.toml", "[nl]\ncontentDir = 'inhoud'\n", usual + "inhoud=content:nl content=content"},
		{"hugo.toml", "not [ toml", usual + "content=content"},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		for _, root := range []string{dir, filepath.Join(dir, "themes", "x")} {
			testkit.Write(t, filepath.Join(root, filepath.FromSlash(tt.name)), tt.text)
		}
		all := Project{Dir: dir}.ConfiguredModules()
		if len(all) != 2 || all[0].Path != "project" || all[1].Path != "x" {
			t.Fatalf("%s: modules %v", tt.name, all)
		}
		for _, m := range all {
			var got []string
			for _, mt := range m.Mounts {
				got = append(got, strings.TrimSuffix(mt.Source+"="+mt.Target+":"+mt.Lang, ":"))
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("%s %q of %s:\n got %s\nwant %s", tt.name, tt.text, m.Path, s, tt.want)
			}
		}
	}
}
