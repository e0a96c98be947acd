//go:build integration && linux

package main_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// software is one of the web servers: how its plainest configuration looks and
// how it is started with it, in the foreground.
type software struct {
	profile string // the profile that describes it
	command string
	pkg     string // the Debian package
	version []string
	conf    func(site) string
	args    func(conf string, at site) []string
}

// site is what a server is to serve, and where.
type site struct {
	docroot string
	list    bool   // directories without index file answer with a listing
	rules   bool   // .htaccess files are read
	types   bool   // files get the types that Debian's packages configure
	own     string // a directory for the server's own files
	port    string
}

// servers are four servers. The profiles of their names predict their answers.
var servers = []software{nginxServer, apacheServer, caddyServer, lighttpdServer}

var nginxServer = software{
	profile: "nginx", command: "nginx", pkg: "nginx-light", version: []string{"-v"},
	conf: func(s site) string {
		return fmt.Sprintf(`daemon off;
worker_processes 1;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events {}
http {
	access_log off;
	%[5]s
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	server {
		listen 127.0.0.1:%[2]s;
		server_name localhost;
		root "%[3]s";
		index index.html;
		autoindex %[4]s;
	}
}
`, s.own, s.port, s.docroot, pick(s.list, "on", "off"), pick(s.types, "include /etc/nginx/mime.types;", ""))
	},
	args: func(conf string, s site) []string {
		return []string{"-p", s.own, "-c", conf, "-e", filepath.Join(s.own, "error.log")}
	},
}

// apacheRules are the modules with directives for .htaccess files.
const apacheRules = `LoadModule rewrite_module /usr/lib/apache2/modules/mod_rewrite.so
LoadModule alias_module /usr/lib/apache2/modules/mod_alias.so`

// apacheServer has what httpd.conf as shipped by the project has, without its
// Indexes.
var apacheServer = software{
	profile: "apache", command: "apache2", pkg: "apache2-bin", version: []string{"-v"},
	conf: func(s site) string {
		return fmt.Sprintf(`ServerRoot "%[1]s"
ServerName 127.0.0.1:%[2]s
Listen 127.0.0.1:%[2]s
PidFile "%[1]s/httpd.pid"
DefaultRuntimeDir "%[1]s"
ErrorLog "%[1]s/error.log"
TypesConfig %[7]s
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
LoadModule autoindex_module /usr/lib/apache2/modules/mod_autoindex.so
%[6]s
DocumentRoot "%[3]s"
<Directory />
	AllowOverride None
	Require all denied
</Directory>
<Directory "%[3]s">
	Options FollowSymLinks %[4]s
	AllowOverride %[5]s
	Require all granted
</Directory>
DirectoryIndex index.html
<FilesMatch "^\.ht">
	Require all denied
</FilesMatch>
`, s.own, s.port, s.docroot, pick(s.list, "Indexes", ""), pick(s.rules, "All", "None"), pick(s.rules, apacheRules, ""),
			pick(s.types, "/etc/mime.types", "/dev/null"))
	},
	args: func(conf string, s site) []string {
		return []string{"-d", s.own, "-f", conf, "-D", "FOREGROUND"}
	},
}

var caddyServer = software{
	profile: "caddy", command: "caddy", pkg: "caddy", version: []string{"version"},
	conf: func(s site) string {
		return fmt.Sprintf(`{
	admin off
}
http://:%[1]s {
	bind 127.0.0.1
	root * "%[2]s"
	file_server %[3]s
}
`, s.port, s.docroot, pick(s.list, "browse", ""))
	},
	args: func(conf string, s site) []string {
		return []string{"run", "--adapter", "caddyfile", "--config", conf}
	},
}

var lighttpdServer = software{
	profile: "lighttpd", command: "lighttpd", pkg: "lighttpd", version: []string{"-v"},
	conf: func(s site) string {
		return fmt.Sprintf(`server.document-root = "%[3]s"
server.bind = "127.0.0.1"
server.port = %[2]s
server.errorlog = "%[1]s/error.log"
index-file.names = ( "index.html" )
dir-listing.activate = "%[4]s"
%[5]s
`, s.own, s.port, s.docroot, pick(s.list, "enable", "disable"),
			pick(s.types, `include_shell "/usr/share/lighttpd/create-mime.conf.pl"`, `mimetype.assign = ( ".html" => "text/html" )`))
	},
	args: func(conf string, s site) []string {
		return []string{"-D", "-f", conf}
	},
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// find returns the path of the server's program.
func (w software) find(t *testing.T) string {
	t.Helper()
	bin, err := exec.LookPath(w.command)
	if err != nil {
		bin = "/usr/sbin/" + w.command // not in every user's PATH
		if _, err := os.Stat(bin); err != nil {
			t.Fatalf("%s is missing: apt-get install %s", w.command, w.pkg)
		}
	}
	return bin
}

// about returns the server's own words about its version.
func (w software) about(t *testing.T) string {
	t.Helper()
	out, err := exec.Command(w.find(t), w.version...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v", w.command, w.version, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}

// start serves a site on a free loopback port until the test ends. The server
// runs unprivileged, so that file modes mean what they say.
func (w software) start(t *testing.T, s site) *server {
	t.Helper()
	bin := w.find(t)
	s.own = t.TempDir()
	attributes := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if os.Getuid() == 0 {
		const nobody = 65534
		attributes.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		openToAll(t, s.own)
		testkit.Check(t, os.Chown(s.own, nobody, nobody))
	}
	for try := 1; ; try++ {
		addr := testkit.FreePort(t) // another test may take it before the server does: hence the tries
		_, s.port, _ = net.SplitHostPort(addr)
		conf := filepath.Join(s.own, "server.conf")
		testkit.Check(t, os.WriteFile(conf, []byte(w.conf(s)), 0o644))
		cmd := exec.Command(bin, w.args(conf, s)...)
		cmd.Dir = s.own
		cmd.Env = []string{"HOME=" + s.own, "PATH=" + os.Getenv("PATH")}
		cmd.SysProcAttr = attributes
		out := new(strings.Builder)
		cmd.Stdout, cmd.Stderr = out, out
		cmd.WaitDelay = time.Second
		if err := cmd.Start(); err != nil {
			t.Fatalf("start %s: %v", w.command, err)
		}
		exited := make(chan struct{})
		go func() { cmd.Wait(); close(exited) }()
		stop := func() {
			cmd.Process.Signal(syscall.SIGTERM)
			select {
			case <-exited:
			case <-time.After(2 * time.Second): // it waits for data from a pipe
			}
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its group: workers too
			<-exited
		}
		if waitListening(addr, exited) {
			n := &server{software: w, addr: addr}
			t.Cleanup(func() { n.hangUp(); stop() })
			return n
		}
		stop()
		if try == 3 {
			log, _ := os.ReadFile(filepath.Join(s.own, "error.log"))
			t.Fatalf("%s does not listen on %s: %s%s", w.command, addr, out, log)
		}
	}
}

// waitListening waits until addr accepts connections; false when the server
// has exited or a minute has passed.
func waitListening(addr string, exited <-chan struct{}) bool {
	for range 1200 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return true
		}
		select {
		case <-exited:
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
	return false
}

// openToAll lets every user reach dir, which t.TempDir made for one.
func openToAll(t *testing.T, dir string) {
	t.Helper()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		testkit.Check(t, os.Chmod(d, 0o755))
	}
}
