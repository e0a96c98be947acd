package source

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestReadList: warnings between the lines of the CSV do no harm.
func TestReadList(t *testing.T) {
	m := &sources{opt: Options{Project: "/p"}}
	out := "WARN deprecated: x\npath,slug,title,date,expiryDate,publishDate,draft,permalink\n" +
		"content/a.md,,\"A, \"\"b\"\"\",d,d,d,false,https://example.org/sub/a/\n" +
		"WARN something, odd\n" +
		"/p/content/b c.md,,B,d,d,d,true,https://example.org/sub/%C3%A4/\n"
	all, err := generator.ReadHugoList([]byte(out))
	testkit.Check(t, err)
	var pages []listedPage
	for _, p := range all {
		file, _ := m.inProject(p.File)
		pages = append(pages, listedPage{file, p.Permalink.Host, p.Permalink.Path})
	}
	want := []listedPage{{"content/a.md", "example.org", "/sub/a/"}, {"content/b c.md", "example.org", "/sub/ä/"}}
	if len(pages) != 2 || pages[0] != want[0] || pages[1] != want[1] {
		t.Errorf("got %v, want %v", pages, want)
	}
	for _, bad := range []string{"", "no csv at all\n", "path,title\na,b\n", "x path,permalink\n"} {
		if _, err := generator.ReadHugoList([]byte(bad)); err == nil || !strings.Contains(err.Error(), "hugo list all") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

func TestReadMounts(t *testing.T) {
	m := &sources{opt: Options{Project: "/p"}}
	out := "WARN x\n" + `{"path":"project","dir":"/p","mounts":[{"source":"content","target":"content"},{"source":"nl","target":"content","lang":"nl"}]}
{"path":"theme","dir":"/p/themes/theme","mounts":[{"source":"layouts","target":"layouts"},{"source":"fr","target":"content","sites":{"matrix":{"languages":["fr"]}}}]}`
	modules, err := generator.ReadHugoMounts([]byte(out))
	testkit.Check(t, err)
	m.openMounts(modules, true)
	mounts := m.mounts
	if len(mounts) != 4 || mounts[3].dir.lang != "fr" || mounts[1].dir.dir != "nl" || mounts[1].dir.lang != "nl" || mounts[2].dir.dir != "themes/theme/layouts" || mounts[2].dir.module != "theme" {
		t.Errorf("got %+v", mounts)
	}
	for _, bad := range []string{"", "{", "[]"} {
		if _, err := generator.ReadHugoMounts([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// TestHostDirs: if each language has its host, the one whose files name no language has
// the directory that is left.
func TestHostDirs(t *testing.T) {
	pages := map[string][]listedPage{"en.org": {{file: "a.md"}}, "de.org": {{file: "a.de.md"}}}
	c := &contentIndex{byDisplay: map[string]int{"a.md": 0, "a.de.md": 1}, files: []contentFile{{name: "a.md"}, {name: "a.de.md"}}}
	for _, test := range []struct{ docroot, dirs, want string }{
		{"/x/public", "en de images", "map[de.org:de en.org:en]"},
		{"/x/public", "en de css", "map[de.org:de]"}, // which may be a language
		{"/x/en", "images", "map[en.org:]"},
		{"/x/de", "images", "map[de.org:]"},
	} {
		docroot := fstest.MapFS{}
		for dir := range strings.FieldsSeq(test.dirs) {
			docroot[dir+"/x"] = &fstest.MapFile{}
		}
		src := &sources{opt: Options{Docroot: test.docroot}, content: c, docroot: docroot}
		if got := fmt.Sprint(src.hostDirs([]string{"en.org", "de.org"}, pages)); got != test.want {
			t.Errorf("%s with %s: got %s, want %s", test.docroot, test.dirs, got, test.want)
		}
	}
}
