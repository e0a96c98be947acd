package system

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	swap      = unix.RENAME_SWAP
	noReplace = unix.RENAME_EXCL
)

// rename renames a file in one step, as flag says.
func rename(from, to string, flag uint32) error { return unix.RenamexNp(from, to, flag) }

// openForWriting is false: the system cannot tell.
func openForWriting(*os.File) bool { return false }
