//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// stubborn is a program that no signal ends but SIGKILL, with a child of the same kind.
const stubborn = `#!/bin/sh
case "$1" in --version|version|list|config) exit 1;; esac
trap '' TERM INT
sleep 300 & echo $! >"$MARK.new"; mv "$MARK.new" "$MARK"; wait
`

// TestInterruptEnds: within a second of one SIGINT or SIGTERM, whatever the command waits for,
// it exits with 130, what it started has ended, and the files are as they were.
func TestInterruptEnds(t *testing.T) {
	for _, line := range []string{
		"check site --format jsonl --show all", // into a pipe that is not read any more
		"links site",
		"check --build", "fix --write", "mv docs/a.md docs/b.md --write",
		"deploy site --no-check --base-url https://me.example/ -- ./stubborn", "hook run --commit HEAD", "lsp",
		"external site --allow-address 127.0.0.0/8", "notify site --send --base-url SILENT --allow-address 127.0.0.0/8",
	} {
		t.Run(strings.Fields(line)[0]+" "+strings.Fields(line)[1%len(strings.Fields(line))], func(t *testing.T) {
			t.Parallel()
			silent := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t) // connects, and never answers
			t.Cleanup(func() { silent.Close() })
			asked := make(chan struct{}, 100)
			go func() {
				for {
					conn, err := silent.Accept()
					if err != nil {
						return
					}
					defer conn.Close()
					asked <- struct{}{}
				}
			}()
			links := 1
			if strings.HasSuffix(strings.Fields(line + " -")[1], "site") {
				links = 20000 // more than a pipe holds
			}
			link := "http://" + silent.Addr().String() + "/"
			dir := t.TempDir()
			mark := filepath.Join(dir, "mark")
			repo := filepath.Join(dir, "repo")
			testkit.AddFiles(t, dir, testkit.Files{
				"bin/mkdocs": stubborn, "repo/stubborn": stubborn,
				"repo/mkdocs.yml":      "site_name: x\nsite_url: https://me.example/\n",
				"repo/sitelink.toml":   "[hook]\nbuild = \"./stubborn\"\n",
				"repo/docs/a.md":       "[a](gone.md)\n",
				"repo/site/index.html": "<!doctype html><title>x</title>" + strings.Repeat(`<a href="gone.html">`, links) + `<a href="` + link + `">`,
			})
			testkit.Check(t, errors.Join(os.Chmod(filepath.Join(dir, "bin", "mkdocs"), 0o755), os.Chmod(filepath.Join(repo, "stubborn"), 0o755)))
			env := append(os.Environ(), "HOME="+dir, "MARK="+mark, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0", "GIT_CONFIG_NOSYSTEM=1",
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
			for _, args := range [][]string{{"init", "-q", "."}, {"add", "-A"}, {"commit", "-qm", "one"}} {
				git := exec.Command("git", args...)
				git.Dir, git.Env = repo, env
				testkit.Run(t, git)
			}
			start := func() (*exec.Cmd, io.Reader, *bytes.Buffer) {
				cmd := exec.Command("sitelink", strings.Fields(strings.Replace(line, "SILENT", link, 1))...)
				cmd.Dir, cmd.Env, cmd.Stderr = repo, env, &bytes.Buffer{}
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal
				stdin := testkit.Must(cmd.StdinPipe())(t)
				stdout := testkit.Must(cmd.StdoutPipe())(t)
				testkit.Check(t, cmd.Start())
				if line == "lsp" {
					const request = `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}`
					fmt.Fprintf(stdin, "Content-Length: %d\r\n\r\n%s", len(request), request)
				}
				return cmd, stdout, cmd.Stderr.(*bytes.Buffer)
			}
			if strings.HasPrefix(line, "notify") { // the first run only records
				testkit.Write(t, filepath.Join(repo, "site", "index.html"), "<!doctype html><title>x</title>")
				cmd, _, _ := start()
				checkExit(t, cmd.Wait(), exitClean)
				testkit.Write(t, filepath.Join(repo, "site", "index.html"), `<!doctype html><title>x</title><a href="https://other.example/">x</a>`)
			}
			before := listing(t, repo)

			cmd, stdout, stderr := start()
			stop := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
			defer stop.Stop()
			child := 0
			switch strings.Fields(line)[0] {
			case "links", "lsp":
				io.ReadFull(stdout, make([]byte, 1))
			case "external", "notify":
				select {
				case <-asked:
				case <-time.After(10 * time.Second):
					cmd.Process.Kill()
					t.Fatalf("it asked nothing: %s", stderr)
				}
			case "check":
				if !strings.Contains(line, "--build") {
					io.ReadFull(stdout, make([]byte, 1))
					break
				}
				fallthrough
			default:
				for deadline := time.Now().Add(10 * time.Second); child == 0 && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
					text, _ := os.ReadFile(mark)
					child, _ = strconv.Atoi(strings.TrimSpace(string(text)))
				}
				if child == 0 {
					cmd.Process.Kill()
					t.Fatalf("its program did not start: %s", stderr)
				}
			}
			signal := syscall.SIGINT
			if len(line)%2 == 0 {
				signal = syscall.SIGTERM
			}
			began := time.Now()
			testkit.Check(t, cmd.Process.Signal(signal))
			checkExit(t, cmd.Wait(), exitInterrupted)
			if took := time.Since(began); took > time.Second {
				t.Errorf("it took %v", took)
			}
			if child > 0 {
				gone(t, child)
			}
			changed := func(listed string) string { // what the command keeps is not the project's
				var kept []string
				for _, line := range strings.Split(listed, "\n") {
					if strings.HasPrefix(line, "./") && !strings.HasPrefix(line, "./.git") && !strings.HasPrefix(line, "./.sitelink") {
						kept = append(kept, line)
					}
				}
				return strings.Join(kept, "\n")
			}
			if after := listing(t, repo); changed(after) != changed(before) {
				t.Errorf("before\n%s\nafter\n%s", changed(before), changed(after))
			}
			if !strings.Contains(stderr.String(), "sitelink: interrupted\n") && line != "lsp" {
				t.Errorf("stderr %q", stderr)
			}
		})
	}
}
