package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/test/benchmarks/process"
)

// sample is the resources of the server at a moment.
type sample struct {
	resident, heap            float64 // MiB
	goroutines, worlds, files float64
}

func (s sample) String() string {
	return fmt.Sprintf("%.1f MiB resident, %.1f MiB of live heap, %.0f goroutines, %.0f open files, %.0f worlds",
		s.resident, s.heap, s.goroutines, s.files, s.worlds)
}

// watch samples a server, over one connection that stays open.
type watch struct {
	server           *process.Process
	client           *http.Client
	requests, faults float64 // so far
}

func newWatch(server *process.Process) *watch {
	return &watch{server: server, client: &http.Client{Transport: new(http.Transport), Timeout: 10 * time.Second}}
}

// sample asks the server's metrics and the kernel.
func (w *watch) sample(ctx context.Context) (s sample, err error) {
	told, err := w.metrics(ctx)
	if err != nil {
		return s, err
	}
	w.requests, w.faults = told["mockserver_requests_total"], told["mockserver_faults_total"]
	s.heap = told["go_gc_heap_live_bytes"] / (1 << 20) // without garbage, which comes and goes with the collector
	s.goroutines, s.worlds = told["go_goroutines"], told["mockserver_worlds"]
	if s.resident, err = w.server.Memory(); err != nil {
		return s, err
	}
	files, err := w.server.OpenFiles()
	s.files = float64(files)
	return s, err
}

// metrics returns the sum of each metric over its labels.
func (w *watch) metrics(ctx context.Context) (sums map[string]float64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.server.Hello.URL+"/_mock/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	sums = map[string]float64{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		line := lines.Text()
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || line[0] == '#' {
			continue
		}
		value, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("the metrics have the line %q: %w", line, err)
		}
		name, _, _ := strings.Cut(line[:at], "{")
		sums[name] += value
	}
	return sums, lines.Err()
}

// patience is how long a server may take to release its memory after a load.
const patience = 30 * time.Second

// settle samples the server until it holds at most as much as before, or patience is over.
func (w *watch) settle(ctx context.Context, before sample) (sample, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	last, err := w.sample(ctx)
	for err == nil && !last.isBackTo(before) {
		select {
		case <-ctx.Done():
			return last, nil
		case <-ticker.C:
		}
		var next sample
		if next, err = w.sample(ctx); ctx.Err() != nil {
			return last, nil
		}
		last = next
	}
	return last, err
}

// isBackTo reports whether everything that was opened is closed. Memory is judged while the load lasts.
func (s sample) isBackTo(before sample) bool {
	return s.goroutines <= before.goroutines && s.files <= before.files && s.worlds <= before.worlds
}
