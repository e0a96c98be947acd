//go:build integration && linux

package testchrome

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// flags keep the browser quiet, on loopback and usable by root.
var flags = []string{
	"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--disable-extensions", "--mute-audio",
	"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--remote-debugging-pipe",
}

// timeout bounds one exchange with the browser.
const timeout = 60 * time.Second

// Browser is one tab of a headless Chromium, spoken to by the DevTools protocol
// over a pair of pipes: JSON messages, each ended by a NUL. Whatever goes wrong
// fails the test. Not safe for concurrent use.
//
// Spec: https://chromedevtools.github.io/devtools-protocol/
type Browser struct {
	t       testing.TB
	to      *os.File
	from    *os.File
	reader  *bufio.Reader
	session string
	lastID  int
	events  []message // that came while an answer was awaited
	console []string
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

// Params are the parameters of a command.
type Params map[string]any

// Start starts the browser with an empty profile; it is stopped when the test
// ends. Page scripts run only if scripts is true.
func Start(t testing.TB, scripts bool) *Browser {
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
	cmd := exec.Command(bin, append(flags, "--user-data-dir="+home, "about:blank")...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	cmd.ExtraFiles = []*os.File{ours.childIn, ours.childOut} // descriptors 3 and 4
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	ours.childIn.Close()
	ours.childOut.Close()
	b := &Browser{t: t, to: ours.to, from: ours.from, reader: bufio.NewReaderSize(ours.from, 1<<20)}
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
	b.Call("Target.createTarget", Params{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.Call("Target.attachToTarget", Params{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	b.Call("Page.enable", nil, nil)
	b.Call("Emulation.setScriptExecutionDisabled", Params{"value": !scripts}, nil)
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

// Call sends a command and decodes its result into result, if not nil.
func (b *Browser) Call(method string, args Params, result any) {
	b.t.Helper()
	b.lastID++
	id := b.lastID
	command := Params{"id": id, "method": method}
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
func (b *Browser) read(waitingFor string) message {
	b.t.Helper()
	b.from.SetReadDeadline(time.Now().Add(timeout))
	text, err := b.reader.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("chromium: wait for %s: %v", waitingFor, err)
	}
	var m message
	if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m); err != nil {
		b.t.Fatalf("chromium: wait for %s: %v", waitingFor, err)
	}
	b.listen(m)
	return m
}
