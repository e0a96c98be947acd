//go:build integration && linux

package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// browser is a tab of Chromium with page scripts off, so that what it shows is
// what the markup says.
type browser struct {
	*testkit.Browser
	t *testing.T
}

// startChromium starts the browser; it is stopped when the test ends.
func startChromium(t *testing.T) *browser {
	t.Helper()
	return &browser{testkit.StartBrowser(t, false), t}
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
	testkit.AddFiles(t, docroot, files)
	return docroot
}
