//go:build unix

package system

import (
	"os"
	"os/exec"
	"syscall"
)

// setGroup puts a command into a process group of its own and makes the end of
// its context end the whole group. Ctrl-C at the terminal then reaches sitelink
// alone, which ends its commands in order and removes their temporary files.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// killGroup kills what a command left running. The group no longer exists when
// the command and all its children have ended.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // ESRCH: nothing was left
	}
}

// ProcessExists reports whether a process with that id is running. EPERM means that it
// belongs to another user.
func ProcessExists(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || err == syscall.EPERM
}
