//go:build unix

package hook

import (
	"os"
	"os/exec"
	"syscall"
)

// detach puts a command into a process group of its own, and lets the end of
// its context end the whole group. A Ctrl-C at the terminal then reaches the
// caller alone, which ends its commands in order and removes what they leave.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// killGroup ends what a command left running. The group is gone when the
// command and all its children are.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // ESRCH: nothing was left
	}
}

// alive tells whether a process of that id runs. A foreign one answers EPERM.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || err == syscall.EPERM
}
