//go:build integration && linux

package main_test

import (
	"bufio"
	"encoding/json"
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
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/weburl"
)

// webServer is a running server of a web host's makers, and one keep-alive
// connection to it. Not safe for concurrent use.
type webServer struct {
	addr string
	host string // what the Host header says
	conn net.Conn
	br   *bufio.Reader
}

// hop is one answer.
type hop struct {
	status   int
	location string // path and query when the redirect stays on the server
	body     string
}

// webAnswer is the last answer after redirects within the server.
type webAnswer struct {
	status int
	final  string // path and query of the last request
}

func (a webAnswer) String() string { return fmt.Sprintf("%d %s", a.status, clip(a.final)) }

func (h hop) isRedirect() bool { return h.status >= 300 && h.status < 400 && h.location != "" }

// npmFolder is where the hosts' packages are installed.
func npmFolder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SITELINK_NPM")
	if dir == "" {
		t.Skip("SITELINK_NPM is not set: it names a folder with the packages of .ci/run's npm_tools")
	}
	return dir
}

// npmVersion returns the version of an installed package.
func npmVersion(t *testing.T, name string) string {
	t.Helper()
	data := testkit.Read(t, filepath.Join(npmFolder(t), "node_modules", filepath.FromSlash(name), "package.json"))
	var p struct{ Version string }
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p.Version
}

// startNode runs a script of testdata/hosts on docroot until the test ends.
func startNode(t *testing.T, script, docroot, settings string) *webServer {
	t.Helper()
	cmd := exec.Command("node", filepath.Join("testdata/hosts", script), docroot, settings)
	cmd.Env = append(os.Environ(), "SITELINK_NPM="+npmFolder(t), "NO_UPDATE_NOTIFIER=1")
	var said strings.Builder // what the software writes about hostile requests is of interest only if the test fails
	cmd.Stderr = &said
	out := testkit.Must(cmd.StdoutPipe())(t)
	t.Cleanup(func() {
		if text := said.String(); t.Failed() && text != "" {
			t.Logf("%s wrote:\n%.10000s", script, text)
		}
	})
	run(t, cmd)
	var port int
	if _, err := fmt.Fscanf(out, "port %d\n", &port); err != nil {
		t.Fatalf("%s does not tell its port: %v", script, err)
	}
	go io.Copy(io.Discard, out)
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	return newWebServer(t, addr, addr)
}

// startListener runs a program that takes its port as an argument: command
// makes it. It is tried three times, for another process may take the port.
func startListener(t *testing.T, command func(port string) *exec.Cmd) *webServer {
	t.Helper()
	for try := 1; ; try++ {
		addr := testkit.FreePort(t)
		_, port, _ := net.SplitHostPort(addr)
		cmd := command(port)
		out := new(strings.Builder)
		cmd.Stdout, cmd.Stderr = out, out
		if waitListening(addr, run(t, cmd)) {
			return newWebServer(t, addr, addr)
		}
		if try == 3 {
			t.Fatalf("%s does not listen on %s:\n%s", cmd.Path, addr, out)
		}
	}
}

// run starts cmd in a process group of its own, which is ended with the test.
func run(t *testing.T, cmd *exec.Cmd) (exited <-chan struct{}) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", cmd.Path, err)
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(5 * time.Second):
		}
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-done
	})
	return done
}

func newWebServer(t *testing.T, addr, host string) *webServer {
	s := &webServer{addr: addr, host: host}
	t.Cleanup(s.hangUp)
	return s
}

// startWrangler serves docroot as Cloudflare Pages does.
func startWrangler(t *testing.T, docroot string) *webServer {
	t.Helper()
	bin := filepath.Join(npmFolder(t), "node_modules/.bin/wrangler")
	s := startListener(t, func(port string) *exec.Cmd {
		home := t.TempDir()
		cmd := exec.Command(bin, "pages", "dev", docroot, "--ip", "127.0.0.1", "--port", port, "--inspector-port", "0",
			"--compatibility-date", "2026-04-01", "--live-reload=false", "--show-interactive-dev-session=false", "--log-level", "error")
		cmd.Dir = home
		// Neither metrics nor the description of a real request: no network.
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "CI=1", "WRANGLER_SEND_METRICS=false",
			"CLOUDFLARE_CF_FETCH_ENABLED=false", "WRANGLER_LOG_PATH="+filepath.Join(home, "log"))
		return cmd
	})
	// The front listens before the worker behind it is there.
	for range 600 {
		if h, err := s.get("/"); err == nil && h.status < 500 {
			return s
		}
		s.hangUp()
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("wrangler does not answer")
	return nil
}

// startAzure serves docroot with the emulator of Azure Static Web Apps.
func startAzure(t *testing.T, docroot string) *webServer {
	t.Helper()
	return startListener(t, func(port string) *exec.Cmd {
		home := t.TempDir()
		cmd := exec.Command(filepath.Join(npmFolder(t), "node_modules/.bin/swa"), "start", docroot, "--swa-config-location", docroot, "--host", "127.0.0.1", "--port", port)
		cmd.Dir = home
		cmd.Env = append(os.Environ(), "HOME="+home, "NO_UPDATE_NOTIFIER=1")
		return cmd
	})
}

// startHugo serves docroot by "hugo server", as the static files of a site
// that has no pages of its own.
func startHugo(t *testing.T, docroot string) *webServer {
	t.Helper()
	site := t.TempDir()
	const config = "baseURL = 'http://127.0.0.1/'\ndisableKinds = ['page', 'home', 'section', 'taxonomy', 'term', 'RSS', 'sitemap', 'robotsTXT', '404']\n"
	testkit.Check(t, os.WriteFile(filepath.Join(site, "config.toml"), []byte(config), 0o644))
	// Not os.CopyFS: it refuses names that are not UTF-8. Symbolic links are
	// followed, because hugo accepts none; cp fails for those that lead nowhere.
	out, err := exec.Command("cp", "-rL", docroot, filepath.Join(site, "static")).CombinedOutput()
	if err != nil && !strings.Contains(string(out), "No such file or directory") {
		t.Fatalf("copy the docroot: %v: %s", err, out)
	}
	return startListener(t, func(port string) *exec.Cmd {
		cmd := exec.Command("hugo", "server", "--bind", "127.0.0.1", "--port", port, "--watch=false", "--disableLiveReload", "--source", site)
		cmd.Env = append(os.Environ(), "HUGO_CACHEDIR="+t.TempDir())
		return cmd
	})
}

// startS3 uploads docroot to a bucket with a website configuration.
func startS3(t *testing.T, docroot string) *webServer {
	t.Helper()
	s := startNode(t, "s3.mjs", docroot, "")
	s.host = "docroot.s3-website-us-east-1.amazonaws.com"
	return s
}

// ask requests target and follows redirects within the server.
func (s *webServer) ask(t *testing.T, target string) webAnswer {
	t.Helper()
	a := webAnswer{final: target}
	for n := 0; ; n++ {
		h := s.once(t, a.final)
		a.status = h.status
		if !h.isRedirect() || n == 20 {
			return a // too many redirects
		}
		if !strings.HasPrefix(h.location, "/") {
			return webAnswer{h.status, h.location} // to another host
		}
		a.final = h.location
	}
}

// once requests target, a second time if the server has hung up.
func (s *webServer) once(t *testing.T, target string) hop {
	t.Helper()
	h, err := s.get(target)
	if err != nil {
		s.hangUp()
		if h, err = s.get(target); err != nil {
			s.hangUp()
			t.Fatalf("ask for %s: %v", clip(target), err)
		}
	}
	return h
}

// get sends target byte for byte.
func (s *webServer) get(target string) (hop, error) {
	if s.conn == nil {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			return hop{}, err
		}
		s.conn, s.br = conn, bufio.NewReaderSize(conn, 64<<10)
	}
	s.conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := fmt.Fprintf(s.conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: text/html\r\n\r\n", target, s.host); err != nil {
		return hop{}, err
	}
	resp, err := http.ReadResponse(s.br, nil)
	if err != nil {
		return hop{}, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.Close {
		s.hangUp()
	}
	return hop{resp.StatusCode, s.within(target, resp.Header.Get("Location")), string(body)}, err
}

// within resolves a Location as a browser does; one that stays on the server
// becomes path and query. A header that is not UTF-8 is read as Latin-1.
func (s *webServer) within(target, location string) string {
	if location == "" {
		return ""
	}
	if !utf8.ValidString(location) {
		runes := make([]rune, len(location))
		for i := range len(location) {
			runes[i] = rune(location[i])
		}
		location = string(runes)
	}
	origin := "http://" + s.host
	base, err := weburl.Parse(origin + target)
	if err != nil {
		return location
	}
	u, err := base.Resolve(location)
	if err != nil {
		return location
	}
	path, ok := strings.CutPrefix(u.WithoutFragment(), origin)
	if !ok {
		path, ok = strings.CutPrefix(u.WithoutFragment(), "http://"+s.addr)
	}
	if !ok {
		return u.WithoutFragment()
	}
	return path
}

func (s *webServer) hangUp() {
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}

func hugoVersion(t *testing.T) string {
	t.Helper()
	out := testkit.Must(exec.Command("hugo", "version").Output())(t)
	version, _, _ := strings.Cut(string(out), " linux")
	return strings.Replace(version, "hugo v", "hugo server ", 1)
}
