package githook

import "golang.org/x/sys/unix"

// freeBytes returns how much a user may still write to the disk of dir.
func freeBytes(dir string) (free int64, ok bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true // of other types on some processors
}
