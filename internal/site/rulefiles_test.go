package site

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
)

// TestRuleFiles: the host's rule files decide, both in the docroot and in the
// project.
func TestRuleFiles(t *testing.T) {
	host := func(name string) Options {
		p, ok := host.ProfileByName(name)
		if !ok {
			t.Fatal(name)
		}
		return Options{Profile: p}
	}
	t.Run("netlify", func(t *testing.T) {
		table(t, files{
			"_redirects": "/old /new.html\n/blog/* /posts/:splat 301\n/forced.html /new.html 302!\n/app/* /new.html 200\n/away https://other.example/x\n/twice /old\n/own https://example.org/new.html#top\n",
			"new.html":   plain, "posts/a.html": plain, "forced.html": plain, "p.html": plain, "blog/there.html": plain,
		}, func() Options { o := host("netlify"); o.BaseURLs = []string{"https://example.org"}; return o }(), "p.html", []row{
			{"exact", "/old", "ViaRedirect 200 /old = new.html > /new.html"},
			{"splat", "/blog/a.html", "ViaRedirect 200 /blog/a.html = posts/a.html > /posts/a.html"},
			{"file_first", "/blog/there.html", "OK 200 /blog/there.html = blog/there.html"},
			{"forced", "/forced.html", "ViaRedirect 200 /forced.html = new.html > /new.html"},
			{"forced_relative", "forced.html", "ViaRedirect 200 /forced.html = new.html > /new.html"},
			{"rewrite", "/app/x/y", "OK 200 /app/x/y = new.html"},
			{"away", "/away", "RedirectsAway 0 /away > https://other.example/x"},
			{"chain", "/twice", "ViaRedirect 200 /twice = new.html > /new.html"},
			{"own_address", "/own", "ViaRedirect 200 /own = new.html > /new.html"},
			{"to_nothing", "/blog/gone", "MissingFile 404 /blog/gone > /posts/gone"},
		})
	})
	t.Run("apache", func(t *testing.T) {
		table(t, files{
			".htaccess": "Redirect 301 /old /new.html\nRewriteEngine on\nRewriteRule ^r/(.*)$ /new.html [L]\nOptions +Indexes\n",
			"new.html":  plain, "p.html": plain, "list/x.txt": "", "d/.htaccess": "DirectoryIndex start.html\n", "d/start.html": plain, "d/index.html": plain, "d/e/start.html": plain,
			"closed/.htaccess": "Options -Indexes\n", "closed/x.txt": "", "noslash/.htaccess": "DirectorySlash Off\n", "noslash/index.html": plain,
		}, host("apache"), "p.html", []row{
			{"redirect", "/old", "ViaRedirect 200 /old = new.html > /new.html"},
			{"rewrite", "/r/x", "OK 200 /r/x = new.html"},
			{"listing", "/list/", "Autoindex 200 /list/ = list"},
			{"no_listing", "/closed/", "MissingIndex 403 /closed/"},
			{"index", "/d/", "OK 200 /d/ = d/start.html"},
			{"index_inherited", "/d/e/", "OK 200 /d/e/ = d/e/start.html"},
			{"index_by_redirect", "d", "Redirect 200 /d = d/start.html > /d/"},
		})
	})
	t.Run("project", func(t *testing.T) {
		project := t.TempDir()
		if err := os.WriteFile(filepath.Join(project, "vercel.json"), []byte(`{"cleanUrls": true, "redirects": [{"source": "/old/:x", "destination": "/new"}, {"source": "/a", "destination": "/gone"}]}`), 0o644); err != nil {
			t.Fatal(err)
		}
		o := host("vercel")
		o.Project = project
		table(t, files{"new.html": plain, "p.html": plain}, o, "p.html", []row{
			{"clean", "/new", "OK 200 /new = new.html"},
			{"clean_file", "/new.html", "Redirect 200 /new.html = new.html > /new"},
			{"redirect", "/old/1", "ViaRedirect 200 /old/1 = new.html > /new"},
		})
		s := loadFiles(t, files{"new.html": plain}, o)
		faults := s.RuleFaults()
		if len(faults) != 1 || faults[0].Code != "redirect-target-missing" || faults[0].Line != 1 || filepath.Base(faults[0].File) != "vercel.json" {
			t.Errorf("faults %+v", faults)
		}
		o.NoRuleFiles = true
		if s := loadFiles(t, files{"new.html": plain}, o); s.Rules() != nil {
			t.Error("rule files were read")
		}
	})
	t.Run("other_host", func(t *testing.T) {
		table(t, files{"_redirects": "/old /p.html\n", "p.html": plain}, host("nginx"), "p.html", []row{
			{"not_read", "/old", "MissingFile 404 /old"},
		})
	})
}
