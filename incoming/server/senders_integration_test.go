//go:build integration && linux

package server_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/server"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestOtherSenders: senders that others wrote, from npm (@remy/webmention) and PyPI
// (ronkyuu), find the endpoints of our pages and send to them. The links are
// verified.
func TestOtherSenders(t *testing.T) {
	npm, python := os.Getenv("SITELINK_NPM"), os.Getenv("SITELINK_RONKYUU")
	if npm == "" || python == "" {
		t.Skip("SITELINK_NPM names no directory with @remy/webmention, or SITELINK_RONKYUU no Python with ronkyuu; .ci/run has both")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Fatal("node is missing: apt-get install nodejs")
	}
	r := receive(t, incoming.ReceiverOptions{}, server.Options{})
	// Their own page, by another name of this machine: remy/wm sends nothing to
	// its own host.
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	base := "http://" + l.Addr().String() + "/"
	page := func(path, target string) string {
		return `<!DOCTYPE html><html lang="en"><head><title>About ` + target + `</title></head><body><article class="h-entry"><a class="u-url" href="` + base + path +
			`">this</a><div class="e-content"><p>See <a href="` + target + `">that page</a>.</p></div></article></body></html>`
	}
	targets := map[string]string{"wm-webmention": r.url + "doc.html", "wm-pingback": r.url + "ping.html", "ronkyuu": r.url, "ronkyuu-again": r.url + "doc.html"}
	source := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		path := strings.TrimPrefix(req.URL.Path, "/")
		target, known := targets[path]
		if !known {
			http.NotFound(w, req)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, page(path, target))
	})}
	go func() { _ = source.Serve(l) }()
	defer source.Close()

	for path, want := range map[string]string{"wm-webmention": "status   = 201", "wm-pingback": "status   = 200"} {
		out, err := exec.Command("node", filepath.Join(npm, "node_modules", "@remy", "webmention", "bin", "wm.js"), base+path, "--send").CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
	const send = `import sys, ronkyuu
result = ronkyuu.sendWebmention(sys.argv[1], sys.argv[2], test_urls=False, timeout=20)
print(result.status_code, result.headers.get("Location"))`
	for _, path := range []string{"ronkyuu", "ronkyuu-again"} {
		out, err := exec.Command(python, "-c", send, base+path, targets[path]).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "201 "+r.url+"webmention/status/") {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		held := 0
		mentions := r.mentions(t)
		for path, target := range targets {
			if m := mentions[base+path]; m.State == incoming.Held && m.Target == target && m.Title != "" {
				held++
			}
		}
		if held == len(targets) {
			break
		}
		if time.Since(begin) > time.Minute {
			t.Fatalf("%+v", mentions)
		}
	}
	if p := r.mentions(t)[base+"wm-pingback"].Protocol; p != incoming.Pingback {
		t.Errorf("the pingback came as %s", p)
	}
}
