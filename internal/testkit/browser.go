//go:build integration && linux

package testkit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// flags disable background activity, restrict the browser to loopback, and let root
// run it.
var flags = []string{
	"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--disable-extensions", "--mute-audio",
	"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--remote-debugging-pipe",
}

// timeout is the longest wait for one message of the browser.
const timeout = 5 * time.Minute

// Browser is one tab of a headless Chromium, controlled through the DevTools
// protocol over a pair of pipes: JSON messages, each followed by a NUL. Any error
// fails the test. A Browser is not safe for concurrent use.
//
// Spec: https://chromedevtools.github.io/devtools-protocol/
type Browser struct {
	t       testing.TB
	to      *os.File
	from    *os.File
	reader  *bufio.Reader
	session string
	loader  string // of the document in the tab
	lastID  int
	frame   string    // the tab's own
	events  []message // received while waiting for an answer
	console []string
	scripts bool // of pages run
	// OnEvent, if not nil, is called with every event of the browser.
	OnEvent func(method string, params json.RawMessage)
}

// message is a message of the browser: an answer (ID set) or an event.
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

// Start starts the browser with an empty profile, and stops it when the test ends.
// Page scripts run only if scripts is true. more are flags of the program.
func StartBrowser(t testing.TB, scripts bool, more ...string) *Browser {
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
	cmd := exec.Command(bin, slices.Concat(flags, more, []string{"--user-data-dir=" + home, "about:blank"})...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	cmd.ExtraFiles = []*os.File{ours.childIn, ours.childOut} // descriptors 3 and 4
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	ours.childIn.Close()
	ours.childOut.Close()
	b := &Browser{t: t, to: ours.to, from: ours.from, reader: bufio.NewReaderSize(ours.from, 1<<20), scripts: scripts}
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
	b.Call("Page.setLifecycleEventsEnabled", Params{"enabled": true}, nil)
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

// read returns the next message of any kind.
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

// Events that end a navigation.
const (
	Loaded          = "load"
	MovedInDocument = "Page.navigatedWithinDocument"
)

// Load loads url as a new document, even if the tab already shows it.
func (b *Browser) Load(url string) {
	b.t.Helper()
	b.Navigate("about:blank")
	if event := b.Navigate(url); event != Loaded {
		b.t.Fatalf("chromium: navigate to %.300s: %s", url, event)
	}
}

// Navigate navigates to url and returns the event that ended the navigation: Loaded
// or MovedInDocument. It loads a URL again if the tab already shows it.
func (b *Browser) Navigate(url string) (event string) {
	b.t.Helper()
	b.events = b.events[:0]
	var result struct{ FrameID, LoaderID, ErrorText string }
	b.Call("Page.navigate", Params{"url": url}, &result)
	if result.ErrorText != "" {
		b.t.Fatalf("chromium: navigate to %.300s: %s", url, result.ErrorText)
	}
	b.frame = result.FrameID
	return b.navigated("the end of the navigation to "+url, result.LoaderID == "")
}

// Follow calls start, which makes the page navigate, as the press of a button does, and
// returns the event that ended the navigation.
func (b *Browser) Follow(start func()) (event string) {
	b.t.Helper()
	b.events = b.events[:0]
	start()
	return b.navigated("the end of a navigation", true)
}

// navigated waits for the end of a navigation of the tab's own frame, and returns
// its event. A navigation that can stay in the document may end with
// MovedInDocument.
func (b *Browser) navigated(waitingFor string, canStay bool) (event string) {
	b.t.Helper()
	for {
		for _, m := range b.events {
			// Those of the document before, or of its frames, can come late.
			var e struct{ FrameID, LoaderID, Name string }
			_ = json.Unmarshal(m.Params, &e) // other events have other parameters
			switch {
			case e.FrameID != b.frame:
			case m.Method == "Page.lifecycleEvent" && e.Name == "load" && e.LoaderID != b.loader:
				b.loader = e.LoaderID
				return Loaded
			case m.Method == MovedInDocument && canStay:
				return MovedInDocument
			}
		}
		b.events = append(b.events[:0], b.read(fmt.Sprintf("%.300s", waitingFor)))
	}
}

// Eval evaluates a JavaScript expression in the page, waits for a promise, and
// decodes the value. It works even if page scripts are disabled.
func (b *Browser) Eval(expression string, value any) {
	b.t.Helper()
	var result struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.Call("Runtime.evaluate", Params{"expression": expression, "returnByValue": true, "awaitPromise": true}, &result)
	if result.ExceptionDetails != nil {
		b.t.Fatalf("chromium: evaluate: %s", result.ExceptionDetails)
	}
	if err := json.Unmarshal(result.Result.Value, value); err != nil {
		b.t.Fatalf("chromium: evaluate: %v in %q", err, result.Result.Value)
	}
}

// Axe returns the faults of accessibility that axe-core finds in the elements of a selector,
// each with the elements that have it. axe-core is below SITELINK_NPM. Scripts run meanwhile.
//
// https://github.com/dequelabs/axe-core
func (b *Browser) Axe(within string) (faults []string) {
	b.t.Helper()
	axe, err := os.ReadFile(filepath.Join(os.Getenv("SITELINK_NPM"), "node_modules/axe-core/axe.min.js"))
	if err != nil {
		b.t.Fatalf("axe-core is missing: %v; install it with npm below SITELINK_NPM", err)
	}
	b.Call("Emulation.setScriptExecutionDisabled", Params{"value": false}, nil)
	defer b.Call("Emulation.setScriptExecutionDisabled", Params{"value": !b.scripts}, nil)
	b.Eval(string(axe)+`
		axe.run(`+strconv.Quote(within)+`).then(r => r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 200)).slice(0, 3).join(" ")))`, &faults)
	return faults
}

// Do evaluates an expression for its effect.
func (b *Browser) Do(expression string) {
	b.t.Helper()
	b.Eval("("+expression+", null)", new(any))
}

// Listen enables console messages; see [Browser.Console].
func (b *Browser) Listen() {
	b.t.Helper()
	b.Call("Runtime.enable", nil, nil)
	b.Call("Log.enable", nil, nil)
}

// Console returns the messages since the last call: calls of console functions,
// uncaught exceptions, and the browser's own messages, such as those about a
// Content-Security-Policy.
func (b *Browser) Console() []string {
	b.t.Helper()
	b.Call("Runtime.evaluate", Params{"expression": "0"}, nil) // events come in order: all before it have arrived
	messages := b.console
	b.console = nil
	return messages
}

func (b *Browser) listen(m message) {
	if b.OnEvent != nil && m.ID == 0 {
		b.OnEvent(m.Method, m.Params)
	}
	switch m.Method {
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
		b.console = append(b.console, m.Method+" "+string(m.Params))
	}
}

// Type types text into the focused element, key by key.
func (b *Browser) Type(text string) {
	b.t.Helper()
	for _, r := range text {
		b.Call("Input.dispatchKeyEvent", Params{"type": "keyDown", "text": string(r)}, nil)
		b.Call("Input.dispatchKeyEvent", Params{"type": "keyUp"}, nil)
	}
}

// Press presses and releases a key such as Tab, which has the key code 9. text is the
// text that the key types, if any, as for Enter.
func (b *Browser) Press(key string, code int, text string) {
	b.t.Helper()
	b.Call("Input.dispatchKeyEvent", Params{"type": "keyDown", "key": key, "windowsVirtualKeyCode": code, "text": text}, nil)
	b.Call("Input.dispatchKeyEvent", Params{"type": "keyUp", "key": key, "windowsVirtualKeyCode": code}, nil)
}

// View sets the size of the window in CSS pixels and the preferred colour scheme,
// "light" or "dark".
func (b *Browser) View(width, height int, colors string) {
	b.t.Helper()
	b.Call("Emulation.setDeviceMetricsOverride", Params{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.Call("Emulation.setEmulatedMedia", Params{"features": []Params{{"name": "prefers-color-scheme", "value": colors}}}, nil)
}

// Picture returns a screenshot of the window as PNG.
func (b *Browser) Picture() []byte {
	b.t.Helper()
	var shot struct{ Data []byte }
	b.Call("Page.captureScreenshot", Params{"format": "png"}, &shot)
	return shot.Data
}

// PDF returns the document printed on A4.
func (b *Browser) PDF() []byte {
	b.t.Helper()
	var printed struct{ Data []byte }
	b.Call("Page.printToPDF", Params{"paperWidth": 8.27, "paperHeight": 11.69}, &printed)
	return printed.Data
}
