//go:build !linux

package system

import "os/exec"

// endWithParent changes nothing: other systems have no such signal.
func endWithParent(*exec.Cmd) {}
