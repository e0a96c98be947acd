package source

import (
	"strings"
	"testing"

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
