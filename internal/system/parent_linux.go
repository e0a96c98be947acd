package system

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the system kill the command when the thread that starts it
// ends, so that the caller must lock it: a sitelink that is killed cannot do it.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }
