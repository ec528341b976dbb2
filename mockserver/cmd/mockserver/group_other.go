//go:build !unix

package main

import "os/exec"

// terminate kills a command, because the system has no SIGTERM.
func terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// terminated reports whether a command may have ended because of terminate.
func terminated(*exec.ExitError) bool { return true }

// inGroup leaves a command as it is: it is killed without its descendants.
func inGroup(*exec.Cmd) (kill func()) { return func() {} }
