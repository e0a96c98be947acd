//go:build unix

package project

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestDetectHostPipes: a pipe with the name of a host's file does not count, and is
// not opened.
func TestDetectHostPipes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"CNAME", "_redirects", "_headers", "firebase.json", "wrangler.toml"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Skip(err)
		}
	}
	tree := os.DirFS(dir)
	if profile, because, _ := detectHost(tree, tree); profile != "" || because != "" {
		t.Errorf("found %s by %s", profile, because)
	}
	if host := pagesHost(tree); host != "" {
		t.Errorf("found the host name %s", host)
	}
}
