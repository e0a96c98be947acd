//go:build integration

package move

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
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

const nginxConfig = `daemon off;
pid %[1]s/pid;
error_log %[1]s/error.log;
events {}
http {
access_log off;
client_body_temp_path %[1]s/body;
proxy_temp_path %[1]s/proxy;
fastcgi_temp_path %[1]s/fastcgi;
uwsgi_temp_path %[1]s/uwsgi;
scgi_temp_path %[1]s/scgi;
server {
listen %[2]s;
absolute_redirect off;
root %[1]s/root;
}
}
`

const caddyConfig = `{
admin off
}
http://%[2]s {
root * %[1]s/root
file_server
}
`

// hosts are the hosts on which moves are tried, by their profiles: servers with their
// configurations and arguments, and the engines for rules of services.
var hosts = []struct {
	profile, config string
	command         []string // CONF is the configuration, DIR its directory
	oracle          string
	keeps           bool // mv writes rules for it
}{
	{"apache", apacheConfig, []string{"apache2", "-f", "CONF", "-DFOREGROUND"}, "", true},
	{"nginx", nginxConfig, []string{"nginx", "-p", "DIR", "-c", "CONF", "-e", "DIR/error.log"}, "", false},
	{"caddy", caddyConfig, []string{"caddy", "run", "--adapter", "caddyfile", "--config", "CONF"}, "", false},
	{"netlify", "", nil, "netlify.cjs", true},
	{"cloudflare-pages", "", nil, "cloudflare.mjs", true},
}

// hostFiles are the files of a site. Each has its own text.
var hostFiles = []string{"index.html", "docs/index.html", "docs/index.xml", "docs/deep/p q.html", "docs/deep/index.html", "page.html", "c++.html", "(x)/index.html", "(x)/feed.xml",
	"ä/index.html", "q$1.html", "img/a.svg", "docs2.html", "stay/index.html"}

// hostMoves are moves that follow each other.
var hostMoves = []Pair{{"page.html", "text.html"}, {"docs", "guide"}, {"(x)", "[y]"}, {"ä", "ö"}, {"c++.html", "cpp.html"}, {"q$1.html", "r$1&.html"}, {"img/a.svg", "img/b c.svg"}}

// TestMovesOnHosts: after moves, what answered before on the host still answers with the
// same text, with the same query, with and without a slash; or mv has said that it is lost.
func TestMovesOnHosts(t *testing.T) {
	for _, h := range hosts {
		t.Run(h.profile, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "moves-") // not below a directory that only root may read
			if err == nil {
				err = os.Chmod(dir, 0o755)
			}
			testkit.Check(t, err)
			t.Cleanup(func() { os.RemoveAll(dir) })
			root := filepath.Join(dir, "root")
			var addresses []string
			for _, name := range hostFiles {
				put(t, root, name, "<!doctype html><title>"+name+"</title>")
				address := rulePath("/" + strings.TrimSuffix(name, "index.html"))
				addresses = append(addresses, address, address+"?x=1")
				if bare := strings.TrimRight(strings.TrimSuffix(address, ".html"), "/"); bare != address && bare != "" {
					addresses = append(addresses, bare, bare+"?x=1")
				}
			}
			ask := func(addresses []string) []string { return askOracle(t, h.oracle, root, addresses) }
			if h.command != nil {
				address := testkit.FreePort(t)
				put(t, dir, "conf", fmt.Sprintf(h.config, dir, address))
				start(t, dir, h.command)
				ask = func(addresses []string) (answers []string) {
					for _, a := range addresses {
						answers = append(answers, askServer(t, "http://"+address+a))
					}
					return answers
				}
			}
			before := ask(addresses)
			var lost []string
			for _, mv := range hostMoves {
				p, err := planFor(t, root, h.profile, Options{Old: mv.Old, New: mv.New})
				if err != nil {
					t.Fatalf("%s: %v", mv.Old, err)
				}
				testkit.Check(t, p.Set.Apply(t.Context(), "test"))
				lost = append(lost, p.Lost...)
				if len(p.Broken) > 0 || h.keeps && len(p.Lost) > 0 {
					t.Errorf("%s: broken %v, lost %v", mv.Old, p.Broken, p.Lost)
				}
			}
			answered := 0
			for i, now := range ask(addresses) {
				plain, _, _ := strings.Cut(addresses[i], "?")
				if !strings.HasPrefix(before[i], "200 ") {
					continue
				}
				answered++
				said := slices.ContainsFunc(lost, func(l string) bool { return strings.TrimSuffix(rulePath(l), "/") == strings.TrimSuffix(plain, "/") })
				if now != before[i] && !said || now == before[i] && said {
					t.Errorf("%s: %q, before %q, lost %v", addresses[i], now, before[i], said)
				}
			}
			if answered < 2*len(hostFiles) {
				t.Errorf("only %d addresses answered: the test tests nothing", answered)
			}
			if t.Failed() {
				for _, name := range []string{".htaccess", "_redirects"} {
					if text, err := os.ReadFile(filepath.Join(root, name)); err == nil {
						t.Logf("%s:\n%s", name, text)
					}
				}
			}
		})
	}
}

// start runs a server until the end of the test.
func start(t *testing.T, dir string, command []string) {
	t.Helper()
	args := slices.Clone(command)
	for i := range args {
		args[i] = strings.NewReplacer("CONF", filepath.Join(dir, "conf"), "DIR", dir).Replace(args[i])
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", args[0], err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil { // not Kill: the server's children would stay
			t.Error(err)
		}
		cmd.Wait()
	})
}

// askServer returns the status and the text of an answer, after redirects. It waits until
// the server runs.
func askServer(t *testing.T, url string) string {
	t.Helper()
	client := &http.Client{Timeout: time.Minute}
	for limit := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		response, err := client.Get(url)
		if err != nil {
			if time.Now().After(limit) {
				t.Fatal(err)
			}
			continue
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		testkit.Check(t, err)
		return fmt.Sprintf("%d %s", response.StatusCode, text)
	}
}

// askOracle returns what a service answers, after redirects: its own software decides
// about rules, and files answer with and without .html and a slash at the end.
func askOracle(t *testing.T, script, root string, addresses []string) []string {
	t.Helper()
	npm := os.Getenv("SITELINK_NPM")
	if npm == "" {
		t.Fatal("SITELINK_NPM is not set: bash .ci/run installs the packages and sets it")
	}
	rules, err := os.ReadFile(filepath.Join(root, "_redirects"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	at, answers := slices.Clone(addresses), make([]string, len(addresses))
	for range 3 { // redirects
		in, err := json.Marshal([]any{map[string]any{"rules": string(rules), "targets": at}})
		testkit.Check(t, err)
		name, err := filepath.Abs(filepath.Join("..", "..", "redirect", "testdata", "oracle", script))
		testkit.Check(t, err)
		cmd := exec.Command("node", name)
		cmd.Dir, cmd.Env, cmd.Stdin = npm, append(os.Environ(), "SITELINK_MODULES="+filepath.Join(npm, "node_modules")), bytes.NewReader(in)
		out, err := cmd.Output()
		var hits [][]*struct {
			To     string
			Status int
		}
		if err == nil {
			err = json.Unmarshal(out, &hits)
		}
		if err != nil {
			t.Fatalf("node %s: %v", script, err)
		}
		for i, hit := range hits[0] {
			if hit != nil && hit.Status >= 300 && hit.Status < 400 && fileAnswer(root, at[i]) == "404" {
				at[i] = strings.TrimPrefix(hit.To, "https://h.example")
			}
			answers[i] = fileAnswer(root, at[i])
		}
	}
	return answers
}

// fileAnswer returns the answer of the files alone.
func fileAnswer(root, address string) string {
	address, _, _ = strings.Cut(address, "?")
	r, err := http.NewRequest("GET", "https://h.example"+address, nil)
	if err != nil {
		return "400 " + err.Error()
	}
	for _, suffix := range []string{"", ".html", "/index.html"} {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path.Clean(r.URL.Path)+suffix)))
		if err == nil {
			return "200 " + string(text)
		}
	}
	return "404"
}
