package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestInitReadOnly: if a project cannot be written, even by root, or the disk
// is full, init names the file and the reason, and leaves nothing half written.
// What it wrote before can be undone.
func TestInitReadOnly(t *testing.T) {
	dir := inRepository(t)
	before := listing(t, dir)
	said, err := mounted(t, dir, "", `mount --bind "$PWD" "$PWD"; mount -o remount,ro,bind "$PWD"; cd "$PWD"; exec sitelink init --ci github`)
	checkExit(t, err, exitFailed)
	says(t, said, "sitelink: error: make ", "/.git/sitelink/state", "read-only file system")
	if after := listing(t, dir); after != before {
		t.Errorf("was\n%s\nis\n%s", before, after)
	}

	// Room for the record and the configuration, none for the rest.
	testkit.Write(t, filepath.Join(dir, ".github", "CODEOWNERS"), "x")
	before = listing(t, dir)
	said, err = mounted(t, dir, "", `mount -t tmpfs -o size=4k none .github; echo x >.github/CODEOWNERS; set +e; sitelink init --ci github; code=$?; find .github | sort; exit $code`)
	checkExit(t, err, exitFailed)
	says(t, said, "wrote   sitelink.toml\n", "sitelink: error: write ", "no space left on device")
	if want := ".github\n.github/CODEOWNERS\n.github/workflows\n"; len(said) < len(want) || said[len(said)-len(want):] != want {
		t.Errorf("left in .github:\n%s", said)
	}
	command(t, dir, "sitelink", "init", "--undo")
	if after := listing(t, dir); after != before {
		t.Errorf("was\n%s\nis\n%s", before, after)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".sitelink")); err == nil {
		t.Error(".sitelink is left")
	}
}
