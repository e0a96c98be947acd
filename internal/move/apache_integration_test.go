//go:build integration

package move

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testport"
)

const apacheConfig = `ServerName h.example
Listen %[2]s
PidFile %[1]s/pid
ErrorLog %[1]s/error.log
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule alias_module /usr/lib/apache2/modules/mod_alias.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
User www-data
Group www-data
DocumentRoot %[1]s/root
<Directory %[1]s/root>
AllowOverride All
Require all granted
</Directory>
`

// TestApacheMoves: Apache answers the old addresses after moves, with the rules that mv
// writes into .htaccess.
func TestApacheMoves(t *testing.T) {
	dir, err := os.MkdirTemp("", "apache-moves-") // not below a directory that only root may read
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	old := []string{"/c++.html", "/a b.html", "/q$1.html", "/(x)/", "/ä/", "/docs/", "/docs/deep/p q.html", "/docs/a.html"}
	rules := []Pair{
		{"/c++.html", "/cpp.html"}, {"/a b.html", "/c d.html"}, {"/q$1.html", "/r$1&.html"}, {"/(x)/", "/[y]/"}, {"/ä/", "/ö/"}, {"/docs/*", "/guide/*"},
	}
	now := []string{"/cpp.html", "/c d.html", "/r$1&.html", "/[y]/index.html", "/ö/index.html", "/guide/index.html", "/guide/deep/p q.html", "/guide/a.html"}
	for _, name := range now {
		put(t, filepath.Join(dir, "root"), name, name)
	}
	_, text, err := apacheLines(nil, rules)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "root/.htaccess", text)
	put(t, dir, "root/docs2.html", "unmoved")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	address := testport.Free(t)
	put(t, dir, "apache.conf", fmt.Sprintf(apacheConfig, dir, address))
	cmd := exec.Command("apache2", "-f", filepath.Join(dir, "apache.conf"), "-DFOREGROUND")
	if err := cmd.Start(); err != nil {
		t.Fatalf("start apache2: %v", err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil { // not Kill: the server's children would stay
			t.Error(err)
		}
		cmd.Wait()
	})
	client := &http.Client{Timeout: time.Minute}
	for i, path := range append(old, "/docs2.html") {
		want := "unmoved"
		if i < len(now) {
			want = now[i]
		}
		if got := ask(t, client, "http://"+address+rulePath(path)); got != "200 "+want {
			t.Errorf("%s: %q, want %q, with\n%s", path, got, want, text)
		}
	}
}

// ask returns the status and the text of an answer, after redirects. It waits until the
// server runs.
func ask(t *testing.T, client *http.Client, url string) string {
	t.Helper()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		response, err := client.Get(url)
		if err != nil {
			if time.Now().After(limit) {
				t.Fatal(err)
			}
			continue
		}
		text := make([]byte, 1000)
		n, _ := response.Body.Read(text)
		response.Body.Close()
		return fmt.Sprintf("%d %s", response.StatusCode, text[:n])
	}
}
