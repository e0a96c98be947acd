//go:build integration && linux

package main_test

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// htaccessFiles are the rule files of the test's docroot.
var htaccessFiles = map[string]string{
	".htaccess": `# rules of a site that has moved more than once
Redirect permanent /old.html /new.html
Redirect 302 /old-dir /new-dir
RedirectMatch 301 ^/blog/([0-9]{4})/(.*)$ /archive/$1-$2
RedirectMatch gone ^/gone/
Redirect 410 /removed.html
RedirectPermanent /chain-1 /chain-2
RedirectTemp /chain-2 /new.html
Redirect /loop-1 /loop-2
Redirect /loop-2 /loop-1
Redirect 301 /missing-target /nowhere.html
Redirect 303 "/with space" /new.html
RewriteEngine On
RewriteRule ^pretty/([a-z]+)$ pages/$1.html [L]
RewriteRule ^moved/(.*)$ /new-dir/$1 [R=301,L]
RewriteRule ^query/(\w+)$ /new.html?name=$1 [R,L]
RewriteRule ^dropped$ /new.html? [R=301,L]
RewriteRule ^secret - [F]
RewriteRule ^left$ - [G]
RewriteCond %{REQUEST_FILENAME} !-f
RewriteCond %{REQUEST_FILENAME} !-d
RewriteRule ^front/(.*)$ front.html [L]
RewriteCond %{REQUEST_FILENAME}.html -f
RewriteRule ^(clean/[a-z]+)$ $1.html [L]
RewriteRule ^Case/(.*)$ new.html [NC,L]
RewriteRule ^deeper/parent$ /new.html [R=301,L]
RewriteRule ^home/parent$ /new.html [L]
RewriteCond %{REQUEST_URI} ^/cond/
RewriteRule ^(.*)$ /new.html [L]
RewriteCond %{DOCUMENT_ROOT}/clean/$1.html -f
RewriteRule ^root/(.*)$ /clean/$1.html [L]
RewriteRule ^suffix$ %{REQUEST_URI}.html [L]
RewriteRule ^relative$ new.html
ErrorDocument 404 /new.html
`,
	"home/.htaccess":      "DirectoryIndex home.html index.html\n",
	"listed/.htaccess":    "Options +Indexes\n",
	"bare/.htaccess":      "DirectorySlash Off\n",
	"deeper/.htaccess":    "RewriteEngine On\nRewriteBase /deeper/\nRewriteRule ^from$ to.html [L]\nRewriteRule ^up$ /new.html [R=301,L]\n",
	"fallback/.htaccess":  "FallbackResource /fallback/index.html\n",
	"unlisted/.htaccess":  "Options -Indexes\n",
	"no-index/.htaccess":  "DirectoryIndex disabled\n",
	"bare-list/.htaccess": "DirectorySlash Off\nOptions +Indexes\n",
	"off/.htaccess":       "RewriteEngine Off\n",
	"redirects/.htaccess": "Redirect 301 /redirects/a.html /redirects/b.html\n",
}

// htaccessPages are the files that the rules lead to, and from.
var htaccessPages = []string{
	"index.html", "new.html", "new-dir/index.html", "new-dir/a.html", "archive/2020-post.html", "pages/about.html", "front.html", "front/real.html",
	"clean/page.html", "home/home.html", "home/index.html", "listed/a.html", "unlisted/a.html", "bare/index.html", "deeper/to.html", "deeper/x.html",
	"fallback/index.html", "fallback/real.html", "redirects/a.html", "redirects/b.html", "old.html", "secret.html",
	"home/sub/home.html", "home/bare/index.html", "home/none/a.html", "no-index/index.html", "bare-list/index.html", "listed/sub/a.html", "off/x.html",
	"deeper/sub/x.html", "suffix.html",
}

var htaccessLinks = []string{
	"/old.html", "/old.html?q=1", "/old.html/x", "/old", "/old.htm", "/old-dir", "/old-dir/", "/old-dir/a.html", "/old-dir/none.html", "/old-dirt",
	"/blog/2020/post.html", "/blog/2020/none.html", "/blog/20/x", "/gone/x", "/gone/", "/gone", "/removed.html", "/removed.html/x", "/removed.htm",
	"/chain-1", "/chain-2", "/chain-1/x", "/loop-1", "/loop-2", "/missing-target", "/with%20space", "/with%20space/x",
	"/pretty/about", "/pretty/none", "/pretty/About", "/moved/a.html", "/moved/", "/moved", "/moved/none.html?q=1", "/query/me", "/query/me?x=1",
	"/dropped?x=1", "/dropped", "/secret.html", "/secrets", "/left", "/front/x", "/front/real.html", "/front", "/front/", "/front/a/b",
	"/clean/page", "/clean/page.html", "/clean/none", "/case/x", "/Case/y", "/home/", "/home", "/home/index.html", "/listed/", "/listed", "/unlisted/",
	"/bare", "/bare/", "/deeper/from", "/deeper/up", "/deeper/to.html", "/deeper/none", "/fallback/", "/fallback/none", "/fallback/real.html", "/fallback/a/b",
	"/redirects/a.html", "/redirects/b.html", "/redirects/a.html?x", "/home/sub/", "/home/bare/", "/home/none/", "/home/none", "/no-index/", "/no-index", "/bare-list", "/bare-list/",
	"/listed/sub/", "/deeper/parent", "/home/parent", "/off/x.html", "/off/secret", "/deeper/sub/", "/deeper/sub/from", "/deeper/secret", "/none.html?q", "/cond/x", "/root/page", "/root/none", "/suffix", "/relative",
	"/new.html", "/none", "/.htaccess", "/",
}

// TestApacheRules: links through the rules of .htaccess files lead where Apache
// sends them, at the root of the host and below a base path.
func TestApacheRules(t *testing.T) {
	for _, base := range []string{"", "/base"} {
		t.Run("root"+base, func(t *testing.T) {
			t.Parallel()
			compareApacheRules(t, base)
		})
	}
}

func compareApacheRules(t *testing.T, base string) {
	var page strings.Builder
	page.WriteString("<!doctype html><meta charset=utf-8><title>links</title>\n")
	for _, href := range htaccessLinks {
		fmt.Fprintf(&page, "<a href=\"%s\">x</a>\n", html.EscapeString(base+href))
	}
	files, whole := map[string]string{}, strings.NewReplacer(" /", " "+base+"/", `"/`, `"`+base+"/", "^/", "^"+base+"/", "}/", "}"+base+"/")
	for name, text := range htaccessFiles {
		files[name] = whole.Replace(text)
	}
	for _, name := range htaccessPages {
		files[name] = "<!doctype html><title>" + name + "</title>\n"
	}
	files["links.html"] = page.String()
	root := t.TempDir()
	docroot := filepath.Join(root, base)
	testkit.AddFiles(t, docroot, files)
	openToAll(t, root)
	if err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(name, 0o755)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	server := apacheServer.start(t, site{docroot: root, rules: true})
	var rows []row
	eachLink(t, docroot, []string{"--profile", "apache", "--base-url", "http://localhost" + base + "/"}, func(r *row) {
		if r.Page == "links.html" && !r.isFault() {
			rows = append(rows, *r)
		}
	})
	if len(rows) != len(htaccessLinks) {
		t.Fatalf("%d links on the page, sitelink shows %d", len(htaccessLinks), len(rows))
	}
	for i, href := range htaccessLinks {
		r := rows[i]
		a := server.ask(t, base+href, patience)
		if a.Status >= 300 && a.Status < 400 && slices.Contains([]string{"/loop-1", "/loop-2"}, href) {
			if r.Code != "endless-redirect" {
				t.Errorf("%s: got %d %s %s, Apache redirects in a loop", href, r.Status, r.Verdict, r.Code)
			}
			continue
		}
		if r.Status != a.Status || r.answeringPath() != a.Final {
			t.Errorf("%s: got %d %s (%s %s), Apache says %v", href, r.Status, r.answeringPath(), r.Verdict, r.Code, a)
		}
	}
	t.Logf("%d links compared", len(rows))
}
