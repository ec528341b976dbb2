package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Both sides run on one core and wrk on the other, so that neither takes the other's time.
const (
	serverCore = "0"
	wrkCore    = "1"
)

// process is a server under measurement.
type process struct {
	cmd      *exec.Cmd
	hello    hello
	started  time.Duration // until the line was there
	complain bytes.Buffer
}

// hello is the line that a server prints once it accepts connections.
type hello struct {
	URL       string   `json:"url"`
	SecretKey string   `json:"secret_key"`
	Wallets   []string `json:"wallets"`
	Shipments []string `json:"shipments"`
}

// launch starts a program on a core, or on all where core is empty, and reads its first line.
func launch(ctx context.Context, core, program string, args ...string) (*process, error) {
	name, line := program, args
	if core != "" {
		name, line = "taskset", append([]string{"-c", core, program}, args...)
	}
	p := &process{cmd: exec.CommandContext(ctx, name, line...)}
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
	p.started = time.Since(begun)
	if err == nil {
		err = json.Unmarshal(text, &p.hello)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s %s printed no line: %w\n%s", program, strings.Join(args, " "), err, &p.complain), p.stop())
	}
	return p, nil
}

// stop asks the process to end and waits for it.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// memory returns how much of the process is resident, in MiB.
func (p *process) memory() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if size, found := strings.CutPrefix(line, "VmRSS:"); found {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(size), "kB")), 64)
			return kib / 1024, err
		}
	}
	return 0, errors.New("the kernel does not tell VmRSS")
}

// tick is what /proc counts processor time in, on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// processorTime returns how much the process has used so far, in the kernel and outside.
func (p *process) processorTime() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The name may hold spaces; it ends at the last parenthesis, and the third field follows.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, system = 14 - 3, 15 - 3
	if len(fields) <= system {
		return 0, errors.New("the kernel does not tell processor times")
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
