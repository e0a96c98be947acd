package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

// Check ends a test with an error that it does not expect.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Write writes a file, and makes the directories above it.
func Write(t testing.TB, name, text string) {
	t.Helper()
	Check(t, os.MkdirAll(filepath.Dir(name), 0o755))
	Check(t, os.WriteFile(name, []byte(text), 0o644))
}
