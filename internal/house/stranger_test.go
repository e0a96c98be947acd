package house

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestStranger compiles and runs a module of its own that uses each public
// package. It sees only what a program outside of this repository can see: an
// API that needs an internal type fails here.
func TestStranger(t *testing.T) {
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir = filepath.Join("testdata", "stranger")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go test in %s: %v\n%s", cmd.Dir, err, out)
	}
}
