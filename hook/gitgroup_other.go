//go:build !unix

package hook

import (
	"os"
	"os/exec"
)

// detach leaves the command as it is: without process groups, the end of its
// context ends the command alone.
func detach(*exec.Cmd) {}

// killGroup ends the command if it still runs.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill() // it has ended
	}
}

// alive tells whether a process of that id runs: only then can it be opened.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}
