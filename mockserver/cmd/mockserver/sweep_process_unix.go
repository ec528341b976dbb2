//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// inGroup makes a command the head of a process group, so that it is killed with its descendants, and returns a
// function that kills those that are left once the command has ended.
func inGroup(cmd *exec.Cmd) (kill func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	group := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = group
	return func() {
		if cmd.Process != nil {
			_ = group() // it fails if none is left
		}
	}
}
