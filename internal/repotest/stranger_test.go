package repotest

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestStranger compiles and runs a module of its own that uses each public
// package. It sees only what a program outside of this repository can see: an
// API that needs an internal type fails here.
func TestStranger(t *testing.T) {
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir = filepath.Join("testdata", "stranger")
	testkit.Run(t, cmd)
}
