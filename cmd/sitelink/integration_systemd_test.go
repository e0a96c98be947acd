//go:build integration && linux

package main

import (
	"bytes"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestSystemdSocket starts the command of the unit in the documentation as systemd does:
// by the first connection to its socket.
func TestSystemdSocket(t *testing.T) {
	activate, err := exec.LookPath("systemd-socket-activate")
	if err != nil {
		t.Fatal("systemd-socket-activate is missing: apt-get install systemd")
	}
	document := testkit.Read(t, filepath.Join("..", "..", "docs", "reference", "receiver.md"))
	_, line, found := strings.Cut(string(document), "\nExecStart=")
	line, _, _ = strings.Cut(line, "\n")
	if !found || !strings.HasPrefix(line, "/usr/bin/sitelink serve /srv/example.org ") || !strings.HasSuffix(line, " /var/lib/sitelink/mentions.db") {
		t.Fatalf("ExecStart=%s", line)
	}
	program := testkit.Must(exec.LookPath("sitelink"))(t)
	dir := t.TempDir()
	testkit.Write(t, filepath.Join(dir, "site", "index.html"), "<!doctype html><title>Home</title>")
	line = strings.NewReplacer("/usr/bin/sitelink", program, "/srv/example.org", filepath.Join(dir, "site"), "/var/lib/sitelink", dir).Replace(line)
	address := testkit.FreePort(t)
	cmd := exec.Command(activate, append([]string{"--listen=" + address}, strings.Fields(line)...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	testkit.Check(t, cmd.Start())
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	var conn net.Conn
	for deadline := time.Now().Add(time.Minute); conn == nil; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "mentions.db")); err == nil {
			t.Fatal("the receiver runs before the first connection")
		}
		if conn, err = net.Dial("tcp", address); err != nil && time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	defer conn.Close() // this one started the receiver
	resp, err := http.PostForm("http://"+address+"/webmention", url.Values{"source": {"https://a.example/"}, "target": {"https://example.org/"}})
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	if resp.Body.Close(); resp.StatusCode != http.StatusCreated {
		t.Errorf("%s", resp.Status)
	}
	conn.Close()
	cmd.Process.Signal(syscall.SIGTERM) // it is the receiver now
	if err := cmd.Wait(); err != nil || cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("%v\n%s", err, &stderr)
	}
}
