//go:build integration && linux

package testchrome

import (
	"encoding/json"
	"fmt"
)

// Events that end a navigation.
const (
	Loaded          = "Page.loadEventFired"
	MovedInDocument = "Page.navigatedWithinDocument"
)

// Load navigates to url as a new document, whatever is shown now.
func (b *Browser) Load(url string) {
	b.t.Helper()
	b.Navigate("about:blank")
	if event := b.Navigate(url); event != Loaded {
		b.t.Fatalf("chromium: navigate to %.300s: %s", url, event)
	}
}

// Navigate goes to url and returns the event that ended the journey: Loaded or
// MovedInDocument. A URL that is shown already is loaded again.
func (b *Browser) Navigate(url string) (event string) {
	b.t.Helper()
	b.events = b.events[:0]
	var result struct{ ErrorText string }
	b.Call("Page.navigate", Params{"url": url}, &result)
	if result.ErrorText != "" {
		b.t.Fatalf("chromium: navigate to %.300s: %s", url, result.ErrorText)
	}
	for {
		for _, m := range b.events {
			if m.Method == Loaded || m.Method == MovedInDocument {
				return m.Method
			}
		}
		b.events = append(b.events[:0], b.read(fmt.Sprintf("the arrival at %.300s", url)))
	}
}

// Eval evaluates a JavaScript expression in the page, waits for it when it is
// a promise, and decodes its value. The protocol may run scripts even where
// the page may not.
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

// Do evaluates an expression for its effect.
func (b *Browser) Do(expression string) {
	b.t.Helper()
	b.Eval("("+expression+", null)", new(any))
}

// Listen makes the browser tell what the console of its pages says.
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
	said := b.console
	b.console = nil
	return said
}

func (b *Browser) listen(m message) {
	switch m.Method {
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
		b.console = append(b.console, m.Method+" "+string(m.Params))
	}
}

// Type types text into the element that has the focus, key by key.
func (b *Browser) Type(text string) {
	b.t.Helper()
	for _, r := range text {
		b.Call("Input.dispatchKeyEvent", Params{"type": "keyDown", "text": string(r)}, nil)
		b.Call("Input.dispatchKeyEvent", Params{"type": "keyUp"}, nil)
	}
}

// Press presses and releases a key that types nothing, such as Tab with the
// key code 9; a key that also types, Enter and the like, has its text.
func (b *Browser) Press(key string, code int, text string) {
	b.t.Helper()
	b.Call("Input.dispatchKeyEvent", Params{"type": "keyDown", "key": key, "windowsVirtualKeyCode": code, "text": text}, nil)
	b.Call("Input.dispatchKeyEvent", Params{"type": "keyUp", "key": key, "windowsVirtualKeyCode": code}, nil)
}

// View sets the size of the window in CSS pixels and the colours preferred,
// "light" or "dark".
func (b *Browser) View(width, height int, colors string) {
	b.t.Helper()
	b.Call("Emulation.setDeviceMetricsOverride", Params{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.Call("Emulation.setEmulatedMedia", Params{"features": []Params{{"name": "prefers-color-scheme", "value": colors}}}, nil)
}

// Picture returns the window's content as a PNG.
func (b *Browser) Picture() []byte {
	b.t.Helper()
	var shot struct{ Data []byte }
	b.Call("Page.captureScreenshot", Params{"format": "png"}, &shot)
	return shot.Data
}

// PDF returns the document as it would be printed on A4.
func (b *Browser) PDF() []byte {
	b.t.Helper()
	var printed struct{ Data []byte }
	b.Call("Page.printToPDF", Params{"paperWidth": 8.27, "paperHeight": 11.69}, &printed)
	return printed.Data
}
