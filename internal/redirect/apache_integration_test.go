//go:build integration

package redirect

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// apacheConfig is the plainest configuration that reads .htaccess.
const apacheConfig = `ServerName h.example
Listen %[2]s
PidFile %[1]s/pid
ErrorLog %[1]s/error.log
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule alias_module /usr/lib/apache2/modules/mod_alias.so
LoadModule rewrite_module /usr/lib/apache2/modules/mod_rewrite.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
User nobody
Group nogroup
DocumentRoot %[1]s/root
<Directory %[1]s/root>
AllowOverride All
Require all granted
</Directory>
`

// apacheFiles are the files of the docroot; each contains its own path.
var apacheFiles = []string{"index.html", "file.html", "page.html", "index.php", "three", "b/x", "dir/index.html", "sub/y", "sub/keep", "sp ace"}

// apacheCases are rules, and the request targets.
var apacheCases = []struct{ name, root, sub string }{
	{"alias", "Redirect /old /new\nRedirect permanent /p http://o.example/q\nRedirectMatch 301 ^/blog/(\\d+)/(.*)$ /b-$2/$1\nRedirect gone /gone\nRedirectMatch \\.asp$ /page.html\nRedirect 303 /s /t?x=1\n", ""},
	{"rewrite", "RewriteEngine On\nRewriteBase /\nRewriteRule ^a/(.*)$ b/$1 [R=301,L]\nRewriteRule ^gone$ - [G]\nRewriteRule ^secret - [F]\nRewriteRule ^one$ two\nRewriteRule ^two$ three [L]\nRewriteRule ^frag$ /page.html#x [R]\nRewriteRule ^nefrag$ /page.html#x [R,NE]\nRewriteRule ^query$ /page.html?a=1 [R]\nRewriteRule ^qsa$ /page.html?a=1 [R,QSA]\nRewriteRule ^noquery$ /page.html? [R]\nRewriteRule ^sp$ \"/sp ace\" [R]\nRewriteRule ^UP$ /page.html [NC]\n", ""},
	{"front_controller", "RewriteEngine On\nRewriteBase /\nRewriteRule ^index\\.php$ - [L]\nRewriteCond %{REQUEST_FILENAME} !-f\nRewriteCond %{REQUEST_FILENAME} !-d\nRewriteRule . /index.php [L]\n", ""},
	{"clean_addresses", "RewriteEngine On\nRewriteCond %{THE_REQUEST} \\s/+(.+?)\\.html[\\s?] [NC]\nRewriteRule ^ /%1 [R=301,L]\nRewriteCond %{REQUEST_FILENAME}.html -f\nRewriteRule ^([^.]+)$ $1.html [L]\n", ""},
	{"conditions", "RewriteEngine On\nRewriteCond %{QUERY_STRING} ^id=(\\d+)$\nRewriteRule ^show$ /item/%1? [R=301,L]\nRewriteCond %{HTTP_HOST} ^www\\.(.*)$\nRewriteRule ^(.*)$ http://%1/$1 [R=301,L]\nRewriteCond %{REQUEST_URI} ^/one [OR]\nRewriteCond %{REQUEST_URI} ^/two\nRewriteRule ^(.*)$ /both/$1 [R,L]\nRewriteCond %{REQUEST_FILENAME} -f [OR]\nRewriteCond %{REQUEST_FILENAME} -d\nRewriteRule ^ - [L]\nRewriteRule ^(.*)$ /gone-home/$1 [R,L]\n", ""},
	{"negated", "RewriteEngine On\nRewriteRule !^(page|file)\\.html$ /page.html [L]\n", ""},
	{"directories", "RewriteEngine On\nRewriteRule ^sub/(.*)$ /never/$1 [R]\nRedirect /sub/r /root-r\nRedirect /sub/q /root-q\n", "RewriteEngine On\nRewriteBase /sub\nRewriteRule ^x$ y [R]\nRewriteRule ^(?!keep)z(.*)$ /not/$1 [R,L]\nRedirect /sub/r /sub-r\nRedirectMatch \\.asp$ /sub-asp\n"},
	{"inherited", "RewriteEngine On\nRewriteRule ^sub/(.*)$ /now/$1 [R]\n", "Redirect /sub/r /sub-r\n"},
	{"fallback", "FallbackResource /page.html\n", ""},
	{"rewrite_and_alias", "RewriteEngine On\nRewriteRule ^one$ /page.html [L]\nRedirect /one /alias\nRedirect /page.html /moved\nRewriteRule ^two$ /three [END]\nRedirect /three /moved-three\n", ""},
}

var apacheTargets = []string{"/", "/old", "/old/", "/old/a%20b?q=1", "/older", "/p/x?y=1", "/blog/12/x/y", "/blog/x", "/gone", "/gone/x", "/x.asp", "/s", "/s?y=2",
	"/a/", "/a/x?q=1", "/a/%C3%BC", "/secret/x", "/one", "/two", "/three", "/frag", "/nefrag", "/query?b=2", "/qsa?b=2", "/noquery?b=2", "/sp", "/up", "/index.php", "/zz/y?q=1", "/file.html", "/dir/",
	"/page", "/page.html", "/page?x=1", "/show?id=5", "/show?id=x", "/show", "/sub/x", "/sub/y", "/sub/keep", "/sub/za", "/sub/r/1", "/sub/q", "/sub/", "/sub/x.asp", "/a%26b", "/www"}

// TestApacheOracle compares the rules of .htaccess with Apache itself.
func TestApacheOracle(t *testing.T) {
	dir := testkit.Must(os.MkdirTemp("", "apache-rules-"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	root := filepath.Join(dir, "root")
	for _, name := range apacheFiles {
		testkit.Write(t, filepath.Join(root, filepath.FromSlash(name)), "/"+name)
	}
	testkit.Check(t, os.Chmod(dir, 0o755))
	address := startApache(t, dir)

	client := &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	compared := 0
	for _, c := range apacheCases {
		for name, text := range map[string]string{".htaccess": c.root, "sub/.htaccess": c.sub} {
			testkit.Check(t, os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o644))
		}
		files := []*File{Htaccess("/", ".htaccess", []byte(c.root)), Htaccess("/sub/", "sub/.htaccess", []byte(c.sub))}
		set := New(Options{}, files...)
		for _, f := range files {
			checkFaults(t, f.Faults)
		}
		for _, host := range []string{"h.example", "www.h.example"} {
			for _, target := range apacheTargets {
				request := testkit.Must(http.NewRequest("GET", "http://"+address+target, nil))(t)
				request.Host = host
				response := testkit.Must(client.Do(request))(t)
				body, err := io.ReadAll(response.Body)
				response.Body.Close()
				testkit.Check(t, err)
				want := fmt.Sprint(response.StatusCode)
				switch {
				case response.Header.Get("Location") != "":
					want += " " + strings.TrimPrefix(response.Header.Get("Location"), "http://"+host)
				case response.StatusCode == http.StatusOK:
					want += " " + string(body)
				}
				compared++
				if got := askApache(set, root, host, target); got != want {
					t.Errorf("%s: http://%s%s: got %q, Apache says %q", c.name, host, target, got, want)
				}
			}
		}
	}
	t.Logf("%d answers compared", compared)
}

// startApache runs the server on a free port of 127.0.0.1.
func startApache(t *testing.T, dir string) (address string) {
	t.Helper()
	address = testkit.FreePort(t)
	config := filepath.Join(dir, "apache.conf")
	testkit.Check(t, os.WriteFile(config, fmt.Appendf(nil, apacheConfig, dir, address), 0o644))
	cmd := exec.Command("apache2", "-f", config, "-DFOREGROUND")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatalf("start apache2: %v", err)
	}
	t.Cleanup(func() {
		// Not Kill: the server's children would stay.
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		cmd.Wait()
		if text, err := os.ReadFile(filepath.Join(dir, "error.log")); err == nil && t.Failed() {
			t.Logf("%s%.2000s", stderr.String(), text)
		}
	})
	for range 1200 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return address
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("apache2 does not answer")
	return ""
}

// askApache goes through rules and files as the server does.
func askApache(set *Set, root, host, target string) string {
	req := Request{Scheme: "http", Host: host, Entry: func(path string) EntryKind {
		switch info, err := os.Stat(filepath.Join(root, filepath.FromSlash(path))); {
		case err != nil:
			return Nothing
		case info.IsDir():
			return DirEntry
		}
		return FileEntry
	}}
	req.Path, req.Query, _ = strings.Cut(target, "?")
	for range 10 {
		hit, ok := set.Match(req)
		if !ok {
			req.Stage = AfterFiles
			if hit, ok = set.Match(req); !ok || fileAt(root, req.Path) != missing {
				break
			}
		}
		switch hit.Rule.Kind {
		case Redirect:
			return fmt.Sprintf("%d %s", hit.Rule.Status, strings.TrimPrefix(hit.To, "http://"+host))
		case Status:
			return fmt.Sprint(hit.Rule.Status)
		}
		if req.Original == "" {
			req.Original = target
		}
		req.Path, req.Query, _ = strings.Cut(hit.To, "?")
		if !hit.Rule.Again {
			break
		}
	}
	return fileAt(root, req.Path)
}

const missing = "404"

// fileAt is what the files alone answer.
func fileAt(root, path string) string {
	path = unescapePath(path)
	full := filepath.Join(root, filepath.FromSlash(path))
	info, err := os.Stat(full)
	if err == nil && info.IsDir() {
		full = filepath.Join(full, "index.html")
		_, err = os.Stat(full)
	} else if strings.HasSuffix(path, "/") {
		return missing
	}
	if err != nil {
		return missing
	}
	text, err := os.ReadFile(full)
	if err != nil {
		return err.Error()
	}
	return "200 " + string(text)
}
