package notify

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// hidden reports whether a process exists, but its entry in /proc is hidden from
// this user.
func hidden(pid int) bool {
	if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err == nil {
		return false // it has ended, but its parent has not noticed
	}
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
