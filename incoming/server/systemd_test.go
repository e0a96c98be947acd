//go:build linux

package server

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestSocketActivation starts this test again as a service, as systemd does: with an
// open socket and the address of a notification socket.
func TestSocketActivation(t *testing.T) {
	if os.Getenv("SERVER_TEST_SERVICE") != "" {
		service(t)
		return
	}
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	file := testkit.Must(l.(*net.TCPListener).File())(t)
	address := l.Addr().String()
	l.Close()
	states := testkit.Must(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"}))(t)
	defer states.Close()
	testkit.Check(t, states.SetReadDeadline(time.Now().Add(patience)))
	// The shell knows the number of the process that it becomes.
	cmd := exec.Command("/bin/sh", "-c", `LISTEN_PID=$$ exec "$0" -test.run '^TestSocketActivation$'`, os.Args[0])
	cmd.Env = append(os.Environ(), "SERVER_TEST_SERVICE=1", "LISTEN_FDS=1", "LISTEN_FDNAMES=web", "NOTIFY_SOCKET="+states.LocalAddr().String())
	cmd.ExtraFiles = []*os.File{file}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	testkit.Check(t, cmd.Start())
	file.Close()
	buffer := make([]byte, 100)
	n, err := states.Read(buffer)
	if err != nil || string(buffer[:n]) != "READY=1" {
		cmd.Process.Kill()
		t.Errorf("%q %v", buffer[:n], err)
	} else if a := get(t, address, "GET", "/"); a.text != "web\n" {
		t.Errorf("%s %q", a.line, a.text)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
}

// service answers one request on the socket that it was given.
func service(t *testing.T) {
	sockets, err := Sockets(os.Getenv)
	if err != nil || len(sockets) != 1 {
		t.Fatalf("%d sockets, %v", len(sockets), err)
	}
	testkit.Check(t, Notify(os.Getenv, "READY=1"))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := New(Options{Receiver: &script{}})
	s.opt.Pages = pageFunc(func() string { defer cancel(); return "web\n" })
	testkit.Check(t, s.Serve(ctx, sockets[0]))
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Fatal("no request arrived")
	}
}

// TestSocketsOfOthers: variables that are meant for another process, or wrong.
func TestSocketsOfOthers(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for _, c := range []struct {
		env  map[string]string
		fail bool
	}{
		{nil, false},
		{map[string]string{"LISTEN_PID": "1", "LISTEN_FDS": "1"}, false},
		{map[string]string{"LISTEN_PID": own, "LISTEN_FDS": "0"}, false},
		{map[string]string{"LISTEN_PID": own, "LISTEN_FDS": "x"}, true},
		{map[string]string{"LISTEN_PID": own, "LISTEN_FDS": "-1"}, true},
	} {
		sockets, err := Sockets(func(name string) string { return c.env[name] })
		if len(sockets) != 0 || (err != nil) != c.fail {
			t.Errorf("%v: %v, %v", c.env, sockets, err)
		}
	}
	if err := Notify(func(string) string { return "" }, "READY=1"); err != nil {
		t.Error(err)
	}
	if err := Notify(func(string) string { return filepath.Join(t.TempDir(), "missing") }, "READY=1"); err == nil {
		t.Error("no error for a missing socket")
	}
}
