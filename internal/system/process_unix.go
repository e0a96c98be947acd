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
	cmd.Cancel = func() error { return terminate(cmd) }
}

// terminate asks a command, with its group if it has its own, to end.
func terminate(cmd *exec.Cmd) error {
	if cmd.SysProcAttr != nil && cmd.SysProcAttr.Setpgid {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	}
	return cmd.Process.Signal(syscall.SIGTERM)
}

// KillGroup kills what a command left running, if it has a group of its own. The group no longer exists when
// the command and all its children have ended.
func KillGroup(cmd *exec.Cmd) {
	if cmd.Process != nil && cmd.SysProcAttr != nil && cmd.SysProcAttr.Setpgid {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // ESRCH: nothing was left
	}
}

// HasTerminal reports whether the process can ask a person: it has a controlling terminal, at
// which Ctrl-C reaches all processes of its group.
func HasTerminal() bool {
	f, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	f.Close()
	return true
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
