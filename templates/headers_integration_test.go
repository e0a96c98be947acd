//go:build integration && linux

package templates

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/scan/endpoint"
	"github.com/sitelink/sitelink/internal/testkit"
)

// The four servers send exactly the endpoints, whatever their characters mean in
// their configurations (PB-13, PB-14, PB-16).
func TestHeadersOfServers(t *testing.T) {
	e := testkit.Must(NewEndpoints(`https://h.example/x?a=1&b="2"&c=%C3%A9&d=$1'%25{a}`, `https://h.example/wm?a=$remote_addr&b=%41,;c`))(t)
	snippet := func(profile string) string { return HeaderRules(profile, e)[0].Text }
	for _, s := range []struct {
		profile, command string
		args             []string
		conf             func(dir, addr string) string
	}{
		{"nginx", "nginx", []string{"-c", "CONF", "-p", "DIR"}, func(dir, addr string) string {
			user := ""
			if os.Geteuid() == 0 {
				user = "user root;\n"
			}
			return fmt.Sprintf("%sdaemon off;\npid %[2]s/pid;\nerror_log %[2]s/error.log;\nevents {}\nhttp {\naccess_log off;\ngeo $sitelink_dollar { default \"$\"; }\n"+
				"client_body_temp_path %[2]s/b;\nproxy_temp_path %[2]s/p;\nfastcgi_temp_path %[2]s/f;\nuwsgi_temp_path %[2]s/u;\nscgi_temp_path %[2]s/s;\n"+
				"server {\nlisten %[3]s;\nroot %[2]s/site;\n%[4]s}\n}\n", user, dir, addr, snippet("nginx"))
		}},
		{"apache", "apache2", []string{"-d", "DIR", "-f", "CONF", "-D", "FOREGROUND"}, func(dir, addr string) string {
			testkit.Check(t, os.WriteFile(filepath.Join(dir, "site", ".htaccess"), []byte(snippet("apache")), 0o644))
			modules := ""
			for _, m := range []string{"mpm_event", "authz_core", "headers"} {
				modules += fmt.Sprintf("LoadModule %s_module /usr/lib/apache2/modules/mod_%s.so\n", m, m)
			}
			return fmt.Sprintf("%sServerName localhost\nListen %s\nPidFile %[3]s/pid\nErrorLog %[3]s/error.log\nDocumentRoot %[3]s/site\n<Directory %[3]s/site>\nAllowOverride FileInfo\nRequire all granted\n</Directory>\n",
				modules, addr, dir)
		}},
		{"caddy", "caddy", []string{"run", "--config", "CONF", "--adapter", "caddyfile"}, func(dir, addr string) string {
			return fmt.Sprintf("{\nadmin off\n}\nhttp://%s {\nroot * %s/site\nfile_server\n%s}\n", addr, dir, snippet("caddy"))
		}},
		{"lighttpd", "lighttpd", []string{"-D", "-f", "CONF"}, func(dir, addr string) string {
			host, port, _ := net.SplitHostPort(addr)
			return fmt.Sprintf("server.modules = (\"mod_setenv\")\nserver.document-root = \"%s/site\"\nserver.bind = \"%s\"\nserver.port = %s\nindex-file.names = (\"index.html\")\n%s",
				dir, host, port, snippet("lighttpd"))
		}},
	} {
		t.Run(s.profile, func(t *testing.T) {
			if _, err := exec.LookPath(s.command); err != nil {
				t.Skip(s.command + " is not installed; .ci/run installs it")
			}
			dir, err := os.MkdirTemp("", "sitelink-headers-")
			testkit.Check(t, err)
			t.Cleanup(func() { os.RemoveAll(dir) })
			writeTree(t, dir, map[string]string{"site/index.html": "<title>t</title>"})
			// Servers that root starts read as other users.
			for _, name := range []string{dir, filepath.Join(dir, "site")} {
				testkit.Check(t, os.Chmod(name, 0o755))
			}
			testkit.Check(t, os.Chmod(filepath.Join(dir, "site/index.html"), 0o644))
			addr := testkit.FreePort(t)
			conf := filepath.Join(dir, "conf")
			testkit.Check(t, os.WriteFile(conf, []byte(s.conf(dir, addr)), 0o644))
			args := slices.Clone(s.args)
			for i := range args {
				args[i] = strings.NewReplacer("CONF", conf, "DIR", dir).Replace(args[i])
			}
			cmd := exec.Command(s.command, args...)
			cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
			testkit.Check(t, cmd.Start())
			t.Cleanup(func() {
				cmd.Process.Signal(syscall.SIGTERM)
				cmd.Wait()
				if t.Failed() {
					t.Log(out.String())
				}
			})
			var answer *http.Response
			for range 1200 {
				if answer, err = http.Get("http://" + addr + "/index.html"); err == nil {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			testkit.Check(t, err)
			answer.Body.Close()
			if got := answer.Header.Values("X-Pingback"); answer.StatusCode != 200 || len(got) != 1 || got[0] != e.Pingback {
				t.Errorf("status %d, X-Pingback %q, want %q", answer.StatusCode, got, e.Pingback)
			}
			if got, _ := endpoint.Links(strings.Join(answer.Header.Values("Link"), ", ")); len(got) != 1 || got[0] != (endpoint.HeaderLink{Target: e.Webmention, Rel: "webmention"}) {
				t.Errorf("Link %+v, want %q", got, e.Webmention)
			}
		})
	}
}
