// Package process runs the servers under measurement, and reads their resources from the kernel.
package process

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Process is a server under measurement.
type Process struct {
	Hello   Hello
	Started time.Duration // until its line was there

	cmd      *exec.Cmd
	complain bytes.Buffer
}

// Hello is the line that a server prints once it accepts connections.
type Hello struct {
	URL       string   `json:"url"`
	SecretKey string   `json:"secret_key"`
	Wallets   []string `json:"wallets"`
	Shipments []string `json:"shipments"`
}

// Build builds the reference server's command, as it is released.
func Build(ctx context.Context, program string) error {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/shipping-go/shipping").Output()
	if err != nil {
		return fmt.Errorf("go list -m (run this command in the benchmarks folder): %w", err)
	}
	const target = "./mockserver/cmd/mockserver"
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, target)
	cmd.Dir = strings.TrimSpace(string(root)) // whose go.sum has what the command imports
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", target, err, output)
	}
	return nil
}

// BuildAt builds the command of another revision of this repository, the same way, from a copy of its files in folder.
func BuildAt(ctx context.Context, revision, folder, program string) error {
	archive := filepath.Join(folder, "revision.tar")
	for _, step := range []struct {
		folder string
		args   []string
	}{
		{filepath.Join("..", ".."), []string{"git", "archive", "--format=tar", "-o", archive, revision}},
		{folder, []string{"tar", "-xf", archive}},
		{folder, []string{"go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./mockserver/cmd/mockserver"}},
	} {
		cmd := exec.CommandContext(ctx, step.args[0], step.args[1:]...)
		cmd.Dir, cmd.Env = step.folder, append(os.Environ(), "CGO_ENABLED=0")
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(step.args, " "), err, output)
		}
	}
	return nil
}

// Launch starts a program on a core, or on all where core is empty, and reads its first line.
func Launch(ctx context.Context, core, program string, args ...string) (*Process, error) {
	name, line := program, args
	if core != "" {
		name, line = "taskset", append([]string{"-c", core, program}, args...)
	}
	p := &Process{cmd: exec.CommandContext(ctx, name, line...)}
	p.cmd.Stderr = &p.complain
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(os.Interrupt) }
	p.cmd.WaitDelay = 10 * time.Second
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s cannot be started: %w", name, err)
	}
	text, err := bufio.NewReader(out).ReadBytes('\n')
	p.Started = time.Since(begun)
	if err == nil {
		err = json.Unmarshal(text, &p.Hello)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s %s printed no line: %w\n%s", program, strings.Join(args, " "), err, &p.complain), p.Stop())
	}
	return p, nil
}

// Stop asks the process to end and waits for it.
func (p *Process) Stop() error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// Memory returns how much of the process is resident, in MiB.
func (p *Process) Memory() (float64, error) { return p.status("VmRSS:") }

// Anonymous returns how much of the process is resident and not in a file, such as that of the program, in MiB.
func (p *Process) Anonymous() (float64, error) { return p.status("RssAnon:") }

// status returns a size in the kernel's status of the process, in MiB.
func (p *Process) status(name string) (float64, error) {
	status, err := os.ReadFile(p.kernelFile("status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if size, found := strings.CutPrefix(line, name); found {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(size), "kB")), 64)
			return kib / 1024, err
		}
	}
	return 0, errors.New("the kernel does not report " + name)
}

// OpenFiles returns how many files and sockets the process has open.
func (p *Process) OpenFiles() (int, error) {
	open, err := os.ReadDir(p.kernelFile("fd"))
	return len(open), err
}

// tick is what /proc counts processor time in, on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// ProcessorTime returns how much the process has used so far, in the kernel and outside.
func (p *Process) ProcessorTime() (time.Duration, error) {
	stat, err := os.ReadFile(p.kernelFile("stat"))
	if err != nil {
		return 0, err
	}
	// The name may hold spaces; it ends at the last parenthesis, and the third field follows.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, system = 14 - 3, 15 - 3
	if len(fields) <= system {
		return 0, errors.New("the kernel does not report processor times")
	}
	var sum time.Duration
	for _, field := range []string{fields[user], fields[system]} {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(ticks) * tick
	}
	return sum, nil
}

// kernelFile returns the kernel's file about the process.
func (p *Process) kernelFile(name string) string {
	return fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, name)
}
