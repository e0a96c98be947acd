package store

import (
	"path/filepath"
	"testing"
)

// sqliteFile returns an opener of a new file.
func sqliteFile(t *testing.T) opener {
	return fileOpener(filepath.Join(t.TempDir(), "a b#?%20.db"))
}

func fileOpener(name string) opener {
	return func(t *testing.T, opt Options) *Store {
		t.Helper()
		s, err := Open(t.Context(), name, opt)
		check(t, err)
		t.Cleanup(func() { check(t, s.Close()) })
		return s
	}
}

func TestSQLite(t *testing.T) { conformance(t, sqliteFile) }
