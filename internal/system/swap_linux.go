package system

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	swap      = unix.RENAME_EXCHANGE
	noReplace = unix.RENAME_NOREPLACE
)

// rename renames a file in one step, as flag says.
func rename(from, to string, flag uint) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flag)
	if errors.Is(err, unix.EINVAL) { // file systems without it, such as NFS
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}

// openForWriting asks for a lease, which the system refuses while a program can write to the file.
func openForWriting(f *os.File) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return errors.Is(err, unix.EAGAIN)
}
