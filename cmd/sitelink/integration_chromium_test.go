//go:build integration && linux

package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// chromiumFlags keep the browser quiet, on loopback and usable by root.
var chromiumFlags = []string{
	"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--disable-extensions", "--mute-audio",
	"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--remote-debugging-pipe",
}

// browserTimeout bounds one exchange with the browser.
const browserTimeout = 60 * time.Second

// browser is one tab of a headless Chromium with page scripts off, spoken to
// by the DevTools protocol over a pair of pipes: JSON messages, each ended by
// a NUL. Not safe for concurrent use.
//
// Spec: https://chromedevtools.github.io/devtools-protocol/
type browser struct {
	t       *testing.T
	to      *os.File
	from    *os.File
	reader  *bufio.Reader
	session string
	lastID  int
	events  []message // that came while an answer was awaited
}

// message is what the browser sends: an answer (ID set) or an event.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

type params map[string]any

// startChromium starts the browser with an empty profile; it is stopped when
// the test ends.
func startChromium(t *testing.T) *browser {
	t.Helper()
	bin, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("chromium is missing: apt-get install chromium")
	}
	ours, err := newPipes()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.Command(bin, append(chromiumFlags, "--user-data-dir="+home, "about:blank")...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	cmd.ExtraFiles = []*os.File{ours.childIn, ours.childOut} // descriptors 3 and 4
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	ours.childIn.Close()
	ours.childOut.Close()
	b := &browser{t: t, to: ours.to, from: ours.from, reader: bufio.NewReaderSize(ours.from, 1<<20)}
	exited := make(chan struct{})
	go func() { cmd.Wait(); close(exited) }()
	t.Cleanup(func() {
		b.to.Close() // the browser ends when its pipe does
		select {
		case <-exited:
		case <-time.After(10 * time.Second):
		}
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its group: helpers too
		<-exited
		b.from.Close()
	})

	var target struct{ TargetID string }
	b.call("Target.createTarget", params{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", params{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	b.call("Page.enable", nil, nil)
	b.call("Emulation.setScriptExecutionDisabled", params{"value": true}, nil)
	return b
}

// pipes are both ends of the two pipes to a child.
type pipes struct{ to, from, childIn, childOut *os.File }

func newPipes() (p pipes, err error) {
	if p.childIn, p.to, err = os.Pipe(); err == nil {
		p.from, p.childOut, err = os.Pipe()
	}
	return p, err
}

// call sends a command and decodes its result into result, if not nil.
func (b *browser) call(method string, args params, result any) {
	b.t.Helper()
	b.lastID++
	id := b.lastID
	command := params{"id": id, "method": method}
	if args != nil {
		command["params"] = args
	}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	text, err := json.Marshal(command)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatalf("chromium: send %s: %v", method, err)
	}
	for {
		m := b.read(method)
		if m.ID != id {
			b.events = append(b.events, m)
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("chromium: %s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("chromium: %s: %v in %s", method, err, m.Result)
			}
		}
		return
	}
}

// read returns the next message of whatever kind.
func (b *browser) read(waitingFor string) message {
	b.t.Helper()
	b.from.SetReadDeadline(time.Now().Add(browserTimeout))
	text, err := b.reader.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("chromium: wait for %s: %v", waitingFor, err)
	}
	var m message
	if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m); err != nil {
		b.t.Fatalf("chromium: wait for %s: %v", waitingFor, err)
	}
	return m
}

// Events that end a navigation.
const (
	loaded          = "Page.loadEventFired"
	movedInDocument = "Page.navigatedWithinDocument"
)

// load navigates to url as a new document, whatever is shown now.
func (b *browser) load(url string) {
	b.t.Helper()
	b.navigate("about:blank")
	if event := b.navigate(url); event != loaded {
		b.t.Fatalf("chromium: navigate to %s: %s", clip(url), event)
	}
}

// navigate goes to url and returns the event that ended the journey: loaded or
// movedInDocument. A URL that is shown already is loaded again.
func (b *browser) navigate(url string) (event string) {
	b.t.Helper()
	b.events = b.events[:0]
	var result struct{ ErrorText string }
	b.call("Page.navigate", params{"url": url}, &result)
	if result.ErrorText != "" {
		b.t.Fatalf("chromium: navigate to %s: %s", clip(url), result.ErrorText)
	}
	for {
		for _, m := range b.events {
			if m.Method == loaded || m.Method == movedInDocument {
				return m.Method
			}
		}
		b.events = append(b.events[:0], b.read("the arrival at "+clip(url)))
	}
}

// eval evaluates a JavaScript expression in the page and decodes its value.
// The protocol may run scripts even where the page may not.
func (b *browser) eval(expression string, value any) {
	b.t.Helper()
	var result struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", params{"expression": expression, "returnByValue": true}, &result)
	if result.ExceptionDetails != nil {
		b.t.Fatalf("chromium: evaluate: %s", result.ExceptionDetails)
	}
	if err := json.Unmarshal(result.Result.Value, value); err != nil {
		b.t.Fatalf("chromium: evaluate: %v in %q", err, result.Result.Value)
	}
}

// contentTypes are a plain server's: no charset, so that pages must say.
var contentTypes = map[string]string{
	".html": "text/html", ".xhtml": "application/xhtml+xml", ".svg": "image/svg+xml", ".css": "text/css",
}

// serveFixtures serves docroot on a loopback port until the test ends and
// returns its origin.
func serveFixtures(t *testing.T, docroot string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := os.ReadFile(filepath.Join(docroot, filepath.FromSlash(path.Clean("/"+r.URL.Path))))
		if err != nil {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintln(w, "not found")
			return
		}
		kind := contentTypes[path.Ext(r.URL.Path)]
		if kind == "" {
			kind = "application/octet-stream"
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "no-store")
		w.Write(content)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// writeFixtures writes files, content by name, into a new docroot.
func writeFixtures(t *testing.T, files map[string]string) string {
	t.Helper()
	docroot := t.TempDir()
	for name, content := range files {
		file := filepath.Join(docroot, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return docroot
}
