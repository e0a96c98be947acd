//go:build !unix

package system

import (
	"os"
	"os/exec"
)

// setGroup changes nothing: without process groups, the end of the context ends
// the command alone.
func setGroup(*exec.Cmd) {}

// terminate ends the command: there is no way to ask it.
func terminate(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// KillGroup kills the command if it is still running.
func KillGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill() // usually it has ended
	}
}

// HasTerminal reports whether commands must stay with the terminal of the process. Without
// process groups, they always do.
func HasTerminal() bool { return true }

// ProcessExists reports whether a process with that id is running. Only a running
// process can be opened.
func ProcessExists(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}
