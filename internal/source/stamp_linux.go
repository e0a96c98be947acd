package source

import (
	"io/fs"
	"syscall"
	"time"
)

// fileChange returns when anything about a file last changed, which no program
// can set, and the number of the file.
func fileChange(info fs.FileInfo) (changed time.Time, inode uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix()), st.Ino
	}
	return time.Time{}, 0
}
