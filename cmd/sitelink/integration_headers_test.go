//go:build integration && linux

package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/templates"
)

// The software of web hosts sends exactly the endpoints of our header rules
// (PB-13, PB-14, PB-16, PB-19).
func TestHeadersOfWebHosts(t *testing.T) {
	t.Parallel()
	e := testkit.Must(templates.NewEndpoints(`https://h.example/x?a=1&b="2"&c=%C3%A9&d=:x$1`, `https://h.example/wm?a=1&b=:spla`))(t)
	rule := func(profile string) string { return templates.HeaderRules(profile, e)[0].Text }
	for profile, start := range map[string]func(t *testing.T, docroot string) *webServer{
		"cloudflare-pages": func(t *testing.T, docroot string) *webServer {
			testkit.Check(t, os.WriteFile(filepath.Join(docroot, "_headers"), []byte(rule("cloudflare-pages")+"  X-Own: 1\n"), 0o644))
			return startWrangler(t, docroot)
		},
		"firebase": func(t *testing.T, docroot string) *webServer {
			var file struct{ Hosting json.RawMessage }
			text := `{"hosting":{"headers":[` + rule("firebase") + `, {"source":"**","headers":[{"key":"X-Own","value":"1"}]}]}}`
			testkit.Check(t, json.Unmarshal([]byte(text), &file))
			return startNode(t, "firebase.mjs", docroot, string(file.Hosting))
		},
	} {
		t.Run(profile, func(t *testing.T) {
			npmFolder(t)
			docroot := t.TempDir()
			testkit.Check(t, os.WriteFile(filepath.Join(docroot, "index.html"), []byte("<title>t</title>"), 0o644))
			s := start(t, docroot)
			answer := testkit.Must(http.Get("http://" + s.addr + "/"))(t)
			answer.Body.Close()
			link := "<" + e.Webmention + `>; rel="webmention"`
			h := answer.Header
			if pb := h.Values("X-Pingback"); len(pb) != 1 || pb[0] != e.Pingback || h.Get("Link") != link || h.Get("X-Own") != "1" {
				t.Errorf("status %d, X-Pingback %q, Link %q, X-Own %q", answer.StatusCode, pb, h.Values("Link"), h.Get("X-Own"))
			}
		})
	}
}
