package testkit

import (
	"os"

	"golang.org/x/sys/unix"
)

// InMemory makes the temporary directories of this process's tests in memory if
// the system has enough of it for that. Tests that make and remove thousands of
// files spend more time in the disk's file system than in our code. Call it in
// TestMain. It changes nothing if TMPDIR is set, or if SITELINK_LONG is: then the
// same tests run on the disk. Do not use it for tests of durability.
func InMemory() {
	const dir = "/dev/shm"
	var fs unix.Statfs_t
	if os.Getenv("TMPDIR") != "" || os.Getenv("SITELINK_LONG") != "" ||
		unix.Access(dir, unix.W_OK|unix.X_OK) != nil || unix.Statfs(dir, &fs) != nil {
		return
	}
	// Containers often have 64 MB there, or forbid programs, which git hooks are.
	if fs.Type != unix.TMPFS_MAGIC || fs.Flags&unix.ST_NOEXEC != 0 || fs.Bavail*uint64(fs.Bsize) < 1<<30 {
		return
	}
	_ = os.Setenv("TMPDIR", dir) // fails for bad names only
}
