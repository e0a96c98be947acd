//go:build unix

package system

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TryLock locks an open file for this process until the file is closed, or returns
// [ErrLocked] if another process has it locked.
func TryLock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		default:
			return err
		}
	}
}
