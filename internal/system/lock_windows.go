package system

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// The locked byte is behind the content, so that the content stays readable.
const lockedAt = 1 << 30

// TryLock locks an open file for this process until the file is closed, or returns
// [ErrLocked] if another process has it locked.
func TryLock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{Offset: lockedAt})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
