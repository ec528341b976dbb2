//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// terminate asks a command of inGroup, and its descendants, to end.
func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// terminated reports whether a command ended because of SIGTERM. Shells report this as exit code 143.
func terminated(exit *exec.ExitError) bool {
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGTERM || exit.ExitCode() == 128+int(syscall.SIGTERM)
}

// inGroup makes a command the head of a process group, so that it is killed with its descendants. It returns a function
// that kills the remaining descendants after the command has ended.
func inGroup(cmd *exec.Cmd) (kill func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	group := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = group
	return func() {
		if cmd.Process != nil {
			_ = group() // it fails if no process is left
		}
	}
}
