//go:build unix

package project

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestHostPipes: a pipe with the name of a host's file does not count, and is
// not opened.
func TestHostPipes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"CNAME", "_redirects", "_headers", "firebase.json", "wrangler.toml"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Skip(err)
		}
	}
	if a := find(t, dir, Options{Docroot: "."}).Answers[AskHost]; a.Value != "" {
		t.Errorf("found %s by %s", a.Value, a.File)
	}
}
