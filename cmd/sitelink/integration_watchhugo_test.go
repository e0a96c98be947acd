//go:build integration && unix

package main

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// hugos are the real Hugos available: the one on PATH, and $SITELINK_HUGO.
func hugos(t *testing.T) (programs []string) {
	t.Helper()
	for _, name := range []string{"hugo", os.Getenv("SITELINK_HUGO")} {
		if program, err := exec.LookPath(name); err == nil && !slices.Contains(programs, program) {
			programs = append(programs, program)
		}
	}
	if len(programs) == 0 {
		t.Skip("hugo is not installed; .ci/run installs it")
	}
	return programs
}

// TestWatchHugoServer: with a real hugo server running, watch reports an edit of a
// Markdown file that breaks a link, and the edit that fixes it. Until Hugo 0.123 the
// server writes files with --renderToDisk only; newer ones do not know the flag.
func TestWatchHugoServer(t *testing.T) {
	for _, hugo := range hugos(t) {
		help := command(t, t.TempDir(), hugo, "server", "--help")
		needsFlag := strings.Contains(help, "--renderToDisk ")
		t.Run(hugo, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{
				"config.toml":                  "baseURL = 'https://example.org/'\ntitle = 't'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\n",
				"content/_index.md":            "---\ntitle: home\n---\n[one](one/)\n",
				"content/one.md":               "---\ntitle: one\n---\n[two](/two/#first)\n",
				"content/two.md":               "---\ntitle: two\n---\n## First\n",
				"layouts/_default/single.html": "<!DOCTYPE html><html><head><title>{{ .Title }}</title></head><body>{{ .Content }}</body></html>",
				"layouts/_default/list.html":   "<!DOCTYPE html><html><head><title>{{ .Title }}</title></head><body>{{ .Content }}</body></html>",
			} {
				testkit.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
			}
			public := filepath.Join(dir, "public")
			if needsFlag {
				stop := hugoServer(t, hugo, dir)
				if _, err := os.Stat(public); err == nil {
					t.Error("without --renderToDisk files are written: docs/guide/watch.md says they are not")
				}
				stop()
				hugoServer(t, hugo, dir, "--renderToDisk")
			} else {
				hugoServer(t, hugo, dir)
			}
			w := &watched{t: t, root: public}
			w.start(func(*exec.Cmd) {})
			if got := w.check(); !slices.Equal(got, []string{"0 new, 0 fixed; 0 errors, 0 warnings"}) {
				t.Fatalf("at first: %q", got)
			}
			edit := func(text, want string) {
				t.Helper()
				testkit.Write(t, filepath.Join(dir, "content", "one.md"), "---\ntitle: one\n---\n"+text+"\n")
				for range 20 {
					for _, line := range w.check() {
						if strings.Contains(line, want) {
							return
						}
					}
				}
				t.Fatalf("never reported %s", want)
			}
			edit("[two](/two/#second)", `content/one.md:4:7: error: two/index.html has no element with id "second" [missing-fragment]`)
			edit("[two](/two/#first)", `content/one.md:4:7: fixed: two/index.html has no element with id "second" [missing-fragment]`)
			edit("[two](/three/)", "content/one.md:4:7: error: directory not found: /three/ [missing-directory]")
			testkit.Write(t, filepath.Join(dir, "content", "three.md"), "---\ntitle: three\n---\n")
			w.untilCount("0 errors, 0 warnings")
			testkit.Check(t, w.cmd.Process.Signal(os.Interrupt))
			for w.lines.Scan() {
			}
			checkExit(t, w.cmd.Wait(), exitInterrupted)
			if n := strings.Count(w.stderr.String(), "hugo server --disableFastRender"); n != 1 {
				t.Errorf("%d notes about fast rendering:\n%s", n, &w.stderr)
			}
		})
	}
}

// hugoServer runs hugo server in dir until the test ends, or stop is called. It
// returns when the server answers.
func hugoServer(t *testing.T, hugo, dir string, args ...string) (stop func()) {
	t.Helper()
	address := testkit.FreePort(t)
	_, port, _ := net.SplitHostPort(address)
	var said bytes.Buffer
	cmd := exec.Command(hugo, append([]string{"server", "--bind", "127.0.0.1", "--port", port}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &said, &said
	testkit.Check(t, cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	stop = func() { _ = cmd.Process.Kill(); <-ended }
	t.Cleanup(stop)
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		select {
		case <-ended:
			t.Fatalf("hugo server ended: %s", &said)
		default:
		}
		// It listens before it has built.
		answer, err := http.Get("http://" + address + "/")
		if err != nil {
			continue
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return stop
		}
	}
	t.Fatal("hugo server does not answer")
	return nil
}
