//go:build integration && unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// A push of a Hugo site: built by the real Hugo in a temporary tree, with the
// caches of the working tree, and without a byte left in it. Nothing has to be
// configured for it.
func TestHookHugo(t *testing.T) {
	if _, err := exec.LookPath("hugo"); err != nil {
		t.Skip("hugo is not installed; .ci/run installs it")
	}
	for _, test := range []struct{ name, config, site, flag string }{
		{"found", "", "", "."},
		{"found below the root", "", "docs/site", "docs/site"},
		{"found in docs", "", "docs", "."},
		{"configured", "[hook]\nbuild = 'hugo --quiet -d \"$SITELINK_OUT\"'\n", "", "."},
	} {
		t.Run(test.name, func(t *testing.T) { pushHugo(t, test.config, test.site, test.flag) })
	}
}

// pushHugo pushes a Hugo site in a directory of the repository; flag is the
// value of --dir.
func pushHugo(t *testing.T, config, site, flag string) {
	dir, _ := pushed(t, "")
	for name, text := range map[string]string{
		"sitelink.toml":                  config,
		"config.toml":                    "baseURL = 'https://example.org/'\ntitle = 't'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\nenableGitInfo = true\n",
		".gitignore":                     "/resources/\n/public/\n.hugo_build.lock\n",
		"layouts/_default/single.html":   "<title>{{ .Title }}</title>{{ .Content }}<p>{{ .GitInfo.Subject }}",
		"layouts/_default/list.html":     "<title>t</title>{{ range .Pages }}<a href=\"{{ .RelPermalink }}\">t</a>{{ end }}",
		"content/good.md":                "---\ntitle: good\n---\n[home](/)\n",
		"resources/_gen/images/kept.txt": "kept",
	} {
		testkit.Write(t, filepath.Join(dir, site, filepath.FromSlash(name)), text)
	}
	testkit.Git(t, dir, "rm", "-r", "-q", "public")
	os.Remove(filepath.Join(dir, "dirty.html"))
	testkit.Git(t, dir, "add", "-A")
	testkit.Git(t, dir, "commit", "-q", "-m", "a Hugo site")
	testkit.Write(t, filepath.Join(dir, "dirty.txt"), "dirty")
	run := func(want int, says string) {
		t.Helper()
		cmd := exec.Command("sitelink", "hook", "run", "--commit", "HEAD", "--dir", flag)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		checkExit(t, err, want)
		if !strings.Contains(string(out), says) {
			t.Errorf("%s\nhas no %q", out, says)
		}
	}
	run(exitClean, "HEAD: links are fine")
	testkit.Write(t, filepath.Join(dir, site, "content", "bad.md"), "---\ntitle: bad\n---\n[gone](/gone/) [home](https://example.org/nowhere/)\n")
	testkit.Git(t, dir, "add", "-A", ":(exclude)dirty.txt")
	testkit.Git(t, dir, "commit", "-q", "-m", "bad")
	os.Remove(filepath.Join(dir, site, "content", "bad.md"))
	run(exitFindings, "content/bad.md:4:8: error: directory not found: /gone/")
	run(exitFindings, "content/bad.md:4:23: error: directory not found: /nowhere/") // the site's own address
	if n, known := trees(t, dir); n > 0 || known {
		t.Errorf("%d trees are left, known to git: %v", n, known)
	}
	if text, err := os.ReadFile(filepath.Join(dir, site, "resources", "_gen", "images", "kept.txt")); err != nil || string(text) != "kept" {
		t.Errorf("the cache was harmed: %q, %v", text, err)
	}
}

// A Hugo site that says nothing of hooks: its docroot is not in the commit, so
// Hugo builds it, and its own configuration tells the address.
func TestHookHugoUnset(t *testing.T) {
	if _, err := exec.LookPath("hugo"); err != nil {
		t.Skip("hugo is not installed; .ci/run installs it")
	}
	dir, _ := pushed(t, "")
	for name, text := range map[string]string{
		"config.toml":                  "baseURL = 'https://example.org/sub/'\ntitle = 't'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\n",
		".gitignore":                   "/resources/\n/public/\n.hugo_build.lock\n",
		"layouts/_default/single.html": "<title>{{ .Title }}</title>{{ .Content }}",
		"layouts/_default/list.html":   "<title>t</title>{{ range .Pages }}<a href=\"{{ .RelPermalink }}\">t</a>{{ end }}",
		"content/good.md":              "---\ntitle: good\n---\n[home](/sub/)\n",
	} {
		testkit.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	os.Remove(filepath.Join(dir, "sitelink.toml"))
	testkit.Git(t, dir, "rm", "-r", "-q", "--cached", "public")
	testkit.Git(t, dir, "add", "-A")
	testkit.Git(t, dir, "commit", "-q", "-m", "a Hugo site")
	run := func(want int, says string) {
		t.Helper()
		cmd := exec.Command("sitelink", "hook", "run", "--commit", "HEAD")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		checkExit(t, err, want)
		if !strings.Contains(string(out), says) {
			t.Errorf("%s\nhas no %q", out, says)
		}
	}
	run(exitClean, "HEAD: links are fine")
	run(exitClean, "HEAD: passed before")
	testkit.Write(t, filepath.Join(dir, "content", "bad.md"), "---\ntitle: bad\n---\n[gone](/sub/gone/)\n")
	testkit.Git(t, dir, "add", "content")
	testkit.Git(t, dir, "commit", "-q", "-m", "bad")
	run(exitFindings, "content/bad.md:4:8: error: directory not found: /sub/gone/")
	testkit.Write(t, filepath.Join(dir, "dirty.txt"), "dirty") // then in a copy
	run(exitFindings, "error: directory not found: /sub/gone/")
	if _, err := os.Stat(filepath.Join(dir, ".sitelink")); err == nil {
		t.Error("a push has left a build in the project")
	}
}

// A Hugo site with old faults in its layout, its menu and its posts: a second push
// builds one commit, and only what it makes worse blocks it. New posts get the old
// faults of the layout, and move the old posts to later pages of the list.
func TestHookHugoOldFaults(t *testing.T) {
	if _, err := exec.LookPath("hugo"); err != nil {
		t.Skip("hugo is not installed; .ci/run installs it")
	}
	dir, _ := pushed(t, "")
	post := func(name, text string) {
		testkit.Write(t, filepath.Join(dir, "content", "post", name+".md"), "---\ntitle: "+name+"\ndate: 2026-01-"+name+"\nsummary: '"+text+"'\n---\n"+text+"\n")
	}
	for name, text := range map[string]string{
		"config.toml": "baseURL = 'https://example.org/'\ntitle = 't'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\npaginate = 2\n" +
			"[[menus.main]]\nname = 'gone'\nurl = '/menu-gone/'\n",
		".gitignore":                   "/resources/\n/public/\n.hugo_build.lock\n",
		"layouts/partials/nav.html":    "<nav><a href=\"/nav-gone/\">t</a>{{ range .Site.Menus.main }}<a href=\"{{ .URL }}\">t</a>{{ end }}</nav>",
		"layouts/_default/single.html": "<title>{{ .Title }}</title>{{ partial \"nav.html\" . }}<main>{{ .Content }}</main>",
		"layouts/_default/list.html": "<title>t</title>{{ partial \"nav.html\" . }}{{ range (.Paginate .Site.RegularPages).Pages }}<a href=\"{{ .RelPermalink }}\">t</a>{{ .Content }}{{ end }}" +
			"{{ with .Paginator.Next }}<a href=\"{{ .URL }}\">next</a>{{ end }}",
	} {
		testkit.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	for _, day := range []string{"01", "02", "03", "04", "05"} {
		post(day, "[old](/old-"+day+"/)")
	}
	testkit.Git(t, dir, "rm", "-q", "-r", "--cached", "public")
	for _, name := range []string{"public", "dirty.html", "sitelink.toml"} {
		os.RemoveAll(filepath.Join(dir, name))
	}
	hugo := testkit.Must(exec.LookPath("hugo"))(t)
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "builds")
	testkit.Write(t, filepath.Join(bin, "hugo"), "#!/bin/sh\ncase $1 in --destination) echo built >>'"+log+"' ;; esac\nexec '"+hugo+"' \"$@\"\n")
	testkit.Check(t, os.Chmod(filepath.Join(bin, "hugo"), 0o755))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	remote := filepath.Join(t.TempDir(), "remote.git")
	testkit.Git(t, dir, "init", "-q", "--bare", remote)
	testkit.Git(t, dir, "remote", "add", "origin", remote)
	push := func(want int, builds int, says ...string) {
		t.Helper()
		testkit.Git(t, dir, "add", "-A")
		testkit.Git(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
		os.Remove(log)
		cmd := exec.Command("git", "push", "origin", "HEAD:main")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		checkExit(t, err, want)
		for _, text := range says {
			if !strings.Contains(string(out), text) {
				t.Errorf("%s\nhas no %q", out, text)
			}
		}
		text, _ := os.ReadFile(log) // no build, no log
		if got := strings.Count(string(text), "built"); got != builds {
			t.Errorf("%d builds, want %d\n%s", got, builds, out)
		}
	}
	push(0, 0) // without a hook
	command(t, dir, "sitelink", "hook", "install")
	post("06", "fine")
	push(0, 2, "main: no new finding, ") // the remote's commit is not known yet
	post("07", "fine too")
	push(0, 1, "main: no new finding, ")
	push(0, 0, "main: the remote has the files that the site is built from")
	post("08", "[new](/new/)")
	push(1, 1, "new finding", "content/post/08.md:6:7: error: directory not found: /new/", " existed before this push")
	post("08", "fine now")
	push(0, 1, "main: no new finding, ")
}

// Issue 22: the docroot is committed beside its sources, as git add -A does
// without a .gitignore. A commit of a broken source is found although the copy is
// not built again, and so is a broken copy beside good sources. What is built
// completely goes, and so does a commit of other files.
func TestHookCommittedDocroot(t *testing.T) {
	for _, g := range []struct {
		name, docroot string
		build         []string
		files         map[string]string
		post          string // its name
	}{
		{"hugo", "public", []string{"hugo"}, map[string]string{
			"config.toml":                  "baseURL = 'https://example.org/'\ntitle = 't'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\n",
			"layouts/_default/single.html": "<title>{{ .Title }}</title>{{ .Content }}",
			"layouts/_default/list.html":   "<title>t</title>{{ range .Pages }}<a href=\"{{ .RelPermalink }}\">t</a>{{ end }}",
		}, "content/a.md"},
		{"hugo into docs, for GitHub Pages", "docs", []string{"hugo"}, map[string]string{
			"config.toml":                  "baseURL = 'https://example.org/'\ntitle = 't'\npublishDir = 'docs'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\n",
			"layouts/_default/single.html": "<title>{{ .Title }}</title>{{ .Content }}",
			"layouts/_default/list.html":   "<title>t</title>{{ range .Pages }}<a href=\"{{ .RelPermalink }}\">t</a>{{ end }}",
		}, "content/a.md"},
		{"jekyll", "_site", []string{"jekyll", "build"}, map[string]string{
			"_config.yml": "title: t\nexclude: [README.md]\n",
			"index.md":    "---\n---\n[a](/a.html)\n",
		}, "a.md"},
	} {
		t.Run(g.name, func(t *testing.T) {
			dir, remote := filepath.Join(t.TempDir(), "site"), filepath.Join(t.TempDir(), "remote.git")
			testkit.AddFiles(t, dir, g.files)
			post := func(link string) {
				testkit.Write(t, filepath.Join(dir, g.post), "---\ntitle: a\n---\n["+link+"]("+link+")\n")
			}
			build := func() { command(t, dir, g.build[0], g.build[1:]...) }
			testkit.Git(t, dir, "init", "-q", "-b", "main", ".")
			testkit.Git(t, dir, "init", "-q", "--bare", remote)
			testkit.Git(t, dir, "remote", "add", "origin", remote)
			command(t, dir, "sitelink", "hook", "install")
			push := func(want int, says string) {
				t.Helper()
				testkit.Git(t, dir, "add", "-A")
				testkit.Git(t, dir, "commit", "-q", "-m", "x")
				cmd := exec.Command("git", "push", "origin", "main")
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				checkExit(t, err, want)
				if !strings.Contains(string(out), says) {
					t.Errorf("%s\nhas no %q", out, says)
				}
			}
			post("/")
			build()
			push(0, "main: links are fine")
			post("/gone/")
			push(1, g.post+":4:")
			post("/")
			testkit.Write(t, filepath.Join(dir, g.docroot, "more.html"), "<title>t</title><a href='/lost.html'>t</a>")
			push(1, g.docroot+"/more.html:1:")
			os.Remove(filepath.Join(dir, g.docroot, "more.html"))
			testkit.Write(t, filepath.Join(dir, "README.md"), "read me")
			push(0, "main: ")
			post("/?2")
			build()
			push(0, "main: links are fine")
			// Other files of the copy change too, but it is not what the sources say.
			post("/gone/")
			testkit.Write(t, filepath.Join(dir, g.docroot, "more.html"), "<title>t</title>")
			push(1, g.post+":4:")
		})
	}
}
