//go:build integration && linux

package testkit

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// WordPress is a running blog. Any failure fails the test. Its methods are safe for
// concurrent use.
//
// A server of ours is between client and PHP. It serves the pages of the test, on
// the blog's own host and port: WordPress fetches a source on the
// loopback only there. And it records the calls of xmlrpc.php.
type WordPress struct {
	// URL is the blog's address, http://localhost:PORT.
	URL string
	// Version is WordPress's.
	Version string

	t     testing.TB
	dir   string // of WordPress
	mu    sync.Mutex
	calls []Exchange
}

// Exchange is one call of xmlrpc.php.
type Exchange struct {
	Request, Response []byte // bodies
	Status            int
}

// StartWordPress starts a blog, which ends with the test. pages serves all paths below
// /src/. The test is skipped if WordPress is not installed:
// SITELINK_WORDPRESS names the directory usr/share/wordpress of Debian's package.
func StartWordPress(t testing.TB, pages http.Handler) *WordPress {
	t.Helper()
	program := os.Getenv("SITELINK_WORDPRESS")
	if program == "" {
		t.Skip("SITELINK_WORDPRESS is not set: it names the directory usr/share/wordpress of Debian's package, unpacked by dpkg -x")
	}
	for _, command := range []string{"php", "mariadbd", "mariadb-install-db"} {
		if _, err := exec.LookPath(command); err != nil {
			t.Skipf("%s is not installed", command)
		}
	}
	work := t.TempDir()
	s := &WordPress{t: t, dir: path.Join(work, "wordpress")}
	run(t, "cp", "-r", program, s.dir)
	socket := database(t, work)

	php := FreePort(t)
	front := httptest.NewServer(s.front(pages, php))
	t.Cleanup(front.Close)
	s.URL = strings.Replace(front.URL, "127.0.0.1", "localhost", 1)
	s.configure(socket)
	s.Version = s.PHP(`echo get_bloginfo('version');`)

	command := exec.Command("php", "-q", "-d", "disable_functions=sleep", "-S", php, "-t", s.dir)
	command.Env = append(os.Environ(), "PHP_CLI_SERVER_WORKERS=4")
	background(t, command)
	eventually(t, "PHP answers", func() bool {
		conn, err := net.DialTimeout("tcp", php, time.Second)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	return s
}

// front serves the pages and passes all other requests to PHP.
func (s *WordPress) front(pages http.Handler, php string) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: php})
			r.Out.Host = r.In.Host
		},
		// The installation requests a page before PHP runs, to find out whether
		// it can use pretty permalinks. It must not.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	mux := http.NewServeMux()
	mux.Handle("/src/", pages)
	mux.Handle("/", proxy)
	mux.HandleFunc("/xmlrpc.php", func(w http.ResponseWriter, r *http.Request) {
		request, err := io.ReadAll(r.Body)
		if err != nil {
			s.t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(request))
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r)
		s.mu.Lock()
		s.calls = append(s.calls, Exchange{request, answer.Body.Bytes(), answer.Code})
		s.mu.Unlock()
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		w.Write(answer.Body.Bytes())
	})
	return mux
}

// Last returns the last call of xmlrpc.php.
func (s *WordPress) Last() Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) == 0 {
		s.t.Fatal("xmlrpc.php was not called")
	}
	return s.calls[len(s.calls)-1]
}

// configure writes the configuration and installs the blog.
func (s *WordPress) configure(socket string) {
	s.t.Helper()
	config := fmt.Sprintf(`<?php
define('WP_HOME', '%s'); define('WP_SITEURL', WP_HOME);
define('DB_NAME', 'wp'); define('DB_USER', 'root'); define('DB_PASSWORD', ''); define('DB_HOST', 'localhost:%s');
define('DISABLE_WP_CRON', true); define('WP_HTTP_BLOCK_EXTERNAL', true); define('WP_ACCESSIBLE_HOSTS', 'localhost');
foreach (array('AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE') as $k) { define($k . '_KEY', 'test'); define($k . '_SALT', 'test'); }
$table_prefix = 'wp_';
// WordPress sleeps a second before it fetches a source. Not here.
function sleep(int $seconds): int { return 0; }
if (!defined('ABSPATH')) { define('ABSPATH', __DIR__ . '/'); }
require_once ABSPATH . 'wp-settings.php';
`, s.URL, socket)
	if err := os.WriteFile(path.Join(s.dir, "wp-config.php"), []byte(config), 0o644); err != nil {
		s.t.Fatal(err)
	}
	s.script(`define('WP_INSTALLING', true); require '` + s.dir + `/wp-load.php'; require ABSPATH . 'wp-admin/includes/upgrade.php';
function wp_mail() { return true; }
wp_install('Test', 'admin', 'a@example.org', true, '', 'pw');`)
}

// PHP runs code within the blog and returns what it prints.
func (s *WordPress) PHP(code string) string {
	s.t.Helper()
	return s.script("require '" + s.dir + "/wp-load.php'; " + code)
}

// script runs PHP from the command line, as a request for the blog's host.
func (s *WordPress) script(code string) string {
	s.t.Helper()
	host := strings.TrimPrefix(s.URL, "http://")
	command := exec.Command("php", "-d", "display_errors=stderr", "-d", "disable_functions=sleep", "-r",
		"$_SERVER['HTTP_HOST'] = '"+host+"'; $_SERVER['REQUEST_URI'] = '/'; $_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1'; $_SERVER['REQUEST_METHOD'] = 'GET'; "+code)
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		s.t.Fatalf("php: %v\n%s%s", err, out, said.Bytes())
	}
	return string(out)
}

// Post publishes a post, with pings open or closed, and returns its address.
func (s *WordPress) Post(title string, open bool) string {
	s.t.Helper()
	status := "closed"
	if open {
		status = "open"
	}
	return s.URL + "/?p=" + s.PHP(fmt.Sprintf(
		`echo wp_insert_post(array('post_title' => '%s', 'post_content' => 'Text.', 'post_status' => 'publish', 'ping_status' => '%s'));`, title, status))
}

// Plugin adds PHP code that runs with every request from now on.
func (s *WordPress) Plugin(name, code string) {
	s.t.Helper()
	dir := path.Join(s.dir, "wp-content/mu-plugins")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path.Join(dir, name+".php"), []byte("<?php\n"+code+"\n"), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// database starts MariaDB with an empty database wp. It returns the socket.
func database(t testing.TB, work string) string {
	t.Helper()
	data, socket := path.Join(work, "data"), path.Join(work, "db.sock")
	var user []string
	if os.Geteuid() == 0 {
		user = []string{"--user=root"}
	}
	run(t, "mariadb-install-db", append(user, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")...)
	background(t, exec.Command("mariadbd", append([]string{"--no-defaults", "--datadir=" + data, "--socket=" + socket, "--pid-file=" + data + "/pid",
		"--skip-networking", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M"}, user...)...))
	eventually(t, "MariaDB answers", func() bool {
		return exec.Command("mariadb", "--no-defaults", "-S", socket, "-u", "root", "-e", "CREATE DATABASE wp").Run() == nil
	})
	return socket
}

// background runs a server until the test ends, with the processes it started.
func background(t testing.TB, command *exec.Cmd) {
	t.Helper()
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The process group has only what this test started.
		syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		command.Wait()
	})
}

func run(t testing.TB, name string, arguments ...string) {
	t.Helper()
	if out, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for range 1200 {
		if is() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("not within a minute: %s", what)
}
