package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// askedProject is a Hugo project with a program that plays Hugo and counts its
// runs.
type askedProject struct {
	t                    *testing.T
	dir, hugo, log, list string
	cache                string
}

func newAskedProject(t *testing.T) *askedProject {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no shell available to replace Hugo")
	}
	work, err := filepath.EvalSymlinks(t.TempDir())
	testkit.Check(t, err)
	p := &askedProject{t: t, dir: filepath.Join(work, "site"), hugo: filepath.Join(work, "hugo"), log: filepath.Join(work, "log"), list: filepath.Join(work, "list"), cache: filepath.Join(work, "cache", "sources")}
	p.write("hugo.toml", "baseURL = 'https://example.org/'\n[permalinks]\npost = '/:slug/'\n")
	p.write("content/a.md", "---\ntitle: A\n---\n[x](/gone/)\n")
	p.write("content/b.md", "---\ntitle: B\n---\nText.\n")
	p.write("public/a/index.html", "<!doctype html><title>A</title><a href=/gone/>x</a>")
	for name, text := range map[string]string{
		p.list: "path,permalink\ncontent/a.md,https://example.org/a/\ncontent/b.md,https://example.org/b/\ncontent/none.md,https://example.org/none/\n",
		p.hugo: fmt.Sprintf("#!/bin/sh\n[ $1 = version ] && exit\necho \"$*\" >>'%s'\ncase \"$*\" in\n'list all') cat '%s';;\n"+
			"'config mounts') echo '{\"path\":\"project\",\"dir\":\"%s\",\"mounts\":[{\"source\":\"content\",\"target\":\"content\"},{\"source\":\"/no/such\",\"target\":\"content\"}]}';;\n'config --format json') echo '%s';;\nesac\n", p.log, p.list, p.dir, heldHugo),
	} {
		testkit.Check(t, os.WriteFile(name, []byte(text), 0o755))
	}
	return p
}

func (p *askedProject) write(name, text string) {
	p.t.Helper()
	name = filepath.Join(p.dir, filepath.FromSlash(name))
	testkit.Write(p.t, name, text)
}

// open opens the project and returns what Hugo was asked.
func (p *askedProject) open(env ...string) (m *Map, asked string) {
	p.t.Helper()
	testkit.Check(p.t, os.RemoveAll(p.log))
	m, err := Open(p.t.Context(), Options{Project: p.dir, Docroot: filepath.Join(p.dir, "public"), Generator: Hugo, Hugo: p.hugo,
		Env: append(os.Environ(), env...), Cache: p.cache})
	testkit.Check(p.t, err)
	p.t.Cleanup(m.Close)
	for _, note := range m.Notes {
		p.t.Error(note)
	}
	log, _ := os.ReadFile(p.log)
	return m, strings.Join(strings.Fields(strings.ReplaceAll(string(log), " ", "-")), " ")
}

const (
	everything = "config-mounts list-all"
	listOnly   = "list-all"
	// With content adapters, Hugo is asked what they may do.
	withAdapter = "config---format-json list-all"
	allOfIt     = "config-mounts " + withAdapter
)

// TestAnswerKept: Hugo's answer is used again as long as nothing that it depends
// on has changed.
func TestAnswerKept(t *testing.T) {
	p := newAskedProject(t)
	steps := []struct {
		name string
		edit func()
		want string
	}{
		{"first run", func() {}, everything},
		{"nothing", func() {}, ""},
		{"text of a page", func() { p.write("content/a.md", "---\ntitle: A\n---\nOther [x](/gone/)\n") }, ""},
		{"text of all pages", func() {
			p.write("content/a.md", "---\ntitle: A\n---\n1 [x](/gone/)\n")
			p.write("content/b.md", "---\ntitle: B\n---\n2 [x](/gone/)\n")
		}, ""},
		{"front matter", func() { p.write("content/a.md", "---\ntitle: A\nslug: c\n---\n[x](/gone/)\n") }, listOnly},
		{"front matter of the same size and time", func() {
			name := filepath.Join(p.dir, "content", "a.md")
			info, err := os.Stat(name)
			testkit.Check(t, err)
			p.write("content/a.md", "---\ntitle: A\nslug: d\n---\n[x](/gone/)\n")
			testkit.Check(t, os.Chtimes(name, info.ModTime(), info.ModTime()))
		}, listOnly},
		{"new page", func() { p.write("content/c.md", "---\ntitle: C\n---\n") }, listOnly},
		{"new page without front matter", func() { p.write("content/d.md", "text\n") }, listOnly},
		{"page that gets front matter", func() { p.write("content/d.md", "\n\n---\nslug: x\n---\ntext\n") }, listOnly},
		{"renamed page", func() {
			testkit.Check(t, os.Rename(filepath.Join(p.dir, "content", "c.md"), filepath.Join(p.dir, "content", "e.md")))
		}, listOnly},
		{"removed page", func() {
			testkit.Check(t, os.Remove(filepath.Join(p.dir, "content", "e.md")))
		}, listOnly},
		{"permalinks", func() {
			p.write("hugo.toml", "baseURL = 'https://example.org/'\n[permalinks]\npost = '/:title/'\n")
		}, everything},
		{"configuration directory", func() { p.write("config/_default/params.toml", "a = 1\n") }, everything},
		{"mounted directory", func() { p.write("data/x.toml", "") }, everything},
		{"module", func() { p.write("go.mod", "module x\n") }, everything},
		{"content adapter", func() { p.write("content/n/_content.gotmpl", "{{ }}") }, withAdapter},
		{"content adapter, nothing else", func() {}, withAdapter}, // it may read other files
	}
	for _, s := range steps {
		s.edit()
		if _, got := p.open(); got != s.want {
			t.Errorf("%s: Hugo was asked %q, want %q", s.name, got, s.want)
		}
	}
	if _, got := p.open("HUGO_CONTENTDIR=other"); got != allOfIt {
		t.Errorf("another environment: Hugo was asked %q", got)
	}
	hugo, err := os.ReadFile(p.hugo)
	testkit.Check(t, err)
	testkit.Check(t, os.WriteFile(p.hugo, append(hugo, "# newer\n"...), 0o755))
	if _, got := p.open(); got != allOfIt {
		t.Errorf("another Hugo: it was asked %q", got)
	}
	t.Chdir(p.cache)
	p.cache = ""
	if _, got := p.open(); got != allOfIt {
		t.Errorf("without a cache: Hugo was asked %q", got)
	}
}

// TestAnswerDamaged: a file that cannot be read counts as none.
func TestAnswerDamaged(t *testing.T) {
	p := newAskedProject(t)
	m, _ := p.open()
	whole, err := os.ReadFile(m.answerFile())
	testkit.Check(t, err)
	if _, got := p.open(); got != "" {
		t.Fatalf("Hugo was asked %q", got)
	}
	for at := 0; at < len(whole); at += 1 + len(whole)/23 {
		testkit.Check(t, os.WriteFile(m.answerFile(), whole[:at], 0o600))
		m, got := p.open()
		if got != everything || len(m.content.listed) != 2 {
			t.Fatalf("cut at byte %d of %d: Hugo was asked %q, %d pages", at, len(whole), got, len(m.content.listed))
		}
	}
}

// TestAnswersForgotten: the directory does not grow without limit.
func TestAnswersForgotten(t *testing.T) {
	p := newAskedProject(t)
	testkit.Check(t, os.MkdirAll(p.cache, 0o700))
	old := filepath.Join(p.cache, "old.hugo")
	testkit.Check(t, os.WriteFile(old, nil, 0o600))
	then := time.Now().Add(-answerHolds - time.Hour)
	testkit.Check(t, os.Chtimes(old, then, then))
	p.open()
	if _, err := os.Stat(old); err == nil {
		t.Error("the old answer stays")
	}
}

// TestAnswerOfCopy: a copy of a project, as the git hook builds a commit, gets the
// answers of the original, and the other way round.
func TestAnswerOfCopy(t *testing.T) {
	p := newAskedProject(t)
	if _, got := p.open(); got != everything {
		t.Fatalf("Hugo was asked %q", got)
	}
	for _, edit := range []bool{false, true} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		testkit.Check(t, err)
		dir = filepath.Join(dir, "copy")
		testkit.Check(t, os.CopyFS(dir, os.DirFS(p.dir)))
		want := ""
		if edit {
			testkit.Check(t, os.WriteFile(filepath.Join(dir, "content", "c.md"), []byte("---\ntitle: C\n---\n"), 0o644))
			want = listOnly
		}
		testkit.Check(t, os.RemoveAll(p.log))
		m, err := Open(t.Context(), Options{Project: dir, Identity: p.dir, Docroot: filepath.Join(dir, "public"), Generator: Hugo, Hugo: p.hugo, Env: os.Environ(), Cache: p.cache})
		testkit.Check(t, err)
		log, _ := os.ReadFile(p.log)
		if got := strings.Join(strings.Fields(strings.ReplaceAll(string(log), " ", "-")), " "); got != want {
			t.Errorf("Hugo was asked %q for the copy, want %q", got, want)
		}
		if f := m.content.files[m.content.listed["a"]]; f.display != "content/a.md" || len(m.content.files) != 2 && !edit || m.content.matter() != nil || !m.AsksHugo() || len(m.HugoPages()) != 3 {
			t.Errorf("the page a is %s, %d files, %v", f.display, len(m.content.files), m.content.matter())
		}
		for _, mt := range m.mounts {
			if mt.dir.dir != "content" || mt.dir.prefix != "" {
				t.Errorf("mounted %s of %s", mt.dir.dir, mt.dir.prefix)
			}
		}
		m.Close()
	}
}
