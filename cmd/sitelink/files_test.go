package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	testkit.Check(t, os.MkdirAll(filepath.Dir(name), 0o755))
	testkit.Check(t, os.WriteFile(name, []byte(text), 0o644))
}
