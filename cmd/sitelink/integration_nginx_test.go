//go:build integration && linux

package main_test

import (
	"bufio"
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
)

// nginxConf is the plainest configuration that serves a directory. Arguments:
// the user line, a directory for nginx's own files, address, docroot.
const nginxConf = `%[1]s
daemon off;
worker_processes 1;
pid %[2]s/nginx.pid;
error_log %[2]s/error.log;
events {}
http {
	access_log off;
	client_body_temp_path %[2]s/body;
	proxy_temp_path %[2]s/proxy;
	fastcgi_temp_path %[2]s/fastcgi;
	uwsgi_temp_path %[2]s/uwsgi;
	scgi_temp_path %[2]s/scgi;
	server {
		listen %[3]s;
		server_name localhost;
		root "%[4]s";
		index index.html;
	}
}
`

// nginx is a running server and one keep-alive connection to it. Not safe for
// concurrent use.
type nginx struct {
	addr string
	conn net.Conn
	br   *bufio.Reader
}

// answer is what nginx finally says after its own redirects.
type answer struct {
	first  int    // status of the first answer
	status int    // status of the last
	final  string // path and query of the last request
}

func (a answer) String() string {
	if a.first == a.status {
		return fmt.Sprint(a.status)
	}
	return fmt.Sprintf("%d>%d %s", a.first, a.status, clip(a.final))
}

// startNginx serves docroot on a free loopback port until the test ends. Its
// workers run unprivileged, so that file modes mean what they say.
func startNginx(t *testing.T, docroot string) *nginx {
	t.Helper()
	bin, err := exec.LookPath("nginx")
	if err != nil {
		bin = "/usr/sbin/nginx" // not in every user's PATH
		if _, err := os.Stat(bin); err != nil {
			t.Fatal("nginx is missing: apt-get install nginx-light")
		}
	}
	own := t.TempDir()
	user := ""
	if os.Getuid() == 0 {
		user = "user nobody nogroup;"
		openToAll(t, own)
	}
	for try := 1; ; try++ {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := l.Addr().String()
		l.Close() // another process may take it before nginx does: hence the tries
		conf := filepath.Join(own, "nginx.conf")
		if err := os.WriteFile(conf, fmt.Appendf(nil, nginxConf, user, own, addr, docroot), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(bin, "-p", own, "-c", conf, "-e", filepath.Join(own, "error.log"))
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
		out := new(strings.Builder)
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatalf("start nginx: %v", err)
		}
		exited := make(chan struct{})
		go func() { cmd.Wait(); close(exited) }()
		stop := func() { cmd.Process.Signal(syscall.SIGTERM); <-exited }
		if waitListening(addr, exited) {
			n := &nginx{addr: addr}
			t.Cleanup(func() { n.hangUp(); stop() })
			return n
		}
		stop()
		if try == 3 {
			t.Fatalf("nginx does not listen on %s: %s", addr, out)
		}
	}
}

// waitListening waits until addr accepts connections; false when the server
// has exited or ten seconds have passed.
func waitListening(addr string, exited <-chan struct{}) bool {
	for range 200 {
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
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// ask requests target and follows redirects within the server.
func (n *nginx) ask(t *testing.T, target string) answer {
	t.Helper()
	a := answer{final: target}
	for hop := 0; ; hop++ {
		status, location, err := n.get(a.final)
		if err != nil {
			// nginx closes an idle or worn-out connection: once more on a new one.
			n.hangUp()
			if status, location, err = n.get(a.final); err != nil {
				t.Fatalf("ask nginx for %s: %v", clip(a.final), err)
			}
		}
		a.status = status
		if hop == 0 {
			a.first = status
		}
		if status < 300 || status >= 400 {
			return a
		}
		next, ok := strings.CutPrefix(location, "http://"+n.addr)
		if !ok || hop == 10 {
			t.Fatalf("ask nginx for %s: redirect %d leads to %q", clip(target), hop+1, location)
		}
		a.final = next
	}
}

// get sends target byte for byte: net/http's client would normalise it.
func (n *nginx) get(target string) (status int, location string, err error) {
	if n.conn == nil {
		if n.conn, err = net.Dial("tcp", n.addr); err != nil {
			return 0, "", err
		}
		n.br = bufio.NewReaderSize(n.conn, 64<<10)
	}
	n.conn.SetDeadline(time.Now().Add(30 * time.Second))
	// A server that refuses the request line may close before it has read all
	// of it; its answer counts, not the broken pipe.
	_, sendErr := io.WriteString(n.conn, "GET "+target+" HTTP/1.1\r\nHost: "+n.addr+"\r\n\r\n")
	resp, err := http.ReadResponse(n.br, nil)
	if err != nil {
		if sendErr != nil {
			err = sendErr
		}
		return 0, "", err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if resp.Close {
		n.hangUp()
	}
	return resp.StatusCode, resp.Header.Get("Location"), err
}

func (n *nginx) hangUp() {
	if n.conn != nil {
		n.conn.Close()
		n.conn = nil
	}
}

// clip shortens s for a message.
func clip(s string) string {
	if len(s) > 100 {
		return fmt.Sprintf("%s… (%d bytes)", s[:80], len(s))
	}
	return s
}
