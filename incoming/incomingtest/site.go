package incomingtest

import (
	"errors"
	"os"
	"path"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/site"
)

// Manifest replaces the content of a directory by files and returns the manifest of
// the site that they form. The names of files are slash paths.
func Manifest(t testing.TB, dir string, files map[string]string, opt site.Options, closed ...string) *incoming.Manifest {
	t.Helper()
	err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755))
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, text := range files {
		if err := errors.Join(root.MkdirAll(path.Dir(name), 0o755), root.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := site.Load(t.Context(), dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	m, err := incoming.ReadManifest(t.Context(), loaded, incoming.ManifestOptions{Closed: closed})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Clock is a clock that only moves when a test moves it.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that is set to a time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Pass moves the clock forward, or back.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
