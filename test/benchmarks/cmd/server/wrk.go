package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/test/benchmarks/process"
)

// drive holds the results of one run of wrk.
type drive struct {
	requests  float64
	perSecond float64
	processor float64 // µs of the server's processor time a request
	p99       time.Duration
}

// drive asks a server for one path, again and again, over a fixed number of connections.
func (p plan) drive(ctx context.Context, server *process.Process, path string, length time.Duration) (drive, error) {
	before, err := server.ProcessorTime()
	if err != nil {
		return drive{}, err
	}
	cmd := exec.CommandContext(ctx, "taskset", "-c", wrkCore, "wrk", "--latency", "-t1",
		"-c"+strconv.Itoa(p.connections), fmt.Sprintf("-d%ds", int(length.Seconds())),
		"-H", "Authorization: Bearer "+server.Hello.SecretKey, server.Hello.URL+path)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return drive{}, fmt.Errorf("wrk: %w\n%s", err, output)
	}
	after, err := server.ProcessorTime()
	if err != nil {
		return drive{}, err
	}
	got, err := parseWrk(string(output))
	got.processor = float64((after - before).Microseconds()) / got.requests
	return got, err
}

// parseWrk reads the output of wrk. A run with responses other than success is not a measurement.
func parseWrk(output string) (got drive, err error) {
	for line := range strings.Lines(output) {
		words := strings.Fields(line)
		switch {
		case strings.Contains(line, "Non-2xx"), strings.Contains(line, "Socket errors"):
			err = errors.Join(err, fmt.Errorf("wrk reports %q", strings.TrimSpace(line)))
		case len(words) == 2 && words[0] == "Requests/sec:":
			var problem error
			got.perSecond, problem = strconv.ParseFloat(words[1], 64)
			err = errors.Join(err, problem)
		case len(words) == 2 && words[0] == "99%":
			var problem error
			got.p99, problem = time.ParseDuration(words[1])
			err = errors.Join(err, problem)
		case len(words) > 2 && words[1] == "requests" && words[2] == "in":
			var problem error
			got.requests, problem = strconv.ParseFloat(words[0], 64)
			err = errors.Join(err, problem)
		}
	}
	if err == nil && (got.perSecond == 0 || got.requests == 0) {
		err = fmt.Errorf("wrk does not report the number of requests:\n%s", output)
	}
	return got, err
}
